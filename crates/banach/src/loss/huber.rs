use super::{Conjugate, Loss, Targets};
use crate::{Error, error::Parameter};

/// `r^2/2` for `|r| <= rho`, else `rho|r| - rho^2/2`, with `r = y-t` (Example A.2(iii)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    rho: f64,
}

impl Huber {
    /// Quadratic up to residuals of size `rho > 0`, linear beyond.
    pub fn new(rho: f64) -> Result<Self, Error> {
        Parameter::Rho.check(rho, rho > 0.0 && rho.is_finite(), "a finite number > 0")?;
        Ok(Self { rho })
    }
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let size = (y - t).abs();
        if size <= self.rho { 0.5 * size * size } else { self.rho * (size - 0.5 * self.rho) }
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let slope = (t - y).clamp(-self.rho, self.rho);
        (slope, slope)
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-self.rho, self.rho)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 1.0, k: 0.0 }
    }
}
