//! `Phi_c diag(w) Phi_c'` over some features, multiplied by a vector without being formed, and its diagonal.
//!
//! The features are read where they are stored, once for each product, by all cores. They are grouped into stripes that depend on their
//! number and that of the samples alone; each has its own sum, and the sums are combined in order, so that results do not depend on the
//! number of threads.

use rayon::prelude::*;

use super::{Column, FeatureMatrix, scratch::Pool};
use crate::{
    numeric::{scale_by_exp2, vectorised},
    workers::checkpoint,
};

/// Bytes of the features of a stripe: long enough to hide the start of a task.
const STRIPE_BYTES: usize = 2 << 20;
/// Most stripes. Each has a sum of n numbers.
const MAX_STRIPES: usize = 64;
/// Features read together where they lie side by side: a second-level cache holds as many of some ten thousand samples until they are read
/// again.
const TOGETHER: usize = 4;

/// The numbers of working memory of a product.
pub(crate) fn product_length(samples: usize, features: usize) -> usize {
    (samples + TOGETHER).saturating_mul(features.div_ceil(stripe(samples, features)))
}

/// The features of a stripe.
fn stripe(samples: usize, features: usize) -> usize {
    (STRIPE_BYTES / samples.saturating_mul(8).max(1)).max(features.div_ceil(MAX_STRIPES)).max(1)
}

impl FeatureMatrix<'_> {
    /// `out = Phi_c diag(weights) Phi_c' v` over some features, in increasing order.
    pub(crate) fn weighted_square_times(
        &self,
        columns: &[usize],
        weights: &[f64],
        v: &[f64],
        pool: &mut Pool,
        out: &mut [f64],
    ) {
        let (n, stripe) = (self.samples, stripe(self.samples, columns.len()));
        let (areas, buffers) = pool.take_with_blocks(product_length(n, columns.len()));
        let stripes = columns.par_chunks(stripe).zip(weights.par_chunks(stripe));
        let run_stripe = |(mut columns, mut weights): (&[usize], &[f64]), area: &mut [f64], buffer: &mut Vec<f64>| {
            let (sum, u) = area.split_at_mut(n);
            sum.fill(0.0);
            while let Some(&first) = columns.first() {
                checkpoint();
                let run = columns.iter().zip(first..).take(TOGETHER).take_while(|(at, next)| **at == *next).count();
                let (block, u) = (self.block(first..first + run), &mut u[..run]);
                block.adjoint(v, v, buffer, u, &mut []);
                u.iter_mut().zip(weights).for_each(|(u, weight)| *u *= weight);
                block.apply(u, buffer, sum);
                (columns, weights) = (&columns[run..], &weights[run..]);
            }
        };
        stripes
            .zip(areas.par_chunks_mut(n + TOGETHER))
            .for_each(|(stripe, area)| buffers.lend(|buffer| run_stripe(stripe, area, buffer)));
        out.fill(0.0);
        for area in areas.chunks(n + TOGETHER) {
            out.iter_mut().zip(area).for_each(|(out, sum)| *out += sum);
        }
    }

    /// The diagonal of `Phi_c diag(weights) Phi_c'` for entries divided by `2^exponent`, and the part of every feature in its trace.
    pub(crate) fn weighted_squares(&self, columns: &[usize], weights: &[f64], exponent: f64) -> (Vec<f64>, Vec<f64>) {
        let (n, stripe) = (self.samples, stripe(self.samples, columns.len()));
        let mut parts = vec![0.0; columns.len()];
        let stripes = columns.par_chunks(stripe).zip(weights.par_chunks(stripe)).zip(parts.par_chunks_mut(stripe));
        let sums: Vec<Vec<f64>> = stripes
            .map(|((columns, weights), parts)| {
                let (mut sum, mut buffer) = (vec![0.0; n], Vec::new());
                for ((&column, weight), part) in columns.iter().zip(weights).zip(parts) {
                    checkpoint();
                    let factor = scale_by_exp2(weight.sqrt(), -exponent);
                    *part = add_squares(&self.column(column, &mut buffer), factor, &mut sum);
                }
                sum
            })
            .collect();
        let mut rows = vec![0.0; n];
        for sum in &sums {
            rows.iter_mut().zip(sum).for_each(|(row, sum)| *row += sum);
        }
        (rows, parts)
    }
}

