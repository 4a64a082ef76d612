use super::{Conjugate, Loss, Targets};

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

    fn value(&self, y: f64, t: f64) -> f64 {
        0.5 * (y - t) * (y - t)
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        (t - y, t - y)
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 1.0, k: 0.0 }
    }
}
