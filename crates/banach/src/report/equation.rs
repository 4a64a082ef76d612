//! A function as an equation of a few monomials, with the names of variables.

use serde::Serialize;

use super::Factor;
use crate::{kernel::Monomial, selection::Selection, solver::Mean};

/// An equation, and how its length was chosen.
#[derive(Debug, Clone, Serialize)]
pub struct EquationTable {
    /// The equation as a line of text.
    pub equation: String,
    /// Its constant.
    pub intercept: f64,
    /// Its monomials.
    pub terms: Vec<EquationTerm>,
    /// What held-out samples say of 0, 1, 2, ... terms.
    pub curve: Vec<TermScore>,
    /// Fits that did not converge.
    pub unconverged: usize,
    /// The variables of the equation, by their place.
    #[serde(skip)]
    pub variables: Vec<usize>,
}

/// One term of an equation.
#[derive(Debug, Clone, Serialize)]
pub struct EquationTerm {
    /// Its monomial.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// Its coefficient.
    pub coefficient: f64,
}

/// What held-out samples say of a number of terms.
#[derive(Debug, Clone, Serialize)]
pub struct TermScore {
    /// The monomial that comes with this term, in the fit to all samples.
    pub next: Option<String>,
    /// The loss.
    pub loss: Mean,
    /// `R^2` or accuracy.
    pub score: Option<Mean>,
}

impl EquationTable {
    /// `left` stands before the equals sign.
    pub fn new(selection: &Selection, names: &[impl AsRef<str>], left: &str) -> Self {
        let model = &selection.model;
        // Beyond the monomials that were taken the coefficients are exactly 0.
        let kept = || model.terms().iter().take(selection.terms());
        let term = |(monomial, coefficient): &(Monomial, f64)| EquationTerm {
            monomial: monomial.with_names(names),
            factors: Factor::all(monomial, names),
            coefficient: *coefficient,
        };
        let score = |terms: usize| TermScore {
            next: terms.checked_sub(1).and_then(|at| selection.ranked.get(at)).map(|next| next.with_names(names)),
            loss: selection.loss(terms),
            score: selection.score(terms),
        };
        let mut variables: Vec<usize> =
            kept().flat_map(|(monomial, _)| monomial.factors()).map(|(variable, _)| *variable).collect();
        variables.sort_unstable();
        variables.dedup();
        Self {
            equation: model.equation(left, names),
            intercept: model.intercept(),
            terms: kept().map(term).collect(),
            curve: (0..selection.curve.len()).map(score).collect(),
            unconverged: selection.unconverged,
            variables,
        }
    }
}
