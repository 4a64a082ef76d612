//! One dual vector: vectors go along the samples.
//!
//! A run of entries with the same second sample is as short as n. Four runs at a time, from a multiple of four on, have a length in
//! common that vectors divide, and every y is loaded and stored once for four entries.

use std::array::from_fn;

use pulp::{Arch, Simd, WithSimd};

use super::{COLUMNS, Pairs, Spread, neighbours};

/// Runs handled together: their sums and their dual variables stay in registers.
const RUNS: usize = 4;

pub(super) fn run(pairs: Pairs<'_>) {
    Arch::new().dispatch(OnePairs(pairs));
}

struct OnePairs<'a>(Pairs<'a>);

impl WithSimd for OnePairs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Pairs { block, tails, first, alpha, rows, columns, cross, place, y } = self.0;
        let (height, n, lanes, tails) = (rows.len(), alpha.len(), S::F64_LANES, tails.as_chunks::<2>().0);
        // V first: one column after another is what memory likes best, and y then finds them in cache.
        for (column, tail) in block.chunks_exact(height).zip(tails) {
            add_multiple(simd, weight(alpha, tail), column, rows);
        }
        let spread = Spread { simd, alpha: ones::<S>(alpha), width: place.width / lanes };
        let splat = |sample: usize| [simd.splat_f64s(alpha[sample])];
        let mut done = 0;
        while done < tails.len() {
            let count = neighbours(&tails[done..]);
            let mut top = 0;
            for (column, y) in block[done * height..].chunks_exact(height).take(count).zip(y.chunks_mut(n)) {
                top = symmetric(simd, first, alpha, column, y);
            }
            let (k, l) = (tails[done][0] as usize, tails[done][1] as usize);
            let cross = &mut cross[(k - place.first) * place.width..];
            let cross = S::as_mut_simd_f64s(cross).0.as_chunks_mut::<1>().0;
            let of = |c: usize| &ones::<S>(&y[c * n..(c + 1) * n])[..top.div_ceil(lanes)];
            let sums: [_; COLUMNS] = if count == COLUMNS {
                spread.add(from_fn(of), splat(k), from_fn(|c| splat(l + c)), l - k, cross)
            } else if k < l {
                let [sums] = spread.add([of(0)], splat(k), [splat(l)], l - k, cross);
                [sums; COLUMNS]
            } else {
                [spread.add_diagonal(of(0), splat(k), cross); COLUMNS]
            };
            for (column, [sum]) in columns[done..done + count].iter_mut().zip(sums) {
                *column += 0.5 * simd.reduce_sum_f64s(sum);
            }
            done += count;
        }
    }
}

/// Numbers in vectors.
#[inline(always)]
fn ones<S: Simd>(numbers: &[f64]) -> &[[S::f64s; 1]] {
    S::as_simd_f64s(numbers).0.as_chunks::<1>().0
}

/// `W_T`.
#[inline(always)]
fn weight(alpha: &[f64], &[k, l]: &[u32; 2]) -> f64 {
    alpha[k as usize] * alpha[l as usize] * if k == l { 0.5 } else { 1.0 }
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

/// `y = E alpha`; returns the end of what is set. Behind it are zeros.
#[inline(always)]
fn symmetric<S: Simd>(simd: S, (i, mut j): (usize, usize), alpha: &[f64], column: &[f64], y: &mut [f64]) -> usize {
    y.fill(0.0);
    // The pairs (i, j), (i + 1, j), ..., (j, j) are neighbours, a run. The first and the last run may be a part of one.
    let mut rest = column;
    if i > 0 {
        let run;
        (run, rest) = rest.split_at((j + 1 - i).min(rest.len()));
        part_of_run(alpha, run, (i, j), y);
        j += 1;
    }
    while rest.len() > j {
        // From a multiple of four on.
        let (mut count, mut length) = (1, j + 1);
        while count < RUNS - j % RUNS && rest.len() > length + j + count {
            length += j + count + 1;
            count += 1;
        }
        let own;
        (own, rest) = rest.split_at(length);
        match count {
            RUNS => runs::<S, RUNS>(simd, alpha, own, j, y),
            3 => runs::<S, 3>(simd, alpha, own, j, y),
            2 => runs::<S, 2>(simd, alpha, own, j, y),
            _ => runs::<S, 1>(simd, alpha, own, j, y),
        }
        j += count;
    }
    if !rest.is_empty() {
        part_of_run(alpha, rest, (0, j), y);
        j += 1;
    }
    j
}

/// The whole runs of j, ..., j + J - 1, one after another.
#[inline(always)]
fn runs<S: Simd, const J: usize>(simd: S, alpha: &[f64], entries: &[f64], j: usize, y: &mut [f64]) {
    let start = |r: usize| r * (j + 1) + r * r.saturating_sub(1) / 2;
    let own: [&[f64]; J] = from_fn(|r| &entries[start(r)..][..=j + r]);
    let (alpha, of_runs) = alpha[..j + J].split_at(j);
    let of_runs: [f64; J] = from_fn(|r| of_runs[r]);
    let (y, corner) = y[..j + J].split_at_mut(j);
    let length = j / S::F64_LANES;
    let vectors: [_; J] = from_fn(|r| &S::as_simd_f64s(own[r]).0[..length]);
    let splats: [_; J] = from_fn(|r| simd.splat_f64s(of_runs[r]));
    let mut sums = [simd.splat_f64s(0.0); J];
    let (ys, alphas) = (&mut S::as_mut_simd_f64s(y).0[..length], &S::as_simd_f64s(alpha).0[..length]);
    for at in 0..length {
        let mut sum = ys[at];
        for r in 0..J {
            let entry = vectors[r][at];
            sum = simd.mul_add_f64s(splats[r], entry, sum);
            sums[r] = simd.mul_add_f64s(entry, alphas[at], sums[r]);
        }
        ys[at] = sum;
    }
    let mut products: [f64; J] = from_fn(|r| simd.reduce_sum_f64s(sums[r]));
    for i in length * S::F64_LANES..j {
        for r in 0..J {
            y[i] += of_runs[r] * own[r][i];
            products[r] += alpha[i] * own[r][i];
        }
    }
    // Both samples are among j, j + 1, ...
    let ends: [&[f64]; J] = from_fn(|r| &own[r][j..][..=r]);
    for r in 0..J {
        for i in 0..r {
            products[i] += of_runs[r] * ends[r][i];
            products[r] += of_runs[i] * ends[r][i];
        }
        products[r] += of_runs[r] * ends[r][r];
    }
    corner.copy_from_slice(&products);
}

/// The pairs (i, j), (i + 1, j), ...
fn part_of_run(alpha: &[f64], entries: &[f64], (i, j): (usize, usize), y: &mut [f64]) {
    for (i, entry) in (i..).zip(entries) {
        y[j] += entry * alpha[i];
        if i < j {
            y[i] += entry * alpha[j];
        }
    }
}
