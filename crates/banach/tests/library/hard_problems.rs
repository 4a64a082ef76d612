//! Problems that Newton's method has reason to fear, through the public interface: separable and dependent samples, rare binary
//! columns, outliers, units and weights at the ends of f64, parameters at the ends of their range.
//!
//! Every run ends after few passes with a dual vector that is finite and with the certificate of that vector. Where
//! [`must_converge`] says so the gap is below 1e-8; beyond, f64 or the steepness of `|u|^q` may stop a run early, which its status
//! has to say.

use banach::{
    DualProblem, Error, Exponent, FeatureMatrix, Loss, Memory, Newton, QForm, Solution, Solver, Status, Stopping,
    Unobserved,
    data::Scratch,
    form::{Evaluation, Features, Gram, Tiles},
    kernel::{Linear, MonomialScale, Polynomial},
    loss::{EpsilonInsensitive, Huber, Quantile, Targets},
    solver::Start,
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::every_loss::{losses, targets};

const EXPONENTS: [f64; 5] = [2.0, 4.0 / 3.0, 1.1, 1.05, 1.01];
const GAMMAS: [f64; 6] = [1e-6, 1e-2, 1.0, 1e2, 1e4, 1e6];
const TOLERANCE: f64 = 1e-8;
const MOST_ITERATIONS: usize = 150;

fn normal(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

fn features(n: usize, columns: &[f64], p: f64) -> Features<'_> {
    let matrix = FeatureMatrix::from_columns(n, columns.len() / n, columns).expect("valid");
    Features::new(matrix, Exponent::new(p).expect("inside"))
}

fn scaled(c: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| c * v).collect()
}

/// Whether a gap of 1e-8 can be asked for. Losses with kinks need residuals of `1e-8/gamma`, and for p near 1 the way from the
/// start has as many steps as q times the logarithm of gamma.
fn must_converge(p: f64, gamma: f64) -> bool {
    gamma <= 1e2 || (gamma <= 1e4 && p >= 1.05)
}

/// The answer is finite, its certificate is that of its dual vector up to rounding, and the status says what the gap says.
fn assert_honest(problem: &DualProblem<'_>, solution: &Solution, what: &str) {
    let Solution { alpha, omega, certificate, status, passes, iterations, intercept, weights: _ } = solution;
    let what = format!("{what}: {status:?} after {passes} passes, {certificate:?}");
    assert!(alpha.iter().chain(omega).chain([intercept]).all(|value| value.is_finite()), "{what} {alpha:?} {omega:?}");
    assert!(certificate.gap >= 0.0 && certificate.distance >= 0.0, "{what}");
    assert!(!certificate.primal.is_nan() && !certificate.dual.is_nan(), "{what}");
    assert_eq!(*status == Status::Converged, certificate.relative_gap() <= TOLERANCE, "{what}");
    // A step takes two passes at most; one whose certificate is blurred is looked at again, which takes two more.
    assert!(*iterations <= MOST_ITERATIONS && *passes <= 4 * iterations + 6, "{what}");
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(alpha, &mut evaluation, &mut Scratch::new());
    problem.form().sharpen(alpha, &mut evaluation, &mut Scratch::new());
    let again = problem.certificate(alpha, &evaluation);
    // Rounding in sums of alpha_i x_i that cancel is multiplied by gamma, for targets in other units by more.
    let honest = certificate.relative_gap() >= 0.1 * again.relative_gap() - 1e-10;
    let far = problem.targets().iter().any(|y| y.abs() > 1e20);
    let amplified = far || !must_converge(problem.form().exponent().p(), problem.gamma());
    assert!(honest || amplified, "{what}, but {again:?}");
}

/// Solves; `None` where the problem itself is refused.
fn solve(problem: Result<DualProblem<'_>, Error>, start: &Start, what: &str) -> Option<Solution> {
    let problem = problem.ok()?;
    let stopping = Stopping { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS };
    let solution = Newton { stopping, ..Newton::default() }.solve_from(&problem, start, &mut Unobserved).expect(what);
    assert_honest(&problem, &solution, what);
    Some(solution)
}

