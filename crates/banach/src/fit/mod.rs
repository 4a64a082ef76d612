//! From data to a model: the one way to fit, for every door.
//!
//! A [`Spec`] says in values what is to be fitted; it is the only list of parameters and the only place with their defaults. A [`Fit`] is
//! a spec that was found to be in range. [`Prepared`] is a fit with the data in the form of the planned route. A [`Model`] is what
//! comes out. A [`Search`] chooses gamma, p and kernel. An [`Auto`] chooses everything. A [`SparseModel`] is what a [`SparseSpec`](crate::sparse::SparseSpec) makes of numbers or classes.
//! [`Lengths`] are a factor for every variable, [`Exposure`] one for every sample of counts.

mod assessment;
mod auto;
mod exposure;
mod few_terms;
mod hold_out;
mod learning_curve;
mod lengths;
mod model;
mod permutations;
mod planned_fits;
mod prepared;
mod residuals;
mod search;
mod solver_choice;
mod sparse_model;
mod spec;
mod target;
#[cfg(test)]
mod tests;
mod unequal_scales;

/// Few terms are believed on their evidence from so many samples on.
const LEAST_SAMPLES: usize = 30;

pub use assessment::{Assessment, ClassScores, NumberScores, PermutationCheck};
use assessment::{Decided, Decisions, Predicted, PredictedNumber, Unseen, best_constants};
pub use auto::{
    Auto, AutoEffect, AutoExplanation, AutoMember, AutoModel, AutoProgress, AutoRecord, ContenderScore,
    ContributionSource, DenseMember, Effort, ExpectedLoss, MemberKind, PartialContribution, Recipe, TermsStanding,
    VariableRanges, Verdict, WatchAuto, products,
};
pub(crate) use auto::{LEAST_PAIR_SHARE, pairs_of_terms, term_shares, variables_of_terms};
pub use exposure::{CountRates, Exposure};
pub use few_terms::repetitions;
pub use hold_out::HoldOut;
pub use learning_curve::{Learner, LearningCurve, LearningPoint};
pub use lengths::Lengths;
pub use model::{Model, probabilities};
pub use permutations::Refit;
pub use planned_fits::PlannedFits;
pub use prepared::{Fit, Prepared};
pub use residuals::Residuals;
pub use search::{Candidate, Gammas, KernelSpace, Search, SearchOption, Searched, Tried};
pub use solver_choice::{PaperAlgorithm, PaperOptions, SolverChoice};
pub use sparse_model::{SelectedEquation, SparseModel, UnseenTerms};
pub use spec::Spec;
pub use target::{Outputs, Target, Task};
pub use unequal_scales::UnequalScales;
