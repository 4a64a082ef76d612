//! What `banach fit` found: the JSON object, key by key (docs/command-line.md explains them).

use banach::{
    Certificate, Exponent, Status,
    kernel::{Monomial, MonomialScale},
    model::{Relevance, SearchEnd, TopMonomials},
    selection::{Selection, Stability},
    solver::Mean,
};
use banach_io::Fill;
use serde::Serialize;

use super::validate::Validation;
use crate::visible::visible_name;

#[derive(Debug, Serialize)]
pub(crate) struct Fitted {
    pub version: &'static str,
    /// What makes it again.
    pub command: String,
    pub data: Data,
    pub model: Model,
    pub route: Route,
    pub validation: Option<Validation>,
    /// `converged`, or how the worst of the fits ended.
    pub status: Status,
    pub functions: Vec<Function>,
    /// The model file, if one was asked for.
    pub saved: Option<String>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Data {
    pub file: String,
    pub rows: usize,
    /// Columns of the file.
    pub columns: usize,
    pub target: String,
    /// `regression` or `classification`.
    pub task: &'static str,
    pub classes: Option<Vec<Class>>,
    /// The columns that the model is made of, with what was done to them.
    pub variables: Vec<Variable>,
    pub standardized: bool,
    /// Whether they have mean 0 then; sparse tables do not.
    pub centred: bool,
    pub sparse: bool,
    /// What was filled in for missing values.
    pub imputed: Vec<Imputed>,
    /// Rows with missing values that were left out.
    pub dropped: usize,
    /// Columns of labels.
    pub categorical: Vec<Categorical>,
    /// Constant columns, which were left out.
    pub constant: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Imputed {
    pub column: String,
    pub value: f64,
    pub rows: usize,
}

impl From<&Fill> for Imputed {
    fn from(fill: &Fill) -> Self {
        Self { column: fill.column.clone(), value: fill.value, rows: fill.count }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Categorical {
    pub column: String,
    pub labels: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Class {
    pub label: String,
    pub rows: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct Variable {
    pub name: String,
    /// 0 and 1 for columns that are taken as they are.
    pub mean: f64,
    pub deviation: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Model {
    pub kernel: String,
    pub min_degree: usize,
    pub max_degree: Option<usize>,
    /// How many monomials the kernel has; none if infinitely many.
    pub features: Option<f64>,
    pub monomials: MonomialScale,
    #[serde(skip)]
    pub exponent: Exponent,
    pub p: f64,
    pub q: f64,
    pub loss: &'static str,
    /// None for a path over many.
    pub gamma: Option<f64>,
    pub intercept: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Route {
    pub chosen: banach::Route,
    pub candidates: Vec<RouteCost>,
    /// The whole table, where it was asked for.
    #[serde(skip)]
    pub table: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RouteCost {
    pub route: banach::Route,
    pub seconds: Option<f64>,
    pub bytes: Option<u64>,
    pub refused: Option<String>,
}

/// One fitted function: of a number, of two classes, or of one class against the others.
#[derive(Debug, Serialize)]
pub(crate) struct Function {
    /// The class that it is positive for.
    pub class: Option<String>,
    pub status: Status,
    pub certificate: Proof,
    pub iterations: usize,
    pub passes: usize,
    /// The relative gap after so many passes.
    pub history: Vec<Step>,
    pub intercept: f64,
    /// For the variables as they are in the file, where the model is linear in them.
    pub intercept_original: Option<f64>,
    pub top: Option<Top>,
    pub relevance: Option<Shares>,
    pub selection: Option<Selected>,
    pub stability: Option<Agreement>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Step {
    pub passes: usize,
    pub relative_gap: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    pub primal: f64,
    pub dual: f64,
    pub gap: f64,
    pub relative_gap: f64,
    pub distance: f64,
}

impl From<Certificate> for Proof {
    fn from(certificate: Certificate) -> Self {
        let Certificate { primal, dual, gap, distance } = certificate;
        Self { primal, dual, gap, relative_gap: certificate.relative_gap(), distance }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Factor {
    pub variable: String,
    pub power: usize,
}

/// Names for a table of text.
fn shown(names: &[String]) -> Vec<String> {
    names.iter().map(|name| visible_name(name).into_owned()).collect()
}

pub(crate) fn factors(monomial: &Monomial, names: &[String]) -> Vec<Factor> {
    let factor = |&(variable, power): &(usize, usize)| Factor { variable: names[variable].clone(), power };
    monomial.factors().iter().map(factor).collect()
}

#[derive(Debug, Serialize)]
pub(crate) struct Top {
    pub monomials: Vec<TopEntry>,
    /// Whether nothing larger was left out.
    pub complete: bool,
    pub set_proven: bool,
    pub order_proven: bool,
    /// No other monomial has a larger weight.
    pub unlisted: f64,
    /// Monomials that were looked at.
    pub nodes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct TopEntry {
    pub monomial: String,
    pub factors: Vec<Factor>,
    pub weight: f64,
    pub coefficient: f64,
    /// Per unit of the variable in the file, where the model is linear.
    pub coefficient_original: Option<f64>,
    pub share: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

impl Top {
    /// `per_unit` turns the coefficient of a variable into one for the units of the file.
    pub(crate) fn new(found: TopMonomials, names: &[String], per_unit: Option<&dyn Fn(usize) -> f64>) -> Self {
        let TopMonomials { entries, end, nodes, unlisted, set_proven, order_proven } = found;
        let original = |monomial: &Monomial, coefficient: f64| match *monomial.factors() {
            [(variable, 1)] => per_unit.map(|per_unit| coefficient * per_unit(variable)),
            _ => None,
        };
        let entry = |entry: banach::model::TopMonomial| TopEntry {
            monomial: entry.monomial.with_names(names),
            factors: factors(&entry.monomial, names),
            weight: entry.weight,
            coefficient: entry.coefficient,
            coefficient_original: original(&entry.monomial, entry.coefficient),
            share: entry.share,
            interval: entry.interval,
        };
        let monomials = entries.into_iter().map(entry).collect();
        Self { monomials, complete: end == SearchEnd::Complete, set_proven, order_proven, unlisted, nodes }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Shares {
    /// By decreasing share.
    pub variables: Vec<VariableShare>,
    pub degrees: Vec<DegreeShare>,
    /// Of the higher degrees that are not listed.
    pub rest: f64,
    /// How far rounding may have moved a share.
    pub error: f64,
    #[serde(skip)]
    pub table: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct VariableShare {
    pub variable: String,
    pub share: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct DegreeShare {
    pub degree: usize,
    pub share: f64,
}

impl Shares {
    pub(crate) fn new(relevance: &Relevance, names: &[String], rows: usize) -> Self {
        let variable = |&j: &usize| VariableShare { variable: names[j].clone(), share: relevance.variables()[j] };
        let degree = |&(degree, share): &(usize, f64)| DegreeShare { degree, share };
        Self {
            variables: relevance.ranking().iter().map(variable).collect(),
            degrees: relevance.degrees().iter().map(degree).collect(),
            rest: relevance.rest(),
            error: relevance.error(),
            table: relevance.table(&shown(names), rows),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Selected {
    pub equation: String,
    pub intercept: f64,
    pub terms: Vec<SelectedTerm>,
    /// For 0, 1, 2, ... terms.
    pub curve: Vec<SelectedScore>,
    /// Fits that did not converge.
    pub unconverged: usize,
    /// The variables of the equation, by their place.
    #[serde(skip)]
    pub variables: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SelectedTerm {
    pub monomial: String,
    pub factors: Vec<Factor>,
    pub coefficient: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct SelectedScore {
    /// The monomial that comes with this term, in the fit to all samples.
    pub next: Option<String>,
    pub loss: Mean,
    pub score: Option<Mean>,
}

impl Selected {
    pub(crate) fn new(selection: &Selection, names: &[String], target: &str) -> Self {
        let model = &selection.model;
        // Beyond the monomials that were taken the coefficients are exactly 0.
        let kept = || model.terms().iter().take(selection.terms());
        let term = |(monomial, coefficient): &(Monomial, f64)| SelectedTerm {
            monomial: monomial.with_names(names),
            factors: factors(monomial, names),
            coefficient: *coefficient,
        };
        let score = |terms: usize| SelectedScore {
            next: terms.checked_sub(1).and_then(|at| selection.ranked.get(at)).map(|next| next.with_names(names)),
            loss: selection.loss(terms),
            score: selection.score(terms),
        };
        let mut variables: Vec<usize> =
            kept().flat_map(|(monomial, _)| monomial.factors()).map(|(variable, _)| *variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let equation = model.equation(names);
        Self {
            equation: equation.strip_prefix("y = ").map_or(equation.clone(), |right| format!("{target} = {right}")),
            intercept: model.intercept(),
            terms: kept().map(term).collect(),
            curve: (0..selection.curve.len()).map(score).collect(),
            unconverged: selection.unconverged,
            variables,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Agreement {
    pub monomials: Vec<Agreed>,
    /// Of these, how many reach the threshold.
    pub stable: usize,
    pub subsamples: usize,
    /// A bound on how many of them are expected there by chance; none for infinitely many features.
    pub expected_false: Option<f64>,
    #[serde(skip)]
    pub table: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Agreed {
    pub monomial: String,
    pub factors: Vec<Factor>,
    pub frequency: f64,
}

impl Agreement {
    pub(crate) fn new(found: &Stability, names: &[String], rows: usize) -> Self {
        let frequency = |entry: &banach::selection::StableMonomial| Agreed {
            monomial: entry.monomial.with_names(names),
            factors: factors(&entry.monomial, names),
            frequency: entry.frequency,
        };
        Self {
            monomials: found.entries.iter().map(frequency).collect(),
            stable: found.stable().len(),
            subsamples: found.subsamples,
            expected_false: found.expected_false(),
            table: found.table(&shown(names), rows),
        }
    }
}
