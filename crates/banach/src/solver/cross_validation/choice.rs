//! By which rule one of several held-out losses is taken.

use serde::{Deserialize, Serialize};

use super::Mean;

/// A rule that takes one of several models by their held-out losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The smallest loss; of equal ones the simplest model.
    #[default]
    Best,
    /// The simplest model whose loss is within one standard error of the smallest.
    OneStandardError,
}

impl Choice {
    /// The place of the loss that is taken, given those of models from the simplest to the most complex. A loss that is not known or
    /// not a number is never taken.
    ///
    /// ```
    /// use banach::solver::{Choice, Mean};
    /// let loss = |value| Some(Mean { value, standard_error: 0.2 });
    /// let losses = [loss(2.0), None, loss(1.1), loss(1.0), loss(1.5)];
    /// assert_eq!(Choice::Best.pick(&losses), Some(3));
    /// assert_eq!(Choice::OneStandardError.pick(&losses), Some(2));
    /// ```
    pub fn pick(self, losses: &[Option<Mean>]) -> Option<usize> {
        let value = |at: usize| losses[at].map(|loss| loss.value).filter(|value| !value.is_nan());
        let known = (0..losses.len()).filter_map(|at| value(at).map(|value| (at, value)));
        let (best, smallest) = known.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        if self == Self::Best {
            return Some(best);
        }
        let error = losses[best].map_or(0.0, |loss| loss.standard_error);
        let limit = if error.is_nan() { smallest } else { smallest + error };
        (0..=best).find(|&at| value(at).is_some_and(|value| value <= limit))
    }
}
