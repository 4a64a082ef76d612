//! Data as the forms see it: a checked feature matrix, and the one pass over it.

mod columns;
mod derived;
mod feature_matrix;
mod products;
mod scratch;
mod stream;
mod sweep;

pub(crate) use columns::Column;
pub use feature_matrix::{Entries, FeatureMatrix, MAX_ENTRY};
pub(crate) use scratch::Pool;
pub use scratch::Scratch;
pub(crate) use sweep::{MAX_BLOCK, Sweep, SweepBlock};
