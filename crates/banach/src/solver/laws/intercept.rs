//! What the intercept adds: b itself, the balance of alpha, and problems that only a constant can solve.

use super::*;
use crate::{
    Error,
    loss::{Absolute, EpsilonInsensitive, Hinge, Logistic, Poisson, Split, Targets},
};

/// `sum_i gamma_i L(y_i, omega_i + b)`.
fn loss_sum(problem: &DualProblem<'_>, omega: &[f64], b: f64) -> f64 {
    let samples = problem.targets().iter().zip(problem.gammas()).zip(omega);
    let present = samples.filter(|((_, gamma), _)| **gamma > 0.0);
    present.map(|((&y, gamma), omega)| gamma * problem.loss().value(y, omega + b)).sum()
}

/// The solutions of the problem with an intercept, one of every solver.
fn fitted(form: &Features<'_>, loss: &dyn Loss, y: &[f64], gamma: f64) -> [Solution; 2] {
    let problem = problem(form, loss, y, gamma).with_intercept().expect("valid");
    solvers().map(|solver| {
        let solution = converged(&*solver, &problem);
        assert!(problem.is_balanced(&solution.alpha), "{loss:?} {:?}", solution.alpha);
        solution
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    /// No other b has a smaller sum, at any scale of the data: neither a close one nor a far one.
    #[test]
    fn intercepts_are_minimisers(
        omega in vec(-2.0_f64..2.0, N), weights in vec(0.0_f64..2.0, N), scale in select(vec![1e-200, 1e-100, 1e-3, 1.0, 1e3, 1e100, 1e200]),
    ) {
        let (x, y) = data();
        let form = features(&x, 2.0);
        for loss in all() {
            let omega: Vec<f64> = omega.iter().map(|omega| scale * omega).collect();
            // Of a loss with a scale of its own, and squares, only what fits in f64.
            let size = if loss.has_kinks() { scale } else { scale.clamp(1e-100, 1e100) };
            let y: Vec<f64> = targets(&*loss, &y.iter().map(|y| 0.3 * size * y).collect::<Vec<_>>());
            let plain = problem(&form, &*loss, &y, 0.3).with_intercept().expect("two classes");
            let Ok(problem) = plain.with_sample_weights(&weights) else { continue };
            let b = problem.intercept(&omega);
            let (least, unit) = (loss_sum(&problem, &omega, b), b.abs().max(size));
            for step in [1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0] {
                for other in [b - step * unit, b + step * unit] {
                    prop_assert!(least <= loss_sum(&problem, &omega, other) * (1.0 + 1e-13), "{:?} {} {} {}", loss, scale, b, other);
                }
            }
        }
    }

    /// The proximity operator: the balanced vector of the domain with the least `lambda phi_2(x) + ||x - v||^2/2`.
    #[test]
    fn balanced_proximity_operators_are_minimisers(
        v in vec(-3.0_f64..3.0, N), other in vec(-3.0_f64..3.0, N), ln_lambda in -6.0_f64..6.0, weights in vec(0.1_f64..2.0, N), near in 0.0_f64..=1.0,
    ) {
        let (x, y) = data();
        let form = features(&x, 2.0);
        for loss in all() {
            let y = targets(&*loss, &y);
            let problem = problem(&form, &*loss, &y, 0.7).with_intercept().expect("two classes");
            let problem = problem.with_sample_weights(&weights).expect("valid");
            let lambda = ln_lambda.exp();
            let value = |x: &[f64]| {
                lambda * problem.conjugate_sum(x) + x.iter().zip(&v).map(|(x, v)| 0.5 * (x - v) * (x - v)).sum::<f64>()
            };
            let [mut best, mut other] = [v.clone(), other.clone()];
            problem.prox(lambda, &mut best);
            problem.prox(1e-3, &mut other);
            let total: f64 = best.iter().sum();
            prop_assert!(total.abs() <= 1e-14, "{:?} {:e}", loss, total);
            let other: Vec<f64> = best.iter().zip(&other).map(|(best, other)| best + near * (other - best)).collect();
            let slack = 1e-12 * (1.0 + lambda);
            prop_assert!(value(&best) <= value(&other) + slack, "{:?} {} {}", loss, value(&best), value(&other));
        }
    }
}

/// Means, medians, middles and ends.
#[test]
fn intercepts_that_are_known() {
    let x = data().0.rows(&[0, 1, 2, 3]);
    let form = features(&x, 2.0);
    let tube = EpsilonInsensitive::new(0.5).expect("valid");
    let squared: &dyn Loss = &Squared;
    let cases = [
        (squared, [1.0, 2.0, 3.0, 6.0], [1.0; 4], 3.0),
        (&Squared, [1.0, 2.0, 3.0, 6.0], [1.0, 0.0, 0.0, 3.0], 4.75),
        (&Squared, [0.1; 4], [0.3, 0.7, 0.9, 1.1], 0.1),
        (&Absolute, [1.0, 2.0, 4.0, 9.0], [1.0; 4], 3.0),
        (&Absolute, [1.0, 2.0, 4.0, 9.0], [0.1, 0.2, 0.3, 0.0], 3.0),
        (&Absolute, [1.0, 2.0, 4.0, 9.0], [1.0, 1.0, 0.0, 1.0], 2.0),
        (&tube, [3.0; 4], [1.0; 4], 3.0),
        (&Hinge, [1.0, 1.0, -1.0, -1.0], [1.0; 4], 0.0),
        (&Logistic, [1.0, 1.0, 1.0, -1.0], [1.0; 4], 3.0_f64.ln()),
    ];
    for (loss, y, weights, expected) in cases {
        let problem = problem(&form, loss, &y, 1.0).with_sample_weights(&weights).expect("valid");
        let b = problem.with_intercept().expect("valid").intercept(&[0.0; 4]);
        assert!((b - expected).abs() <= 4e-16 * expected.abs(), "{loss:?} {y:?} {weights:?}: {b}");
    }
    assert_eq!(problem(&form, &Squared, &[1.0; 4], 1.0).intercept(&[0.0; 4]), 0.0, "no intercept");
    // Of one class alone the least margin that costs nothing.
    let margins: Vec<_> =
        all().into_iter().filter(|loss| loss.value(-1.0, -1.0) == 0.0 && loss.targets() == Targets::Signs).collect();
    assert!(margins.len() > 1);
    for (loss, y) in margins.iter().flat_map(|loss| [(loss, 1.0), (loss, -1.0)]) {
        let b = problem(&form, &**loss, &[y; 4], 1.0).with_intercept().expect("valid").intercept(&[0.0; 4]);
        assert!((b - y).abs() <= 4e-16, "{loss:?} {y}: {b}");
    }
}

/// `y -> y + c` moves b by c and nothing else.
#[test]
fn shifted_targets_shift_the_intercept() {
    for_every_loss(&[2.0, 4.0 / 3.0], |form, loss, y| {
        if loss.targets() != Targets::Real {
            return;
        }
        let expected = fitted(form, loss, y, 1.9);
        // The intercept is known to a unit in its last place, which a kink turns into as much of the gap.
        for c in [-3.0, 1e2] {
            let shifted: Vec<f64> = y.iter().map(|y| y + c).collect();
            for (found, expected) in fitted(form, loss, &shifted, 1.9).iter().zip(&expected) {
                let models = (Model::new(form, found), Model::new(form, expected));
                models.0.assert_same(&models.1, &format!("{loss:?} {c}"));
                assert!((found.intercept - expected.intercept - c).abs() <= 1e-4, "{loss:?} {c}: {}", found.intercept);
                let values = (found.certificate.primal, expected.certificate.primal);
                assert!((values.0 - values.1).abs() <= 1e-10 * values.1, "{loss:?} {c}: {values:?}");
            }
        }
    });
}

/// KKT: `-alpha_i/gamma_i` is a slope of the loss at `omega_i + b`.
#[test]
fn slopes_are_dual_variables() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        let found = fitted(form, loss, y, 1.9);
        for (found, (i, &y)) in found.iter().flat_map(|found| y.iter().enumerate().map(move |sample| (found, sample))) {
            let (t, s) = (found.omega[i] + found.intercept, found.alpha[i] / 1.9);
            let (before, after) = (loss.slopes(y, t - 1e-4).0, loss.slopes(y, t + 1e-4).1);
            assert!(before - 1e-4 <= -s && -s <= after + 1e-4, "{loss:?}: {before} {after} {s}");
        }
    });
}