fn with_intercept(problem: DualProblem<'_>, intercept: bool) -> Result<DualProblem<'_>, Error> {
    if intercept { problem.with_intercept() } else { Ok(problem) }
}

/// Every loss, with and without an intercept, over one form. `wanted` says where the gap must be reached.
fn check(what: &str, form: &dyn QForm, y: &[f64], gammas: &[f64], wanted: impl Fn(&dyn Loss, f64) -> bool) {
    for loss in losses() {
        let y = targets(&*loss, y);
        for (gamma, intercept) in gammas.iter().flat_map(|&gamma| [(gamma, false), (gamma, true)]) {
            let p = form.exponent().p();
            let what = format!("{what}, {loss:?} p = {p}, gamma = {gamma:e}, b: {intercept}");
            let problem = DualProblem::new(form, &*loss, &y, gamma);
            let problem = problem.and_then(|problem| with_intercept(problem, intercept));
            let Some(solution) = solve(problem, &Start::Auto, &what) else { continue };
            let reached = solution.status == Status::Converged;
            assert!(reached || !wanted(&*loss, gamma), "{what}: {:?} {:?}", solution.status, solution.certificate);
        }
    }
}

fn check_all(what: &str, n: usize, columns: &[f64], y: &[f64]) {
    for p in EXPONENTS {
        check(what, &features(n, columns, p), y, &GAMMAS, |_, gamma| must_converge(p, gamma));
    }
}

/// Targets that the features explain without an error, up to gamma = 1e6 for classes.
#[test]
fn separable_samples() {
    for (n, d) in [(12, 30), (30, 3)] {
        let columns = normal(n * d, 1);
        let y: Vec<f64> = (0..n).map(|i| 2.0 * columns[i] - columns[n + i]).collect();
        for p in EXPONENTS {
            check("separable", &features(n, &columns, p), &y, &GAMMAS, |loss, gamma| {
                // With fewer features than samples every sample is on its kink.
                let exact = n > d && loss.targets() == Targets::Real && loss.has_kinks();
                let of_classes = n < d && loss.targets() == Targets::Signs;
                of_classes || if exact { gamma <= 1e2 } else { must_converge(p, gamma) }
            });
        }
    }
}

#[test]
fn one_class_or_one_target() {
    let (n, columns) = (10, normal(10 * 20, 2));
    for y in [1.0, -1.0, 0.0, 5.0] {
        check_all("constant targets", n, &columns, &vec![y; n]);
    }
}

#[test]
fn one_and_two_samples() {
    for (n, d) in [(1, 1), (1, 5), (2, 1), (2, 5)] {
        for y in [[1.3, -0.4], [1.3, 0.4]] {
            check_all("few samples", n, &normal(n * d, 3), &y[..n]);
        }
    }
}

#[test]
fn dependent_samples() {
    let (n, mut columns, y) = (12, normal(12 * 30, 4), normal(12, 5));
    for column in columns.chunks_mut(n) {
        (column[1], column[3], column[5]) = (column[0], column[2] + column[4], -column[6]);
    }
    check_all("repeated samples and sums of samples", n, &columns, &y);
}

#[test]
fn fewer_features_than_samples() {
    let (n, columns, y) = (16, normal(16 * 3, 4), normal(16, 5));
    check_all("three features", n, &columns, &y);
}

#[test]
fn repeated_constant_and_zero_columns() {
    let (n, mut columns, y) = (12, normal(12 * 10, 4), normal(12, 5));
    let first = columns[..n].to_vec();
    columns[n..2 * n].copy_from_slice(&first);
    columns[2 * n..3 * n].copy_from_slice(&first);
    columns[3 * n..5 * n].fill(0.7);
    columns[5 * n..6 * n].fill(0.0);
    check_all("columns without news", n, &columns, &y);
    check_all("X = 0", n, &vec![0.0; 4 * n], &y);
}

/// Standardised binary columns, a third of them with ones in 1 % of the samples: a damped Newton method diverges here.
#[test]
fn rare_binary_columns() {
    let (n, d) = (60, 400);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut columns = vec![];
    for k in 0..d {
        let share = if k % 3 == 0 { 0.01 } else { 0.3 };
        let column: Vec<f64> = (0..n).map(|_| f64::from(u8::from(rng.random::<f64>() < share))).collect();
        let mean = column.iter().sum::<f64>() / n as f64;
        let deviation = (mean * (1.0 - mean)).sqrt();
        columns.extend(column.iter().map(|x| if deviation > 0.0 { (x - mean) / deviation } else { *x }));
    }
    let noise = normal(n, 7);
    let y: Vec<f64> = (0..n).map(|i| columns[i] - 2.0 * columns[n + i] + 0.5 * noise[i]).collect();
    let some =
        [(2.0, &GAMMAS[..]), (4.0 / 3.0, &GAMMAS), (1.1, &[1e-6, 1.0, 1e4]), (1.05, &[1e-2, 1e2]), (1.01, &[1.0])];
    for (p, gammas) in some {
        check("binary", &features(n, &columns, p), &y, gammas, |_, gamma| must_converge(p, gamma));
    }
}

/// One target is an outlier. For the squared loss `y -> c y` is `gamma -> c^(2-p) gamma`.
#[test]
fn outliers() {
    let (n, columns, mut y) = (12, normal(12 * 30, 7), normal(12, 8));
    for (p, size) in EXPONENTS.iter().flat_map(|&p| [1e6, 1e100].map(|size| (p, size))) {
        y[3] = size;
        check("outlier", &features(n, &columns, p), &y, &[1e-2, 1.0, 1e2], |loss, _| {
            let counts = loss.targets() == Targets::Counts;
            size == 1e6 || !counts && (p == 2.0 || loss.name() != "squared")
        });
    }
}

/// Units of the data, with the gamma that belongs to them and without; targets of every size.
/// Near p = 2 the norms of the features, not their products, decide which of them matter.
#[test]
fn exponents_near_2_and_columns_of_every_size() {
    let (n, d) = (30, 12);
    let sizes = (0..d * n).map(|k| 10_f64.powi((k / n % 4) as i32));
    let columns: Vec<f64> = normal(n * d, 71).iter().zip(sizes).map(|(x, size)| x * size / 100.0).collect();
    let y = normal(n, 72);
    for p in [1.9, 1.99, 1.999, 1.9999, 1.99999] {
        check("listed", &features(n, &columns, p), &y, &[0.1, 10.0], |_, _| true);
        let x = FeatureMatrix::from_columns(n, d, &columns[..]).expect("valid");
        let (kernel, exponent) = (Polynomial::new(2, 1.0, 0.0).expect("valid"), Exponent::new(p).expect("inside"));
        let tiles = Tiles::new(x, kernel, MonomialScale::Raw, exponent, Memory::default()).expect("fits");
        // Beside a kink the rounding of products of these columns is more than the tolerance, which the status says.
        check("tiles", &tiles, &y, &[0.1, 10.0], |loss, _| !loss.has_kinks());
    }
}

#[test]
fn units() {
    let (n, columns, y) = (8, normal(8 * 15, 9), normal(8, 10));
    for (p, c) in [2.0, 4.0 / 3.0, 1.1].iter().flat_map(|&p| [1e-150, 1e-30, 1e30, 1e150_f64].map(|c| (p, c))) {
        let other_columns = scaled(c, &columns);
        let form = features(n, &other_columns, p);
        check("units of X", &form, &y, &[c.powf(-p)], |_, _| true);
        check("size of X", &form, &y, &[1e-6, 1.0, 1e6], |_, _| c < 1.0);
        let form = features(n, &columns, p);
        check("size of y", &form, &scaled(c, &y), &[1e-6, 1.0, 1e6], |_, _| false);
    }
}

#[test]
fn gammas_of_every_size() {
    let (n, columns, y) = (8, normal(8 * 15, 9), normal(8, 10));
    let gammas = [1e-300, 1e-200, 1e-100, 1e-30, 1e-10, 1e10, 1e30, 1e100, 1e200, 1e300];
    for p in EXPONENTS {
        check("gamma", &features(n, &columns, p), &y, &gammas, |_, gamma| gamma < 1.0 && gamma > 1e-299);
    }
}

#[test]
fn parameters_at_the_ends_of_their_range() {
    let (n, columns, y) = (12, normal(12 * 30, 11), normal(12, 12));
    let mut losses: Vec<(Box<dyn Loss>, bool)> = vec![];
    for epsilon in [0.0, 1e-300, 1e-10, 1.0, 10.0, 1e10] {
        losses.push((Box::new(EpsilonInsensitive::new(epsilon).expect("valid")), true));
    }
    for tau in [1e-300, 1e-10, 1e-3, 0.999, 1.0 - 1e-10] {
        // At 1e-10 the rounding of a prediction is 1e-8 of the objective.
        losses.push((Box::new(Quantile::new(tau).expect("valid")), (1e-9..1.0 - 1e-9).contains(&tau)));
    }
    for rho in [1e-300, 1e-8, 1e-3, 1e3, 1e8, 1e300] {
        losses.push((Box::new(Huber::new(rho).expect("valid")), rho > 1e-100));
    }
    for p in EXPONENTS {
        let form = features(n, &columns, p);
        for (loss, wanted) in &losses {
            for (gamma, intercept) in [1e-4, 1.0, 1e2, 1e3].iter().flat_map(|&gamma| [(gamma, false), (gamma, true)]) {
                let what = format!("{loss:?} p = {p}, gamma = {gamma:e}, b: {intercept}");
                let problem = DualProblem::new(&form, &**loss, &y, gamma);
                let problem = problem.and_then(|problem| with_intercept(problem, intercept));
                let solution = solve(problem, &Start::Auto, &what).expect("in range");
                assert!(solution.status == Status::Converged || !wanted, "{what}: {:?}", solution.certificate);
            }
        }
    }
}

/// Starts at the ends of the domain, at zero and on the ray lead to the answer, or are refused (logistic loss).
#[test]
fn starts_at_the_border() {
    let (n, columns, y) = (12, normal(12 * 30, 17), normal(12, 18));
    for p in EXPONENTS {
        let form = features(n, &columns, p);
        for loss in losses() {
            let y = targets(&*loss, &y);
            for gamma in [1e-2, 1.0, 1e2] {
                let at = |end: fn((f64, f64)) -> f64| {
                    let ends = y.iter().map(|&y| end(loss.domain(y)));
                    Start::At(ends.map(|end| if end.is_finite() { gamma * end } else { 0.0 }).collect())
                };
                let zero = Start::At(vec![0.0; n]);
                let problem = DualProblem::new(&form, &*loss, &y, gamma).expect("valid");
                let balanced = problem.clone().with_intercept().expect("two classes");
                for (problem, start) in [
                    (&problem, at(|(lower, _)| lower)),
                    (&problem, at(|(_, upper)| upper)),
                    (&problem, zero.clone()),
                    (&problem, Start::Ray),
                    (&balanced, zero),
                    (&balanced, Start::Ray),
                ] {
                    let what = format!("{loss:?} p = {p}, gamma = {gamma:e}, {start:?}");
                    if ["logistic", "poisson"].contains(&loss.name()) && start != Start::Ray {
                        let refused = Newton::default().solve_from(problem, &start, &mut Unobserved);
                        assert!(matches!(refused, Err(Error::BadValue { what: "alpha_0", .. })), "{what}");
                        continue;
                    }
                    let solution = solve(Ok(problem.clone()), &start, &what).expect("valid");
                    assert_eq!(solution.status, Status::Converged, "{what}: {:?}", solution.certificate);
                }
            }
        }
    }
}

/// A tensor, stored or not, of many and of few variables. What cancels in it limits the gap, and the certificate counts it.
#[test]
fn tensors() {
    for (p, n, d) in [(2.0, 12, 30), (4.0 / 3.0, 12, 30), (1.2, 7, 30), (4.0 / 3.0, 12, 2)] {
        let (columns, y) = (normal(n * d, 13), normal(n, 14));
        let matrix = || FeatureMatrix::from_columns(n, d, &columns[..]).expect("valid");
        let exponent = Exponent::new(p).expect("inside");
        let stored = Gram::new(matrix(), Linear, exponent, Memory::default()).expect("in range");
        let streamed = Gram::streamed(matrix(), Linear, exponent, Memory::default()).expect("in range");
        for form in [stored, streamed] {
            check("tensor", &form, &y, &GAMMAS, |_, gamma| gamma <= if n > d { 1.0 } else { 1e2 });
        }
    }
}

/// A tolerance of 0 ends where f64 does, one of 1e-14 is reached by the smooth losses; limits of 0 and 1 are kept.
#[test]
fn tolerances_and_limits() {
    let (n, columns, y) = (10, normal(10 * 25, 19), normal(10, 20));
    for p in EXPONENTS {
        let form = features(n, &columns, p);
        for loss in losses() {
            let y = targets(&*loss, &y);
            for intercept in [false, true] {
                let problem = DualProblem::new(&form, &*loss, &y, 1.5).expect("valid");
                let problem = with_intercept(problem, intercept).expect("two classes");
                let run = |tolerance, max_iterations| {
                    let newton = Newton { stopping: Stopping { tolerance, max_iterations }, ..Newton::default() };
                    newton.solve(&problem, &mut Unobserved).expect("valid")
                };
                let end = run(0.0, 10_000);
                let (gap, what) = (end.certificate.relative_gap(), format!("{loss:?} p = {p}, b: {intercept}"));
                // The gap of counts falls to the square of a rounding, a little at a time.
                let most = if loss.targets() == Targets::Counts { 600 } else { 300 };
                assert!(end.passes <= most && gap <= 2e-11, "{what}: {:?} {gap:e} {}", end.status, end.passes);
                assert!(end.status == Status::Stalled || (end.status == Status::Converged && gap == 0.0), "{what}");
                let fine = run(1e-14, 10_000);
                let gap = fine.certificate.relative_gap();
                let smooth = !loss.has_kinks();
                assert!(fine.passes <= 300 && gap <= if smooth { 1e-13 } else { 2e-11 }, "{what}: {gap:e}");
                let finest = run(1e-16, 10_000);
                let reached = finest.certificate.relative_gap() <= 1e-16;
                assert!(finest.status != Status::Converged || reached, "{what}: {:?}", finest.certificate);
                for limit in [0, 1] {
                    let few = run(1e-14, limit);
                    // Weights are found exactly, and near p = 1 steps between passes see all features here, so that a smooth loss may take
                    // one step; the parabola of p = 2 does.
                    let parabola = loss.name() == "squared" && p == 2.0;
                    let at_once = limit == 1 && (parabola || (smooth && few.status == Status::Converged));
                    let status = if at_once { Status::Converged } else { Status::IterationLimit };
                    assert_eq!((few.status, few.iterations), (status, limit), "{what}");
                    assert!(few.certificate.gap.is_finite() && few.passes <= 2 * limit + 2, "{what}");
                }
            }
        }
    }
}

/// Numbers of the kind of scikit-learn's diabetes data: standardised columns that depend on each other, targets from 25 to 346.
fn like_diabetes() -> (Vec<f64>, Vec<f64>) {
    let (n, d) = (442, 10);
    let (own, shared, noise) = (normal(n * d, 81), normal(n, 82), normal(n, 83));
    let columns: Vec<f64> = (0..n * d).map(|k| 0.8 * own[k] + 0.6 * shared[k % n]).collect();
    let weights = [0.5, -11.0, 25.0, 15.0, -36.0, 20.0, 5.0, 8.0, 35.0, 3.0];
    let mean = |i: usize| (0..d).map(|k| weights[k] * columns[k * n + i]).sum::<f64>();
    let y = (0..n).map(|i| (152.0 + mean(i) + 54.0 * noise[i]).round().clamp(25.0, 346.0)).collect();
    (columns, y)
}

/// Many samples of few features: with kinks and boxes, steps in the dual vector alone took hundreds of passes, and most runs
/// stalled.
#[test]
fn tall_data() {
    let (columns, y) = like_diabetes();
    for (p, gammas) in [
        (4.0 / 3.0, &[99.0, 100.0, 101.0, 150.0, 200.0, 1000.0][..]),
        (2.0, &[1e-3, 1.0, 1e6]),
        (1.1, &[1e-3, 1.0, 1e3, 1e6]),
        (1.01, &[1e-3, 1.0, 1e3, 1e6]),
    ] {
        check_passes("like diabetes", &features(442, &columns, p), &y, gammas);
    }
}

/// From a hundred times as many samples as features to a hundred times as many features: at most 40 passes to the tolerance, or to
/// rounding, whatever the loss, p and gamma.
#[test]
fn shapes() {
    for (n, d) in [(200, 2), (60, 6), (40, 20), (30, 40), (10, 100), (10, 1000)] {
        let (columns, noise) = (normal(n * d, 91), normal(n, 92));
        let y: Vec<f64> = (0..n).map(|i| 2.0 + 3.0 * columns[i] - columns[n + i] + 2.0 * noise[i]).collect();
        for p in EXPONENTS {
            check_passes("shape", &features(n, &columns, p), &y, &[1e-3, 1.0, 1e2, 1e4, 1e6]);
        }
    }
}

/// Rows that are repeated, and columns: systems for the weights lose their digits, and what the dual vector does between equal samples
/// does not count.
#[test]
fn repeated_rows_and_columns() {
    for (rows, n, columns, d) in [(20, 60, 23, 23), (17, 50, 25, 25), (60, 60, 8, 16), (20, 60, 5, 10)] {
        let (values, noise) = (normal(rows * columns, 101), normal(n, 102));
        let table: Vec<f64> =
            (0..n * d).map(|k| values[(k / n) % columns * rows + (k % n * 7 + k % n / rows) % rows]).collect();
        let y: Vec<f64> = (0..n).map(|i| table[i] - table[n + i] + 0.3 * noise[i]).collect();
        for p in [2.0, 4.0 / 3.0, 1.05, 1.01] {
            check_passes("repeated", &features(n, &table, p), &y, &[1.0, 1e3, 1e5]);
        }
    }
}

/// A start that leads nowhere does not keep a run from the end that it reaches from its own.
#[test]
fn a_path_to_large_gammas() {
    let (n, d) = (52, 51);
    let (columns, noise) = (normal(n * d, 111), normal(n, 112));
    let y: Vec<f64> = (0..n).map(|i| columns[i] + columns[n + i] + 0.3 * noise[i]).collect();
    let form = features(n, &columns, 1.01);
    let mut start = Start::Ray;
    for gamma in (0..15).map(|step| 10_f64.powf(-3.0 + 9.0 * f64::from(step) / 14.0)) {
        let problem = DualProblem::new(&form, &banach::loss::Squared, &y, gamma).and_then(DualProblem::with_intercept);
        let what = format!("path, gamma = {gamma:e}");
        let solution = solve(problem, &start, &what).expect("valid");
        assert_eq!(solution.status, Status::Converged, "{what}: {:?}", solution.certificate);
        start = Start::At(solution.alpha);
    }
}

/// Every loss, with and without an intercept: few passes to the tolerance, or to rounding.
fn check_passes(what: &str, form: &dyn QForm, y: &[f64], gammas: &[f64]) {
    let mut wrong = Vec::new();
    for loss in losses() {
        let centre = y.iter().sum::<f64>() / y.len() as f64;
        let centred: Vec<f64> = y.iter().map(|y| y - centre).collect();
        let y = targets(&*loss, if loss.targets() == Targets::Signs { &centred } else { y });
        for (gamma, intercept) in gammas.iter().flat_map(|&gamma| [(gamma, false), (gamma, true)]) {
            let (n, p) = (form.samples(), form.exponent().p());
            let what = format!("{what}, n = {n}, {loss:?} p = {p}, gamma = {gamma:e}, b: {intercept}");
            let problem = DualProblem::new(form, &*loss, &y, gamma);
            let problem = problem.and_then(|problem| with_intercept(problem, intercept));
            let Solution { status, passes, certificate, .. } =
                solve(problem, &Start::Auto, &what).expect("two classes, in range");
            let ended = status == Status::Converged || (status == Status::Rounding && !must_converge(p, gamma));
            if !ended || passes > 40 {
                wrong.push(format!("{what}: {status:?} after {passes} passes, {certificate:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
