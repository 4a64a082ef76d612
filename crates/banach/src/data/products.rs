//! Products of a feature matrix with vectors, and the norms of its columns and rows.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    block::FeatureBlock,
    columns::Column,
    feature_matrix::{FeatureMatrix, Storage},
    stream,
};
use crate::numeric::{binary_exponent, scale_by_exp2};

/// Samples of a product with very many that one thread computes, so that they stay in its cache.
const SAMPLES_AT_ONCE: usize = 1 << 11;
/// Columns of a part that are decoded together: a multiple of those that are added up together.
const COLUMNS_AT_ONCE: usize = 8;
/// The fewest entries that are worth the attention of another thread.
const ENTRIES_AT_ONCE: usize = 1 << 14;

impl FeatureMatrix<'_> {
    /// `Phi_n w`.
    pub(crate) fn times(&self, w: &[f64]) -> Vec<f64> {
        let (n, mut out) = (self.samples, vec![0.0; self.samples]);
        match &self.storage {
            Storage::Dense(values) if n > SAMPLES_AT_ONCE => {
                let parts = out.par_chunks_mut(SAMPLES_AT_ONCE).enumerate();
                parts.for_each(|(part, out)| stream::apply_to_part(n, values, w, part * SAMPLES_AT_ONCE, out));
            }
            Storage::Compact(columns) if n > SAMPLES_AT_ONCE => {
                out.par_chunks_mut(SAMPLES_AT_ONCE).enumerate().for_each_init(
                    || vec![0.0; SAMPLES_AT_ONCE * COLUMNS_AT_ONCE],
                    |buffer, (part, out)| {
                        let samples = part * SAMPLES_AT_ONCE..part * SAMPLES_AT_ONCE + out.len();
                        for (at, w) in w.chunks(COLUMNS_AT_ONCE).enumerate() {
                            let first = at * COLUMNS_AT_ONCE;
                            let values = columns.decode_columns(first..first + w.len(), &samples, buffer);
                            stream::apply_to_part(out.len(), values, w, 0, out);
                        }
                    },
                );
            }
            _ => self.in_blocks(|block, features, buffer| block.apply(&w[features], buffer, &mut out)),
        }
        out
    }

    /// The squares of the norms of all features.
    pub(crate) fn squares(&self, out: &mut [f64]) {
        self.in_blocks(|block, features, buffer| block.squares(buffer, &mut out[features]));
    }

    /// Looks at all features, block by block, with a buffer for each.
    fn in_blocks(&self, mut visit: impl FnMut(FeatureBlock<'_>, Range<usize>, &mut Vec<f64>)) {
        let (width, mut buffer) = (self.layout().block, Vec::new());
        for first in (0..self.features).step_by(width) {
            let features = first..(first + width).min(self.features);
            visit(self.block(features.clone()), features, &mut buffer);
        }
    }

    /// The squares of the norms of all features after all entries are divided by `2^e` to at most 1, and e. They are in range
    /// also where [`squares`](Self::squares) leaves it.
    pub(crate) fn scaled_squares(&self) -> (Vec<f64>, f64) {
        // 2^e and its inverse must both be numbers.
        let exponent = f64::from(binary_exponent(self.size()).clamp(-1000, 1000));
        let factor = scale_by_exp2(1.0, -exponent);
        let square = |buffer: &mut Vec<f64>, column: usize| {
            self.column(column, buffer).values.iter().map(|x| (x * factor) * (x * factor)).sum()
        };
        let columns = (0..self.features).into_par_iter().with_min_len(64);
        (columns.map_init(Vec::new, square).collect(), exponent)
    }

    /// The products of some features with a vector.
    pub(crate) fn products(&self, columns: &[usize], vector: &[f64], out: &mut [f64]) {
        let least = (ENTRIES_AT_ONCE / self.samples).max(1);
        columns.par_iter().zip(out).with_min_len(least).for_each_init(Vec::new, |buffer, (&column, out)| {
            let Column { rows, values } = self.column(column, buffer);
            *out = match rows {
                None => return stream::adjoint(self.samples, values, vector, std::slice::from_mut(out)),
                Some(rows) => rows.iter().zip(values).map(|(&row, value)| value * vector[row]).sum(),
            };
        });
    }
}
