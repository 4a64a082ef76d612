//! Laws of batches: problems in lockstep are the problems one by one.

use super::*;
use crate::{
    Memory,
    form::Gram,
    kernel::Linear,
    loss::{Absolute, Hinge, Huber, Logistic},
};

/// Problems of several losses, gammas, folds and classes over one form.
fn mixed<'a>(form: &'a dyn QForm, losses: &'a [Box<dyn Loss>], y: &'a [Vec<f64>]) -> Vec<DualProblem<'a>> {
    let mut problems = vec![];
    for (k, (loss, y)) in losses.iter().zip(y).enumerate() {
        for (gamma, held_out) in [(0.1, 1), (1.9, 4), (20.0, 6)] {
            let weights: Vec<f64> = (0..N).map(|i| if i == held_out { 0.0 } else { [1.0, 0.5, 2.0][i % 3] }).collect();
            let problem = problem(form, &**loss, y, gamma * (1.0 + k as f64));
            let problem = if k % 2 == 0 { problem } else { problem.with_intercept().expect("two classes") };
            problems.push(problem.with_sample_weights(&weights).expect("two classes"));
        }
    }
    problems
}

fn losses() -> (Vec<Box<dyn Loss>>, Vec<Vec<f64>>) {
    let losses: Vec<Box<dyn Loss>> = vec![
        Box::new(Squared),
        Box::new(Squared),
        Box::new(Absolute),
        Box::new(Huber::new(0.7).expect("valid")),
        Box::new(Logistic),
        Box::new(Logistic),
        Box::new(Hinge),
        Box::new(Hinge),
    ];
    let (_, values) = data();
    // Every second problem of a loss has the classes, or the outputs, the other way round.
    let y = losses.iter().enumerate().map(|(k, loss)| {
        let sign = if k % 4 < 2 { 1.0 } else { -1.0 };
        targets(&**loss, &values.iter().map(|y| sign * (y + 0.2 * k as f64)).collect::<Vec<_>>())
    });
    let y = y.collect();
    (losses, y)
}

fn assert_same(found: &Solution, expected: &Solution, what: &str) {
    let size = expected.alpha.iter().fold(0.0, |size: f64, alpha| size.max(alpha.abs()));
    for (a, b) in found.alpha.iter().zip(&expected.alpha) {
        assert!((a - b).abs() <= 1e-10 * size, "{what}: {a} {b}");
    }
    let size = expected.omega.iter().fold(1.0, |size: f64, omega| size.max(omega.abs()));
    for (a, b) in found.omega.iter().zip(&expected.omega) {
        assert!((a - b).abs() <= 1e-9 * size, "{what}: {a} {b}");
    }
    assert_eq!((found.status, found.iterations, found.passes), (expected.status, expected.iterations, expected.passes));
}

/// The same alphas to 1e-10, after as many iterations, on every route; held-out samples are predicted alike.
#[test]
fn a_batch_is_its_problems() {
    let (x, _) = data();
    let (losses, y) = losses();
    for p in [2.0, 4.0 / 3.0, 1.1] {
        let (listed, exponent) = (features(&x, p), Exponent::new(p).expect("inside"));
        let gram = Gram::new(x.by_columns(), Linear, exponent, Memory::default()).ok();
        let forms = [Some(&listed as &dyn QForm), gram.as_ref().map(|gram| gram as &dyn QForm)];
        for form in forms.into_iter().flatten() {
            let problems = mixed(form, &losses, &y);
            let starts = vec![Start::Auto; problems.len()];
            let together = newton(1e-9).solve_all(&problems, &starts, &mut Unobserved).expect("valid");
            for (k, (problem, found)) in problems.iter().zip(&together).enumerate() {
                let alone = converged(&newton(1e-9), problem);
                assert_same(found, &alone, &format!("{k} {:?} p = {p} {form:?}", problem.loss()));
            }
        }
    }
}

/// The observer sees every iterate of every problem under its number; a stop ends those that are still running.
#[test]
fn batches_can_be_watched_and_stopped() {
    let (x, _) = data();
    let (losses, y) = losses();
    let form = features(&x, 1.1);
    let problems = mixed(&form, &losses, &y);
    let starts = vec![Start::Auto; problems.len()];
    let mut seen = vec![0; problems.len()];
    let mut watch = |progress: &Progress| {
        assert_eq!(progress.iteration, seen[progress.problem]);
        seen[progress.problem] += 1;
        ControlFlow::Continue(())
    };
    let solutions = newton(1e-9).solve_all(&problems, &starts, &mut watch).expect("valid");
    assert!(solutions.iter().zip(&seen).all(|(solution, seen)| solution.iterations + 1 == *seen));

    let mut stop = |progress: &Progress| {
        if progress.iteration == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = newton(1e-9).solve_all(&problems, &starts, &mut stop).expect("valid");
    assert!(stopped.iter().any(|solution| solution.status == Status::Interrupted));
    for ((problem, stopped), complete) in problems.iter().zip(&stopped).zip(&solutions) {
        assert!(matches!(stopped.status, Status::Interrupted | Status::Converged), "{:?}", stopped.status);
        let converged = stopped.certificate.relative_gap() <= 1e-9;
        assert_eq!(stopped.status == Status::Converged, converged, "{:?}", problem.loss());
        assert!(stopped.iterations <= complete.iterations.min(5) && stopped.certificate.gap.is_finite());
    }
    assert!(newton(1e-9).solve_all(&[], &[], &mut Unobserved).expect("nothing to do").is_empty());
}

/// Warm starts along a path end where separate fits do.
#[test]
fn a_path_is_its_fits() {
    let (x, y) = data();
    for p in [4.0 / 3.0, 1.1] {
        let form = features(&x, p);
        for loss in all() {
            let y = targets(&*loss, &y);
            // At the largest gamma, beside a kink, what rounding may do to predictions is 1e-11 of the objective.
            let solver = newton(if loss.has_kinks() { 2e-11 } else { 1e-12 });
            for problem in both(&form, &*loss, &y, 1.0) {
                let grid = GammaGrid::from_data(&problem, 6).expect("in range");
                let path = path(&problem, &grid, &solver, &mut Unobserved).expect("valid");
                for (&gamma, warm) in path.gammas.iter().zip(&path.solutions) {
                    let cold = converged(&solver, &problem.with_gamma(gamma).expect("valid"));
                    let what = format!("{loss:?} p = {p}, gamma = {gamma}");
                    assert_eq!(warm.status, Status::Converged, "{what}: {:?}", warm.certificate);
                    Model::new(&form, warm).assert_same(&Model::new(&form, &cold), &what);
                }
            }
        }
    }
}
