//! What the model without a sample predicts for it, against the fit without it.

use super::{unlisted::Unlisted, *};
use crate::{FeatureMatrix, Memory, form::Gram, kernel::Exponential, loss::Logistic};

/// Samples, and variables: fewer than samples, and more.
const ROWS: usize = 40;
const FEW: usize = 6;
const MANY: usize = 70;

/// Targets of two variables, with noise.
fn noisy(d: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let x = Table::random(ROWS, d, 0.0, &mut rng);
    let y = (0..ROWS).map(|i| 2.0 * x.columns[i] - x.columns[ROWS + i] + 0.7 * rng.random_range(-1.0..1.0)).collect();
    (x, y)
}

/// The predictions of fits without each sample.
fn refitted(problem: &DualProblem<'_>, weights: &[f64]) -> Vec<f64> {
    let without = |i: usize| {
        let mut weights = weights.to_vec();
        weights[i] = 0.0;
        problem.clone().with_sample_weights(&weights).expect("others are left")
    };
    let problems: Vec<DualProblem<'_>> = (0..weights.len()).map(without).collect();
    let starts = vec![Start::Auto; problems.len()];
    let solutions = newton(1e-11).solve_all(&problems, &starts, &mut Unobserved).expect("valid");
    solutions.iter().enumerate().map(|(i, solution)| solution.omega[i] + solution.intercept).collect()
}

fn left_out(problem: &DualProblem<'_>) -> (Solution, Vec<f64>) {
    let solution = newton(1e-11).solve(problem, &mut Unobserved).expect("valid");
    let found = leave_one_out(problem, &solution, Memory::default()).expect("p > 1");
    (solution, found)
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-8 * (1.0 + expected.abs()), "{what}: {found} {expected}");
    }
}

/// With fewer features than samples, with more, and with infinitely many; with weights, one of which is 0.
#[test]
fn least_squares_without_a_sample_are_exact_for_p_2() {
    let (few, y) = noisy(FEW, 1);
    let (many, _) = noisy(MANY, 2);
    let (kernel, exponent) = (Exponential::new(0.5).expect("valid"), Exponent::new(2.0).expect("inside"));
    let matrix = FeatureMatrix::from_columns(ROWS, FEW, few.columns.clone()).expect("valid");
    let gram = Gram::new(matrix, kernel, exponent, Memory::default()).expect("small");
    let weights: Vec<f64> = (0..ROWS).map(|i| [1.0, 0.3, 2.5, 0.0][i % 4]).collect();
    for form in [&features(&few, 2.0) as &dyn QForm, &features(&many, 2.0), &gram] {
        for problem in both(form, &Squared, &y, 1.7) {
            let what = format!("{:?} features, b: {}", form.cardinality(), problem.has_intercept());
            let (_, found) = left_out(&problem);
            assert_close(&found, &refitted(&problem, &[1.0; ROWS]), &what);
            let weighted = problem.clone().with_sample_weights(&weights).expect("valid");
            assert_close(&left_out(&weighted).1, &refitted(&weighted, &weights), &format!("weighted, {what}"));
        }
    }
}

/// How far the mean squared error is off, and the share of what leaving out changes that is missed.
fn compared(problem: &DualProblem<'_>, y: &[f64]) -> (f64, f64) {
    let (solution, found) = left_out(problem);
    let expected = refitted(problem, &[1.0; ROWS]);
    let seen: Vec<f64> = solution.omega.iter().map(|omega| omega + solution.intercept).collect();
    let off = square(&found, y) / square(&expected, y) - 1.0;
    (off, square(&found, &expected) / square(&seen, &expected))
}

/// Losses whose dual has curvature come within a few per cent. Those without, whose samples pass kinks, come within some per cent more.
#[test]
fn the_error_of_left_out_samples_is_nearly_that_of_fits_without_them() {
    let mut far_off = Vec::new();
    for (d, intercept, seed) in [(FEW, true, 1), (MANY, false, 2)] {
        let (x, y) = noisy(d, seed);
        for p in [2.0, 4.0 / 3.0, 1.1] {
            let form = features(&x, p);
            for loss in all() {
                let y = targets(&*loss, &y);
                let problem = &both(&form, &*loss, &y, 0.3)[usize::from(intercept)];
                let (off, missed) = compared(problem, &y);
                let found = format!("{d} features, p = {p:.2}, {}: {off:+.3}, {missed:.1e} missed", loss.name());
                let curved = !loss.has_kinks();
                if off.abs() > if curved { 0.08 } else { 0.2 } || (curved && missed > 0.1) {
                    far_off.push(found);
                }
            }
        }
    }
    assert!(far_off.is_empty(), "{far_off:#?}");
}

/// A sample of weight 2 is two samples: for every other one the answer is the same.
#[test]
fn weights_are_repetitions() {
    let (x, y) = noisy(FEW, 4);
    let twice = [3, 17];
    let rows: Vec<usize> = (0..ROWS).chain(twice).collect();
    let columns = x.columns.chunks(ROWS).flat_map(|column| rows.iter().map(|&i| column[i])).collect();
    let repeated = Table { n: rows.len(), d: FEW, columns };
    let weights: Vec<f64> = (0..ROWS).map(|i| if twice.contains(&i) { 2.0 } else { 1.0 }).collect();
    for p in [2.0, 4.0 / 3.0] {
        let (form, form_of_repeated) = (features(&x, p), features(&repeated, p));
        for loss in all().into_iter().filter(|loss| !loss.has_kinks()) {
            let y = targets(&*loss, &y);
            let y_of_repeated: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
            let plain = both(&form_of_repeated, &*loss, &y_of_repeated, 0.8);
            for (weighted, plain) in both(&form, &*loss, &y, 0.8).into_iter().zip(plain) {
                let weighted = weighted.with_sample_weights(&weights).expect("valid");
                let (found, expected) = (left_out(&weighted).1, left_out(&plain).1);
                for i in (0..ROWS).filter(|i| !twice.contains(i)) {
                    assert!((found[i] - expected[i]).abs() <= 1e-5, "{loss:?} {i}: {} {}", found[i], expected[i]);
                }
            }
        }
    }
}

