//! What Newton's method claims beyond other solvers: every loss to ten digits, from any start.

use super::{unlisted::Unlisted, *};
use crate::{FeatureMatrix, Memory, form::Gram, kernel::Linear, loss::Split};

/// Equal, unequal and missing samples.
const WEIGHTS: [[f64; N]; 2] = [[1.0; N], [0.3, 1.0, 0.0, 2.0, 0.7, 1.1, 0.0, 0.9]];
const SHARES: [f64; N] = [0.5, 0.2, 0.8, 0.4, 0.3, 0.6, 0.55, 0.7];

/// Runs `check` for every loss, with and without an intercept, for both kinds of weights, at the gammas.
fn for_every_problem(form: &dyn QForm, gammas: &[f64], check: impl Fn(&DualProblem<'_>, &str)) {
    let (_, y) = data();
    for loss in all() {
        let y = targets(&*loss, &y);
        for problem in gammas.iter().flat_map(|&gamma| both(form, &*loss, &y, gamma)) {
            for weights in &WEIGHTS {
                let problem = problem.clone().with_sample_weights(weights).expect("two classes");
                let (p, b) = (form.exponent().p(), problem.has_intercept());
                check(&problem, &format!("{loss:?} p = {p}, gamma = {}, b: {b}, {weights:?}", problem.gamma()));
            }
        }
    }
}

/// (25) `[eq:kkt]`: `-alpha_i/gamma_i` is a slope of the loss at `omega_i + b`, sample by sample.
fn assert_optimal(problem: &DualProblem<'_>, solution: &Solution, what: &str) {
    let Solution { alpha, omega, intercept, certificate, .. } = solution;
    for (i, (&gamma, &y)) in problem.gammas().iter().zip(problem.targets()).enumerate() {
        if gamma == 0.0 {
            assert_eq!(alpha[i], 0.0, "{what}: an absent sample");
            continue;
        }
        // A term of the gap is at most the gap, and at least the square of the distance from the graph of the slopes.
        let slack = 2.0 * (certificate.gap / gamma).sqrt() + 1e-12;
        let (t, s) = (omega[i] + intercept, alpha[i] / gamma);
        let (before, after) = (problem.loss().slopes(y, t - slack).0, problem.loss().slopes(y, t + slack).1);
        assert!(before - slack <= -s && -s <= after + slack, "{what}, sample {i}: {before} {after} {s}");
    }
}

/// The certificate is that of the dual vector, to the rounding of predictions that a stretched expansion has, and to the bound on
/// that of the evaluation which it is held against.
fn assert_certified(problem: &DualProblem<'_>, solution: &Solution, what: &str) {
    let Solution { alpha, omega, intercept, certificate, .. } = solution;
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(alpha, &mut evaluation, &mut Scratch::new());
    let (again, roundings) = (&evaluation.omegas, &evaluation.roundings);
    let size = again.iter().fold(1.0, |size: f64, omega| size.max(omega.abs()));
    let same = |i: usize| (omega[i] - again[i]).abs() <= 1e-12 * size + roundings[i];
    assert!((0..omega.len()).all(same), "{what}: {omega:?} {again:?}");
    assert!((intercept - problem.intercept(again)).abs() <= 1e-6 * size, "{what}: {intercept}");
    let b = problem.centred_intercept(&evaluation.omegas);
    let (most, least) = (problem.certificate(alpha, &evaluation), problem.gap_within(0.0, b, alpha, &evaluation));
    let moved: f64 = problem.gammas().iter().zip(roundings).map(|(gamma, rounding)| 2.0 * gamma * rounding).sum();
    let slack = 1e-12 * (most.primal.abs() + most.dual.abs()) + moved;
    for (found, expected) in [(certificate.primal, most.primal), (certificate.dual, most.dual)] {
        assert!((found - expected).abs() <= slack, "{what}: {certificate:?}, but {expected:e}");
    }
    let gaps = least - slack..=most.gap + slack;
    assert!(gaps.contains(&certificate.gap), "{what}: {certificate:?}, but {gaps:?}");
    assert!(problem.is_balanced(alpha), "{what}: {alpha:?}");
}

#[test]
fn every_problem_is_solved() {
    let (x, _) = data();
    for p in [2.0, 4.0 / 3.0, 1.1, 1.05] {
        for form in [&features(&x, p) as &dyn QForm, &Unlisted::new(features(&x, p))] {
            for_every_problem(form, &[0.05, 1.9, 30.0], |problem, what| {
                let solution = converged(&newton(1e-10), problem);
                assert_certified(problem, &solution, what);
                assert_optimal(problem, &solution, what);
                assert!(solution.passes <= 40, "{what}: {} passes", solution.passes);
            });
        }
    }
}

/// The same with fewer features than samples, where the loss decides the weights.
#[test]
fn tall_problems_are_solved() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    let x = Table::random(N, 3, 0.0, &mut rng);
    for p in [2.0, 4.0 / 3.0, 1.1, 1.05, 1.01] {
        for_every_problem(&features(&x, p), &[1e-3, 0.05, 1.9, 30.0, 1e3], |problem, what| {
            let solution = converged(&newton(1e-8), problem);
            assert_certified(problem, &solution, what);
            assert_optimal(problem, &solution, what);
            assert!(solution.passes <= 40, "{what}: {} passes", solution.passes);
        });
    }
}