/// Targets that a constant explains need no weights.
#[test]
fn constants_need_no_weights() {
    let (x, _) = data();
    let form = features(&x, 4.0 / 3.0);
    // The logarithm of a count is rounded: see the law of counts below.
    for loss in all().iter().filter(|loss| loss.name() != "logistic" && loss.targets() != Targets::Counts) {
        for y in [1.0, -1.0] {
            for found in fitted(&form, &**loss, &[y; N], 1.9) {
                assert_eq!((found.alpha, found.intercept, found.certificate.gap), (vec![0.0; N], y, 0.0), "{loss:?}");
            }
        }
    }
}

/// One class leaves the logistic loss without a minimum, whenever it is noticed.
#[test]
fn logistic_needs_two_classes() {
    let (x, _) = data();
    let form = features(&x, 2.0);
    let one = problem(&form, &Logistic, &[1.0; N], 1.0).with_intercept();
    assert_eq!(one.err(), Some(Error::OneClass { loss: "logistic", label: 1.0, samples: N }));
    let mut y = [1.0; N];
    y[3] = -1.0;
    let mut weights = [2.0; N];
    weights[3] = 0.0;
    let expected = Some(Error::OneClass { loss: "logistic", label: 1.0, samples: N - 1 });
    let plain = problem(&form, &Logistic, &y, 1.0);
    let weights_last = plain.clone().with_intercept().expect("two classes").with_sample_weights(&weights);
    assert_eq!(weights_last.err(), expected);
    let weights_first = plain.with_sample_weights(&weights).expect("valid").with_intercept();
    assert_eq!(weights_first.err(), expected);
}

