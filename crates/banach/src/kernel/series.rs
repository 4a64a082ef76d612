//! Functions with a power series of non-negative coefficients, by name.

use std::f64::consts;

use super::{MAX_VALUE, linear::sign};
use crate::{
    error::{Parameter, names},
    numeric::exp_in_place,
};

/// A named function `f(t) = sum_s a_s t^s` with `a_s >= 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Series {
    /// `1/(1-t)` for `|t| < 1`: all coefficients are 1.
    Geometric,
    /// `-log(1-t)` for `|t| < 1`: `1/s` from degree 1 on.
    Logarithm,
    /// `cosh t`: the even part of the exponential.
    Cosh,
    /// `sinh t`: the odd part of the exponential.
    Sinh,
    /// The modified Bessel function `I_0(t) = sum_m (t/2)^(2m) / (m!)^2`.
    BesselI0,
}

names! {
    Series, Parameter::Series, "geometric, log, cosh, sinh or bessel_i0";
    Geometric "geometric", Logarithm "log", Cosh "cosh", Sinh "sinh", BesselI0 "bessel_i0"
}

impl Series {
    /// `a_s`.
    pub(super) fn coefficient(self, s: usize) -> f64 {
        let reciprocals = |m: usize| (1..=m).map(|i| 1.0 / i as f64);
        match self {
            Self::Geometric => 1.0,
            Self::Logarithm if s > 0 => 1.0 / s as f64,
            Self::Cosh if s.is_multiple_of(2) => reciprocals(s).product(),
            Self::Sinh if !s.is_multiple_of(2) => reciprocals(s).product(),
            Self::BesselI0 if s.is_multiple_of(2) => reciprocals(s / 2).map(|i| 0.25 * i * i).product(),
            _ => 0.0,
        }
    }

    /// The degree of its first term.
    pub(super) fn lowest(self) -> usize {
        match self {
            Self::Geometric | Self::Cosh | Self::BesselI0 => 0,
            Self::Logarithm | Self::Sinh => 1,
        }
    }

    /// The radius of convergence.
    pub(super) fn radius(self) -> f64 {
        match self {
            Self::Geometric | Self::Logarithm => 1.0,
            Self::Cosh | Self::Sinh | Self::BesselI0 => f64::INFINITY,
        }
    }

    /// A `t` up to which `f(t)` is at most [`MAX_VALUE`] or cannot be computed beyond.
    pub(super) fn limit(self) -> f64 {
        match self {
            // The kernel's limit is a factor 1 - 1e-9 inside, where both are at most 1e9.
            Self::Geometric | Self::Logarithm => 1.0,
            // sinh t <= cosh t <= e^t/2 + 1/2, and I_0 <= cosh term by term.
            Self::Cosh | Self::Sinh | Self::BesselI0 => MAX_VALUE.ln() + consts::LN_2,
        }
    }

    /// `f(t)`; infinite from the radius of convergence on.
    pub(super) fn value(self, t: f64) -> f64 {
        match self {
            Self::Geometric if t < 1.0 => 1.0 / (1.0 - t),
            Self::Logarithm if t < 1.0 => -(-t).ln_1p(),
            Self::Geometric | Self::Logarithm => f64::INFINITY,
            Self::Cosh => t.cosh(),
            Self::Sinh => t.sinh(),
            Self::BesselI0 if t.abs() <= BESSEL_SWITCH => 1.0 + bessel_i0_near(t),
            // Two factors: e^t may be out of range where I_0 is not.
            Self::BesselI0 => (0.5 * t.abs()).exp() * bessel_i0_far(t) * (0.5 * t.abs()).exp(),
        }
    }

    /// [`value`](Self::value) in place.
    pub(super) fn apply(self, t: &mut [f64]) {
        match self {
            // With the series known, the loop becomes one of vectors.
            Self::Geometric => t.iter_mut().for_each(|t| *t = Self::Geometric.value(*t)),
            Self::Cosh => {
                t.iter_mut().for_each(|t| *t = t.abs());
                exp_in_place(t);
                t.iter_mut().for_each(|t| *t = 0.5 * (*t + 1.0 / *t));
            }
            _ => t.iter_mut().for_each(|t| *t = self.value(*t)),
        }
    }

    /// `f(t) - f(r)`, given `z = t - r`, without cancellation where a formula is at hand.
    pub(super) fn difference(self, t: f64, r: f64, z: f64) -> f64 {
        match self {
            Self::Geometric => z * self.value(t) * self.value(r),
            Self::Logarithm => (z / (1.0 - t)).ln_1p(),
            Self::Cosh => 2.0 * (t - 0.5 * z).sinh() * (0.5 * z).sinh(),
            Self::Sinh => 2.0 * (t - 0.5 * z).cosh() * (0.5 * z).sinh(),
            Self::BesselI0 if t.abs().max(r.abs()) <= BESSEL_SWITCH => bessel_i0_difference(t, r, z),
            Self::BesselI0 => self.value(t) - self.value(r),
        }
    }

