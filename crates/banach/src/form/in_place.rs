//! A Hessian whose features are read where they are stored: where both sides are large, n x n numbers and a copy of the features would
//! each take as much memory as the data.

use super::{Hessian, heaviest::HeaviestFeatures};
use crate::{
    FeatureMatrix,
    data::{Pool, product_length},
    numeric::scale_by_exp2,
};

/// `(q-1) Phi diag(|u|^(q-2)) Phi'` over kept features, as numbers beside them.
#[derive(Debug, Clone)]
pub struct InPlace {
    /// `|u|^(q-2)` of the kept features, for u divided by its size.
    weights: Vec<f64>,
    /// The diagonal, and the parts of the heaviest features in the trace, heaviest first, with their places among the kept ones. Both are for
    /// entries divided by `2^exponent`, and without the factor `root^2`.
    rows: Vec<f64>,
    heaviest: Vec<(usize, f64)>,
    /// The root of what multiplies all products of entries divided by `2^exponent`.
    root: f64,
    exponent: f64,
}

/// The most features that are known by their weight: as many as a system may use to precondition the others.
pub(crate) const MOST_HEAVIEST: usize = 2048;

impl InPlace {
    /// From the weights of the features, the diagonal and the parts of the features in its sum.
    pub(super) fn new(weights: Vec<f64>, rows: Vec<f64>, parts: &[f64], root: f64, exponent: f64) -> Self {
        let mut heaviest: Vec<(usize, f64)> =
            parts.iter().copied().enumerate().filter(|(_, part)| *part > 0.0).collect();
        let heavier = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if heaviest.len() > MOST_HEAVIEST {
            heaviest.select_nth_unstable_by(MOST_HEAVIEST, heavier);
            heaviest.truncate(MOST_HEAVIEST);
        }
        heaviest.sort_unstable_by(heavier);
        Self { weights, rows, heaviest, root, exponent }
    }

    /// The numbers that it takes while it is made, of all features.
    pub(crate) fn length(samples: usize, features: usize) -> u64 {
        let sums = product_length(samples, features).saturating_add(samples).saturating_add(2 * MOST_HEAVIEST);
        // Weights with their numbers and parts, and these once more with their places.
        (features as u64).saturating_mul(8).saturating_add(sums as u64)
    }

    /// The same where the columns of C are stored: the Hessian `C C'` on all columns of a matrix.
    pub(crate) fn of_all(matrix: &FeatureMatrix<'_>) -> Hessian {
        HeaviestFeatures::all(matrix).in_place(matrix, 2.0)
    }

    /// The diagonal of the matrix.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        self.rows.iter().map(|row| (self.root * row.sqrt()).powi(2)).collect()
    }

    /// The parts of the heaviest features in its trace, heaviest first, with their places among the kept ones.
    pub(crate) fn heaviest(&self) -> impl Iterator<Item = (usize, f64)> {
        self.heaviest.iter().map(|(place, part)| (*place, self.root * self.root * part))
    }

    /// What multiplies an entry of a feature, besides the root of its weight.
    pub(crate) fn factor(&self) -> f64 {
        scale_by_exp2(self.root, -self.exponent)
    }

    /// A column of C, given its place among the kept features and its number.
    pub(crate) fn column_into(&self, matrix: &FeatureMatrix<'_>, (place, column): (usize, usize), out: &mut [f64]) {
        let root = self.weights[place].sqrt();
        matrix.column_into(column, out);
        out.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -self.exponent) * root * self.root);
    }

    /// `A v` for the matrix A.
    pub(crate) fn times(&self, matrix: &FeatureMatrix<'_>, columns: &[usize], v: &[f64], pool: &mut Pool) -> Vec<f64> {
        self.scaled_times(matrix, columns, &vec![self.factor(); v.len()], v, pool)
    }

    /// `S A S v` for the matrix A and a diagonal S, given `rows`, the entries of S times [`factor`](Self::factor).
    pub(crate) fn scaled_times(
        &self,
        matrix: &FeatureMatrix<'_>,
        columns: &[usize],
        rows: &[f64],
        v: &[f64],
        pool: &mut Pool,
    ) -> Vec<f64> {
        let right: Vec<f64> = v.iter().zip(rows).map(|(v, row)| v * row).collect();
        let mut out = vec![0.0; v.len()];
        matrix.weighted_square_times(columns, &self.weights, &right, pool, &mut out);
        out.iter_mut().zip(rows).for_each(|(out, row)| *out *= row);
        out
    }
}

/// The features that a Hessian in place is made of.
pub(crate) fn features<'a, 'b>(listed: Option<&'b FeatureMatrix<'a>>) -> &'b FeatureMatrix<'a> {
    listed.expect("only routes that list their features make a Hessian of them in place")
}
