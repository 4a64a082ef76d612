//! Ridge regression, p = 2 with the squared loss, against one Cholesky factorisation.
//!
//! At the solution `omega = X X' alpha` and `alpha_i = gamma_i (y_i - omega_i)`, a linear system. With
//! `alpha = D beta` and `D = diag(sqrt(gamma_i))` it reads `(D X X' D + I) beta = D y`, which holds for
//! samples of weight 0 as well. An intercept without penalty leaves the same problem for columns and targets from their
//! means.

use banach::{
    DualProblem, Exponent, FeatureMatrix, Newton, Solver, Status, Stopping, Unobserved,
    form::Features,
    loss::Squared,
    solver::{Gradient, ProximalGradient},
};
use faer::{Mat, Side, prelude::Solve};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const GAMMAS: [f64; 2] = [0.2, 5.0];

/// The gap has no cancellation, so that it can ask for all digits of alpha.
const STOPPING: Stopping = Stopping { tolerance: 1e-24, max_iterations: 100_000 };

/// With an intercept the gap holds what rounding leaves of the sum of alpha.
const STOPPING_WITH_INTERCEPT: Stopping = Stopping { tolerance: 1e-15, max_iterations: 100_000 };

#[test]
fn fewer_samples_than_features() {
    agrees(5, 12);
}

#[test]
fn more_samples_than_features() {
    agrees(12, 5);
}

#[test]
fn as_many_samples_as_features() {
    agrees(6, 6);
}

#[test]
fn many_blocks_of_features() {
    agrees(4, 2500);
}

#[test]
fn one_sample() {
    agrees(1, 7);
}

#[test]
fn one_feature() {
    agrees(7, 1);
}

#[test]
fn one_number() {
    agrees(1, 1);
}

/// Newton's method and both algorithms of the paper agree with the factorisation, on dense and on sparse storage, with equal
/// and with unequal weights.
fn agrees(samples: usize, features: usize) {
    let (x, y) = random_data(samples, features);
    let weights: Vec<f64> = (0..samples).map(|i| [1.0, 0.3, 2.0, 0.0][i % 4]).collect();
    let solvers: [(&str, &dyn Solver); 3] = [
        ("newton", &Newton { stopping: STOPPING, ..Newton::default() }),
        ("gradient", &Gradient { stopping: STOPPING, ..Gradient::default() }),
        ("proximal gradient", &ProximalGradient { stopping: STOPPING, ..ProximalGradient::default() }),
    ];
    for (storage, matrix) in [("dense", dense(&x)), ("sparse", sparse(&x))] {
        let form = Features::new(matrix, Exponent::new(2.0).expect("valid"));
        for (gamma, weights) in GAMMAS.iter().flat_map(|&gamma| [(gamma, vec![1.0; samples]), (gamma, weights.clone())])
        {
            let exact = Ridge::solve(&x, &y, &weights.iter().map(|weight| gamma * weight).collect::<Vec<_>>());
            let problem = DualProblem::new(&form, &Squared, &y, gamma).expect("valid");
            let problem = problem.with_sample_weights(&weights).expect("valid");
            with_intercept_agrees(&x, &form, &problem);
            for (name, solver) in solvers {
                let case = format!("{name}, {storage} {samples} x {features}, gamma={gamma} weights={weights:?}");
                let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
                assert_eq!(solution.status, Status::Converged, "{case}: {:?}", solution.certificate);
                assert_close(&solution.alpha, &exact.alpha, 1e-8, &format!("alpha, {case}"));
                assert_close(&solution.omega, &exact.omega, 1e-8, &format!("omega, {case}"));
                let weights = form.weights(&solution.alpha);
                assert_close(&weights, &exact.weights, 1e-8, &format!("w, {case}"));
            }
        }
    }
}

