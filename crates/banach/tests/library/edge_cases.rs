//! Data and parameters at the edge of what is allowed, and past it, through the public interface.

use std::sync::Arc;

use banach::{
    Certificate, DualProblem, Error, Exponent, FeatureMatrix, Loss, Solution, Solver, Status, Stopping, Unobserved,
    data::Scratch,
    form::{Evaluation, Features},
    loss::{Absolute, EpsilonInsensitive, Huber, Logistic, Quantile, Squared, Targets},
    solver::{
        Gradient, Linesearch, ProximalGradient, Rule, Start,
        primal::{Fista, GradientDescent, PrimalProblem},
    },
};

use super::every_loss::{losses, targets};

/// Three samples of four features, column by column.
const X: [f64; 12] = [0.9, -0.4, 0.3, 0.7, -1.1, 0.2, 0.5, 0.8, -0.6, 1.0, -0.3, 0.1];
const Y: [f64; 3] = [1.2, -0.7, 0.4];
const LIMIT: usize = 200;

fn times(c: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| c * v).collect()
}

fn features(columns: &[f64], n: usize, p: f64) -> Features<'_> {
    let matrix = FeatureMatrix::from_columns(n, columns.len() / n, columns).expect("valid");
    Features::new(matrix, Exponent::new(p).expect("inside"))
}

fn solver(max_iterations: usize) -> ProximalGradient {
    // Few trials where the first step is 300 orders of magnitude too long.
    let linesearch = Linesearch { theta: 0.1, ..Linesearch::default() };
    ProximalGradient { stopping: Stopping { tolerance: 1e-8, max_iterations }, linesearch }
}

/// The answer is finite, its certificate is the one of its dual vector, and the status says what the gap says.
fn assert_honest(problem: &DualProblem<'_>, solution: &Solution, what: &str) {
    let Solution { alpha, omega, certificate, status, iterations, .. } = solution;
    let what = format!("{what}: {status:?} after {iterations}, {certificate:?}");
    assert!(alpha.iter().chain(omega).all(|value| value.is_finite()), "{what} {alpha:?} {omega:?}");
    assert!(certificate.gap >= 0.0 && certificate.distance >= 0.0, "{what}");
    assert!(!certificate.primal.is_nan() && !certificate.dual.is_nan(), "{what}");
    assert_eq!(*status == Status::Converged, certificate.relative_gap() <= 1e-8, "{what}");
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(alpha, &mut evaluation, &mut Scratch::new());
    assert_eq!(*omega, evaluation.omegas, "{what}");
    assert_eq!(*certificate, problem.certificate(alpha, &evaluation), "{what}");
}

/// Solves for every loss from both starts; every answer is honest, and comes with its weights.
fn solve_all(columns: &[f64], y: &[f64], p: f64, gamma: f64, limit: usize) -> Vec<(Arc<dyn Loss>, Solution, Vec<f64>)> {
    let form = features(columns, y.len(), p);
    let mut solutions = vec![];
    for start in [Start::Auto, Start::Ray] {
        for loss in losses() {
            let y = targets(&*loss, y);
            let what =
                format!("{loss:?} p = {p}, gamma = {gamma:e}, {start:?}, X[0] = {:e}, y[0] = {:e}", columns[0], y[0]);
            let problem = DualProblem::new(&form, &*loss, &y, gamma).expect(&what);
            let solution = solver(limit).solve_from(&problem, &start, &mut Unobserved).expect(&what);
            assert!(solution.iterations <= limit, "{what}");
            assert_honest(&problem, &solution, &what);
            let weights = form.weights(&solution.alpha);
            assert!(weights.iter().all(|weight| weight.is_finite()), "{what} {weights:?}");
            solutions.push((loss, solution, weights));
        }
    }
    solutions
}

#[test]
fn data_of_every_scale() {
    for p in [2.0, 4.0 / 3.0, 1.05] {
        for (c_x, c_y) in [(1.0, 1.0), (1e-150, 1.0), (1e150, 1.0), (1.0, 1e-150), (1.0, 1e150)] {
            for gamma in [1e-8, 1.0, 1e8] {
                solve_all(&times(c_x, &X), &times(c_y, &Y), p, gamma, LIMIT);
            }
        }
    }
}

