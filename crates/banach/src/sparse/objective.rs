//! What a search by exact steps needs to know of a loss.

use super::{
    Design, Dictionary, Evidence, Prices, Support, WorkingColumns, dictionary::Offers, prices::gain, support::DEPENDENT,
};
use crate::numeric::dot_in_lanes;

/// How well columns explain the targets by a loss, and how well they would with one more.
pub(super) trait Objective: Sync {
    /// The fit of the loss to some columns.
    type Fit: Send + Sync;

    /// The fit to columns of a dictionary, none of which depends on the others.
    fn fit(&self, columns: &[&[f64]]) -> Self::Fit;

    /// What a fit leaves unexplained: the loss at its minimum.
    fn left(&self, fit: &Self::Fit) -> f64;

    /// The criterion of so many terms that leave so much; it increases with what is left.
    fn criterion(&self, left: f64, terms: usize) -> f64;

    /// The most terms.
    fn most_terms(&self) -> usize;

    /// What would be left with one more column.
    fn besides(&self, fit: &Self::Fit, column: &[f64]) -> Estimate;

    /// The terms of a dictionary that explain most by approximation, given the fit to a support: besides it and in the place of each of its
    /// terms.
    fn offers(&self, dictionary: &Dictionary<'_>, support: &[u64], fit: &Self::Fit, count: usize) -> Offers;
}

/// What would be left with one more column. A column that depends on the others leaves infinity, as it is no step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// Most likely.
    pub likely: f64,
    /// At least, for sure.
    pub least: f64,
    /// Whether exactly so much as is likely.
    pub exact: bool,
}

impl Estimate {
    /// Of a column that depends on the others.
    pub(super) const DEPENDENT: Self = Self { likely: f64::INFINITY, least: f64::INFINITY, exact: true };
}

/// The squared loss: estimates are exact.
#[derive(Debug)]
pub(super) struct LeastSquares<'d> {
    pub design: &'d Design,
    pub evidence: Evidence,
}

impl Objective for LeastSquares<'_> {
    type Fit = Support;

    fn fit(&self, columns: &[&[f64]]) -> Support {
        let mut support = Support::empty(self.design.target());
        columns.iter().enumerate().for_each(|(place, column)| {
            support.push(place, column);
        });
        support
    }

    fn left(&self, fit: &Support) -> f64 {
        fit.unexplained()
    }

    fn criterion(&self, left: f64, terms: usize) -> f64 {
        self.evidence.criterion(left, terms)
    }

    fn most_terms(&self) -> usize {
        self.evidence.most_terms()
    }

    fn besides(&self, fit: &Support, column: &[f64]) -> Estimate {
        let inside: f64 = fit.basis().chunks(column.len()).map(|q| dot_in_lanes(q, column).powi(2)).sum();
        let rest = 1.0 - inside;
        if rest <= DEPENDENT {
            return Estimate::DEPENDENT;
        }
        let left = fit.unexplained() - gain(dot_in_lanes(column, fit.residual()).powi(2), rest).max(0.0);
        Estimate { likely: left, least: left, exact: true }
    }

    fn offers(&self, dictionary: &Dictionary<'_>, support: &[u64], _: &Support, count: usize) -> Offers {
        offers_in(dictionary, self.design, support, count)
    }
}

/// What the terms of a dictionary explain besides those of a support and in their place, by least squares.
pub(super) fn offers_in(dictionary: &Dictionary<'_>, design: &Design, support: &[u64], count: usize) -> Offers {
    let mut columns = WorkingColumns::new(design.target().len());
    let mut places = Vec::with_capacity(support.len());
    for &number in support {
        if let Some(column) = dictionary.column(number) {
            places.push(columns.push(number, &column));
        }
    }
    let fitted = Support::of(&columns, places, design.target());
    // A term that depends on others in this geometry has no exchanges of its own.
    if fitted.len() < support.len() {
        return Offers::default();
    }
    dictionary.offers(&fitted, &Prices::new(&fitted, design.target()), count, &columns)
}
