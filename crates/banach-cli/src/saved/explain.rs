//! `banach predict --explain`: what a prediction is made of.

use std::time::Instant;

use anyhow::ensure;
use banach::{
    FeatureMatrix, Memory,
    model::{ExplicitModel, SearchEnd, TopMonomials},
};
use banach_io::{Label, SavedModel};
use serde::Serialize;

use super::stopped;
use crate::{args::SearchBudget, fit::text::significant};

/// Monomials of a function that are looked at.
const KNOWN: usize = 50;
/// Of these, so many are named for a sample.
const NAMED: usize = 3;

/// The values of one function, sample by sample, as sums: the constant, a few monomials and all the others.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    /// The class that the function is positive for.
    class: Option<Label>,
    /// The value where every variable is 0, which is its mean if the variables were centred.
    constant: f64,
    /// Whether the monomials that were looked at are known to be those of the largest weights, and the most that another can weigh.
    complete: bool,
    unlisted: f64,
    rows: Vec<Reasons>,
}

#[derive(Debug, Serialize)]
struct Reasons {
    /// The largest in modulus first.
    contributions: Vec<Contribution>,
    others: f64,
}

#[derive(Debug, Serialize)]
struct Contribution {
    monomial: String,
    value: f64,
}

/// Every function, and what is to be said of the searches.
pub(super) fn explain(
    model: &SavedModel<'_>,
    fitted: &banach::Model,
    x: &FeatureMatrix<'_>,
    budget: SearchBudget,
    memory: Memory,
) -> anyhow::Result<(Vec<Explanation>, Vec<String>)> {
    let kernel = model.spec.kernel.build()?;
    ensure!(
        !kernel.normalized(),
        "--explain: with a normalised kernel a prediction is no sum of monomials; `banach features` has what the model is made of"
    );
    let nothing = FeatureMatrix::from_columns(1, x.features(), vec![0.0; x.features()])?;
    let (constants, values) = (fitted.decisions(&nothing)?, fitted.decisions(x)?);
    let (mut explanations, mut notes, begin) = (Vec::new(), Vec::new(), Instant::now());
    for (at, (constant, values)) in constants.into_iter().zip(values.chunks(x.samples())).enumerate() {
        let top = model.function(at)?.with_memory(memory).top_monomials(KNOWN, budget.left(begin))?;
        notes.extend(stopped(&top));
        explanations.push(function(model, at, top, (constant, values), x)?);
    }
    Ok((explanations, notes))
}

fn function(
    model: &SavedModel<'_>,
    function: usize,
    top: TopMonomials,
    (constant, values): (f64, &[f64]),
    x: &FeatureMatrix<'_>,
) -> anyhow::Result<Explanation> {
    let names = model.variable_names();
    let (complete, unlisted) = (top.end == SearchEnd::Complete, top.unlisted);
    // A monomial without variables is part of the constant.
    let known: Vec<_> = top.entries.into_iter().filter(|entry| entry.monomial.degree() > 0).collect();
    let mut contributions = Vec::with_capacity(known.len());
    for entry in &known {
        contributions.push(ExplicitModel::new(0.0, vec![(entry.monomial.clone(), entry.coefficient)])?.predict(x)?);
    }
    let reasons = |(row, value): (usize, &f64)| {
        let contribution = |at: usize| contributions[at][row];
        let mut order: Vec<usize> = (0..known.len()).filter(|at| contribution(*at) != 0.0).collect();
        order.sort_by(|&a, &b| contribution(b).abs().total_cmp(&contribution(a).abs()));
        let named = order.iter().take(NAMED);
        let others = value - constant - named.clone().map(|at| contribution(*at)).sum::<f64>();
        let one =
            |&at: &usize| Contribution { monomial: known[at].monomial.with_names(&names), value: contribution(at) };
        Reasons { contributions: named.map(one).collect(), others }
    };
    let rows = values.iter().enumerate().map(reasons).collect();
    Ok(Explanation { class: model.class(function).cloned(), constant, complete, unlisted, rows })
}

impl Explanation {
    /// Its column in a table, beside those of other functions.
    pub(super) fn header(&self, functions: usize) -> String {
        match &self.class {
            Some(class) if functions > 1 => format!("because_{class}"),
            _ => "because".to_owned(),
        }
    }

    /// The sum for one sample, for people. It begins with a word, so that no spreadsheet takes it for a formula.
    pub(super) fn because(&self, row: usize) -> String {
        let Reasons { contributions, others } = &self.rows[row];
        let mut terms = vec![format!("constant {}", significant(self.constant))];
        terms.extend(contributions.iter().map(|one| format!("{} {}", signed(one.value), one.monomial)));
        terms.push(format!("{} others", signed(*others)));
        terms.join("; ")
    }
}

fn signed(value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "+" }, significant(value.abs()))
}
