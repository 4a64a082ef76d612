//! Cross-validation without a second fit (F9): a sample of weight 0 has no part in the fit, and its omega is what the model
//! of the others predicts for it.

use banach::{
    DualProblem, Exponent, FeatureMatrix, Loss, Memory, QForm, Solution, Solver, Status, Stopping, Unobserved,
    form::Gram,
    kernel::{Exponential, Normalized, Polynomial, TensorKernel},
    loss::{EpsilonInsensitive, Logistic, Poisson, Squared, Targets},
    solver::ProximalGradient,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SAMPLES: usize = 9;
const INPUTS: usize = 3;
const HELD_OUT: [usize; 3] = [1, 4, 8];

fn solve(form: &Gram<'_>, loss: &dyn Loss, y: &[f64], weights: &[f64]) -> Solution {
    let problem = DualProblem::new(form, loss, y, 2.0).expect("valid").with_sample_weights(weights).expect("valid");
    // Beside a kink, the bound on rounding in a tensor of order 6 is 1e-9 of the objective.
    let tolerance = if loss.has_kinks() { 1e-8 } else { 1e-11 };
    let stopping = Stopping { tolerance, max_iterations: 200_000 };
    let solution = ProximalGradient { stopping, ..ProximalGradient::default() }.solve(&problem, &mut Unobserved);
    let solution = solution.expect("valid");
    assert_eq!(solution.status, Status::Converged, "{form:?} {loss:?}: {:?}", solution.certificate);
    solution
}

fn check(kernel: impl TensorKernel + Clone + 'static, p: f64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    let x: Vec<f64> = (0..SAMPLES * INPUTS).map(|_| rng.random_range(-1.0..1.0)).collect();
    let rows = |samples: &[usize]| {
        let rows: Vec<f64> = samples.iter().flat_map(|i| x[i * INPUTS..(i + 1) * INPUTS].to_vec()).collect();
        FeatureMatrix::from_rows(samples.len(), INPUTS, &rows).expect("valid")
    };
    let all: Vec<usize> = (0..SAMPLES).collect();
    let kept: Vec<usize> = all.iter().copied().filter(|i| !HELD_OUT.contains(i)).collect();
    let weights: Vec<f64> = all.iter().map(|i| if kept.contains(i) { 1.0 } else { 0.0 }).collect();
    let exponent = Exponent::new(p).expect("valid");
    let whole = Gram::new(rows(&all), kernel.clone(), exponent, Memory::default()).expect("in range");
    let streamed = Gram::streamed(rows(&all), kernel, exponent, Memory::default()).expect("in range");
    let losses: [&dyn Loss; 4] = [&Squared, &Logistic, &Poisson, &EpsilonInsensitive::new(0.05).expect("valid")];
    for loss in losses {
        let y: Vec<f64> = x.chunks(INPUTS).map(|x| (3.0 * x[0]).sin() + x[1] * x[2]).collect();
        let y: Vec<f64> = match loss.targets() {
            Targets::Real => y,
            Targets::Counts => y.iter().map(|y| (3.0 * y).exp().round()).collect(),
            Targets::Signs => y.iter().map(|y| y.signum()).collect(),
        };
        for form in [&whole, &streamed] {
            let weighted = solve(form, loss, &y, &weights);
            let part = form.subset(&kept, Memory::default()).expect("below n");
            let alone = solve(&part, loss, &kept.iter().map(|&i| y[i]).collect::<Vec<_>>(), &vec![1.0; kept.len()]);
            let model = part.predictor(&alone.alpha);
            let predicted = model.predict(&rows(&HELD_OUT)).expect("in range");
            for (&i, predicted) in HELD_OUT.iter().zip(predicted) {
                let omega = weighted.omega[i];
                assert_eq!(weighted.alpha[i], 0.0, "{form:?} {loss:?}");
                // Both are within the square root of their gaps of the solution.
                let allowed = if loss.has_kinks() { 1e-4 } else { 1e-5 };
                assert!((omega - predicted).abs() <= allowed, "{form:?} {loss:?}: {omega} {predicted}");
                assert!(omega.abs() > 1e-3, "{form:?} {loss:?}: a prediction of zero says little");
            }
            // Of one model, the two ways agree to rounding.
            let padded: Vec<f64> =
                all.iter().map(|i| kept.iter().position(|k| k == i).map_or(0.0, |k| alone.alpha[k])).collect();
            let again = form.predictor(&padded).predict(&rows(&HELD_OUT)).expect("in range");
            let predicted = model.predict(&rows(&HELD_OUT)).expect("in range");
            assert!(again.iter().zip(&predicted).all(|(a, b)| (a - b).abs() <= 1e-11), "{again:?} {predicted:?}");
        }
    }
}

#[test]
fn exponential_kernels() {
    for p in [2.0, 4.0 / 3.0, 1.2] {
        check(Exponential::new(0.5).expect("valid"), p);
        check(Normalized(Exponential::new(0.5).expect("valid")), p);
    }
}

#[test]
fn polynomials() {
    check(Polynomial::new(2, 1.0, 0.5).expect("valid"), 4.0 / 3.0);
}
