use std::{ops::Deref, sync::Arc};

use super::{TensorKernel, range::normalized_limit};

/// `K(x_1, ..., x_q) / prod_i K(x_i, ..., x_i)^(1/q)`, whose features are `Phi(x)/||Phi(x)||_q`.
///
/// The methods on sums are those of K: whoever has the points divides, in logarithms, as
/// [`value`](TensorKernel::value) does. A point with `Phi(x) = 0` keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normalized<K>(pub K);

impl<K> Normalized<K> {
    fn inner(&self) -> &K {
        &self.0
    }
}

/// The methods that a wrapper leaves to what it wraps.
macro_rules! forward {
    ($inner:path) => {
        fn symmetric(&self) -> usize {
            $inner(self).symmetric()
        }

        fn apply(&self, sums: &mut [f64], count: usize) {
            $inner(self).apply(sums, count);
        }

        fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
            $inner(self).ln_value(sums)
        }

        fn apply_shifted(&self, sums: &mut [f64], shifts: &[f64]) {
            $inner(self).apply_shifted(sums, shifts);
        }

        fn apply_involving(&self, sums: &[f64], values: &[f64], z: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
            $inner(self).apply_involving(sums, values, z, shifts, out);
        }

        fn radius(&self) -> f64 {
            $inner(self).radius()
        }

        fn scale(&self) -> Option<f64> {
            $inner(self).scale()
        }

        fn degrees(&self) -> (usize, Option<usize>) {
            $inner(self).degrees()
        }

        fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
            $inner(self).unscaled_coefficient(exponents)
        }
    };
    (all $inner:path) => {
        forward!($inner);

        fn name(&self) -> String {
            $inner(self).name()
        }

        fn limit(&self) -> f64 {
            $inner(self).limit()
        }

        fn normalized(&self) -> bool {
            $inner(self).normalized()
        }
    };
}

impl<K: TensorKernel> TensorKernel for Normalized<K> {
    forward!(Self::inner);

    fn name(&self) -> String {
        format!("{}, normalised", self.0.name())
    }

    fn limit(&self) -> f64 {
        normalized_limit(&self.0)
    }

    fn normalized(&self) -> bool {
        true
    }
}

impl<K: TensorKernel + ?Sized> TensorKernel for Box<K> {
    forward!(all Deref::deref);
}

impl<K: TensorKernel + ?Sized> TensorKernel for &K {
    forward!(all Deref::deref);
}

impl<K: TensorKernel + ?Sized> TensorKernel for Arc<K> {
    forward!(all Deref::deref);
}