/// More features than a Hessian keeps.
#[test]
fn features_that_are_left_out_of_the_hessian_hardly_matter() {
    let (x, y) = noisy(4000, 5);
    for p in [4.0 / 3.0, 1.1] {
        let form = features(&x, p);
        let problem = problem(&form, &Squared, &y, 1e-4_f64.powf(p - 1.0)).with_intercept().expect("valid");
        let (off, missed) = compared(&problem, &y);
        assert!(missed <= 0.05, "p = {p}: {off}, {missed} missed");
    }
}

#[test]
fn where_there_is_nothing_to_tell() {
    let (x, y) = noisy(FEW, 6);
    let form = features(&x, 1.5);
    let problem = problem(&form, &Squared, &y, 1.0);
    let solution = newton(1e-8).solve(&problem, &mut Unobserved).expect("valid");
    assert!(leave_one_out(&problem, &solution, Memory::limit(1000)).is_none());
    // Nothing depends on targets that are all 0.
    let zero = vec![0.0; ROWS];
    let problem = both(&form, &Squared, &zero, 1.0)[1].clone();
    assert_eq!(left_out(&problem).1, zero);
}

/// Many samples of few features need no n x n numbers, which would not fit here.
#[test]
fn many_samples_of_few_features_fit() {
    let (n, mut rng) = (3000, Xoshiro256PlusPlus::seed_from_u64(8));
    let x = Table::random(n, 4, 0.0, &mut rng);
    let numbers: Vec<f64> = (0..n).map(|i| x.columns[i] + 0.5 * rng.random_range(-1.0..1.0)).collect();
    let signs: Vec<f64> = numbers.iter().map(|y| y.signum()).collect();
    for p in [2.0, 1.5] {
        let form = features(&x, p);
        for (loss, y) in [(&Squared as &dyn Loss, &numbers), (&Logistic, &signs)] {
            let problem = both(&form, loss, y, 1.0)[1].clone();
            let solution = newton(1e-10).solve(&problem, &mut Unobserved).expect("valid");
            let found = leave_one_out(&problem, &solution, Memory::limit(30_000_000)).expect("it fits");
            // Without the first sample, by another fit.
            let mut weights = vec![1.0; n];
            weights[0] = 0.0;
            let without = problem.with_sample_weights(&weights).expect("others are left");
            let again = newton(1e-10).solve(&without, &mut Unobserved).expect("valid");
            let expected = again.omega[0] + again.intercept;
            assert!((found[0] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "p = {p}: {} {expected}", found[0]);
        }
    }
}

/// Gammas of one form, each by itself and all at once: in one pass over the data, or in several where memory is short.
#[test]
fn several_solutions_share_a_pass() {
    let (x, y) = noisy(FEW, 5);
    let (kernel, exponent) = (Exponential::new(0.5).expect("valid"), Exponent::new(4.0 / 3.0).expect("inside"));
    let matrix = FeatureMatrix::from_columns(ROWS, FEW, x.columns.clone()).expect("valid");
    let gram = Gram::new(matrix, kernel, exponent, Memory::default()).expect("small");
    let listed = Unlisted::new(features(&x, 4.0 / 3.0));
    for form in [&gram as &dyn QForm, &listed] {
        let problem = problem(form, &Squared, &y, 1.0);
        let gammas = (0..9).map(|k| 0.1 * 2.0_f64.powi(k));
        let problems: Vec<DualProblem<'_>> = gammas.map(|gamma| problem.with_gamma(gamma).expect("valid")).collect();
        let solve = |problem: &DualProblem<'_>| newton(1e-11).solve(problem, &mut Unobserved).expect("valid");
        let solutions: Vec<Solution> = problems.iter().map(solve).collect();
        let each = |memory: Memory| {
            let before = listed.expansions();
            let found = leave_one_out_all(&problems, &solutions.iter().collect::<Vec<_>>(), memory);
            (found.into_iter().collect::<Option<Vec<_>>>().expect("it fits"), listed.expansions() - before)
        };
        let (own, step) = Newton::formed_bytes(form).expect("small");
        let ((all, passes), (few, more)) = (each(Memory::default()), each(Memory::limit(2 * own + step + 50_000)));
        let counted = usize::from(form.cardinality().is_some());
        assert!(passes == counted && more >= passes, "{passes} {more}");
        for (((problem, solution), all), few) in problems.iter().zip(&solutions).zip(all).zip(few) {
            let alone = leave_one_out(problem, solution, Memory::default()).expect("p > 1");
            assert_close(&all, &alone, "together");
            assert_close(&few, &alone, "a few at a time");
        }
    }
    assert!(leave_one_out_all(&[], &[], Memory::default()).is_empty());
}
