//! What is known of functions of few terms, for people to read.

use banach::{
    error::counted,
    report::{AlternativeEntry, Centre, SparseEntry, SparseFunctionReport, SparseTable},
    sparse::{LocalOptimality, SparseCertificate, StepScope},
};

use super::FittedSparse;
use crate::{
    fit::{
        text::{data, significant},
        verdict,
    },
    table::Table,
    visible::visible_name,
};

/// Everything, the verdicts first.
pub(super) fn page(fitted: &FittedSparse) -> String {
    let mut lines = verdict::lines(fitted.assessment.as_ref(), fitted.test.as_ref());
    lines.push(data(&fitted.data));
    for SparseFunctionReport { class, table } in &fitted.functions {
        lines.push(format!("sparse: {}", found(table, class.as_deref())));
        // A search that ended early is no detail.
        let told = fitted.explain || !table.certificate.holds();
        lines.extend(told.then(|| format!("search: {}", proof(table))));
    }
    lines.extend(fitted.saved.iter().map(|path| format!("saved:  {}", visible_name(path))));
    lines.extend(fitted.notes.iter().map(|note| format!("note: {note}")));
    let confused = verdict::confusion(fitted.assessment.as_ref(), fitted.test.as_ref());
    lines.extend(confused.map(|table| format!("\n{}", table.text().trim_end())));
    for SparseFunctionReport { class, table } in &fitted.functions {
        let of = class.as_ref().filter(|_| fitted.functions.len() > 1);
        lines.extend(tables(table, &of.map_or_else(String::new, |class| format!(" of class {class:?}"))));
    }
    lines.join("\n") + "\n"
}

/// What was found, in one line.
pub(crate) fn found(sparse: &SparseTable, class: Option<&str>) -> String {
    let (all, class) = (
        counted(sparse.dictionary, "monomial", "monomials"),
        class.map_or_else(String::new, |class| format!("{class:?}: ")),
    );
    if sparse.terms.is_empty() {
        return format!(
            "{class}nothing can be named at this number of rows: none of {all} explains more than the best of as many columns of \
             noise would; to predict, leave --sparse out"
        );
    }
    let explained = significant(100.0 * (1.0 - sparse.unexplained));
    let of = if class.is_empty() { "variance" } else { "deviance" };
    let separated =
        if sparse.separated { "; they separate the classes, so larger coefficients would fit as well" } else { "" };
    let explain = if sparse.terms.len() == 1 { "explains" } else { "explain" };
    format!(
        "{class}{} of {all} {explain} {explained} % of the {of} of these rows; evidence {} against a constant{separated}",
        counted(sparse.terms.len(), "term", "terms"),
        significant(-sparse.criterion),
    )
}

/// What holds at the end of the search.
pub(crate) fn proof(sparse: &SparseTable) -> String {
    let all = counted(sparse.dictionary, "monomial", "monomials");
    match sparse.certificate {
        SparseCertificate::Steps(steps) => of_steps(&steps),
        SparseCertificate::Gap { relative_gap, .. } => {
            format!("the relative duality gap of the penalised fit over all {all} is {relative_gap:.1e}")
        }
        SparseCertificate::Stationarity { violation, .. } => {
            format!("the penalised fit is stationary over all {all} up to {violation:.1e} of the penalty")
        }
        _ => "of a kind that this program does not know".to_owned(),
    }
}

fn of_steps(steps: &LocalOptimality) -> String {
    if !steps.holds() {
        return "none: the search ended before no step improved the criterion".to_owned();
    }
    let rises: Vec<String> = [("addition", steps.addition), ("removal", steps.removal), ("exchange", steps.exchange)]
        .into_iter()
        .filter(|(_, rise)| rise.is_finite())
        .map(|(step, rise)| format!("the best {step} by {}", significant(rise)))
        .collect();
    let which = match steps.scope {
        StepScope::Every => "every step to one monomial more, less or other raises",
        _ => "of the steps with the best scores, every one to one monomial more, less or other raises",
    };
    format!("{which} the criterion: {}", rises.join(", "))
}

/// The terms and the equation, if there is a term.
pub(crate) fn tables(sparse: &SparseTable, of: &str) -> Vec<String> {
    if sparse.terms.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("\n{}", terms(sparse, of).text().trim_end())];
    lines.extend(equation(sparse));
    lines
}

/// The equation, and what stands in it for variables.
pub(crate) fn equation(sparse: &SparseTable) -> Vec<String> {
    let mut lines = vec![visible_name(&sparse.equation).into_owned()];
    lines.extend((!sparse.where_lines.is_empty()).then(|| "where".to_owned()));
    lines.extend(sparse.where_lines.iter().map(|line| format!("  {}", visible_name(line))));
    lines
}

/// What the variables of the terms are, where these are no monomials of the variables as they were measured.
pub(crate) fn differences(sparse: &SparseTable) -> Option<String> {
    let difference = |centre: &Centre| {
        let (sign, size) = if centre.mean < 0.0 { ("+", -centre.mean) } else { ("-", centre.mean) };
        format!("{} {sign} {}", visible_name(&centre.variable), significant(size))
    };
    if !sparse.where_lines.is_empty() {
        return Some("The variables of the terms are those that the lines below the equation tell.".to_owned());
    }
    let all: Vec<String> = sparse.centres.iter().map(difference).collect();
    (!all.is_empty()).then(|| format!("The variables of the terms are differences from means: {}.", all.join(", ")))
}

fn terms(sparse: &SparseTable, of: &str) -> Table {
    let shrunk = sparse.shrinks();
    let mut header = vec!["", "monomial", "coefficient"];
    header.extend(shrunk.then_some("refit"));
    let replaceable = sparse.terms.iter().any(|term| !term.alternatives.is_empty());
    header.extend(["std. error", "95 % interval", "evidence"]);
    header.extend(replaceable.then_some("could also be"));
    let row = |(at, term): (usize, &SparseEntry)| {
        let other = |other: &AlternativeEntry| format!("{} ({})", other.monomial, significant(other.evidence.max(0.0)));
        let mut row = vec![(at + 1).to_string(), term.monomial.clone(), significant(term.coefficient)];
        row.extend(shrunk.then(|| significant(term.refit)));
        row.extend([
            if term.std_error.is_finite() { significant(term.std_error) } else { "unknown".to_owned() },
            if term.std_error.is_finite() {
                format!("{} to {}", significant(term.lower), significant(term.upper))
            } else {
                "unknown".to_owned()
            },
            significant(term.evidence),
        ]);
        row.extend(replaceable.then(|| term.alternatives.iter().map(other).collect::<Vec<_>>().join(", ")));
        row
    };
    let mut notes: Vec<String> = differences(sparse).into_iter().collect();
    if shrunk {
        notes.push("The refit is what these terms get without the penalty.".to_owned());
    }
    notes.push("Standard errors and intervals are as if the terms had been known beforehand.".to_owned());
    Table {
        title: format!("Terms{of}"),
        setting: "Evidence: how much the criterion rises without the term, or with another in its place.".to_owned(),
        header: header.into_iter().map(str::to_owned).collect(),
        rows: sparse.terms.iter().enumerate().map(row).collect(),
        notes,
    }
}
