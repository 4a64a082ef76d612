//! `t -> t^r` for `t >= 0` over whole slices, at the width of the machine's vectors.
//!
//! Small integers multiply, half-integers add a square root, every other `r` takes a branch-free
//! `exp2(r log2 t)` that the compiler vectorises. `pulp` picks the instruction set at run time.

use super::{
    CHUNK,
    exp::{ROUND, exp_small, has_fma, polynomial, power_of_two},
    vectorised,
};

/// How `t^r` is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Power {
    /// `r` is a whole number.
    Integer(u32),
    /// `r` is this whole number plus one half.
    HalfInteger(u32),
    /// Any other `r > 0`.
    Real(f64),
}

/// Repeated squaring loses about `r` roundings; above this `exp2(r log2 t)` is as fast and more accurate.
const MAX_INTEGER: f64 = 64.0;

impl Power {
    pub(crate) fn new(r: f64) -> Self {
        debug_assert!(r > 0.0);
        match r {
            r if r > MAX_INTEGER => Self::Real(r),
            r if r.fract() == 0.0 => Self::Integer(r as u32),
            r if r.fract() == 0.5 => Self::HalfInteger(r as u32),
            r => Self::Real(r),
        }
    }

    /// `t^r` in place; entries are non-negative.
    #[inline(always)]
    pub(crate) fn raise(self, t: &mut [f64]) {
        match self {
            Self::Integer(1) => {}
            Self::Integer(2) => t.iter_mut().for_each(|t| *t = *t * *t),
            Self::Integer(3) => t.iter_mut().for_each(|t| *t = *t * *t * *t),
            Self::Integer(4) => t.iter_mut().for_each(|t| *t = (*t * *t) * (*t * *t)),
            Self::Integer(5) => t.iter_mut().for_each(|t| *t = (*t * *t) * (*t * *t) * *t),
            Self::Integer(r) => integer_power(t, r),
            Self::HalfInteger(r) => {
                let mut root = [0.0; CHUNK];
                for t in t.chunks_mut(CHUNK) {
                    root.iter_mut().zip(&*t).for_each(|(root, t)| *root = t.sqrt());
                    integer_power(t, r);
                    t.iter_mut().zip(&root).for_each(|(t, root)| *t *= root);
                }
            }
            Self::Real(r) => real_power(t, r),
        }
    }
}

/// `t^r` in place, entries of any sign: repeated squaring, one bit of `r` at a time for a whole chunk.
#[inline(always)]
pub(crate) fn integer_power(t: &mut [f64], r: u32) {
    let mut square = [0.0; CHUNK];
    for t in t.chunks_mut(CHUNK) {
        let square = &mut square[..t.len()];
        square.copy_from_slice(t);
        t.fill(1.0);
        let mut bits = r;
        while bits > 0 {
            if bits & 1 == 1 {
                t.iter_mut().zip(&*square).for_each(|(t, s)| *t *= s);
            }
            square.iter_mut().for_each(|s| *s *= *s);
            bits >>= 1;
        }
    }
}

#[inline(always)]
fn real_power(t: &mut [f64], r: f64) {
    if has_fma() {
        for t in t {
            *t = exp2_log2(*t, r);
        }
    } else {
        for t in t {
            *t = t.powf(r);
        }
    }
}

