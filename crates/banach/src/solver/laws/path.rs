//! Laws of grids of gamma and of the paths along them.

use super::{unlisted::Unlisted, *};
use crate::{
    loss::{Absolute, Logistic, Split, Targets},
    solver::KnownPoint,
};

/// Steps in which problems with few features end, for losses without ends and kinks.
const MOST_STEPS_OF_FEW_FEATURES: usize = 12;

/// More features than samples.
fn wide() -> (Table, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let x = Table::random(N, 60, 0.0, &mut rng);
    let y = (0..N).map(|i| 2.0 * x.columns[i] - x.columns[N + i] + 0.7 + 0.3 * rng.random_range(-1.0..1.0)).collect();
    (x, y)
}

fn multiplied(x: &Table, factor: f64) -> Table {
    Table { columns: x.columns.iter().map(|x| factor * x).collect(), ..*x }
}

fn with_and_without<'a>(form: &'a dyn QForm, loss: &'a dyn Loss, y: &'a [f64]) -> [DualProblem<'a>; 2] {
    let plain = problem(form, loss, y, 1.0);
    [plain.clone(), plain.with_intercept().expect("both classes")]
}

/// The loss of the predictions with their intercept, at the unit gamma.
fn loss_of(problem: &DualProblem<'_>, omega: &[f64], intercept: f64) -> f64 {
    let samples = problem.targets().iter().zip(problem.sample_weights()).zip(omega);
    samples.map(|((&y, weight), omega)| weight * problem.loss().value(y, omega + intercept)).sum()
}

/// Fewer features than samples: their own method follows the solution for the gamma before, and takes no more steps than from a start
/// of its own. Steps that lead nowhere are given up after 30.
#[test]
fn warm_starts_on_few_features_take_few_steps() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let x = Table::random(N, 4, 0.0, &mut rng);
    let y: Vec<f64> =
        (0..N).map(|i| 2.0 * x.columns[i] - x.columns[N + i] + 0.7 + 0.3 * rng.random_range(-1.0..1.0)).collect();
    for p in [2.0, 1.5, 4.0 / 3.0, 1.1] {
        let form = features(&x, p);
        for loss in all().into_iter().filter(|loss| loss.split() == Split::Smooth) {
            let y = targets(&*loss, &y);
            for problem in with_and_without(&form, &*loss, &y) {
                let grid = GammaGrid::from_data(&problem, 7).expect("in range");
                let path = path(&problem, &grid, &newton(1e-8), &mut Unobserved).expect("valid");
                for found in &path.solutions {
                    let what = format!("p = {p}, {loss:?}, intercept {}", problem.has_intercept());
                    assert_eq!(found.status, Status::Converged, "{what}");
                    assert!(found.iterations <= MOST_STEPS_OF_FEW_FEATURES, "{what}: {} iterations", found.iterations);
                }
            }
        }
    }
}

/// Where local models lead the way, what is known at a solution is the start for the next gamma, which then takes no pass, and the
/// solutions are those from starts of their own. A solver that keeps nothing takes more passes.
#[test]
fn what_is_known_is_a_start_without_a_pass() {
    let (x, y) = wide();
    for p in [1.15, 1.1, 1.05] {
        let form = Unlisted::new(features(&x, p));
        for loss in all().into_iter().filter(|loss| loss.split() == Split::Smooth || loss.curvature().is_some()) {
            let y = targets(&*loss, &y);
            for problem in with_and_without(&form, &*loss, &y) {
                let what = format!("p = {p}, {loss:?}, intercept {}", problem.has_intercept());
                let solver = newton(1e-11);
                let (problem, next) =
                    (problem.with_gamma(2.0).expect("in range"), problem.with_gamma(3.0).expect("in range"));
                let start = |problem: &DualProblem<'_>, start: Start| {
                    let (solution, known) = solver
                        .solve_on(std::slice::from_ref(problem), vec![start], &mut Unobserved)
                        .expect("valid")
                        .swap_remove(0);
                    assert_eq!(solution.status, Status::Converged, "{what}");
                    (solution, known)
                };
                let (first, known) = start(&problem, Start::Auto);
                let known = known.expect("a local model");
                // Nothing is left to do, and Q is known.
                let (again, _) = start(&problem, Start::Known(Box::new(known.clone())));
                assert_eq!((again.passes, again.iterations), (0, 0), "{what}");
                let alike = |found: &Solution, expected: &Solution, accuracy: f64| {
                    let size = expected.alpha.iter().fold(0.0, |size: f64, alpha| size.max(alpha.abs()));
                    for (a, b) in found.alpha.iter().zip(&expected.alpha) {
                        assert!((a - b).abs() <= accuracy * size, "{what}: {a} {b}");
                    }
                };
                alike(&again, &first, 1e-9);
                let forgotten = KnownPoint { expansion: None, ..known.clone() };
                let [(cold, _), (warm, _), (led, _)] =
                    [Start::Auto, Start::Known(Box::new(forgotten)), Start::Known(Box::new(known))]
                        .map(|from| start(&next, from));
                assert!(led.passes < cold.passes, "{what}: {} passes", led.passes);
                // What was not kept costs a pass, and nothing else is different but rounding.
                assert_eq!(led.passes + 1, warm.passes, "{what}");
                alike(&led, &warm, 1e-9);
                alike(&led, &cold, 1e-4);
            }
        }
    }
}

