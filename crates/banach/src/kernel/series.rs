//! Functions with a power series of non-negative coefficients, by name.

use std::{f64::consts, fmt, str::FromStr};

use super::{MAX_VALUE, linear::sign};
use crate::Error;

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

impl Series {
    /// Every named function.
    pub const ALL: [Self; 5] = [Self::Geometric, Self::Logarithm, Self::Cosh, Self::Sinh, Self::BesselI0];

    fn name(self) -> &'static str {
        match self {
            Self::Geometric => "geometric",
            Self::Logarithm => "log",
            Self::Cosh => "cosh",
            Self::Sinh => "sinh",
            Self::BesselI0 => "bessel_i0",
        }
    }

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
            // Below 1e9 wherever 1 - t is known.
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
            Self::BesselI0 if t.abs() <= BESSEL_SWITCH => bessel_i0_near(t),
            // Two factors: e^t may be out of range where I_0 is not.
            Self::BesselI0 => (0.5 * t.abs()).exp() * bessel_i0_far(t.abs()) * (0.5 * t.abs()).exp(),
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
            Self::BesselI0 if size <= BESSEL_SWITCH => (1.0, bessel_i0_near(t).ln()),
            Self::BesselI0 => (1.0, size + bessel_i0_far(size).ln()),
        }
    }
}

/// Here the asymptotic series of `I_0` reaches full accuracy: its smallest term is about `e^(-2t)`.
const BESSEL_SWITCH: f64 = 20.0;

/// `I_0(t)` by its power series; all terms are positive.
fn bessel_i0_near(t: f64) -> f64 {
    let square = 0.25 * t * t;
    let (mut term, mut sum, mut m) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        term *= square / (m * m);
        sum += term;
        m += 1.0;
    }
    sum
}

/// `e^-t I_0(t) = (2 pi t)^(-1/2) (1 + 1/(8t) + (1*9)/(2! (8t)^2) + ...)` for `t` above [`BESSEL_SWITCH`].
fn bessel_i0_far(t: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        let odd = 2.0 * k - 1.0;
        term *= odd * odd / (8.0 * k * t);
        sum += term;
        k += 1.0;
    }
    sum / (consts::TAU * t).sqrt()
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Series {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|series| series.name() == text).ok_or_else(|| Error::Parameter {
            name: "series",
            got: text.to_owned(),
            allowed: "geometric, log, cosh, sinh or bessel_i0",
        })
    }
}
