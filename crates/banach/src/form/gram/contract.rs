//! Contractions of a block of the Gram tensor with vectors, at the width of the machine's vectors.

use pulp::{Arch, Simd, WithSimd};

use super::multisets::Multisets;

/// Columns handled together: each entry is read once, and vectors indexed by rows a quarter as often.
const TOGETHER: usize = 4;

/// `rows += B columns_in` and `columns += B' rows_in` in one read of the block B.
pub(super) struct TwoSided<'a> {
    /// Column after column.
    pub block: &'a [f64],
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
        let height = self.rows.len();
        let groups = self.block.chunks(TOGETHER * height);
        let weights = self.columns_in.chunks(TOGETHER).zip(self.columns.chunks_mut(TOGETHER));
        for (group, (columns_in, columns)) in groups.zip(weights) {
            if let (Ok(weights), Some(sums)) = (columns_in.try_into(), columns.as_mut_array()) {
                four_columns(simd, group, weights, self.rows_in, self.rows, sums);
            } else {
                for (column, (weight, sum)) in group.chunks(height).zip(columns_in.iter().zip(columns)) {
                    *sum += one_column(simd, column, *weight, self.rows_in, self.rows);
                }
            }
        }
    }
}

#[inline(always)]
fn four_columns<S: Simd>(
    simd: S,
    group: &[f64],
    weights: [f64; TOGETHER],
    rows_in: &[f64],
    rows: &mut [f64],
    sums: &mut [f64; TOGETHER],
) {
    let height = rows.len();
    let columns: [&[f64]; TOGETHER] = std::array::from_fn(|c| &group[c * height..(c + 1) * height]);
    let split: [(&[S::f64s], &[f64]); TOGETHER] = columns.map(S::as_simd_f64s);
    let (rows_in, rows_in_rest) = S::as_simd_f64s(rows_in);
    let (rows, rows_rest) = S::as_mut_simd_f64s(rows);
    let vectors = rows.len();
    let [c0, c1, c2, c3] = split.map(|(vector, _)| &vector[..vectors]);
    let [w0, w1, w2, w3] = weights.map(|weight| simd.splat_f64s(weight));
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for (at, (row, row_in)) in rows.iter_mut().zip(rows_in).enumerate() {
        let (e0, e1, e2, e3) = (c0[at], c1[at], c2[at], c3[at]);
        let low = simd.mul_add_f64s(w1, e1, simd.mul_f64s(w0, e0));
        let high = simd.mul_add_f64s(w3, e3, simd.mul_f64s(w2, e2));
        *row = simd.add_f64s(*row, simd.add_f64s(low, high));
        s0 = simd.mul_add_f64s(e0, *row_in, s0);
        s1 = simd.mul_add_f64s(e1, *row_in, s1);
        s2 = simd.mul_add_f64s(e2, *row_in, s2);
        s3 = simd.mul_add_f64s(e3, *row_in, s3);
    }
    for (sum, vector) in sums.iter_mut().zip([s0, s1, s2, s3]) {
        *sum += simd.reduce_sum_f64s(vector);
    }
    for (column, (sum, weight)) in split.iter().zip(sums.iter_mut().zip(weights)) {
        for (entry, (row, row_in)) in column.1.iter().zip(rows_rest.iter_mut().zip(rows_in_rest)) {
            *row += weight * entry;
            *sum += entry * row_in;
        }
    }
}

#[inline(always)]
fn one_column<S: Simd>(simd: S, column: &[f64], weight: f64, rows_in: &[f64], rows: &mut [f64]) -> f64 {
    let (column, column_rest) = S::as_simd_f64s(column);
    let (rows_in, rows_in_rest) = S::as_simd_f64s(rows_in);
    let (rows, rows_rest) = S::as_mut_simd_f64s(rows);
    let splat = simd.splat_f64s(weight);
    let mut sum = simd.splat_f64s(0.0);
    for (entry, (row, row_in)) in column.iter().zip(rows.iter_mut().zip(rows_in)) {
        *row = simd.mul_add_f64s(splat, *entry, *row);
        sum = simd.mul_add_f64s(*entry, *row_in, sum);
    }
    let mut sum = simd.reduce_sum_f64s(sum);
    for (entry, (row, row_in)) in column_rest.iter().zip(rows_rest.iter_mut().zip(rows_in_rest)) {
        *row += weight * entry;
        sum += entry * row_in;
    }
    sum
}

/// For pairs as heads: `rows += B columns_in`, and for every column c the n-vector
/// `y_a = sum_H dW_H/dalpha_a B_Hc`, in one read of the block.
pub(super) struct PairDerivatives<'a> {
    /// Up to four columns, one after another.
    pub block: &'a [f64],
    /// The first pair of the block, `i <= j`.
    pub first: (usize, usize),
    pub alpha: &'a [f64],
    pub columns_in: &'a [f64],
    pub rows: &'a mut [f64],
    /// n numbers for each column; they are added to.
    pub y: &'a mut [f64],
}

