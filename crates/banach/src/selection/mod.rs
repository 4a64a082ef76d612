//! Which terms halves of the samples agree on.

#[cfg(test)]
mod laws;
mod stability;

pub use stability::{Stability, StabilityOptions, StabilityRun, StableMonomial, stability};
