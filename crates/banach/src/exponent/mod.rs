//! The exponent `p` of the regulariser, its conjugate `q`, and the maps that belong to them.
//!
//! `1/p + 1/q = 1`; the duality map is `J_q(u) = sign(u)|u|^(q-1)`, entry by entry, and `J_p` is its
//! inverse (paper, Notation and (9) `[eq:kktellp]`).
//!
//! `q` may be as large as 1001 and more, so `|u|^q` leaves the range of `f64` easily. Every sum over
//! features is therefore formed with `|u|/m`, where `m` is the largest `|u|` met, and the factor `m^q` is
//! applied last.

mod bregman;
mod prox;
mod running;

use std::{fmt, str::FromStr};

use crate::{
    Error,
    error::Parameter,
    numeric::{Power, signed_powers},
};
pub(crate) use bregman::LineSums;
pub(crate) use running::{NEGLIGIBLE, Running, RunningLine, copy_in_range};

/// Largest denominator that is tried when a decimal `p` is read as a fraction: that of any decimal with five digits.
const MAX_DENOMINATOR: u64 = 100_000;

/// What the exponent of a penalty may be.
const ALLOWED_PENALTY: &str = "1 <= p <= 2, as a decimal or a fraction such as 4/3";

/// An exponent `p` in (1, 2] together with its conjugate `q = p/(p-1)`.
///
/// A floating-point `p` is read as the simplest fraction that rounds to it, so `4.0 / 3.0` gives exactly
/// `q = 4` and `1.05` exactly `q = 21`.
///
/// ```
/// use banach::Exponent;
/// assert_eq!(Exponent::new(1.05)?.q(), 21.0);
/// assert_eq!("4/3".parse::<Exponent>()?.q(), 4.0);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponent {
    p: f64,
    q: f64,
    fraction: Option<(u64, u64)>,
    /// `t -> t^(q-1)`, the modulus of `J_q`.
    raise_q: Power,
    /// `t -> t^(p-1)`, the modulus of `J_p`.
    raise_p: Power,
}

impl Exponent {
    /// The exponent `p`, a real number in (1, 2].
    pub fn new(p: f64) -> Result<Self, Error> {
        if !(p > 1.0 && p <= 2.0) {
            return Err(Self::outside(&p.to_string()));
        }
        Ok(match simplest_fraction(p) {
            Some((numerator, denominator)) => Self::of_fraction(numerator, denominator),
            None => Self::from_pair(p, p / (p - 1.0), None),
        })
    }

    /// The exponent of a penalty, which may be 1 as well: `q` is then infinite, and `J_q` means nothing. A
    /// [`Plan`](crate::form::Plan) makes the form of it, and [`WorkingSets`](crate::solver::WorkingSets) solve its problems.
    ///
    /// ```
    /// use banach::Exponent;
    /// assert_eq!(Exponent::of_penalty(1.0)?.q(), f64::INFINITY);
    /// assert!(Exponent::new(1.0).is_err());
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn of_penalty(p: f64) -> Result<Self, Error> {
        match p {
            1.0 => {
                let (raise_q, raise_p) = (Power::Real(f64::INFINITY), Power::Integer(0));
                Ok(Self { p, q: f64::INFINITY, fraction: Some((1, 1)), raise_q, raise_p })
            }
            p if p > 1.0 && p <= 2.0 => Self::new(p),
            p => Err(Error::parameter(Parameter::P, p, ALLOWED_PENALTY)),
        }
    }

    /// As [`of_penalty`](Self::of_penalty), of `1`, `4/3` or `1.05`.
    pub fn parse_penalty(text: &str) -> Result<Self, Error> {
        let outside = || Error::parameter(Parameter::P, text, ALLOWED_PENALTY);
        match text.trim().parse::<f64>() {
            Ok(p) => Self::of_penalty(p),
            Err(_) => text.parse().map_err(|_| outside()),
        }
    }

