//! Products of a block of dense columns with few vectors, at the width of the machine's vectors.
//!
//! A general matrix product first copies its factors into the order it likes, which few vectors do not repay. Here the
//! columns are read where they are: once from one end to the other, at the rate of the memory, then from cache, four
//! columns with three vectors at a time, so that twelve numbers stay in registers.

use std::array::from_fn;

use pulp::{Arch, Simd, WithSimd};

use crate::numeric::vectorised;

/// Columns handled together. With three vectors that is twelve sums; they, the three vectors and one column fill the sixteen vector
/// registers of AVX2.
const COLUMNS: usize = 4;
/// Vectors handled together.
const VECTORS: usize = 3;
/// Sums of one product that are added to in turn: an addition takes about four cycles, in which the other sums go on.
const TURNS: usize = 4;
/// Most numbers of the vectors that are multiplied while the block streams from memory: half of a first-level cache of 32 KB.
const LEAD: usize = 2048;

/// `u = B' a` for the columns of B, n numbers each, and n-vectors a, one after another.
pub(crate) fn adjoint(n: usize, block: &[f64], a: &[f64], u: &mut [f64]) {
    Arch::new().dispatch(Adjoint { n, block, a, u });
}

/// `out += B w` for the columns of B, n numbers each, and vectors w and out, one after another.
pub(super) fn apply(n: usize, block: &[f64], w: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(BlockProduct { n, block, w, out });
}

/// Adds `B w` to some of its numbers, from the first on: few enough to stay in the first-level cache while every column goes by.
pub(super) fn apply_to_part(n: usize, block: &[f64], w: &[f64], first: usize, out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || {
            let length = out.len();
            let column = |k: usize| &block[k * n + first..][..length];
            let (groups, rest) = w.as_chunks::<COLUMNS>();
            for (group, w) in groups.iter().enumerate() {
                let [a, b, c, d]: [&[f64]; COLUMNS] = from_fn(|k| column(COLUMNS * group + k));
                for i in 0..length {
                    out[i] += (w[0] * a[i] + w[1] * b[i]) + (w[2] * c[i] + w[3] * d[i]);
                }
            }
            for (k, w) in rest.iter().enumerate() {
                out.iter_mut().zip(column(COLUMNS * groups.len() + k)).for_each(|(out, x)| *out += w * x);
            }
        },
    );
}

/// The sums of the squares of the columns, n numbers each.
pub(crate) fn squares(n: usize, block: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Squares { n, block, out });
}

/// Adds the squares, or the fourth powers, of the columns, n numbers each, to n sums.
pub(super) fn add_row_powers(n: usize, fourth: bool, block: &[f64], sums: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for column in block.chunks_exact(n) {
                if fourth {
                    sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += (x * x) * (x * x));
                } else {
                    sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
                }
            }
        },
    );
}

struct Adjoint<'a> {
    n: usize,
    block: &'a [f64],
    a: &'a [f64],
    u: &'a mut [f64],
}

impl WithSimd for Adjoint<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { n, block, a, u } = self;
        if a.is_empty() {
            return;
        }
        let width = block.len() / n;
        // One, two or three vectors, so that the rest are a multiple of three; one if a first-level cache does not hold three.
        let lead = if VECTORS * n <= LEAD { (a.len() / n - 1) % VECTORS + 1 } else { 1 };
        let ((first, a), (first_u, u)) = (a.split_at(lead * n), u.split_at_mut(lead * width));
        // Memory is fastest in one stream; what follows finds the block in cache.
        match lead {
            VECTORS => stream::<S, VECTORS>(simd, n, block, first, first_u),
            2 => stream::<S, 2>(simd, n, block, first, first_u),
            _ => stream::<S, 1>(simd, n, block, first, first_u),
        }
        for (a, u) in a.chunks(VECTORS * n).zip(u.chunks_mut(VECTORS * width)) {
            for (start, columns) in (0..).step_by(COLUMNS).zip(block.chunks(COLUMNS * n)) {
                let place = GroupOffset { stride: width, start };
                match columns.len() / n {
                    COLUMNS => dots_of::<S, COLUMNS>(simd, n, columns, a, u, place),
                    3 => dots_of::<S, 3>(simd, n, columns, a, u, place),
                    2 => dots_of::<S, 2>(simd, n, columns, a, u, place),
                    _ => dots_of::<S, 1>(simd, n, columns, a, u, place),
                }
            }
        }
    }
}

/// Where the numbers of a group of columns begin, and their distance from one vector to the next.
#[derive(Clone, Copy)]
struct GroupOffset {
    stride: usize,
    start: usize,
}

