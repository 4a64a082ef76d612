//! From a ranking of all monomials to a short equation: select and refit, and stability selection.
//!
//! For p > 1 no weight is exactly 0, and all are shrunk. A second stage takes the largest monomials and fits them alone;
//! how many is chosen by cross-validation in which every fold ranks for itself.

#[cfg(test)]
mod laws;
mod ranking;
mod refit;
mod select;
mod stability;

pub use ranking::{MonomialRanking, Ranking};
pub use refit::{Refit, refit};
pub use select::{Selection, SelectionOptions, select};
pub use stability::{Stability, StabilityOptions, StableMonomial, stability};
