//! The Hessian `(q-1) Phi_n diag(|u|^(q-2)) Phi_n*` on chosen features.
//!
//! For p near 1 nearly all of the trace sits on few features: a model that keeps those and puts the others in as a
//! multiple of the identity is as good for a Newton step, and `card(K)/keep` times as cheap.

use std::sync::OnceLock;

use faer::{
    Accum, MatMut, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};
use rayon::prelude::*;

use super::{Hessian, HessianPart, InPlace, LocalModel, MOST_DENSE, local::LocalSource, scattered};
use crate::{
    Exponent, FeatureMatrix,
    data::Scratch,
    numeric::{WidePower, binary_exponent, scale_by_exp2},
    workers::checkpoint,
};

/// Features that can be read one by one.
pub(super) trait Columns: Sync {
    /// The number of samples, n.
    fn samples(&self) -> usize;

    /// The values of one feature, one per sample.
    fn column_into(&self, column: usize, out: &mut [f64]);

    /// Writes the values of one feature, multiplied by a factor.
    fn scaled_column_into(&self, column: usize, factor: f64, out: &mut [f64]) {
        self.column_into(column, out);
        out.iter_mut().for_each(|x| *x *= factor);
    }

    /// The samples and the values of the entries of one feature that are stored; `None` where all are.
    fn stored(&self, _column: usize) -> Option<(&[usize], &[f64])> {
        None
    }

    /// The exponent of a power of two that divides the entries of all features to at most 1, as far as it is known without looking at them.
    fn exponent(&self) -> Option<f64>;

    /// The exponent of the power of two that divides the entries of all these features to at most 1.
    fn exponent_of(&self, columns: &[usize]) -> f64;
}

impl Columns for FeatureMatrix<'_> {
    fn samples(&self) -> usize {
        FeatureMatrix::samples(self)
    }

    fn column_into(&self, column: usize, out: &mut [f64]) {
        FeatureMatrix::column_into(self, column, out);
    }

    fn scaled_column_into(&self, column: usize, factor: f64, out: &mut [f64]) {
        FeatureMatrix::scaled_column_into(self, column, factor, out);
    }

    fn stored(&self, column: usize) -> Option<(&[usize], &[f64])> {
        self.sparse_column(column)
    }

    fn exponent(&self) -> Option<f64> {
        Some(f64::from(binary_exponent(self.size())))
    }

    fn exponent_of(&self, columns: &[usize]) -> f64 {
        FeatureMatrix::exponent_of(self, columns)
    }
}

/// The features that carry the trace of M, and the trace of the others.
pub(super) struct HeaviestFeatures {
    pub columns: Vec<usize>,
    /// `|u|^(q-2)` of these features, for u divided by its size.
    pub weights: Vec<f64>,
    /// The weights are those of u divided by `size 2^exponent`.
    pub size: f64,
    pub exponent: f64,
    /// The trace of the others, for `u` divided by `size` and entries divided by `2^tail_exponent`.
    pub tail: f64,
    pub tail_exponent: f64,
}

impl HeaviestFeatures {
    /// All features of a matrix with the weights that they have for q = 2.
    pub(super) fn all(matrix: &FeatureMatrix<'_>) -> Self {
        let columns: Vec<usize> = (0..matrix.features()).collect();
        Self { weights: vec![1.0; columns.len()], columns, size: 1.0, exponent: 0.0, tail: 0.0, tail_exponent: 0.0 }
    }

    /// `Q` near a point with these predictions, from the features; `u` are the products of all features of the matrix, divided by
    /// `2^exponent`.
    pub(super) fn local(
        self,
        q: Exponent,
        (alpha, omega): (&[f64], &[f64]),
        matrix: &dyn Columns,
        u: &[f64],
        most_left_out: f64,
        scratch: &mut Scratch,
    ) -> Option<LocalModel> {
        let power = WidePower::new(self.size, self.exponent, q.q() - 2.0).scaled_by_exp2(2.0 * self.tail_exponent);
        let left_out = (q.q() - 1.0) * power.times(self.tail);
        let u = self.columns.iter().map(|&column| scale_by_exp2(u[column], self.exponent)).collect();
        let near = LocalSource { alpha, omega, matrix, columns: &self.columns, u, left_out };
        LocalModel::new(q, near, most_left_out, scratch)
    }

