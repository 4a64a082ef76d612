//! The losses of the paper (Example A.2 `[ex:losses]`) and three more, with their conjugates, one file each.
//!
//! A loss knows nothing of weights: sample i enters the dual (24) `[eq:gendual]` as
//! `gamma_i L*(y_i, -alpha_i/gamma_i)`, so everything is a function of the unit dual variable
//! `s = alpha_i/gamma_i`.

mod absolute;
mod epsilon_insensitive;
mod hinge;
mod huber;
#[cfg(test)]
pub(crate) mod laws;
mod logistic;
mod quantile;
mod shared;
mod spec;
mod squared;
mod squared_hinge;

use std::fmt;

pub use absolute::Absolute;
pub use epsilon_insensitive::EpsilonInsensitive;
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use quantile::Quantile;
pub use spec::LossSpec;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

/// The targets a loss is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// Any finite number: regression. The loss depends on `y - t` alone.
    Real,
    /// -1 or 1: classification.
    Signs,
}

/// How Algorithm 3.3 divides the dual into a smooth part and a part with a proximity operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The conjugate is differentiable inside its domain and belongs to the smooth part; `phi_2 = 0`.
    Smooth,
    /// The conjugate is `phi_2`, handled by its proximity operator.
    Proximal,
}

/// A loss `L(y, t)`, convex and non-negative in the prediction `t`.
///
/// Its conjugate appears as `psi(s) = L*(y, -s)`, a convex function on the interval
/// [`domain`](Self::domain), and all derivatives of the conjugate are taken in `s`. For all `t` and `s`
///
/// ```text
/// L(y, t) + psi(s) + s t >= 0,    with equality exactly when -s is a slope of L(y, .) at t
/// ```
///
/// (Fenchel-Young); the left side is [`gap`](Self::gap). The sum of the gaps is the duality gap.
pub trait Loss: fmt::Debug + Send + Sync {
    /// The name used in messages.
    fn name(&self) -> &'static str;

    /// The targets it is defined for.
    fn targets(&self) -> Targets;

    /// How Algorithm 3.3 treats it.
    fn split(&self) -> Split;

    /// `L(y, t)`.
    fn value(&self, y: f64, t: f64) -> f64;

    /// The derivative of `L(y, .)` at `t`, or `None` at a kink.
    fn slope(&self, y: f64, t: f64) -> Option<f64>;

    /// The derivatives from the left and from the right. A loss without kinks keeps this default.
    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let slope = self.slope(y, t).unwrap_or(f64::NAN);
        (slope, slope)
    }

    /// The second derivative of `L(y, .)`, where it is one constant: the squared loss.
    fn curvature(&self) -> Option<f64> {
        None
    }

    /// A Lipschitz constant of the slope, or `None` for a loss with kinks.
    fn smoothness(&self) -> Option<f64>;

    /// The closed interval of `s` on which the conjugate is finite; its ends may be infinite.
    fn domain(&self, y: f64) -> (f64, f64);

    /// `psi(s)`; infinite outside the domain.
    fn conjugate(&self, y: f64, s: f64) -> f64;

    /// `psi'(s)`, or `None` where it does not exist: at kinks, at the ends of the domain and outside it.
    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64>;

    /// `psi''(s)`, or `None` where [`conjugate_slope`](Self::conjugate_slope) is.
    fn conjugate_curvature(&self, y: f64, s: f64) -> Option<f64>;

    /// A modulus of strong convexity of `psi`; 0 where there is none.
    fn strong_convexity(&self) -> f64;

    /// `k` in `psi(s) = a s^2/2 - y s + k|s|`, with `a` the [`strong_convexity`](Self::strong_convexity), which is the form of
    /// every [`Split::Proximal`] loss on its domain.
    fn kink(&self) -> f64 {
        0.0
    }

    /// The probability of the label `y` at the prediction `t`, for a loss whose predictions tell it; others keep this default.
    fn probability(&self, _y: f64, _t: f64) -> Option<f64> {
        None
    }

    /// `argmin_s lambda psi(s) + (s - v)^2/2` for `lambda > 0`.
    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64;

    /// `L(y, t) + psi(s) + s t`, free of cancellation; infinite outside the domain.
    fn gap(&self, y: f64, t: f64, s: f64) -> f64;

    /// `psi(to) - psi(from) - psi'(from)(to - from)`, free of cancellation, for a [`Split::Smooth`] loss and
    /// `from` inside the domain; infinite for `to` outside. Other losses keep this default.
    fn conjugate_bregman(&self, y: f64, from: f64, to: f64) -> f64 {
        let slope = self.conjugate_slope(y, from).unwrap_or(f64::NAN);
        self.conjugate(y, to) - self.conjugate(y, from) - slope * (to - from)
    }
}

/// `inside` for `s` in the domain, else infinity.
fn within((lower, upper): (f64, f64), s: f64, inside: impl FnOnce() -> f64) -> f64 {
    if s >= lower && s <= upper { inside() } else { f64::INFINITY }
}

/// `Some(inside)` for `s` strictly in the domain.
fn strictly_within((lower, upper): (f64, f64), s: f64, inside: impl FnOnce() -> f64) -> Option<f64> {
    (s > lower && s < upper).then(inside)
}
