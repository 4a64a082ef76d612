//! Eight dual vectors: their numbers stand side by side, and an entry of the tensor meets all of them at once.

use std::array::from_fn;

use pulp::{Arch, Simd, WithSimd};

use super::{COLUMNS, MOST_COLUMNS, Pairs, Spread, neighbours};

/// Rows handled together: with two vectors each, twelve sums, a weight and an entry fill the sixteen vector registers of AVX2.
const ROWS: usize = 6;

pub(super) fn run(pairs: Pairs<'_>) {
    Arch::new().dispatch(EightPairs(pairs));
}

struct EightPairs<'a>(Pairs<'a>);

impl WithSimd for EightPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.contract::<S, 1>(simd),
            4 => self.contract::<S, 2>(simd),
            2 => self.contract::<S, 4>(simd),
            _ => self.contract::<S, 8>(simd),
        }
    }
}

impl EightPairs<'_> {
    /// With V vectors for eight numbers.
    #[inline(always)]
    fn contract<S: Simd, const V: usize>(self, simd: S) {
        let Pairs { block, tails, first, alpha, rows, columns, cross, place, y } = self.0;
        let (alpha, tails) = (eights::<S, V>(alpha), tails.as_chunks::<2>().0);
        let (rows, columns) = (eights_mut::<S, V>(rows), eights_mut::<S, V>(columns));
        let (cross, y) = (eights_mut::<S, V>(cross), eights_mut::<S, V>(y));
        let height = rows.len();
        combine(simd, block, tails, alpha, rows);
        let spread = Spread { simd, alpha, width: place.width };
        let half = simd.splat_f64s(0.5);
        let mut done = 0;
        while done < tails.len() {
            let count = neighbours(&tails[done..]);
            let mut top = 0;
            for (column, y) in block[done * height..].chunks_exact(height).take(count).zip(y.chunks_mut(alpha.len())) {
                top = symmetric(simd, first, alpha, column, y);
            }
            let (k, l) = (tails[done][0] as usize, tails[done][1] as usize);
            let cross = &mut cross[(k - place.first) * place.width..];
            let of = |c: usize| &y[c * alpha.len()..][..top];
            let sums: [_; COLUMNS] = if count == COLUMNS {
                spread.add(from_fn(of), alpha[k], from_fn(|c| alpha[l + c]), l - k, cross)
            } else if k < l {
                let [sums] = spread.add([of(0)], alpha[k], [alpha[l]], l - k, cross);
                [sums; COLUMNS]
            } else {
                [spread.add_diagonal(of(0), alpha[k], cross); COLUMNS]
            };
            for (column, sums) in columns[done..done + count].iter_mut().zip(sums) {
                *column = from_fn(|v| simd.mul_add_f64s(half, sums[v], column[v]));
            }
            done += count;
        }
    }
}

/// Numbers in groups of eight, each of V vectors.
#[inline(always)]
fn eights<S: Simd, const V: usize>(numbers: &[f64]) -> &[[S::f64s; V]] {
    S::as_simd_f64s(numbers).0.as_chunks::<V>().0
}

#[inline(always)]
fn eights_mut<S: Simd, const V: usize>(numbers: &mut [f64]) -> &mut [[S::f64s; V]] {
    S::as_mut_simd_f64s(numbers).0.as_chunks_mut::<V>().0
}

/// `rows += sum_T W_T E_T`.
#[inline(always)]
fn combine<S: Simd, const V: usize>(
    simd: S,
    block: &[f64],
    tails: &[[u32; 2]],
    alpha: &[[S::f64s; V]],
    rows: &mut [[S::f64s; V]],
) {
    let height = rows.len();
    let mut weights = [[simd.splat_f64s(0.0); V]; MOST_COLUMNS];
    for (weight, tail) in weights.iter_mut().zip(tails) {
        let (k, l) = (tail[0] as usize, tail[1] as usize);
        let factor = simd.splat_f64s(if k == l { 0.5 } else { 1.0 });
        *weight = from_fn(|v| simd.mul_f64s(factor, simd.mul_f64s(alpha[k][v], alpha[l][v])));
    }
    let weights = &weights[..tails.len()];
    let (groups, rest) = rows.as_chunks_mut::<ROWS>();
    let done = groups.len() * ROWS;
    for (group, rows) in groups.iter_mut().enumerate() {
        *rows = combination(simd, &block[group * ROWS..], height, weights, *rows);
    }
    for (at, row) in rest.iter_mut().enumerate() {
        [*row] = combination(simd, &block[done + at..], height, weights, [*row]);
    }
}

