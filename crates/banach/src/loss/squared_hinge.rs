use super::{Loss, Split, Targets, strictly_within, within};

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

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let shortfall = (1.0 - y * t).max(0.0);
        0.5 * shortfall * shortfall
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        Some(-y * (1.0 - y * t).max(0.0))
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) }
    }

    fn conjugate(&self, y: f64, s: f64) -> f64 {
        within(self.domain(y), s, || (0.5 * s - y) * s)
    }

    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64> {
        strictly_within(self.domain(y), s, || s - y)
    }

    fn conjugate_curvature(&self, y: f64, s: f64) -> Option<f64> {
        strictly_within(self.domain(y), s, || 1.0)
    }

    fn strong_convexity(&self) -> f64 {
        1.0
    }

    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        let (lower, upper) = self.domain(y);
        ((v + lambda * y) / (1.0 + lambda)).clamp(lower, upper)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let (shortfall, c) = (1.0 - y * t, y * s);
        within(self.domain(y), s, || {
            if shortfall > 0.0 { 0.5 * (shortfall - c) * (shortfall - c) } else { c * (0.5 * c - shortfall) }
        })
    }
}
