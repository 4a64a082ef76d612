//! Every law over every loss of the list.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Every loss, with parameters that are not round numbers.
pub(crate) fn all() -> Vec<Arc<dyn Loss>> {
    let odd = |loss: LossSpec| {
        let parameters = [("epsilon", 0.13), ("rho", 0.7), ("tau", 0.3)];
        parameters.into_iter().find_map(|(parameter, value)| loss.with(parameter, value)).unwrap_or(loss)
    };
    LossSpec::ALL.into_iter().map(|loss| odd(loss).build().expect("valid")).collect()
}

/// A target for this loss from any number.
pub(crate) fn target(loss: &dyn Loss, y: f64) -> f64 {
    match loss.targets() {
        Targets::Real => y,
        Targets::Counts => y.max(0.0),
        Targets::Signs => 1.0_f64.copysign(y),
    }
}

/// A point of the domain from a number in [0, 1]; infinite ends are cut at 5.
fn inside(loss: &dyn Loss, y: f64, share: f64) -> f64 {
    let (lower, upper) = loss.domain(y);
    let (lower, upper) = (lower.max(-5.0), upper.min(5.0));
    lower + share * (upper - lower)
}

/// Where predictions tell probabilities, those of both labels add up and follow the odds: the slopes of the loss.
#[test]
fn probabilities() {
    let found: Vec<_> = all().into_iter().filter(|loss| loss.probability(1.0, 0.0).is_some()).collect();
    assert_eq!(found.iter().map(|loss| loss.name()).collect::<Vec<_>>(), ["logistic"]);
    for loss in found {
        for t in [-800.0, -3.0, 0.0, 0.4, 800.0] {
            let of = |y: f64| loss.probability(y, t).expect("at every prediction");
            assert!((of(1.0) + of(-1.0) - 1.0).abs() <= 1e-15, "{t}");
            assert_eq!(Some(-of(-1.0)), loss.slope(1.0, t), "{t}");
        }
    }
}

#[test]
fn conjugates_are_infinite_outside_their_domain() {
    for loss in all() {
        for y in [-1.0, 1.0].map(|y| target(&*loss, y)) {
            let (lower, upper) = loss.domain(y);
            for s in [lower - 0.1, upper + 0.1] {
                if s.is_finite() {
                    assert_eq!(loss.conjugate(y, s), f64::INFINITY, "{loss:?}");
                    assert_eq!(loss.gap(y, 0.3, s), f64::INFINITY, "{loss:?}");
                    assert_eq!(loss.conjugate_slope(y, s), None, "{loss:?}");
                }
            }
        }
    }
}

#[test]
fn extreme_predictions_give_no_nan() {
    for loss in all() {
        for y in [-1.0, 1.0].map(|y| target(&*loss, y)) {
            for t in [-1e300, -1e3, -750.0, 0.0, 750.0, 1e3, 1e300] {
                for share in [0.0, 1e-300, 0.5, 1.0 - 1e-16, 1.0] {
                    let gap = loss.gap(y, t, inside(&*loss, y, share));
                    assert!(gap >= 0.0, "{loss:?} {y} {t} {share}: {gap}");
                }
                assert!(loss.value(y, t) >= 0.0);
                assert!(loss.slope(y, t).is_none_or(|slope| !slope.is_nan()));
            }
        }
    }
}

#[test]
fn parameters_outside_their_range_are_refused() {
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(EpsilonInsensitive::new(bad).is_err() && Huber::new(bad).is_err() && Quantile::new(bad).is_err());
    }
    assert!(Huber::new(0.0).is_err() && Quantile::new(0.0).is_err() && Quantile::new(1.0).is_err());
    assert!(EpsilonInsensitive::new(0.0).is_ok());
}

/// At and around their kinks, and away from them.
#[test]
fn one_sided_slopes() {
    // Kinks at numbers that are exact.
    let exact = LossSpec::ALL.into_iter().map(|loss| loss.with("epsilon", 0.25).unwrap_or(loss));
    for loss in exact.chain([LossSpec::EpsilonInsensitive { epsilon: 0.0 }]) {
        let loss = loss.build().expect("valid");
        for y in [-1.0, 1.0].map(|y| target(&*loss, y)) {
            for t in [-1.5, -1.25, -1.0, -0.75, -0.25, 0.0, 0.3, 0.75, 1.0, 1.25, 4.0] {
                let (left, right) = loss.slopes(y, t);
                let h = 1e-7;
                let before = (loss.value(y, t) - loss.value(y, t - h)) / h;
                let after = (loss.value(y, t + h) - loss.value(y, t)) / h;
                assert!(
                    (left - before).abs() < 1e-6 * left.abs().max(1.0)
                        && (right - after).abs() < 1e-6 * right.abs().max(1.0),
                    "{loss:?} {y} {t}: {left} {right}"
                );
                assert_eq!(loss.slope(y, t), (left == right).then_some(left), "{loss:?} {y} {t}");
                if let Some(curvature) = loss.curvature() {
                    let expected = curvature * 0.5;
                    assert!((loss.slopes(y, t + 0.5).0 - left - expected).abs() < 1e-15, "{loss:?} {y} {t}");
                }
            }
        }
    }
}