    /// The sign of `f(t)` and `ln |f(t)|`.
    pub(super) fn ln_value(self, t: f64) -> (f64, f64) {
        let size = t.abs();
        match self {
            Self::Geometric if t < 1.0 => (1.0, -(-t).ln_1p()),
            Self::Geometric | Self::Logarithm => (sign(t), self.value(t).abs().ln()),
            Self::Cosh => (1.0, size + (-2.0 * size).exp().ln_1p() - consts::LN_2),
            Self::Sinh if size > 1.0 => (sign(t), size + (-(-2.0 * size).exp()).ln_1p() - consts::LN_2),
            Self::Sinh => (sign(t), size.sinh().ln()),
            Self::BesselI0 if size <= BESSEL_SWITCH => (1.0, bessel_i0_near(t).ln_1p()),
            Self::BesselI0 => (1.0, size + bessel_i0_far(t).ln()),
        }
    }
}

/// Here the asymptotic series of `I_0` reaches full accuracy: its smallest term is about `e^(-2t)`.
const BESSEL_SWITCH: f64 = 20.0;

/// `I_0(t) - 1` by its power series; all terms are positive.
fn bessel_i0_near(t: f64) -> f64 {
    let square = 0.25 * t * t;
    let (mut term, mut sum, mut m) = (1.0, 0.0, 1.0);
    while term > 1e-17 * sum {
        term *= square / (m * m);
        sum += term;
        m += 1.0;
    }
    sum
}

/// `I_0(t) - I_0(r)`: the differences of the powers `(t^2/4)^m - (r^2/4)^m` all have one sign.
fn bessel_i0_difference(t: f64, r: f64, z: f64) -> f64 {
    let (first, second, step) = (0.25 * t * t, 0.25 * r * r, 0.25 * z * (t + r));
    let (mut difference, mut power, mut sum, mut m) = (step, second, step, 1.0);
    while difference.abs() > 1e-17 * sum.abs() {
        m += 1.0;
        difference = (difference * first + power * step) / (m * m);
        power *= second / (m * m);
        sum += difference;
    }
    sum
}

/// `e^-|t| I_0(t) = (2 pi t)^(-1/2) (1 + 1/(8t) + (1*9)/(2! (8t)^2) + ...)` for `|t|` above [`BESSEL_SWITCH`].
fn bessel_i0_far(t: f64) -> f64 {
    let t = t.abs().min(f64::MAX);
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        let odd = 2.0 * k - 1.0;
        term *= odd * odd / (8.0 * k * t);
        sum += term;
        k += 1.0;
    }
    sum / (consts::TAU.sqrt() * t.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of mpmath with 30 digits.
    #[test]
    fn bessel_function_is_accurate() {
        for (t, value, ln) in [
            (0.1, 1.002_501_562_934_095_6, 0.002_498_439_233_876_243_7),
            (1.0, 1.266_065_877_752_008_3, 0.235_914_358_507_178_65),
            (5.0, 27.239_871_823_604_447, 3.304_681_775_822_533_4),
            (19.5, 26_760_525.339_838_766, 17.102_438_424_565_192),
            (20.0, 43_558_282.559_553_53, 17.589_610_428_244_274),
            (20.5, 70_922_869.834_317_01, 18.077_103_504_148_475),
            (35.0, 107_338_818_494_514.06, 32.307_011_475_485_24),
            (100.0, 1.073_751_707_131_073_8e42, 96.779_732_689_942_58),
            (700.0, 1.529_593_347_671_873_7e302, 695.805_699_998_443_4),
            (1e4, f64::INFINITY, 9_994.475_903_781_432),
            (1e7, f64::INFINITY, 9_999_991.022_013_653),
        ] {
            for t in [t, -t] {
                let got = Series::BesselI0.value(t);
                let near = (got / value - 1.0).abs() < 4e-14 || got == value;
                assert!(near, "{t} {got:e} {value:e}");
                let (sign, got) = Series::BesselI0.ln_value(t);
                assert!(sign == 1.0 && (got / ln - 1.0).abs() < 1e-14, "{t} {got:e} {ln:e}");
            }
        }
        assert_eq!(Series::BesselI0.value(0.0), 1.0);
    }

    #[test]
    fn coefficients_are_those_of_the_functions() {
        for (series, expected) in [
            (Series::Geometric, [1.0, 1.0, 1.0, 1.0, 1.0]),
            (Series::Logarithm, [0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]),
            (Series::Cosh, [1.0, 0.0, 1.0 / 2.0, 0.0, 1.0 / 24.0]),
            (Series::Sinh, [0.0, 1.0, 0.0, 1.0 / 6.0, 0.0]),
            (Series::BesselI0, [1.0, 0.0, 1.0 / 4.0, 0.0, 1.0 / 64.0]),
        ] {
            for (s, expected) in expected.into_iter().enumerate() {
                assert!((series.coefficient(s) - expected).abs() < 1e-16, "{series} {s}");
            }
        }
    }

    #[test]
    fn names_are_read_and_shown() {
        for series in Series::ALL {
            assert_eq!(series.to_string().parse(), Ok(series));
        }
        assert!("tanh".parse::<Series>().expect_err("no such series").to_string().contains("cosh, sinh"));
    }

    #[test]
    fn nothing_is_nan_at_and_beyond_the_radius() {
        for series in Series::ALL {
            for t in [1.0, 1.0 - 1e-16, 2.0, 1e300, f64::INFINITY].into_iter().flat_map(|t| [t, -t]) {
                assert!(!series.value(t).is_nan() && !series.ln_value(t).1.is_nan(), "{series} {t}");
            }
        }
    }
}
