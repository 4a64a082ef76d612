//! What `banach fit` found, for people to read.

use banach::{
    Status,
    error::counted,
    fit::Candidate,
    kernel::MonomialScale,
    report::{
        ChoiceRule, Combination, FunctionReport, Leaders, LeaveOneOut, ModelSummary, RANKINGS, RouteCost, RouteSummary,
        SparseTable, TopEntry, TopTable, Validation,
    },
    solver::Mean,
};

use super::{
    args::FitArgs,
    result::{Class, Data, Fitted},
    sparse::text::{found as found_terms, tables as tables_of},
    verdict,
};
use crate::{table::Table, visible::visible_name};

/// Lines of a table of variables or of frequencies.
pub(crate) const ROWS: usize = 20;

/// A name in a table of text.
pub(crate) fn show(name: &str) -> String {
    visible_name(name).into_owned()
}

/// Everything, in the order in which it was found.
pub(super) fn page(fitted: &Fitted, fit: &FitArgs) -> String {
    let report = &fitted.report;
    let mut lines = verdict::lines(report.assessment.as_ref(), report.test.as_ref());
    lines.extend([data(&fitted.data), model(&report.model, &gamma(fitted)), route(&report.route)]);
    lines.extend(report.validation.as_ref().and_then(search));
    lines.extend(report.validation.as_ref().map(validation));
    lines.extend(report.leave_one_out.as_ref().map(leave_one_out));
    lines.extend(report.functions.iter().map(|function| end(function, fitted)));
    lines.extend(fitted.saved.iter().map(|path| format!("saved:  {}", visible_name(path))));
    lines.extend(fitted.saved_equation.iter().map(|path| format!("saved:  the equation, {}", visible_name(path))));
    lines.extend(fitted.notes.iter().map(|note| format!("note: {note}")));
    if let Some(table) = &fitted.explained {
        lines.push(format!("\n{table}"));
        let searched = report.validation.as_ref().map(|validation| &validation.searched).filter(|one| !one.is_empty());
        lines.extend(searched.map(|searched| format!("\n{}", search_table(searched).trim_end())));
    }
    let confused = verdict::confusion(report.assessment.as_ref(), report.test.as_ref());
    lines.extend(confused.map(|table| format!("\n{}", table.text().trim_end())));
    for function in &report.functions {
        lines.extend(tables(function, fitted, fit));
    }
    lines.join("\n") + "\n"
}

/// What was done to the variables.
pub(crate) fn scaled(standardized: bool, centred: bool) -> &'static str {
    match (standardized, centred) {
        (true, true) => ", each with mean 0 and standard deviation 1",
        (true, false) => ", each with standard deviation 1",
        (false, _) => ", as they are",
    }
}

pub(crate) fn data(data: &Data) -> String {
    let Data { file, rows, columns, target, variables, .. } = data;
    let what = match &data.classes {
        None => "a number".to_owned(),
        Some(classes) => {
            let count = |class: &Class| format!("{:?} {}", class.label, counted(class.rows, "time", "times"));
            format!("{} classes: {}", classes.len(), classes.iter().map(count).collect::<Vec<_>>().join(", "))
        }
    };
    let scaled = scaled(data.standardized, data.centred);
    format!(
        "data:   {}, {}, {}; target {target:?}, {what}; {}{scaled}",
        visible_name(file),
        counted(rows, "row", "rows"),
        counted(columns, "column", "columns"),
        counted(variables.len(), "variable", "variables")
    )
}

/// The gamma that was taken, and how.
fn gamma(fitted: &Fitted) -> String {
    let validated = fitted.report.validation.as_ref().filter(|validation| validation.chosen.is_some());
    let chosen = match validated.map(|validation| validation.rule) {
        Some(ChoiceRule::Best) => " by cross-validation",
        Some(ChoiceRule::OneStandardError) => " by cross-validation, the simplest within one standard error",
        _ => "",
    };
    format!("gamma = {}{chosen}", fitted.report.model.gamma.map_or(String::new(), significant))
}

pub(crate) fn model(model: &ModelSummary, gamma: &str) -> String {
    let p = model.exponent;
    let degrees = match (model.min_degree, model.max_degree) {
        (min, Some(max)) if min == max => format!("degree {max}"),
        (min, Some(max)) => format!("degrees {min} to {max}"),
        (min, None) => format!("every degree from {min}"),
    };
    let count = model.features.map_or("infinitely many".to_owned(), |count| count.to_string());
    let monomials = if model.features == Some(1.0) { "monomial" } else { "monomials" };
    let size = if model.monomials == MonomialScale::Raw { String::new() } else { format!(" {}", model.monomials) };
    format!(
        "model:  {} loss, p = {p}, {gamma}; K = {}, {count}{size} {monomials} of {degrees}{}",
        model.loss,
        model.kernel,
        if model.intercept { " and a constant" } else { "" },
    )
}

