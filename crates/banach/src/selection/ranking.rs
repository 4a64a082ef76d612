//! Which monomials of a function are the largest.

use std::sync::Arc;

use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    cost::feature_count,
    kernel::{Monomial, MonomialScale, TensorKernel},
    model::{Budget, DualModel},
};

/// Names the largest monomials of a function, given its dual vector.
pub trait Ranking {
    /// At most `count` monomials, those with the largest weights first; none of weight 0.
    fn largest(&self, alpha: &[f64], count: usize) -> Result<Vec<Monomial>, Error>;

    /// How many monomials there are to choose from; `None` if they are infinitely many or not counted.
    fn features(&self) -> Option<f64> {
        None
    }
}

/// The ranking by `|w_k|`, for whatever route the dual vector comes from.
#[derive(Debug, Clone)]
pub struct MonomialRanking<'a> {
    samples: FeatureMatrix<'a>,
    kernel: Arc<dyn TensorKernel>,
    exponent: Exponent,
    monomial_scale: MonomialScale,
    memory: Memory,
}

impl<'a> MonomialRanking<'a> {
    /// The ranking of functions of a kernel on these samples.
    pub fn new(samples: FeatureMatrix<'a>, kernel: impl TensorKernel + 'static, exponent: Exponent) -> Self {
        let (kernel, monomial_scale) = (Arc::new(kernel), MonomialScale::Raw);
        Self { samples, kernel, exponent, monomial_scale, memory: Memory::limit(u64::MAX) }
    }

    /// The same with a limit on the memory of each search; there is none unless told otherwise.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// The same with monomials of another scale.
    #[must_use]
    pub fn with_monomial_scale(self, monomial_scale: MonomialScale) -> Self {
        Self { monomial_scale, ..self }
    }
}

impl Ranking for MonomialRanking<'_> {
    fn largest(&self, alpha: &[f64], count: usize) -> Result<Vec<Monomial>, Error> {
        let model = DualModel::new(self.samples.view(), self.kernel.clone(), self.exponent, alpha)?;
        let top = model
            .with_monomial_scale(self.monomial_scale)
            .with_memory(self.memory)
            .top_monomials(count, Budget::default())?;
        Ok(top.entries.into_iter().map(|entry| entry.monomial).collect())
    }

    fn features(&self) -> Option<f64> {
        feature_count(&*self.kernel, self.samples.features())
    }
}
