//! The optimum of every loss against Clarabel, an interior-point solver for conic programs.
//!
//! The primal is written as a conic program by hand: `|w_k|^p` and the losses become the least numbers
//! above them, in power cones, exponential cones and half-lines. Nothing of banach takes part on that side,
//! neither its losses nor its dual. Newton's method, on every route, and Algorithm 3.3 have to find the same optimal value,
//! from above with `F` and from below with `-Lambda`, and the same weights, with and without an intercept; so do the primal
//! baselines. What a certificate promises is held against the optimum early in a run, too.

use std::ops::{Add, Mul, Sub};

use banach::{
    Certificate, DualProblem, Exponent, FeatureMatrix, Loss, Memory, Newton, Solver, Stopping, Unobserved,
    form::{Features, Gram},
    kernel::{Exponential, FeatureMap, Linear, Normalized, TensorKernel},
    loss::{Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Poisson, Quantile, Squared, SquaredHinge, Targets},
    solver::{
        ProximalGradient,
        primal::{Fista, GradientDescent, PrimalProblem},
    },
};
use clarabel::{
    algebra::CscMatrix,
    solver::{
        DefaultSettings, DefaultSolver, IPSolver, SolverStatus,
        SupportedConeT::{self, ExponentialConeT, NonnegativeConeT, PowerConeT, ZeroConeT},
    },
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const EXPONENTS: [f64; 4] = [1.2, 4.0 / 3.0, 1.5, 2.0];
/// Where only Newton's method is quick.
const NEAR_ONE: f64 = 1.1;
const GAMMAS: [f64; 2] = [0.3, 3.0];
const EPSILON: f64 = 0.1;
const RHO: f64 = 0.7;
const TAU: f64 = 0.3;

const SAMPLES: usize = 7;
const FEATURES: usize = 11;
const EQUAL_WEIGHTS: [f64; SAMPLES] = [1.0; SAMPLES];
const UNEQUAL_WEIGHTS: [f64; SAMPLES] = [1.0, 0.0, 2.5, 0.4, 1.7, 0.1, 1.0];

const EARLY: Stopping = Stopping { tolerance: 0.0, max_iterations: 3 };
const LATE: Stopping = Stopping { tolerance: 1e-11, max_iterations: 20_000 };

/// One of the solvers.
type Method = fn(Stopping) -> Box<dyn Solver>;
const NEWTON: Method = |stopping| Box::new(Newton { stopping, ..Newton::default() });
const ALGORITHM_3_3: Method = |stopping| Box::new(ProximalGradient { stopping, ..ProximalGradient::default() });

/// How close the values come to Clarabel's, relative to their size. For the weights its square root counts.
const CONVERGED: f64 = 1e-8;
/// For p near 1 small weights move far for little, on Clarabel's side too.
const ROUGH: f64 = 1e-7;
/// Gradient descent on the primal creeps for p near 1, where `|w|^(p-1)` is steep at the many small weights.
const CREEPING: f64 = 1e-2;

const SQUARED: Epigraph = |program, gamma, y, t| {
    let r = program.squared_variable(gamma);
    program.require(ZeroConeT(1), [constant(y) - t - r]);
};

#[test]
fn squared() {
    agrees(&Squared, SQUARED);
    baselines_agree(&Squared, SQUARED);
}

#[test]
fn absolute() {
    agrees(&Absolute, |program, gamma, y, t| {
        program.add_largest(gamma, [t.clone() - constant(y), constant(y) - t]);
    });
}

#[test]
fn epsilon_insensitive() {
    agrees(&EpsilonInsensitive::new(EPSILON).expect("valid"), |program, gamma, y, t| {
        program.add_largest(gamma, [t.clone() - constant(y + EPSILON), constant(y - EPSILON) - t, constant(0.0)]);
    });
}

/// `min a^2/2 + rho |b|` over `a + b = y - t`.
#[test]
fn huber() {
    let epigraph: Epigraph = |program, gamma, y, t| {
        let a = program.squared_variable(gamma);
        let b = constant(y) - t - a;
        program.add_largest(gamma, [b.clone() * RHO, b * -RHO]);
    };
    let loss = Huber::new(RHO).expect("valid");
    agrees(&loss, epigraph);
    baselines_agree(&loss, epigraph);
}

#[test]
fn quantile() {
    agrees(&Quantile::new(TAU).expect("valid"), |program, gamma, y, t| {
        let r = constant(y) - t;
        program.add_largest(gamma, [r.clone() * TAU, r * (TAU - 1.0)]);
    });
}

/// `log(1 + exp(-m)) <= s` exactly when `exp(-s) + exp(-m-s) <= 1`.
#[test]
fn logistic() {
    let epigraph: Epigraph = |program, gamma, y, t| {
        let s = program.variable(gamma);
        let (first, second) = (program.variable(0.0), program.variable(0.0));
        program.require(ExponentialConeT(), [s.clone() * -1.0, constant(1.0), first.clone()]);
        program.require(ExponentialConeT(), [t * -y - s, constant(1.0), second.clone()]);
        program.require(NonnegativeConeT(1), [constant(1.0) - first - second]);
    };
    agrees(&Logistic, epigraph);
    baselines_agree(&Logistic, epigraph);
}

/// `exp(t) <= s`, less `y t` and the constant that makes a half deviance of it.
#[test]
fn poisson() {
    agrees(&Poisson, |program, gamma, y, t| {
        let (s, line) = (program.variable(gamma), program.variable(gamma));
        program.require(ExponentialConeT(), [t.clone(), constant(1.0), s]);
        let least = if y > 0.0 { y * y.ln() - y } else { 0.0 };
        program.require(ZeroConeT(1), [line - constant(least) + t * y]);
    });
}

#[test]
fn hinge() {
    agrees(&Hinge, |program, gamma, y, t| {
        program.add_largest(gamma, [constant(1.0) - t * y, constant(0.0)]);
    });
}

#[test]
fn squared_hinge() {
    let epigraph: Epigraph = |program, gamma, y, t| {
        let shortfall = program.squared_variable(gamma);
        program.require(NonnegativeConeT(1), [shortfall - (constant(1.0) - t * y)]);
    };
    agrees(&SquaredHinge, epigraph);
    baselines_agree(&SquaredHinge, epigraph);
}

/// A kernel with infinitely many features, by its Gram tensor. The program has those up to degree 10; with two variables and
/// `0.5 p_1 <= 0.5` the others are less than `0.5^11/11!`, or 2e-11, of K.
#[test]
fn exponential_kernel() {
    let exponential = Exponential::new(0.5).expect("valid");
    kernel_agrees(exponential);
    kernel_agrees(Normalized(exponential));
}

fn kernel_agrees(kernel: impl TensorKernel + Copy + 'static) {
    let exponent = Exponent::new(4.0 / 3.0).expect("valid");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let inputs: Vec<f64> = (0..SAMPLES * 2).map(|_| rng.random_range(-0.84..0.84)).collect();
    let map = FeatureMap::new(&kernel, 2, exponent, Some(10)).expect("valid");
    let x = inputs.chunks(2).flat_map(|x| map.phi(x).expect("in range")).collect();
    let data = Data { x, y: inputs.chunks(2).map(|x| 1.0 + (3.0 * x[0]).sin() - x[1]).collect() };
    let matrix = FeatureMatrix::from_rows(SAMPLES, 2, &inputs).expect("valid");
    let gram = Gram::new(matrix, kernel, exponent, Memory::default()).expect("valid");
    for (gamma, weights) in GAMMAS.iter().flat_map(|&gamma| [(gamma, EQUAL_WEIGHTS), (gamma, UNEQUAL_WEIGHTS)]) {
        let problem = DualProblem::new(&gram, &Squared, &data.y, gamma).expect("valid");
        for problem in without_and_with_intercept(problem.with_sample_weights(&weights).expect("valid")) {
            let listed = data.form(exponent.p());
            let oracle = conic_optimum(&data, exponent.p(), problem.gammas(), problem.has_intercept(), SQUARED);
            let case = format!("{} gamma={gamma} weights={weights:?} b={}", kernel.name(), problem.has_intercept());
            for method in [NEWTON, ALGORITHM_3_3] {
                let dual = |stopping| Found::by(method, &problem, &listed, stopping);
                oracle.assert_found(dual, CONVERGED, &case);
            }
        }
    }
}

/// Adds `gamma L(y, t)` to a program.
type Epigraph = fn(&mut Program, f64, f64, Affine);

/// Both solvers find the optimum of the conic program.
fn agrees(loss: &dyn Loss, epigraph: Epigraph) {
    for (seed, p) in (0..).zip(EXPONENTS.into_iter().chain([NEAR_ONE])) {
        let data = Data::random(loss.targets(), seed);
        let (form, tensors) = (data.form(p), data.tensors(p));
        for (gamma, weights) in GAMMAS.iter().flat_map(|&gamma| [(gamma, EQUAL_WEIGHTS), (gamma, UNEQUAL_WEIGHTS)]) {
            let problem = |form| {
                let problem = DualProblem::new(form, loss, &data.y, gamma).expect("valid");
                without_and_with_intercept(problem.with_sample_weights(&weights).expect("valid"))
            };
            for (k, listed) in problem(&form).iter().enumerate() {
                let b = listed.has_intercept();
                let oracle = conic_optimum(&data, p, listed.gammas(), b, epigraph);
                let case = format!("{} p={p} gamma={gamma} weights={weights:?} b={b}", loss.name());
                if p > NEAR_ONE {
                    let dual = |stopping| Found::by(ALGORITHM_3_3, listed, &form, stopping);
                    oracle.assert_found(dual, CONVERGED, &format!("Algorithm 3.3, {case}"));
                }
                let accuracy = if p > NEAR_ONE { CONVERGED } else { ROUGH };
                oracle.assert_found(|stopping| Found::by(NEWTON, listed, &form, stopping), accuracy, &case);
                for tensor in &tensors {
                    let dual = |stopping| Found::by(NEWTON, &problem(tensor)[k], &form, stopping);
                    oracle.assert_found(dual, CONVERGED, &format!("{tensor:?}, {case}"));
                }
            }
        }
    }
}

fn without_and_with_intercept(problem: DualProblem<'_>) -> [DualProblem<'_>; 2] {
    [problem.clone(), problem.with_intercept().expect("two classes")]
}

/// So do the primal baselines, which know equal weights only.
fn baselines_agree(loss: &dyn Loss, epigraph: Epigraph) {
    for (seed, p) in (0..).zip(EXPONENTS) {
        let data = Data::random(loss.targets(), seed);
        let form = data.form(p);
        for gamma in GAMMAS {
            let problem = PrimalProblem::new(&form, loss, &data.y, gamma).expect("valid");
            let fista = |stopping| {
                let solution = Fista { stopping, ..Fista::default() }.solve(&problem, &mut Unobserved).expect("valid");
                Found { weights: solution.weights, intercept: None, certificate: solution.certificate }
            };
            let descent = |stopping| {
                let solver = GradientDescent { stopping, ..GradientDescent::default() };
                let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
                Found { weights: solution.weights, intercept: None, certificate: solution.certificate }
            };
            let oracle = conic_optimum(&data, p, &[gamma; SAMPLES], false, epigraph);
            let case = format!("{} p={p} gamma={gamma}", loss.name());
            oracle.assert_found(fista, CONVERGED, &format!("fista, {case}"));
            let accuracy = if p < 1.3 { CREEPING } else { CONVERGED };
            oracle.assert_found(descent, accuracy, &format!("gradient descent, {case}"));
        }
    }
}

/// A random data set, samples one after another.
struct Data {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Data {
    /// Two variables matter; the noise is large enough to put samples on both sides of every kink.
    fn random(targets: Targets, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let x: Vec<f64> = (0..SAMPLES * FEATURES).map(|_| rng.sample(StandardNormal)).collect();
        let y = x.chunks(FEATURES).map(|x| {
            let noise: f64 = rng.sample(StandardNormal);
            let y = 2.0 * x[0] - x[1] + noise;
            match targets {
                Targets::Real => y,
                Targets::Counts => (0.5 * y).exp().round(),
                Targets::Signs => y.signum(),
            }
        });
        let y = y.collect();
        Self { x, y }
    }

    fn features(&self) -> usize {
        self.x.len() / SAMPLES
    }

    fn form(&self, p: f64) -> Features<'static> {
        let matrix = FeatureMatrix::from_rows(SAMPLES, self.features(), &self.x).expect("valid");
        Features::new(matrix, Exponent::new(p).expect("valid"))
    }

    /// The Gram tensor, stored and streamed, where q is even.
    fn tensors(&self, p: f64) -> Vec<Gram<'static>> {
        let matrix = || FeatureMatrix::from_rows(SAMPLES, self.features(), &self.x).expect("valid");
        let exponent = Exponent::new(p).expect("valid");
        let stored = Gram::new(matrix(), Linear, exponent, Memory::default());
        stored.into_iter().chain(Gram::streamed(matrix(), Linear, exponent, Memory::default())).collect()
    }
}

