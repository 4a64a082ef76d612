//! Products of a feature matrix with vectors, and the norms of its columns and rows.

use std::ops::Range;

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::{
    columns::Column,
    feature_matrix::{FeatureMatrix, Storage},
    stream,
};
use crate::numeric::{binary_exponent, scale_by_exp2};

/// Up to this many vectors are multiplied by the columns as they are. A general matrix product first copies its factors, which only
/// more vectors repay.
const MOST_BY_COLUMNS: usize = 8;
/// Samples of a product with very many that one thread computes, so that they stay in its cache.
const SAMPLES_AT_ONCE: usize = 1 << 11;
/// The fewest entries that are worth the attention of another thread.
const ENTRIES_AT_ONCE: usize = 1 << 14;
/// A general product is fastest for a multiple of this many vectors: four numbers fill a vector register of AVX2.
const MULTIPLE: usize = 4;

impl FeatureMatrix<'_> {
    /// `Phi_n w`.
    pub(crate) fn times(&self, w: &[f64]) -> Vec<f64> {
        let (n, mut out) = (self.samples, vec![0.0; self.samples]);
        match &self.storage {
            Storage::Dense(values) if n > SAMPLES_AT_ONCE => {
                let parts = out.par_chunks_mut(SAMPLES_AT_ONCE).enumerate();
                parts.for_each(|(part, out)| stream::apply_to_part(n, values, w, part * SAMPLES_AT_ONCE, out));
            }
            _ => self.apply(0..self.features, w, &mut out),
        }
        out
    }

    /// The squares of the norms of the features of a block.
    pub(crate) fn squares(&self, block: Range<usize>, out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                stream::squares(self.samples, &values[block.start * self.samples..block.end * self.samples], out);
            }
            Storage::Sparse { starts, values, .. } => {
                for (column, out) in block.zip(out) {
                    *out = values[starts[column]..starts[column + 1]].iter().map(|value| value * value).sum();
                }
            }
        }
    }

    /// Adds `|x|^power` of the entries of a block of features to the sums of their samples, for power 2 or 4.
    pub(crate) fn add_row_powers(&self, power: u32, block: Range<usize>, sums: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                let n = self.samples;
                stream::add_row_powers(n, power == 4, &values[block.start * n..block.end * n], sums);
            }
            Storage::Sparse { starts, rows, values } => {
                let stored = starts[block.start]..starts[block.end];
                for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                    sums[row] += value.powi(power as i32);
                }
            }
        }
    }

    /// The squares of the norms of all features after all entries are divided by `2^e` to at most 1, and e. They are in range
    /// also where [`squares`](Self::squares) leaves it.
    pub(crate) fn scaled_squares(&self) -> (Vec<f64>, f64) {
        // 2^e and its inverse must both be numbers.
        let exponent = f64::from(binary_exponent(self.size()).clamp(-1000, 1000));
        let factor = scale_by_exp2(1.0, -exponent);
        let square = |column: usize| self.column(column).values.iter().map(|x| (x * factor) * (x * factor)).sum();
        ((0..self.features).into_par_iter().with_min_len(64).map(square).collect(), exponent)
    }

    /// The products of some features with a vector.
    pub(crate) fn products(&self, columns: &[usize], vector: &[f64], out: &mut [f64]) {
        let least = (ENTRIES_AT_ONCE / self.samples).max(1);
        columns.par_iter().zip(out).with_min_len(least).for_each(|(&column, out)| {
            let Column { rows, values } = self.column(column);
            *out = match rows {
                None => return stream::adjoint(self.samples, values, vector, std::slice::from_mut(out)),
                Some(rows) => rows.iter().zip(values).map(|(&row, value)| value * vector[row]).sum(),
            };
        });
    }

    /// `u = Phi_b' a` for the features of a block and n-vectors `a`, one after another. `rows` is `a` transposed, and
    /// `turned` working memory of the size of `u`.
    pub(crate) fn adjoint(&self, block: Range<usize>, a: &[f64], rows: &[f64], u: &mut [f64], turned: &mut [f64]) {
        let (n, width) = (self.samples, block.len());
        match &self.storage {
            Storage::Dense(values) => {
                let columns = &values[block.start * n..block.end * n];
                let count = a.len() / n;
                // The first few stream the block from memory and leave it in cache for the others.
                let lead = if count <= MOST_BY_COLUMNS { count } else { (count - 1) % MULTIPLE + 1 };
                let (first, others) = u.split_at_mut(lead * width);
                stream::adjoint(n, columns, &a[..lead * n], first);
                if lead < count {
                    let rest = count - lead;
                    let turned = &mut turned[..rest * width];
                    let product = MatMut::from_column_major_slice_mut(turned, rest, width);
                    let rows = MatRef::from_column_major_slice(rows, count, n).subrows(lead, rest);
                    let columns = MatRef::from_column_major_slice(columns, n, width);
                    matmul(product, Accum::Replace, rows, columns, 1.0, Par::Seq);
                    MatMut::from_column_major_slice_mut(others, width, rest)
                        .copy_from(MatRef::from_row_major_slice(turned, width, rest));
                }
            }
            Storage::Sparse { starts, rows, values } => {
                for (a, u) in a.chunks(n).zip(u.chunks_mut(width)) {
                    for (u, feature) in u.iter_mut().zip(block.clone()) {
                        let stored = starts[feature]..starts[feature + 1];
                        let products = rows[stored.clone()].iter().zip(&values[stored]);
                        *u = products.map(|(&row, value)| value * a[row]).sum();
                    }
                }
            }
        }
    }

    /// `out += Phi_b w` for the features of a block, vectors `w` and n-vectors `out`, one after another.
    pub(crate) fn apply(&self, block: Range<usize>, w: &[f64], out: &mut [f64]) {
        let (n, width) = (self.samples, block.len());
        match &self.storage {
            Storage::Dense(values) => {
                let columns = &values[block.start * n..block.end * n];
                let count = out.len() / n;
                if count <= MOST_BY_COLUMNS {
                    return stream::apply(n, columns, w, out);
                }
                let out = MatMut::from_column_major_slice_mut(out, n, count);
                let columns = MatRef::from_column_major_slice(columns, n, width);
                let w = MatRef::from_column_major_slice(w, width, count);
                matmul(out, Accum::Add, columns, w, 1.0, Par::Seq);
            }
            Storage::Sparse { starts, rows, values } => {
                for (w, out) in w.chunks(width).zip(out.chunks_mut(n)) {
                    for (w, feature) in w.iter().zip(block.clone()) {
                        let stored = starts[feature]..starts[feature + 1];
                        for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                            out[row] += value * w;
                        }
                    }
                }
            }
        }
    }
}
