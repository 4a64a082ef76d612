//! The samples as the weights see them, `G = X_c' E X_c`, and systems with it.

use std::ops::Range;

use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};
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

/// Samples whose part of G is computed at once: enough for a matrix product, and few enough for a cache.
const SAMPLES_AT_ONCE: usize = 512;
/// The most pieces of the sum over samples that makes G. Each is a d x d matrix, so there are few; they do not depend on the number of
/// threads.
const MOST_PIECES: usize = 4;
/// Up to this many products a matrix is made by the thread that asks: others would take longer to wake than it takes to do.
const MOST_ALONE: usize = 1 << 22;

impl Normal {
    /// `whole` says whether G itself is formed; a step that is solved for alpha does without it.
    pub(super) fn new(x: &FeatureMatrix<'_>, weights: &[f64], intercept: bool, whole: bool) -> Self {
        let (n, d) = (x.samples(), x.features());
        let mut means = vec![0.0; d];
        if intercept {
            let total: f64 = weights.iter().sum();
            x.products(&(0..d).collect::<Vec<_>>(), weights, &mut means);
            means.iter_mut().for_each(|mean| *mean /= total);
        }
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let samples = Samples { x, means: &means, roots: &roots };
        if !whole {
            let diagonal = (0..d).into_par_iter().with_min_len((MOST_ALONE / n).max(1)).map(|k| samples.square_of(k));
            return Self { diagonal: diagonal.collect(), means, matrix: Vec::new() };
        }
        let pieces = if n.saturating_mul(d).saturating_mul(d) <= MOST_ALONE { 1 } else { MOST_PIECES };
        let piece = n.div_ceil(pieces).next_multiple_of(SAMPLES_AT_ONCE);
        let part = |part: usize| samples.square_over(part * piece..((part + 1) * piece).min(n));
        let parts: Vec<Vec<f64>> = (0..n.div_ceil(piece)).into_par_iter().map(part).collect();
        let mut matrix = vec![0.0; d * d];
        for part in &parts {
            matrix.iter_mut().zip(part).for_each(|(sum, entry)| *sum += entry);
        }
        for j in 0..d {
            for i in j + 1..d {
                matrix[i * d + j] = matrix[j * d + i];
            }
        }
        Self { diagonal: matrix.iter().step_by(d + 1).copied().collect(), means, matrix }
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

/// The rows of `E^(1/2) X_c`.
struct Samples<'a> {
    x: &'a FeatureMatrix<'a>,
    means: &'a [f64],
    roots: &'a [f64],
}

impl Samples<'_> {
    /// Some entries of one column.
    fn column_into(&self, column: usize, samples: Range<usize>, buffer: &mut [f64], out: &mut [f64]) {
        let (entries, mean) = (self.x.column_part(column, samples.clone(), buffer), self.means[column]);
        let each = out.iter_mut().zip(entries).zip(&self.roots[samples]);
        each.for_each(|((out, entry), root)| *out = (entry - mean) * root);
    }

    /// The square of the norm of one column.
    fn square_of(&self, column: usize) -> f64 {
        let [mut buffer, mut entries] = [(); 2].map(|()| vec![0.0; SAMPLES_AT_ONCE]);
        let n = self.roots.len();
        let part = |first: usize| {
            let samples = first..(first + SAMPLES_AT_ONCE).min(n);
            let entries = &mut entries[..samples.len()];
            self.column_into(column, samples, &mut buffer, entries);
            dot(entries, entries)
        };
        (0..n).step_by(SAMPLES_AT_ONCE).map(part).sum()
    }

    /// The products of all columns with each other over some samples, a d x d matrix of which only the part on and below the diagonal is
    /// set.
    fn square_over(&self, samples: Range<usize>) -> Vec<f64> {
        let d = self.means.len();
        let mut sum = vec![0.0; d * d];
        let (mut rows, mut buffer) = (vec![0.0; d * SAMPLES_AT_ONCE.min(samples.len())], vec![0.0; SAMPLES_AT_ONCE]);
        for first in samples.clone().step_by(SAMPLES_AT_ONCE) {
            let block = first..(first + SAMPLES_AT_ONCE).min(samples.end);
            let rows = &mut rows[..d * block.len()];
            for (column, out) in rows.chunks_mut(block.len()).enumerate() {
                self.column_into(column, block.clone(), &mut buffer, out);
            }
            let rows = MatRef::from_column_major_slice(rows, block.len(), d);
            let sum = MatMut::from_column_major_slice_mut(&mut sum, d, d);
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(sum, lower, Accum::Add, rows.transpose(), full, rows, full, 1.0, Par::Seq);
        }
        sum
    }
}
