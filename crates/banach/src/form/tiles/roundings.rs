//! How far rounding can have moved the predictions of a dual vector; see `form/rounding.rs`.

use crate::{
    form::rounding::{self, Units},
    kernel::MonomialScale,
    monomials::Monomials,
    numeric::largest,
};

/// How often sums over samples and monomials are rounded. A monomial is rounded once for each of its factors, as often for the power
/// of the kernel's scale, and a few times for the root of its coefficient.
pub(super) fn units(monomials: &Monomials<'_>) -> Units {
    let (n, q) = (monomials.samples() as f64, monomials.exponent.q());
    let ln_divisors = &monomials.ln_divisors;
    let divisor = if ln_divisors.is_empty() { 0.0 } else { rounding::norms(ln_divisors, monomials.inputs()) };
    let entry = rounding::monomials(monomials.highest()) + divisor;
    Units { products: n + entry, sums: monomials.additions() + rounding::powers(q) + entry }
}

/// Bounds the rounding of every prediction of a dual vector.
///
/// A standardised monomial has a mean square of 1 over the samples. So it is at most `sqrt(n)` at any sample, and the moduli of its
/// products with alpha add up to at most `sqrt(n) ||alpha||_2`; before its mean is taken off, both are larger by a factor of at most
/// `sqrt(1 + spread)`. Its deviation is the root of the difference of two sums that are `1 + spread` times as large.
pub(super) fn bound(monomials: &Monomials<'_>, alpha: &[f64], ln_value: f64, spread: f64, out: &mut [f64]) {
    let (n, q) = (monomials.samples() as f64, monomials.exponent.q());
    let mut units = units(monomials);
    if monomials.monomial_scale == MonomialScale::Raw {
        let ln_norms = &monomials.ln_norms;
        let ln_moduli = rounding::ln_moduli(alpha, ln_norms);
        return rounding::of_features(q, ln_value, ln_moduli, ln_norms.iter().copied(), units, out);
    }
    units.sums += q * (n + 8.0) * (1.0 + spread);
    let ln_norm = (monomials.count() as f64).ln() / q + 0.5 * n.ln() + (1.0 + spread).ln() + std::f64::consts::LN_2;
    let size = largest(alpha);
    let squares: f64 = alpha.iter().map(|alpha| (alpha / size) * (alpha / size)).sum();
    let ln_moduli = if size > 0.0 { ln_norm + size.ln() + 0.5 * squares.ln() } else { f64::NEG_INFINITY };
    rounding::of_features(q, ln_value, ln_moduli, std::iter::repeat(ln_norm), units, out);
}
