//! Data, dual vectors and steps of every size: results saturate, their logarithms do not.

use super::*;

/// Whether `found` is `exp(ln)` as f64 can hold it: infinite above the range, next to nothing below it.
fn is_exp(found: f64, ln: f64, slack: f64) -> bool {
    match ln {
        709.8.. => found == f64::INFINITY,
        -708.0..709.7 => close(found.ln(), ln, slack + 1e-14 * ln.abs()),
        _ => found >= 709.7_f64.exp() || found <= (-708.0_f64).exp(),
    }
}

/// `Q(c_alpha alpha; c_x X) = (c_alpha c_x)^q Q`, whatever the scales; the same for omega, sign by sign.
fn check_scales(case: &Case, c_x: f64, c_alpha: f64) {
    let q = case.q();
    let ln_c = c_x.ln() + c_alpha.ln();
    let ln_value = case.x.value(&case.alpha, q).ln() + q * ln_c;
    let omega = case.x.omega(&case.alpha, q);
    let x = case.x.scaled(c_x);
    for (route, form) in all(&x, case.exponent) {
        let slack = case.rounding(route);
        let found = evaluate(&*form, &times(c_alpha, &case.alpha));
        let what = format!("{route:?} q = {q}, {c_x:e}, {c_alpha:e}: {found:?}");
        assert!(close(found.ln_values[0], ln_value, slack + 1e-14 * ln_value.abs()), "{what} {ln_value:e}");
        assert!(is_exp(found.values[0], ln_value, slack + 1e-14 * q * ln_c.abs()), "{what} {ln_value:e}");
        // A component that is small for cancellation has fewer digits.
        for (found, omega) in found.omegas.iter().zip(&omega).filter(|(_, w)| w.abs() > 0.01 * largest(&omega)) {
            let ln_omega = omega.abs().ln() + (q - 1.0) * ln_c + c_x.ln();
            assert!(is_exp(found.abs(), ln_omega, 100.0 * slack + 1e-14 * q * ln_c.abs()), "{what} {ln_omega:e}");
            assert!(*found == 0.0 || found.signum() == omega.signum(), "{what}");
        }
    }
}

fn dense_case(p: f64) -> Case {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let x = Table::random(4, 9, 0.0, &mut rng);
    Case::new(x, p, &[0.4, -0.9, 0.7, 0.2], &[0.3, 0.5, -0.8, 0.6]).expect("u is not lost in rounding")
}

/// Data and dual vectors of every scale: values saturate, their logarithms do not.
#[test]
fn extreme_scales() {
    for p in EXPONENTS {
        for c_x in [1e150, 1.0, 1e-150] {
            for c_alpha in [1e200, 1e150, 3.0 / 0.9, 1.0, 1e-150, 1e-200] {
                check_scales(&dense_case(p), c_x, c_alpha);
            }
        }
    }
}

/// q = 1001 and u up to 3: Q and omega overflow with the right signs, ln Q is finite.
#[test]
fn large_q_overflows_to_infinity() {
    let case = dense_case(1.001);
    for (route, form) in case.forms() {
        let found = evaluate(&*form, &times(3.0 / 0.9, &case.alpha));
        assert_eq!(found.values, [f64::INFINITY], "{route:?}");
        assert!(close(found.ln_values[0], 1001.0 * 3.0_f64.ln() - 1001.0_f64.ln(), 1e-9), "{route:?}: {found:?}");
        let signs: Vec<f64> = case.x.omega(&case.alpha, 1001.0).iter().map(|omega| omega / 0.0).collect();
        assert_eq!(found.omegas, signs, "{route:?}");
    }
}

