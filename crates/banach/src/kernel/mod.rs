//! Tensor kernels (16) `[def:tensorkernel2]` and their feature maps.
//!
//! One file per kernel. All kernels obey the laws in `laws.rs`.

mod anova;
mod exponential;
mod feature_map;
#[cfg(test)]
pub(crate) mod laws;
mod linear;
mod monomial;
mod monomial_scale;
mod normalized;
mod polynomial;
mod power_series;
mod range;
mod selections;
mod series;
mod spec;

use std::fmt;

pub use anova::Anova;
pub(crate) use anova::{MAX_ORDER, involving};
pub use exponential::Exponential;
pub(crate) use feature_map::{Block, INSTEAD};
pub use feature_map::{FeatureMap, cardinality};
pub use linear::Linear;
pub use monomial::Monomial;
pub use monomial_scale::MonomialScale;
pub use normalized::Normalized;
pub use num_bigint::BigUint;
pub use polynomial::Polynomial;
pub use power_series::PowerSeries;
pub(crate) use range::{check_columns, check_range, condition, ln_norms, symmetric_sums};
pub use series::Series;
pub use spec::{Degrees, KernelChoice, KernelName, KernelSpec};

use crate::{Error, error::Parameter};

/// A tensor kernel: for every even order q, a symmetric, positive function of q points,
///
/// ```text
/// K(x_1, ..., x_q) = sum_k phi_k(x_1) ... phi_k(x_q)        (16) [def:tensorkernel2]
/// ```
///
/// whose features are monomials, `phi_k(x) = c_k^(1/q) x^k` with `c_k >= 0` for the multi-index k. Then K depends on the
/// points only through the products `z_j = x_1j ... x_qj`, as `K = sum_k c_k z^k`, and every kernel here is a closed
/// function of their elementary symmetric polynomials
///
/// ```text
/// e_1 = sum_j z_j,   e_2 = sum_(j < k) z_j z_k,   ...,   e_m = sum_(j_1 < ... < j_m) z_(j_1) ... z_(j_m),   m = symmetric().
/// ```
///
/// All but interactions need only `e_1`, which is also the first power sum `p_1`. The others are found by `e_m += z_j e_(m-1)`, variable after variable, which never
/// subtracts: its rounding is some units in the last place of the same polynomial of `|z_j|`.
///
/// The order is not part of the kernel: it is the q of the [`Exponent`](crate::Exponent).
///
/// As the coefficients are not negative, `|K| <= max_i K(x_i, ..., x_i)` over the points at hand (Hoelder), so the
/// range of K is checked once, on the diagonal, where all these sums are not negative.
///
/// ```
/// use banach::kernel::{Exponential, Normalized, TensorKernel};
///
/// let (a, b) = ([1.0, 2.0], [0.5, -1.0]);
/// let kernel = Exponential::new(0.1)?;
/// assert!((kernel.value(&[&a, &b])? - (-0.15_f64).exp()).abs() < 1e-15);
/// assert!((Normalized(kernel).value(&[&b, &b, &b, &b])? - 1.0).abs() < 1e-15);
/// # Ok::<(), banach::Error>(())
/// ```
pub trait TensorKernel: fmt::Debug + Send + Sync {
    /// The kernel with its parameters, for messages: `exp(0.1 t)`.
    fn name(&self) -> String;

    /// How many of the elementary symmetric polynomials K depends on.
    fn symmetric(&self) -> usize {
        1
    }

    /// K at `count` arguments. `sums` holds `e_1` of every argument, then `e_2` of every argument, and so on; the
    /// values replace the first `count` numbers, the others are left in any state.
    ///
    /// The sums are those of points within [`limit`](Self::limit).
    fn apply(&self, sums: &mut [f64], count: usize);

    /// The sign of K and `ln |K|` at one argument, given its sums: also where K itself is out of range.
    /// The sign of 0 is 0.
    fn ln_value(&self, sums: &[f64]) -> (f64, f64);