pub(crate) fn route(route: &RouteSummary) -> String {
    let of = |candidate: &RouteCost| match (candidate.seconds, candidate.bytes) {
        (Some(seconds), Some(bytes)) => format!("{} and {}", time(seconds), size(bytes)),
        _ => "not possible".to_owned(),
    };
    let chosen = route.candidates.iter().find(|candidate| candidate.route == route.chosen).map_or(String::new(), of);
    let others: Vec<String> = { route.candidates.iter() }
        .filter(|candidate| candidate.route != route.chosen)
        .map(|candidate| format!("{} {}", candidate.route, of(candidate)))
        .collect();
    format!("route:  {}, predicted {chosen} ({})", route.chosen, others.join("; "))
}

/// What was tried beside gamma, if anything.
fn search(validation: &Validation) -> Option<String> {
    let count = validation.searched.len();
    (count > 0).then(|| {
        format!(
            "search: p and K are the best of {count} combinations, {} each (--explain lists them)",
            counted(validation.candidates.len(), "gamma", "gammas")
        )
    })
}

/// Every combination of p and kernel at its best gamma.
fn search_table(searched: &[Combination]) -> String {
    let row = |one: &Combination| {
        let mark = if one.chosen { ">" } else { "" };
        let best = |text: &dyn Fn(&Candidate) -> String| one.best.as_ref().map_or("interrupted".to_owned(), text);
        vec![
            mark.to_owned(),
            significant(one.p),
            one.kernel.clone(),
            best(&|best| significant(best.gamma)),
            best(&|best| with_error(best.loss, significant)),
        ]
    };
    Table {
        title: "Search".to_owned(),
        setting: "Loss on held-out samples, at the best gamma. > what was taken.".to_owned(),
        header: ["", "p", "kernel", "gamma", "loss"].map(str::to_owned).to_vec(),
        rows: searched.iter().map(row).collect(),
        notes: Vec::new(),
    }
    .text()
}

fn validation(validation: &Validation) -> String {
    let Some(taken) = validation.taken() else {
        return "score:  none, the cross-validation was interrupted".to_owned();
    };
    let metric = validation.metric.name();
    let score = match taken.score {
        Some(score) => format!("{metric} {}, ", with_error(score, |value| format!("{value:.4}"))),
        None => String::new(),
    };
    let loss = with_error(taken.loss, significant);
    format!("score:  {score}loss {loss} on held-out samples, {} folds", validation.folds)
}

fn leave_one_out(found: &LeaveOneOut) -> String {
    let approximate = if found.exact { "" } else { ", approximately" };
    format!("score:  {} {:.4} on samples left out one at a time{approximate}", found.metric.name(), found.score)
}

/// A mean and its standard error, where more than one fold has a part in it.
pub(crate) fn with_error(Mean { value, standard_error }: Mean, text: impl Fn(f64) -> String) -> String {
    if standard_error.is_nan() { text(value) } else { format!("{} +- {}", text(value), text(standard_error)) }
}

/// How a fit ended, and its certificate.
fn end(function: &FunctionReport, fitted: &Fitted) -> String {
    let end = match function.status {
        Status::Converged => "converged",
        Status::IterationLimit => "NOT CONVERGED (the limit on iterations; raise --max-iterations)",
        Status::Rounding => {
            "NOT CONVERGED (rounding keeps the gap above the tolerance; standardise the columns, or try a smaller --gamma or a larger --tolerance)"
        }
        Status::Stalled => {
            "NOT CONVERGED (no step makes progress; try a smaller --gamma, a larger --tolerance, or p farther from 1)"
        }
        Status::Interrupted => "INTERRUPTED (this is the best iterate so far)",
    };
    let class = match &function.class {
        Some(class) => format!("{class:?} against {}: ", others(class, fitted)),
        None => String::new(),
    };
    let constant = match (fitted.report.model.intercept, function.intercept_original) {
        (false, _) => String::new(),
        (true, None) => format!("; constant {}", significant(function.intercept)),
        (true, Some(original)) => {
            format!("; constant {} ({} in original units)", significant(function.intercept), significant(original))
        }
    };
    format!(
        "fit:    {class}{end}, relative duality gap {:.1e}, {}, {}{constant}",
        function.certificate.relative_gap,
        counted(function.iterations, "iteration", "iterations"),
        counted(function.passes, "pass over the data", "passes over the data")
    )
}

fn others(class: &str, fitted: &Fitted) -> String {
    match fitted.data.classes.as_deref() {
        Some([first, _]) => format!("{:?}", first.label),
        _ => format!("all that is not {class:?}"),
    }
}

fn tables(function: &FunctionReport, fitted: &Fitted, fit: &FitArgs) -> Vec<String> {
    let of = match &function.class {
        Some(class) if fitted.report.functions.len() > 1 => format!(" of class {class:?}"),
        _ => String::new(),
    };
    let mut parts = Vec::new();
    parts.extend(function.top.as_ref().map(|top| {
        let stands = scaling(fitted.data.standardized, fitted.data.centred);
        let table = top_table(top, &of, stands, fitted.explained.is_some());
        let leaders = leaders(function).map_or_else(String::new, |line| format!("\n{line}"));
        format!("{}{leaders}", table.trim_end())
    }));
    // What only the page was asked for stays there.
    let relevance = function.relevance.as_ref().filter(|_| fit.tables.relevance);
    parts.extend(relevance.map(|found| format!("Relevance{of}: {}", found.text(ROWS, show))));
    let selection = function.selection.as_ref().filter(|found| !found.terms.is_empty());
    parts.extend(selection.map(|found| selection_table(found, &of)));
    parts.extend(function.stability.as_ref().map(|found| format!("Stability{of}: {}", found.text(ROWS, show))));
    parts.into_iter().map(|part| format!("\n{}", part.trim_end())).collect()
}

