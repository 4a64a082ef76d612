//! The linear system of a Newton step, `(Hessian + diagonal) d = -gradient`, with `sum_i d_i = 0` if there is an intercept.

use std::borrow::Cow;

use faer::{
    Accum, MatMut, MatRef, Par, Spec,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        cholesky::llt::{
            factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch},
            solve::solve_in_place,
        },
        matmul::matmul,
    },
};

use super::free::{Enough, FreeSystem};
use crate::{
    FeatureMatrix,
    data::{MAX_ENTRY, Spare},
    form::{Hessian, HessianPart, InPlace, MOST_DENSE, features},
    numeric::dot,
};

/// The positive definite matrix of a step, over the samples that are present, ready to be solved with.
pub(in crate::solver) struct System<'a> {
    /// The diagonal S that equilibrates the matrix: `S (Hessian + diagonal) S` has ones on its diagonal.
    equilibration: Vec<f64>,
    solver: Method<'a>,
    /// The solution for a vector of ones, if there is an intercept.
    ones: Option<Vec<f64>>,
}

enum Method<'a> {
    /// Cholesky's factor of the m x m matrix.
    Dense(Vec<f64>),
    /// Woodbury's formula for `diag + C C'` with fewer columns than rows: Cholesky's factor of `I + C' diag^-1 C`.
    Factor { columns: Vec<f64>, diagonal: Vec<f64>, inner: Vec<f64> },
    /// Conjugate gradients with `diag + C C'`, given the diagonal before it was equilibrated. The answer is in balance by itself.
    Free { system: Box<FreeSystem<'a>>, curvatures: Vec<f64>, intercept: bool },
}

/// Added to a diagonal of ones, a few units in the last place, so that rounding leaves the matrix positive definite.
const RIDGE: f64 = 1e-15;
/// The relative residual that ends conjugate gradients where no other is asked for.
const FREE_RESIDUAL: f64 = 1e-10;

impl<'a> System<'a> {
    /// As [`new`](Self::new), for a Hessian of a form with these listed features, if it lists any, with a matrix in this memory.
    pub(in crate::solver) fn over(
        listed: Option<&'a FeatureMatrix<'a>>,
        hessian: &'a Hessian,
        diagonal: &[f64],
        present: &[usize],
        n: usize,
        intercept: bool,
        memory: &mut Spare,
    ) -> Self {
        let HessianPart::InPlace(part) = &hessian.main else {
            return Self::formed(hessian, diagonal, present, n, intercept, memory);
        };
        let curvatures = diagonal.iter().map(|entry| entry + hessian.tail).collect();
        let columns = (Cow::Borrowed(features(listed)), Cow::Borrowed(&hessian.columns[..]));
        Self::free(columns, Cow::Borrowed(part), curvatures, present, intercept)
    }

