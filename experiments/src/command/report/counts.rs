//! Settings, iteration counts and seconds in words.

use banach::solver::Rule;
use banach_lab::{Comparison, End, Outcome, Printed, Settings};

use super::Cell;

/// Stands under every table and figure.
pub(super) const CHOSEN: &str = "\
What the paper leaves open (the scale of X, the non-zeros of w_*, the line search) was chosen to come near its counts \
(docs/reproduction.md): agreement says that they can be had, not that these were its settings.";

pub(super) fn algorithm_settings(settings: &Settings) -> String {
    let Settings { gamma, delta, theta, lambda_bar, rule, .. } = settings;
    let search = match rule {
        Rule::Restart => "every search from lambda_bar",
        Rule::Monotone => "steps never grow",
    };
    format!("gamma = {gamma}, delta = {delta}, theta = {theta}, lambda_bar = {lambda_bar}, {search}")
}

/// A count as the paper prints it.
pub(super) fn printed(printed: Printed) -> String {
    match printed {
        Printed::Spread { mean, bracket } => format!("{mean}({bracket})"),
        Printed::Count(count) => count.to_string(),
        Printed::Above(limit) => format!("> {limit}"),
        Printed::Nothing => "---".to_owned(),
    }
}

/// Our count in the same form.
pub(super) fn measured(count: &Comparison) -> String {
    match (count.mean, count.deviation) {
        (Some(mean), Some(deviation)) => format!("{mean:.1}({deviation:.1})"),
        (Some(mean), None) => format!("{mean}"),
        (None, _) => {
            let worst = count.outcomes.iter().max_by(|a, b| a.precision.total_cmp(&b.precision));
            let Outcome { iterations, end, precision, .. } = worst.expect("there is at least one run");
            let after = if *end == End::Stalled { "stalled at" } else { ">" };
            format!("{after} {iterations} (at {precision:.0e})")
        }
    }
}

/// The fewest and the most iterations.
pub(super) fn range(count: &Comparison) -> String {
    count.range.map_or_else(|| "---".to_owned(), |(least, most)| format!("{least} to {most}"))
}

/// Our mean less the paper's number, also as a part of it, with the verdict.
pub(super) fn difference(count: &Comparison) -> Cell {
    let number = match count.paper {
        Printed::Spread { mean, .. } => mean,
        Printed::Count(count) => count as f64,
        Printed::Above(_) | Printed::Nothing => return Cell::judged("---", count.agrees),
    };
    let off =
        count.difference.map_or_else(|| "---".to_owned(), |off| format!("{off:+.1} ({:+.0} %)", 100.0 * off / number));
    Cell::judged(off, count.agrees)
}

/// Numbers, seed by seed.
pub(super) fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn seeds(count: usize) -> String {
    if count == 1 { "1 seed".to_owned() } else { format!("{count} seeds") }
}

/// How many counts agree, and what that means.
pub(super) fn verdict<'a>(counts: impl Iterator<Item = &'a Comparison>, paper_size: bool, papers_own: &str) -> String {
    if !paper_size {
        return format!("This is a small size: the paper's numbers, at {papers_own}, do not apply to it.");
    }
    let judged: Vec<bool> = counts.filter_map(|count| count.agrees).collect();
    let agreeing = judged.iter().filter(|agrees| **agrees).count();
    format!(
        "{agreeing} of {} counts agree with the paper (=): within its mean plus or minus twice its bracket, within 10 % \
         of a single count, or above the same limit. The others do not (!=).",
        judged.len()
    )
}

pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The mean of several times, to about three digits.
pub(super) fn seconds(values: impl ExactSizeIterator<Item = f64>) -> String {
    let mean = mean(values);
    let decimals = if mean >= 1.0 { 2 } else { 3 };
    format!("{mean:.decimals$}")
}
