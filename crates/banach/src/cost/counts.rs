//! How many features and tensor entries there are, as numbers that may be rounded.

use crate::kernel::{TensorKernel, cardinality};

/// The number of features of a kernel, `card(K)`, in this many variables; infinite beyond the range of `f64`, `None` if there are
/// infinitely many.
pub(crate) fn feature_count(kernel: &dyn TensorKernel, inputs: usize) -> Option<f64> {
    cardinality(kernel, inputs).map(|count| count.to_string().parse().unwrap_or(f64::INFINITY))
}

/// The entries of a packed tensor, `(n+q-1 choose q)`, also where that is no longer a `usize`.
pub(crate) fn tensor_entries(samples: usize, order: usize) -> f64 {
    (0..order).map(|k| (samples + k) as f64 / (k + 1) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Exponential, Polynomial};

    #[test]
    fn counts_are_binomials() {
        assert_eq!(tensor_entries(64, 4), 766_480.0);
        let polynomial = |degree| Polynomial::new(degree, 1.0, 0.0).expect("valid");
        assert_eq!(feature_count(&polynomial(2), 650), Some(211_575.0));
        assert_eq!(feature_count(&Exponential::new(1.0).expect("valid"), 3), None);
    }
}
