use super::{Conjugate, Loss, Targets};

/// `|y-t|`: the epsilon-insensitive loss of Example A.2(ii) with epsilon = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absolute;

impl Loss for Absolute {
    fn name(&self) -> &'static str {
        "absolute"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        (y - t).abs()
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        (if t > y { 1.0 } else { -1.0 }, if t < y { -1.0 } else { 1.0 })
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 0.0, k: 0.0 }
    }
}
