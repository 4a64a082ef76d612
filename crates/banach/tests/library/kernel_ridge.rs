//! Kernel ridge regression, p = 2 with the squared loss, against one Cholesky factorisation.
//!
//! For q = 2 a tensor kernel is an ordinary kernel, and the dual is the linear system `(K + I/gamma) alpha = y`, with the
//! predictions `K_new alpha`. The kernels are written out here once more, by their formulas.

use banach::{
    DualProblem, Exponent, FeatureMatrix, Memory, Newton, QForm, Solver, Status, Stopping, Unobserved,
    form::Gram,
    kernel::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, Series, TensorKernel},
    loss::Squared,
    solver::{Gradient, ProximalGradient},
};
use faer::{Mat, Side, prelude::Solve};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const GAMMAS: [f64; 2] = [0.2, 5.0];
const SAMPLES: usize = 9;
const NEW: usize = 4;
const INPUTS: usize = 3;

/// The gap has no cancellation, so that it can ask for all digits of alpha.
const STOPPING: Stopping = Stopping { tolerance: 1e-24, max_iterations: 100_000 };

type Formula = fn(&[f64], &[f64]) -> f64;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn linear() {
    agrees(Linear, dot);
}

#[test]
fn polynomial() {
    agrees(Polynomial::new(3, 0.7, 0.5).expect("valid"), |a, b| (0.5 + 0.7 * dot(a, b)).powi(3));
}

#[test]
fn exponential() {
    agrees(Exponential::new(0.6).expect("valid"), |a, b| (0.6 * dot(a, b)).exp());
}

/// `exp(s <a, b> - s |a|^2/2 - s |b|^2/2) = exp(-s |a - b|^2/2)`.
#[test]
fn gaussian() {
    agrees(Normalized(Exponential::new(0.6).expect("valid")), |a, b| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        (-0.3 * squares.sum::<f64>()).exp()
    });
}

#[test]
fn geometric() {
    agrees(PowerSeries::new(Series::Geometric, 0.2).expect("valid"), |a, b| 1.0 / (1.0 - 0.2 * dot(a, b)));
}

#[test]
fn interactions() {
    agrees(Anova::new(2, 3).expect("valid"), |a, b| {
        let [x, y, z] = [a[0] * b[0], a[1] * b[1], a[2] * b[2]];
        x * y + x * z + y * z + x * y * z
    });
}

/// Stored or streamed, Newton's method and both algorithms of the paper agree with the factorisation, with equal and with unequal weights.
fn agrees(kernel: impl TensorKernel + Clone + 'static, formula: Formula) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut rows = |count: usize| -> Vec<f64> { (0..count * INPUTS).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let (x, new) = (rows(SAMPLES), rows(NEW));
    let y: Vec<f64> = x.chunks(INPUTS).map(|x| (2.0 * x[0]).sin() + x[1] * x[2]).collect();
    let exponent = Exponent::new(2.0).expect("valid");
    let matrix = || FeatureMatrix::from_rows(SAMPLES, INPUTS, &x).expect("valid");
    let points = FeatureMatrix::from_rows(NEW, INPUTS, &new).expect("valid");
    let weights: Vec<f64> = (0..SAMPLES).map(|i| [1.0, 0.3, 2.0, 0.0][i % 4]).collect();
    let solvers: [&dyn Solver; 3] = [
        &Newton { stopping: STOPPING, ..Newton::default() },
        &Gradient { stopping: STOPPING, ..Gradient::default() },
        &ProximalGradient { stopping: STOPPING, ..ProximalGradient::default() },
    ];
    let stored = Gram::new(matrix(), kernel.clone(), exponent, Memory::default()).expect("valid");
    let streamed = Gram::streamed(matrix(), kernel, exponent, Memory::default()).expect("valid");
    for form in [&stored, &streamed] {
        for (gamma, weights) in GAMMAS.iter().flat_map(|&gamma| [(gamma, vec![1.0; SAMPLES]), (gamma, weights.clone())])
        {
            let gammas: Vec<f64> = weights.iter().map(|weight| gamma * weight).collect();
            let exact = Ridge::solve(&x, &new, &y, &gammas, formula);
            let problem = DualProblem::new(form, &Squared, &y, gamma).expect("valid");
            let problem = problem.with_sample_weights(&weights).expect("valid");
            for solver in solvers {
                let case = format!("{form:?}, gamma={gamma} weights={weights:?}");
                let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
                assert_eq!(solution.status, Status::Converged, "{case}: {:?}", solution.certificate);
                assert_close(&solution.alpha, &exact.alpha, &format!("alpha, {case}"));
                assert_close(&solution.omega, &exact.omega, &format!("omega, {case}"));
                let predicted = form.predictor(&solution.alpha).predict(&points).expect("in range");
                assert_close(&predicted, &exact.predictions, &format!("predictions, {case}"));
                assert_close(&[form.norm(&solution.alpha)], &[exact.norm], &format!("the norm, {case}"));
            }
        }
    }
}

/// The answer by linear algebra alone.
struct Ridge {
    alpha: Vec<f64>,
    omega: Vec<f64>,
    predictions: Vec<f64>,
    norm: f64,
}

impl Ridge {
    /// `alpha = D beta` and `(D K D + I) beta = D y` with `D = diag(sqrt(gamma_i))`: also for samples of weight 0.
    fn solve(x: &[f64], new: &[f64], y: &[f64], gammas: &[f64], formula: Formula) -> Self {
        let at = |a: &[f64], i: usize, b: &[f64], j: usize| {
            formula(&a[i * INPUTS..(i + 1) * INPUTS], &b[j * INPUTS..(j + 1) * INPUTS])
        };
        let gram = Mat::from_fn(SAMPLES, SAMPLES, |i, j| at(x, i, x, j));
        let root = |i: usize| gammas[i].sqrt();
        let system =
            Mat::from_fn(SAMPLES, SAMPLES, |i, j| root(i) * gram[(i, j)] * root(j) + f64::from(u8::from(i == j)));
        let right = Mat::from_fn(SAMPLES, 1, |i, _| root(i) * y[i]);
        let beta = system.llt(Side::Lower).expect("positive definite").solve(&right);
        let alpha = Mat::from_fn(SAMPLES, 1, |i, _| root(i) * beta[(i, 0)]);
        let omega = &gram * &alpha;
        let predictions = Mat::from_fn(NEW, SAMPLES, |i, j| at(new, i, x, j)) * &alpha;
        let norm = (alpha.transpose() * &omega)[(0, 0)].sqrt();
        let column = |column: &Mat<f64>| column.col_as_slice(0).to_vec();
        Self { alpha: column(&alpha), omega: column(&omega), predictions: column(&predictions), norm }
    }
}

fn assert_close(got: &[f64], exact: &[f64], what: &str) {
    let size = exact.iter().fold(0.0, |size: f64, exact| size.max(exact.abs()));
    let deviation = got.iter().zip(exact).fold(0.0, |worst: f64, (got, exact)| worst.max((got - exact).abs()));
    assert!(got.len() == exact.len() && deviation <= 1e-8 * size, "{what}: {got:?} instead of {exact:?}");
}
