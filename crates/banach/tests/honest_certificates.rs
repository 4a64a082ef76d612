//! Sums over a Gram tensor cancel; certificates must not hide it.

use banach::{
    Absolute, DualProblem, EpsilonInsensitive, Evaluation, Exponent, FeatureMatrix, Features, Gram, Hinge, Loss,
    Memory, Newton, ProximalGradient, QForm, Scratch, Solver, Squared, Stopping, Unobserved, kernel::Linear,
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
