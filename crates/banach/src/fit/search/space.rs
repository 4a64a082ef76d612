//! What is searched beside gamma: the combinations of p, kernel, degree and scale.

use serde::{Deserialize, Serialize};

use super::{Search, exponential};
use crate::{
    Error, Exponent, FeatureMatrix, Spec,
    kernel::{Degrees, KernelChoice, KernelName, KernelSpec},
};

/// A kernel of a search, or several of one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelSpace {
    /// One kernel.
    Fixed(KernelSpec),
    /// A kernel by name, with several degrees and scales.
    Named {
        /// Which.
        name: KernelName,
        /// Degrees; if none are given, the default of the kernel, and for exp as many as possible.
        degrees: Vec<Degrees>,
        /// The constant of the polynomial.
        coef0: Option<f64>,
        /// Scales; if none are given, 1, and for exp those that suit the size of the data.
        scales: Vec<f64>,
        /// Whether the features of a sample are divided by their norm; if it is not said, those of exp are.
        normalize: Option<bool>,
    },
}

impl KernelSpace {
    /// A kernel by name, of which nothing else is said.
    pub fn named(name: KernelName) -> Self {
        Self::Named { name, degrees: Vec::new(), coef0: None, scales: Vec::new(), normalize: None }
    }

    fn is_exponential(&self) -> bool {
        matches!(self, Self::Named { name: KernelName::Exp, .. })
    }
}

/// One combination of p, kernel, degree and scale.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOption {
    /// The parameters, but for gamma.
    pub spec: Spec,
    /// The kernel as it was chosen by name.
    pub kernel: Option<KernelChoice>,
    /// Which of the kernels of the search it belongs to.
    pub place: usize,
}

impl Search {
    /// Every combination, in the order in which they are tried.
    pub fn options(
        &self,
        spec: &Spec,
        x: &FeatureMatrix<'_>,
        sample_weight: Option<&[f64]>,
    ) -> Result<Vec<SearchOption>, Error> {
        let mut options = Vec::new();
        for (place, kernel) in self.kernels.iter().enumerate() {
            let exponents = match &self.exponents[..] {
                [] if kernel.is_exponential() => &exponential::EXPONENTS[..],
                [] => &[spec.p],
                given => given,
            };
            for &p in exponents {
                let spec = Spec { p, ..spec.clone() };
                match kernel {
                    KernelSpace::Fixed(kernel) => {
                        let spec = Spec { kernel: kernel.clone(), ..spec };
                        options.push(SearchOption { spec, kernel: None, place });
                    }
                    KernelSpace::Named { .. } => {
                        for choice in self.choices(kernel, Exponent::of_penalty(p)?, x, sample_weight)? {
                            let spec = Spec { kernel: choice.spec()?, ..spec.clone() };
                            options.push(SearchOption { spec, kernel: Some(choice), place });
                        }
                    }
                }
            }
        }
        Ok(options)
    }

    /// The degrees and scales of a kernel by name, for one p.
    fn choices(
        &self,
        space: &KernelSpace,
        exponent: Exponent,
        x: &FeatureMatrix<'_>,
        sample_weight: Option<&[f64]>,
    ) -> Result<Vec<KernelChoice>, Error> {
        let KernelSpace::Named { name, degrees, coef0, scales, normalize } = space else {
            return Ok(Vec::new());
        };
        let exp = *name == KernelName::Exp;
        let degrees: Vec<Option<Degrees>> = match &degrees[..] {
            [] if exp => vec![exponential::degrees(exponent, !self.exponents.is_empty(), x.features())],
            [] => vec![None],
            given => given.iter().copied().map(Some).collect(),
        };
        let scales: Vec<Option<f64>> = match &scales[..] {
            [] if exp => exponential::scales(exponent, x, sample_weight)?.into_iter().map(Some).collect(),
            [] => vec![None],
            given => given.iter().copied().map(Some).collect(),
        };
        let normalize = normalize.unwrap_or(exp);
        let with = |degree: Option<Degrees>| {
            scales.iter().map(move |&scale| KernelChoice { name: *name, degree, coef0: *coef0, scale, normalize })
        };
        Ok(degrees.into_iter().flat_map(with).collect())
    }
}
