use super::{MAX_VALUE, TensorKernel, checked_scale, inside};
use crate::{
    Error,
    numeric::{exp_in_place, exp_m1_in_place, exp_slice, vectorised},
};

/// `K = exp(scale p_1)` (paper, after (17)): the features are all monomials, `c_k = scale^s / k!` at degree s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    scale: f64,
}

impl Exponential {
    /// The kernel `exp(scale t)`, with `scale > 0`.
    pub fn new(scale: f64) -> Result<Self, Error> {
        Ok(Self { scale: checked_scale(scale)? })
    }
}

impl TensorKernel for Exponential {
    fn name(&self) -> String {
        format!("exp({} t)", self.scale)
    }

    fn apply(&self, sums: &mut [f64], count: usize) {
        let t = &mut sums[..count];
        t.iter_mut().for_each(|t| *t *= self.scale);
        exp_in_place(t);
    }

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        (1.0, self.scale * sums[0])
    }

    fn apply_shifted(&self, sums: &mut [f64], shifts: &[f64]) {
        let (scale, t) = (self.scale, &mut sums[..shifts.len()]);
        vectorised(
            #[inline(always)]
            move || {
                t.iter_mut().zip(shifts).for_each(|(t, shift)| *t = scale * *t - shift);
                exp_slice(t);
            },
        );
    }

    fn apply_involving(&self, _: &[f64], values: &[f64], z: &[f64], _: Option<&[f64]>, out: &mut [f64]) {
        // e^t - e^(t - z) = -e^t (e^(-z) - 1), whatever the shift.
        out.iter_mut().zip(z).for_each(|(out, z)| *out = -self.scale * z);
        exp_m1_in_place(out);
        out.iter_mut().zip(values).for_each(|(out, value)| *out *= -value);
    }

    fn limit(&self) -> f64 {
        inside(MAX_VALUE.ln() / self.scale)
    }

    fn scale(&self) -> Option<f64> {
        Some(self.scale)
    }

    fn degrees(&self) -> (usize, Option<usize>) {
        (0, None)
    }

    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
        let factors = exponents.iter().flat_map(|&exponent| 1..=exponent);
        factors.map(|i| 1.0 / i as f64).product()
    }
}