/// What a method of banach finds.
struct Found {
    weights: Vec<f64>,
    /// Where the loss leaves no choice.
    intercept: Option<f64>,
    certificate: Certificate,
}

impl Found {
    fn by(method: Method, problem: &DualProblem<'_>, form: &Features<'_>, stopping: Stopping) -> Self {
        let solution = method(stopping).solve(problem, &mut Unobserved).expect("valid");
        let unique = problem.has_intercept() && !problem.loss().has_kinks();
        Self {
            weights: form.weights(&solution.alpha),
            intercept: unique.then_some(solution.intercept),
            certificate: solution.certificate,
        }
    }
}

/// What Clarabel finds.
struct Optimum {
    p: f64,
    value: f64,
    weights: Vec<f64>,
    intercept: f64,
}

impl Optimum {
    /// What the method certifies is true from the start, and in the end it is the optimum.
    fn assert_found(&self, method: impl Fn(Stopping) -> Found, accuracy: f64, case: &str) {
        self.assert_certified(&method(EARLY), case);
        let found = method(LATE);
        self.assert_certified(&found, case);
        self.assert_reached(&found, accuracy, case);
    }

    /// The optimum lies between `-Lambda` and `F`, and the weights no farther away than the certificate says.
    fn assert_certified(&self, found: &Found, case: &str) {
        let Certificate { primal, dual, distance: bound, .. } = found.certificate;
        let slack = CONVERGED * self.value.max(1.0);
        let between = -dual <= self.value + slack && self.value <= primal + slack;
        assert!(between, "{case}: -Lambda = {}, Clarabel {}, F = {primal}", -dual, self.value);
        let powers = self.differences(found).map(|difference| difference.powf(self.p));
        let distance = powers.sum::<f64>().powf(1.0 / self.p);
        assert!(distance <= bound + CONVERGED.sqrt(), "{case}: {distance:e} from Clarabel's weights, bound {bound:e}");
    }

