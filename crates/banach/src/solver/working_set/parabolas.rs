//! Weighted least squares with the penalty `||w||_1` on the features at hand: what a smooth loss is approached by.

use super::interior::all_products;
use crate::{FeatureMatrix, solver::newton::run::SampleTerm};

/// The problem of samples that are parabolas.
pub(super) struct Parabolas<'a> {
    pub samples: &'a [SampleTerm<'a>],
    pub x: &'a FeatureMatrix<'a>,
    pub intercept: bool,
}

impl Parabolas<'_> {
    /// The duality gap of weights with the best intercept, and of a dual vector, shortened so that all features at hand allow it.
    pub(super) fn gap(&self, alpha: &[f64], weights: &[f64]) -> f64 {
        let u = all_products(self.x, alpha);
        let factor = 1.0 / u.iter().map(|u| u.abs()).fold(1.0, f64::max);
        let omega = self.x.times(weights);
        let residual = |(sample, omega): (&SampleTerm<'_>, &f64)| sample.term.target() - omega;
        let mut residuals: Vec<f64> = self.samples.iter().zip(&omega).map(residual).collect();
        if self.intercept {
            let total: f64 = self.samples.iter().map(|sample| sample.gamma).sum();
            let weighted = self.samples.iter().zip(&residuals).map(|(sample, residual)| sample.gamma * residual);
            let b = weighted.sum::<f64>() / total;
            residuals.iter_mut().for_each(|residual| *residual -= b);
        }
        let of_sample = |((sample, residual), alpha): ((&SampleTerm<'_>, &f64), &f64)| {
            let step = residual - factor * alpha / sample.gamma;
            0.5 * sample.gamma * step * step
        };
        let of_samples: f64 = self.samples.iter().zip(&residuals).zip(alpha).map(of_sample).sum();
        let slack: f64 = weights.iter().zip(&u).map(|(weight, u)| (weight.abs() - factor * u * weight).max(0.0)).sum();
        of_samples + slack
    }
}
