//! The losses of the paper (Example A.2 `[ex:losses]`) and four more, with their conjugates, one file each.
//!
//! A loss knows nothing of weights: sample i enters the dual (24) `[eq:gendual]` as
//! `gamma_i L*(y_i, -alpha_i/gamma_i)`, so everything is a function of the unit dual variable
//! `s = alpha_i/gamma_i`.

mod absolute;
mod contract;
mod entropy;
mod epsilon_insensitive;
mod hinge;
mod huber;
#[cfg(test)]
pub(crate) mod laws;
mod logistic;
mod poisson;
mod quantile;
mod spec;
mod squared;
mod squared_hinge;

pub use absolute::Absolute;
pub use contract::{Conjugate, Loss, LossSlices, SliceTerms, SmoothConjugate, Split, Targets};
pub(crate) use contract::{GAP_ROUNDING, terms_of_sample};
pub use epsilon_insensitive::EpsilonInsensitive;
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use poisson::Poisson;
pub use quantile::Quantile;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

// The list of all losses, from which the command, Python, the model file, the laws and the experiments take theirs: the type, with
// its parameter and what that is unless told otherwise; the name; the targets; a line of help.
spec::losses! {
    Squared, "squared", Real, "(y - t)^2/2";
    Absolute, "absolute", Real, "|y - t|";
    EpsilonInsensitive { epsilon: 0.1 }, "epsilon_insensitive", Real, "|y - t| beyond epsilon";
    Huber { rho: 1.35 }, "huber", Real, "Squared near 0, linear beyond rho";
    Quantile { tau: 0.5 }, "quantile", Real, "For the quantile tau";
    Poisson, "poisson", Counts, "For counts, whose logarithm is predicted";
    Logistic, "logistic", Signs, "For classes, with probabilities";
    Hinge, "hinge", Signs, "For classes, as in support vector machines";
    SquaredHinge, "squared_hinge", Signs, "For classes, smoother";
}
