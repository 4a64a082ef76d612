//! How far rounding can have moved predictions: bounds, derived here and held against 32 digits over hostile data by
//! `experiments/src/stress`.
//!
//! Numbers are rounded by one *unit*, `2^-53` of their size, at most. A sum of m products is off by at most m units of the sum of
//! the moduli of its terms, in whatever order it is added up (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1; terms
//! of second order are covered by a percent more).
//!
//! **From features.** With `u_k = sum_j phi_k(x_j) alpha_j` known up to `N` units of `v_k = sum_j |phi_k(x_j)| |alpha_j|`, and sums
//! over features up to `M` units, `omega_i = sum_k phi_k(x_i) J_q(u_k)` is off by at most
//!
//! ```text
//! 2^-53 sum_k |phi_k(x_i)| [(q-1) N v_k (|u_k| + 2^-53 N v_k)^(q-2) + M (|u_k| + 2^-53 N v_k)^(q-1)]
//!     <= 2^-53 ||Phi(x_i)||_q [(q-1) N V U^(q-2) + M U^(q-1)],     V = ||v||_q,  U = ||u||_q + 2^-53 N V
//! ```
//!
//! by the mean value theorem and Hoelder's inequality, with `||u||_q^q = q Q(alpha)` and `V <= sum_j |alpha_j| ||Phi(x_j)||_q`
//! (Minkowski). It takes n numbers that are found once, and no pass.
//!
//! **From a tensor.** An entry is off by at most `N` units of the same kernel at the moduli of the data, which is at most
//! `||Phi(x_i)||_q ... ||Phi(x_l)||_q`, and `omega_i = sum K_(i j ... l) alpha_j ... alpha_l` with `M` units more for its sum by
//!
//! ```text
//! 2^-53 (N + M) ||Phi(x_i)||_q (sum_j |alpha_j| ||Phi(x_j)||_q)^(q-1).
//! ```

use crate::numeric::{CHUNK, exp_in_place, largest};

/// The logarithm of a unit, with a percent for terms of second order and for the rounding of these bounds themselves.
const LN_UNIT: f64 = -36.736_800_569_677_1 + 0.01;
/// A unit.
pub(super) const UNIT: f64 = 0.5 * f64::EPSILON;

/// What rounding does to the sums of a route with features, in units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    /// N: to the products of features with dual vectors.
    pub products: f64,
    /// M: to the sums over features, and the powers in them.
    pub sums: f64,
}

/// The roundings of every prediction from features: `ln_norms` are the logarithms of `||Phi(x_i)||_q`, or of more than that,
/// `ln_moduli` that of V, `ln_value` that of Q.
pub(super) fn of_features(
    q: f64,
    ln_value: f64,
    ln_moduli: f64,
    ln_norms: impl Iterator<Item = f64>,
    units: Units,
    out: &mut [f64],
) {
    if ln_moduli == f64::NEG_INFINITY {
        return out.fill(0.0);
    }
    let ln_size = (ln_value + q.ln()) / q;
    // U/V, which is never 0.
    let share = (ln_size - ln_moduli).min(0.0).exp() + UNIT * units.products;
    let sums = units.sums + if ln_size.is_finite() { wide_power(q - 1.0, ln_size) } else { 0.0 };
    let terms = (q - 1.0) * units.products + sums * share;
    bounds(LN_UNIT + (q - 1.0) * ln_moduli + (q - 2.0) * share.ln() + terms.ln(), ln_norms, out);
}

/// The roundings of every prediction from a tensor, given the units of an entry and its sum.
pub(super) fn of_tensor(q: f64, ln_moduli: f64, ln_norms: impl Iterator<Item = f64>, units: f64, out: &mut [f64]) {
    if ln_moduli == f64::NEG_INFINITY {
        return out.fill(0.0);
    }
    bounds(LN_UNIT + (q - 1.0) * ln_moduli + units.ln(), ln_norms, out);
}

/// Bounds from a logarithm and those of norms; infinite where they are not known.
fn bounds(ln_bound: f64, ln_norms: impl Iterator<Item = f64>, out: &mut [f64]) {
    let known = |ln: f64| if ln.is_nan() { f64::INFINITY } else { ln };
    out.iter_mut().zip(ln_norms).for_each(|(out, ln_norm)| *out = known(ln_bound + ln_norm));
    exp_in_place(out);
}

/// Sums that are at least this have lost no more to underflow than n numbers of 1e-308.
const LEAST_SUM: f64 = 1e-250;