/// `t^r = 2^(r (e + log2 m))` with `t = 2^e m`, `sqrt(1/2) <= m < sqrt(2)`.
///
/// The logarithm is carried in two words, so the relative error stays within `6 + r/100` units in the last
/// place. Results below `2^-1021.5` become 0, those above `2^1023.5` infinite.
#[inline(always)]
fn exp2_log2(t: f64, r: f64) -> f64 {
    // The bits of sqrt(1/2), and the place of sign and exponent in a number.
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT_BITS: u64 = 0xfff0_0000_0000_0000;
    // A number from 2^52 on has its whole part in the low bits; times 2^54, every denormal number is a normal one.
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    const TWO_52_BITS: u64 = TWO_52.to_bits();
    const TWO_54: f64 = 18_014_398_509_481_984.0;
    // 2/ln 2 in two words.
    const C_HI: f64 = 2.885_390_081_777_926_8;
    const C_LO: f64 = 4.071_054_748_186_206_6e-17;
    // log2 m = (2/ln 2) (s + s^3/3 + s^5/5 + ...), s = (m-1)/(m+1), |s| <= 0.172: what follows s^21/21 is below 2^-60 of s.
    const LOG: [f64; 12] = [
        C_HI / 3.0,
        C_HI / 5.0,
        C_HI / 7.0,
        C_HI / 9.0,
        C_HI / 11.0,
        C_HI / 13.0,
        C_HI / 15.0,
        C_HI / 17.0,
        C_HI / 19.0,
        C_HI / 21.0,
        0.0,
        0.0,
    ];
    const LN_2: f64 = std::f64::consts::LN_2;

    let tiny = t < f64::MIN_POSITIVE;
    let bits = if tiny { t * TWO_54 } else { t }.to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF_BITS);
    let m = f64::from_bits(bits.wrapping_sub(shifted & EXPONENT_BITS));
    // The exponent as a number, without a conversion that old vector units lack.
    let biased = shifted.wrapping_add(1024 << 52) >> 52;
    let e = f64::from_bits(biased | TWO_52_BITS) - (TWO_52 + 1024.0) - if tiny { 54.0 } else { 0.0 };

    let denominator = m + 1.0;
    let denominator_rest = m - (denominator - 1.0);
    let reciprocal = 1.0 / denominator;
    let s = (m - 1.0) * reciprocal;
    let rest = s.mul_add(-denominator, m - 1.0) - s * denominator_rest;
    let s2 = s * s;
    let tail = polynomial(LOG, s2);
    let hi = C_HI * s;
    let lo = C_HI.mul_add(s, -hi) + C_LO.mul_add(s, C_HI * (rest * reciprocal)) + tail * s2 * s;

    let y_e = r * e;
    let y_hi = r * hi;
    let y_lo = r.mul_add(e, -y_e) + r.mul_add(hi, -y_hi) + r * lo;
    let y = y_e + y_hi + y_lo;
    let rounded = y + ROUND;
    let whole = rounded - ROUND;
    let f = ((y_e - whole) + y_hi) + y_lo;
    let power = exp_small(f * LN_2) * power_of_two(rounded);
    // Both tests also catch t = 0 and t = inf, whose bits gave nonsense above.
    if t == 0.0 || y < -1021.5 {
        0.0
    } else if t > f64::MAX || y > 1023.5 {
        f64::INFINITY
    } else {
        power
    }
}

/// `sign(u)|u|^r` in place for `u * inverse_size`, and the sum of `|u * inverse_size|^(r+1)`.
pub(crate) fn signed_powers(power: Power, u: &mut [f64], inverse_size: f64) -> f64 {
    vectorised(
        #[inline(always)]
        move || {
            let (mut modulus, mut raised) = ([0.0; CHUNK], [0.0; CHUNK]);
            let mut sums = [0.0; LANES];
            for u in u.chunks_mut(CHUNK) {
                let (modulus, raised) = (&mut modulus[..u.len()], &mut raised[..u.len()]);
                for k in 0..u.len() {
                    modulus[k] = u[k].abs() * inverse_size;
                    raised[k] = modulus[k];
                }
                power.raise(raised);
                for k in 0..u.len() {
                    u[k] = raised[k].copysign(u[k]);
                }
                accumulate(&mut sums, modulus, raised);
            }
            total(&sums)
        },
    )
}

/// `t^r` in place for `t >= 0` and `r > 0`.
pub(crate) fn raise(t: &mut [f64], r: f64) {
    signed_powers(Power::new(r), t, 1.0);
}

/// Independent partial sums, so that additions fill vectors: two of the widest of today's machines.
pub(crate) const LANES: usize = 16;

/// Adds the products `a_k b_k`, lane by lane.
#[inline(always)]
pub(crate) fn accumulate(sums: &mut [f64; LANES], a: &[f64], b: &[f64]) {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[lane] += a * b;
    }
}