    fn free(
        columns: (Cow<'a, FeatureMatrix<'a>>, Cow<'a, [usize]>),
        part: Cow<'a, InPlace>,
        curvatures: Vec<f64>,
        present: &[usize],
        intercept: bool,
    ) -> Self {
        let whole = part.diagonal();
        let equilibration: Vec<f64> =
            present.iter().zip(&curvatures).map(|(&i, entry)| 1.0 / (whole[i] + entry).sqrt()).collect();
        // A sample at an end of its domain, where the curvature is infinite, does not move.
        let own = |(entry, s): (&f64, &f64)| if *s == 0.0 { 1.0 } else { entry * s * s + RIDGE };
        let diagonal = curvatures.iter().zip(&equilibration).map(own).collect();
        let system = Box::new(FreeSystem::new(columns, part, present, &equilibration, diagonal));
        Self { equilibration, solver: Method::Free { system, curvatures, intercept }, ones: None }
    }

    /// The system of a Hessian over all n samples and of the diagonal of those that are `present`.
    pub(in crate::solver) fn new(
        hessian: &Hessian,
        diagonal: &[f64],
        present: &[usize],
        n: usize,
        intercept: bool,
    ) -> Self {
        Self::formed(hessian, diagonal, present, n, intercept, &mut Spare::default())
    }

    /// Gives its memory to those who come next.
    pub(super) fn end(self, memory: &mut Spare) {
        if let Method::Dense(matrix) = self.solver {
            memory.give(matrix);
        }
    }

    fn formed(
        hessian: &Hessian,
        diagonal: &[f64],
        present: &[usize],
        n: usize,
        intercept: bool,
        memory: &mut Spare,
    ) -> Self {
        let m = present.len();
        let diagonal: Vec<f64> = diagonal.iter().map(|entry| entry + hessian.tail).collect();
        let (equilibration, solver) = match &hessian.main {
            HessianPart::Dense(entries) => {
                let whole = |i: usize, j: usize| entries[i.min(j) * n + i.max(j)];
                let equilibration = present.iter().zip(&diagonal).map(|(&i, entry)| 1.0 / (whole(i, i) + entry).sqrt());
                let equilibration: Vec<f64> = equilibration.collect();
                // Above the diagonal nothing is read.
                let mut matrix = memory.take(m * m);
                for (j, column) in matrix.chunks_mut(m).enumerate() {
                    for (i, entry) in column.iter_mut().enumerate().skip(j) {
                        *entry = whole(present[i], present[j]) * equilibration[i] * equilibration[j];
                    }
                    column[j] = 1.0 + RIDGE;
                }
                factorise(&mut matrix, m);
                (equilibration, Method::Dense(matrix))
            }
            HessianPart::Factor(entries) if entries.len() / n > MOST_DENSE => {
                return Self::of_columns(entries, diagonal, present, n, intercept);
            }
            HessianPart::InPlace(_) => unreachable!("made by a form that lists its features"),
            HessianPart::Factor(entries) => {
                let squares = |i: usize| entries.chunks(n).map(|column| column[i] * column[i]).sum::<f64>();
                let equilibration = present.iter().zip(&diagonal).map(|(&i, entry)| 1.0 / (squares(i) + entry).sqrt());
                let equilibration: Vec<f64> = equilibration.collect();
                let columns: Vec<f64> = entries
                    .chunks(n)
                    .flat_map(|column| present.iter().zip(&equilibration).map(|(&i, s)| column[i] * s))
                    .collect();
                let diagonal: Vec<f64> =
                    diagonal.iter().zip(&equilibration).map(|(entry, s)| entry * s * s + RIDGE).collect();
                (equilibration, Method::of_factor(columns, diagonal))
            }
        };
        let mut system = Self { equilibration, solver, ones: None };
        system.ones = intercept.then(|| system.solve_plain(&vec![1.0; m]));
        system
    }

    /// The system of stored columns that are too many for a factor of their size.
    fn of_columns(entries: &[f64], curvatures: Vec<f64>, present: &[usize], n: usize, intercept: bool) -> Self {
        // Where a number is none the step is none either.
        let (entries, curvatures) = if entries.iter().all(|x| x.abs() <= MAX_ENTRY) {
            (entries.to_vec(), curvatures)
        } else {
            (vec![0.0; n], vec![f64::NAN; curvatures.len()])
        };
        let matrix = FeatureMatrix::from_columns(n, entries.len() / n, entries).expect("checked above");
        let Hessian { main: HessianPart::InPlace(part), columns, .. } = InPlace::of_all(&matrix) else {
            unreachable!("it is in place")
        };
        Self::free((Cow::Owned(matrix), Cow::Owned(columns)), Cow::Owned(part), curvatures, present, intercept)
    }

    /// The solution of the system, with `sum_i d_i = 0` if there is an intercept.
    pub(in crate::solver) fn solve(&self, right: &[f64]) -> Vec<f64> {
        self.solve_to(right, 0.0)
    }

    /// As [`solve`](Self::solve). Where it is found by steps, they may end when the residual leaves at most `open` of the duality gap.
    pub(in crate::solver) fn solve_to(&self, right: &[f64], open: f64) -> Vec<f64> {
        let scaled = |x: &[f64]| -> Vec<f64> { x.iter().zip(&self.equilibration).map(|(x, s)| x * s).collect() };
        if let Method::Free { system, curvatures, intercept } = &self.solver {
            let enough = Enough { share: FREE_RESIDUAL, open, curvatures, equilibration: &self.equilibration };
            let balance = intercept.then_some(&self.equilibration[..]);
            return scaled(&system.solve(&scaled(right), balance, &enough));
        }
        let Some(ones) = &self.ones else { return self.solve_plain(right) };
        let total: f64 = ones.iter().sum();
        let multiplier = self.solve_plain(right).iter().sum::<f64>() / total;
        // Again without the multiplier, so that it need not cancel in the answer.
        let right: Vec<f64> = right.iter().map(|right| right - multiplier).collect();
        let mut d = self.solve_plain(&right);
        let rest = d.iter().sum::<f64>() / total;
        d.iter_mut().zip(ones).for_each(|(d, one)| *d -= rest * one);
        d
    }

    fn solve_plain(&self, right: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = right.iter().zip(&self.equilibration).map(|(right, factor)| right * factor).collect();
        self.solver.solve(&mut x);
        x.iter_mut().zip(&self.equilibration).for_each(|(x, factor)| *x *= factor);
        x
    }
}

impl Method<'_> {
    fn of_factor(columns: Vec<f64>, diagonal: Vec<f64>) -> Self {
        let (m, k) = (diagonal.len(), columns.len() / diagonal.len());
        let mut inner = vec![0.0; k * k];
        if k > 0 {
            let weighted: Vec<f64> =
                columns.chunks(m).flat_map(|column| column.iter().zip(&diagonal).map(|(c, d)| c / d)).collect();
            let (left, right) =
                (MatRef::from_column_major_slice(&columns, m, k), MatRef::from_column_major_slice(&weighted, m, k));
            let out = MatMut::from_column_major_slice_mut(&mut inner, k, k);
            matmul(out, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
            inner.iter_mut().step_by(k + 1).for_each(|entry| *entry += 1.0);
            factorise(&mut inner, k);
        }
        Self::Factor { columns, diagonal, inner }
    }

    fn solve(&self, x: &mut [f64]) {
        match self {
            Self::Dense(factor) => substitute(factor, x),
            Self::Factor { columns, diagonal, inner } => {
                let right = x.to_vec();
                woodbury(columns, diagonal, inner, x);
                // Once more for the residual, which Woodbury's formula loses where `C C'` is much larger than the diagonal.
                let mut residual = product(columns, diagonal, x);
                residual.iter_mut().zip(&right).for_each(|(product, right)| *product = right - *product);
                woodbury(columns, diagonal, inner, &mut residual);
                x.iter_mut().zip(&residual).for_each(|(x, correction)| *x += correction);
            }
            Self::Free { .. } => unreachable!("it has no solution for a vector of ones"),
        }
    }
}

/// `x -> diag^-1 x - diag^-1 C (I + C' diag^-1 C)^-1 C' diag^-1 x`.
fn woodbury(columns: &[f64], diagonal: &[f64], inner: &[f64], x: &mut [f64]) {
    let m = diagonal.len();
    x.iter_mut().zip(diagonal).for_each(|(x, d)| *x /= d);
    let mut small: Vec<f64> = columns.chunks(m).map(|column| dot(column, x)).collect();
    if small.is_empty() {
        return;
    }
    substitute(inner, &mut small);
    for (column, weight) in columns.chunks(m).zip(&small) {
        x.iter_mut().zip(column).zip(diagonal).for_each(|((x, c), d)| *x -= weight * c / d);
    }
}

/// `(diag + C C') x`.
fn product(columns: &[f64], diagonal: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = x.iter().zip(diagonal).map(|(x, d)| x * d).collect();
    for column in columns.chunks(diagonal.len()) {
        let weight = dot(column, x);
        out.iter_mut().zip(column).for_each(|(out, c)| *out += weight * c);
    }
    out
}

/// Cholesky's factor in place of a positive definite matrix, given below its diagonal. Pivots that rounding has made
/// negative are lifted.
pub(in crate::solver) fn factorise(matrix: &mut [f64], size: usize) {
    let lift = LltRegularization { dynamic_regularization_delta: 1e-12, dynamic_regularization_epsilon: RIDGE };
    let params = Spec::default();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(size, Par::Seq, params));
    let matrix = MatMut::from_column_major_slice_mut(matrix, size, size);
    // With lifted pivots only numbers that are not finite can fail; the step then shows them.
    let _ = cholesky_in_place(matrix, lift, Par::Seq, MemStack::new(&mut memory), params);
}

