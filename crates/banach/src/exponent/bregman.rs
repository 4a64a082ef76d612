//! `(1/q)|u|^q` along a line, with its Bregman distance free of cancellation.
//!
//! The line-search test of Algorithm 3.3 asks for `D(u, v) = |v|^q/q - |u|^q/q - (v-u) J_q(u)`. Near a
//! solution this subtracts numbers that agree in all but their last digits. With `x = (v-u)/u`,
//!
//! ```text
//! D(u, v) = |u|^(q-2) (v-u)^2 (q-1)/2 [1 + (q-2)/3 x [1 + (q-3)/4 x [1 + ...]]]
//! ```
//!
//! whose terms decay like `(q|x|)^j/j!`. From `q|x| = 1/2` on, `|v|^q/q + |u|^q/p - v J_q(u)` is at most
//! some ten times less accurate than the powers themselves, and is used instead.

use std::ops::Add;

use super::Exponent;
use crate::numeric::{CHUNK, LANES, accumulate, total, vectorised};

/// Below this `q|x|` the series is used.
const SERIES_BELOW: f64 = 0.5;
/// Terms of the series. What is cut off is below 1e-16 of the sum; 13 would do for `q >= 3`, and leave 1e-13 for q = 2.1.
const TERMS: usize = 18;

/// Sums over features along a line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineSums {
    /// The sum of `|v|^q`.
    pub power: f64,
    /// The sum of `J_q(v) d`: the derivative of `(1/q)||v||_q^q` in the direction `d`.
    pub slope: f64,
    /// The sum of the Bregman distances from `u` to `v`.
    pub bregman: f64,
}

impl Add for LineSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { power: self.power + other.power, slope: self.slope + other.slope, bregman: self.bregman + other.bregman }
    }
}

