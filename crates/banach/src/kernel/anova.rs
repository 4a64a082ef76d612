use std::ops::RangeInclusive;

use super::{MAX_VALUE, TensorKernel, inside, linear::sign};
use crate::{Error, error::Parameter};

/// Highest degree. Sums of every degree are kept in registers while a tensor is filled.
pub(crate) const MAX_ORDER: usize = 8;

/// `K = e_min(z) + ... + e_max(z)`, the elementary symmetric polynomials of the products: the features are the
/// products of distinct variables, no powers, all with coefficient 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anova {
    min_degree: usize,
    max_degree: usize,
}

impl Anova {
    /// Interactions of `min_degree` to `max_degree` variables, `1 <= min_degree <= max_degree <= 8`.
    pub fn new(min_degree: usize, max_degree: usize) -> Result<Self, Error> {
        Parameter::Degree.check(max_degree, (1..=MAX_ORDER).contains(&max_degree), "a whole number from 1 to 8")?;
        Parameter::Degree.check(
            min_degree,
            (1..=max_degree).contains(&min_degree),
            "a range that begins at 1 or above, with the lower degree",
        )?;
        Ok(Self { min_degree, max_degree })
    }
}

/// The parts of `e_min + ... + e_max` with each of some variables, for many arguments at a time: `z_t e_(s-1)` of the other
/// variables, summed over the degrees s. Nothing is subtracted.
///
/// `z` holds the products of the first of these variables for every argument, then those of the second, and so on; so does
/// what is returned in `out`. `others` holds `e_1`, then `e_2`, ..., of all variables but these, for every argument.
pub(crate) fn involving(degrees: RangeInclusive<usize>, others: &[f64], z: &[f64], count: usize, out: &mut [f64]) {
    let (variables, most) = (z.len() / count, *degrees.end());
    // Symmetric polynomials from degree 0 on: of the others and the variables before t, and of those after it.
    let mut before = vec![[0.0; MAX_ORDER]; variables];
    for argument in 0..count {
        let mut sums = [0.0; MAX_ORDER];
        sums[0] = 1.0;
        (1..most).for_each(|m| sums[m] = others[(m - 1) * count + argument]);
        for (before, z) in before.iter_mut().zip(z.chunks(count)) {
            *before = sums;
            include(z[argument], &mut sums[..most]);
        }
        let mut after = [0.0; MAX_ORDER];
        after[0] = 1.0;
        for (t, before) in before.iter().enumerate().rev() {
            let product = |s: usize| (0..s).map(|m| before[m] * after[s - 1 - m]).sum::<f64>();
            let z = z[t * count + argument];
            out[t * count + argument] = z * degrees.clone().filter(|&s| s > 0).map(product).sum::<f64>();
            include(z, &mut after[..most]);
        }
    }
}

/// `e_0, e_1, ...` with one more variable.
fn include(z: f64, sums: &mut [f64]) {
    for m in (1..sums.len()).rev() {
        sums[m] += z * sums[m - 1];
    }
}

impl TensorKernel for Anova {
    fn name(&self) -> String {
        format!("the ANOVA kernel of degrees {} to {}", self.min_degree, self.max_degree)
    }

    fn symmetric(&self) -> usize {
        self.max_degree
    }

