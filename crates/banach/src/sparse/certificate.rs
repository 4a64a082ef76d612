//! What is known of a sparse function at the end of its search, over the whole dictionary.

use serde::{Deserialize, Deserializer, Serialize};

use super::search::LEAST_IMPROVEMENT;

/// What holds at the end of a search, by the [`SparsePenalty`](super::SparsePenalty) that was searched with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SparseCertificate {
    /// By evidence: what one step from the function leads to.
    Steps(LocalOptimality),
    /// By the sum of moduli, which is convex: how far the objective can be from its minimum over the weights of all monomials.
    Gap {
        /// The size of the penalty: the objective is half the mean square of the residuals, for classes the mean of the logistic loss, plus
        /// `lambda` times the moduli of the weights of monomials of standard deviation 1.
        lambda: f64,
        /// The duality gap, as a share of the objective.
        relative_gap: f64,
    },
    /// By a penalty that is not convex: how far the function is from a stationary point of its objective.
    Stationarity {
        /// The size of the penalty, in the units of [`Gap`](Self::Gap).
        lambda: f64,
        /// The largest violation of the first-order condition over all monomials, as a share of `lambda`.
        violation: f64,
    },
}

/// The largest relative gap or violation that counts as none: coordinate descent ends well below.
pub(super) const SOLVED: f64 = 1e-6;

impl SparseCertificate {
    /// Whether the search ended where it should: no step makes a better function, or the objective is solved to six digits.
    pub fn holds(&self) -> bool {
        match self {
            Self::Steps(steps) => steps.holds(),
            Self::Gap { relative_gap: distance, .. } | Self::Stationarity { violation: distance, .. } => {
                *distance <= SOLVED
            }
        }
    }

    /// What single steps lead to, for a function by evidence.
    pub fn steps(&self) -> Option<LocalOptimality> {
        match self {
            Self::Steps(steps) => Some(*steps),
            _ => None,
        }
    }
}

/// What holds at the end of a search: the least criterion that one step from the function leads to, less the function's own.
///
/// None is negative, so that no addition, removal or exchange of a single monomial of the whole dictionary makes a better function, up to
/// rounding in the sixth decimal of the criterion. Steps that do not exist, or that a [`Hierarchy`](super::Hierarchy) does not allow, have
/// infinity, which JSON writes as null.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LocalOptimality {
    /// One more term.
    #[serde(deserialize_with = "or_infinity")]
    pub addition: f64,
    /// One term less.
    #[serde(deserialize_with = "or_infinity")]
    pub removal: f64,
    /// One term instead of another.
    #[serde(deserialize_with = "or_infinity")]
    pub exchange: f64,
    /// How the monomials were compared.
    pub scope: StepScope,
}

/// For which steps the criterion is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepScope {
    /// For every step: it was computed, or is proven to be no better than one that was.
    #[default]
    Every,
    /// For the steps with the best score statistics, a second-order approximation that was computed for every monomial. That the others are
    /// worse is likely, and not proven.
    BestScores,
}

impl LocalOptimality {
    /// Whether no step makes a better function.
    pub fn holds(&self) -> bool {
        self.addition.min(self.removal).min(self.exchange) >= -LEAST_IMPROVEMENT
    }
}

/// A number, or infinity for null.
pub(super) fn or_infinity<'de, D: Deserializer<'de>>(number: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(number)?.unwrap_or(f64::INFINITY))
}

/// A number, or minus infinity for null.
pub(super) fn or_minus_infinity<'de, D: Deserializer<'de>>(number: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(number)?.unwrap_or(f64::NEG_INFINITY))
}
