use super::{Conjugate, Loss, Targets};

/// `max(0, 1 - y t)^2/2` for `y` in {-1, 1}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn name(&self) -> &'static str {
        "squared_hinge"
    }

    fn targets(&self) -> Targets {
        Targets::Signs
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let shortfall = (1.0 - y * t).max(0.0);
        0.5 * shortfall * shortfall
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let slope = -y * (1.0 - y * t).max(0.0);
        (slope, slope)
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) }
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 1.0, k: 0.0 }
    }
}
