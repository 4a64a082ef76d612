//! `t -> e^t` over whole slices, at the width of the machine's vectors.

use pulp::Arch;

use super::vectorised;

/// `1.5 * 2^52`. Adding it rounds a number to a whole one, which is then in the low bits of the sum.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// `e^t` in place, with a relative error below `2^-51`; gradual underflow to 0, overflow to infinity, NaN only for NaN.
pub(crate) fn exp_in_place(t: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || exp_slice(t),
    );
}

/// As [`exp_in_place`], inside a loop that is vectorised already.
#[inline(always)]
pub(crate) fn exp_slice(t: &mut [f64]) {
    if has_fma() {
        t.iter_mut().for_each(|t| *t = exp(*t));
    } else {
        t.iter_mut().for_each(|t| *t = t.exp());
    }
}

/// `e^t - 1` in place, as accurate near 0 as elsewhere.
pub(crate) fn exp_m1_in_place(t: &mut [f64]) {
    vectorised(
        #[inline(always)]
        move || {
            if has_fma() {
                t.iter_mut().for_each(|t| *t = exp_m1(*t));
            } else {
                t.iter_mut().for_each(|t| *t = t.exp_m1());
            }
        },
    );
}

/// The Taylor polynomial near 0, where `e^t - 1` would cancel.
#[inline(always)]
fn exp_m1(t: f64) -> f64 {
    // Just above ln 2 / 2, so that fourteen terms are enough; from here on the subtraction costs less than two bits.
    const SERIES_BELOW: f64 = 0.35;
    const EXP_M1: [f64; 16] = inverse_factorials(1);
    let near = if t.abs() <= SERIES_BELOW { t } else { 0.0 };
    let small = near * polynomial(EXP_M1, near);
    let large = exp(t) - 1.0;
    if t.abs() <= SERIES_BELOW { small } else { large }
}

/// Without fused multiply-add the vector formulas would call a library function per step.
pub(crate) fn has_fma() -> bool {
    !matches!(Arch::new(), Arch::Scalar)
}

/// `e^t = 2^k e^f` with `t = k ln 2 + f`, `|f| <= ln 2 / 2`: with a relative error below `2^-51` inside a loop that is vectorised already, on a
/// machine that [has](has_fma) fused multiply-add.
#[inline(always)]
pub(crate) fn exp(t: f64) -> f64 {
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    // ln 2 in two words.
    const LN_2_HI: f64 = std::f64::consts::LN_2;
    const LN_2_LO: f64 = 2.319_046_813_846_299_6e-17;

    // Outside, the result is 0 or infinite; inside, k fits two factors.
    let t = if t > 710.0 { 710.0 } else { t };
    let t = if t < -746.0 { -746.0 } else { t };
    let k = t.mul_add(LOG2_E, ROUND) - ROUND;
    let f = k.mul_add(-LN_2_LO, k.mul_add(-LN_2_HI, t));
    // Two factors: 2^k itself may be out of range where e^t is not.
    let half = 0.5 * k + ROUND;
    let rest = (k - (half - ROUND)) + ROUND;
    exp_small(f) * power_of_two(half) * power_of_two(rest)
}

/// `e^x` for `|x| <= ln 2 / 2`, by its Taylor polynomial.
#[inline(always)]
pub(super) fn exp_small(x: f64) -> f64 {
    const EXP: [f64; 16] = inverse_factorials(0);
    polynomial(EXP, x)
}

/// `1/k!` for fourteen k from `first` on, and two zeros. What `e^x` has beyond these terms is below `2^-57` for `|x| <= ln 2 / 2`.
const fn inverse_factorials(first: usize) -> [f64; 16] {
    let (mut terms, mut factorial, mut k) = ([0.0; 16], 1.0, 0);
    while k < first + 14 {
        if k > 0 {
            factorial *= k as f64;
        }
        if k >= first {
            terms[k - first] = 1.0 / factorial;
        }
        k += 1;
    }
    terms
}

/// `2^k` of a whole number `k` from `k + ROUND`, for `-1022 <= k <= 1023`.
#[inline(always)]
pub(super) fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52))
}

/// A polynomial with 12 or 16 coefficients, lowest first, by Estrin's scheme: short chains of dependent steps.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(c: [f64; N], x: f64) -> f64 {
    let (x2, x4) = (x * x, (x * x) * (x * x));
    let quarter = |k: usize| c[k + 3].mul_add(x, c[k + 2]).mul_add(x2, c[k + 1].mul_add(x, c[k]));
    let high = if N > 12 { quarter(12).mul_add(x4, quarter(8)) } else { quarter(8) };
    high.mul_add(x4 * x4, quarter(4).mul_add(x4, quarter(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exp_one(t: f64) -> f64 {
        let mut slice = [t];
        exp_in_place(&mut slice);
        slice[0]
    }

    #[test]
    fn edges_are_exact() {
        assert_eq!(exp_one(0.0), 1.0);
        assert_eq!(exp_one(-0.0), 1.0);
        for t in [710.0, 1e3, 1e300, f64::MAX, f64::INFINITY] {
            assert_eq!(exp_one(t), f64::INFINITY, "{t:e}");
            assert_eq!(exp_one(-t - 40.0), 0.0, "{t:e}");
        }
        assert!(exp_one(709.78).is_finite());
        assert!(exp_one(f64::NAN).is_nan());
        // Gradual underflow: the smallest numbers are reached, to half their spacing.
        for t in [-708.5, -720.0, -740.0, -744.4] {
            assert!((exp_one(t) - t.exp()).abs() <= 5e-324, "{t}");
        }
    }

    #[test]
    fn subtracting_one_loses_nothing() {
        let sizes = [0.0, 1e-320, 1e-20, 1e-9, 0.1, 0.34, 0.35, 0.36, 0.7, 3.0, 40.0, 700.0, 1e5];
        for t in sizes.into_iter().flat_map(|t| [t, -t]) {
            let mut slice = [t];
            exp_m1_in_place(&mut slice);
            let expected = t.exp_m1();
            let near = (slice[0] - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            assert!(near || slice[0] == expected, "{t:e} {} {expected}", slice[0]);
        }
    }

    #[test]
    fn slices_of_any_length_agree_with_single_entries() {
        for length in [0, 1, 2, 3, 7, 8, 9, 31, 1000] {
            let t: Vec<f64> = (0..length).map(|k| 700.0 * (f64::from(k) * 0.7).sin()).collect();
            let mut values = t.clone();
            exp_in_place(&mut values);
            for (t, value) in t.iter().zip(&values) {
                assert_eq!(exp_one(*t), *value);
            }
        }
    }

    proptest! {
        /// Accuracy against the scalar function of the system.
        #[test]
        fn agrees_with_exp(t in -708.0_f64..709.7) {
            prop_assert!((exp_one(t) / t.exp() - 1.0).abs() <= 2.0 * f64::EPSILON, "{t}");
        }

        /// Near 0, where kernels of small arguments live.
        #[test]
        fn agrees_with_exp_near_zero(t in -1.0_f64..1.0) {
            prop_assert!((exp_one(t) / t.exp() - 1.0).abs() <= 2.0 * f64::EPSILON, "{t}");
        }
    }
}