/// `X -> c X` with `gamma -> c^-p gamma` is the same problem in other units. For `c = 2^k` the units are exact, and
/// so is the run: the same iterations, and alpha times `c^-p` to the last bit.
fn assert_same_run_in_units(k: i32) {
    for loss in losses() {
        let y = targets(&*loss, &Y);
        let run = |k: i32| {
            let (columns, gamma) = (times(2.0_f64.powi(k), &X), 2.0_f64.powi(-4 * k / 3));
            let form = features(&columns, 3, 4.0 / 3.0);
            let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
            let solution = solver(LIMIT).solve(&problem, &mut Unobserved).expect("valid");
            (times(1.0 / gamma, &solution.alpha), solution.omega, solution.iterations, solution.status)
        };
        assert_eq!(run(k), run(0), "{loss:?} 2^{k}");
    }
}

#[test]
fn units_of_the_data_do_not_matter() {
    for k in [-300, -99, 99, 300] {
        assert_same_run_in_units(k);
    }
}

/// Large units make `||alpha||^2` underflow: `alpha` is of size 2^-640.
#[test]
fn large_units_of_the_data_do_not_matter() {
    assert_same_run_in_units(480);
}

/// Small units make `||alpha||^2` overflow: `alpha` is of size 2^640.
#[test]
fn small_units_of_the_data_do_not_matter() {
    assert_same_run_in_units(-480);
}

#[test]
fn small_and_degenerate_shapes() {
    let zero_column: Vec<f64> = X[..6].iter().copied().chain([0.0; 3]).chain(X[9..].iter().copied()).collect();
    let constant_columns = [0.7, 0.7, 0.7, -0.2, -0.2, -0.2, 0.9, -0.4, 0.3];
    let twins = [0.9, 0.9, 0.3, 0.7, 0.7, 0.2, -0.6, -0.6, 0.1];
    for p in [2.0, 4.0 / 3.0, 1.1] {
        for (name, columns, y) in [
            ("n = 1", &X[..5], &Y[..1]),
            ("d = 1", &X[..3], &Y[..]),
            ("n = d = 1", &X[..1], &Y[..1]),
            ("constant columns", &constant_columns[..], &Y[..]),
            ("a zero column", &zero_column[..], &Y[..]),
            ("zero matrix", &[0.0; 6], &Y[..]),
            ("twins of one target", &twins[..], &[1.2, 1.2, -0.4]),
            ("twins of two targets", &twins[..], &Y[..]),
            ("targets of zero", &X[..], &[0.0; 3]),
        ] {
            for (loss, solution, weights) in solve_all(columns, y, p, 1.0, 5000) {
                let what = format!("{name}, {loss:?} p = {p}: {:?}", solution.certificate);
                // The losses without strong convexity may take the sublinear rate of Theorem 3.6.
                let reached = if loss.has_kinks() { 1e-5 } else { 1e-8 };
                assert!(solution.certificate.relative_gap() <= reached, "{what}");
                let empty =
                    columns.chunks(y.len()).zip(&weights).filter(|(column, _)| column.iter().all(|&x| x == 0.0));
                assert!(empty.into_iter().all(|(_, &weight)| weight == 0.0), "{what} {weights:?}");
                if name.starts_with("twins") {
                    assert_eq!(solution.omega[0], solution.omega[1], "{what}");
                }
                if name == "targets of zero" && loss.targets() == Targets::Real {
                    assert!(
                        solution.iterations == 0 && weights.iter().all(|&weight| weight == 0.0),
                        "{what} {weights:?}"
                    );
                }
                if name == "zero matrix" {
                    assert!((solution.certificate.primal + solution.certificate.dual).abs() <= 1e-8, "{what}");
                }
            }
        }
    }
}

fn refused<T>(result: Result<T, Error>) -> Error {
    result.err().expect("a wrong input is refused")
}

/// A parameter is refused with its name and the value that was got.
fn assert_parameter<T>(result: Result<T, Error>, expected: &str, value: f64) {
    let error = refused(result);
    assert!(
        matches!(&error, Error::Parameter { parameter, got, .. } if parameter.name() == expected && *got == value.to_string()),
        "{error:?}"
    );
}

/// A value of a vector is refused with its index and itself.
fn assert_value<T>(result: Result<T, Error>, expected: &str, at: usize, got: f64) {
    let error = refused(result);
    let same = |value: f64| value == got || value.is_nan() && got.is_nan();
    assert!(
        matches!(error, Error::BadValue { what, row, value, .. } if what == expected && row == at && same(value)),
        "{error:?}"
    );
}

/// A length is refused with the one that fits.
fn assert_shape<T>(result: Result<T, Error>, expected: &str, lengths: (usize, usize)) {
    let error = refused(result);
    assert!(
        matches!(error, Error::Shape { what, got, expected: fits } if what == expected && (got, fits) == lengths),
        "{error:?}"
    );
}