/// The theorem of the rule: at every gamma the solution explains at most the share `(gamma/gamma_c)^(q-1)`. And the
/// grid does what it is for: from little explained to nearly all.
#[test]
fn explained_shares() {
    let (x, y) = wide();
    for p in [2.0, 1.5, 4.0 / 3.0, 1.1] {
        let form = features(&x, p);
        for loss in all() {
            let y = targets(&*loss, &y);
            for problem in with_and_without(&form, &*loss, &y) {
                let knee = GammaGrid::knee(&problem).expect("in range");
                let grid = GammaGrid::from_data(&problem, 7).expect("in range");
                let solver = proximal_gradient(1e-6, 2000);
                let path = path(&problem, &grid, &solver, &mut Unobserved).expect("valid");
                let zeros = vec![0.0; N];
                let null = loss_of(&problem, &zeros, problem.intercept(&zeros));
                let explained =
                    path.solutions.iter().map(|found| 1.0 - loss_of(&problem, &found.omega, found.intercept) / null);
                let explained: Vec<f64> = explained.collect();
                let what = format!("p = {p}, {loss:?}, intercept {}: {explained:?}", problem.has_intercept());
                for ((gamma, explained), solution) in grid.values().iter().zip(&explained).zip(&path.solutions) {
                    let limit = (gamma / knee).powf(form.exponent().q() - 1.0);
                    // What the gap leaves open, in units of the loss.
                    let open = solution.certificate.gap / gamma / null;
                    assert!(*explained <= limit + open.sqrt() + 1e-9, "{what}: {limit} at {gamma}");
                }
                assert!(explained[0] <= 0.1001, "{what}");
                assert!(explained[6] >= 0.99, "{what}");
            }
        }
    }
}

/// As p -> 1 the knee is where the lasso's weights leave zero: at `1/max_k |<phi_k, y>|` for the squared loss.
#[test]
fn the_lasso_limit() {
    let (x, y) = wide();
    let largest = x.columns.chunks(N).map(|phi| phi.iter().zip(&y).map(|(phi, y)| phi * y).sum::<f64>().abs());
    let lasso = 1.0 / largest.fold(0.0, f64::max);
    for (p, tolerance) in [(1.01, 0.1), (1.001, 0.01)] {
        let form = features(&x, p);
        let knee = GammaGrid::knee(&problem(&form, &Squared, &y, 1.0)).expect("in range");
        assert!((knee / lasso).ln().abs() <= tolerance, "{p}: {knee} {lasso}");
    }
}

