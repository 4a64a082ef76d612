//! The logistic loss over slices, at the width of the machine's vectors.
//!
//! With `e = exp(-|y t|)` the probabilities of the two labels are `a = e/(1+e) <= 1/2` and `b = 1/(1+e)`. Let `v` be that of `c = y s` and
//! `1 - c` which is to be a, and `o = 1 - v`. The gap is the relative entropy
//!
//! ```text
//! v ln(v/a) + o ln(o/b) = a x(d/a) + b x(-d/b),    d = v - a,    x(z) = (1+z) ln(1+z) - z
//! ```
//!
//! **Its rounding.** With u = 2^-53, e is off by 4 u of itself, a by 7 u and b by 4 u. Another a is that of another prediction: one that is
//! off by `7 u/(1-a) <= 14 u`. Where v = 1 - c is rounded, by `u/2` at most, that is another a by `4 u` if `a >= 1/8`, and `d` by no more than `u/2`
//! of itself elsewhere. [`MOVED`] covers both as a change of the prediction. Against this a the other number b is off by 12 u, which changes
//! `b x(-d/b)` by `12 u (|ln(o/b)| + 1)` of itself at most, 340 u for `o >= 2^-40`. By its series `x` is off by a few units; beyond `|z| = 1/8` the
//! difference `(1+z) ln(1+z) - z` loses at most `1/0.0075` times the `3 EPSILON` of its parts. All of that is below 2048 EPSILON, a
//! quarter of what is [counted](GAP_ROUNDING).
//!
//! **Where t and s may be.** The slope of the loss has the Lipschitz constant 1/4, and `psi'' = 1/v + 1/o`; so with predictions off by h and
//! s off by k, where `L'(y, t) + s = y d` or `-y d`,
//!
//! ```text
//! gap <= gap(t, s) + h |d| + h^2/8 + k |psi'(s) + t| + 0.54 k^2 (1/v + 1/o) + h k,    |psi'(s) + t| <= |ln(v/a)| + |ln(o/b)|
//! ```
//!
//! for k below a sixteenth of v and of o; and h times 1 is enough, since slopes and s are between the same two numbers.
//!
//! **Far predictions.** Beyond |y t| = 600, where a is no normal number, the gap grows by v for every unit of the prediction, but for less than
//! `exp(-600)`, and so does the loss where it is not 0.
//!
//! Samples for which some of this is not so are handled one by one.

use super::Logistic;
use crate::{
    loss::{LossSlices, SliceTerms, contract::terms_of_sample},
    numeric::{exp, ln, ln_1p_of_unit, polynomial, vectorised},
};

/// What stands for the rounding of a probability, as a change of the prediction.
const MOVED: f64 = 32.0 * f64::EPSILON;
/// Up to this, `x(z)` is its series.
const SERIES_BELOW: f64 = 0.125;
/// Margins up to this leave both probabilities normal numbers.
const NEAR_MARGIN: f64 = 600.0;
/// Beyond this, products may leave the range.
const MOST_PREDICTION: f64 = 1e100;
/// The least `c` and `1 - c`. The latter is then known to 2^-13 of itself, and a unit of c is far less than a sixteenth of it.
const LEAST_C: f64 = 1e-250;
const LEAST_REST: f64 = 1.0 / (1_u64 << 40) as f64;

impl LossSlices for Logistic {
    fn values(&self, y: &[f64], t: &[f64], out: &mut [f64]) {
        vectorised(
            #[inline(always)]
            move || {
                for ((out, y), t) in out.iter_mut().zip(y).zip(t) {
                    let margin = y * t;
                    let value = ln_1p_of_unit(exp(-margin.abs())) + (-margin).max(0.0);
                    // The vector formulas keep only the range of numbers.
                    *out = if margin.is_nan() { f64::NAN } else { value };
                }
            },
        );
    }

    fn answers(&self, y: &[f64], t: &[f64], s: &mut [f64], curvatures: &mut [f64]) {
        vectorised(
            #[inline(always)]
            move || {
                for k in 0..y.len() {
                    let margin = y[k] * t[k];
                    let e = exp(-margin.abs());
                    let larger = 1.0 / (1.0 + e);
                    let c = if margin >= 0.0 { e * larger } else { larger };
                    let c = c.clamp(f64::MIN_POSITIVE, 1.0 - 4.0 * f64::EPSILON);
                    s[k] = y[k] * c;
                    curvatures[k] = 1.0 / (c * (1.0 - c));
                }
            },
        );
    }

