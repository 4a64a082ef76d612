//! Weighted squares of features of whose entries few are stored: sums over the pairs of stored entries.

use rayon::prelude::*;

use super::heaviest::Columns;
use crate::{data::Scratch, numeric::scale_by_exp2, workers::checkpoint};

/// A pair of stored entries, which are added somewhere in an n x n matrix, takes as long as so many multiplications of a matrix product.
const PAIR: usize = 16;
/// Pairs that are worth an n x n matrix of their own, and another thread.
const PAIRS_AT_ONCE: usize = 1 << 22;
/// Most matrices.
const MOST_PARTS: usize = 4;

/// `Phi_n diag(weights) Phi_n'` over some features, on and below the diagonal of an n x n matrix, for entries divided by `2^exponent`;
/// `None` where all entries are stored, or so many that a product of matrices is faster.
pub(super) fn weighted_square(
    matrix: &dyn Columns,
    columns: &[usize],
    weights: &[f64],
    exponent: f64,
    scratch: &mut Scratch,
) -> Option<Vec<f64>> {
    let n = matrix.samples();
    let of_column = |column: &usize| matrix.stored(*column).map(|(rows, _)| rows.len() * rows.len());
    let pairs: usize = columns.iter().map(of_column).sum::<Option<usize>>()?;
    if PAIR.saturating_mul(pairs) > n.saturating_mul(n).saturating_mul(columns.len()) {
        return None;
    }
    // Parts that depend on the features alone, added up in their order.
    let parts = pairs.div_ceil(PAIRS_AT_ONCE).clamp(1, MOST_PARTS);
    let part = columns.len().div_ceil(parts).max(1);
    let mut out = scratch.spare.take(n * n);
    out.fill(0.0);
    let (first, others) = columns.split_at(part.min(columns.len()));
    let areas = scratch.pass.take(n * n * others.len().div_ceil(part));
    let add = |columns: &[usize], weights: &[f64], sum: &mut [f64]| {
        for (&column, weight) in columns.iter().zip(weights) {
            checkpoint();
            if let Some((rows, values)) = matrix.stored(column) {
                add_pairs((rows, values), (weight.sqrt(), exponent), n, sum);
            }
        }
    };
    let of_others =
        others.par_chunks(part).zip(weights[first.len()..].par_chunks(part)).zip(areas.par_chunks_mut(n * n));
    rayon::join(
        || add(first, weights, &mut out),
        || {
            of_others.for_each(|((columns, weights), sum)| {
                sum.fill(0.0);
                add(columns, weights, sum);
            });
        },
    );
    for area in areas.chunks(n * n) {
        out.iter_mut().zip(area).for_each(|(out, part)| *out += part);
    }
    Some(out)
}

/// Adds the products of the entries of one feature, in increasing rows, each divided by `2^exponent` and times a factor.
fn add_pairs((rows, values): (&[usize], &[f64]), (factor, exponent): (f64, f64), n: usize, sum: &mut [f64]) {
    for (at, (&j, x)) in rows.iter().zip(values).enumerate() {
        let column = &mut sum[j * n..][..n];
        let x = factor * scale_by_exp2(*x, -exponent);
        for (&i, y) in rows[at..].iter().zip(&values[at..]) {
            column[i] += x * (factor * scale_by_exp2(*y, -exponent));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::{FeatureMatrix, form::square_of};

    /// Sums over pairs are the products of matrices that they replace, for few features and for so many that they are several parts, and
    /// there are none where most entries are stored.
    #[test]
    fn pairs_are_products_of_matrices() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        for (n, d, share, taken) in [(40, 30, 0.1, true), (200, 20_000, 0.1, true), (40, 300, 0.5, false)] {
            let (mut starts, mut rows, mut values, mut dense) = (vec![0], vec![], vec![], vec![0.0; n * d]);
            for k in 0..d {
                for i in 0..n {
                    if rng.random_bool(share) {
                        let value = rng.random_range(-1.0..1.0);
                        dense[k * n + i] = value;
                        rows.push(i);
                        values.push(value);
                    }
                }
                starts.push(rows.len());
            }
            let sparse = FeatureMatrix::from_sparse_columns(n, d, starts, rows, values).expect("valid");
            let dense = FeatureMatrix::from_columns(n, d, dense).expect("valid");
            let columns: Vec<usize> = (0..d).filter(|k| k % 7 > 0).collect();
            let weights: Vec<f64> = columns.iter().map(|_| rng.random_range(0.0..1.0)).collect();
            let square = |matrix: &FeatureMatrix<'_>, threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
                pool.install(|| weighted_square(matrix, &columns, &weights, 0.0, &mut Scratch::new()))
            };
            assert_eq!(square(&dense, 1), None);
            let found = square(&sparse, 1);
            assert_eq!((found.is_some(), &found), (taken, &square(&sparse, 2)), "{n} x {d}");
            let (expected, scale) = (square_of(&dense, &columns, &weights), weights.iter().sum::<f64>());
            for (j, i) in (0..n).flat_map(|j| (j..n).map(move |i| (j, i))) {
                let (found, expected) =
                    (found.as_ref().map_or(expected[j * n + i], |sum| sum[j * n + i]), expected[j * n + i]);
                assert!((found - expected).abs() <= 1e-13 * scale, "{n} x {d}, {i} {j}: {found} {expected}");
            }
        }
    }
}