    /// Refuses p = 1, for forms and algorithms of p > 1.
    pub(crate) fn refuse_endpoint(&self) -> Result<(), Error> {
        let allowed = "above 1 for this form or algorithm; p = 1 has its own";
        if self.is_endpoint() { Err(Error::parameter(Parameter::P, self, allowed)) } else { Ok(()) }
    }

    /// Whether p = 1.
    pub(crate) fn is_endpoint(&self) -> bool {
        self.q.is_infinite()
    }

    /// The exponent `p = numerator / denominator`; `q` is then exact.
    pub fn from_fraction(numerator: u64, denominator: u64) -> Result<Self, Error> {
        let inside = denominator > 0 && numerator > denominator && numerator - denominator <= denominator;
        // A fraction may be above 1 and still round to it.
        if !inside || numerator as f64 / denominator as f64 <= 1.0 {
            return Err(Self::outside(&format!("{numerator}/{denominator}")));
        }
        Ok(Self::of_fraction(numerator, denominator))
    }

    /// A fraction that is known to lie in (1, 2].
    fn of_fraction(numerator: u64, denominator: u64) -> Self {
        let p = numerator as f64 / denominator as f64;
        let q = numerator as f64 / (numerator - denominator) as f64;
        Self::from_pair(p, q, Some((numerator, denominator)))
    }

    fn from_pair(p: f64, q: f64, fraction: Option<(u64, u64)>) -> Self {
        Self { p, q, fraction, raise_q: Power::new(q - 1.0), raise_p: Power::new(1.0 / (q - 1.0)) }
    }

    fn outside(got: &str) -> Error {
        Error::parameter(Parameter::P, got, "1 < p <= 2, as a decimal or a fraction such as 4/3")
    }

    /// The exponent of the regulariser.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Its conjugate, `p/(p-1)`.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// Whether multiplications and at most one square root are enough for `|u|^(q-1)`.
    pub(crate) fn is_fast(&self) -> bool {
        !matches!(self.raise_q, Power::Real(_))
    }

    /// The order of the tensor kernels of this exponent: q, if it is 2, 4, 6 or 8.
    pub fn order(&self) -> Result<usize, Error> {
        [2, 4, 6, 8].into_iter().find(|&order| self.q == order as f64).ok_or_else(|| {
            Error::parameter(
                Parameter::P,
                format!("{self} (q = {})", self.q),
                "2, 4/3, 6/5 or 8/7, the exponents with a tensor kernel (q = 2, 4, 6, 8)",
            )
        })
    }

    /// `J_q(u)` in place, and the sum of `|u_k|^q`, both for `u * inverse_size`.
    ///
    /// With `inverse_size` at most `1/max|u|` nothing overflows.
    pub(crate) fn duality_map(&self, u: &mut [f64], inverse_size: f64) -> f64 {
        signed_powers(self.raise_q, u, inverse_size)
    }

    /// `J_p(w)` in place, and the sum of `|w_k|^p`.
    pub(crate) fn inverse_duality_map(&self, w: &mut [f64]) -> f64 {
        signed_powers(self.raise_p, w, 1.0)
    }

    /// `J_q(u) = sign(u)|u|^(q-1)`, entry by entry: the gradient of `(1/q)||u||_q^q`.
    pub fn j_q(&self, u: &mut [f64]) {
        self.duality_map(u, 1.0);
    }
}

impl FromStr for Exponent {
    type Err = Error;

    /// Reads `4/3` or `1.05`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |_| Self::outside(text);
        match text.split_once('/') {
            Some((numerator, denominator)) => Self::from_fraction(
                numerator.trim().parse().map_err(refuse)?,
                denominator.trim().parse().map_err(refuse)?,
            ),
            None => Self::new(text.trim().parse().map_err(|_| Self::outside(text))?),
        }
    }
}

impl fmt::Display for Exponent {
    /// Shows whichever of the fraction and the decimal is shorter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = self.p.to_string();
        let text = match self.fraction {
            Some((numerator, denominator)) => {
                let fraction = format!("{numerator}/{denominator}");
                if decimal.len() > fraction.len() + 1 { fraction } else { decimal }
            }
            None => decimal,
        };
        f.pad(&text)
    }
}

