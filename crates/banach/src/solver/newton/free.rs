//! Conjugate gradients with a matrix that is never formed, where both sides are large.

use std::borrow::Cow;

use super::preconditioner::Preconditioner;
use crate::{
    FeatureMatrix,
    data::{Pool, product_length},
    form::InPlace,
    numeric::dot,
};

/// The system of a Hessian in place, equilibrated: `S (C C' + D) S` has ones on its diagonal.
pub(super) struct FreeSystem<'a> {
    /// The features, and the numbers of those that the Hessian keeps.
    matrix: Cow<'a, FeatureMatrix<'a>>,
    columns: Cow<'a, [usize]>,
    part: Cow<'a, InPlace>,
    /// S, times what multiplies the entries of features; 0 for samples that are absent.
    rows: Vec<f64>,
    /// The samples that are present.
    present: Vec<usize>,
    /// `S D S`.
    diagonal: Vec<f64>,
    preconditioner: Preconditioner,
}

/// Where conjugate gradients end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Enough<'a> {
    /// The residual as a share of the right-hand side, in the norm of the preconditioner.
    pub share: f64,
    /// `sum_i r_i^2/(2 D_i)` of the residual r, the duality gap that it would leave open.
    pub open: f64,
    /// D, before it was equilibrated, and S.
    pub curvatures: &'a [f64],
    pub equilibration: &'a [f64],
}

/// About how many vectors of one number for each sample it keeps, for the count of memory.
const VECTORS: u64 = 24;
/// The most steps. A step reads all kept features once, so that this many cost about as much as a factorisation of some thousand rows.
const MOST_STEPS: usize = 500;

impl<'a> FreeSystem<'a> {
    /// The numbers that it takes with what it is solved with.
    pub(super) fn length(samples: usize, features: usize) -> u64 {
        let (n, columns) = (samples as u64, Preconditioner::most(features) as u64);
        let preconditioner = n.saturating_add(columns).saturating_mul(columns);
        let vectors = n.saturating_mul(VECTORS + rayon::current_num_threads() as u64);
        (product_length(samples, features) as u64).saturating_add(preconditioner).saturating_add(vectors)
    }

    /// The system over the samples that are present, given S and `S D S`.
    pub(super) fn new(
        (matrix, columns): (Cow<'a, FeatureMatrix<'a>>, Cow<'a, [usize]>),
        part: Cow<'a, InPlace>,
        present: &[usize],
        equilibration: &[f64],
        diagonal: Vec<f64>,
    ) -> Self {
        let mut rows = vec![0.0; matrix.samples()];
        present.iter().zip(equilibration).for_each(|(&i, s)| rows[i] = s * part.factor());
        let preconditioner = Preconditioner::new((&matrix, &columns), &part, present, equilibration, &diagonal);
        Self { matrix, columns, part, rows, present: present.to_vec(), diagonal, preconditioner }
    }

    fn times(&self, v: &[f64], pool: &mut Pool) -> Vec<f64> {
        let mut all = vec![0.0; self.rows.len()];
        self.present.iter().zip(v).for_each(|(&i, v)| all[i] = *v);
        let all = self.part.scaled_times(&self.matrix, &self.columns, &self.rows, &all, pool);
        self.present.iter().zip(v).zip(&self.diagonal).map(|((&i, v), d)| all[i] + d * v).collect()
    }

    /// Solves for x, with `<balance, x> = 0` if there is a balance: conjugate gradients in that plane.
    ///
    /// - Solves: `(S (C C' + D) S) x = right`, or its minimum in the plane, to a residual that is enough.
    /// - Given: the right-hand side, and where to end.
    /// - Returns: the iterate at which it ended. From zero every step lowers `x'Ax/2 - right'x`, so that `right'x = x'Ax > 0` at every
    ///   end: the answer is a direction of descent, also where the steps ran out, and shorter than Newton's.
    /// - Cost: one read of the kept features per step, and two of the columns that precondition.
    /// - See: docs/solvers.md; for the plane, Gould, Hribar and Nocedal, "On the solution of equality constrained quadratic
    ///   programming problems arising in optimization" (2001).
    pub(super) fn solve(&self, right: &[f64], balance: Option<&[f64]>, enough: &Enough<'_>) -> Vec<f64> {
        let mut pool = Pool::default();
        let plane = balance.map(|balance| {
            let image = self.preconditioner.solve(balance);
            let total = dot(balance, &image);
            (balance, image, total)
        });
        let into_plane = |x: &mut [f64]| {
            plane.as_ref().map_or(0.0, |(balance, image, total)| {
                let excess = dot(balance, x) / total;
                x.iter_mut().zip(image).for_each(|(x, image)| *x -= excess * image);
                excess
            })
        };
        // The residual loses its multiple of the balance, beside which rounding would be all that is left of it near the end.
        let precondition = |residual: &mut [f64]| {
            let mut x = self.preconditioner.solve(residual);
            let excess = into_plane(&mut x);
            if let Some((balance, ..)) = &plane {
                residual.iter_mut().zip(*balance).for_each(|(r, balance)| *r -= excess * balance);
            }
            x
        };
        let (mut x, mut residual) = (vec![0.0; right.len()], right.to_vec());
        let mut direction = precondition(&mut residual);
        let mut square = dot(&residual, &direction);
        let least = enough.share * enough.share * square;
        for _ in 0..MOST_STEPS {
            if square.is_nan() || square <= least || enough.leaves_open(&residual, balance) <= enough.open {
                break;
            }
            let image = self.times(&direction, &mut pool);
            let step = square / dot(&direction, &image);
            x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&image).for_each(|(residual, image)| *residual -= step * image);
            let next = precondition(&mut residual);
            let next_square = dot(&residual, &next);
            let ratio = next_square / square;
            direction.iter_mut().zip(&next).for_each(|(d, next)| *d = next + ratio * *d);
            square = next_square;
        }
        into_plane(&mut x);
        x
    }
}

