//! The samples as the weights see them, `G = X_c' E X_c`, and systems with it.

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::super::system::{factorise, substitute};
use crate::{FeatureMatrix, numeric::dot};

/// The quadratic form of the weights that a linearised problem has, `w'Gw/2` with `G = X_c' E X_c`.
///
/// E is the diagonal of the samples, 0 for those that are absent. With an intercept `X_c` is X less the mean of each column in
/// the weights E: the best intercept for w is then `b_0 - <mean, w>`.
pub(super) struct Normal {
    means: Vec<f64>,
    /// G; empty where it is not needed.
    matrix: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Columns of G that are computed together: enough for a matrix product. The blocks do not depend on the number of threads.
const BLOCK: usize = 64;
/// Up to this many products a matrix is made by the thread that asks: others would take longer to wake than it takes to do.
const MOST_ALONE: usize = 1 << 22;

impl Normal {
    /// `whole` says whether G itself is formed; a step that is solved for alpha does without it.
    pub(super) fn new(x: &FeatureMatrix<'_>, weights: &[f64], intercept: bool, whole: bool) -> Self {
        let (n, d) = (x.samples(), x.features());
        let total: f64 = weights.iter().sum();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let centred = |k: usize, column: &mut [f64]| {
            x.column_into(k, column);
            let mean = if intercept { dot(column, weights) / total } else { 0.0 };
            column.iter_mut().zip(&roots).for_each(|(entry, root)| *entry = (*entry - mean) * root);
            (mean, dot(column, column))
        };
        let alone = n.saturating_mul(d).saturating_mul(if whole { d } else { 1 }) <= MOST_ALONE;
        let mut columns = if whole { vec![0.0; n * d] } else { Vec::new() };
        let (means, diagonal) = match (whole, alone) {
            (true, true) => columns.chunks_mut(n).enumerate().map(|(k, column)| centred(k, column)).unzip(),
            (true, false) => columns.par_chunks_mut(n).enumerate().map(|(k, column)| centred(k, column)).unzip(),
            (false, true) => {
                let mut column = vec![0.0; n];
                (0..d).map(|k| centred(k, &mut column)).unzip()
            }
            (false, false) => (0..d).into_par_iter().map_init(|| vec![0.0; n], |column, k| centred(k, column)).unzip(),
        };
        let matrix = if whole { product(&columns, n, alone) } else { Vec::new() };
        Self { means, matrix, diagonal }
    }

    /// The means of the columns; 0 without an intercept.
    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The diagonal of G.
    pub(super) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// `out = G w`.
    pub(super) fn times(&self, w: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, w) in self.matrix.chunks(w.len()).zip(w) {
            out.iter_mut().zip(column).for_each(|(out, entry)| *out += entry * w);
        }
    }

    /// Makes a system ready to solve `(diag(1/h) + G) x = r`, for `h >= 0`, in the memory that it has.
    pub(super) fn prepare(&self, h: &[f64], system: &mut WeightSystem) {
        let (d, WeightSystem { roots, factor, equilibration }) = (h.len(), system);
        roots.clear();
        roots.extend(h.iter().map(|h| h.sqrt()));
        equilibration.clear();
        equilibration.extend(roots.iter().zip(&self.diagonal).map(|(s, g)| 1.0 / (1.0 + s * g * s).sqrt()));
        factor.resize(d * d, 0.0);
        // On and below the diagonal: Cholesky's method reads no more.
        for (j, (column, entries)) in factor.chunks_mut(d).zip(self.matrix.chunks(d)).enumerate() {
            let right = roots[j] * equilibration[j];
            for i in j..d {
                column[i] = entries[i] * (roots[i] * equilibration[i] * right);
            }
            column[j] = 1.0;
        }
        factorise(factor, d);
    }
}

/// A factorised matrix `diag(1/h) + G`.
#[derive(Default)]
pub(super) struct WeightSystem {
    roots: Vec<f64>,
    factor: Vec<f64>,
    /// The factor is that of a matrix whose diagonal was brought to 1.
    equilibration: Vec<f64>,
}

impl WeightSystem {
    /// The solution x in place of the right-hand side r.
    pub(super) fn solve(&self, x: &mut [f64]) {
        // `S (I + S G S)^-1 S r` with S the root of h.
        let each = || self.roots.iter().zip(&self.equilibration);
        x.iter_mut().zip(each()).for_each(|(x, (root, factor))| *x = *x * root * factor);
        substitute(&self.factor, x);
        x.iter_mut().zip(each()).for_each(|(x, (root, factor))| *x = *x * factor * root);
    }
}

/// `C'C` for a matrix C of n rows, column by column.
fn product(columns: &[f64], n: usize, alone: bool) -> Vec<f64> {
    let d = columns.len() / n;
    let mut out = vec![0.0; d * d];
    let left = MatRef::from_column_major_slice(columns, n, d);
    let multiply = |(out, columns): (&mut [f64], &[f64])| {
        let width = columns.len() / n;
        let right = MatRef::from_column_major_slice(columns, n, width);
        let out = MatMut::from_column_major_slice_mut(out, d, width);
        matmul(out, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
    };
    if alone {
        out.chunks_mut(BLOCK * d).zip(columns.chunks(BLOCK * n)).for_each(multiply);
    } else {
        out.par_chunks_mut(BLOCK * d).zip(columns.par_chunks(BLOCK * n)).for_each(multiply);
    }
    out
}
