//! Logarithms inside loops that are vectorised: branch-free, for numbers whose range is known.

use super::exp::polynomial;

/// ln 2 in two words.
const LN_2_HI: f64 = std::f64::consts::LN_2;
const LN_2_LO: f64 = 2.319_046_813_846_299_6e-17;

/// `ln x` for normal numbers `x > 0`, with a relative error below `2^-50`; nonsense for others.
///
/// `x = 2^e m` with `sqrt(1/2) <= m < sqrt(2)`, and `ln m` by [`ln_of_ratio`], whose numerator `m - 1` is exact. What is added to
/// `e ln 2` is at most half of the sum, so that it brings no more than its own error into it.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    // The bits of sqrt(1/2), and the place of sign and exponent in a number.
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT_BITS: u64 = 0xfff0_0000_0000_0000;
    // A number from 2^52 on has its whole part in the low bits.
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF_BITS);
    let m = f64::from_bits(bits.wrapping_sub(shifted & EXPONENT_BITS));
    // The exponent as a number, without a conversion that old vector units lack.
    let biased = shifted.wrapping_add(1024 << 52) >> 52;
    let e = f64::from_bits(biased | TWO_52.to_bits()) - (TWO_52 + 1024.0);
    e.mul_add(LN_2_HI, e.mul_add(LN_2_LO, ln_of_ratio(m - 1.0, m + 1.0)))
}

/// `ln(1 + x)` for `0 <= x <= 1`, with a relative error below `2^-50`.
#[inline(always)]
pub(crate) fn ln_1p_of_unit(x: f64) -> f64 {
    // Beyond this, the logarithm of (1 + x)/2, and that of 2.
    let beyond = x > 0.414_213_562_373_095_1;
    let (numerator, denominator, ln) = if beyond { (x - 1.0, x + 3.0, LN_2_HI) } else { (x, x + 2.0, 0.0) };
    ln + ln_of_ratio(numerator, denominator)
}

/// `ln((1 + s)/(1 - s))` for the quotient s of both, `|s| <= 0.172`: `2 (s + s^3/3 + s^5/5 + ...)`, of which what follows `s^21/21` is
/// below `2^-60` of s. The sum and the quotient are rounded once each, and the terms beyond the first are a hundredth of it: three units
/// in the last place.
#[inline(always)]
fn ln_of_ratio(numerator: f64, denominator: f64) -> f64 {
    const ODD: [f64; 12] = [
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
        0.0,
        0.0,
    ];
    let s = numerator / denominator;
    let s2 = s * s;
    (polynomial(ODD, s2) * s2).mul_add(s, 2.0 * s)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use qd::Quad;

    use super::*;

    const MOST: f64 = 4.0 * f64::EPSILON;

    fn off(found: f64, expected: Quad) -> f64 {
        let difference = (Quad::from(found) - expected).0.abs();
        if difference == 0.0 { 0.0 } else { difference / expected.0.abs() }
    }

    #[test]
    fn known_values() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln_1p_of_unit(0.0), 0.0);
        assert_eq!(ln_1p_of_unit(1.0), std::f64::consts::LN_2);
        assert_eq!(ln_1p_of_unit(1e-300), 1e-300);
        assert!((ln(f64::MAX) / f64::MAX.ln() - 1.0).abs() < MOST);
        for x in [f64::MIN_POSITIVE, 1e300, 1.0_f64.next_up(), 1.0_f64.next_down(), 0.707, 0.708, 1.414, 1.415] {
            assert!(off(ln(x), Quad::from(x).ln()) < MOST, "{x:e}");
        }
    }

    proptest! {
        /// Against 32 digits.
        #[test]
        fn logarithms(mantissa in 1.0_f64..2.0, exponent in -1020_i32..1023, near in -1e-3_f64..1e-3) {
            for x in [mantissa * 2.0_f64.powi(exponent), mantissa, 1.0 + near] {
                prop_assert!(off(ln(x), Quad::from(x).ln()) < MOST, "{:e}", x);
            }
        }

        #[test]
        fn logarithms_above_one(x in 0.0_f64..1.0, exponent in -60_i32..0) {
            for x in [x, x * 2.0_f64.powi(exponent)] {
                prop_assert!(off(ln_1p_of_unit(x), (Quad::from(1.0) + Quad::from(x)).ln()) < MOST, "{:e}", x);
            }
        }
    }
}
