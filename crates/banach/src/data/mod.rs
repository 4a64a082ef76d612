//! Data as the forms see it: a checked feature matrix, and the one pass over it.

mod block;
mod column_moments;
mod column_scaling;
mod column_units;
mod columns;
mod compact;
mod derived;
mod excluded_products;
mod feature_matrix;
mod number_block;
mod products;
mod rank_scores;
mod rotation;
mod scratch;
pub(crate) mod stream;
mod sweep;
mod weighted_square;

pub use column_moments::ColumnMoments;
pub use column_scaling::ColumnScaling;
pub use column_units::ColumnUnits;
pub(crate) use columns::Column;
pub use compact::Genotypes;
#[cfg(test)]
pub(crate) use compact::laws::instances as compact_instances;
pub(crate) use derived::COLUMNS_AT_ONCE;
pub use excluded_products::{ExcludedProducts, Interactions};
pub(crate) use feature_matrix::MAX_ENTRY;
pub use feature_matrix::{Entries, FeatureMatrix};
pub use rank_scores::RankScores;
pub use scratch::Scratch;
pub(crate) use scratch::{Pool, Spare};
pub(crate) use sweep::{MAX_BLOCK, Sweep, SweepBlock};
pub(crate) use weighted_square::product_length;
