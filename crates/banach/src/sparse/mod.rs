//! Exact sparsity: supports of a few terms out of a dictionary of all monomials.

mod assembly;
mod certificate;
mod choices;
mod classes;
mod columns;
mod design;
mod dictionary;
mod evidence;
mod hierarchy;
#[cfg(test)]
mod laws;
mod logistic;
mod measured;
mod model;
mod objective;
mod pair_products;
mod path;
mod penalised;
mod penalised_classes;
mod penalty;
mod prices;
mod pruning;
mod quantile;
mod range;
mod run;
mod search;
mod spec;
mod stability;
mod steps;
mod subsets;
mod support;
mod written;

pub use certificate::{LocalOptimality, SparseCertificate, StepScope};
pub use choices::{Hierarchy, SparsePenalty};
pub use model::{Alternative, BestOfSize, CONFIDENCE, SparseFunction, SparseTerm};
pub(crate) use spec::INSTEAD_OF_COUNTS;
pub use spec::SparseSpec;
pub use stability::SparseStability;
pub use written::{SampleExtent, Substitution, WrittenFunction};

pub(crate) use columns::WorkingColumns;
pub(crate) use design::Design;
pub(crate) use dictionary::Dictionary;
pub(crate) use evidence::Evidence;
pub(crate) use penalty::Penalty;
pub(crate) use prices::Prices;
pub(crate) use subsets::Subsets;
pub(crate) use support::Support;
