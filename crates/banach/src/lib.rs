//! Sparse, nonlinear models from few samples of very many variables.
//!
//! banach solves `l^p`-norm regularised problems, 1 < p <= 2,
//!
//! ```text
//! min_w  sum_i gamma_i L(y_i, <Phi(x_i), w>) + (1/p) ||w||_p^p
//! ```
//!
//! through their dual in `R^n`, with a duality gap on every answer; on request with an intercept
//! ([`DualProblem::with_intercept`]).
//!
//! ```
//! use banach::{DualProblem, Exponent, FeatureMatrix, Features, ProximalGradient, Solver, Squared, Unobserved};
//!
//! // Four samples of six variables; only the second variable matters.
//! let x = [
//!     1.0, 2.0, 0.5, -1.0, 0.3, 0.0, //
//!     -0.4, 1.0, 0.2, 0.9, -0.7, 1.1, //
//!     0.6, -1.5, 1.0, 0.1, 0.8, -0.2, //
//!     0.1, 0.5, -0.9, 0.4, 0.6, 0.7,
//! ];
//! let y = [4.0, 2.0, -3.0, 1.0];
//!
//! let form = Features::new(FeatureMatrix::from_rows(4, 6, &x)?, Exponent::new(1.1)?);
//! let problem = DualProblem::new(&form, &Squared, &y, 10.0)?;
//! let solution = ProximalGradient::default().solve(&problem, &mut Unobserved)?;
//! let weights = form.weights(&solution.alpha);
//!
//! assert!(solution.certificate.relative_gap() <= 1e-8);
//! let heaviest = (0..6).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
//! assert_eq!(heaviest, Some(1));
//! # Ok::<(), banach::Error>(())
//! ```
//!
//! [`Regressor`] and [`Classifier`] do all of this in one call: they plan the route ([`Planner`]), fit an intercept,
//! and return a model that owns what it needs.
//!
//! The modules follow the objective: [`Exponent`] is p and q, [`loss`] holds the losses, [`kernel`] the tensor kernels,
//! [`QForm`] the dual of the regulariser from listed features ([`Features`]) or from a kernel ([`Gram`]),
//! [`DualProblem`] their sum, [`solver`] the algorithms. `docs/notation.md` lists the symbols, `docs/paper-map.md`
//! where each equation of the paper lives.

mod certificate;
mod data;
mod error;
mod estimator;
mod exponent;
mod form;
pub mod kernel;
pub mod loss;
mod memory;
mod problem;
pub mod solver;

pub use certificate::Certificate;
pub use data::{FeatureMatrix, MAX_ENTRY, Scratch};
pub use error::Error;
pub use estimator::{Classification, Classifier, Regression, Regressor, SolverChoice};
pub use exponent::Exponent;
pub use form::{
    Cost, Evaluation, Expansion, Features, Gram, Hessian, HessianPart, KernelFeatures, LinePoint, Lines, Plan, Planner,
    Predict, QForm, Rates, Route, RoutePlan, Shape,
};
pub use loss::{Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Quantile, Squared, SquaredHinge};
pub use memory::Memory;
pub use problem::DualProblem;
pub use solver::{
    CrossValidation, Folds, GammaGrid, Gradient, Linesearch, Newton, Observer, Path, Progress, ProximalGradient, Rule,
    Solution, Solver, Start, Status, Stopping, Unobserved, cross_validate, cross_validate_all, path, path_all,
};

/// The snippets of the README, executed as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeSnippets;

/// The snippets of the guide to kernels, executed as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/kernels.md")]
pub struct KernelSnippets;
