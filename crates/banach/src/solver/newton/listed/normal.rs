//! The samples as the weights see them, `G = X_c' E X_c`, and systems with it.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::super::{
    run::dot,
    system::{factorise, substitute},
};
use crate::FeatureMatrix;

/// The quadratic form of the weights that a linearised problem has, `w'Gw/2` with `G = X_c' E X_c`.
///
/// E is the diagonal of the samples, 0 for those that are absent. With an intercept `X_c` is X less the mean of each column in
/// the weights E: the best intercept for w is then `b_0 - <mean, w>`.
pub(super) struct Normal {
    n: usize,
    means: Vec<f64>,
    /// G; empty where there are as many features as samples, which then do without.
    matrix: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Columns of G that are computed together. The blocks do not depend on the number of threads.
const BLOCK: usize = 64;
/// The share of the largest slope below which a feature does not change a system.
const NEGLIGIBLE: f64 = 1e-18;

impl Normal {
    pub(super) fn new(x: &FeatureMatrix<'_>, weights: &[f64], intercept: bool) -> Self {
        let (n, d) = (x.samples(), x.features());
        let mut columns = vec![0.0; n * d];
        let total: f64 = weights.iter().sum();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut means = vec![0.0; d];
        columns.par_chunks_mut(n).zip(&mut means).enumerate().for_each(|(k, (column, mean))| {
            x.column_into(k, column);
            *mean = if intercept { dot(column, weights) / total } else { 0.0 };
            column.iter_mut().zip(&roots).for_each(|(entry, root)| *entry = (*entry - *mean) * root);
        });
        let diagonal = columns.par_chunks(n).map(|column| dot(column, column)).collect();
        let matrix = if d < n { product(&columns, n) } else { Vec::new() };
        Self { n, means, matrix, diagonal }
    }

    /// The means of the columns; 0 without an intercept.
    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The diagonal of G.
    pub(super) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// `G w`.
    pub(super) fn times(&self, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; w.len()];
        for (column, w) in self.matrix.chunks(w.len()).zip(w) {
            out.iter_mut().zip(column).for_each(|(out, entry)| *out += entry * w);
        }
        out
    }

    /// `X diag(h) X'`, for a matrix with as many features as samples or more. Features without weight are left out.
    pub(super) fn squares(&self, x: &FeatureMatrix<'_>, h: &[f64]) -> Vec<f64> {
        let least = NEGLIGIBLE * h.iter().copied().fold(0.0, f64::max);
        let heavy: Vec<usize> = (0..h.len()).filter(|&k| h[k] > least).collect();
        let (n, d) = (self.n, heavy.len());
        if d == 0 {
            return vec![0.0; n * n];
        }
        let mut rows = vec![0.0; n * d];
        let mut column = vec![0.0; n];
        for (at, &k) in heavy.iter().enumerate() {
            x.column_into(k, &mut column);
            let root = h[k].sqrt();
            rows.iter_mut().skip(at).step_by(d).zip(&column).for_each(|(row, entry)| *row = entry * root);
        }
        product(&rows, d)
    }

    /// Ready to solve `(diag(1/h) + G) x = r`, for `h >= 0`.
    pub(super) fn system(&self, h: &[f64]) -> WeightSystem {
        let roots: Vec<f64> = h.iter().map(|h| h.sqrt()).collect();
        let d = h.len();
        let scale: Vec<f64> = roots.iter().zip(&self.diagonal).map(|(s, g)| 1.0 / (1.0 + s * g * s).sqrt()).collect();
        let mut factor = self.matrix.clone();
        for (j, column) in factor.chunks_mut(d).enumerate() {
            let right = roots[j] * scale[j];
            column.iter_mut().enumerate().for_each(|(i, entry)| *entry *= roots[i] * scale[i] * right);
            column[j] = 1.0;
        }
        let size = scale.len();
        factorise(&mut factor, size);
        WeightSystem { roots, factor, scale }
    }
}

/// A factorised matrix `diag(1/h) + G`.
pub(super) struct WeightSystem {
    roots: Vec<f64>,
    factor: Vec<f64>,
    /// The factor is that of a matrix whose diagonal was brought to 1.
    scale: Vec<f64>,
}

impl WeightSystem {
    /// The solution x.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        // `S (I + S G S)^-1 S r` with S the root of h.
        let mut x: Vec<f64> = right.iter().zip(&self.roots).map(|(r, s)| r * s).collect();
        self.substitute(&mut x);
        x.iter().zip(&self.roots).map(|(x, s)| x * s).collect()
    }

    fn substitute(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x *= scale);
        substitute(&self.factor, x);
        x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x *= scale);
    }
}

/// `C'C` for a matrix C of n rows, column by column.
fn product(columns: &[f64], n: usize) -> Vec<f64> {
    let d = columns.len() / n;
    let mut out = vec![0.0; d * d];
    let left = MatRef::from_column_major_slice(columns, n, d);
    out.par_chunks_mut(BLOCK * d).zip(columns.par_chunks(BLOCK * n)).for_each(|(out, columns)| {
        let width = columns.len() / n;
        let right = MatRef::from_column_major_slice(columns, n, width);
        let out = MatMut::from_column_major_slice_mut(out, d, width);
        matmul(out, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
    });
    out
}