/// `ln sum_j |alpha_j| ||Phi(x_j)||_q`, of numbers of any size.
pub(super) fn ln_moduli(alpha: &[f64], ln_norms: &[f64]) -> f64 {
    // As shares of the largest of each, which usually come together.
    let (size, norm) = (largest(alpha), ln_norms.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let mut shares = [0.0; CHUNK];
    let mut sum = 0.0;
    for (alpha, ln_norms) in alpha.chunks(CHUNK).zip(ln_norms.chunks(CHUNK)) {
        let shares = &mut shares[..alpha.len()];
        shares.iter_mut().zip(ln_norms).for_each(|(share, ln)| *share = ln - norm);
        exp_in_place(shares);
        sum += shares.iter().zip(alpha).map(|(share, alpha)| share * (alpha.abs() / size)).sum::<f64>();
    }
    if sum >= LEAST_SUM && size.is_normal() {
        return sum.ln() + size.ln() + norm;
    }
    let terms =
        || alpha.iter().zip(ln_norms).filter(|(alpha, _)| **alpha != 0.0).map(|(alpha, ln)| alpha.abs().ln() + ln);
    let largest = terms().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_finite() { largest + terms().map(|term| (term - largest).exp()).sum::<f64>().ln() } else { largest }
}

/// The units that `t^(q-1)` takes (`numeric/power.rs`).
pub(super) fn power(q: f64) -> f64 {
    let r = q - 1.0;
    match () {
        () if r == 1.0 => 0.0,
        // A product of r factors takes r - 1; a half adds a root and a product.
        () if r <= 64.0 && (2.0 * r).fract() == 0.0 => r + 2.0,
        // Known to 6 + r/100 in the last place, which are two units at most.
        () => 2.0 * (6.0 + r / 100.0),
    }
}

/// The units of the powers in a pass: that of every feature, that of the largest one, and what a move along the ray adds.
pub(super) fn powers(q: f64) -> f64 {
    2.0 * (8.0 + q.min(66.0) + q / 50.0) + 16.0
}

/// The units of a factor `size^r`, kept as a mantissa and a power of two (`numeric/exp2.rs`). The exponent `r k` is rounded once, unless r
/// is whole; that moves the factor by `r k ln 2` units. Above r = 1020 the mantissa becomes part of the exponent, by two roundings more.
/// `ln_size` is that of the size, or of a norm, which is larger by less than [`powers`] leaves.
pub(super) fn wide_power(r: f64, ln_size: f64) -> f64 {
    match () {
        () if r > 1020.0 => 4.0 * r * (2.0 + ln_size.abs()),
        () if r.fract() == 0.0 => 0.0,
        () => r * (1.0 + ln_size.abs()),
    }
}

/// The units by which a monomial of at most this degree is off: a product of its factors, of the powers of the kernel's scale, and of
/// the root of its coefficient.
pub(super) fn monomials(degree: usize) -> f64 {
    2.0 * degree as f64 + 8.0
}

/// The units of a division by `||Phi(x_i)||_q`, which is summed over the inputs in logarithms: each addition there rounds a number
/// of the size of its logarithm.
pub(super) fn norms(ln_norms: &[f64], inputs: usize) -> f64 {
    let largest = ln_norms.iter().filter(|ln| ln.is_finite()).fold(0.0_f64, |largest, ln| largest.max(ln.abs()));
    4.0 * (inputs as f64 + 4.0) * (1.0 + largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the sizes: also where the largest entry and the largest norm are those of different samples, far apart.
    #[test]
    fn moduli_of_any_size_are_added_up() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} {expected}");
        };
        close(ln_moduli(&[3.0, -4.0, 0.0], &[2.0_f64.ln(), 5.0_f64.ln(), 7.0]), 26.0_f64.ln());
        close(ln_moduli(&[1e300, 1e300], &[500.0, 500.0]), 1e300_f64.ln() + 500.0 + 2.0_f64.ln());
        close(ln_moduli(&[1e-300, 1.0], &[900.0, f64::NEG_INFINITY]), 1e-300_f64.ln() + 900.0);
        close(ln_moduli(&[5e-324; 3], &[-900.0; 3]), 5e-324_f64.ln() - 900.0 + 3.0_f64.ln());
        for (alpha, norm) in [(0.0, 1.0), (1.0, f64::NEG_INFINITY)] {
            assert_eq!(ln_moduli(&[alpha; 2], &[norm; 2]), f64::NEG_INFINITY);
        }
    }

    #[test]
    fn bounds_that_are_not_known_are_infinite() {
        let mut out = [0.0; 3];
        bounds(1.0, [0.0, f64::NAN, f64::NEG_INFINITY].into_iter(), &mut out);
        assert!((out[0] / 1.0_f64.exp() - 1.0).abs() < 1e-15);
        assert_eq!(out[1..], [f64::INFINITY, 0.0]);
    }
}
