//! `banach predict --explain`: what a prediction is made of.

use std::time::Instant;

use anyhow::ensure;
use banach::{
    FeatureMatrix, Memory,
    fit::{AutoExplanation, ContributionSource},
    model::{ExplicitModel, SearchEnd, TopMonomials},
    sparse::SparseFunction,
};
use banach_io::{Label, Saved, SavedAuto, SavedModel};
use serde::Serialize;

use super::{functions::Functions, stopped};
use crate::{args::SearchBudget, fit::text::significant};

/// Monomials of a function that are looked at.
const KNOWN: usize = 50;
/// Of these, so many are named for a sample.
const NAMED: usize = 3;

/// The values of one function, sample by sample, as sums: the constant, a few parts and all the others.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    /// The class that the function is positive for.
    class: Option<Label>,
    /// The value where every variable is 0, which is its mean if the variables were centred; of a chosen model, at the means.
    constant: f64,
    /// Whether the monomials that were looked at are known to be those of the largest weights, and the most that another can weigh; nothing is
    /// searched for in a chosen model.
    complete: Option<bool>,
    unlisted: Option<f64>,
    rows: Vec<Reasons>,
}

#[derive(Debug, Serialize)]
struct Reasons {
    /// The largest in modulus first.
    contributions: Vec<Contribution>,
    others: f64,
}

/// What a part of a function adds, sample by sample.
type Known = (Part, Vec<f64>);

impl Reasons {
    /// The largest of what parts add to the value of a sample, and what is left: of all that is added, or of these parts alone.
    fn new(known: &[Known], row: usize, added: Option<f64>) -> Self {
        let contribution = |at: usize| known[at].1[row];
        let mut order: Vec<usize> = (0..known.len()).filter(|at| contribution(*at) != 0.0).collect();
        order.sort_by(|&a, &b| contribution(b).abs().total_cmp(&contribution(a).abs()));
        let named = order.iter().take(NAMED);
        let others = match added {
            Some(added) => added - named.clone().map(|at| contribution(*at)).sum::<f64>(),
            None => order.iter().skip(NAMED).map(|at| contribution(*at)).sum(),
        };
        let one = |&at: &usize| Contribution { part: known[at].0.clone(), value: contribution(at) };
        Self { contributions: named.map(one).collect(), others }
    }
}

#[derive(Debug, Serialize)]
struct Contribution {
    #[serde(flatten)]
    part: Part,
    value: f64,
}

/// What a contribution is of.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// A monomial or a term.
    Monomial(String),
    /// A variable, or two and what they do together.
    Variables(Vec<String>),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Monomial(name) => name.clone(),
            Self::Variables(names) => names.join(" with "),
        }
    }
}

/// Every function, and what is to be said of the searches.
pub(super) fn explain(
    model: &Saved,
    fitted: &Functions,
    x: &FeatureMatrix<'_>,
    budget: SearchBudget,
    memory: Memory,
) -> anyhow::Result<(Vec<Explanation>, Vec<String>)> {
    match model {
        Saved::Lp(own) => search(own, fitted, x, budget, memory),
        Saved::Sparse(own) => {
            let functions = own.model.functions().iter().enumerate();
            let one = |(at, function)| of_terms(function, model.class(at), &model.variable_names(), x);
            Ok((functions.map(one).collect::<anyhow::Result<_>>()?, Vec::new()))
        }
        Saved::Auto(own) => Ok((of_choice(model, own, x, memory)?, Vec::new())),
    }
}

/// The functions of a chosen model by variables, or by its terms.
fn of_choice(
    model: &Saved,
    own: &SavedAuto,
    x: &FeatureMatrix<'_>,
    memory: Memory,
) -> anyhow::Result<Vec<Explanation>> {
    let names = model.variable_names();
    let part = |source: ContributionSource| match source {
        ContributionSource::Term(monomial) => Part::Monomial(monomial.with_names(&names)),
        ContributionSource::Variables(variables) => {
            Part::Variables(variables.into_iter().map(|variable| names[variable].clone()).collect())
        }
    };
    let one = |(at, found): (usize, AutoExplanation)| {
        let known: Vec<Known> = found.contributions.into_iter().map(|one| (part(one.source), one.values)).collect();
        let reasons = |(row, others): (usize, &f64)| {
            let mut reasons = Reasons::new(&known, row, None);
            reasons.others += others;
            reasons
        };
        let rows = found.others.iter().enumerate().map(reasons).collect();
        Explanation { class: model.class(at).cloned(), constant: found.constant, complete: None, unlisted: None, rows }
    };
    Ok(own.model.explain(x, memory)?.into_iter().enumerate().map(one).collect())
}

/// A function of few terms is the sum of its terms.
fn of_terms(
    function: &SparseFunction,
    class: Option<&Label>,
    names: &[String],
    x: &FeatureMatrix<'_>,
) -> anyhow::Result<Explanation> {
    let of_terms = function.terms().iter().map(|term| Part::Monomial(term.monomial.with_names(names)));
    let known: Vec<Known> = of_terms.zip(function.term_values(x)?).collect();
    let rows = (0..x.samples()).map(|row| Reasons::new(&known, row, None)).collect();
    Ok(Explanation {
        class: class.cloned(),
        constant: function.intercept(),
        complete: Some(true),
        unlisted: Some(0.0),
        rows,
    })
}

fn search(
    model: &SavedModel<'_>,
    fitted: &Functions,
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
    let (complete, unlisted) = (Some(top.end == SearchEnd::Complete), Some(top.unlisted));
    let mut known = Vec::with_capacity(top.entries.len());
    // A monomial without variables is part of the constant.
    for entry in top.entries.into_iter().filter(|entry| entry.monomial.degree() > 0) {
        let name = Part::Monomial(entry.monomial.with_names(&names));
        known.push((name, ExplicitModel::new(0.0, vec![(entry.monomial, entry.coefficient)])?.predict(x)?));
    }
    let rows =
        values.iter().enumerate().map(|(row, value)| Reasons::new(&known, row, Some(value - constant))).collect();
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
        terms.extend(contributions.iter().map(|one| format!("{} {}", signed(one.value), one.part.text())));
        terms.push(format!("{} others", signed(*others)));
        terms.join("; ")
    }
}

fn signed(value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "+" }, significant(value.abs()))
}