/// With `X -> c X` the grid is multiplied by `c^-p`; with `y -> c y` by `c^(p-2)` for the squared loss and by `c^(p-1)`
/// for the absolute one; weights multiplied by c divide it by c; the problem's own gamma does not count.
#[test]
fn units() {
    let (x, y) = wide();
    let assert_ratio = |a: f64, b: f64, what: &str| assert!((a / b).ln().abs() <= 1e-9, "{what}: {a} {b}");
    for p in [2.0, 4.0 / 3.0, 1.05, 1.01] {
        let form = features(&x, p);
        for loss in all() {
            let signs = targets(&*loss, &y);
            for problem in with_and_without(&form, &*loss, &signs) {
                let knee = |problem: &DualProblem<'_>| GammaGrid::knee(problem).expect("in range");
                let what = format!("p = {p} {loss:?}");
                assert_ratio(knee(&problem.with_gamma(1e-3).expect("valid")), knee(&problem), &what);
                let heavy = problem.clone().with_sample_weights(&[7.0; N]).expect("valid");
                assert_ratio(knee(&heavy), knee(&problem) / 7.0, &what);
                for factor in [1e-100_f64, 3.0, 1e100] {
                    let scaled = multiplied(&x, factor);
                    let scaled = features(&scaled, p);
                    let again = super::problem(&scaled, &*loss, &signs, 1.0);
                    let again = if problem.has_intercept() { again.with_intercept().expect("valid") } else { again };
                    assert_ratio(knee(&again), knee(&problem) * factor.powf(-p), &what);
                }
            }
        }
        for (loss, power) in [(&Squared as &dyn Loss, p - 2.0), (&Absolute, p - 1.0)] {
            let scaled: Vec<f64> = y.iter().map(|y| 1e60 * y).collect();
            let scaled =
                with_and_without(&form, loss, &scaled).map(|problem| GammaGrid::knee(&problem).expect("in range"));
            let plain = with_and_without(&form, loss, &y).map(|problem| GammaGrid::knee(&problem).expect("in range"));
            for (scaled, plain) in scaled.into_iter().zip(plain) {
                assert_ratio(scaled, plain * 1e60_f64.powf(power), &format!("p = {p} {loss:?}"));
            }
        }
    }
}

/// No gamma changes a model without loss or without features; then the problem's own gamma is as good as any.
#[test]
fn no_knee() {
    let (x, _) = wide();
    let form = features(&x, 1.5);
    let zero = multiplied(&x, 0.0);
    let blind = features(&zero, 1.5);
    let constant = [2.0; N];
    let cases = [
        problem(&form, &Squared, &[0.0; N], 3.0),
        problem(&form, &Squared, &constant, 3.0).with_intercept().expect("valid"),
        problem(&form, &Absolute, &constant, 3.0).with_intercept().expect("valid"),
        problem(&blind, &Squared, &constant, 3.0),
    ];
    for problem in cases {
        let knee = GammaGrid::knee(&problem).expect("in range");
        assert!((knee - 3.0).abs() <= 1e-12, "{problem:?}: {knee}");
        let path = path(
            &problem,
            &GammaGrid::from_data(&problem, 3).expect("valid"),
            &proximal_gradient(1e-8, 100),
            &mut Unobserved,
        );
        let path = path.expect("valid");
        assert!(path.solutions.iter().all(|solution| solution.status == Status::Converged), "{path:?}");
    }
}

#[test]
fn wrong_grids_are_refused() {
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(GammaGrid::new(vec![1.0, wrong]), Err(Error::Parameter { parameter: Parameter::Gamma, .. })));
    }
    assert_eq!(GammaGrid::new(vec![]), Err(Error::Empty { what: "the list of gammas" }));
    assert_eq!(GammaGrid::new(vec![3.0, 1.0, 3.0]).expect("valid").values(), [1.0, 3.0]);
    let (x, y) = wide();
    let form = features(&x, 2.0);
    let one = problem(&form, &Squared, &y, 1.0);
    assert!(GammaGrid::from_data(&one, 0).is_err());
    assert_eq!(GammaGrid::from_data(&one, 1).expect("valid").values().len(), 1);
    for (share, factor) in [(0.0, 2.0), (1.1, 2.0), (f64::NAN, 2.0), (0.5, 0.9), (0.5, f64::INFINITY), (0.5, f64::NAN)]
    {
        assert!(GammaGrid::around_knee(&one, share, factor, 3).is_err(), "{share} {factor}");
    }
    // The scale of the data asks for gamma = 1e-400.
    let huge = multiplied(&x, 1e199);
    let form = features(&huge, 2.0);
    let refused = GammaGrid::from_data(&problem(&form, &Squared, &y, 1.0), 3);
    assert!(matches!(refused, Err(Error::GammaRange { log10 }) if log10 < -390.0), "{refused:?}");
}

