use super::{Loss, Split, Targets, strictly_within, within};

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

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        (y - t).abs()
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        (t != y).then(|| (t - y).signum())
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        (if t > y { 1.0 } else { -1.0 }, if t < y { -1.0 } else { 1.0 })
    }

    fn smoothness(&self) -> Option<f64> {
        None
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-1.0, 1.0)
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
        (v + lambda * y).clamp(-1.0, 1.0)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let residual = y - t;
        within(self.domain(y), s, || residual.abs() * (1.0 - s * residual.signum()))
    }
}