/// `Q(0) = 0`, and `Q = 0` for a matrix of zeros, exactly, at every step of a line.
#[test]
fn zero_vectors_and_zero_matrices() {
    for p in EXPONENTS {
        let case = dense_case(p);
        let (zero, zeros) = ([0.0; 4], case.x.scaled(0.0));
        for (x, alpha) in [(&case.x, &zero[..]), (&zeros, &zero), (&zeros, &case.alpha)] {
            for (route, form) in all(x, case.exponent) {
                let found = evaluate(&*form, alpha);
                assert_eq!((found.values[0], found.ln_values[0]), (0.0, f64::NEG_INFINITY), "{route:?}");
                assert!(found.omegas.iter().all(|&omega| omega == 0.0), "{route:?}");
                let rest = LinePoint { value: 0.0, slope: 0.0, bregman: 0.0 };
                assert_eq!(line_at(&*form, alpha, &zero, 0.7), rest, "{route:?}");
            }
        }
    }
}

/// A line against the form at its end point: no NaN, the same value, and the slope `<d, omega>`.
fn check_extreme_line(case: &Case, alpha: &[f64], d: &[f64], t: f64) {
    let end = moved(alpha, t, d);
    for (route, form) in case.forms() {
        let found = line_at(&*form, alpha, d, t);
        let what = format!("{route:?} p = {}, {alpha:?} + {t:e} * {d:?}: {found:?}", case.exponent);
        assert!(found.value >= 0.0 && found.bregman >= 0.0 && !found.slope.is_nan(), "{what}");
        if !largest(&end).is_finite() {
            continue;
        }
        let there = evaluate(&*form, &end);
        let value = there.values[0];
        assert!(found.value == value || close(found.value / value, 1.0, 1e-9) || value < 1e-290, "{what} {value:e}");
        let terms: Vec<f64> = d.iter().zip(&there.omegas).map(|(d, omega)| d * omega).collect();
        let (slope, size) = (terms.iter().sum::<f64>(), largest(&terms));
        if slope.is_finite() && size > 1e-290 && largest(&there.omegas) > 1e-290 {
            assert!(close(found.slope, slope, 1e-9 * size), "{what} {slope:e}");
        }
    }
}

/// Lines of every scale: no NaN, and the value is that of the form at the end point.
#[test]
fn lines_of_extreme_scales() {
    for p in [2.0, 4.0 / 3.0, 1.27, 1.001] {
        let case = dense_case(p);
        for c_alpha in [0.0, 1e-200, 1e-100, 1.0, 1e200] {
            for c_d in [0.0, 1e-200, 1.0, 1e250] {
                for t in [1e-300, 1e-150, -1e-9, 1.0, -1e150, 1e300] {
                    check_extreme_line(&case, &times(c_alpha, &case.alpha), &times(c_d, &case.d), t);
                }
            }
        }
    }
}

/// A step below the normal numbers is a step like any other.
#[test]
fn lines_with_denormal_steps() {
    let case = dense_case(4.0 / 3.0);
    for t in [1e-310, -5e-324] {
        check_extreme_line(&case, &[0.0; 4], &case.d, t);
        check_extreme_line(&case, &times(1e-200, &case.alpha), &times(1e250, &case.d), t);
    }
}

/// At t = 0 a line is where it starts, however long its direction.
#[test]
fn lines_with_a_zero_step() {
    for c_d in [0.0, 1e-200, 1.0, 1e250] {
        let case = dense_case(2.0);
        check_extreme_line(&case, &times(1e-100, &case.alpha), &times(c_d, &case.d), 0.0);
    }
}

/// Samples of very different size do not hide each other: `Q(e_2) = |x_22|^q/q` for a diagonal matrix.
#[test]
fn samples_of_different_scales() {
    for (large, small) in [(1e100, 1e-100), (1e150, 1e-150)] {
        let x = Table { n: 2, d: 2, columns: vec![large, 0.0, 0.0, small] };
        for (route, form) in all(&x, Exponent::new(2.0).expect("inside")) {
            for (alpha, u) in [([1.0, 0.0], large), ([0.0, 1.0], small)] {
                let found = evaluate(&*form, &alpha).ln_values[0];
                assert!(close(found, (0.5 * u * u).ln(), 1e-12), "{route:?}: {alpha:?} {found:e}");
            }
        }
    }
}