/// All columns, one after another, with V vectors.
#[inline(always)]
fn stream<S: Simd, const V: usize>(simd: S, n: usize, block: &[f64], a: &[f64], u: &mut [f64]) {
    let width = block.len() / n;
    let a: [_; V] = from_fn(|v| S::as_simd_f64s(&a[v * n..(v + 1) * n]));
    let a = a.map(|(a, rest)| (a.as_chunks::<TURNS>(), rest));
    for (c, column) in block.chunks_exact(n).enumerate() {
        let (x, x_rest) = S::as_simd_f64s(column);
        let (x, x_last) = x.as_chunks::<TURNS>();
        let y: [_; V] = from_fn(|v| &a[v].0.0[..x.len()]);
        let mut sums = [[simd.splat_f64s(0.0); TURNS]; V];
        for (at, x) in x.iter().enumerate() {
            for v in 0..V {
                for turn in 0..TURNS {
                    sums[v][turn] = simd.mul_add_f64s(x[turn], y[v][at][turn], sums[v][turn]);
                }
            }
        }
        for (v, sums) in sums.iter_mut().enumerate() {
            let ((_, y_last), y_rest) = a[v];
            for ((x, y), sum) in x_last.iter().zip(y_last).zip(&mut *sums) {
                *sum = simd.mul_add_f64s(*x, *y, *sum);
            }
            if !x_rest.is_empty() {
                let (x, y) = (simd.partial_load_f64s(x_rest), simd.partial_load_f64s(y_rest));
                sums[TURNS - 1] = simd.mul_add_f64s(x, y, sums[TURNS - 1]);
            }
            u[v * width + c] = total(simd, *sums);
        }
    }
}

#[inline(always)]
fn total<S: Simd>(simd: S, sums: [S::f64s; TURNS]) -> f64 {
    let pairs = [simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3])];
    simd.reduce_sum_f64s(simd.add_f64s(pairs[0], pairs[1]))
}

#[inline(always)]
fn dots_of<S: Simd, const C: usize>(simd: S, n: usize, columns: &[f64], a: &[f64], u: &mut [f64], place: GroupOffset) {
    match a.len() / n {
        VECTORS => dots::<S, C, VECTORS>(simd, n, columns, a, u, place),
        2 => dots::<S, C, 2>(simd, n, columns, a, u, place),
        _ => dots::<S, C, 1>(simd, n, columns, a, u, place),
    }
}

/// C columns with V vectors.
#[inline(always)]
fn dots<S: Simd, const C: usize, const V: usize>(
    simd: S,
    n: usize,
    columns: &[f64],
    a: &[f64],
    u: &mut [f64],
    place: GroupOffset,
) {
    let length = n / S::F64_LANES;
    let columns: [_; C] = from_fn(|c| S::as_simd_f64s(&columns[c * n..(c + 1) * n]));
    let a: [_; V] = from_fn(|v| S::as_simd_f64s(&a[v * n..(v + 1) * n]));
    let (x, y): ([_; C], [_; V]) = (columns.map(|(x, _)| &x[..length]), a.map(|(a, _)| &a[..length]));
    let mut sums = [[simd.splat_f64s(0.0); V]; C];
    for at in 0..length {
        let y: [_; V] = from_fn(|v| y[v][at]);
        for c in 0..C {
            let x = x[c][at];
            for v in 0..V {
                sums[c][v] = simd.mul_add_f64s(x, y[v], sums[c][v]);
            }
        }
    }
    if length * S::F64_LANES < n {
        let y: [_; V] = from_fn(|v| simd.partial_load_f64s(a[v].1));
        for c in 0..C {
            let x = simd.partial_load_f64s(columns[c].1);
            for v in 0..V {
                sums[c][v] = simd.mul_add_f64s(x, y[v], sums[c][v]);
            }
        }
    }
    for v in 0..V {
        for (c, sums) in sums.iter().enumerate() {
            u[v * place.stride + place.start + c] = simd.reduce_sum_f64s(sums[v]);
        }
    }
}

struct BlockProduct<'a> {
    n: usize,
    block: &'a [f64],
    w: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for BlockProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { n, block, w, out } = self;
        let width = block.len() / n;
        for (w, out) in w.chunks(VECTORS * width).zip(out.chunks_mut(VECTORS * n)) {
            for (start, columns) in (0..).step_by(COLUMNS).zip(block.chunks(COLUMNS * n)) {
                let place = GroupOffset { stride: width, start };
                match columns.len() / n {
                    COLUMNS => add_to::<S, COLUMNS>(simd, n, columns, w, out, place),
                    3 => add_to::<S, 3>(simd, n, columns, w, out, place),
                    2 => add_to::<S, 2>(simd, n, columns, w, out, place),
                    _ => add_to::<S, 1>(simd, n, columns, w, out, place),
                }
            }
        }
    }
}

