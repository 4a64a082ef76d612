//! From data to a model in one call: checked parameters in, a model out that owns what it needs.

mod classifier;
mod fitted;
mod parameters;
mod regressor;
mod solver_choice;
#[cfg(test)]
mod tests;

pub use classifier::{Classification, Classifier};
pub use parameters::Ground;
pub use regressor::{Regression, Regressor};
pub use solver_choice::{PaperAlgorithm, PaperOptions, SolverChoice};