    /// Both values of the certificate are the optimum, and the weights are the solution.
    fn assert_reached(&self, found: &Found, accuracy: f64, case: &str) {
        for (name, value) in [("F", found.certificate.primal), ("-Lambda", -found.certificate.dual)] {
            let deviation = (value - self.value).abs() / self.value.max(1.0);
            assert!(deviation <= accuracy, "{case}: {name} = {value} is {deviation:e} from Clarabel's");
        }
        let size = self.weights.iter().fold(0.0, |size: f64, w| size.max(w.abs()));
        let deviation = self.differences(found).fold(0.0, f64::max) / size;
        assert!(deviation <= accuracy.sqrt(), "{case}: the weights are {deviation:e} from Clarabel's");
        let deviation = found.intercept.map_or(0.0, |b| (b - self.intercept).abs());
        assert!(deviation <= accuracy.sqrt(), "{case}: the intercept is {deviation:e} from Clarabel's");
    }

    fn differences(&self, found: &Found) -> impl Iterator<Item = f64> {
        self.weights.iter().zip(&found.weights).map(|(exact, found)| (exact - found).abs())
    }
}

/// `min sum_i gamma_i L(y_i, <x_i, w> + b) + (1/p) sum_k v_k` with `v_k >= |w_k|^p`, and `b = 0` without an intercept.
fn conic_optimum(data: &Data, p: f64, gammas: &[f64], intercept: bool, epigraph: Epigraph) -> Optimum {
    let mut program = Program::default();
    let w: Vec<Affine> = (0..data.features()).map(|_| program.variable(0.0)).collect();
    let b = if intercept { program.variable(0.0) } else { constant(0.0) };
    for w in &w {
        let v = program.variable(1.0 / p);
        program.require(PowerConeT(1.0 / p), [v, constant(1.0), w.clone()]);
    }
    let samples = data.x.chunks(data.features()).zip(&data.y).zip(gammas);
    for ((x, &y), &gamma) in samples.filter(|(_, gamma)| **gamma > 0.0) {
        let prediction = w.iter().zip(x).fold(b.clone(), |sum, (w, &x)| sum + w.clone() * x);
        epigraph(&mut program, gamma, y, prediction);
    }
    let (value, variables) = program.solve();
    let intercept = if intercept { variables[data.features()] } else { 0.0 };
    Optimum { p, value, weights: variables[..data.features()].to_vec(), intercept }
}

