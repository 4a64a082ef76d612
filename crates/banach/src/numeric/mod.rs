//! Numbers: powers, exponentials and logarithms over slices, numbers beyond the range of `f64`, sums that lose nothing, where a
//! function changes its sign, and where one is smallest. Nothing here knows of samples, features or losses.

mod bounded;
mod compensated;
mod dot;
mod exp;
mod exp2;
mod ln;
mod power;
pub(crate) mod search;
mod vectorised;

pub(crate) use bounded::{Minimum, minimise};
pub(crate) use compensated::{Product, RunningSum, compensated_dot, compensated_sum, two_sum};
pub(crate) use dot::{dot, dot_in_lanes, sum_in_lanes};
pub(crate) use exp::{exp, exp_in_place, exp_m1_in_place, exp_slice, has_fma, polynomial};
pub(crate) use exp2::{WidePower, ZERO_EXPONENT, binary_exponent, scale_by_exp2, scaled_copy};
pub(crate) use ln::{ln, ln_1p_of_unit};
pub(crate) use power::{
    LANES, Power, accumulate, integer_power, largest, largest_on_line, raise, signed_powers, total,
};
pub(crate) use vectorised::vectorised;

/// Elements handled at a time by the loops over slices: a few such buffers, of 2 KB each, fit in the first-level cache.
pub(crate) const CHUNK: usize = 256;
