//! Losses as values: what users choose by name, and what a file can hold.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Quantile, Squared, SquaredHinge, Targets};
use crate::{Error, Parameter};

/// A loss as a value, checked when it is built.
///
/// ```
/// use banach::loss::{Loss, LossSpec};
/// assert_eq!(LossSpec::Huber { rho: 1.35 }.build()?.name(), "huber");
/// assert!(LossSpec::Huber { rho: -1.0 }.build().is_err());
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum LossSpec {
    /// [`Squared`].
    Squared,
    /// [`Absolute`].
    Absolute,
    /// [`EpsilonInsensitive`].
    EpsilonInsensitive {
        /// The width.
        epsilon: f64,
    },
    /// [`Huber`].
    Huber {
        /// Where it becomes linear.
        rho: f64,
    },
    /// [`Quantile`].
    Quantile {
        /// The quantile.
        tau: f64,
    },
    /// [`Logistic`].
    Logistic,
    /// [`Hinge`].
    Hinge,
    /// [`SquaredHinge`].
    SquaredHinge,
}

impl LossSpec {
    /// The width of the epsilon-insensitive loss unless told otherwise.
    pub const EPSILON: f64 = 0.1;
    /// Where the loss of Huber becomes linear unless told otherwise.
    pub const RHO: f64 = 1.35;
    /// The quantile unless told otherwise.
    pub const TAU: f64 = 0.5;

    /// Every loss, with the parameters that it has unless told otherwise.
    pub const ALL: [Self; 8] = [
        Self::Squared,
        Self::Absolute,
        Self::EpsilonInsensitive { epsilon: Self::EPSILON },
        Self::Huber { rho: Self::RHO },
        Self::Quantile { tau: Self::TAU },
        Self::Logistic,
        Self::Hinge,
        Self::SquaredHinge,
    ];

    /// The loss of a name, as `epsilon_insensitive`; losses for other targets are not known by name.
    pub fn named(name: &str, targets: Targets) -> Result<Self, Error> {
        let allowed = match targets {
            Targets::Real => "squared, absolute, epsilon_insensitive, huber or quantile",
            Targets::Signs => "logistic, hinge or squared_hinge",
        };
        let refused = || Error::Parameter { parameter: Parameter::Loss, got: format!("{name:?}"), allowed };
        Self::ALL.into_iter().find(|loss| loss.targets() == targets && loss.name() == name).ok_or_else(refused)
    }

    /// As it is written in parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::Absolute => "absolute",
            Self::EpsilonInsensitive { .. } => "epsilon_insensitive",
            Self::Huber { .. } => "huber",
            Self::Quantile { .. } => "quantile",
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::SquaredHinge => "squared_hinge",
        }
    }

    /// The targets that it is defined for.
    pub fn targets(self) -> Targets {
        match self {
            Self::Logistic | Self::Hinge | Self::SquaredHinge => Targets::Signs,
            _ => Targets::Real,
        }
    }

    /// The loss.
    pub fn build(self) -> Result<Arc<dyn Loss>, Error> {
        Ok(match self {
            Self::Squared => Arc::new(Squared),
            Self::Absolute => Arc::new(Absolute),
            Self::EpsilonInsensitive { epsilon } => Arc::new(EpsilonInsensitive::new(epsilon)?),
            Self::Huber { rho } => Arc::new(Huber::new(rho)?),
            Self::Quantile { tau } => Arc::new(Quantile::new(tau)?),
            Self::Logistic => Arc::new(Logistic),
            Self::Hinge => Arc::new(Hinge),
            Self::SquaredHinge => Arc::new(SquaredHinge),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_a_name_of_its_own() {
        for spec in LossSpec::ALL {
            assert_eq!(LossSpec::named(spec.name(), spec.targets()), Ok(spec));
            assert_eq!(spec.build().expect("valid").targets(), spec.targets());
            let other = if spec.targets() == Targets::Real { Targets::Signs } else { Targets::Real };
            assert!(matches!(
                LossSpec::named(spec.name(), other),
                Err(Error::Parameter { parameter: Parameter::Loss, .. })
            ));
        }
    }
}
