//! Data drawn from a seed, the same on every machine: those of the paper's experiments (section 4), and others whose truth is known.
//!
//! ```
//! use banach::{FeatureMatrix, Spec, synthetic::SparseLinear};
//!
//! let setting = SparseLinear { samples: 40, features: 300, relevant: 2, noise: 0.01 };
//! let sample = setting.sample(1);
//! let x = FeatureMatrix::from_columns(40, 300, &sample.columns[..])?;
//! let model = Spec { p: 1.1, gamma: 100.0, ..Spec::default() }.fit(&x, &sample.targets)?;
//! let weights = model.weights(0).expect("the features are listed");
//! let heaviest = (0..300).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
//! assert!(sample.truth.iter().any(|(feature, _)| Some(*feature) == heaviest));
//! # Ok::<(), banach::Error>(())
//! ```

mod correlated;
mod draw;
mod linear;
mod monomials;
mod quadratic;

pub use correlated::Correlated;
pub use linear::SparseLinear;
pub use monomials::{EntryDistribution, MonomialSample, SparseMonomials};
pub use quadratic::SparseQuadratic;

/// One draw of the data, with what is known of a feature: its number unless told otherwise.
#[derive(Debug, Clone)]
pub struct Sample<Feature = usize> {
    /// X, one variable after another.
    pub columns: Vec<f64>,
    /// y.
    pub targets: Vec<f64>,
    /// The non-zeros of `w_*`: feature and value, by feature.
    pub truth: Vec<(Feature, f64)>,
}