/// The sums of R rows, whose entries begin at the beginning of `block` and are `height` apart.
#[inline(always)]
fn combination<S: Simd, const V: usize, const R: usize>(
    simd: S,
    block: &[f64],
    height: usize,
    weights: &[[S::f64s; V]],
    mut sums: [[S::f64s; V]; R],
) -> [[S::f64s; V]; R] {
    for (weight, column) in weights.iter().zip(block.chunks(height)) {
        let entries = &column[..R];
        for r in 0..R {
            let entry = simd.splat_f64s(entries[r]);
            for v in 0..V {
                sums[r][v] = simd.mul_add_f64s(entry, weight[v], sums[r][v]);
            }
        }
    }
    sums
}

/// `y = E alpha`; returns the end of what is set.
#[inline(always)]
fn symmetric<S: Simd, const V: usize>(
    simd: S,
    (i, mut j): (usize, usize),
    alpha: &[[S::f64s; V]],
    column: &[f64],
    y: &mut [[S::f64s; V]],
) -> usize {
    // The pairs (i, j), (i + 1, j), ..., (j, j) are neighbours, a run. The first and the last run may be a part of one.
    let mut rest = column;
    y[..=j].fill([simd.splat_f64s(0.0); V]);
    if i > 0 {
        let run;
        (run, rest) = rest.split_at((j + 1 - i).min(rest.len()));
        part_of_run(simd, alpha, run, (i, j), y);
        j += 1;
    }
    while rest.len() > j {
        let (one, two) = (j + 1, 2 * j + 3);
        let (own, left) = rest.split_at(if rest.len() >= two { two } else { one });
        if own.len() == two {
            runs(simd, alpha, [&own[..one], &own[one..]], j, y);
            j += 2;
        } else {
            runs(simd, alpha, [own], j, y);
            j += 1;
        }
        rest = left;
    }
    if !rest.is_empty() {
        y[j] = [simd.splat_f64s(0.0); V];
        part_of_run(simd, alpha, rest, (0, j), y);
        j += 1;
    }
    j
}

/// The whole runs of j, j + 1, ...
#[inline(always)]
fn runs<S: Simd, const V: usize, const J: usize>(
    simd: S,
    alpha: &[[S::f64s; V]],
    own: [&[f64]; J],
    j: usize,
    y: &mut [[S::f64s; V]],
) {
    let (y, corner) = y[..j + J].split_at_mut(j);
    let (alpha, of_runs) = alpha[..j + J].split_at(j);
    let of_runs: [_; J] = from_fn(|r| of_runs[r]);
    let common: [_; J] = from_fn(|r| &own[r][..j]);
    let mut sums = [[simd.splat_f64s(0.0); V]; J];
    for i in 0..j {
        let mut sum = y[i];
        for r in 0..J {
            let entry = simd.splat_f64s(common[r][i]);
            for v in 0..V {
                sum[v] = simd.mul_add_f64s(of_runs[r][v], entry, sum[v]);
                sums[r][v] = simd.mul_add_f64s(alpha[i][v], entry, sums[r][v]);
            }
        }
        y[i] = sum;
    }
    // Both samples are among j, j + 1, ...
    for r in 0..J {
        for i in 0..=r {
            let entry = simd.splat_f64s(own[r][j + i]);
            for v in 0..V {
                sums[r][v] = simd.mul_add_f64s(of_runs[i][v], entry, sums[r][v]);
                if i < r {
                    sums[i][v] = simd.mul_add_f64s(of_runs[r][v], entry, sums[i][v]);
                }
            }
        }
    }
    corner.copy_from_slice(&sums);
}

/// The pairs (i, j), (i + 1, j), ...
#[inline(always)]
fn part_of_run<S: Simd, const V: usize>(
    simd: S,
    alpha: &[[S::f64s; V]],
    entries: &[f64],
    (i, j): (usize, usize),
    y: &mut [[S::f64s; V]],
) {
    for (i, &entry) in (i..).zip(entries) {
        let entry = simd.splat_f64s(entry);
        for v in 0..V {
            y[j][v] = simd.mul_add_f64s(alpha[i][v], entry, y[j][v]);
            if i < j {
                y[i][v] = simd.mul_add_f64s(alpha[j][v], entry, y[i][v]);
            }
        }
    }
}