#[test]
fn bad_matrices_are_refused() {
    for (samples, columns) in [(0, 4), (3, 0), (0, 0)] {
        assert_eq!(refused(FeatureMatrix::from_columns(samples, columns, vec![])), Error::Empty { what: "X" });
        assert_eq!(refused(FeatureMatrix::from_rows(samples, columns, &[])), Error::Empty { what: "X" });
        assert_eq!(
            refused(FeatureMatrix::from_sparse_columns(samples, columns, vec![0], vec![], vec![])),
            Error::Empty { what: "X" }
        );
    }
    assert_shape(FeatureMatrix::from_columns(3, 5, &X[..]), "X", (12, 15));
    assert_shape(FeatureMatrix::from_rows(2, 5, &X), "X", (12, 10));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e200] {
        let mut x = X;
        x[7] = bad;
        let sparse = FeatureMatrix::from_sparse_columns(9, 2, vec![0, 1, 3], vec![4, 0, 8], vec![1.0, 2.0, bad]);
        for (result, place) in [
            (FeatureMatrix::from_columns(3, 4, &x[..]), (1, 2)),
            (FeatureMatrix::from_rows(3, 4, &x), (1, 3)),
            (sparse, (8, 1)),
        ] {
            let error = refused(result);
            let found = |value: f64| value == bad || value.is_nan() && bad.is_nan();
            assert!(
                matches!(error, Error::BadEntry { what: "X", row, column, value, .. } if (row, column) == place && found(value)),
                "{error:?}"
            );
        }
    }
    let broken = FeatureMatrix::from_sparse_columns(2, 2, vec![0, 2, 2], vec![1, 0], vec![1.0, 2.0]);
    assert!(matches!(refused(broken), Error::SparseStructure { column: 0, .. }));
}

#[test]
fn parameters_outside_their_range_are_refused() {
    for p in [1.0, 0.99, 2.000_1, -3.0, f64::NAN, f64::INFINITY] {
        assert_parameter(Exponent::new(p), "p", p);
    }
    let form = features(&X, 3, 1.5);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_parameter(DualProblem::new(&form, &Squared, &Y, bad), "gamma", bad);
        assert_parameter(Huber::new(bad), "rho", bad);
        assert_parameter(Quantile::new(bad), "tau", bad);
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_parameter(EpsilonInsensitive::new(bad), "epsilon", bad);
    }
    assert_parameter(Quantile::new(1.0), "tau", 1.0);

    let problem = DualProblem::new(&form, &Squared, &Y, 1.0).expect("valid");
    let primal = PrimalProblem::new(&form, &Squared, &Y, 1.0).expect("valid");
    for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
        let stopping = Stopping { tolerance, max_iterations: 5 };
        let proximal = ProximalGradient { stopping, ..ProximalGradient::default() };
        assert_parameter(proximal.solve(&problem, &mut Unobserved), "tolerance", tolerance);
        let gradient = Gradient { stopping, ..Gradient::default() };
        assert_parameter(gradient.solve(&problem, &mut Unobserved), "tolerance", tolerance);
        assert_parameter(
            Fista { stopping, ..Fista::default() }.solve(&primal, &mut Unobserved),
            "tolerance",
            tolerance,
        );
        let descent = GradientDescent { stopping, ..GradientDescent::default() };
        assert_parameter(descent.solve(&primal, &mut Unobserved), "tolerance", tolerance);
    }
    let assert_linesearch = |linesearch: Linesearch, name, value| {
        let proximal = ProximalGradient { linesearch, ..ProximalGradient::default() };
        assert_parameter(proximal.solve(&problem, &mut Unobserved), name, value);
        let gradient = Gradient { linesearch, ..Gradient::default() };
        assert_parameter(gradient.solve(&problem, &mut Unobserved), name, value);
        let descent = GradientDescent { linesearch, ..GradientDescent::default() };
        assert_parameter(descent.solve(&primal, &mut Unobserved), name, value);
    };
    for bad in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
        assert_linesearch(Linesearch { delta: bad, ..Linesearch::default() }, "delta", bad);
        assert_linesearch(Linesearch { theta: bad, ..Linesearch::default() }, "theta", bad);
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_linesearch(Linesearch { lambda_bar: Some(bad), ..Linesearch::default() }, "lambda_bar", bad);
    }
}

