//! Results as text.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
};

use banach_experiments::{
    bench::{Bench, Target},
    data::SparseLinear,
    figure1::Figure1,
    table1::{Algorithm, Cell, End, Outcome, Printed, Table1},
};
use comfy_table::{Table, TableStyle, presets};
use serde::Serialize;

/// Writes to standard output; a closed pipe is an error value, not a panic.
pub(crate) fn out(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(stdout.flush()?)
}

pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

pub(crate) fn table1(table: &Table1) -> String {
    format!("{}\n{}\n{}", table1_head(table), table1_body(table, presets::UTF8_FULL_CONDENSED), table1_notes(table))
}

pub(crate) fn table1_markdown(table: &Table1) -> String {
    format!(
        "## Table 1\n\n{}\n\n{}\n\n{}",
        table1_head(table),
        table1_body(table, presets::ASCII_MARKDOWN),
        table1_notes(table)
    )
}

fn table1_head(table: &Table1) -> String {
    let SparseLinear { samples, features, relevant, noise } = table.request.data;
    let settings = &table.request.settings;
    format!(
        "Iterations to relative precision {:.0e}: n = {samples}, d = {features}, {relevant} relevant, sigma = {noise}, \
         gamma = {}, delta = {}, theta = {}, lambda_bar = {}",
        settings.precision, settings.gamma, settings.delta, settings.theta, settings.lambda_bar
    )
}

fn table1_body(table: &Table1, style: TableStyle) -> Table {
    let mut columns: Vec<&str> = Vec::new();
    for cell in &table.cells {
        if !columns.contains(&cell.p.as_str()) {
            columns.push(&cell.p);
        }
    }
    let mut body = Table::new();
    body.load_style(style);
    body.set_header(["algorithm", ""].map(str::to_owned).into_iter().chain(columns.iter().map(|p| format!("p = {p}"))));
    for algorithm in [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista] {
        let cells: Vec<&Cell> = table.cells.iter().filter(|cell| cell.algorithm == algorithm).collect();
        if cells.is_empty() {
            continue;
        }
        let row = |title: &str, source: &str, show: &dyn Fn(&Cell) -> String| {
            [title.to_owned(), source.to_owned()]
                .into_iter()
                .chain(cells.iter().map(|cell| show(cell)))
                .collect::<Vec<_>>()
        };
        body.add_row(row(algorithm.title(), "paper", &|cell| printed(cell.paper)));
        body.add_row(row("", "banach", &measured));
        body.add_row(row("", "seconds", &|cell| seconds(cell)));
    }
    body
}

fn table1_notes(table: &Table1) -> String {
    let seeds: Vec<u64> = table.cells[0].outcomes.iter().map(|outcome| outcome.seed).collect();
    let mut notes = format!(
        "mean(standard deviation) over {} seed{} for the dual algorithm",
        seeds.len(),
        if seeds.len() == 1 { "" } else { "s" }
    );
    if table.request.baselines {
        let _ = write!(notes, ", seed {} alone for the primal ones", seeds[0]);
    }
    notes.push_str(".\n");
    if table.request.paper_size {
        let agreeing = table.cells.iter().filter(|cell| cell.agrees == Some(true)).count();
        let decided = table.cells.iter().filter(|cell| cell.agrees.is_some()).count();
        let _ = writeln!(
            notes,
            "{agreeing} of {decided} cells agree with the paper (=): within its mean plus or minus twice its bracket, \
             within 10 % of a single count, or above the same limit. The others do not (!=)."
        );
    } else {
        notes.push_str("This is a small size: the paper's numbers, at n = 200 and d = 100000, do not apply to it.\n");
    }
    notes
}

/// A count as the paper prints it.
fn printed(printed: Printed) -> String {
    match printed {
        Printed::Spread { mean, bracket } => format!("{mean}({bracket})"),
        Printed::Count(count) => count.to_string(),
        Printed::Above(limit) => format!("> {limit}"),
        Printed::Nothing => "---".to_owned(),
    }
}

/// Our count in the same form, with its verdict.
fn measured(cell: &Cell) -> String {
    let count = match (cell.mean, cell.deviation) {
        (Some(mean), Some(deviation)) => format!("{mean:.1}({deviation:.1})"),
        (Some(mean), None) => format!("{mean}"),
        (None, _) => {
            let worst = cell.outcomes.iter().max_by(|a, b| a.precision.total_cmp(&b.precision));
            let Outcome { iterations, end, precision, .. } = worst.expect("a cell has at least one run");
            let after = if *end == End::Stalled { "stalled at" } else { ">" };
            format!("{after} {iterations} (at {precision:.0e})")
        }
    };
    match cell.agrees {
        Some(true) => format!("{count} ="),
        Some(false) => format!("{count} !="),
        None => count,
    }
}

fn seconds(cell: &Cell) -> String {
    let mean = cell.outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / cell.outcomes.len() as f64;
    format!("{mean:.2}")
}

pub(crate) fn figure1(figure: &Figure1, written: &[PathBuf]) -> String {
    let mut text = String::new();
    for curve in &figure.curves {
        let iterations = curve.precision.len() - 1;
        let last = curve.precision.iter().rev().find(|precision| **precision > 0.0).copied().unwrap_or(0.0);
        let _ = writeln!(
            text,
            "left   {:<22} p = {:<4} {iterations:>5} iterations to {last:.0e}",
            curve.algorithm.title(),
            curve.p
        );
    }
    let found: Vec<String> = figure.found.iter().map(usize::to_string).collect();
    let count = figure.truth.len();
    let _ = writeln!(
        text,
        "right  of the {count} relevant features, among the {count} largest weights, seed by seed: {}",
        found.join(" ")
    );
    for path in written {
        let _ = writeln!(text, "wrote  {}", path.display());
    }
    text
}

pub(crate) fn bench(bench: &Bench) -> String {
    let mut body = Table::new();
    body.load_style(presets::UTF8_FULL_CONDENSED);
    body.set_header(["figure", "ours", "other", "ratio", "target", ""]);
    for figure in &bench.figures {
        let side = |(name, seconds): (&str, f64)| format!("{name}: {:.3} ms", 1e3 * seconds);
        let target = match figure.target {
            Target::AtLeast(bound) => format!(">= {bound}"),
            Target::AtMost(bound) => format!("<= {bound}"),
        };
        body.add_row([
            figure.what.to_owned(),
            side(figure.ours),
            side(figure.other),
            format!("{:.2}", figure.ratio),
            target,
            if figure.reached() { "reached" } else { "missed" }.to_owned(),
        ]);
    }
    let request = &bench.request;
    format!(
        "n = {}, d = {}, {} threads, best of {} rounds; streaming read {:.1} GB/s\n{body}\n",
        request.samples,
        request.features,
        bench.threads,
        request.rounds,
        bench.bandwidth / 1e9
    )
}