proptest! {
    /// Fenchel-Young: the gap is the sum of its parts and non-negative.
    #[test]
    fn gap_is_value_plus_conjugate_plus_product(y in -3.0_f64..3.0, t in -4.0_f64..4.0, share in 0.0_f64..=1.0) {
        for loss in all() {
            let y = target(&*loss, y);
            let s = inside(&*loss, y, share);
            let gap = loss.gap(y, t, s);
            let sum = loss.value(y, t) + loss.conjugate(y, s) + s * t;
            prop_assert!(gap >= 0.0 && (gap - sum).abs() < 1e-12 * (1.0 + sum.abs()), "{:?} {} {}", loss, gap, sum);
        }
    }

    /// Fenchel-Young with equality at `s = -L'(t)`.
    #[test]
    fn gap_vanishes_on_the_slope(y in -3.0_f64..3.0, t in -4.0_f64..4.0) {
        for loss in all() {
            let y = target(&*loss, y);
            if let Some(slope) = loss.slope(y, t) {
                prop_assert!(loss.gap(y, t, -slope) <= 1e-15, "{:?}", loss);
                let h = 1e-6;
                let difference = (loss.value(y, t + h) - loss.value(y, t - h)) / (2.0 * h);
                let around = loss.slope(y, t + h).zip(loss.slope(y, t - h));
                if around.is_none_or(|(after, before)| (after - before).abs() >= 1e-3) {
                    continue;
                }
                prop_assert!((slope - difference).abs() < 1e-5, "{:?} {} {}", loss, slope, difference);
            }
        }
    }

    /// The conjugate is the supremum it is defined as: no t beats it, and the maximiser attains it.
    #[test]
    fn conjugate_slope_inverts_the_slope(y in -3.0_f64..3.0, share in 0.001_f64..0.999) {
        for loss in all() {
            let y = target(&*loss, y);
            let s = inside(&*loss, y, share);
            if let Some(slope) = loss.conjugate_slope(y, s) {
                // psi'(s) = -t for the t at which -s is a slope of L.
                prop_assert!(loss.gap(y, -slope, s) <= 1e-14, "{:?}", loss);
            }
        }
    }

    #[test]
    fn derivatives_of_the_conjugate(y in -3.0_f64..3.0, share in 0.05_f64..0.95) {
        for loss in all() {
            let y = target(&*loss, y);
            let s = inside(&*loss, y, share);
            let h = 1e-5;
            let around = [s - h, s, s + h].map(|s| loss.conjugate_slope(y, s));
            let (Some(slope), Some(curvature)) = (around[1], loss.conjugate_curvature(y, s)) else { continue };
            let difference = (loss.conjugate(y, s + h) - loss.conjugate(y, s - h)) / (2.0 * h);
            let [Some(before), _, Some(after)] = around else { continue };
            if (after - before).abs() >= 0.01 {
                continue;
            }
            prop_assert!((slope - difference).abs() < 1e-5, "{:?} {} {}", loss, slope, difference);
            prop_assert!((curvature - (after - before) / (2.0 * h)).abs() < 1e-4 * (1.0 + curvature), "{:?}", loss);
            prop_assert!(curvature >= loss.strong_convexity() - 1e-9, "{:?}", loss);
            if let Some(smoothness) = loss.smoothness() {
                prop_assert!(curvature * smoothness >= 1.0 - 1e-9, "{:?}", loss);
            }
        }
    }

    /// The prox is the argmin: its objective is below that of every other point.
    #[test]
    fn prox_is_the_argmin(
        y in -3.0_f64..3.0, v in -4.0_f64..4.0, ln_lambda in -8.0_f64..8.0, other in 0.0_f64..=1.0, near in -0.01_f64..0.01,
    ) {
        for loss in all() {
            let y = target(&*loss, y);
            let lambda = ln_lambda.exp();
            let objective = |s: f64| lambda * loss.conjugate(y, s) + 0.5 * (s - v) * (s - v);
            let best = loss.prox(y, lambda, v);
            let value = objective(best);
            prop_assert!(value.is_finite(), "{:?} {}", loss, best);
            for s in [inside(&*loss, y, other), best + near] {
                // Strong convexity of the objective around its minimiser.
                let slack = 1e-12 * (1.0 + value.abs() + lambda);
                prop_assert!(objective(s) >= value + 0.5 * (s - best) * (s - best) - slack, "{:?} {} {}", loss, best, s);
            }
        }
    }

    /// The Bregman distance of the smooth conjugates, also for tiny steps.
    #[test]
    fn conjugate_bregman_has_no_cancellation(y in -3.0_f64..3.0, from in 0.05_f64..0.95, to in 0.0_f64..=1.0, size in -15.0_f64..0.0) {
        for loss in all().iter().filter(|loss| loss.split() == Split::Smooth) {
            let y = target(&**loss, y);
            let (from, far) = (inside(&**loss, y, from), inside(&**loss, y, to));
            let slope = loss.conjugate_slope(y, from).expect("inside");
            let plain = loss.conjugate(y, far) - loss.conjugate(y, from) - slope * (far - from);
            prop_assert!((loss.conjugate_bregman(y, from, far) - plain).abs() < 1e-12, "{:?}", loss);
            let step = 10.0_f64.powf(size) * (far - from) * 1e-3;
            let near = from + step;
            let expected = 0.5 * loss.conjugate_curvature(y, from).expect("inside") * (near - from) * (near - from);
            let got = loss.conjugate_bregman(y, from, near);
            prop_assert!((got - expected).abs() <= 0.1 * expected + 1e-300, "{:?} {:e} {:e}", loss, got, expected);
        }
    }
}
