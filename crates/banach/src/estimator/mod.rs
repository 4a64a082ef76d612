//! From data to a model in one call: checked parameters in, a model out that owns what it needs.

mod classifier;
mod fitted;
mod parameters;
mod regressor;
#[cfg(test)]
mod tests;

pub use classifier::{Classification, Classifier};
pub use parameters::{Ground, SolverChoice};
pub use regressor::{Regression, Regressor};
