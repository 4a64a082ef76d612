use super::{Loss, Split, Targets};

/// `(y-t)^2/2` (Example A.2(i); the 1/2 is kept everywhere, see docs/errata.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Squared;

impl Loss for Squared {
    fn name(&self) -> &'static str {
        "squared"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn split(&self) -> Split {
        Split::Smooth
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        0.5 * (y - t) * (y - t)
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        Some(t - y)
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn conjugate(&self, y: f64, s: f64) -> f64 {
        (0.5 * s - y) * s
    }

    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64> {
        Some(s - y)
    }

    fn conjugate_curvature(&self, _y: f64, _s: f64) -> Option<f64> {
        Some(1.0)
    }

    fn strong_convexity(&self) -> f64 {
        1.0
    }

    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        (v + lambda * y) / (1.0 + lambda)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let residual = y - t - s;
        0.5 * residual * residual
    }

    fn conjugate_bregman(&self, _y: f64, from: f64, to: f64) -> f64 {
        0.5 * (to - from) * (to - from)
    }
}
