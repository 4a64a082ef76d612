use super::{Loss, Split, Targets, strictly_within, within};
use crate::{Error, Parameter};

/// `r^2/2` for `|r| <= rho`, else `rho|r| - rho^2/2`, with `r = y-t` (Example A.2(iii)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    rho: f64,
}

impl Huber {
    /// Quadratic up to residuals of size `rho > 0`, linear beyond.
    pub fn new(rho: f64) -> Result<Self, Error> {
        if !(rho > 0.0 && rho.is_finite()) {
            return Err(Error::parameter(Parameter::Rho, rho, "a finite number > 0"));
        }
        Ok(Self { rho })
    }

    /// Where the loss turns linear.
    pub fn rho(&self) -> f64 {
        self.rho
    }
}

impl Loss for Huber {
    fn name(&self) -> &'static str {
        "huber"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        let size = (y - t).abs();
        if size <= self.rho { 0.5 * size * size } else { self.rho * (size - 0.5 * self.rho) }
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        Some((t - y).clamp(-self.rho, self.rho))
    }

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-self.rho, self.rho)
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
        ((v + lambda * y) / (1.0 + lambda)).clamp(-self.rho, self.rho)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let residual = y - t;
        within(self.domain(y), s, || {
            if residual.abs() <= self.rho {
                0.5 * (residual - s) * (residual - s)
            } else {
                let aligned = s * residual.signum();
                (self.rho - aligned) * (residual.abs() - 0.5 * (self.rho + aligned))
            }
        })
    }
}