    fn terms(&self, [y, t, s]: [&[f64]; 3], [t_moved, s_moved]: [&[f64]; 2], out: SliceTerms<'_>) {
        let SliceTerms { values, conjugates, gaps, bounds } = out;
        let n = y.len();
        let (t, s, t_moved, s_moved) = (&t[..n], &s[..n], &t_moved[..n], &s_moved[..n]);
        let odd = vectorised(
            #[inline(always)]
            || {
                let (values, conjugates) = (&mut values[..n], &mut conjugates[..n]);
                let (gaps, bounds) = (&mut gaps[..n], &mut bounds[..n]);
                let mut odd = 0_u64;
                for k in 0..n {
                    let terms = terms_inside(y[k], t[k], s[k], t_moved[k], s_moved[k]);
                    [values[k], conjugates[k], gaps[k], bounds[k]] = terms;
                    odd += u64::from(!is_inside(y[k], t[k], s[k], t_moved[k]));
                }
                odd
            },
        );
        if odd > 0 {
            for k in (0..n).filter(|&k| !is_inside(y[k], t[k], s[k], t_moved[k])) {
                let terms = terms_of_sample(self, [y[k], t[k], s[k]], [t_moved[k], s_moved[k]]);
                [values[k], conjugates[k], gaps[k], bounds[k]] = terms;
            }
        }
    }
}

/// Whether [`terms_inside`] is right.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "a branch would keep the loop from being vectorised")]
fn is_inside(y: f64, t: f64, s: f64, t_moved: f64) -> bool {
    let c = y * s;
    (t.abs() <= MOST_PREDICTION) & (c >= LEAST_C) & (1.0 - c >= LEAST_REST) & (t_moved <= f64::MAX)
}

/// The terms of a sample whose probabilities are well inside their range.
#[inline(always)]
fn terms_inside(y: f64, t: f64, s: f64, t_moved: f64, s_moved: f64) -> [f64; 4] {
    let (margin, c) = (y * t, y * s);
    let size = margin.abs();
    let near = if size < NEAR_MARGIN { size } else { NEAR_MARGIN };
    let e = exp(-near);
    let sum = 1.0 + e;
    let b = 1.0 / sum;
    let a = e * b;
    let ln_sum = ln_1p_of_unit(e);
    let value = ln_sum + if margin < 0.0 { size } else { 0.0 };

    let (v, o) = if margin >= 0.0 { (c, 1.0 - c) } else { (1.0 - c, c) };
    let d = v - a;
    let (v_ratio, o_ratio) = (v / a, o * sum);
    let (z_a, z_b) = (d / a, -d * sum);
    let (ln_v, ln_o) = (ln(v_ratio), ln(o_ratio));
    let near_a = z_a.abs() <= SERIES_BELOW;
    let near_b = z_b.abs() <= SERIES_BELOW;
    let excess_a = if near_a { d * z_a * series(z_a) } else { v * ln_v - d };
    let excess_b = if near_b { -d * z_b * series(z_b) } else { o * ln_o + d };
    let gap = excess_a + excess_b + v * (size - near);
    // Of v and o themselves.
    let conjugate = v * (ln_v - near - ln_sum) + o * (ln_o - ln_sum);

    // |ln(1 + z)| <= 8/7 |z| for |z| <= 1/8.
    let slope_a = if near_a { 1.15 * z_a.abs() } else { 1.01 * ln_v.abs() };
    let slope_b = if near_b { 1.15 * z_b.abs() } else { 1.01 * ln_o.abs() } + (size - near);
    let h = t_moved + MOVED * (1.0 + size);
    let k = s_moved;
    let most_slope = d.abs() + 0.125 * h;
    let of_s = k * (slope_a + slope_b + 0.54 * (k / v + k / o));
    let bound = gap + h * (if most_slope < 1.0 { most_slope } else { 1.0 } + k) + of_s;
    [value, conjugate, gap + of_s, bound]
}

/// `((1+z) ln(1+z) - z)/z^2` for `|z| <= 1/8`: what follows `z^15` is below `2^-55`.
#[inline(always)]
fn series(z: f64) -> f64 {
    const TERMS: [f64; 16] = alternating();
    polynomial(TERMS, z)
}

