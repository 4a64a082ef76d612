//! Tensor kernels (16) `[def:tensorkernel2]` and their feature maps.
//!
//! One file per kernel. All kernels obey the laws in `laws.rs`.

use std::fmt;

/// A tensor kernel: for every even order q, a symmetric, positive function of q points,
///
/// ```text
/// K(x_1, ..., x_q) = sum_k phi_k(x_1) ... phi_k(x_q)        (16) [def:tensorkernel2]
/// ```
///
/// whose features are monomials, `phi_k(x) = c_k^(1/q) x^k` with `c_k >= 0` for the multi-index k. Then K depends
/// on the points only through the products `z_j = x_1j ... x_qj`, as `K = sum_k c_k z^k`, and every kernel here is a
/// closed function of their power sums
///
/// ```text
/// p_m = sum_j z_j^m,   m = 1, ..., power_sums().
/// ```
///
/// The order is not part of the kernel: it is the q of the [`Exponent`](crate::Exponent).
///
/// As the coefficients are not negative, `|K| <= max_i K(x_i, ..., x_i)` over the points at hand (Hoelder), so the
/// range of K is checked once, on the diagonal, where all power sums are not negative.
pub trait TensorKernel: fmt::Debug + Send + Sync {
    /// The kernel with its parameters, for messages: `exp(0.1 t)`.
    fn name(&self) -> String;

    /// How many power sums K depends on.
    fn power_sums(&self) -> usize {
        1
    }

    /// K at `count` arguments. `sums` holds `p_1` of every argument, then `p_2` of every argument, and so on; the
    /// values replace the first `count` numbers, the others are left in any state.
    fn apply(&self, sums: &mut [f64], count: usize);

    /// The sign of K and `ln |K|` at one argument, given its power sums: also where K itself is out of range.
    fn ln_value(&self, sums: &[f64]) -> (f64, f64);

    /// `K exp(-shift)`, one shift for every argument, without leaving the range on the way; otherwise as
    /// [`apply`](Self::apply).
    fn apply_shifted(&self, sums: &mut [f64], shifts: &[f64]);

    /// The end of the domain: the series converges for `|p_1|` below it.
    fn radius(&self) -> f64 {
        f64::INFINITY
    }

    /// The largest `p_1 >= 0` at which K is certainly at most [`MAX_VALUE`].
    fn limit(&self) -> f64;

    /// The factor on the products `z_j`, where the kernel has one.
    fn scale(&self) -> Option<f64>;

    /// Whether the kernel is divided by `prod_i K(x_i, ..., x_i)^(1/q)`; see `Normalized`.
    fn normalized(&self) -> bool {
        false
    }

    /// The lowest and the highest degree of a feature; `None` if there is no highest.
    fn degrees(&self) -> (usize, Option<usize>);

    /// `c_k` of the multi-index whose non-zero exponents are given, in any order; 0 if there is no such feature.
    fn coefficient(&self, exponents: &[usize]) -> f64;
}

/// Largest kernel value: sums of such values with coefficients up to 1 stay finite.
pub const MAX_VALUE: f64 = 1e280;
