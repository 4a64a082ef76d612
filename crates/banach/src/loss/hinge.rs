use super::{Conjugate, Loss, Targets};

/// `max(0, 1 - y t)` for `y` in {-1, 1} (Example A.2(v)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge;

impl Loss for Hinge {
    fn name(&self) -> &'static str {
        "hinge"
    }

    fn targets(&self) -> Targets {
        Targets::Signs
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        (1.0 - y * t).max(0.0)
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let margin = y * t;
        let (towards, away) = (if margin <= 1.0 { -y } else { 0.0 }, if margin < 1.0 { -y } else { 0.0 });
        if y > 0.0 { (towards, away) } else { (away, towards) }
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        (y.min(0.0), y.max(0.0))
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 0.0, k: 0.0 }
    }
}