/// Algorithm 2.1 `[algo:main]`: the squared loss only, and `lambda_bar < gamma/(2(1-delta))` for the smallest gamma.
#[test]
fn algorithm_2_1_keeps_its_conditions() {
    let form = features(&X, 3, 1.5);
    for loss in losses() {
        let y = targets(&*loss, &Y);
        let problem = DualProblem::new(&form, &*loss, &y, 1.0).expect("valid");
        match Gradient::default().solve(&problem, &mut Unobserved) {
            Ok(solution) => assert_eq!((loss.name(), solution.status), ("squared", Status::Converged)),
            Err(Error::Unsupported { loss: refused, .. }) => assert!(refused == loss.name() && refused != "squared"),
            Err(error) => panic!("{error:?}"),
        }
    }
    let problem = DualProblem::new(&form, &Squared, &Y, 2.0)
        .expect("valid")
        .with_sample_weights(&[1.0, 0.5, 0.0])
        .expect("valid");
    for delta in [0.2, 0.5, 0.9] {
        let limit = 1.0 / (2.0 * (1.0 - delta));
        let gradient = |lambda_bar| {
            let linesearch = Linesearch { rule: Rule::Monotone, delta, theta: 0.5, lambda_bar: Some(lambda_bar) };
            Gradient { linesearch, ..Gradient::default() }.solve(&problem, &mut Unobserved)
        };
        for lambda_bar in [limit, 2.0 * limit] {
            assert_eq!(refused(gradient(lambda_bar)), Error::StepLimit { lambda_bar, limit });
        }
        assert_eq!(gradient(0.999 * limit).expect("valid").status, Status::Converged);
    }
}

#[test]
fn bad_targets_and_weights_are_refused() {
    let form = features(&X, 3, 1.5);
    for loss in losses() {
        let y = targets(&*loss, &Y);
        let with = |y: &[f64]| DualProblem::new(&form, &*loss, y, 1.0).map(|_| ());
        assert_shape(with(&y[..2]), "y", (2, 3));
        assert_shape(with(&[]), "y", (0, 3));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e200] {
            assert_value(with(&[y[0], y[1], bad]), "y", 2, bad);
        }
        if loss.targets() == Targets::Counts {
            assert_value(with(&[y[0], -1.0, y[2]]), "y", 1, -1.0);
        }
        if loss.targets() == Targets::Signs {
            for bad in [0.0, 0.5, 2.0, 1.0 + f64::EPSILON] {
                assert_value(with(&[y[0], bad, y[2]]), "y", 1, bad);
            }
        }
        let problem = DualProblem::new(&form, &*loss, &y, 1.0).expect("valid");
        let weighted = |weights: &[f64]| problem.clone().with_sample_weights(weights).map(|_| ());
        assert_shape(weighted(&[1.0; 4]), "sample_weight", (4, 3));
        for bad in [-1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_value(weighted(&[1.0, bad, 1.0]), "sample_weight", 1, bad);
        }
        let nothing = weighted(&[0.0; 3]).expect_err("no weight").to_string();
        assert!(
            nothing.contains("the largest of the 3 weights is 0e0") && nothing.contains("give at least"),
            "{nothing}"
        );
        assert!(weighted(&[0.0, 0.0, 1.0]).is_ok());
    }
    let y = [1.0, 1e160, 1.0];
    assert!(matches!(refused(DualProblem::new(&form, &Squared, &y, 1.0)), Error::Overflow { value: f64::INFINITY }));
    assert!(DualProblem::new(&form, &Absolute, &y, 1.0).is_ok());
}

/// Weights that vanish when they are multiplied by gamma leave no sample, like weights of zero.
#[test]
fn weights_that_underflow_are_refused() {
    let form = features(&X, 3, 1.5);
    let problem = DualProblem::new(&form, &Squared, &Y, 1e-200).expect("valid");
    let error = refused(problem.with_sample_weights(&[1e-200; 3]));
    assert!(matches!(error, Error::NoWeight { samples: 3, largest: 1e-200, gamma: 1e-200 }), "{error:?}");
}

