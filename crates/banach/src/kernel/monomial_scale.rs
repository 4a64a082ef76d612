use std::{fmt, str::FromStr};

use crate::Error;

/// How large the features of a kernel are on the samples at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MonomialScale {
    /// As the kernel has them: `c_k^(1/q) x^k`.
    #[default]
    Raw,
    /// `x^k` divided by the root of its mean square over the samples.
    Unit,
    /// `x^k` less its mean over the samples, divided by its standard deviation there: scikit-learn's
    /// `PolynomialFeatures` followed by `StandardScaler`.
    Standardized,
}

impl MonomialScale {
    /// Every scale.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Unit, Self::Standardized];

    /// Its name in messages and parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Unit => "unit",
            Self::Standardized => "standardized",
        }
    }
}

impl fmt::Display for MonomialScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for MonomialScale {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let refused =
            || Error::Parameter { name: "monomials", got: name.to_owned(), allowed: "raw, unit or standardized" };
        Self::ALL.into_iter().find(|scale| scale.name() == name).ok_or_else(refused)
    }
}