impl Enough<'_> {
    /// `sum_i (r_i - m)^2/(2 D_i)`, with the m that makes it smallest if there is a balance: the intercept will.
    fn leaves_open(&self, residual: &[f64], balance: Option<&[f64]>) -> f64 {
        if self.open == 0.0 {
            return f64::INFINITY;
        }
        let residuals = || residual.iter().zip(self.equilibration).map(|(r, s)| r / s).zip(self.curvatures);
        let shift = balance.map_or(0.0, |_| {
            let (sum, weight) = residuals().fold((0.0, 0.0), |(sum, weight), (r, d)| (sum + r / d, weight + 1.0 / d));
            sum / weight
        });
        0.5 * residuals().map(|(r, d)| (r - shift) * (r - shift) / d).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{super::system::System, *};
    use crate::{
        data::Spare,
        form::{Hessian, HessianPart},
    };

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// Columns of which every tenth is heavy, so that some of them precondition the others.
    fn matrix(n: usize, d: usize) -> FeatureMatrix<'static> {
        let mut columns = random(n * d, 1);
        columns.chunks_mut(n).step_by(10).for_each(|column| column.iter_mut().for_each(|x| *x *= 30.0));
        FeatureMatrix::from_columns(n, d, columns).expect("valid")
    }

    /// A Hessian in place, and the same with all of its entries.
    fn both(x: &FeatureMatrix<'_>) -> (Hessian, Hessian) {
        let (free, n) = (InPlace::of_all(x), x.samples());
        let HessianPart::InPlace(part) = &free.main else { panic!("it is in place") };
        let mut columns = vec![0.0; n * x.features()];
        for (k, out) in columns.chunks_mut(n).enumerate() {
            part.column_into(x, (k, k), out);
        }
        let entries =
            (0..n * n).map(|at| columns.chunks(n).map(|column| column[at / n] * column[at % n]).sum()).collect();
        let dense = Hessian { main: HessianPart::Dense(entries), ..free.clone() };
        (free, dense)
    }

    fn assert_close(found: &[f64], expected: &[f64], accuracy: f64, what: &str) {
        let size = expected.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= accuracy * size),
            "{what}: {found:?} {expected:?}"
        );
    }

    /// A step by conjugate gradients is the step by Cholesky's factor: with samples absent, an intercept, a tail and diagonals over eight
    /// orders of magnitude; and its bits do not depend on the number of threads.
    #[test]
    fn conjugate_gradients_and_cholesky_agree() {
        for (n, d) in [(1, 3), (40, 40), (60, 200), (80, 30)] {
            let x = matrix(n, d);
            let (free, dense) = both(&x);
            let (free, dense) = (Hessian { tail: 0.2, ..free }, Hessian { tail: 0.2, ..dense });
            for (present, spread) in [((0..n).collect::<Vec<_>>(), 0.0), ((0..n).step_by(2).collect(), 8.0)] {
                let m = present.len();
                let diagonal: Vec<f64> = (0..m).map(|i| 10.0_f64.powf(2.0 - spread * i as f64 / m as f64)).collect();
                let right = random(m, 2);
                for intercept in [false, true].into_iter().take(m) {
                    let what = format!("{n} x {d}, {m} samples, b: {intercept}");
                    let expected = System::new(&dense, &diagonal, &present, n, intercept).solve(&right);
                    let found = [1, 2].map(|threads| {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
                        pool.install(|| {
                            System::over(Some(&x), &free, &diagonal, &present, n, intercept, &mut Spare::default())
                                .solve(&right)
                        })
                    });
                    assert_close(&found[0], &expected, 1e-7, &what);
                    assert_eq!(found[0], found[1], "{what}");
                    let sum: f64 = found[0].iter().sum();
                    assert!(!intercept || sum.abs() <= 1e-9 * found[0].iter().map(|d| d.abs()).sum::<f64>(), "{what}");
                }
            }
        }
    }

    /// Wherever conjugate gradients end, they have found a direction of descent, each a better one, and one that leaves open no more than
    /// was allowed.
    #[test]
    fn steps_that_end_early_descend() {
        let (n, d) = (60, 90);
        let x = matrix(n, d);
        let (free, dense) = both(&x);
        let HessianPart::Dense(entries) = &dense.main else { unreachable!("made so") };
        let (present, diagonal, right) = ((0..n).collect::<Vec<_>>(), vec![0.3; n], random(n, 3));
        let image = |d: &[f64]| -> Vec<f64> {
            (0..n).map(|i| dot(&entries[i * n..(i + 1) * n], d) + diagonal[i] * d[i]).collect()
        };
        let system = System::over(Some(&x), &free, &diagonal, &present, n, false, &mut Spare::default());
        let whole = 0.5 * dot(&right, &right) / 0.3;
        let mut last = 0.0;
        for share in [0.5, 0.1, 1e-2, 1e-4, 1e-8] {
            let found = system.solve_to(&right, share * whole);
            let (descent, image) = (dot(&right, &found), image(&found));
            let value = 0.5 * dot(&found, &image) - descent;
            assert!(descent > 0.0 && value < last, "{share}: {descent:e}, {value:e} after {last:e}");
            let open: f64 = right.iter().zip(&image).map(|(right, image)| (right - image).powi(2) / 0.6).sum();
            assert!(open <= 1.001 * share * whole, "{share}: {open:e} of {whole:e}");
            last = value;
        }
    }
}