    /// Whether their Hessian for n samples is kept as its columns, and not as n x n numbers.
    pub(super) fn is_factored(&self, n: usize) -> bool {
        self.columns.len() <= n || n > MOST_DENSE
    }

    /// The Hessian on these features, which stay where they are stored. What they leave out does not matter.
    pub(super) fn in_place(self, matrix: &FeatureMatrix<'_>, q: f64) -> Hessian {
        let Self { columns, weights, size, exponent, tail, tail_exponent } = self;
        let mut entries = if matrix.size() > 0.0 { f64::from(binary_exponent(matrix.size())) } else { 0.0 };
        let (mut rows, mut parts) = matrix.weighted_squares(&columns, &weights, entries);
        if matrix.size() > 0.0 && rows.iter().sum::<f64>() < LEAST_TRACE {
            entries = matrix.exponent_of(&columns);
            (rows, parts) = matrix.weighted_squares(&columns, &weights, entries);
        }
        let power = WidePower::new(size, exponent, q - 2.0).scaled_by_exp2(2.0 * entries);
        let tail = power.times((q - 1.0) * scale_by_exp2(tail, 2.0 * (tail_exponent - entries)) / rows.len() as f64);
        let root = power.root().times((q - 1.0).sqrt());
        let main = HessianPart::InPlace(InPlace::new(weights, rows, &parts, root, entries));
        Hessian { main, tail, tail_share: 0.0, columns }
    }

    /// The Hessian on these features.
    pub(super) fn hessian(self, matrix: &dyn Columns, q: f64, scratch: &mut Scratch) -> Hessian {
        let n = matrix.samples();
        let factored = self.is_factored(n);
        let Self { columns, weights, size, exponent, tail, tail_exponent } = self;
        let mut form = |entries: f64| {
            let power = WidePower::new(size, exponent, q - 2.0).scaled_by_exp2(2.0 * entries);
            if factored {
                let mut factor = scratch.spare.take(n * columns.len());
                weighted_columns(matrix, &columns, &weights, entries, &mut factor);
                let trace: f64 = factor.iter().map(|entry| entry * entry).sum();
                multiply(&mut factor, power.root(), (q - 1.0).sqrt());
                (HessianPart::Factor(factor), trace, power)
            } else {
                let mut square = weighted_square(matrix, &columns, &weights, entries, scratch);
                let trace: f64 = square.iter().step_by(n + 1).sum();
                multiply(&mut square, power, q - 1.0);
                (HessianPart::Dense(square), trace, power)
            }
        };
        let mut entries = matrix.exponent().unwrap_or_else(|| matrix.exponent_of(&columns));
        let (mut main, mut trace, mut power) = form(entries);
        if trace < LEAST_TRACE && matrix.exponent().is_some() {
            // These features are far smaller than others, and have their own power of two.
            entries = matrix.exponent_of(&columns);
            (main, trace, power) = form(entries);
        }
        let tail = scale_by_exp2(tail, 2.0 * (tail_exponent - entries));
        let tail_share = if tail > 0.0 { tail / (tail + trace) } else { 0.0 };
        Hessian { main, tail: power.times((q - 1.0) * tail / n as f64), tail_share, columns }
    }
}

/// A trace below this has lost digits to underflow.
const LEAST_TRACE: f64 = 1e-250;

/// The Hessian for q = 2, which is the same everywhere and found once. That is done outside the lock: a thread that waits for parts of
/// it may be given another problem that asks for it.
pub(super) fn square_hessian(kept: &OnceLock<Vec<f64>>, find: impl FnOnce() -> Vec<f64>) -> Hessian {
    let square = kept.get().cloned().unwrap_or_else(|| {
        let found = find();
        kept.get_or_init(|| found).clone()
    });
    Hessian::exact(HessianPart::Dense(square))
}

/// `Phi_n Phi_n*` over all features of a matrix.
pub(super) fn square(matrix: &FeatureMatrix<'_>, scratch: &mut Scratch) -> Vec<f64> {
    let all: Vec<usize> = (0..matrix.features()).collect();
    let entries = f64::from(binary_exponent(matrix.size()));
    let mut square = weighted_square(matrix, &all, &vec![1.0; all.len()], entries, scratch);
    multiply(&mut square, WidePower::new(1.0, 0.0, 1.0).scaled_by_exp2(2.0 * entries), 1.0);
    square
}