/// `min sum_j (quadratic_j x_j^2/2 + linear_j x_j)` over `x` with affine expressions in cones.
#[derive(Default)]
struct Program {
    quadratic: Vec<f64>,
    linear: Vec<f64>,
    expressions: Vec<Affine>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// A new variable `x_j` with the cost `linear x_j`.
    fn variable(&mut self, linear: f64) -> Affine {
        self.quadratic.push(0.0);
        self.linear.push(linear);
        Affine { terms: vec![(self.linear.len() - 1, 1.0)], constant: 0.0 }
    }

    /// A new variable `x_j` with the cost `quadratic x_j^2/2`.
    fn squared_variable(&mut self, quadratic: f64) -> Affine {
        let variable = self.variable(0.0);
        self.quadratic[variable.terms[0].0] = quadratic;
        variable
    }

    /// Adds `cost` times the largest of the expressions.
    fn add_largest<const N: usize>(&mut self, cost: f64, expressions: [Affine; N]) {
        let bound = self.variable(cost);
        self.require(NonnegativeConeT(N), expressions.map(|expression| bound.clone() - expression));
    }

    /// The vector of the expressions lies in the cone.
    fn require<const N: usize>(&mut self, cone: SupportedConeT<f64>, expressions: [Affine; N]) {
        self.expressions.extend(expressions);
        self.cones.push(cone);
    }

