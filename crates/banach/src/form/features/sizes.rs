//! The sizes of the samples, which bound the rounding of their predictions.

use crate::{
    FeatureMatrix,
    form::rounding::{self, Units},
};

/// How the entries of a feature matrix came to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// The units in the last place by which an entry may be off.
    pub units: f64,
    /// The logarithm of the least size that a sample counts with, for entries whose units are those of that size.
    pub ln_least: f64,
}

impl Origin {
    /// The entries are the data.
    pub(crate) const GIVEN: Self = Self { units: 0.0, ln_least: f64::NEG_INFINITY };
}

/// `ln ||Phi(x_i)||_q` of every sample, or a little more, and how often sums are rounded.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    ln_norms: Vec<f64>,
    units: Units,
    /// The units of the entries alone.
    origin: f64,
}

/// Sums of powers in this range have lost nothing to overflow, and at most negligible terms to underflow.
const RANGE: std::ops::RangeInclusive<f64> = 1e-250..=1e300;

impl Sizes {
    /// The power, at most q, by which samples are measured: `||.||_4 >= ||.||_q` for q >= 4, and so on. Powers that take a
    /// multiplication cost less than q itself.
    pub(super) fn power(q: f64) -> u32 {
        if q >= 4.0 { 4 } else { 2 }
    }

    /// From the sums of powers of every sample.
    pub(super) fn new(matrix: &FeatureMatrix<'_>, q: f64, origin: Origin, rows: &[f64]) -> Self {
        let (n, features) = (matrix.samples() as f64, matrix.features() as f64);
        let mut ln_norms: Vec<f64> = if rows.iter().all(|row| RANGE.contains(row)) {
            rows.iter().map(|row| row.ln() / f64::from(Self::power(q))).collect()
        } else {
            // The largest entry, as often as there are features.
            matrix.sample_sizes(&[]).into_iter().map(|(size, _)| size.ln() + features.ln() / q).collect()
        };
        // Sums of positive terms are off by a few of 1e16 parts.
        ln_norms.iter_mut().for_each(|ln| *ln = (*ln + 1e-9).max(origin.ln_least));
        let sums = matrix.layout().additions() + rounding::powers(q) + origin.units;
        Self { ln_norms, units: Units { products: n + 4.0 + origin.units, sums }, origin: origin.units }
    }

    /// How far rounding can have moved predictions; see `form/rounding.rs`.
    pub(super) fn roundings(&self, q: f64, alpha: &[f64], ln_value: f64, out: &mut [f64]) {
        self.bound(q, alpha, ln_value, self.units, out);
    }

    /// The part of these roundings that comes from the entries.
    pub(super) fn origin_roundings(&self, q: f64, alpha: &[f64], ln_value: f64, out: &mut [f64]) {
        if self.origin == 0.0 {
            return out.fill(0.0);
        }
        self.bound(q, alpha, ln_value, Units { products: self.origin, sums: self.origin }, out);
    }

    fn bound(&self, q: f64, alpha: &[f64], ln_value: f64, units: Units, out: &mut [f64]) {
        let ln_moduli = rounding::ln_moduli(alpha, &self.ln_norms);
        rounding::of_features(q, ln_value, ln_moduli, self.ln_norms.iter().copied(), units, out);
    }
}