/// The first convergent of the continued fraction of `p` that rounds to `p`.
fn simplest_fraction(p: f64) -> Option<(u64, u64)> {
    let (mut previous, mut current) = ((0_u64, 1_u64), (1_u64, 0_u64));
    let mut rest = p;
    for _ in 0..40 {
        let whole = rest.floor();
        if whole > MAX_DENOMINATOR as f64 {
            return None;
        }
        let next = (whole as u64 * current.0 + previous.0, whole as u64 * current.1 + previous.1);
        if next.1 > MAX_DENOMINATOR {
            return None;
        }
        (previous, current) = (current, next);
        if current.0 as f64 / current.1 as f64 == p {
            return (current.0 > current.1).then_some(current);
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_and_fractions_give_the_same_exact_conjugate() {
        for (p, text, q) in [
            (4.0 / 3.0, "4/3", 4.0),
            (5.0 / 4.0, "1.25", 5.0),
            (1.1, "11/10", 11.0),
            (1.05, "1.05", 21.0),
            (1.01, "101/100", 101.0),
            (1.001, "1.001", 1001.0),
            (2.0, "2", 2.0),
            (1.5, " 3 / 2 ", 3.0),
            (1.08, "27/25", 13.5),
        ] {
            assert_eq!(Exponent::new(p).expect("p is inside").q(), q);
            assert_eq!(text.parse::<Exponent>().expect("text is inside").q(), q, "{text}");
        }
    }

    #[test]
    fn outside_values_are_refused_with_what_was_got() {
        for text in [
            "1",
            "2.0001",
            "0.5",
            "-1",
            "nan",
            "inf",
            "4/0",
            "3/3",
            "5/2",
            "x",
            "",
            "4/3/2",
            "1e400",
            "18446744073709551615/1",
            "18446744073709551615/18446744073709551614",
            "100000000000000001/100000000000000000",
        ] {
            let error = text.parse::<Exponent>().expect_err(text).to_string();
            assert!(error.contains("1 < p <= 2"), "{error}");
        }
    }

    #[test]
    fn orders_are_even_and_exact() {
        for (text, order) in [("2", 2), ("4/3", 4), ("1.3333333333333333", 4), ("1.2", 6), ("6/5", 6), ("8/7", 8)] {
            assert_eq!(text.parse::<Exponent>().expect("inside").order(), Ok(order), "{text}");
        }
        assert_eq!(Exponent::new(8.0 / 7.0).expect("inside").order(), Ok(8));
        for text in ["3/2", "1.333", "10/9", "1.05", "1.9999999999999998", "1.4142135623730951"] {
            let error = text.parse::<Exponent>().expect("inside").order().expect_err(text).to_string();
            assert!(error.contains("4/3, 6/5 or 8/7"), "{error}");
        }
    }

    #[test]
    fn the_shorter_of_fraction_and_decimal_is_shown() {
        for (text, shown) in [
            ("4/3", "4/3"),
            ("1.05", "1.05"),
            ("5/4", "1.25"),
            ("2", "2"),
            ("1.4142135623730951", "1.4142135623730951"),
        ] {
            assert_eq!(text.parse::<Exponent>().expect("inside").to_string(), shown);
        }
    }

    proptest! {
        /// `J_p` inverts `J_q` (paper, after (9)).
        #[test]
        fn j_p_inverts_j_q(p in 1.02_f64..=2.0, u in -3.0_f64..3.0) {
            let exponent = Exponent::new(p).expect("inside");
            let mut value = [u];
            exponent.j_q(&mut value);
            prop_assume!(value[0].abs() > 1e-290);
            exponent.inverse_duality_map(&mut value);
            prop_assert!((value[0] - u).abs() <= 1e-14 * u.abs(), "{} {}", value[0], u);
        }
    }
}
