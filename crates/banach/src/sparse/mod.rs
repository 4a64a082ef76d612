//! Exact sparsity: supports of a few terms out of a dictionary of all monomials.

mod certificate;
mod choices;
mod columns;
mod design;
mod dictionary;
mod evidence;
mod expanded;
#[cfg(test)]
mod laws;
mod leading;
mod model;
mod path;
mod penalty;
mod prices;
mod quantile;
mod search;
mod spec;
mod subsets;
mod support;

pub use certificate::{LocalOptimality, SparseCertificate, StepScope};
pub use choices::{Hierarchy, SparsePenalty};
pub use model::{Alternative, BestOfSize, CONFIDENCE, SparseFunction, SparseTerm};
pub use spec::SparseSpec;

pub(crate) use columns::WorkingColumns;
pub(crate) use design::Design;
pub(crate) use dictionary::Dictionary;
pub(crate) use evidence::Evidence;
pub(crate) use penalty::Penalty;
pub(crate) use prices::Prices;
pub(crate) use subsets::Subsets;
pub(crate) use support::Support;
