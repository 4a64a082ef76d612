use pulp::{Arch, Simd, WithSimd};

use super::{MAX_VALUE, TensorKernel, inside, linear::sign};
use crate::Error;

/// Highest degree: Newton's identities lose digits with every degree.
const MAX_ORDER: usize = 8;

/// Elements handled at a time.
const CHUNK: usize = 32;

/// Values below this share of the sum of moduli they come from are rounding, and count as 0.
const NOISE: f64 = 64.0 * f64::EPSILON;

/// `K = e_min(z) + ... + e_max(z)`, the elementary symmetric polynomials of the products: the features are the
/// products of distinct variables, no powers, all with coefficient 1.
///
/// Computed from the power sums by Newton's identities, `s e_s = sum_i (-1)^(i-1) e_(s-i) p_i`. These cancel: the
/// error is some units in the last place of `p_1^s`, not of `e_s`. That does no harm where many variables
/// contribute (then `e_s` is close to `p_1^s/s!`), but where one or two variables dominate a sample, its interactions
/// of degree s are known only to about `1e-15 p_1^s`; what is not above the rounding is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anova {
    min_degree: usize,
    max_degree: usize,
}

impl Anova {
    /// Interactions of `min_degree` to `max_degree` variables, `1 <= min_degree <= max_degree <= 8`.
    pub fn new(min_degree: usize, max_degree: usize) -> Result<Self, Error> {
        if !(1..=MAX_ORDER).contains(&max_degree) {
            return Err(Error::parameter("max_degree", max_degree as f64, "a whole number from 1 to 8"));
        }
        if !(1..=max_degree).contains(&min_degree) {
            return Err(Error::parameter("min_degree", min_degree as f64, "a whole number from 1 to max_degree"));
        }
        Ok(Self { min_degree, max_degree })
    }

    /// `e_1, ..., e_max` of one chunk of arguments in place of their power sums.
    #[inline(always)]
    fn newton<const LANES: usize>(self, sums: &mut [[f64; LANES]; MAX_ORDER]) {
        let p = *sums;
        let mut moduli = p;
        for s in 1..=self.max_degree {
            let last = if s.is_multiple_of(2) { -1.0 } else { 1.0 };
            let mut value = p[s - 1].map(|p| last * p);
            let mut modulus = p[s - 1].map(f64::abs);
            for i in 1..s {
                let sign = if i.is_multiple_of(2) { -1.0 } else { 1.0 };
                for lane in 0..LANES {
                    value[lane] += sign * sums[s - i - 1][lane] * p[i - 1][lane];
                    modulus[lane] += moduli[s - i - 1][lane] * p[i - 1][lane].abs();
                }
            }
            for lane in 0..LANES {
                let noise = value[lane].abs() <= NOISE * modulus[lane];
                sums[s - 1][lane] = if noise { 0.0 } else { value[lane] / s as f64 };
                moduli[s - 1][lane] = modulus[lane] / s as f64;
            }
        }
    }
}

impl TensorKernel for Anova {
    fn name(&self) -> String {
        format!("the ANOVA kernel of degrees {} to {}", self.min_degree, self.max_degree)
    }

    fn power_sums(&self) -> usize {
        self.max_degree
    }

    fn apply(&self, sums: &mut [f64], count: usize) {
        Arch::new().dispatch(Apply { kernel: *self, sums, count });
    }

    fn ln_value(&self, sums: &[f64]) -> (f64, f64) {
        // With z divided by their size all power sums are at most 1 in modulus.
        let root = |(m, p): (usize, &f64)| p.abs().powf(1.0 / (m + 1) as f64);
        let size = sums.iter().enumerate().map(root).fold(0.0, f64::max);
        if size == 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        let mut e = [[0.0]; MAX_ORDER];
        for (m, sum) in sums.iter().enumerate() {
            e[m][0] = (0..=m).fold(*sum, |sum, _| sum / size);
        }
        self.newton(&mut e);
        let degrees = self.min_degree..=self.max_degree;
        // The factor taken out leaves powers of at most 1.
        let out = if size > 1.0 { self.max_degree } else { self.min_degree };
        let value: f64 = degrees.map(|s| e[s - 1][0] * size.powi(s as i32 - out as i32)).sum();
        if value == 0.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        (sign(value), out as f64 * size.ln() + value.abs().ln())
    }

