//! A function of few terms, with the names of variables.

use serde::Serialize;

use super::Factor;
use crate::{
    Error,
    kernel::Monomial,
    sparse::{Alternative, BestOfSize, SparseCertificate, SparseFunction, SparseTerm},
};

/// The few terms that explain a target, and what holds of them.
#[derive(Debug, Clone, Serialize)]
pub struct SparseTable {
    /// The equation as a line of text.
    pub equation: String,
    /// Its constant.
    pub intercept: f64,
    /// Its terms, the one with the most evidence first.
    pub terms: Vec<SparseEntry>,
    /// What is taken from a variable of the equation before it is multiplied; nothing if the variables are as they were measured.
    pub centres: Vec<Centre>,
    /// The criterion: the smaller, the better, and 0 for a constant.
    pub criterion: f64,
    /// The share of the variance that the terms do not explain.
    pub unexplained: f64,
    /// The monomials that could have been named.
    pub dictionary: f64,
    /// What holds at the end of the search.
    pub certificate: SparseCertificate,
    /// The best equation of every number of terms that was looked at.
    pub sizes: Vec<BestOfSize>,
    /// Passes over all monomials.
    pub passes: usize,
}

/// One term.
#[derive(Debug, Clone, Serialize)]
pub struct SparseEntry {
    /// Its monomial.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// Its coefficient, by least squares.
    pub coefficient: f64,
    /// The standard error of the coefficient, as if the terms had been known beforehand.
    pub std_error: f64,
    /// How much the criterion rises without it.
    pub evidence: f64,
    /// What could stand in its place.
    pub alternatives: Vec<AlternativeEntry>,
}

/// A monomial that could stand in the place of a term.
#[derive(Debug, Clone, Serialize)]
pub struct AlternativeEntry {
    /// Its name.
    pub monomial: String,
    /// How much the criterion rises with it.
    pub evidence: f64,
}

/// A number that is taken from a variable.
#[derive(Debug, Clone, Serialize)]
pub struct Centre {
    /// The variable.
    pub variable: String,
    /// Its mean over the samples.
    pub mean: f64,
}

impl SparseTable {
    /// `left` stands before the equals sign.
    pub fn new(found: &SparseFunction, names: &[impl AsRef<str>], left: &str) -> Result<Self, Error> {
        let alternative = |Alternative { monomial, evidence }: &Alternative| AlternativeEntry {
            monomial: monomial.with_names(names),
            evidence: *evidence,
        };
        let entry = |term: &SparseTerm| SparseEntry {
            monomial: term.monomial.with_names(names),
            factors: Factor::all(&term.monomial, names),
            coefficient: term.coefficient,
            std_error: term.std_error,
            evidence: term.evidence,
            alternatives: term.alternatives.iter().map(alternative).collect(),
        };
        let mut variables: Vec<usize> =
            found.terms().iter().flat_map(|term| term.monomial.factors()).map(|(variable, _)| *variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let centre = |variable: usize| {
            let mean = *found.centres().get(variable)?;
            Some(Centre { variable: Monomial::new(&[(variable, 1)]).with_names(names), mean })
        };
        Ok(Self {
            equation: found.explicit()?.equation(left, names),
            intercept: found.intercept(),
            terms: found.terms().iter().map(entry).collect(),
            centres: variables.into_iter().filter_map(centre).collect(),
            criterion: found.criterion(),
            unexplained: found.unexplained(),
            dictionary: found.dictionary(),
            certificate: found.certificate(),
            sizes: found.sizes().to_vec(),
            passes: found.passes(),
        })
    }
}