/// The same from the tensor, stored and not.
#[test]
fn every_problem_is_solved_on_every_route() {
    let (x, _) = data();
    for p in [2.0, 4.0 / 3.0] {
        let (listed, exponent) = (features(&x, p), Exponent::new(p).expect("inside"));
        let stored = Gram::new(x.by_columns(), Linear, exponent, Memory::default()).expect("in range");
        let streamed = Gram::streamed(x.by_columns(), Linear, exponent, Memory::default()).expect("in range");
        for form in [&stored, &streamed] {
            for_every_problem(form, &[1.9], |problem, what| {
                let solution = converged(&newton(1e-10), problem);
                assert_certified(problem, &solution, what);
                let other = DualProblem::new(&listed, problem.loss(), problem.targets(), problem.gamma());
                let other = other.expect("valid").with_sample_weights(problem.sample_weights()).expect("valid");
                let other = if problem.has_intercept() { other.with_intercept().expect("valid") } else { other };
                let expected = Model::new(&listed, &converged(&newton(1e-10), &other));
                Model::new(&listed, &solution).assert_same(&expected, what);
            });
        }
    }
}

/// Whatever the start: one solution, also from the solution itself, which is found at once.
#[test]
fn starts_do_not_change_the_solution() {
    let (x, _) = data();
    let form = features(&x, 1.1);
    for_every_problem(&form, &[1.7], |problem, what| {
        let solution = converged(&newton(1e-12), problem);
        let expected = Model::new(&form, &solution);
        for start in [Start::Ray, Start::At(feasible(problem, &SHARES)), Start::At(solution.alpha.clone())] {
            if let Start::At(alpha) = &start {
                problem.check_start(alpha).expect("feasible");
            }
            let found = converged_from(&newton(1e-12), &start, problem);
            Model::new(&form, &found).assert_same(&expected, &format!("{what} {start:?}"));
        }
    });
}

/// A stopped run answers with the best of its iterates, and the observer sees every iterate once.
#[test]
fn an_observer_can_stop_newton() {
    let (x, _) = data();
    let form = Unlisted::new(features(&x, 1.1));
    for_every_problem(&form, &[5.0], |problem, what| {
        let mut gaps = vec![];
        let mut passes = 0;
        // Without ends and kinks two steps can be all there are.
        let smooth = problem.loss().split() == Split::Smooth || problem.loss().curvature().is_some();
        let last = if smooth { 1 } else { 3 };
        let mut stop = |progress: &Progress| {
            assert!(progress.iteration == gaps.len() && progress.passes > passes && progress.problem == 0, "{what}");
            passes = progress.passes;
            gaps.push(progress.certificate.relative_gap());
            if progress.iteration == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // A tolerance that is never reached.
        let solution = newton(0.0).solve(problem, &mut stop).expect("valid");
        assert_eq!((solution.status, solution.iterations, gaps.len()), (Status::Interrupted, last, last + 1), "{what}");
        assert_eq!(solution.certificate.relative_gap(), gaps.iter().copied().fold(f64::INFINITY, f64::min), "{what}");
        assert_certified(problem, &solution, what);
    });
}

/// A run of Algorithm 3.3 comes to the same solution.
#[test]
fn newton_agrees_with_algorithm_3_3() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        for problem in both(form, loss, y, 1.9) {
            let [first, second] = solvers().map(|solver| Model::new(form, &converged(&*solver, &problem)));
            second.assert_same(&first, loss.name());
        }
    });
}

/// One more sample never asks for half as much memory again, and few features for no n x n numbers.
#[test]
fn memory_has_no_cliff() {
    for (p, features) in [2.0, 1.5].into_iter().flat_map(|p| [50, 3000, 6000].map(|features| (p, features))) {
        let bytes = |samples: usize| {
            let x = FeatureMatrix::from_sparse_columns(samples, features, vec![0; features + 1], vec![], vec![]);
            let form = Features::new(x.expect("no entries"), Exponent::new(p).expect("inside"));
            let (own, step) = Newton::bytes(&form).expect("in range");
            (own + step) as f64
        };
        for samples in (100..6500).step_by(100).flat_map(|n| [n, n + 12, n + 24, n + 96]) {
            let (one, next) = (bytes(samples), bytes(samples + 1));
            assert!(next < 1.5 * one, "{features} features, p = {p}: {one:e} for {samples} samples, then {next:e}");
            let smaller = samples.min(features) as f64;
            let most = 8.0 * (20.0 * samples as f64 * smaller.max(100.0) + 20.0 * (smaller + 600.0).powi(2));
            assert!(p < 2.0 || samples <= 512 || one < most, "{samples} x {features}: {one:e} beside {most:e}");
        }
    }
}
