//! Which few terms of the kernel of a fit can be named.

use super::Spec;
use crate::{
    Error,
    error::Parameter,
    kernel::KernelSpec,
    loss::{LossSpec, Targets},
    sparse::{INSTEAD_OF_COUNTS, SparseSpec},
};

impl Spec {
    /// A search for at most so many terms among the monomials of the same kernel: by least squares for the squared loss, by the logistic loss
    /// for classes. Other losses have no evidence, and are refused, as are kernels of infinitely many monomials.
    pub fn few_terms(&self, max_terms: Option<usize>) -> Result<SparseSpec, Error> {
        let mut kernel = &self.kernel;
        // How a kernel weights its monomials does not matter.
        while let KernelSpec::Normalized { kernel: inner } = kernel {
            kernel = inner;
        }
        let bounded = kernel.build()?.degrees().1.is_some();
        Parameter::Kernel.check(kernel, bounded, "one with a highest degree, for terms by evidence")?;
        let loss = match self.loss.targets() {
            Targets::Signs => LossSpec::Logistic,
            Targets::Real | Targets::Counts => {
                let counts = self.loss.targets() == Targets::Counts;
                let allowed =
                    if counts { INSTEAD_OF_COUNTS } else { "squared or a loss for classes, for terms by evidence" };
                Parameter::Loss.check(self.loss.name(), self.loss == LossSpec::Squared, allowed)?;
                LossSpec::Squared
            }
        };
        let (kernel, fit_intercept) = (kernel.clone(), self.fit_intercept);
        let interactions = self.interactions;
        Ok(SparseSpec { kernel, max_terms, fit_intercept, loss, interactions, ..SparseSpec::default() })
    }
}

/// Weights of samples as numbers of repetitions, which evidence takes them for: those that count have the mean 1. `None` if all are equal.
pub fn repetitions(weights: &[f64]) -> Option<Vec<f64>> {
    if weights.iter().all(|weight| *weight == weights[0]) {
        return None;
    }
    let counted = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    // Divided first, as the sum of very large weights is out of range.
    let mean: f64 = weights.iter().map(|weight| weight / counted).sum();
    Some(weights.iter().map(|weight| weight / mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_become_repetitions_of_mean_1() {
        assert_eq!(repetitions(&[0.3; 5]), None);
        assert_eq!(repetitions(&[]), None);
        assert_eq!(repetitions(&[0.0, 2.0, 6.0]), Some(vec![0.0, 0.5, 1.5]));
        assert_eq!(repetitions(&[0.0, 1e308, 1e308]), Some(vec![0.0, 1.0, 1.0]));
    }

    #[test]
    fn the_kernel_is_that_of_the_fit_and_losses_without_evidence_are_refused() {
        let exp = KernelSpec::Exp { scale: 0.1, degrees: Some((1, 3)) };
        let kernel = KernelSpec::Normalized { kernel: Box::new(exp.clone()) };
        let spec = Spec { kernel, fit_intercept: false, ..Spec::default() };
        let found = spec.few_terms(Some(4)).expect("least squares");
        assert_eq!((found.kernel, found.max_terms, found.fit_intercept), (exp, Some(4), false));
        let endless = KernelSpec::Exp { scale: 0.1, degrees: None };
        let refused = Spec { kernel: endless, ..Spec::default() }.few_terms(None).expect_err("infinitely many");
        assert!(refused.to_string().contains("highest degree"), "{refused}");
        for loss in LossSpec::ALL {
            let found = Spec { loss, ..Spec::default() }.few_terms(None);
            match loss.targets() {
                Targets::Signs => assert_eq!(found.expect("classes").loss, LossSpec::Logistic),
                Targets::Real | Targets::Counts => assert_eq!(found.is_ok(), loss == LossSpec::Squared, "{loss:?}"),
            }
        }
    }
}
