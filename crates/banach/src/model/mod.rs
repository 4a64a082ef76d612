//! What a fitted function is made of: its largest monomials, and how much each variable matters.
//!
//! Everything here needs the samples, the kernel and the dual vector alone, so it serves every route and knows nothing
//! of solvers.

mod bars;
mod energy;
mod explicit;
mod largest;
mod relevance;

use std::sync::Arc;

pub use explicit::{Compiled, ExplicitModel, Kept, monomial_matrix};
pub use relevance::{PairShares, Relevance};

use crate::{
    Error, Exponent, FeatureMatrix,
    kernel::{MonomialScale, TensorKernel},
};

/// A function `f = <w, Phi(.)>` by its dual vector: `w = J_q(u)` with `u = Phi_n* alpha`, (25) `[eq:kkt]`.
#[derive(Debug, Clone)]
pub struct DualModel<'a> {
    samples: FeatureMatrix<'a>,
    kernel: Arc<dyn TensorKernel>,
    scale: MonomialScale,
    exponent: Exponent,
    alpha: Vec<f64>,
    radius: Option<f64>,
}

impl<'a> DualModel<'a> {
    /// The function of a kernel with this dual vector, one finite number for every sample.
    pub fn new(
        samples: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        alpha: &[f64],
    ) -> Result<Self, Error> {
        let (got, expected) = (alpha.len(), samples.samples());
        if got != expected {
            return Err(Error::Shape { what: "alpha", got, expected });
        }
        if let Some(row) = alpha.iter().position(|alpha| !alpha.is_finite()) {
            return Err(Error::BadValue { what: "alpha", row, value: alpha[row], allowed: "finite numbers" });
        }
        let (kernel, alpha) = (Arc::new(kernel), alpha.to_vec());
        Ok(Self { samples, kernel, scale: MonomialScale::Raw, exponent, alpha, radius: None })
    }

    /// The same with features of another size.
    #[must_use]
    pub fn with_scale(self, scale: MonomialScale) -> Self {
        Self { scale, ..self }
    }

    /// The same, with a bound on the Euclidean distance from `alpha` to the optimal dual vector, which the duality gap
    /// gives where the loss is smooth. It turns into intervals for weights.
    #[must_use]
    pub fn with_radius(self, radius: f64) -> Self {
        Self { radius: Some(radius), ..self }
    }
}