#[inline(always)]
fn add_to<S: Simd, const C: usize>(simd: S, n: usize, columns: &[f64], w: &[f64], out: &mut [f64], place: GroupOffset) {
    match out.len() / n {
        VECTORS => add::<S, C, VECTORS>(simd, n, columns, w, out, place),
        2 => add::<S, C, 2>(simd, n, columns, w, out, place),
        _ => add::<S, C, 1>(simd, n, columns, w, out, place),
    }
}

/// C columns into V vectors.
#[inline(always)]
fn add<S: Simd, const C: usize, const V: usize>(
    simd: S,
    n: usize,
    columns: &[f64],
    w: &[f64],
    mut out: &mut [f64],
    place: GroupOffset,
) {
    let length = n / S::F64_LANES;
    let columns: [_; C] = from_fn(|c| S::as_simd_f64s(&columns[c * n..(c + 1) * n]));
    let x: [_; C] = columns.map(|(x, _)| &x[..length]);
    let w: [[_; V]; C] = from_fn(|c| from_fn(|v| simd.splat_f64s(w[v * place.stride + place.start + c])));
    let mut outs: [_; V] = from_fn(|_| {
        let (own, left) = std::mem::take(&mut out).split_at_mut(n);
        out = left;
        S::as_mut_simd_f64s(own)
    });
    let y: [_; V] = outs.each_mut().map(|(out, _)| &mut out[..length]);
    for at in 0..length {
        let mut sums: [_; V] = from_fn(|v| y[v][at]);
        for c in 0..C {
            let x = x[c][at];
            for v in 0..V {
                sums[v] = simd.mul_add_f64s(x, w[c][v], sums[v]);
            }
        }
        for v in 0..V {
            y[v][at] = sums[v];
        }
    }
    if length * S::F64_LANES < n {
        let mut sums: [_; V] = from_fn(|v| simd.partial_load_f64s(outs[v].1));
        for c in 0..C {
            let x = simd.partial_load_f64s(columns[c].1);
            for v in 0..V {
                sums[v] = simd.mul_add_f64s(x, w[c][v], sums[v]);
            }
        }
        for ((_, rest), sum) in outs.iter_mut().zip(sums) {
            simd.partial_store_f64s(rest, sum);
        }
    }
}

struct Squares<'a> {
    n: usize,
    block: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (column, out) in self.block.chunks_exact(self.n).zip(self.out) {
            let (x, rest) = S::as_simd_f64s(column);
            let (x, last) = x.as_chunks::<TURNS>();
            let mut sums = [simd.splat_f64s(0.0); TURNS];
            for x in x {
                for turn in 0..TURNS {
                    sums[turn] = simd.mul_add_f64s(x[turn], x[turn], sums[turn]);
                }
            }
            for (x, sum) in last.iter().zip(&mut sums) {
                *sum = simd.mul_add_f64s(*x, *x, *sum);
            }
            let rest = simd.partial_load_f64s(rest);
            sums[TURNS - 1] = simd.mul_add_f64s(rest, rest, sums[TURNS - 1]);
            *out = total(simd, sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every remainder of samples, columns and vectors, against sums in the order of writing.
    #[test]
    fn products_of_any_size_agree_with_plain_sums() {
        let number = |i: usize| (i as f64 * 0.7).sin();
        for n in (1..20).chain([67, 1 + LEAD / VECTORS]) {
            for width in [1, 2, 3, 4, 5, 7, 8, 13] {
                for count in 0..8 {
                    let block: Vec<f64> = (0..n * width).map(number).collect();
                    let a: Vec<f64> = (0..n * count).map(|i| number(i + 3)).collect();
                    let mut u = vec![f64::NAN; width * count];
                    adjoint(n, &block, &a, &mut u);
                    for (place, u) in u.iter().enumerate() {
                        let (column, vector) = (place % width, place / width);
                        let sum: f64 = (0..n).map(|i| block[column * n + i] * a[vector * n + i]).sum();
                        assert!((u - sum).abs() < 1e-13 * n as f64, "{n} {width} {count}: {u} {sum}");
                    }
                    let mut found = vec![f64::NAN; width];
                    squares(n, &block, &mut found);
                    for (column, found) in block.chunks(n).zip(found) {
                        let sum: f64 = column.iter().map(|x| x * x).sum();
                        assert!((found - sum).abs() < 1e-13 * n as f64, "{n} {width}: {found} {sum}");
                    }
                    let before: Vec<f64> = (0..n * count).map(|i| number(i + 5)).collect();
                    let mut out = before.clone();
                    apply(n, &block, &u, &mut out);
                    for (place, out) in out.iter().enumerate() {
                        let (sample, vector) = (place % n, place / n);
                        let terms = (0..width).map(|k| block[k * n + sample] * u[vector * width + k]);
                        let sum = before[place] + terms.sum::<f64>();
                        assert!((out - sum).abs() < 1e-12 * n as f64, "{n} {width} {count}: {out} {sum}");
                    }
                }
            }
        }
    }
}