/// `(-1)^j / (j (j-1))` for j from 2 on.
const fn alternating() -> [f64; 16] {
    let (mut terms, mut at) = ([0.0; 16], 0);
    while at < 16 {
        let size = 1.0 / ((at + 2) * (at + 1)) as f64;
        terms[at] = if at % 2 == 0 { size } else { -size };
        at += 1;
    }
    terms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use qd::Quad;

    use super::*;
    use crate::loss::{GAP_ROUNDING, Loss};

    fn terms(y: f64, t: f64, s: f64, moved: [f64; 2]) -> [f64; 4] {
        let mut out = [[0.0]; 4];
        let [values, conjugates, gaps, bounds] = &mut out;
        let out_terms = SliceTerms { values, conjugates, gaps, bounds };
        Logistic.terms([&[y], &[t], &[s]], [&[moved[0]], &[moved[1]]], out_terms);
        out.map(|[term]| term)
    }

    /// The gap with 32 digits, of which it loses some where it is small.
    fn gap(y: f64, t: f64, s: f64) -> f64 {
        let [y, t, s, one] = [y, t, s, 1.0].map(Quad::from);
        let (margin, c) = (y * t, y * s);
        let value = (one + (-margin).exp()).ln();
        (value + c * c.ln() + (one - c) * (one - c).ln() + margin * c).0
    }

    proptest! {
        /// Against 32 digits, and with the bound above the gap at every corner of where t and s may be.
        #[test]
        fn terms_are_those_of_one_sample(
            t in -30.0_f64..30.0, c in 1e-6_f64..0.999_999, near in -16.0_f64..0.0, is_near: bool, moved in -18.0_f64..-3.0, positive: bool,
        ) {
            let y = if positive { 1.0 } else { -1.0 };
            let sigmoid = 1.0 / (1.0 + (y * t).exp());
            let c = if is_near { (sigmoid * (1.0 + 10.0_f64.powf(near))).clamp(1e-11, 1.0 - 1e-11) } else { c };
            let (s, h) = (y * c, 10.0_f64.powf(moved));
            let [value, conjugate, found, bound] = terms(y, t, s, [h, s.abs() * f64::EPSILON]);
            let close = |a: f64, b: f64, size: f64| (a - b).abs() <= 16.0 * f64::EPSILON * size;
            prop_assert!(close(value, Logistic.value(y, t), value));
            prop_assert!(close(conjugate, Logistic.conjugate(y, s), 1.0 + t.abs()), "{} {}", conjugate, Logistic.conjugate(y, s));
            let exact = gap(y, t, s);
            let unit = MOVED * (1.0 + t.abs()) * ((c - sigmoid).abs() + MOVED);
            let ends = [s.next_down(), s.next_up()].map(|s| gap(y, t, s));
            let of_s = 8.0 * (ends[0].max(ends[1]) - exact).max(0.0) + 1e-30;
            let off = found - exact;
            prop_assert!(off.abs() <= GAP_ROUNDING * exact + unit + of_s + 1e-29, "{:e} {:e}", found, exact);
            for t in [t - h, t, t + h] {
                for s in [s.next_down(), s, s.next_up()] {
                    prop_assert!(bound * (1.0 + GAP_ROUNDING) + 1e-29 >= gap(y, t, s), "{:e} {:e}", bound, gap(y, t, s));
                }
            }
            // And little more than needed: units of s count twice, and their squares four times.
            let corners = [t - h, t + h].into_iter().flat_map(|t| [s.next_down(), s.next_up()].map(|s| gap(y, t, s)));
            let most = corners.fold(0.0, f64::max);
            let much = if h > 1e-9 && c > 1e-5 && c < 1.0 - 1e-5 { 1.1 } else { 5.0 };
            prop_assert!(bound <= much * most + 2.0 * h * h + 1e-12 * (c - sigmoid).abs() + 1e-26, "{:e} {:e}", bound, most);
        }

        #[test]
        fn answers_are_those_of_one_sample(t in -800.0_f64..800.0, positive: bool) {
            let y = if positive { 1.0 } else { -1.0 };
            let (mut s, mut curvature, mut value) = ([0.0], [0.0], [0.0]);
            Logistic.answers(&[y], &[t], &mut s, &mut curvature);
            Logistic.values(&[y], &[t], &mut value);
            let slope = Logistic.slope(y, t).expect("smooth");
            let is_end = s[0].abs() <= f64::MIN_POSITIVE || s[0].abs() >= 1.0 - 8.0 * f64::EPSILON;
            prop_assert!(is_end || (s[0] + slope).abs() <= 8.0 * f64::EPSILON * slope.abs() + 1e-322);
            let expected = Logistic.conjugate_curvature(y, s[0]).expect("inside");
            prop_assert!((curvature[0] - expected).abs() <= 8.0 * f64::EPSILON * expected);
            let expected = Logistic.value(y, t);
            let most = 8.0 * f64::EPSILON * expected + 1e-322;
            prop_assert!((value[0] - expected).abs() <= most, "{} {}", value[0], expected);
        }
    }

    /// At the ends and beyond them, and for predictions out of range.
    #[test]
    fn edges_are_those_of_one_sample() {
        let predictions = [0.0, 30.0, -30.0, 700.0, -700.0, 1e300, -1e300, f64::INFINITY, f64::NAN];
        for t in predictions {
            for c in [-0.1, 0.0, 5e-324, 1e-300, 0.5, 1.0 - 1e-15, 1.0, 1.1] {
                for moved in [0.0, 1e-9, 0.5, f64::INFINITY] {
                    let found = terms(-1.0, t, -c, [moved, 1e-16]);
                    let expected = terms_of_sample(&Logistic, [-1.0, t, -c], [moved, 1e-16]);
                    for (found, expected) in found.into_iter().zip(expected).take(3) {
                        let both = found == expected || (found.is_nan() && expected.is_nan());
                        let near = (found - expected).abs() <= 1e-8 * (1.0 + expected.abs());
                        assert!(both || near, "{t} {c} {moved}: {found} {expected}");
                    }
                    // No smaller than the largest at a corner, and no larger than the Lipschitz constant 1 of the loss allows.
                    let (bound, expected) = (found[3], expected[3]);
                    assert!(bound.is_nan() == expected.is_nan(), "{t} {c} {moved}");
                    let most = expected + moved + 1e-8 * (1.0 + expected.abs());
                    let between = bound >= expected * (1.0 - 1e-12) && bound <= most;
                    assert!(between || bound.is_nan(), "{t} {c} {moved}: {bound} {expected}");
                }
            }
        }
        let mut out = [0.0];
        Logistic.values(&[1.0], &[f64::NAN], &mut out);
        assert!(out[0].is_nan());
    }
}
