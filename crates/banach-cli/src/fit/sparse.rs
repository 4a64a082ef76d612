//! `banach fit --sparse`: the few terms that explain a number.

use banach::{
    report::{AlternativeEntry, SparseEntry, SparseTable},
    sparse::{LocalOptimality, SparseSpec},
};
use serde::Serialize;

use super::{
    args::{Columns, FitArgs},
    input::Input,
    resolve,
    result::Data,
    text::{data, significant},
};
use crate::{options::Common, print, table::Table, visible::visible_name};

/// What `banach fit --sparse` prints.
#[derive(Debug, Serialize)]
struct FittedSparse {
    version: &'static str,
    /// What makes it again.
    command: String,
    data: Data,
    /// What could be named, and the most terms that were looked for.
    spec: SparseSpec,
    sparse: SparseTable,
    /// What the reader should know.
    notes: Vec<String>,
}

pub(super) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    // Products of variables as they were measured are tried as well as those of centred ones, so nothing is standardised here.
    let columns = Columns { no_standardize: true, ..fit.columns.clone() };
    let input = Input::read(&fit.data, &columns, &fit.model, common.account()?)?;
    let y = input.goal.numbers()?;
    let spec = SparseSpec {
        kernel: resolve::kernel(&fit.model).spec()?,
        max_terms: fit.sparse.max_terms,
        fit_intercept: !fit.model.no_intercept,
        ..SparseSpec::default()
    };
    let found = spec.run(&input.matrix()?, y, None, &input.account)?;
    let named = input.columns();
    let fitted = FittedSparse {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        sparse: SparseTable::new(&found, named.names, named.target)?,
        spec,
        notes: input.notes,
    };
    print::out(&if common.json { print::json(&fitted)? } else { page(&fitted) })?;
    Ok(u8::from(!found.certificate().holds()))
}

/// Everything, the verdict first.
fn page(fitted: &FittedSparse) -> String {
    let FittedSparse { sparse, notes, .. } = fitted;
    let mut lines = vec![data(&fitted.data), verdict(sparse), proof(sparse)];
    lines.extend(notes.iter().map(|note| format!("note: {note}")));
    if !sparse.terms.is_empty() {
        lines.push(format!("\n{}", terms(&sparse.terms).text()));
        lines.push(visible_name(&sparse.equation).into_owned());
    }
    if !sparse.centres.is_empty() {
        lines.push("where".to_owned());
    }
    for centre in &sparse.centres {
        let variable = visible_name(&centre.variable);
        let (sign, size) = if centre.mean < 0.0 { ("+", -centre.mean) } else { ("-", centre.mean) };
        lines.push(format!("  {variable} stands for {variable} {sign} {}", significant(size)));
    }
    lines.join("\n") + "\n"
}

/// What was found, in one line.
fn verdict(sparse: &SparseTable) -> String {
    let count = sparse.dictionary;
    if sparse.terms.is_empty() {
        return format!(
            "sparse: nothing can be named at this number of rows: none of {count} monomials explains more than the best of as many columns of \
             noise would; to predict, leave --sparse out"
        );
    }
    let terms = if sparse.terms.len() == 1 { "1 term".to_owned() } else { format!("{} terms", sparse.terms.len()) };
    format!(
        "sparse: {terms} of {count} monomials explain {} % of the variance of these rows; evidence {} against a constant",
        significant(100.0 * (1.0 - sparse.unexplained)),
        significant(-sparse.criterion),
    )
}

/// What holds at the end of the search.
fn proof(sparse: &SparseTable) -> String {
    let Some(best) = sparse.certificate.steps().filter(LocalOptimality::holds) else {
        return "proof:  none: the search ended before no step improved the criterion".to_owned();
    };
    let rises: Vec<String> = [("addition", best.addition), ("removal", best.removal), ("exchange", best.exchange)]
        .into_iter()
        .filter(|(_, rise)| rise.is_finite())
        .map(|(step, rise)| format!("the best {step} by {}", significant(rise)))
        .collect();
    format!("proof:  every step to one monomial more, less or other raises the criterion: {}", rises.join(", "))
}

fn terms(terms: &[SparseEntry]) -> Table {
    let row = |(at, term): (usize, &SparseEntry)| {
        let other = |other: &AlternativeEntry| format!("{} ({})", other.monomial, significant(other.evidence.max(0.0)));
        vec![
            (at + 1).to_string(),
            term.monomial.clone(),
            significant(term.coefficient),
            significant(term.std_error),
            significant(term.evidence),
            term.alternatives.iter().map(other).collect::<Vec<_>>().join(", "),
        ]
    };
    let header = ["", "monomial", "coefficient", "std. error", "evidence", "could also be"];
    Table {
        title: "Terms".to_owned(),
        setting: "Evidence: how much the criterion rises without the term, or with another in its place.".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: terms.iter().enumerate().map(row).collect(),
        notes: vec![
            "Standard errors are those of least squares on these terms, as if they had been known beforehand."
                .to_owned(),
        ],
    }
}
