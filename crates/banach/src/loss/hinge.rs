use super::{Loss, Split, Targets, strictly_within, within};

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

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        (1.0 - y * t).max(0.0)
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        (y * t != 1.0).then(|| if y * t < 1.0 { -y } else { 0.0 })
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        self.slope(y, t).map_or((f64::min(-y, 0.0), f64::max(-y, 0.0)), |slope| (slope, slope))
    }

    fn smoothness(&self) -> Option<f64> {
        None
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        (y.min(0.0), y.max(0.0))
    }

    fn conjugate(&self, y: f64, s: f64) -> f64 {
        within(self.domain(y), s, || -y * s)
    }

    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64> {
        strictly_within(self.domain(y), s, || -y)
    }

    fn conjugate_curvature(&self, y: f64, s: f64) -> Option<f64> {
        strictly_within(self.domain(y), s, || 0.0)
    }

    fn strong_convexity(&self) -> f64 {
        0.0
    }

    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        let (lower, upper) = self.domain(y);
        (v + lambda * y).clamp(lower, upper)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let (shortfall, c) = (1.0 - y * t, y * s);
        within(self.domain(y), s, || if shortfall > 0.0 { shortfall * (1.0 - c) } else { -shortfall * c })
    }
}