    fn apply(&self, sums: &mut [f64], count: usize) {
        if count == 0 {
            return;
        }
        let (values, higher) = sums.split_at_mut(count);
        if self.min_degree > 1 {
            values.fill(0.0);
        }
        for sums in higher.chunks(count).take(self.max_degree - 1).skip(self.min_degree.saturating_sub(2)) {
            values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
        }
    }

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        let value: f64 = sums[self.min_degree - 1..self.max_degree].iter().sum();
        if value == 0.0 { (0.0, f64::NEG_INFINITY) } else { (sign(value), value.abs().ln()) }
    }

    fn limit(&self) -> f64 {
        // e_s <= e_1^s/s!
        inside(MAX_VALUE.powf(1.0 / self.max_degree as f64))
    }

    fn scale(&self) -> Option<f64> {
        None
    }

    fn degrees(&self) -> (usize, Option<usize>) {
        (self.min_degree, Some(self.max_degree))
    }

    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64 {
        let distinct = exponents.iter().all(|&exponent| exponent == 1);
        if distinct && (self.min_degree..=self.max_degree).contains(&exponents.len()) { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::range::symmetric_sums;
    use proptest::prelude::*;

    /// The sum over all subsets with so many elements.
    fn by_subsets(z: &[f64], degrees: RangeInclusive<usize>) -> f64 {
        let subsets = (0_u32..1 << z.len()).filter(|subset| degrees.contains(&(subset.count_ones() as usize)));
        subsets.map(|subset| (0..z.len()).filter(|j| subset >> j & 1 == 1).map(|j| z[j]).product::<f64>()).sum()
    }

    fn value(kernel: Anova, z: &[f64]) -> f64 {
        let mut sums = symmetric_sums(&kernel, z.len(), |j| z[j]);
        kernel.apply(&mut sums, 1);
        sums[0]
    }

    #[test]
    fn more_variables_than_there_are_give_exactly_zero() {
        for z in [&[3.7][..], &[1e3, 0.4], &[0.3, -7.0, 0.1], &[0.0, 2.0, 0.0, 0.0, 5.1, 0.0]] {
            let variables = z.iter().filter(|z| **z != 0.0).count();
            for degree in variables + 1..=MAX_ORDER {
                let kernel = Anova::new(degree, MAX_ORDER).expect("valid");
                let sums = symmetric_sums(&kernel, z.len(), |j| z[j]);
                assert_eq!(kernel.ln_value(&sums), (0.0, f64::NEG_INFINITY), "{z:?} {degree}");
                assert_eq!(value(kernel, z), 0.0, "{z:?} {degree}");
            }
        }
    }

    fn degrees() -> impl Iterator<Item = (usize, usize)> {
        (1..=MAX_ORDER).flat_map(|min| (min..=MAX_ORDER).map(move |max| (min, max)))
    }

    proptest! {
        /// Products of very different sizes too: the rounding is that of the sum of moduli.
        #[test]
        fn agrees_with_the_sum_over_subsets(z in proptest::collection::vec((-1.5_f64..1.5, -20_i32..20), 1..11)) {
            let z: Vec<f64> = z.into_iter().map(|(z, exponent)| z * 10_f64.powi(exponent)).collect();
            let moduli: Vec<f64> = z.iter().map(|z| z.abs()).collect();
            for (min, max) in degrees() {
                let kernel = Anova::new(min, max).expect("valid");
                let (expected, size) = (by_subsets(&z, min..=max), by_subsets(&moduli, min..=max));
                let units = 2.0 * (z.len() + 2 * max) as f64;
                // The oracle adds up to 1024 terms.
                let oracle = 10.0 + 1024.0;
                prop_assert!((value(kernel, &z) - expected).abs() <= (units + oracle) * f64::EPSILON * size);
            }
        }

        /// What a variable takes part in is what is lost without it.
        #[test]
        fn parts_with_a_variable_are_those_that_vanish_without_it(
            z in proptest::collection::vec((-1.5_f64..1.5, -6_i32..6), 2..8),
            split in 0_usize..8,
        ) {
            let z: Vec<f64> = z.into_iter().map(|(z, exponent)| z * 10_f64.powi(exponent)).collect();
            let (asked, others) = z.split_at(split.min(z.len()));
            for (min, max) in degrees().filter(|_| !asked.is_empty()) {
                let kernel = Anova::new(min, max).expect("valid");
                let mut out = vec![0.0; asked.len()];
                involving(min..=max, &symmetric_sums(&kernel, others.len(), |j| others[j]), asked, 1, &mut out);
                for (t, part) in out.iter().enumerate() {
                    let with: Vec<f64> = (0..z.len()).filter(|&j| j != t).map(|j| z[j]).collect();
                    let moduli: Vec<f64> = with.iter().map(|z| z.abs()).collect();
                    let expected = z[t] * by_subsets(&with, min - 1..=max - 1);
                    let size = z[t].abs() * by_subsets(&moduli, min - 1..=max - 1);
                    prop_assert!((part - expected).abs() <= 200.0 * f64::EPSILON * size, "{part} {expected}");
                }
            }
        }
    }
}