/// Counts that are all 0 are fitted the better the smaller the mean is. One count is enough.
#[test]
fn counts_need_one_above_zero() {
    let (x, _) = data();
    let form = features(&x, 2.0);
    let none = problem(&form, &Poisson, &[0.0; N], 1.0);
    assert_eq!(none.clone().with_intercept().err(), Some(Error::NoCounts { fold: None, samples: N }));
    assert!(converged(&newton(1e-10), &none).omega.iter().all(|t| t.is_finite()));
    let equal = problem(&form, &Poisson, &[3.0; N], 1.9).with_intercept().expect("counts");
    let found = newton(1e-10).solve(&equal, &mut Unobserved).expect("valid");
    assert!((found.intercept - 3.0_f64.ln()).abs() < 1e-15 && found.certificate.gap < 1e-28, "{found:?}");
    let mut y = [0.0; N];
    y[3] = 1e12;
    let one = problem(&form, &Poisson, &y, 1.0).with_intercept().expect("a count");
    assert!((one.intercept(&[0.0; N]) - (1e12 / N as f64).ln()).abs() < 1e-14 * 27.0);
    assert!(converged(&newton(1e-10), &one).omega.iter().all(|t| t.is_finite()));
}

/// A vector that does not sum to zero proves nothing and starts nothing.
#[test]
fn unbalanced_vectors_are_refused() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        let [without, with] = both(form, loss, y, 1.9);
        let alpha = feasible(&without, &[0.4; N]);
        if with.is_balanced(&alpha) {
            return;
        }
        assert!(evaluated(&without, &alpha).2.gap.is_finite(), "{loss:?}");
        let found = evaluated(&with, &alpha).2;
        assert_eq!((found.dual, found.gap, found.relative_gap()), (f64::INFINITY, f64::INFINITY, f64::INFINITY));
        let start = Start::At(alpha);
        for solver in solvers() {
            let refused = solver.solve_from(&with, &start, &mut Unobserved);
            assert!(matches!(refused, Err(Error::Unbalanced { what: "alpha_0", .. })), "{loss:?}");
        }
    });
}

/// The ray sums to zero and starts a run for every loss; Algorithm 2.1 finds the solution of Algorithm 3.3.
#[test]
fn rays_are_balanced() {
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        let problem = problem(form, loss, y, 1.9).with_intercept().expect("two classes");
        let weighted = problem.clone().with_sample_weights(&[0.3, 1.0, 0.0, 2.0, 0.7, 1.1, 1.0, 0.9]).expect("valid");
        for problem in [&problem, &weighted] {
            let (alpha, _) = Start::Ray.alpha(problem, &mut Scratch::new()).expect("valid");
            assert!(problem.is_balanced(&alpha) && alpha.iter().any(|alpha| *alpha != 0.0), "{loss:?} {alpha:?}");
            let expected = Model::new(form, &converged(&proximal_gradient(1e-12, 20_000), problem));
            let from_ray = converged_from(&proximal_gradient(1e-12, 20_000), &Start::Ray, problem);
            Model::new(form, &from_ray).assert_same(&expected, loss.name());
            if loss.split() == Split::Smooth && loss.targets() == Targets::Real {
                let stopping = Stopping { tolerance: 1e-12, max_iterations: 20_000 };
                let found = converged(&Gradient { stopping, ..Gradient::default() }, problem);
                Model::new(form, &found).assert_same(&expected, loss.name());
            }
        }
    });
}