fn with_intercept_agrees(x: &Mat<f64>, form: &Features<'_>, problem: &DualProblem<'_>) {
    let (y, gammas) = (problem.targets(), problem.gammas());
    let mean = |v: &dyn Fn(usize) -> f64| {
        gammas.iter().enumerate().map(|(i, gamma)| gamma * v(i)).sum::<f64>() / gammas.iter().sum::<f64>()
    };
    let means: Vec<f64> = (0..x.ncols()).map(|k| mean(&|i| x[(i, k)])).collect();
    let mean_y = mean(&|i| y[i]);
    let centred = Mat::from_fn(x.nrows(), x.ncols(), |i, k| x[(i, k)] - means[k]);
    let exact = Ridge::solve(&centred, &y.iter().map(|y| y - mean_y).collect::<Vec<_>>(), gammas);
    let b = mean_y - exact.weights.iter().zip(&means).map(|(w, mean)| w * mean).sum::<f64>();
    let problem = problem.clone().with_intercept().expect("valid");
    let stopping = STOPPING_WITH_INTERCEPT;
    for solver in [
        &Newton { stopping, ..Newton::default() } as &dyn Solver,
        &Gradient { stopping, ..Gradient::default() },
        &ProximalGradient { stopping, ..Default::default() },
    ] {
        let case = format!("intercept, {} x {} {gammas:?}", x.nrows(), x.ncols());
        let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
        assert_eq!(solution.status, Status::Converged, "{case}: {:?}", solution.certificate);
        assert_close(&solution.alpha, &exact.alpha, 1e-6, &format!("alpha, {case}"));
        assert_close(&form.weights(&solution.alpha), &exact.weights, 1e-6, &format!("w, {case}"));
        assert_close(&[solution.intercept], &[b], 1e-6, &format!("b, {case}"));
    }
}

/// The answer by linear algebra alone.
struct Ridge {
    alpha: Vec<f64>,
    omega: Vec<f64>,
    weights: Vec<f64>,
}

impl Ridge {
    fn solve(x: &Mat<f64>, y: &[f64], gammas: &[f64]) -> Self {
        let root = |i: usize| gammas[i].sqrt();
        let scaled = Mat::from_fn(x.nrows(), x.ncols(), |i, k| root(i) * x[(i, k)]);
        let system = &scaled * scaled.transpose() + Mat::<f64>::identity(x.nrows(), x.nrows());
        let right = Mat::from_fn(x.nrows(), 1, |i, _| root(i) * y[i]);
        let beta = system.llt(Side::Lower).expect("positive definite").solve(&right);
        let alpha = Mat::from_fn(x.nrows(), 1, |i, _| root(i) * beta[(i, 0)]);
        let weights = x.transpose() * &alpha;
        let omega = x * &weights;
        let column = |column: &Mat<f64>| column.col_as_slice(0).to_vec();
        Self { alpha: column(&alpha), omega: column(&omega), weights: column(&weights) }
    }
}

fn assert_close(got: &[f64], exact: &[f64], accuracy: f64, what: &str) {
    let size = exact.iter().fold(0.0, |size: f64, exact| size.max(exact.abs()));
    let deviation = got.iter().zip(exact).fold(0.0, |worst: f64, (got, exact)| worst.max((got - exact).abs()));
    assert!(got.len() == exact.len() && deviation <= accuracy * size.max(1e-6), "{what}: {got:?} instead of {exact:?}");
}

/// A matrix with about half of its entries zero, but not the first, and targets.
fn random_data(samples: usize, features: usize) -> (Mat<f64>, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut entry = |i: usize, k: usize| {
        let value: f64 = rng.sample(StandardNormal);
        if i + k == 0 || rng.random() { value } else { 0.0 }
    };
    let x = Mat::from_fn(samples, features, &mut entry);
    let y = (0..samples).map(|_| rng.sample(StandardNormal)).collect();
    (x, y)
}

fn dense(x: &Mat<f64>) -> FeatureMatrix<'static> {
    let columns: Vec<f64> = x.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect();
    FeatureMatrix::from_columns(x.nrows(), x.ncols(), columns).expect("valid")
}

/// The same matrix without its zeros.
fn sparse(x: &Mat<f64>) -> FeatureMatrix<'static> {
    let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
    for column in x.col_iter() {
        for (row, &value) in column.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            rows.push(row);
            values.push(value);
        }
        starts.push(rows.len());
    }
    FeatureMatrix::from_sparse_columns(x.nrows(), x.ncols(), starts, rows, values).expect("valid")
}