#[inline(always)]
pub(crate) fn total(sums: &[f64; LANES]) -> f64 {
    sums.iter().sum()
}

/// The largest magnitude in a slice; 0 for an empty one.
pub(crate) fn largest(u: &[f64]) -> f64 {
    largest_on_line(u, u, 1.0, 0.0)
}

/// The largest magnitude of `u u_factor` and of `u u_factor + d d_factor`.
pub(crate) fn largest_on_line(u: &[f64], d: &[f64], u_factor: f64, d_factor: f64) -> f64 {
    vectorised(
        #[inline(always)]
        move || {
            let mut lanes = [0.0_f64; LANES];
            for (u, d) in u.chunks(LANES).zip(d.chunks(LANES)) {
                for lane in 0..u.len() {
                    let start = u[lane] * u_factor;
                    let (start, end) = (start.abs(), (start + d_factor * d[lane]).abs());
                    let size = if start > end { start } else { end };
                    lanes[lane] = if size > lanes[lane] { size } else { lanes[lane] };
                }
            }
            lanes.into_iter().fold(0.0, f64::max)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raise(r: f64, t: f64) -> f64 {
        let mut u = [t];
        signed_powers(Power::new(r), &mut u, 1.0);
        u[0]
    }

    #[test]
    fn every_kind_of_power_is_chosen() {
        assert_eq!(Power::new(3.0), Power::Integer(3));
        assert_eq!(Power::new(12.5), Power::HalfInteger(12));
        assert_eq!(Power::new(1.0 / 3.0), Power::Real(1.0 / 3.0));
        assert_eq!(Power::new(1000.0), Power::Real(1000.0));
    }

    #[test]
    fn edges_are_exact() {
        for r in [0.05, 0.5, 1.0, 2.0, 2.5, 3.0, 7.0, 16.7, 1000.0] {
            assert_eq!(raise(r, 0.0), 0.0, "{r}");
            assert_eq!(raise(r, 1.0), 1.0, "{r}");
            assert_eq!(raise(r, -1.0), -1.0, "{r}");
            assert!(raise(r, 1e-310).is_finite());
        }
        assert_eq!(raise(1000.0, 3.0), f64::INFINITY);
        assert_eq!(raise(1000.0, 0.1), 0.0);
        assert!((raise(0.1, 5e-324) / 5e-324_f64.powf(0.1) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn slices_of_any_length_agree_with_single_entries() {
        for r in [1.5, 3.0, 7.3, 20.0] {
            for length in [0, 1, 15, 16, 17, 255, 256, 257, 1000] {
                let u: Vec<f64> = (0..length).map(|k| (f64::from(k) * 0.7).sin()).collect();
                let mut powers = u.clone();
                let sum = signed_powers(Power::new(r), &mut powers, 1.0);
                for (u, power) in u.iter().zip(&powers) {
                    assert_eq!(raise(r, *u), *power);
                }
                let expected: f64 = u.iter().map(|u| u.abs().powf(r + 1.0)).sum();
                assert!((sum - expected).abs() <= 1e-13 * expected);
                assert_eq!(largest(&u), u.iter().fold(0.0, |m: f64, u| m.max(u.abs())));
            }
        }
    }

    proptest! {
        /// Accuracy against the scalar function of the system, over the whole range of results.
        #[test]
        fn agrees_with_powf(r in 0.01_f64..1001.0, y in -1000.0_f64..1000.0) {
            let t = (y / r).exp2();
            prop_assume!(t.is_finite() && t > 0.0);
            let (got, expected) = (raise(r, t), t.powf(r));
            prop_assert!((got / expected - 1.0).abs() <= (6.0 + r / 100.0) * f64::EPSILON, "{got:e} {expected:e}");
        }

        #[test]
        fn integers_agree_with_powf(r in 1_u32..=64, twice in any::<bool>(), t in 0.01_f64..3.0) {
            let r = f64::from(r) - if twice { 0.5 } else { 0.0 };
            let (got, expected) = (raise(r, t), t.powf(r));
            prop_assert!((got / expected - 1.0).abs() <= (r + 2.0) * f64::EPSILON, "{got:e} {expected:e}");
        }
    }
}
