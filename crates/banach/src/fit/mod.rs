//! From data to a model: the one way to fit, for every door.
//!
//! A [`Spec`] says in values what is to be fitted; it is the only list of parameters and the only place with their defaults. A [`Fit`] is
//! a spec that was found to be in range. [`Prepared`] is a fit with the data in the form of the planned route. A [`Model`] is what
//! comes out. A [`Search`] chooses gamma, p and kernel. An [`Auto`] chooses everything. A [`SparseModel`] is what a [`SparseSpec`](crate::sparse::SparseSpec) makes of numbers or classes.
//! [`Lengths`] are a factor for every variable.

mod auto;
mod few_terms;
mod lengths;
mod model;
mod prepared;
mod search;
mod solver_choice;
mod sparse_model;
mod spec;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use auto::LEAST_PAIR_SHARE;
pub use auto::{
    Auto, AutoEffect, AutoExplanation, AutoMember, AutoModel, AutoProgress, AutoRecord, ContenderScore,
    ContributionSource, DenseMember, Effort, ExpectedLoss, MemberKind, PartialContribution, Recipe, TermsStanding,
    VariableRanges, Verdict, WatchAuto, products,
};
pub use few_terms::repetitions;
pub use lengths::Lengths;
pub use model::{Model, probabilities};
pub use prepared::{Fit, Prepared};
pub use search::{Candidate, Gammas, KernelSpace, Search, SearchOption, Searched, Tried};
pub use solver_choice::{PaperAlgorithm, PaperOptions, SolverChoice};
pub use sparse_model::SparseModel;
pub use spec::Spec;
pub use target::{Outputs, Target, Task};
