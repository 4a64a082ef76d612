use super::{Conjugate, Loss, SmoothConjugate, Targets, entropy::excess};
use crate::numeric::two_sum;

/// `exp(t) - y t + y log y - y` for counts `y >= 0`: half of the deviance of Poisson's distribution with the mean `exp(t)`.
///
/// With the mean `m = y - s` of the dual variable the conjugate is `m log m - m - y log y + y` on `s <= y`, and its Bregman distance the
/// relative entropy of two means, which the loss and the certificate are too. An exposure e makes the mean `e exp(t)`; that is the same
/// loss of the rate `y/e` with the weight `e` ([`Exposure`](crate::fit::Exposure)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson;

/// The relative error of `exp`, and of the quotient that follows it: the certificate is taken at the worst mean within it.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A mean that is nearer to a count than the rounding of its logarithm allows to tell is that count: what is certified is a problem whose counts
/// are moved by so much, a few units in their last place.
fn resolution(t: f64) -> f64 {
    ROUNDING * t.abs().max(1.0)
}

/// Whether the relative entropy of a mean that is changed by this share of itself is a number.
fn is_moderate(change: f64) -> bool {
    change.abs() <= 1e300
}

impl Loss for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn targets(&self) -> Targets {
        Targets::Counts
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        relative_entropy((y, 0.0), t, 0.0)
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let mean = t.exp();
        let slope = if (mean - y).abs() <= resolution(t) * mean { 0.0 } else { mean - y };
        (slope, slope)
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, y)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Smooth(self)
    }

    /// The mean, at most the largest number.
    fn response(&self, t: f64) -> f64 {
        t.exp().min(f64::MAX)
    }

    /// The logarithm of `sum_i gamma_i y_i / sum_i gamma_i exp(omega_i)`, relative to the largest `gamma_i exp(omega_i)`. A step of Newton's method
    /// takes off the rounding of logarithms.
    fn best_constant(&self, samples: &mut dyn Iterator<Item = (f64, f64, f64)>) -> Option<f64> {
        let samples: Vec<(f64, f64, f64)> = samples.collect();
        let size = |(gamma, _, omega): &(f64, f64, f64)| gamma.ln() + omega;
        let largest = samples.iter().map(size).fold(f64::NEG_INFINITY, f64::max);
        let scale = samples.iter().fold(0.0_f64, |scale, (gamma, y, _)| scale.max(gamma.sqrt() * y.sqrt()));
        let counts: f64 = samples.iter().map(|(gamma, y, _)| gamma / scale * (y / scale)).sum();
        let means: f64 = samples.iter().map(|sample| (size(sample) - largest).exp()).sum();
        let b = counts.ln() + 2.0 * scale.ln() - means.ln() - largest;
        let weights = || samples.iter().map(|(gamma, y, omega)| (gamma / scale / scale, *y, (omega + b).exp()));
        let excess: f64 = weights().map(|(weight, y, mean)| weight * (mean - y)).sum();
        let step = excess / weights().map(|(weight, _, mean)| weight * mean).sum::<f64>();
        Some(if step.abs() <= 0.5 { b - step } else { b })
    }
}

impl SmoothConjugate for Poisson {
    fn modulus(&self) -> f64 {
        0.0
    }

    /// The curvature `1/m` is smallest at the largest mean. From `v - log(1+v) >= v^2/(2(1+v))` for the mean `m(1+v)`, a distance of at
    /// most g leaves means up to `m + g + sqrt(g^2 + 2gm)`.
    fn modulus_near(&self, y: f64, s: f64, distance: f64) -> f64 {
        let mean = (y - s) * (1.0 + ROUNDING);
        1.0 / (mean + distance + distance.sqrt() * (distance + 2.0 * mean).sqrt())
    }

    fn psi(&self, y: f64, s: f64) -> f64 {
        let change = -s / y;
        if is_moderate(change) {
            return y * excess(change) - s * y.ln();
        }
        // The count is 0, or next to nothing beside s.
        let entropy = |m: f64| if m > 0.0 { m * m.ln() - m } else { 0.0 };
        entropy(y - s) - entropy(y)
    }

    fn psi_slope(&self, y: f64, s: f64) -> f64 {
        -(y - s).ln()
    }

    fn psi_curvature(&self, y: f64, s: f64) -> f64 {
        1.0 / (y - s)
    }

    fn psi_bregman(&self, y: f64, from: f64, to: f64) -> f64 {
        let mean = y - from;
        let change = (from - to) / mean;
        if is_moderate(change) { mean * excess(change) } else { relative_entropy(two_sum(y, -to), mean.ln(), 0.0) }
    }

    /// With `m = exp(z)` the optimality condition is `exp(z) + lambda z = y - v`: increasing and convex in `z`, so Newton's method
    /// comes down to it from the upper end of a bracket.
    fn psi_prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        let c = y - v;
        let (mut lower, mut upper) =
            if c >= 1.0 { (0.0, c.ln().min((c - 1.0) / lambda)) } else { ((c - 1.0) / lambda, (c / lambda).min(0.0)) };
        let mut z = upper;
        for _ in 0..200 {
            let mean = z.exp();
            let residual = mean + lambda * z - c;
            if residual > 0.0 {
                upper = z;
            } else {
                lower = z;
            }
            let newton = z - residual / (mean + lambda);
            let next = if newton >= lower && newton <= upper { newton } else { 0.5 * (lower + upper) };
            if next == z || upper - lower <= f64::EPSILON * z.abs() {
                break;
            }
            z = next;
        }
        y - z.exp()
    }

    fn fenchel_young(&self, y: f64, t: f64, s: f64) -> f64 {
        relative_entropy(two_sum(y, -s), t, ROUNDING)
    }
}

/// `mu - m + m log(m/mu) >= 0` of a mean m, given as a sum, and of `mu = exp(t)`, which may be off by this share.
fn relative_entropy((m, rest): (f64, f64), t: f64, rounding: f64) -> f64 {
    let mu = t.exp();
    let change = ((m - mu) + rest) / mu;
    if change.abs() <= resolution(t) {
        0.0
    } else if is_moderate(change) && mu > f64::MIN_POSITIVE {
        mu * excess(change + change.signum() * rounding)
    } else if mu.is_infinite() || m == 0.0 {
        mu
    } else {
        // One mean is nothing beside the other: nothing is left to cancel.
        (m * (m.ln() - 1.0 - t) + mu).max(0.0)
    }
}