/// `Phi_n diag(weights) Phi_n*` over some features of a matrix, on and below the diagonal.
pub(crate) fn square_of(matrix: &FeatureMatrix<'_>, columns: &[usize], weights: &[f64]) -> Vec<f64> {
    weighted_square(matrix, columns, weights, 0.0, &mut Scratch::new())
}

/// Multiplies by a number that may be out of range while the products are not.
fn multiply(numbers: &mut [f64], power: WidePower, factor: f64) {
    let both = power.times(factor);
    if both.is_normal() {
        numbers.iter_mut().for_each(|number| *number *= both);
    } else {
        numbers.iter_mut().for_each(|number| *number = power.times(factor * *number));
    }
}

/// Where the samples are this many times as many as the features, systems of the size of the features are the faster ones.
const FEW: usize = 4;

/// `Phi_K diag(weights) Phi_K*` over some features, times a factor, for numbers that are in range.
pub(super) fn weighted(
    matrix: &dyn Columns,
    columns: &[usize],
    weights: &[f64],
    factor: f64,
    scratch: &mut Scratch,
) -> HessianPart {
    let n = matrix.samples();
    let times = |mut numbers: Vec<f64>, factor: f64| {
        numbers.iter_mut().for_each(|number| *number *= factor);
        numbers
    };
    if FEW * columns.len() <= n || n > MOST_DENSE {
        let mut entries = scratch.spare.take(n * columns.len());
        weighted_columns(matrix, columns, weights, 0.0, &mut entries);
        HessianPart::Factor(times(entries, factor.sqrt()))
    } else {
        HessianPart::Dense(times(weighted_square(matrix, columns, weights, 0.0, scratch), factor))
    }
}

/// Columns in one product of a weighted square: enough for full speed.
const SQUARE_COLUMNS: usize = 512;
/// Most pieces of the sum of a weighted square. Each is an n x n matrix, so there are few.
const SQUARE_PIECES: usize = 4;

/// Some features, one after another, with entries divided by `2^exponent` and multiplied by the root of the feature's weight.
fn weighted_columns(matrix: &dyn Columns, columns: &[usize], weights: &[f64], exponent: f64, out: &mut [f64]) {
    for ((out, &column), weight) in out.chunks_mut(matrix.samples()).zip(columns).zip(weights) {
        let factor = scale_by_exp2(weight.sqrt(), -exponent);
        if factor.is_normal() {
            matrix.scaled_column_into(column, factor, out);
        } else {
            matrix.column_into(column, out);
            out.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -exponent) * weight.sqrt());
        }
    }
}

/// `Phi_n diag(weights) Phi_n'` over some features, an n x n matrix of which only the part on and below the diagonal
/// is set, for entries divided by `2^exponent`.
fn weighted_square(
    matrix: &dyn Columns,
    columns: &[usize],
    weights: &[f64],
    exponent: f64,
    scratch: &mut Scratch,
) -> Vec<f64> {
    if let Some(square) = scattered::weighted_square(matrix, columns, weights, exponent, scratch) {
        return square;
    }
    let n = matrix.samples();
    // Pieces that depend on the number of features alone, added up in their order.
    let piece = columns.len().div_ceil(SQUARE_PIECES).max(1);
    let width = piece.min(SQUARE_COLUMNS);
    let areas = scratch.pass.take((n * n + n * width) * columns.len().div_ceil(piece));
    let pieces = columns.par_chunks(piece).zip(weights.par_chunks(piece));
    pieces.zip(areas.par_chunks_mut(n * n + n * width)).for_each(|((columns, weights), area)| {
        let (part, factor) = area.split_at_mut(n * n);
        part.fill(0.0);
        for (columns, weights) in columns.chunks(width).zip(weights.chunks(width)) {
            checkpoint();
            let factor = &mut factor[..n * columns.len()];
            weighted_columns(matrix, columns, weights, exponent, factor);
            let factor = MatRef::from_column_major_slice(factor, n, columns.len());
            let sum = MatMut::from_column_major_slice_mut(part, n, n);
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(sum, lower, Accum::Add, factor, full, factor.transpose(), full, 1.0, Par::Seq);
        }
    });
    let mut out = scratch.spare.take(n * n);
    out.fill(0.0);
    for area in areas.chunks(n * n + n * width) {
        out.iter_mut().zip(area).for_each(|(out, part)| *out += part);
    }
    out
}
