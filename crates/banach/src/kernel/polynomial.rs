use super::{MAX_DEGREE, MAX_VALUE, TensorKernel, by_difference, checked_scale, inside, linear::sign, multinomial};
use crate::{
    Error,
    error::Parameter,
    numeric::{integer_power, vectorised},
};

/// `K = (coef0 + scale p_1)^degree` (paper, after (17)): the features are all monomials of this degree, and of the
/// lower ones if `coef0 > 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: usize,
    scale: f64,
    coef0: f64,
}

impl Polynomial {
    /// The kernel `(coef0 + scale t)^degree`, with `1 <= degree <= 64`, `scale > 0` and `coef0 >= 0`.
    pub fn new(degree: usize, scale: f64, coef0: f64) -> Result<Self, Error> {
        Parameter::Degree.check(degree, (1..=MAX_DEGREE).contains(&degree), "a whole number from 1 to 64")?;
        let scale = checked_scale(scale)?;
        // With a larger value at p_1 = 0 there would be no room for the data.
        Parameter::Coef0.check(
            coef0,
            coef0 >= 0.0 && coef0.powf(degree as f64) <= MAX_VALUE.sqrt(),
            "a number >= 0, at most 1e140 when raised to the degree",
        )?;
        Ok(Self { degree, scale, coef0 })
    }
}

impl TensorKernel for Polynomial {
    fn name(&self) -> String {
        if self.coef0 == 0.0 {
            format!("({} t)^{}", self.scale, self.degree)
        } else {
            format!("({} + {} t)^{}", self.coef0, self.scale, self.degree)
        }
    }

    fn apply(&self, sums: &mut [f64], count: usize) {
        let (Self { degree, scale, coef0 }, t) = (*self, &mut sums[..count]);
        vectorised(
            #[inline(always)]
            move || {
                t.iter_mut().for_each(|t| *t = coef0 + scale * *t);
                integer_power(t, degree as u32);
            },
        );
    }

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        let base = self.coef0 + self.scale * sums[0];
        // A factor that is out of range has a logarithm all the same.
        let product = self.coef0 == 0.0 || !base.is_finite();
        let ln = if product { self.scale.ln() + sums[0].abs().ln() } else { base.abs().ln() };
        let sign = sign(if product { sums[0] } else { base });
        (if self.degree.is_multiple_of(2) { sign.abs() } else { sign }, self.degree as f64 * ln)
    }

    fn apply_involving(&self, sums: &[f64], values: &[f64], z: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
        if shifts.is_some() {
            return by_difference(self, sums, values, z, shifts, out);
        }
        // a^s - b^s = (a - b) (a^(s-1) + a^(s-2) b + ... + b^(s-1)).
        for ((out, z), p_1) in out.iter_mut().zip(z).zip(sums) {
            let (a, b) = (self.coef0 + self.scale * p_1, self.coef0 + self.scale * (p_1 - z));
            let (mut sum, mut power) = (0.0, 1.0);
            for _ in 0..self.degree {
                sum = sum * a + power;
                power *= b;
            }
            *out = self.scale * z * sum;
        }
    }

    fn limit(&self) -> f64 {
        inside((MAX_VALUE.powf(1.0 / self.degree as f64) - self.coef0) / self.scale)
    }

    fn scale(&self) -> Option<f64> {
        Some(self.scale)
    }

    fn degrees(&self) -> (usize, Option<usize>) {
        (if self.coef0 == 0.0 { self.degree } else { 0 }, Some(self.degree))
    }

    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
        let degree: usize = exponents.iter().sum();
        if degree > self.degree {
            return 0.0;
        }
        let constant = self.degree - degree;
        let constants = self.coef0.powi(constant as i32) * multinomial(&[degree, constant]);
        multinomial(exponents) * constants
    }
}
