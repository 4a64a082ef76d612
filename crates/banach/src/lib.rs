//! Sparse, nonlinear models from few samples of very many variables.
//!
//! banach solves `l^p`-norm regularised problems, 1 <= p <= 2,
//!
//! ```text
//! min_(w, b)  sum_i gamma_i L(y_i, <Phi(x_i), w> + b) + (1/p) ||w||_p^p
//! ```
//!
//! through their dual in `R^n`, with a duality gap on every answer.
//!
//! ```
//! use banach::{FeatureMatrix, Spec};
//!
//! // Four samples of six variables; only the second variable matters, and a constant.
//! let x = [
//!     1.0, 2.0, 0.5, -1.0, 0.3, 0.0, //
//!     -0.4, 1.0, 0.2, 0.9, -0.7, 1.1, //
//!     0.6, -1.5, 1.0, 0.1, 0.8, -0.2, //
//!     0.1, 0.5, -0.9, 0.4, 0.6, 0.7,
//! ];
//! let y = [14.0, 12.0, 7.0, 11.0];
//!
//! let model = Spec { p: 1.1, gamma: 10.0, ..Spec::default() }.fit(&FeatureMatrix::from_rows(4, 6, &x)?, &y)?;
//!
//! assert!(model.certificate().relative_gap() <= 1e-8);
//! let weights = model.weights(0).expect("the features are listed");
//! let heaviest = (0..6).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
//! assert_eq!(heaviest, Some(1));
//! # Ok::<(), banach::Error>(())
//! ```
//!
//! A [`Spec`] is fitted to numbers or classes, and a [`Search`] chooses its parameters. They plan the route to the data
//! ([`Planner`]), fit an intercept unless told otherwise, and return a model that owns what it needs. What they do in one call can be done step by step, with one form for
//! many problems:
//!
//! ```
//! use banach::{DualProblem, Exponent, FeatureMatrix, Newton, Unobserved, form::Features, loss::Hinge};
//! use banach::solver::{GammaGrid, path};
//!
//! let x = FeatureMatrix::from_rows(4, 2, &[0.3, 1.0, -0.2, 0.8, 0.1, -1.1, -0.4, -0.7])?;
//! let form = Features::new(x, Exponent::new(1.2)?);
//! let problem = DualProblem::new(&form, &Hinge, &[1.0, 1.0, -1.0, -1.0], 1.0)?.with_intercept()?;
//! let grid = GammaGrid::from_data(&problem, 10)?;
//! let path = path(&problem, &grid, &Newton::default(), &mut Unobserved)?;
//! assert!(path.solutions.iter().all(|solution| solution.certificate.relative_gap() <= 1e-8));
//! # Ok::<(), banach::Error>(())
//! ```
//!
//! The modules follow the objective: [`Exponent`] is p and q, [`loss`] holds the losses, [`kernel`] the tensor kernels,
//! [`form`] the dual of the regulariser ([`QForm`]) from listed features or from a kernel, [`DualProblem`] their sum, [`solver`]
//! the algorithms: [`Newton`] for every loss, those of the paper, paths and cross-validation. `docs/solvers.md` explains them,
//! `docs/notation.md` lists the symbols, `docs/paper-map.md` where each equation of the paper lives.

mod certificate;
mod cost;
pub mod data;
pub mod error;
mod exponent;
pub mod fit;
pub mod form;
pub mod kernel;
pub mod loss;
pub mod memory;
pub mod model;
mod monomials;
mod numeric;
mod problem;
pub mod report;
pub mod selection;
pub mod solver;
pub mod sparse;
pub mod synthetic;
mod tensor;
pub mod workers;

// What most programs name; the rest is in the modules.
pub use certificate::Certificate;
pub use data::FeatureMatrix;
pub use error::Error;
pub use exponent::Exponent;
pub use fit::{Fit, Model, Prepared, Search, Spec, Target};
pub use form::{Planner, QForm, Route};
pub use loss::Loss;
pub use memory::{Account, Memory};
pub use problem::DualProblem;
pub use solver::{Newton, Observer, Solution, Solver, Status, Stopping, Unobserved};
pub use workers::Workers;
