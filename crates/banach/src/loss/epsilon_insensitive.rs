use super::{Loss, Split, Targets, within};
use crate::{Error, Parameter};

/// `max(0, |y-t| - epsilon)` (Example A.2(ii)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonInsensitive {
    epsilon: f64,
}

impl EpsilonInsensitive {
    /// Residuals up to `epsilon >= 0` cost nothing.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        if !(0.0..f64::INFINITY).contains(&epsilon) {
            return Err(Error::parameter(Parameter::Epsilon, epsilon, "a finite number >= 0"));
        }
        Ok(Self { epsilon })
    }

    /// The half-width of the zone without cost.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }
}

impl Loss for EpsilonInsensitive {
    fn name(&self) -> &'static str {
        "epsilon_insensitive"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn split(&self) -> Split {
        Split::Proximal
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        ((y - t).abs() - self.epsilon).max(0.0)
    }

    fn slope(&self, y: f64, t: f64) -> Option<f64> {
        let residual = y - t;
        if residual.abs() < self.epsilon {
            Some(0.0)
        } else {
            (residual.abs() > self.epsilon).then(|| -residual.signum())
        }
    }

    fn slopes(&self, y: f64, t: f64) -> (f64, f64) {
        let residual = y - t;
        let from = |above: bool, below: bool| f64::from(u8::from(above)) - f64::from(u8::from(below));
        // Written for epsilon = 0, too.
        (
            from(residual < -self.epsilon, residual >= self.epsilon),
            from(residual <= -self.epsilon, residual > self.epsilon),
        )
    }

    fn smoothness(&self) -> Option<f64> {
        None
    }

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn conjugate(&self, y: f64, s: f64) -> f64 {
        within(self.domain(y), s, || self.epsilon * s.abs() - y * s)
    }

    fn conjugate_slope(&self, y: f64, s: f64) -> Option<f64> {
        let kink = s == 0.0 && self.epsilon > 0.0;
        (s.abs() < 1.0 && !kink).then(|| self.epsilon * s.signum() - y)
    }

    fn conjugate_curvature(&self, y: f64, s: f64) -> Option<f64> {
        self.conjugate_slope(y, s).map(|_| 0.0)
    }

    fn strong_convexity(&self) -> f64 {
        0.0
    }

    fn kink(&self) -> f64 {
        self.epsilon
    }

    fn prox(&self, y: f64, lambda: f64, v: f64) -> f64 {
        let shifted = v + lambda * y;
        let shrunk = (shifted.abs() - lambda * self.epsilon).max(0.0);
        shrunk.min(1.0).copysign(shifted)
    }

    fn gap(&self, y: f64, t: f64, s: f64) -> f64 {
        let residual = y - t;
        // s against the sign of the residual: s r = aligned |r|.
        let aligned = s * residual.signum();
        within(self.domain(y), s, || {
            if residual.abs() <= self.epsilon {
                (s.abs() - aligned) * residual.abs() + s.abs() * (self.epsilon - residual.abs())
            } else {
                (residual.abs() - self.epsilon) * (1.0 - aligned) + self.epsilon * (s.abs() - aligned)
            }
        })
    }
}