/// Adds the squares of a feature times a factor to the sums of the samples, and returns their sum.
fn add_squares(column: &Column<'_>, factor: f64, sums: &mut [f64]) -> f64 {
    let Column { rows, values } = *column;
    if let Some(rows) = rows {
        let square = |(row, x): (&usize, &f64)| {
            let square = (factor * x) * (factor * x);
            sums[*row] += square;
            square
        };
        return rows.iter().zip(values).map(square).sum();
    }
    vectorised(
        #[inline(always)]
        move || {
            // As many sums as a vector has numbers, so that no addition waits for the one before.
            let mut parts = [0.0; 8];
            for (sums, values) in sums.chunks_mut(8).zip(values.chunks(8)) {
                for ((sum, x), part) in sums.iter_mut().zip(values).zip(&mut parts) {
                    let square = (factor * x) * (factor * x);
                    *sum += square;
                    *part += square;
                }
            }
            parts.iter().sum()
        },
    )
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// A matrix with all entries, and one that stores those of every third row alone.
    fn matrices(n: usize, d: usize) -> [FeatureMatrix<'static>; 2] {
        let mut values = random(n * d, 1);
        let dense = FeatureMatrix::from_columns(n, d, values.clone()).expect("valid");
        values.chunks_mut(n).for_each(|column| (0..n).filter(|i| i % 3 > 0).for_each(|i| column[i] = 0.0));
        let rows: Vec<usize> = (0..n).step_by(3).collect();
        let stored = (0..n * d).filter(|at| (at % n).is_multiple_of(3)).map(|at| values[at]).collect::<Vec<f64>>();
        let starts: Vec<usize> = (0..=d).map(|k| k * rows.len()).collect();
        let sparse = FeatureMatrix::from_sparse_columns(n, d, starts, rows.repeat(d), stored).expect("valid");
        [dense, sparse]
    }

    /// Products and diagonals are those of the matrix that is formed, for runs of features of every length and single ones, and to
    /// the last bit those of one thread.
    #[test]
    fn products_are_those_of_the_matrix() {
        for (n, d, keep) in [(1, 1, 1), (7, 30, 1), (50, 400, 3), (50, 400, 7), (3000, 900, 5)] {
            let columns: Vec<usize> = (0..d).filter(|k| keep == 1 || k % keep > 0).collect();
            let (weights, v): (Vec<f64>, _) =
                (random(columns.len(), 2).iter().map(|w| w.abs()).collect(), random(n, 3));
            for matrix in matrices(n, d) {
                let entries: Vec<Vec<f64>> = (0..d)
                    .map(|k| {
                        let mut column = vec![0.0; n];
                        matrix.column_into(k, &mut column);
                        column
                    })
                    .collect();
                let (mut expected, mut diagonal, mut trace) = (vec![0.0; n], vec![0.0; n], Vec::new());
                for (&k, w) in columns.iter().zip(&weights) {
                    let u: f64 = entries[k].iter().zip(&v).map(|(x, v)| x * v).sum();
                    for (i, x) in entries[k].iter().enumerate() {
                        expected[i] += w * u * x;
                        diagonal[i] += w * x * x / 4.0;
                    }
                    trace.push(entries[k].iter().map(|x| w * x * x / 4.0).sum::<f64>());
                }
                let found = [1, 2].map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
                    pool.install(|| {
                        let mut out = vec![f64::NAN; n];
                        matrix.weighted_square_times(&columns, &weights, &v, &mut Pool::default(), &mut out);
                        (out, matrix.weighted_squares(&columns, &weights, 1.0))
                    })
                });
                assert_eq!(found[0], found[1], "{n} x {d}");
                let (out, (rows, parts)) = &found[0];
                let pairs = [(out, &expected), (rows, &diagonal), (parts, &trace)];
                for (a, b) in pairs.iter().flat_map(|(found, expected)| found.iter().zip(expected.iter())) {
                    assert!((a - b).abs() <= 1e-12 * (1.0 + d as f64), "{n} x {d}: {a:e} {b:e}");
                }
            }
        }
    }
}
