//! Data as the forms see it: a checked feature matrix, and the one pass over it.

mod feature_matrix;
mod scratch;
mod stream;
mod sweep;

pub(crate) use feature_matrix::{Column, MAX_ENTRY};
pub use feature_matrix::{Entries, FeatureMatrix};
pub(crate) use scratch::Pool;
pub use scratch::Scratch;
pub(crate) use sweep::{Block, MAX_BLOCK, Sweep};
