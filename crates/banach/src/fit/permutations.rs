//! Whether targets in an order by chance would be predicted as well.

use std::borrow::Cow;

use super::{PermutationCheck, Target};
use crate::{Error, error::Parameter, solver::Folds};

/// What is fitted to targets and weights of samples: the loss on held-out samples as a share of that of a constant; `None` if it was ended.
pub type Refit<'f> = dyn FnMut(&Target<'_>, Option<&[f64]>) -> Result<Option<f64>, Error> + 'f;

impl PermutationCheck {
    /// Fits to the targets in so many orders by chance, each with the weight that belongs to it, and counts those whose error is no larger than
    /// that of the targets as they are. What [`Folds::by_chance`] keeps together stays together, and there are no more fits than it has orders.
    /// `None` if it was ended.
    pub fn run(
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        folds: &Folds,
        permutations: usize,
        error: f64,
        refit: &mut Refit<'_>,
    ) -> Result<Option<Self>, Error> {
        Parameter::Permutations.check(permutations, permutations > 0, "at least 1")?;
        let (mut made, mut as_good) = (0, 0);
        for order in folds.by_chance(permutations) {
            made += 1;
            let weights: Option<Vec<f64>> = sample_weight.map(|weights| order.iter().map(|&i| weights[i]).collect());
            match refit(&target.reordered(&order), weights.as_deref()) {
                Ok(Some(shuffled)) => as_good += usize::from(shuffled <= error),
                Ok(None) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(Self { permutations: made, as_good }))
    }
}

impl Target<'_> {
    /// The same targets in another order.
    pub(super) fn reordered(&self, order: &[usize]) -> Target<'static> {
        match self {
            Self::Numbers(outputs) => {
                let moved = |y: &Cow<'_, [f64]>| Cow::Owned(order.iter().map(|&i| y[i]).collect());
                Target::Numbers(outputs.iter().map(moved).collect())
            }
            Self::Labels(labels) => Target::Labels(order.iter().map(|&i| labels[i]).collect()),
        }
    }
}
