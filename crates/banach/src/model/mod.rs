//! What a fitted function is made of: its largest monomials, and how much each variable matters.
//!
//! Everything here needs the samples, the kernel and the dual vector alone, so it serves every route and knows nothing
//! of solvers.

mod compiled;
mod endpoint;
mod energy;
mod explicit;
mod finite;
mod relevance;
mod top;

use std::sync::Arc;

pub use compiled::Compiled;
pub use explicit::{EQUATION_DIGITS, ExplicitModel, monomial_matrix};
pub(crate) use explicit::{digits, escaped, in_backticks, latex_name, latex_number, text_name};
pub use relevance::{PairShares, Relevance};

use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    error::Parameter,
    form::WeightedMonomial,
    kernel::{MonomialScale, TensorKernel},
    numeric::dot,
};
pub use top::{Budget, SearchEnd, TopMonomial, TopMonomials};

/// A function `f = <w, Phi(.)>` by its dual vector: `w = J_q(u)` with `u = Phi_n* alpha`, (25) `[eq:kkt]`.
#[derive(Debug, Clone)]
pub struct DualModel<'a> {
    samples: FeatureMatrix<'a>,
    kernel: Arc<dyn TensorKernel>,
    monomial_scale: MonomialScale,
    exponent: Exponent,
    alpha: Vec<f64>,
    /// The monomials with a weight, for p = 1.
    terms: Option<Vec<WeightedMonomial>>,
    radius: Option<f64>,
    /// `ln ||w||_p^p`.
    ln_norm: Option<f64>,
    /// The memory that a search may take.
    memory: Memory,
}

impl<'a> DualModel<'a> {
    /// The function of a kernel with this dual vector, one finite number for every sample.
    pub fn new(
        samples: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        alpha: &[f64],
    ) -> Result<Self, Error> {
        exponent.refuse_endpoint()?;
        Self::of_any_exponent(samples, kernel, exponent, alpha)
    }

    fn of_any_exponent(
        samples: FeatureMatrix<'a>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        alpha: &[f64],
    ) -> Result<Self, Error> {
        Error::check_length("alpha", alpha.len(), samples.samples())?;
        Error::check_values("alpha", alpha, "finite numbers", f64::is_finite)?;
        let (kernel, alpha) = (Arc::new(kernel), alpha.to_vec());
        let (monomial_scale, memory) = (MonomialScale::Raw, Memory::limit(u64::MAX));
        Ok(Self { samples, kernel, monomial_scale, exponent, alpha, terms: None, radius: None, ln_norm: None, memory })
    }

    /// The same with a limit on the memory of the search for its largest monomials; there is none unless told otherwise.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// The same with monomials of another scale.
    #[must_use]
    pub fn with_monomial_scale(self, monomial_scale: MonomialScale) -> Self {
        Self { monomial_scale, ..self }
    }

    /// The same, with a bound on the Euclidean distance from `alpha` to the optimal dual vector, which the duality gap
    /// gives where the loss is smooth ([`DualProblem::radius`](crate::DualProblem::radius)). It turns into intervals for
    /// weights.
    pub fn with_radius(self, radius: f64) -> Result<Self, Error> {
        Parameter::Radius.check(radius, (0.0..f64::INFINITY).contains(&radius), "a finite number >= 0")?;
        Ok(Self { radius: Some(radius), ..self })
    }

    /// The same, with its predictions at the samples (without an intercept), which every solution has. They give
    /// `||w||_p^p = <alpha, omega>`, of which the weights of monomials are parts.
    pub fn with_omega(self, omega: &[f64]) -> Result<Self, Error> {
        Error::check_length("omega", omega.len(), self.alpha.len())?;
        let norm = dot(&self.alpha, omega);
        // Not positive for the zero function, and infinite beyond the range of numbers: there shares are not known.
        let ln_norm = (norm > 0.0 && norm.is_finite()).then(|| norm.ln());
        Ok(Self { ln_norm, ..self })
    }
}
