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
/// bounds both `F(w) - min F` and `Lambda(alpha) - min Lambda` (Theorem 3.1 `[thm:duality]`). With an intercept, `omega_i + b` takes
/// the place of `omega_i`, which adds `b sum_i alpha_i = 0`. The gap needs neither `w` nor `Phi`. It is summed from n non-negative
/// terms, so it keeps its digits down to the smallest gaps.
///
/// Rounding is counted. Each term is taken at the worst prediction within the bound that the route derives
/// ([`Evaluation::roundings`](crate::form::Evaluation::roundings), `form/rounding.rs`) and within the rounding of `alpha_i/gamma_i`. What
/// rounding leaves of `sum_i alpha_i` is counted, times `|b|`; a larger sum makes the gap infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// `F(w)`, or `F(w, b)` with the best intercept for this `w`.
    pub primal: f64,
    /// `Lambda(alpha)`.
    pub dual: f64,
    /// `F(w) + Lambda(alpha)`.
    pub gap: f64,
    /// A bound on `||w - w_bar||_p`, the distance to the solution, from (26) `[eq:dualineq]`.
    pub distance: f64,
}

impl Certificate {
    /// The certificate of `w = J_q(Phi_n* alpha)`, where `excess` is `Lambda(alpha) + F(0)`.
    ///
    /// `xi_i = inf L*(y_i, .) = -L(y_i, 0)`, so `gamma ||xi||_1 = F(0)`, and both `||w||_p` and `||w_bar||_p` are at
    /// most `(q excess)^(1/p)`. With an intercept the same holds of `min_b F(0, b)` in place of `F(0)`: docs/errata.md.
    pub(crate) fn of_dual(primal: f64, dual: f64, gap: f64, excess: f64, exponent: Exponent) -> Self {
        let norm = (exponent.q() * excess).powf(1.0 / exponent.p());
        Self::new(primal, dual, gap, 2.0 * norm, exponent)
    }

    /// The certificate of weights `w` of norm `||w||_p` beside any dual vector. The bound holds because
    /// `F(w) - min F` is at least the Bregman distance of `(1/p)||.||_p^p`, and `||w_bar||_p^p <= p min F`.
    pub(crate) fn of_primal(primal: f64, dual: f64, gap: f64, norm: f64, exponent: Exponent) -> Self {
        let of_solution = (exponent.p() * primal).powf(1.0 / exponent.p());
        Self::new(primal, dual, gap, norm + of_solution, exponent)
    }

    /// `norms` bounds `||w||_p + ||w_bar||_p`; `C_p = (p-1)/2`, proof in docs/errata.md.
    fn new(primal: f64, dual: f64, gap: f64, norms: f64, exponent: Exponent) -> Self {
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let c_p = 0.5 * (exponent.p() - 1.0);
        // Two roots, so that a product of small factors does not vanish.
        let distance = norms.powf(1.0 - 0.5 * exponent.p()) * (gap / c_p).sqrt();
        let [primal, dual, gap, distance] = [primal, dual, gap, distance].map(or_infinite);
        Self { primal, dual, gap, distance }
    }

    /// The gap divided by the larger of `|F(w)|` and `|Lambda(alpha)|`; 0 when all of them vanish.
    pub fn relative_gap(&self) -> f64 {
        self.relative(self.gap)
    }

    /// Another gap at the same values, divided as [`relative_gap`](Self::relative_gap) is.
    pub(crate) fn relative(&self, gap: f64) -> f64 {
        if gap == 0.0 {
            return 0.0;
        }
        let ratio = gap / self.primal.abs().max(self.dual.abs());
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }
}
