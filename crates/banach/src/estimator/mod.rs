//! From data to a model in one call: checked parameters in, a model out that owns what it needs.
//!
//! ```
//! use banach::{FeatureMatrix, Regressor, kernel::Polynomial};
//!
//! // Sixty samples of eight variables; the target is a product of two of them, and a constant.
//! let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
//! let x: Vec<f64> = (0..60 * 8).map(|k| jumble(k + 1)).collect();
//! let y: Vec<f64> = (0..60).map(|i| 3.0 * x[i] * x[60 + i] + 10.0).collect();
//! let x = FeatureMatrix::from_columns(60, 8, x)?;
//!
//! let model = Regressor::new().p(1.1).gamma(100.0).kernel(Polynomial::new(2, 1.0, 0.0)?).fit(&x, &y)?;
//!
//! assert!(model.certificate().relative_gap() <= 1e-8);
//! let new = FeatureMatrix::from_rows(1, 8, &[0.5, -0.8, 0.1, 0.2, -0.3, 0.4, 0.9, -0.6])?;
//! assert!((model.predict(&new)?[0] - 8.8).abs() < 0.1);
//! println!("{model}\n{}", model.plan());
//! # Ok::<(), banach::Error>(())
//! ```

mod classifier;
mod fitted;
mod parameters;
mod regressor;
#[cfg(test)]
mod tests;

pub use classifier::{Classification, Classifier};
pub use parameters::SolverChoice;
pub use regressor::{Regression, Regressor};
