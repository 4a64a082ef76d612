//! A function of few terms, with what can be said of each.

use serde::{Deserialize, Serialize};

use super::{
    SampleExtent, SparseCertificate,
    certificate::{or_infinity, or_minus_infinity},
};
use crate::{Error, FeatureMatrix, kernel::Monomial, model::ExplicitModel};

/// The share of cases in which an interval of a coefficient would hold the truth.
pub const CONFIDENCE: f64 = 0.95;

/// One term of a sparse function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseTerm {
    /// The monomial.
    pub monomial: Monomial,
    /// What it is multiplied with: by evidence the [`refit`](Self::refit), else that of the penalised fit.
    pub coefficient: f64,
    /// Its coefficient by a fit of the loss to the terms of the function alone: nothing is shrunk.
    pub refit: f64,
    /// The standard error of the refit, as if the terms had been known beforehand; infinite where the data give no bound.
    #[serde(deserialize_with = "or_infinity")]
    pub std_error: f64,
    /// Where an interval of confidence around the refit begins that holds the truth in [`CONFIDENCE`] of all cases, as if the terms had been
    /// known beforehand: it is conditional on the selection.
    #[serde(deserialize_with = "or_minus_infinity")]
    pub lower: f64,
    /// Where it ends.
    #[serde(deserialize_with = "or_infinity")]
    pub upper: f64,
    /// How much the criterion rises without this term.
    pub evidence: f64,
    /// The monomials that could stand in its place, the best first.
    pub alternatives: Vec<Alternative>,
}

/// A monomial that could stand in the place of a term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// The monomial.
    pub monomial: Monomial,
    /// How much the criterion rises with it; 0 for one that does the same on these samples.
    pub evidence: f64,
}

/// The best function of a number of terms that was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BestOfSize {
    /// The number of terms.
    pub terms: usize,
    /// The share of the variance of the targets that they do not explain.
    pub unexplained: f64,
    /// The criterion.
    pub criterion: f64,
}

/// A function `f(x) = b + sum_k a_k (x - m)^k` of few monomials: all others have the coefficient 0, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SparseFunction {
    pub(super) terms: Vec<SparseTerm>,
    pub(super) intercept: f64,
    pub(super) centres: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) extent: Option<SampleExtent>,
    pub(super) criterion: f64,
    pub(super) unexplained: f64,
    pub(super) certificate: SparseCertificate,
    pub(super) separated: bool,
    pub(super) sizes: Vec<BestOfSize>,
    pub(super) dictionary: f64,
    pub(super) passes: usize,
}

impl SparseFunction {
    /// The terms, the one with the most evidence first.
    pub fn terms(&self) -> &[SparseTerm] {
        &self.terms
    }

    /// The constant b.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// What is taken from every variable before monomials are made of them; empty if nothing is.
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// Where the samples lie; `None` where a model of an earlier version does not say so.
    pub fn extent(&self) -> Option<&SampleExtent> {
        self.extent.as_ref()
    }

    /// The criterion: negative if the terms are better than a constant, and 0 without terms.
    pub fn criterion(&self) -> f64 {
        self.criterion
    }

    /// The share of the variance of the targets that is not explained; for classes, the share of the deviance of a constant that is left.
    pub fn unexplained(&self) -> f64 {
        self.unexplained
    }

    /// What holds at the end of the search.
    pub fn certificate(&self) -> SparseCertificate {
        self.certificate
    }

    /// Whether the terms separate two classes, or some samples of them, without an error. Then larger coefficients always fit better, those of
    /// the refit are held back by a weak prior, and their standard errors are infinite.
    pub fn separated(&self) -> bool {
        self.separated
    }

    /// The best function of every number of terms that was looked at.
    pub fn sizes(&self) -> &[BestOfSize] {
        &self.sizes
    }

    /// The number of monomials that could have been named.
    pub fn dictionary(&self) -> f64 {
        self.dictionary
    }

    /// Passes over all monomials.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// The function of `x - m`, written out.
    pub fn explicit(&self) -> Result<ExplicitModel, Error> {
        let terms = self.terms.iter().map(|term| (term.monomial.clone(), term.coefficient)).collect();
        ExplicitModel::new(self.intercept, terms)
    }

    /// The values at the samples of a matrix.
    pub fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        self.check_width(x)?;
        let mut values = vec![self.intercept; x.samples()];
        for term in &self.terms {
            let added = self.values_of(term, x);
            values.iter_mut().zip(&added).for_each(|(value, added)| *value += added);
        }
        Error::check_values(
            "the values of f",
            &values,
            "finite numbers: points nearer to the samples",
            f64::is_finite,
        )?;
        Ok(values)
    }

    /// What every term adds at the samples of a matrix, one list for each term: with the constant they are the values of f.
    pub fn term_values(&self, x: &FeatureMatrix<'_>) -> Result<Vec<Vec<f64>>, Error> {
        self.check_width(x)?;
        Ok(self.terms.iter().map(|term| self.values_of(term, x)).collect())
    }

    fn check_width(&self, x: &FeatureMatrix<'_>) -> Result<(), Error> {
        let last = self.terms.iter().filter_map(|term| term.monomial.factors().last()).map(|(j, _)| j + 1).max();
        let (got, least) = (x.features(), last.unwrap_or(0));
        let fits = if self.centres.is_empty() { got >= least } else { got == self.centres.len() };
        if fits {
            Ok(())
        } else {
            Err(Error::Shape { what: "a row of X", got, expected: least.max(self.centres.len()) })
        }
    }

    /// Of a sparse matrix only the columns of the term are written out.
    fn values_of(&self, term: &SparseTerm, x: &FeatureMatrix<'_>) -> Vec<f64> {
        let (mut values, mut column) = (vec![term.coefficient; x.samples()], vec![0.0; x.samples()]);
        for &(j, power) in term.monomial.factors() {
            let centre = self.centre(j);
            x.column_into(j, &mut column);
            values.iter_mut().zip(&column).for_each(|(value, x)| *value *= (x - centre).powi(power as i32));
        }
        values
    }

    /// The same function of the variables as they are, where its terms are variables alone.
    pub(super) fn of_plain_variables(mut self) -> Self {
        for term in &self.terms {
            let centres = term.monomial.factors().iter().map(|&(j, _)| self.centre(j));
            self.intercept -= term.coefficient * centres.sum::<f64>();
        }
        self.centres = Vec::new();
        self
    }

    /// What is taken from a variable.
    pub(super) fn centre(&self, j: usize) -> f64 {
        self.centres.get(j).copied().unwrap_or(0.0)
    }
}
