//! The duality gap, and what it proves.

use crate::Exponent;

/// Primal and dual values of one dual vector, and the gap between them.
///
/// With `w = J_q(Phi_n* alpha)` and `omega` its in-sample predictions,
///
/// ```text
/// gap = F(w) + Lambda(alpha) = sum_i gamma_i [L(y_i, omega_i) + L*(y_i, -alpha_i/gamma_i)] + alpha_i omega_i >= 0
/// ```
///
/// bounds both `F(w) - min F` and `Lambda(alpha) - min Lambda` (Theorem 3.1 `[thm:duality]`). It needs
/// neither `w` nor `Phi`, and is summed from n non-negative terms, so it keeps its digits down to the
/// smallest gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// `F(w)`.
    pub primal: f64,
    /// `Lambda(alpha)`.
    pub dual: f64,
    /// `F(w) + Lambda(alpha)`.
    pub gap: f64,
    /// A bound on `||w - w_bar||_p`, the distance to the solution, from (26) `[eq:dualineq]`.
    pub distance: f64,
}

impl Certificate {
    /// `zero_value` is `F(0) = sum_i gamma_i L(y_i, 0)`.
    pub(crate) fn new(primal: f64, dual: f64, gap: f64, zero_value: f64, exponent: Exponent) -> Self {
        let gap = if gap.is_nan() { f64::INFINITY } else { gap };
        Self { primal, dual, gap, distance: distance_bound(dual, gap, zero_value, exponent) }
    }

    /// The gap divided by the larger of `|F(w)|` and `|Lambda(alpha)|`; 0 when all of them vanish.
    pub fn relative_gap(&self) -> f64 {
        if self.gap == 0.0 {
            return 0.0;
        }
        let ratio = self.gap / self.primal.abs().max(self.dual.abs());
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }
}

/// (26) `[eq:dualineq]`, solved for the distance, with the gap in place of `Lambda(alpha) - min Lambda`.
///
/// `C_p = (p-1)/2` for every p in (1, 2]; proof in docs/errata.md. `xi_i = inf L*(y_i, .) = -L(y_i, 0)`, so
/// `gamma ||xi||_1 = F(0)`.
fn distance_bound(dual: f64, gap: f64, zero_value: f64, exponent: Exponent) -> f64 {
    let (p, q) = (exponent.p(), exponent.q());
    let c_p = 0.5 * (p - 1.0);
    let bracket = 2.0_f64.powf(p) * q * (dual + zero_value).max(0.0);
    let bound = (bracket.powf((2.0 - p) / p) * gap / c_p).sqrt();
    if bound.is_nan() { f64::INFINITY } else { bound }
}
