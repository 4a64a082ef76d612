//! Contractions of a block of the Gram tensor with vectors, at the width of the machine's vectors.
//!
//! Four columns are handled together, so that each entry is read once, and vectors indexed by rows a quarter as often.

use std::array::from_fn;

use pulp::{Arch, Simd, WithSimd};

use super::multisets::Multisets;

/// Columns handled together: their sums and the rows that they share stay in registers.
pub(super) const TOGETHER: usize = 4;

/// `rows += B columns_in` and `columns += B' rows_in` in one read of the block B.
pub(super) struct TwoSided<'a> {
    /// Up to four columns.
    pub block: &'a [f64],
    /// From one column to the next.
    pub stride: usize,
    pub rows_in: &'a [f64],
    pub columns_in: &'a [f64],
    pub rows: &'a mut [f64],
    pub columns: &'a mut [f64],
}

impl TwoSided<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl WithSimd for TwoSided<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.columns.len() {
            4 => self.contract::<S, 4>(simd),
            3 => self.contract::<S, 3>(simd),
            2 => self.contract::<S, 2>(simd),
            _ => self.contract::<S, 1>(simd),
        }
    }
}

impl TwoSided<'_> {
    #[inline(always)]
    fn contract<S: Simd, const W: usize>(self, simd: S) {
        let columns: [_; W] = from_fn(|c| S::as_simd_f64s(&self.block[c * self.stride..][..self.rows.len()]));
        let (rows_in, rows_in_rest) = S::as_simd_f64s(self.rows_in);
        let (rows, rows_rest) = S::as_mut_simd_f64s(self.rows);
        let vectors: [_; W] = from_fn(|c| &columns[c].0[..rows.len()]);
        let splats: [_; W] = from_fn(|c| simd.splat_f64s(self.columns_in[c]));
        let mut partial = [simd.splat_f64s(0.0); W];
        for (at, (row, row_in)) in rows.iter_mut().zip(rows_in).enumerate() {
            let mut sum = *row;
            for c in 0..W {
                sum = simd.mul_add_f64s(splats[c], vectors[c][at], sum);
                partial[c] = simd.mul_add_f64s(vectors[c][at], *row_in, partial[c]);
            }
            *row = sum;
        }
        for c in 0..W {
            self.columns[c] += simd.reduce_sum_f64s(partial[c]);
            for (entry, (row, row_in)) in columns[c].1.iter().zip(rows_rest.iter_mut().zip(rows_in_rest)) {
                *row += self.columns_in[c] * entry;
                self.columns[c] += entry * row_in;
            }
        }
    }
}

/// `rows += weight e` and `y_a = sum_H dW_H/dalpha_a e_H` for one column e and heads of any size, given
/// `dW_H/dalpha` at the place of every index.
pub(super) fn derivatives(
    heads: &Multisets,
    first: usize,
    column: &[f64],
    slopes: &[f64],
    weight: f64,
    rows: &mut [f64],
    y: &mut [f64],
) {
    y.fill(0.0);
    for (at, (entry, row)) in column.iter().zip(rows).enumerate() {
        *row += weight * entry;
        let head = first + at;
        let slopes = &slopes[head * heads.size()..(head + 1) * heads.size()];
        for (&a, slope) in heads.get(head).iter().zip(slopes) {
            y[a as usize] += slope * entry;
        }
    }
}
