//! Products with powers of two that saturate instead of failing.

use super::largest;

/// Times this, every denormal number is a normal one.
const TWO_54: f64 = 18_014_398_509_481_984.0;

/// 2 to this power and its inverse are numbers.
const LARGEST_STEP: f64 = 1000.0;

/// The smallest `e` with `x < 2^e` (0 for `x = 0`).
pub(crate) fn binary_exponent(x: f64) -> i32 {
    debug_assert!(x >= 0.0 && x.is_finite());
    if x == 0.0 {
        return 0;
    }
    let biased = (x.to_bits() >> 52) as i32;
    if biased == 0 { binary_exponent(x * TWO_54) - 54 } else { biased - 1022 }
}

/// `x * 2^exponent` for a real exponent of any size. A zero stays zero: never `0 * inf`.
pub(crate) fn scale_by_exp2(x: f64, exponent: f64) -> f64 {
    if x == 0.0 || exponent == 0.0 {
        return x;
    }
    // Numbers span 2098 powers of two: beyond 4000 the result is 0 or infinite.
    let exponent = exponent.clamp(-4000.0, 4000.0);
    let mut whole = exponent.floor();
    let mut value = x * (exponent - whole).exp2();
    while whole != 0.0 {
        let step = whole.clamp(-LARGEST_STEP, LARGEST_STEP);
        value *= step.exp2();
        whole -= step;
    }
    value
}

/// The exponent of a zero vector: below that of every number, so that it never decides a common power of two.
pub(crate) const ZERO_EXPONENT: f64 = -1e4;

/// Copies a vector scaled by `2^-k` to a size just below `2^size`, and returns k.
pub(crate) fn scaled_copy(vector: &[f64], size: f64, copy: &mut [f64]) -> f64 {
    let largest = largest(vector);
    let k = if largest == 0.0 { ZERO_EXPONENT } else { f64::from(binary_exponent(largest)) - size };
    if k.abs() <= LARGEST_STEP {
        // One product, which is what `scale_by_exp2` does.
        let factor = (-k).exp2();
        copy.iter_mut().zip(vector).for_each(|(copy, entry)| *copy = entry * factor);
    } else {
        copy.iter_mut().zip(vector).for_each(|(copy, entry)| *copy = scale_by_exp2(*entry, -k));
    }
    k
}

/// `base^r` for `base = size * 2^exponent`, kept as a mantissa and a power of two, so that it can multiply
/// numbers of any size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WidePower {
    mantissa: f64,
    exponent: f64,
}

impl WidePower {
    /// `(size * 2^exponent)^r` for `size > 0`.
    pub(crate) fn new(size: f64, exponent: f64, r: f64) -> Self {
        let own = binary_exponent(size);
        let mantissa = scale_by_exp2(size, -f64::from(own));
        let exponent = r * (exponent + f64::from(own));
        // Down to (1/2)^1020 the mantissa is a normal number.
        if r <= 1020.0 {
            Self { mantissa: mantissa.powf(r), exponent }
        } else {
            Self { mantissa: 1.0, exponent: exponent + r * mantissa.log2() }
        }
    }

    /// The power times `2^exponent`.
    pub(crate) fn scaled_by_exp2(self, exponent: f64) -> Self {
        Self { exponent: self.exponent + exponent, ..self }
    }

    /// The square root of the power.
    pub(crate) fn root(self) -> Self {
        Self { mantissa: self.mantissa.sqrt(), exponent: 0.5 * self.exponent }
    }

    /// `x` times the power; infinite or zero where it leaves the range of `f64`.
    pub(crate) fn times(self, x: f64) -> f64 {
        scale_by_exp2(x * self.mantissa, self.exponent)
    }

    /// The natural logarithm of `x` times the power.
    pub(crate) fn ln_times(self, x: f64) -> f64 {
        (x * self.mantissa).ln() + self.exponent * std::f64::consts::LN_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_bracket_their_number() {
        for x in [5e-324, 1e-310, 1e-300, 0.5, 1.0, 1.5, 2.0, 1e300, f64::MAX] {
            let e = f64::from(binary_exponent(x));
            assert!(scale_by_exp2(x, -e) >= 0.5 && scale_by_exp2(x, -e) < 1.0, "{x:e} {e}");
        }
    }

    #[test]
    fn scaling_saturates_and_never_gives_nan() {
        assert_eq!(scale_by_exp2(0.0, f64::INFINITY), 0.0);
        assert_eq!(scale_by_exp2(-1.0, 1e300), f64::NEG_INFINITY);
        assert_eq!(scale_by_exp2(1.0, -1e300), 0.0);
        assert_eq!(scale_by_exp2(3.0, 2.0), 12.0);
        assert_eq!(scale_by_exp2(1e-300, 1993.0), 1e-300 * 2.0_f64.powi(1000) * 2.0_f64.powi(993));
        assert!((scale_by_exp2(1.0, 0.5) - 2.0_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn wide_powers_reach_beyond_the_range() {
        let power = WidePower::new(3.0, 0.0, 1001.0);
        assert_eq!(power.times(1.0), f64::INFINITY);
        assert!((power.ln_times(1.0) - 1001.0 * 3.0_f64.ln()).abs() < 1e-9);
        assert!((WidePower::new(3.0, 1.0, 4.0).times(0.5) - 648.0).abs() < 1e-12);
        assert_eq!(WidePower::new(0.1, 0.0, 1e6).times(1.0), 0.0);
        assert_eq!(WidePower::new(1e-3, 0.0, 1e15).times(0.0), 0.0);
    }
}
