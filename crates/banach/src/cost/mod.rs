//! What computations take: the one place that counts work and turns it into seconds.
//!
//! The planner chooses routes by it, models choose between features and a tensor, or between a search and a pass, when they are
//! explained. `rates` is how fast a machine is, `counts` how many features and entries there are, `passes` what a pass over them
//! takes, `systems` what a step between two passes takes, `prediction` what is said of all of it, `choices` which of two ways a model
//! is read.

mod choices;
mod counts;
mod passes;
mod prediction;
mod rates;
mod systems;

pub(crate) use choices::{evaluates_soon, passes_over_monomials, reads_features};
pub(crate) use counts::{feature_count, tensor_entries};
pub use prediction::{PredictedPass, Prediction};
pub use rates::Rates;
