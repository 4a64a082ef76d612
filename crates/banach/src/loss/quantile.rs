use super::{Loss, Split, Targets, strictly_within, within};
use crate::{Error, Parameter};

/// `tau r` for `r = y-t >= 0`, else `(tau - 1) r`: the pinball loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    tau: f64,
}

impl Quantile {
    /// The loss whose minimiser is the quantile at level `tau`, 0 < tau < 1.
    pub fn new(tau: f64) -> Result<Self, Error> {
        if !(tau > 0.0 && tau < 1.0) {
            return Err(Error::parameter(Parameter::Tau, tau, "a number > 0 and < 1"));
        }
        Ok(Self { tau })
    }

    /// The level of the quantile.
    pub fn tau(&self) -> f64 {
        self.tau
    }
}

impl Loss for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let residual = y - t;
        if residual >= 0.0 { self.tau * residual } else { (self.tau - 1.0) * residual }
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        (t != y).then(|| if t < y { -self.tau } else { 1.0 - self.tau })
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let (below, above) = (-self.tau, 1.0 - self.tau);
        (if t > y { above } else { below }, if t < y { below } else { above })
    }

    fn smoothness(&self) -> Option<f64> {
        None
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (self.tau - 1.0, self.tau)
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
        (v + lambda * y).clamp(self.tau - 1.0, self.tau)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let residual = y - t;
        within(self.domain(y), s, || {
            if residual >= 0.0 { residual * (self.tau - s) } else { -residual * (s - (self.tau - 1.0)) }
        })
    }
}