impl PairDerivatives<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl WithSimd for PairDerivatives<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (height, n) = (self.rows.len(), self.alpha.len());
        let (mut i, mut j) = self.first;
        let mut done = 0;
        while done < height {
            // The pairs (i, j), (i+1, j), ..., (j, j) are neighbours; the last one is counted once.
            let length = (j + 1 - i).min(height - done);
            let below = length.min(j - i);
            let rows = &mut self.rows[done..done + length];
            let alpha = &self.alpha[i..i + below];
            if self.columns_in.len() == TOGETHER {
                let (y0, rest) = self.y.split_at_mut(n);
                let (y1, rest) = rest.split_at_mut(n);
                let (y2, y3) = rest.split_at_mut(n);
                let column = |c: usize| &self.block[c * height + done..c * height + done + length];
                let columns = [column(0), column(1), column(2), column(3)];
                let weights = std::array::from_fn(|c| self.columns_in[c]);
                let y = [&mut *y0, &mut *y1, &mut *y2, &mut *y3].map(|y| &mut y[i..i + below]);
                let below_j = four_segments(
                    simd,
                    columns.map(|c| &c[..below]),
                    weights,
                    alpha,
                    self.alpha[j],
                    &mut rows[..below],
                    y,
                );
                for ((y, below_j), (column, weight)) in
                    [y0, y1, y2, y3].into_iter().zip(below_j).zip(columns.iter().zip(weights))
                {
                    y[j] += below_j;
                    if below < length {
                        y[j] += self.alpha[j] * column[below];
                        rows[below] += weight * column[below];
                    }
                }
            } else {
                for (c, (weight, y)) in self.columns_in.iter().zip(self.y.chunks_mut(n)).enumerate() {
                    let column = &self.block[c * height + done..c * height + done + length];
                    let mut below_j = 0.0;
                    for (s, entry) in column[..below].iter().enumerate() {
                        y[i + s] += self.alpha[j] * entry;
                        below_j += alpha[s] * entry;
                    }
                    y[j] += below_j;
                    if below < length {
                        y[j] += self.alpha[j] * column[below];
                    }
                    rows.iter_mut().zip(column).for_each(|(row, entry)| *row += weight * entry);
                }
            }
            done += length;
            (i, j) = (0, j + 1);
        }
    }
}

/// For four columns e: `rows += sum weight e`, `y += alpha_j e`; returns `<alpha, e>`.
#[inline(always)]
fn four_segments<S: Simd>(
    simd: S,
    columns: [&[f64]; TOGETHER],
    weights: [f64; TOGETHER],
    alpha: &[f64],
    alpha_j: f64,
    rows: &mut [f64],
    y: [&mut [f64]; TOGETHER],
) -> [f64; TOGETHER] {
    let split: [(&[S::f64s], &[f64]); TOGETHER] = columns.map(S::as_simd_f64s);
    let (alpha, alpha_rest) = S::as_simd_f64s(alpha);
    let (rows, rows_rest) = S::as_mut_simd_f64s(rows);
    let vectors = rows.len();
    let [(y0, r0), (y1, r1), (y2, r2), (y3, r3)] = y.map(S::as_mut_simd_f64s);
    let (y0, y1, y2, y3) = (&mut y0[..vectors], &mut y1[..vectors], &mut y2[..vectors], &mut y3[..vectors]);
    let [c0, c1, c2, c3] = split.map(|(vector, _)| &vector[..vectors]);
    let [w0, w1, w2, w3] = weights.map(|weight| simd.splat_f64s(weight));
    let splat = simd.splat_f64s(alpha_j);
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for (at, (row, alpha)) in rows.iter_mut().zip(alpha).enumerate() {
        let (e0, e1, e2, e3) = (c0[at], c1[at], c2[at], c3[at]);
        let low = simd.mul_add_f64s(w1, e1, simd.mul_f64s(w0, e0));
        let high = simd.mul_add_f64s(w3, e3, simd.mul_f64s(w2, e2));
        *row = simd.add_f64s(*row, simd.add_f64s(low, high));
        y0[at] = simd.mul_add_f64s(splat, e0, y0[at]);
        y1[at] = simd.mul_add_f64s(splat, e1, y1[at]);
        y2[at] = simd.mul_add_f64s(splat, e2, y2[at]);
        y3[at] = simd.mul_add_f64s(splat, e3, y3[at]);
        s0 = simd.mul_add_f64s(e0, *alpha, s0);
        s1 = simd.mul_add_f64s(e1, *alpha, s1);
        s2 = simd.mul_add_f64s(e2, *alpha, s2);
        s3 = simd.mul_add_f64s(e3, *alpha, s3);
    }
    let mut sums = [s0, s1, s2, s3].map(|vector| simd.reduce_sum_f64s(vector));
    for ((sum, weight), (column, y)) in sums.iter_mut().zip(weights).zip(split.iter().zip([r0, r1, r2, r3])) {
        for ((entry, y), (row, alpha)) in column.1.iter().zip(y).zip(rows_rest.iter_mut().zip(alpha_rest)) {
            *row += weight * entry;
            *y += alpha_j * entry;
            *sum += entry * alpha;
        }
    }
    sums
}

/// As [`PairDerivatives`] for heads of any size and one column, given `dW_H/dalpha` at the place of every index.
pub(super) fn derivatives(
    heads: &Multisets,
    first: usize,
    column: &[f64],
    derivatives: &[f64],
    weight: f64,
    rows: &mut [f64],
    y: &mut [f64],
) {
    for (at, (entry, row)) in column.iter().zip(rows).enumerate() {
        *row += weight * entry;
        let head = first + at;
        let slopes = &derivatives[head * heads.size()..(head + 1) * heads.size()];
        for (&a, slope) in heads.get(head).iter().zip(slopes) {
            y[a as usize] += slope * entry;
        }
    }
}