    /// `K exp(-shift)`, one finite shift for every argument, without leaving the range on the way; otherwise as
    /// [`apply`](Self::apply), and for all finite sums.
    fn apply_shifted(&self, sums: &mut [f64], shifts: &[f64]) {
        let count = shifts.len();
        let mut own = vec![0.0; self.symmetric()];
        for (argument, shift) in shifts.iter().enumerate() {
            own.iter_mut().zip(sums.iter().skip(argument).step_by(count)).for_each(|(own, sum)| *own = *sum);
            let (sign, ln) = self.ln_value(&own);
            sums[argument] = sign * (ln - shift).exp();
        }
    }

    /// The part of a kernel of `e_1` alone on the monomials that involve one variable: `K exp(-shift)`, which is given as
    /// `values`, less the same without that variable, whose products are `z`. Shifts, where there are none, are 0; the
    /// arguments are those of [`apply`](Self::apply).
    fn apply_involving(&self, sums: &[f64], values: &[f64], z: &[f64], shifts: Option<&[f64]>, out: &mut [f64]) {
        by_difference(self, sums, values, z, shifts, out);
    }

    /// The end of the domain: the series converges for `|e_1|` below it.
    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    /// The largest `e_1 >= 0` at which K is certainly at most [`MAX_VALUE`]; for a normalised kernel, at which the
    /// quotient is still accurate.
    fn limit(&self) -> f64;

    /// The factor on the products `z_j`, where the kernel has one.
    fn scale(&self) -> Option<f64>;

    /// Whether the kernel is divided by `prod_i K(x_i, ..., x_i)^(1/q)`; see [`Normalized`].
    fn normalized(&self) -> bool {
        false
    }

    /// The lowest and the highest degree of a feature; `None` if there is no highest.
    fn degrees(&self) -> (usize, Option<usize>);

    /// `c_k/scale^|k|` of the multi-index whose non-zero exponents are given, in any order; 0 if there is no such feature.
    fn unscaled_coefficient(&self, exponents: &[usize]) -> f64;

    /// `c_k` of that multi-index.
    fn coefficient(&self, exponents: &[usize]) -> f64 {
        let degree: usize = exponents.iter().sum();
        let unscaled = self.unscaled_coefficient(exponents);
        if unscaled == 0.0 { 0.0 } else { unscaled * self.scale().unwrap_or(1.0).powi(degree as i32) }
    }

    /// K at q points of equal length, for q = 2, 4, 6 or 8, divided as [`normalized`](Self::normalized) says.
    fn value(&self, points: &[&[f64]]) -> Result<f64, Error> {
        range::value(self, points)
    }
}

/// [`TensorKernel::apply_involving`] as it is defined.
fn by_difference<K: TensorKernel + ?Sized>(
    kernel: &K,
    sums: &[f64],
    values: &[f64],
    z: &[f64],
    shifts: Option<&[f64]>,
    out: &mut [f64],
) {
    out.iter_mut().zip(sums).zip(z).for_each(|((out, sum), z)| *out = sum - z);
    match shifts {
        None => kernel.apply(out, z.len()),
        Some(shifts) => kernel.apply_shifted(out, shifts),
    }
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value - *out);
}

/// Whether the features of a kernel are the variables as they are.
pub(crate) fn lists_inputs(kernel: &dyn TensorKernel) -> bool {
    kernel.degrees() == (1, Some(1)) && !kernel.normalized() && kernel.coefficient(&[1]) == 1.0
}

/// Largest kernel value: sums of such values with coefficients up to 1 stay finite.
pub const MAX_VALUE: f64 = 1e280;

/// Highest degree of a feature of the finite kernels.
pub(crate) const MAX_DEGREE: usize = 64;

/// A little below an upper bound on `e_1`, as sums are rounded; always finite.
fn inside(bound: f64) -> f64 {
    (bound * (1.0 - 1e-9)).min(f64::MAX)
}

/// A scale that a kernel can have.
fn checked_scale(scale: f64) -> Result<f64, Error> {
    Parameter::Scale.check(scale, scale > 0.0 && scale.is_finite(), "a finite number > 0")?;
    Ok(scale)
}

/// `s!/(k_1! ... k_d!)` with s the sum of the exponents: the coefficient of `z^k` in `e_1^s`.
fn multinomial(exponents: &[usize]) -> f64 {
    let (mut total, mut value) = (0.0, 1.0);
    for &exponent in exponents {
        for i in 1..=exponent {
            total += 1.0;
            value = value * total / i as f64;
        }
    }
    value
}
