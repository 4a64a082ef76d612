//! Every loss, and targets for it.

use banach::{
    Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Quantile, Squared, SquaredHinge, loss::Targets,
};

/// One instance of every loss.
pub(crate) fn losses() -> Vec<Box<dyn Loss>> {
    vec![
        Box::new(Squared),
        Box::new(Absolute),
        Box::new(EpsilonInsensitive::new(0.1).expect("valid")),
        Box::new(Huber::new(1.35).expect("valid")),
        Box::new(Quantile::new(0.25).expect("valid")),
        Box::new(Logistic),
        Box::new(Hinge),
        Box::new(SquaredHinge),
    ]
}

/// Targets for a loss; a label is the sign.
pub(crate) fn targets(loss: &dyn Loss, y: &[f64]) -> Vec<f64> {
    match loss.targets() {
        Targets::Real => y.to_vec(),
        Targets::Signs => y.iter().map(|y| 1.0_f64.copysign(*y)).collect(),
    }
}
