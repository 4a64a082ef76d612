//! Every loss, and targets for it.

use std::sync::Arc;

use banach::loss::{Loss, LossSpec, Targets};

/// Every loss; the quantile is not the median, whose loss is half of the absolute one.
pub(crate) fn losses() -> Vec<Arc<dyn Loss>> {
    LossSpec::ALL.into_iter().map(|loss| loss.with("tau", 0.25).unwrap_or(loss).build().expect("valid")).collect()
}

/// Targets for a loss; a label is the sign, a count the positive part.
pub(crate) fn targets(loss: &dyn Loss, y: &[f64]) -> Vec<f64> {
    match loss.targets() {
        Targets::Real => y.to_vec(),
        Targets::Counts => y.iter().map(|y| y.max(0.0)).collect(),
        Targets::Signs => y.iter().map(|y| 1.0_f64.copysign(*y)).collect(),
    }
}
