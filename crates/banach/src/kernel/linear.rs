use super::{MAX_VALUE, TensorKernel, inside};

/// `K = p_1` (13) `[eq:linearker]`: the features are the variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear;

impl TensorKernel for Linear {
    fn name(&self) -> String {
        "the linear kernel t".to_owned()
    }

    fn apply(&self, _sums: &mut [f64], _count: usize) {}

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        (sign(sums[0]), sums[0].abs().ln())
    }

    fn limit(&self) -> f64 {
        inside(MAX_VALUE)
    }

    fn scale(&self) -> Option<f64> {
        None
    }

    fn degrees(&self) -> (usize, Option<usize>) {
        (1, Some(1))
    }

    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
        if exponents == [1] { 1.0 } else { 0.0 }
    }
}

/// -1, 0 or 1.
pub(super) fn sign(t: f64) -> f64 {
    if t == 0.0 { 0.0 } else { t.signum() }
}
