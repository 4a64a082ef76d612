use super::{Conjugate, Loss, Targets};
use crate::{Error, error::Parameter};

/// `tau r` for `r = y-t >= 0`, else `(tau - 1) r`: the pinball loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    tau: f64,
}

impl Quantile {
    /// The loss whose minimiser is the quantile at level `tau`, 0 < tau < 1.
    pub fn new(tau: f64) -> Result<Self, Error> {
        Parameter::Tau.check(tau, tau > 0.0 && tau < 1.0, "a number > 0 and < 1")?;
        Ok(Self { tau })
    }
}

impl Loss for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let residual = y - t;
        if residual >= 0.0 { self.tau * residual } else { (self.tau - 1.0) * residual }
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let (below, above) = (-self.tau, 1.0 - self.tau);
        (if t > y { above } else { below }, if t < y { below } else { above })
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (self.tau - 1.0, self.tau)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 0.0, k: 0.0 }
    }
}