    /// The least value and the variables there, from Clarabel's standard form: `A x + s = b` with `s`, the
    /// expressions, in the cones.
    fn solve(&self) -> (f64, Vec<f64>) {
        let (rows, columns) = (self.expressions.len(), self.linear.len());
        let diagonal: Vec<usize> = (0..columns).collect();
        let quadratic = self.quadratic.clone();
        let quadratic = CscMatrix::new_from_triplets(columns, columns, diagonal.clone(), diagonal, quadratic);
        let entries = self.expressions.iter().enumerate();
        let entries = entries.flat_map(|(row, e)| e.terms.iter().map(move |&(column, factor)| (row, column, -factor)));
        let (at_rows, at_columns, values) = entries.collect();
        let a = CscMatrix::new_from_triplets(rows, columns, at_rows, at_columns, values);
        let b: Vec<f64> = self.expressions.iter().map(|expression| expression.constant).collect();
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-10,
            tol_feas: 1e-10,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&quadratic, &self.linear, &a, &b, &self.cones, settings).expect("valid");
        solver.solve();
        assert_eq!(solver.solution.status, SolverStatus::Solved);
        (solver.solution.obj_val, solver.solution.x.clone())
    }
}

/// `sum_j factor_j x_j + constant` over some variables j.
#[derive(Clone)]
struct Affine {
    terms: Vec<(usize, f64)>,
    constant: f64,
}

fn constant(constant: f64) -> Affine {
    Affine { terms: vec![], constant }
}

impl Add for Affine {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.terms.extend(other.terms);
        self.constant += other.constant;
        self
    }
}

impl Sub for Affine {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Mul<f64> for Affine {
    type Output = Self;

    fn mul(mut self, factor: f64) -> Self {
        self.terms.iter_mut().for_each(|(_, of_term)| *of_term *= factor);
        self.constant *= factor;
        self
    }
}