    fn limit(&self) -> f64 {
        // e_s <= p_1^s/s!, and the terms of Newton's identities are below p_1^s.
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

struct Apply<'a> {
    kernel: Anova,
    sums: &'a mut [f64],
    count: usize,
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { kernel, sums, count } = self;
        for start in (0..count).step_by(CHUNK) {
            let length = CHUNK.min(count - start);
            let mut e = [[0.0; CHUNK]; MAX_ORDER];
            for (m, e) in e.iter_mut().take(kernel.max_degree).enumerate() {
                e[..length].copy_from_slice(&sums[m * count + start..][..length]);
            }
            kernel.newton(&mut e);
            let values = &mut sums[start..start + length];
            values.fill(0.0);
            for e in &e[kernel.min_degree - 1..kernel.max_degree] {
                values.iter_mut().zip(e).for_each(|(value, e)| *value += e);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::range::power_sums;
    use proptest::prelude::*;

    /// The sum over all subsets with so many elements.
    fn by_subsets(z: &[f64], degrees: std::ops::RangeInclusive<usize>) -> f64 {
        let subsets = (0_u32..1 << z.len()).filter(|subset| degrees.contains(&(subset.count_ones() as usize)));
        subsets.map(|subset| (0..z.len()).filter(|j| subset >> j & 1 == 1).map(|j| z[j]).product::<f64>()).sum()
    }

    #[test]
    fn more_variables_than_there_are_give_exactly_zero() {
        for z in [&[3.7][..], &[1e3, 0.4], &[0.3, -7.0, 0.1], &[0.0, 2.0, 0.0, 0.0, 5.1, 0.0]] {
            let variables = z.iter().filter(|z| **z != 0.0).count();
            for degree in variables + 1..=MAX_ORDER {
                let kernel = Anova::new(degree, MAX_ORDER).expect("valid");
                let mut sums = power_sums(&kernel, z.len(), |j| z[j]);
                assert_eq!(kernel.ln_value(&sums), (0.0, f64::NEG_INFINITY), "{z:?} {degree}");
                kernel.apply(&mut sums, 1);
                assert_eq!(sums[0], 0.0, "{z:?} {degree}");
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_sum_over_subsets(z in proptest::collection::vec(-1.5_f64..1.5, 1..11)) {
            let moduli: f64 = z.iter().map(|z| z.abs()).sum();
            for min_degree in 1..=MAX_ORDER {
                for max_degree in min_degree..=MAX_ORDER {
                    let kernel = Anova::new(min_degree, max_degree).expect("valid");
                    let mut sums = power_sums(&kernel, z.len(), |j| z[j]);
                    kernel.apply(&mut sums, 1);
                    let expected = by_subsets(&z, min_degree..=max_degree);
                    let terms: f64 = (min_degree..=max_degree).map(|s| moduli.powi(s as i32)).sum();
                    prop_assert!((sums[0] - expected).abs() <= NOISE * terms, "{:?} {} {}", kernel, sums[0], expected);
                }
            }
        }

        /// Many products of similar size, as in data: no digits to speak of are lost.
        #[test]
        fn many_variables_lose_no_digits(z in proptest::collection::vec(0.5_f64..1.5, 200..300)) {
            for degree in 1..=MAX_ORDER {
                let kernel = Anova::new(degree, degree).expect("valid");
                let mut sums = power_sums(&kernel, z.len(), |j| z[j]);
                kernel.apply(&mut sums, 1);
                let mut e = [0.0; MAX_ORDER + 1];
                e[0] = 1.0;
                for z in &z {
                    (1..=degree).rev().for_each(|s| e[s] += z * e[s - 1]);
                }
                prop_assert!((sums[0] / e[degree] - 1.0).abs() < 1e-11, "{} {} {}", degree, sums[0], e[degree]);
            }
        }
    }
}