/// `x -> A^-1 x`, given Cholesky's factor of A.
pub(in crate::solver) fn substitute(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    let factor = MatRef::from_column_major_slice(factor, size, size);
    let x = MatMut::from_column_major_slice_mut(x, size, 1);
    solve_in_place(factor, x, Par::Seq, MemStack::new(&mut []));
}

#[cfg(test)]
mod tests {
    use faer::{Mat, prelude::Solve};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// `C C'`, entry by entry.
    fn square(columns: &[f64], n: usize) -> Vec<f64> {
        (0..n * n).map(|at| columns.chunks(n).map(|column| column[at / n] * column[at % n]).sum()).collect()
    }

    /// The bordered matrix, solved with pivots.
    fn direct(
        matrix: &[f64],
        hessian_tail: f64,
        diagonal: &[f64],
        n: usize,
        right: &[f64],
        intercept: bool,
    ) -> Vec<f64> {
        let size = n + usize::from(intercept);
        let entry = |i: usize, j: usize| match (i < n, j < n) {
            (true, true) => matrix[i * n + j] + if i == j { diagonal[i] + hessian_tail } else { 0.0 },
            (false, false) => 0.0,
            _ => 1.0,
        };
        let right = Mat::from_fn(size, 1, |i, _| if i < n { right[i] } else { 0.0 });
        let solved = Mat::from_fn(size, size, entry).full_piv_lu().solve(&right);
        (0..n).map(|i| solved[(i, 0)]).collect()
    }