impl Exponent {
    /// The sums of [`LineSums`] from `u u_factor` to `v = u u_factor + d d_factor`.
    ///
    /// Nothing overflows when the scales keep both at most 1 in magnitude.
    pub(crate) fn line_sums(&self, u: &[f64], d: &[f64], u_factor: f64, d_factor: f64) -> LineSums {
        let &Self { p, q, raise_q, .. } = self;
        let mut nested = [0.0; TERMS];
        for (j, factor) in nested.iter_mut().enumerate() {
            *factor = (q - 2.0 - j as f64) / (3.0 + j as f64);
        }
        vectorised(
            #[inline(always)]
            move || {
                let mut buffers = [[0.0; CHUNK]; 4];
                let mut sums = [[0.0; LANES]; 3];
                for (u, d) in u.chunks(CHUNK).zip(d.chunks(CHUNK)) {
                    let [v, u_power, v_power, distance] = buffers.each_mut().map(|buffer| &mut buffer[..u.len()]);
                    for k in 0..u.len() {
                        v[k] = u[k] * u_factor + d[k] * d_factor;
                        u_power[k] = (u[k] * u_factor).abs();
                        v_power[k] = v[k].abs();
                    }
                    raise_q.raise(u_power);
                    raise_q.raise(v_power);
                    for k in 0..u.len() {
                        let (u, step) = (u[k] * u_factor, d[k] * d_factor);
                        let x = step / u;
                        let mut series = 1.0;
                        for factor in nested.iter().rev() {
                            series = 1.0 + factor * x * series;
                        }
                        let near = 0.5 * (q - 1.0) * u_power[k] * (x * step).abs() * series;
                        let far =
                            v_power[k] * v[k].abs() / q + u_power[k] * u.abs() / p - v[k] * u_power[k].copysign(u);
                        // Rounding may leave less than 0; NaN, from infinities, must stay NaN.
                        let far = if far < 0.0 { 0.0 } else { far };
                        distance[k] = if q * x.abs() < SERIES_BELOW { near } else { far };
                        v_power[k] = v_power[k].copysign(v[k]);
                    }
                    accumulate(&mut sums[0], v_power, v);
                    accumulate(&mut sums[1], v_power, d);
                    accumulate(&mut sums[2], distance, &[1.0; CHUNK][..u.len()]);
                }
                let [power, slope, bregman] = sums.map(|sums| total(&sums));
                LineSums { power, slope, bregman }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use qd::Quad;

    fn bregman(p: f64, u: f64, step: f64) -> f64 {
        Exponent::new(p).expect("inside").line_sums(&[u], &[step], 1.0, 1.0).bregman
    }

    /// For `q = 4` the distance is `(v-u)^2 (v^2 + 2uv + 3u^2)/4`, exactly.
    fn quartic(u: f64, step: f64) -> f64 {
        let v = u + step;
        step * step * (v * v + 2.0 * u * v + 3.0 * u * u) / 4.0
    }

    /// `|v|^q/q + |u|^q/p - v J_q(u)` with 32 digits, of which the difference loses a few; u and v are positive.
    fn with_many_digits(q: f64, u: f64, step: f64) -> f64 {
        let [q, u, step, one] = [q, u, step, 1.0].map(Quad::from);
        let (v, power) = (u + step, |t: Quad, r: Quad| (t.ln() * r).exp());
        (power(v, q) / q + power(u, q) * (one - one / q) - v * power(u, q - one)).0
    }

    /// Up to the border of the series, and beyond it, for q near 2 and far from it.
    #[test]
    fn nothing_of_the_series_is_missing() {
        for p in [1.999, 1.95, 1.91, 1.8, 1.6, 1.5, 1.4, 4.0 / 3.0, 1.1] {
            let q = Exponent::new(p).expect("inside").q();
            for share in [-0.999, -0.9, -0.5, -0.1, 0.1, 0.5, 0.9, 0.999] {
                let (u, step) = (0.7, 0.7 * share * SERIES_BELOW / q);
                let (got, expected) = (bregman(p, u, step), with_many_digits(q, u, step));
                assert!((got - expected).abs() <= 4e-15 * expected, "p = {p}, {share}: {got:e} for {expected:e}");
            }
        }
    }

    #[test]
    fn zero_steps_and_zero_starts() {
        for p in [1.001, 1.05, 1.3, 4.0 / 3.0, 2.0] {
            let q = Exponent::new(p).expect("inside").q();
            assert_eq!(bregman(p, 0.7, 0.0), 0.0);
            assert_eq!(bregman(p, 0.0, 0.0), 0.0);
            assert!((bregman(p, 0.0, -1.0) - 1.0 / q).abs() < 1e-15);
        }
    }

    proptest! {
        #[test]
        fn has_no_cancellation(u in 0.1_f64..1.0, size in -16.0_f64..0.5, sign in any::<bool>()) {
            let step = 10.0_f64.powf(size) * if sign { 1.0 } else { -1.0 };
            let (got, expected) = (bregman(4.0 / 3.0, u, step), quartic(u, step));
            prop_assert!((got - expected).abs() <= 3e-14 * expected, "{got:e} {expected:e}");
        }

        /// Against the integral form `(q-1) step^2 int_0^1 (1-s)|u + s step|^(q-2) ds`.
        #[test]
        fn is_the_integral_of_the_curvature(p in 1.02_f64..2.0, u in 0.2_f64..1.0, x in -0.9_f64..0.9) {
            let q = Exponent::new(p).expect("inside").q();
            let step = x * u;
            let nodes = 20_000;
            let mean = (0..nodes).map(|k| {
                let s = (f64::from(k) + 0.5) / f64::from(nodes);
                (1.0 - s) * (u + s * step).abs().powf(q - 2.0)
            }).sum::<f64>() / f64::from(nodes);
            let expected = (q - 1.0) * step * step * mean;
            let got = bregman(p, u, step);
            prop_assert!((got - expected).abs() <= 1e-5 * expected, "{got:e} {expected:e}");
        }

        #[test]
        fn slopes_are_derivatives(p in 1.05_f64..=2.0, u in -1.0_f64..1.0, d in -1.0_f64..1.0, t in 0.0_f64..1.0) {
            let exponent = Exponent::new(p).expect("inside");
            let at = |t: f64| exponent.line_sums(&[u], &[d], 1.0, t);
            let h = 1e-6;
            let difference = (at(t + h).power - at(t - h).power) / (2.0 * h * exponent.q());
            prop_assert!((difference - at(t).slope).abs() < 1e-5, "{difference} {}", at(t).slope);
        }
    }
}