/// Warm starts change the way, not the end; and they make it shorter.
#[test]
fn a_path_is_its_fits() {
    let (x, y) = wide();
    for p in [2.0, 1.2] {
        let form = features(&x, p);
        for loss in all().into_iter().filter(|loss| p == 1.2 || loss.targets() == Targets::Real) {
            let y = targets(&*loss, &y);
            let weights: Vec<f64> = (0..N).map(|i| if i == 2 { 0.0 } else { 1.0 + i as f64 / 8.0 }).collect();
            let problem = problem(&form, &*loss, &y, 1.0).with_sample_weights(&weights).expect("valid");
            let grid = GammaGrid::from_data(&problem, 8).expect("in range");
            let solver = proximal_gradient(1e-9, 50_000);
            let path = path(&problem, &grid, &solver, &mut Unobserved).expect("valid");
            let mut iterations = [0, 0];
            for (&gamma, warm) in path.gammas.iter().zip(&path.solutions) {
                let cold = converged(&solver, &problem.with_gamma(gamma).expect("valid"));
                let what = format!("p = {p} {loss:?} {gamma}");
                assert_eq!(warm.status, Status::Converged, "{what}");
                let size = cold.certificate.primal.abs().max(cold.certificate.dual.abs());
                assert!((warm.certificate.primal - cold.certificate.primal).abs() <= 1e-8 * size, "{what}");
                assert!((warm.certificate.dual - cold.certificate.dual).abs() <= 1e-8 * size, "{what}");
                iterations = [iterations[0] + warm.iterations, iterations[1] + cold.iterations];
            }
            assert!(iterations[0] <= iterations[1], "p = {p} {loss:?}: {iterations:?}");
        }
    }
}

/// Coarse, uneven and extreme grids: every start is admissible.
#[test]
fn any_grid_can_be_followed() {
    let (x, y) = wide();
    for p in [2.0, 1.1, 1.01, 1.002] {
        let form = features(&x, p);
        for loss in all() {
            let y = targets(&*loss, &y);
            for problem in with_and_without(&form, &*loss, &y) {
                let gammas = vec![1e-30, 1e-3, 0.0011, 0.9, 0.900_000_000_000_000_1, 1e4, 1e4 + 1e-9, 1e60];
                let grid = GammaGrid::new(gammas).expect("valid");
                let path = path(&problem, &grid, &proximal_gradient(1e-8, 20), &mut Unobserved).expect("valid");
                assert_eq!(path.solutions.len(), grid.values().len());
            }
        }
    }
}

/// After a stop every gamma still has a dual vector with its certificate.
#[test]
fn a_path_can_be_stopped() {
    let (x, y) = wide();
    let form = features(&x, 1.5);
    let signs = targets(&Logistic, &y);
    let problems = with_and_without(&form, &Logistic, &signs);
    let grid = GammaGrid::from_data(&problems[0], 6).expect("in range");
    let mut stop = |progress: &Progress| match progress.problem {
        5 => ControlFlow::Break(()),
        later => {
            assert!(later < 5);
            ControlFlow::Continue(())
        }
    };
    let paths = path_all(&problems, &grid, &proximal_gradient(1e-8, 1000), &mut stop).expect("valid");
    let statuses = |path: &Path| path.solutions.iter().map(|s| s.status == Status::Converged).collect::<Vec<_>>();
    assert_eq!(statuses(&paths[0]), [true, true, true, false, false, false]);
    assert_eq!(statuses(&paths[1]), [true, true, false, false, false, false]);
    for (path, problem) in paths.iter().zip(&problems) {
        for (gamma, solution) in path.gammas.iter().zip(&path.solutions) {
            let (_, _, certificate) = evaluated(&problem.with_gamma(*gamma).expect("valid"), &solution.alpha);
            assert_eq!(certificate, solution.certificate);
        }
    }
}
