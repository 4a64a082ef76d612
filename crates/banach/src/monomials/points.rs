//! Points at which monomials have values.

use crate::FeatureMatrix;

/// Samples, and the factor of each on all its monomials.
#[derive(Debug, Clone)]
pub(crate) struct Points<'a> {
    pub(crate) x: FeatureMatrix<'a>,
    /// `1/||Phi(x_i)||_q` of a normalised kernel.
    pub(crate) rows: Option<Vec<f64>>,
}

impl Points<'_> {
    /// The factors on all monomials, one per sample: 1, or `1/||Phi(x_i)||_q`.
    pub(crate) fn factors_into(&self, out: &mut [f64]) {
        match &self.rows {
            Some(rows) => out.copy_from_slice(rows),
            None => out.fill(1.0),
        }
    }
}
