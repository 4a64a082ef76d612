mod slices;

use super::{Conjugate, Loss, LossSlices, SmoothConjugate, Targets, entropy::excess};
use crate::numeric::has_fma;

/// `log(1 + exp(-y t))` for `y` in {-1, 1} (Example A.2(iv)).
///
/// With `c = y s` the conjugate is the negative entropy `c log c + (1-c) log(1-c)` on `0 <= c <= 1`, and its
/// Bregman distance the relative entropy of two coins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic;

impl Loss for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn targets(&self) -> Targets {
        Targets::Signs
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let margin = y * t;
        (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let slope = -y * sigmoid(-y * t);
        (slope, slope)
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        (y.min(0.0), y.max(0.0))
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Smooth(self)
    }

    /// `t` is the logarithm of the odds.
    fn probability(&self, y: f64, t: f64) -> Option<f64> {
        Some(sigmoid(y * t))
    }
}

impl SmoothConjugate for Logistic {
    fn modulus(&self) -> f64 {
        4.0
    }

    fn psi(&self, y: f64, s: f64) -> f64 {
        let c = y * s;
        let heads = if c > 0.0 { c * c.ln() } else { 0.0 };
        let tails = if c < 1.0 { (1.0 - c) * (-c).ln_1p() } else { 0.0 };
        heads + tails
    }

    fn psi_slope(&self, y: f64, s: f64) -> f64 {
        let c = y * s;
        y * (c.ln() - (-c).ln_1p())
    }

    fn psi_curvature(&self, y: f64, s: f64) -> f64 {
        let c = y * s;
        1.0 / (c * (1.0 - c))
    }

    fn psi_bregman(&self, y: f64, from: f64, to: f64) -> f64 {
        relative_entropy(y * to, y * from, 1.0 - y * from)
    }

    /// With `c = sigmoid(z)` the optimality condition is `lambda z + sigmoid(z) = y v`: increasing in `z`,
    /// with slope between `lambda` and `lambda + 1/4`, and solved by Newton's method inside a bracket.
    fn psi_prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        let target = y * v;
        let (mut lower, mut upper) = ((target - 1.0) / lambda, target / lambda);
        let mut z = 0.0_f64.clamp(lower, upper);
        for _ in 0..200 {
            let c = sigmoid(z);
            let residual = lambda * z + c - target;
            if residual > 0.0 {
                upper = z;
            } else {
                lower = z;
            }
            let newton = z - residual / (lambda + c * sigmoid(-z));
            let next = if newton > lower && newton < upper { newton } else { 0.5 * (lower + upper) };
            if next == z || upper - lower <= f64::EPSILON * z.abs() {
                break;
            }
            z = next;
        }
        y * sigmoid(z)
    }

    fn fenchel_young(&self, y: f64, t: f64, s: f64) -> f64 {
        let margin = y * t;
        // The sigmoids of -margin and of margin, by one exponential.
        let e = (-margin.abs()).exp();
        let (smaller, larger) = (e / (1.0 + e), 1.0 / (1.0 + e));
        let (heads, tails) = if margin >= 0.0 { (smaller, larger) } else { (larger, smaller) };
        if heads.min(tails) > 1e-290 {
            relative_entropy(y * s, heads, tails)
        } else {
            // The margin is beyond +-660: nothing is left to cancel.
            (self.value(y, t) + self.psi(y, s) + s * t).max(0.0)
        }
    }

    fn slices(&self) -> Option<&dyn LossSlices> {
        // Elsewhere the vector formulas would call a library function per step.
        has_fma().then_some(self)
    }
}

/// `1/(1 + exp(-z))`.
fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        let e = z.exp();
        e / (1.0 + e)
    }
}

/// `c log(c/a) + (1-c) log((1-c)/b)` with `a + b = 1`, as a sum of two non-negative terms.
fn relative_entropy(c: f64, a: f64, b: f64) -> f64 {
    // The difference from the nearer end keeps its digits when a or b is tiny.
    let difference = if a <= b { c - a } else { b - (1.0 - c) };
    a * excess(difference / a) + b * excess(-difference / b)
}
