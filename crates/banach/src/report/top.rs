//! The largest monomials, with the names of variables.

use serde::Serialize;

use super::Factor;
use crate::{
    kernel::Monomial,
    model::{SearchEnd, TopMonomial, TopMonomials},
};

/// The largest monomials of a function, and how exactly they are known. All of it is about the computation: what other samples would have given is
/// for stability to say.
#[derive(Debug, Clone, Serialize)]
pub struct TopTable {
    /// The largest first.
    pub monomials: Vec<TopEntry>,
    /// Whether nothing larger was left out.
    pub complete: bool,
    /// Whether they are proven to be the largest at the optimum.
    pub set_proven: bool,
    /// Whether their order is proven too.
    pub order_proven: bool,
    /// No other monomial has a larger weight.
    pub unlisted: f64,
    /// Monomials that were looked at.
    pub nodes: u64,
}

/// Which ranking to trust for what.
pub const RANKINGS: &str = "A weight tells how this fit is built, at this gamma alone; relevance what its predictions depend on; \
                            only stability tells what other rows would name again.";

/// One monomial.
#[derive(Debug, Clone, Serialize)]
pub struct TopEntry {
    /// Its name.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// The weight of its feature.
    pub weight: f64,
    /// The coefficient of the plain product.
    pub coefficient: f64,
    /// Per unit of the variable as it was measured, where the model is linear.
    pub coefficient_original: Option<f64>,
    /// Its share of `||w||_p^p`.
    pub share: Option<f64>,
    /// An interval that holds the weight of the exact optimum: the error of the solver, and nothing of chance.
    pub solver_interval: Option<(f64, f64)>,
}

impl TopTable {
    /// `deviations` turns the coefficients of standardised variables into those of their own units.
    pub fn new(found: TopMonomials, names: &[impl AsRef<str>], deviations: Option<&[f64]>) -> Self {
        let TopMonomials { entries, end, nodes, unlisted, set_proven, order_proven } = found;
        let original = |monomial: &Monomial, coefficient: f64| match *monomial.factors() {
            [(variable, 1)] => {
                deviations.and_then(|deviations| deviations.get(variable)).map(|deviation| coefficient / deviation)
            }
            _ => None,
        };
        let entry = |entry: TopMonomial| TopEntry {
            monomial: entry.monomial.with_names(names),
            factors: Factor::all(&entry.monomial, names),
            weight: entry.weight,
            coefficient: entry.coefficient,
            coefficient_original: original(&entry.monomial, entry.coefficient),
            share: entry.share,
            solver_interval: entry.interval,
        };
        let monomials = entries.into_iter().map(entry).collect();
        Self { monomials, complete: end == SearchEnd::Complete, set_proven, order_proven, unlisted, nodes }
    }
}