#[test]
fn bad_starts_are_refused() {
    let form = features(&X, 3, 1.5);
    for loss in losses() {
        let y = targets(&*loss, &Y);
        let gamma = 0.5;
        let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
        let from = |alpha: &[f64]| solver(5).solve_from(&problem, &Start::At(alpha.to_vec()), &mut Unobserved);
        // Counts of 0 are an end.
        let below = if loss.targets() == Targets::Counts { 1e-3 } else { 0.0 };
        let inside: Vec<f64> = y.iter().map(|y| 1e-3 * gamma * (y - below)).collect();
        assert!(from(&inside).is_ok(), "{loss:?}");
        assert_shape(from(&inside[..2]), "alpha_0", (2, 3));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_value(from(&[inside[0], bad, inside[2]]), "alpha_0", 1, bad);
        }
        let (lower, upper) = loss.domain(y[2]);
        for end in [lower, upper].into_iter().filter(|end| end.is_finite()) {
            let outside = gamma * (end + 0.01 * if end == lower { -1.0 } else { 1.0 });
            assert_value(from(&[inside[0], inside[1], outside]), "alpha_0", 2, outside);
            // The ends themselves are outside for the logistic and the Poisson loss only, whose slopes are infinite there.
            let at_end = from(&[inside[0], inside[1], gamma * end]);
            assert_eq!(at_end.is_err(), ["logistic", "poisson"].contains(&loss.name()), "{loss:?} {end}: {at_end:?}");
        }
        let weighted = problem.clone().with_sample_weights(&[1.0, 0.0, 1.0]).expect("valid");
        let present = solver(5).solve_from(&weighted, &Start::At(inside.clone()), &mut Unobserved);
        assert_value(present, "alpha_0", 1, inside[1]);
    }
}

/// `alpha_0` with an infinite Q: finite, and in the domain of the loss, but not in that of Lambda.
#[test]
fn starts_with_an_infinite_value_are_refused() {
    for (p, size) in [(1.5, 1e300), (1.001, 50.0)] {
        let alpha = times(size, &Y);
        let form = features(&X, 3, p);
        let problem = DualProblem::new(&form, &Squared, &Y, 1.0).expect("valid");
        assert_value(
            solver(5).solve_from(&problem, &Start::At(alpha.clone()), &mut Unobserved),
            "alpha_0",
            0,
            alpha[0],
        );
    }
}

/// A logistic problem whose best point on the ray is below the smallest number.
#[test]
fn starts_that_underflow_are_refused() {
    let x = times(1e180, &X);
    let form = features(&x, 3, 2.0);
    let problem = DualProblem::new(&form, &Logistic, &[1.0, -1.0, 1.0], 1e-30).expect("valid");
    let error = refused(solver(5).solve(&problem, &mut Unobserved));
    assert!(matches!(error, Error::NoStart { t } if t < 1e-300), "{error:?}");
}

/// Targets so small that their squares vanish would make every answer look perfect.
#[test]
fn objectives_that_underflow_are_refused() {
    let form = features(&X, 3, 2.0);
    for size in [1e-161, 1e-170, 1e-300] {
        let error = refused(DualProblem::new(&form, &Squared, &times(size, &Y), 1.0));
        assert!(matches!(error, Error::Underflow { .. }), "{error:?}");
    }
    assert!(DualProblem::new(&form, &Squared, &[0.0; 3], 1.0).is_ok(), "no target, no loss");
}

/// The primal baselines where their plain numbers overflow, and a search whose steps hardly shrink: a run ends, with
/// a certificate that is not NaN and claims nothing.
#[test]
fn baselines_and_slow_searches_end() {
    for (c_x, c_y) in [(1e155, 1.0), (1e160, 1.0), (1e199, 1e-100), (1e100, 1e100)] {
        for p in [2.0, 1.5] {
            let x = times(c_x, &X);
            let form = features(&x, 3, p);
            let y = times(c_y, &Y);
            let problem = PrimalProblem::new(&form, &Squared, &y, 1.0).expect("valid");
            let stopping = Stopping { tolerance: 1e-8, max_iterations: 20 };
            let descent = GradientDescent { stopping, ..GradientDescent::default() };
            for solution in [
                Fista { stopping, ..Fista::default() }.solve(&problem, &mut Unobserved),
                descent.solve(&problem, &mut Unobserved),
            ] {
                let solution = solution.expect("valid");
                let Certificate { primal, dual, gap, distance } = solution.certificate;
                assert!(
                    [primal, dual, gap, distance].iter().all(|number| !number.is_nan()),
                    "{:?}",
                    solution.certificate
                );
                assert!(solution.weights.iter().all(|weight| weight.is_finite()), "{:?}", solution.weights);
                assert_ne!(solution.status, Status::Converged, "{c_x:e} {c_y:e} {p}: {:?}", solution.certificate);
            }
        }
    }
    let form = features(&X, 3, 1.1);
    for theta in [0.999, 0.999_999_999_999_999_9] {
        let linesearch = Linesearch { theta, ..Linesearch::default() };
        let problem = DualProblem::new(&form, &Squared, &Y, 1e6).expect("valid");
        let solver = ProximalGradient { linesearch, ..solver(3) };
        let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
        assert!(matches!(solution.status, Status::Stalled | Status::IterationLimit), "{:?}", solution.status);
    }
}