/// What a standardised variable stands for.
pub(crate) fn scaling(standardized: bool, centred: bool) -> Option<&'static str> {
    standardized.then_some(if centred { "(x - mean)/deviation" } else { "x/deviation" })
}

/// `explain` adds how exactly the solver knows the weights.
pub(crate) fn top_table(top: &TopTable, of: &str, scaling: Option<&str>, explain: bool) -> String {
    let [shares, widths, originals] = [
        top.monomials.iter().any(|entry| entry.share.is_some()),
        explain && top.monomials.iter().any(|entry| entry.solver_interval.is_some()),
        top.monomials.iter().any(|entry| entry.coefficient_original.is_some()),
    ];
    let mut header = vec!["", "monomial", "weight", "coefficient"];
    header.extend(originals.then_some("in original units"));
    header.extend(shares.then_some("share"));
    header.extend(widths.then_some("solver error"));
    let row = |(rank, entry): (usize, &TopEntry)| {
        let mut row = vec![(rank + 1).to_string(), entry.monomial.clone()];
        row.extend([entry.weight, entry.coefficient].map(significant));
        row.extend(originals.then(|| entry.coefficient_original.map_or(String::new(), significant)));
        row.extend(shares.then(|| entry.share.map_or(String::new(), |share| format!("{:.2} %", 100.0 * share))));
        let width = |(low, high): (f64, f64)| match (high - entry.weight).max(entry.weight - low) {
            width if width.is_finite() => format!("{width:.1e}"),
            _ => "unknown".to_owned(),
        };
        row.extend(widths.then(|| entry.solver_interval.map_or(String::new(), width)));
        row
    };
    let mut notes = Vec::new();
    if !top.complete && !top.set_proven {
        let (nodes, unlisted) = (top.nodes, significant(top.unlisted));
        notes.push(format!(
            "The search stopped after {}: others may have weights up to {unlisted}.",
            counted(nodes, "monomial", "monomials")
        ));
    } else if top.unlisted == 0.0 {
        notes.push("All weights that are not 0.".to_owned());
    }
    notes.push(RANKINGS.to_owned());
    if explain {
        notes.push(solver_error(top).to_owned());
    }
    if let Some(stands) = scaling {
        notes.push(format!("Coefficients are those of standardised variables, {stands}."));
    }
    Table {
        title: format!("Largest monomials{of}"),
        setting: "Share: the part of ||w||_p^p.".to_owned(),
        header: header.into_iter().map(str::to_owned).collect(),
        rows: top.monomials.iter().enumerate().map(row).collect(),
        notes,
    }
    .text()
}

/// What the error of the solver may change in a list.
pub(crate) fn solver_error(top: &TopTable) -> &'static str {
    match (top.order_proven, top.set_proven) {
        (true, _) => "The solver's error cannot change this list or its order; it says nothing of chance.",
        (false, true) => {
            "The solver's error cannot change this list, but may change its order; it says nothing of chance."
        }
        (false, false) => {
            "The solver's error may change this list (a smaller --tolerance makes it smaller); it says nothing of chance."
        }
    }
}

/// Which monomials lead at other gammas, in a line.
pub(crate) fn leaders(function: &FunctionReport) -> Option<String> {
    let each = |leaders: &Leaders| {
        let names: Vec<_> = leaders.monomials.iter().map(|name| visible_name(name)).collect();
        format!(
            "at gamma {} {} of these {} lead too: {}",
            significant(leaders.gamma),
            leaders.common,
            leaders.monomials.len(),
            names.join(", ")
        )
    };
    let told: Vec<String> = function.leaders.iter().map(each).collect();
    (!told.is_empty()).then(|| format!("Other gammas, other leaders: {}.", told.join("; ")))
}

/// The terms that can be named; a note says so where there are none.
fn selection_table(selected: &SparseTable, of: &str) -> String {
    let lines = [vec![format!("Equation{of}: {}", found_terms(selected, None))], tables_of(selected, of)];
    lines.concat().join("\n")
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} us", significant(1e6 * s)),
        s if s < 1.0 => format!("{} ms", significant(1e3 * s)),
        s => format!("{} s", significant(s)),
    }
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e3 => format!("{b} bytes"),
        b if b < 1e6 => format!("{} kB", significant(1e-3 * b)),
        b if b < 1e9 => format!("{} MB", significant(1e-6 * b)),
        b => format!("{} GB", significant(1e-9 * b)),
    }
}

/// Four significant digits.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&exponent) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - exponent).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (1.0, "1"),
            (-0.012_345, "-0.01235"),
            (123_456.7, "123457"),
            (1e7, "1.000e7"),
            (1.234_56e-9, "1.235e-9"),
            (4.0 / 3.0, "1.333"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
