//! Sums over a Gram tensor cancel; certificates must not hide it.

use banach::{
    DualProblem, Exponent, FeatureMatrix, Loss, Memory, Newton, QForm, Solver, Stopping, Unobserved,
    data::Scratch,
    form::{Evaluation, Features, Gram},
    kernel::Linear,
    loss::{Absolute, EpsilonInsensitive, Hinge, Squared},
    solver::ProximalGradient,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A gap that the Gram route reports is at least the gap of the same dual vector from listed features.
#[test]
fn a_gap_from_the_tensor_is_never_below_the_true_one() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    let epsilon = EpsilonInsensitive::new(0.1).expect("valid");
    let losses: [&dyn Loss; 4] = [&Hinge, &Absolute, &epsilon, &Squared];
    for (n, d) in [(10, 1), (12, 2)] {
        let x: Vec<f64> = (0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect();
        let noisy: Vec<f64> = x[..n].iter().map(|x| x + rng.random_range(-0.6..0.6)).collect();
        let signs: Vec<f64> = noisy.iter().map(|y: &f64| y.signum()).collect();
        for q in [2, 4, 6, 8] {
            let exponent = Exponent::from_fraction(q, q - 1).expect("inside");
            let matrix = FeatureMatrix::from_columns(n, d, &x[..]).expect("valid");
            let gram = Gram::new(matrix.clone(), Linear, exponent, Memory::limit(1 << 30)).expect("valid");
            let features = Features::new(matrix, exponent);
            for gamma in [1.0, 300.0] {
                for loss in losses {
                    let y = if loss.name() == "hinge" { &signs } else { &noisy };
                    let problem = DualProblem::new(&gram, loss, y, gamma).expect("valid");
                    let stopping = Stopping { tolerance: 1e-6, max_iterations: 200 };
                    let first = ProximalGradient { stopping, ..ProximalGradient::default() };
                    let second =
                        Newton { stopping: Stopping { tolerance: 1e-10, max_iterations: 25 }, ..Newton::default() };
                    for solver in [&first as &dyn Solver, &second] {
                        let solution = solver.solve(&problem, &mut Unobserved).expect("valid");
                        let mut evaluation = Evaluation::default();
                        features.evaluate(&solution.alpha, &mut evaluation, &mut Scratch::new());
                        let listed = DualProblem::new(&features, loss, y, gamma).expect("valid");
                        let truth = listed.certificate(&solution.alpha, &evaluation);
                        let (claimed, what) = (solution.certificate, format!("{n} {d} {q} {gamma} {}", loss.name()));
                        assert!(
                            claimed.gap >= truth.gap * (1.0 - 1e-6) - 1e-13 * truth.primal,
                            "{what}: {claimed:?} {truth:?}"
                        );
                        let excess = claimed.relative_gap() - 1e-2 * truth.relative_gap();
                        assert!(excess >= -1e-13, "{what}: {claimed:?} {truth:?}");
                    }
                }
            }
        }
    }
}

/// A sum of products with twice the digits of f64 (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005): high and low
/// part.
fn accurate_dot(a: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    a.fold((0.0, 0.0), |(high, low), (a, b)| {
        let product = a * b;
        let sum: f64 = high + product;
        let virtual_part = sum - high;
        let lost = (high - (sum - virtual_part)) + (product - virtual_part);
        (sum, low + lost + a.mul_add(b, -product))
    })
}

/// `omega` with twice the digits of f64 in every sum.
fn accurate_omega(columns: &[f64], n: usize, q: f64, alpha: &[f64]) -> Vec<f64> {
    let weights: Vec<(f64, f64)> = columns
        .chunks(n)
        .map(|column| {
            let (u, low) = accurate_dot(column.iter().copied().zip(alpha.iter().copied()));
            let power = u.abs().powf(q - 1.0) * u.signum();
            (power, if u == 0.0 { 0.0 } else { power * (q - 1.0) * low / u })
        })
        .collect();
    (0..n)
        .map(|i| {
            let entries = columns.iter().skip(i).step_by(n);
            let (high, low) = accurate_dot(entries.clone().copied().zip(weights.iter().map(|w| w.0)));
            high + (low + entries.zip(&weights).map(|(x, w)| x * w.1).sum::<f64>())
        })
        .collect()
}

/// Predictions from listed features are rounded too, and near p = 1 by much: what Newton's method claims holds of the dual
/// vector that it returns.
#[test]
fn a_claim_of_convergence_from_listed_features_is_true() {
    let (n, d) = (20, 60);
    let mut claims = 0;
    for seed in 0..4 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let unit: Vec<f64> = (0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect();
        let y: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        for size in [1.0, 1e4, 1e8] {
            let columns: Vec<f64> = unit.iter().map(|x| size * x).collect();
            for p in [4.0 / 3.0, 1.05, 1.01] {
                let exponent = Exponent::new(p).expect("inside");
                let form = Features::new(FeatureMatrix::from_columns(n, d, &columns[..]).expect("valid"), exponent);
                for gamma in [1.0, 1e4, 1e8, 1e12] {
                    for loss in [&Squared as &dyn Loss, &Absolute] {
                        let problem = DualProblem::new(&form, loss, &y, gamma).expect("valid");
                        let solution = Newton::default().solve(&problem, &mut Unobserved).expect("valid");
                        let mut evaluation = Evaluation::default();
                        form.evaluate(&solution.alpha, &mut evaluation, &mut Scratch::new());
                        evaluation.omegas = accurate_omega(&columns, n, exponent.q(), &solution.alpha);
                        evaluation.roundings.fill(0.0);
                        let truth = problem.certificate(&solution.alpha, &evaluation).relative_gap();
                        let claimed = solution.certificate.relative_gap();
                        let what = format!("{} p = {p}, X {size:e}, gamma {gamma:e}", loss.name());
                        // The sums of the oracle end in a rounding of their own.
                        assert!(truth <= 1.01 * claimed + 1e-14, "{what}: {claimed:e} and not {truth:e}");
                        claims += usize::from(claimed <= 1e-8);
                    }
                }
            }
        }
    }
    // More than half of the 288 problems; the others are beyond f64, above all for the absolute loss, which rounding enters with
    // the factor gamma and not its square.
    assert!(claims >= 150, "{claims}");
}
