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

/// For pairs as heads and as tails, in one read of the block B: `rows += B columns_in`, and with the n-vector
/// `y_a = sum_H dW_H/dalpha_a B_HT` of every tail T also `columns_T += <alpha, y>/2` and `cross_ab += y_a dW_T/dalpha_b`.
pub(super) struct Pairs<'a> {
    /// Column after column.
    pub block: &'a [f64],
    /// The first pair of the rows, `i <= j`.
    pub first: (usize, usize),
    pub alpha: &'a [f64],
    pub columns_in: &'a [f64],
    /// The pairs of the columns, two samples each, and `dW_T/dalpha` at both.
    pub tails: &'a [u32],
    pub slopes: &'a [f64],
    pub rows: &'a mut [f64],
    pub columns: &'a mut [f64],
    /// An n x n matrix, b after b.
    pub cross: &'a mut [f64],
    /// Room for four n-vectors.
    pub y: &'a mut [f64],
}

impl Pairs<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl WithSimd for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (height, n) = (self.rows.len(), self.alpha.len());
        for (group, block) in self.block.chunks(TOGETHER * height).enumerate() {
            let width = block.len() / height;
            let columns = group * TOGETHER..group * TOGETHER + width;
            let weights = &self.columns_in[columns.clone()];
            let symmetric = Symmetric { first: self.first, alpha: self.alpha, weights };
            let top = match width {
                4 => symmetric.products::<S, 4>(simd, block, self.rows, self.y),
                3 => symmetric.products::<S, 3>(simd, block, self.rows, self.y),
                2 => symmetric.products::<S, 2>(simd, block, self.rows, self.y),
                _ => symmetric.products::<S, 1>(simd, block, self.rows, self.y),
            };
            for (column, y) in columns.zip(self.y.chunks(n)) {
                let y = &y[..top];
                self.columns[column] += 0.5 * dot(simd, y, &self.alpha[..top]);
                for place in 2 * column..2 * column + 2 {
                    let b = self.tails[place] as usize;
                    add_multiple(simd, self.slopes[place], y, &mut self.cross[b * n..b * n + top]);
                }
            }
        }
    }
}

/// Columns as packed symmetric matrices, from the pair `first` on.
struct Symmetric<'a> {
    first: (usize, usize),
    alpha: &'a [f64],
    weights: &'a [f64],
}

impl Symmetric<'_> {
    /// `y = E alpha` for each column E, with the diagonal once, and `rows += sum_c weight_c E_c`. Returns the end of
    /// what is set in y.
    #[inline(always)]
    fn products<S: Simd, const W: usize>(&self, simd: S, block: &[f64], rows: &mut [f64], y: &mut [f64]) -> usize {
        let (height, n) = (rows.len(), self.alpha.len());
        let (mut i, mut j) = self.first;
        y[..W * n].fill(0.0);
        let mut done = 0;
        while done < height {
            // The pairs (i, j), (i+1, j), ..., (j, j) are neighbours; the last one is counted once.
            let length = (j + 1 - i).min(height - done);
            let below = length.min(j - i);
            let columns: [&[f64]; W] = from_fn(|c| &block[c * height + done..c * height + done + length]);
            let own = &mut rows[done..done + length];
            self.segment::<S, W>(simd, columns.map(|column| &column[..below]), &mut own[..below], i, j, y);
            if below < length {
                for c in 0..W {
                    y[c * n + j] += self.alpha[j] * columns[c][below];
                    own[below] += self.weights[c] * columns[c][below];
                }
            }
            done += length;
            (i, j) = (0, j + 1);
        }
        j
    }

    /// The pairs (i, j), (i+1, j), ... with a first sample below j.
    #[inline(always)]
    fn segment<S: Simd, const W: usize>(
        &self,
        simd: S,
        columns: [&[f64]; W],
        rows: &mut [f64],
        i: usize,
        j: usize,
        y: &mut [f64],
    ) {
        let n = self.alpha.len();
        let (alpha, alpha_rest) = S::as_simd_f64s(&self.alpha[i..i + rows.len()]);
        let alpha_j = simd.splat_f64s(self.alpha[j]);
        let splats: [_; W] = from_fn(|c| simd.splat_f64s(self.weights[c]));
        let mut products = [0.0; W];
        {
            let mut rest = &mut *y;
            let mut outs: [&mut [S::f64s]; W] = from_fn(|_| {
                let (own, left) = std::mem::take(&mut rest).split_at_mut(n);
                rest = left;
                S::as_mut_simd_f64s(&mut own[i..]).0
            });
            let (rows, _) = S::as_mut_simd_f64s(rows);
            let vectors: [_; W] = from_fn(|c| &S::as_simd_f64s(columns[c]).0[..rows.len()]);
            outs.iter_mut().for_each(|out| *out = &mut std::mem::take(out)[..rows.len()]);
            let mut partial = [simd.splat_f64s(0.0); W];
            for (at, (row, alpha)) in rows.iter_mut().zip(alpha).enumerate() {
                let mut sum = *row;
                for c in 0..W {
                    let entry = vectors[c][at];
                    sum = simd.mul_add_f64s(splats[c], entry, sum);
                    outs[c][at] = simd.mul_add_f64s(alpha_j, entry, outs[c][at]);
                    partial[c] = simd.mul_add_f64s(entry, *alpha, partial[c]);
                }
                *row = sum;
            }
            products.iter_mut().zip(partial).for_each(|(product, partial)| *product = simd.reduce_sum_f64s(partial));
        }
        let whole = rows.len() - alpha_rest.len();
        for c in 0..W {
            for (at, alpha) in (whole..rows.len()).zip(alpha_rest) {
                let entry = columns[c][at];
                rows[at] += self.weights[c] * entry;
                y[c * n + i + at] += self.alpha[j] * entry;
                products[c] += entry * alpha;
            }
            y[c * n + j] += products[c];
        }
    }
}

#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(a), S::as_simd_f64s(b));
    let mut sum = simd.splat_f64s(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = simd.mul_add_f64s(*a, *b, sum);
    }
    simd.reduce_sum_f64s(sum) + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// `out += factor v`.
#[inline(always)]
fn add_multiple<S: Simd>(simd: S, factor: f64, v: &[f64], out: &mut [f64]) {
    let ((v, v_rest), (out, out_rest)) = (S::as_simd_f64s(v), S::as_mut_simd_f64s(out));
    let splat = simd.splat_f64s(factor);
    for (out, v) in out.iter_mut().zip(v) {
        *out = simd.mul_add_f64s(splat, *v, *out);
    }
    out_rest.iter_mut().zip(v_rest).for_each(|(out, v)| *out += factor * v);
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
