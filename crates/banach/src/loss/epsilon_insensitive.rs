use super::{Conjugate, Loss, Targets};
use crate::{Error, error::Parameter};

/// `max(0, |y-t| - epsilon)` (Example A.2(ii)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonInsensitive {
    epsilon: f64,
}

impl EpsilonInsensitive {
    /// Residuals up to `epsilon >= 0` cost nothing.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        Parameter::Epsilon.check(epsilon, (0.0..f64::INFINITY).contains(&epsilon), "a finite number >= 0")?;
        Ok(Self { epsilon })
    }
}

impl Loss for EpsilonInsensitive {
    fn name(&self) -> &'static str {
        "epsilon_insensitive"
    }

    fn targets(&self) -> Targets {
        Targets::Real
    }

    fn value(&self, y: f64, t: f64) -> f64 {
        ((y - t).abs() - self.epsilon).max(0.0)
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

    fn domain(&self, _y: f64) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn conjugate_kind(&self) -> Conjugate<'_> {
        Conjugate::Quadratic { a: 0.0, k: self.epsilon }
    }
}
