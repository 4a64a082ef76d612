//! A closer bound on the rounding of one evaluation, from sums of moduli instead of norms.
//!
//! With `u_k`, `v_k` and the units N and M of `form/rounding.rs`, rounding moves `omega_i` by at most
//!
//! ```text
//! 2^-53 sum_k |phi_k(x_i)| [(q-1) N v_k U_k^(q-2) + M U_k^(q-1)],     U_k = |u_k| + 2^-53 N v_k
//!     <= 2^-53 [(q-1) N V_i^(1/(q-1)) W_i^((q-2)/(q-1)) + M W_i],
//! V_i = sum_k |phi_k(x_i)| v_k^(q-1),    W_i = sum_k |phi_k(x_i)| U_k^(q-1)
//! ```
//!
//! by Hoelder's inequality for the sum over k with the weights `|phi_k(x_i)|`. `V_i` is the prediction of the moduli of the dual vector
//! from the moduli of the data. `W_i^(1/(q-1))` is at most the sum of `(sum_k |phi_k(x_i)| |u_k|^(q-1))^(1/(q-1))` and
//! `2^-53 N V_i^(1/(q-1))` (Minkowski). Each of the two predictions takes a pass.

use super::{
    evaluate::{Functions, Powers},
    roundings,
};
use crate::{
    data::Scratch,
    exponent::{Running, copy_in_range},
    form::{Evaluation, rounding::UNIT},
    kernel::MonomialScale,
    monomials::{Monomials, Points, Tile, Visitor},
    numeric::WidePower,
};

/// Passes over the monomials: for V and for W.
const PASSES: usize = 2;

/// Turns u into `|u|^(q-1)`.
struct Moduli(Powers);

impl Visitor for Moduli {
    type Own = ();

    fn visit(&self, mut tile: Tile<'_>, (): &mut ()) -> bool {
        let found = self.0.raise_largest(&mut tile);
        tile.u.iter_mut().for_each(|weight| *weight = weight.abs());
        found
    }
}

/// Bounds the rounding of one evaluation again; see [`QForm::sharpen`](crate::QForm::sharpen). Unless monomials are raw the bound stays
/// as it is: their moduli have other means.
pub(super) fn sharpen(monomials: &Monomials<'_>, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
    if monomials.monomial_scale != MonomialScale::Raw {
        return 0;
    }
    let Ok(moduli) = monomials.moduli() else { return 0 };
    let of_products = sums(monomials, &moduli.points, alpha, scratch);
    let alpha: Vec<f64> = alpha.iter().map(|alpha| alpha.abs()).collect();
    let of_moduli = sums(&moduli, &moduli.points, &alpha, scratch);
    let (q, units) = (monomials.exponent.q(), roundings::units(monomials));
    // A percent for the rounding of these sums themselves and for terms of second order.
    let unit = 1.01 * UNIT;
    for ((rounding, u), v) in at.roundings.iter_mut().zip(of_products).zip(of_moduli) {
        let (ln_v, ln_u) = (v.ln() / (q - 1.0), u.ln() / (q - 1.0));
        // W^(1/(q-1)) and V^(1/(q-1)), relative to the latter.
        let share = (ln_u - ln_v).min(0.0).exp() + unit * units.products;
        let terms = (q - 1.0) * units.products * share.powf(q - 2.0) + units.sums * share.powf(q - 1.0);
        let bound = if v == 0.0 { 0.0 } else { unit * terms * v };
        *rounding = rounding.min(if bound.is_nan() { f64::INFINITY } else { bound });
    }
    PASSES
}

/// `sum_k |phi_k(x_i)| |u_k|^(q-1)` at the points, whose entries are not negative.
fn sums(monomials: &Monomials<'_>, points: &Points<'_>, alpha: &[f64], scratch: &mut Scratch) -> Vec<f64> {
    let mut copy = vec![0.0; alpha.len()];
    let exponent = copy_in_range(alpha, &mut copy);
    let (mut total, mut sums) = ([0.0; Running::LENGTH], vec![0.0; alpha.len()]);
    let visitor = Moduli(Powers { exponent: monomials.exponent });
    let mut own = vec![(); monomials.stripes()];
    let functions = Functions { totals: &mut total, sums: &mut sums };
    functions.find(monomials, points, &copy, (&visitor, &mut own), &mut scratch.pass);
    let power = WidePower::new(Running::load(&total).size, exponent, monomials.exponent.q() - 1.0);
    sums.into_iter().map(|sum| if sum == 0.0 { 0.0 } else { power.times(sum) }).collect()
}