    fn assert_close(found: &[f64], expected: &[f64], accuracy: f64, what: &str) {
        let size = expected.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= accuracy * size, "{what}: {found:?} instead of {expected:?}");
        }
    }

    fn system(main: HessianPart, tail: f64, diagonal: &[f64], n: usize, intercept: bool) -> System<'static> {
        let present: Vec<usize> = (0..n).collect();
        System::new(&Hessian { tail, ..Hessian::exact(main) }, diagonal, &present, n, intercept)
    }

    /// Conjugate gradients instead of Woodbury's formula.
    fn free(columns: &[f64], tail: f64, diagonal: &[f64], n: usize, intercept: bool) -> System<'static> {
        let present: Vec<usize> = (0..n).collect();
        System::of_columns(columns, diagonal.iter().map(|d| d + tail).collect(), &present, n, intercept)
    }

    /// Cholesky, Woodbury and conjugate gradients agree with each other and with elimination, with and without an
    /// intercept and a tail, for fewer and more columns than samples.
    #[test]
    fn all_ways_agree() {
        for (n, k) in [(1, 1), (1, 4), (6, 2), (6, 6), (9, 30), (5, 0)] {
            let (columns, right) = (random(n * k, 1), random(n, 2));
            let diagonal: Vec<f64> = random(n, 3).iter().map(|x| 0.1 + x.abs()).collect();
            for (tail, intercept) in [(0.0, false), (0.7, false), (0.0, true), (0.7, true)] {
                if n == 1 && intercept {
                    continue;
                }
                let what = format!("{n} x {k}, tail {tail}, b: {intercept}");
                let matrix = square(&columns, n);
                let expected = direct(&matrix, tail, &diagonal, n, &right, intercept);
                let factor = || system(HessianPart::Factor(columns.clone()), tail, &diagonal, n, intercept);
                let dense = system(HessianPart::Dense(matrix.clone()), tail, &diagonal, n, intercept);
                assert_close(&dense.solve(&right), &expected, 1e-11, &format!("Cholesky, {what}"));
                assert_close(&factor().solve(&right), &expected, 1e-11, &format!("Woodbury, {what}"));
                if k > 0 {
                    let free = free(&columns, tail, &diagonal, n, intercept).solve(&right);
                    assert_close(&free, &expected, 1e-8, &format!("conjugate gradients, {what}"));
                }
                let sum: f64 = factor().solve(&right).iter().sum();
                assert!(!intercept || sum.abs() <= 1e-12, "{what}: {sum:e}");
            }
        }
    }

    /// Diagonals over twenty orders of magnitude: samples at the border of their box beside samples inside it. Elimination
    /// itself has no more than eight digits here.
    #[test]
    fn badly_scaled_diagonals() {
        let (n, k) = (8, 5);
        let (columns, right) = (random(n * k, 4), random(n, 5));
        let matrix = square(&columns, n);
        for exponents in [[0, 10, 0, -6, 10, 3, 0, -6], [10, 10, 10, 10, 10, 10, -10, 10], [-6, -6, -6, 0, 0, 0, 0, 0]]
        {
            let diagonal = exponents.map(|exponent| 10.0_f64.powi(exponent));
            for intercept in [false, true] {
                let expected = direct(&matrix, 0.0, &diagonal, n, &right, intercept);
                let what = format!("{exponents:?}, b: {intercept}");
                let dense = system(HessianPart::Dense(matrix.clone()), 0.0, &diagonal, n, intercept);
                assert_close(&dense.solve(&right), &expected, 1e-7, &format!("Cholesky, {what}"));
                let factor = system(HessianPart::Factor(columns.clone()), 0.0, &diagonal, n, intercept);
                assert_close(&factor.solve(&right), &expected, 1e-7, &format!("Woodbury, {what}"));
            }
        }
    }

    /// A diagonal far below `C C'`, which has fewer columns than samples: the solution is nearly in the kernel of `C'`, and
    /// what keeps the matrix positive definite counts against the diagonal.
    #[test]
    fn small_diagonals_beside_few_columns() {
        let (n, k) = (8, 3);
        let (columns, right) = (random(n * k, 6), random(n, 7));
        let matrix = square(&columns, n);
        for (diagonal, accuracy) in [(1e-3, 1e-10), (1e-6, 1e-8), (1e-9, 1e-5)] {
            for intercept in [false, true] {
                let expected = direct(&matrix, 0.0, &vec![diagonal; n], n, &right, intercept);
                let what = format!("{diagonal:e}, b: {intercept}");
                let dense = system(HessianPart::Dense(matrix.clone()), 0.0, &vec![diagonal; n], n, intercept);
                assert_close(&dense.solve(&right), &expected, accuracy, &format!("Cholesky, {what}"));
                let factor = system(HessianPart::Factor(columns.clone()), 0.0, &vec![diagonal; n], n, intercept);
                assert_close(&factor.solve(&right), &expected, accuracy, &format!("Woodbury, {what}"));
            }
        }
    }

    /// Absent samples have no row, whatever the Hessian says of them.
    #[test]
    fn absent_samples() {
        let (n, k, present) = (7, 4, [0, 2, 3, 6]);
        let columns = random(n * k, 8);
        let part: Vec<f64> = columns.chunks(n).flat_map(|column| present.map(|i| column[i])).collect();
        let (diagonal, right) = ([0.5, 1.0, 2.0, 0.1], random(4, 9));
        for intercept in [false, true] {
            let expected = direct(&square(&part, 4), 0.3, &diagonal, 4, &right, intercept);
            for main in [HessianPart::Dense(square(&columns, n)), HessianPart::Factor(columns.clone())] {
                let hessian = Hessian { tail: 0.3, ..Hessian::exact(main) };
                let found = System::new(&hessian, &diagonal, &present, n, intercept).solve(&right);
                assert_close(&found, &expected, 1e-11, &format!("b: {intercept}"));
            }
            let free = System::of_columns(&columns, diagonal.map(|d| d + 0.3).to_vec(), &present, n, intercept);
            assert_close(&free.solve(&right), &expected, 1e-8, &format!("conjugate gradients, b: {intercept}"));
        }
    }

    /// What was left in memory, also above the diagonal, does not count, and the memory comes back.
    #[test]
    fn memory_is_used_again() {
        let (n, k) = (9, 30);
        let (columns, right, present) = (random(n * k, 1), random(n, 2), (0..n).collect::<Vec<usize>>());
        let hessian = Hessian::exact(HessianPart::Dense(square(&columns, n)));
        let expected = system(hessian.main.clone(), 0.0, &[0.5; 9], n, true).solve(&right);
        for left in [f64::NAN, f64::INFINITY, 7.0] {
            let mut memory = Spare::default();
            let given = vec![left; n * n + 5];
            let place = given.as_ptr();
            memory.give(given);
            let system = System::over(None, &hessian, &[0.5; 9], &present, n, true, &mut memory);
            assert_eq!(system.solve(&right), expected, "{left}");
            system.end(&mut memory);
            let again = memory.take(n * n);
            assert_eq!(again.as_ptr(), place, "no other memory was taken");
        }
    }

    /// Numbers near the ends of f64 do not become NaN.
    #[test]
    fn extreme_sizes() {
        let (n, columns, right) = (3, random(6, 10), random(3, 11));
        for (size, diagonal) in [(1e-150, 1e-300), (1e150, 1.0), (1.0, 1e300), (0.0, 1e-300), (1e150, 1e300)] {
            let columns: Vec<f64> = columns.iter().map(|x| size * x).collect();
            for main in [HessianPart::Dense(square(&columns, n)), HessianPart::Factor(columns.clone())] {
                let found = system(main, 0.0, &[diagonal; 3], n, true).solve(&right);
                assert!(found.iter().all(|x| x.is_finite()), "{size:e} {diagonal:e}: {found:?}");
            }
        }
    }
}
