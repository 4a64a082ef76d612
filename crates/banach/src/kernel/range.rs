//! Where a kernel can be evaluated, and its value at given points.

use super::{TensorKernel, inside};
use crate::Error;

/// The logarithm of a normalised kernel is the difference of numbers of this size at most, so its value has eight
/// correct digits at least.
const MAX_LN: f64 = 1e7;

/// Refuses a sample at which the kernel leaves its range; `p_1` is its `sum_j x_ij^q`.
pub(crate) fn check_range<K: TensorKernel + ?Sized>(
    kernel: &K,
    what: &'static str,
    row: usize,
    p_1: f64,
) -> Result<(), Error> {
    let limit = kernel.limit();
    if p_1 <= limit {
        return Ok(());
    }
    Err(Error::KernelRange { kernel: kernel.name(), what, row, sum: p_1, limit, advice: advice(kernel, p_1) })
}

/// The largest `p_1` at which K divided by its values on the diagonal is accurate.
pub(super) fn normalized_limit<K: TensorKernel + ?Sized>(kernel: &K) -> f64 {
    // The other power sums are at most powers of p_1.
    let finite = f64::MAX.powf(1.0 / kernel.power_sums() as f64);
    let accurate = match kernel.degrees() {
        // Entire functions of exponential growth, ln K <= scale p_1.
        (_, None) => MAX_LN / kernel.scale().unwrap_or(1.0),
        // At most degree ln p_1.
        (_, Some(_)) => f64::INFINITY,
    };
    inside(kernel.radius().min(finite).min(accurate))
}

/// What to change so that a sample with this `p_1` comes into range.
fn advice<K: TensorKernel + ?Sized>(kernel: &K, p_1: f64) -> String {
    let rescale = "standardise the columns (or divide them by a larger number)";
    if !p_1.is_finite() {
        return format!("it overflows: {rescale}");
    }
    let mut ways = Vec::new();
    let scale = kernel.scale().map(|scale| scale * (kernel.limit() / p_1));
    if let Some(scale) = scale.filter(|&scale| scale > 1e-300) {
        ways.push(format!("use scale = {} or less", round_down(scale)));
    }
    ways.push(rescale.to_owned());
    if !kernel.normalized() && p_1 <= normalized_limit(kernel) {
        ways.push("normalise the kernel".to_owned());
    }
    ways.join(", or ")
}

/// A positive number to two significant digits, never more than it is.
fn round_down(value: f64) -> String {
    // Room for the rounding of the number itself.
    let value = value * (1.0 - 1e-12);
    let exponent = value.log10().floor();
    let digits = (value / 10_f64.powf(exponent - 1.0)).floor();
    format!("{}e{exponent}", digits / 10.0)
}

/// K at q points; see [`TensorKernel::value`].
pub(super) fn value<K: TensorKernel + ?Sized>(kernel: &K, points: &[&[f64]]) -> Result<f64, Error> {
    let q = points.len();
    if ![2, 4, 6, 8].contains(&q) {
        return Err(Error::parameter("the number of points", q as f64, "2, 4, 6 or 8, the order q"));
    }
    let inputs = points[0].len();
    if inputs == 0 {
        return Err(Error::Empty { what: "a point" });
    }
    let mut shift = 0.0;
    let mut vanishes = false;
    for (row, point) in points.iter().enumerate() {
        if point.len() != inputs {
            return Err(Error::Shape { what: "a point", got: point.len(), expected: inputs });
        }
        if let Some(column) = point.iter().position(|entry| !entry.is_finite()) {
            let value = point[column];
            return Err(Error::BadEntry { what: "points", row, column, value, limit: f64::MAX });
        }
        let sums = power_sums(kernel, inputs, |j| point[j].powi(q as i32));
        check_range(kernel, "points", row, sums[0])?;
        if kernel.normalized() {
            let (_, ln) = kernel.ln_value(&sums);
            vanishes |= ln == f64::NEG_INFINITY;
            shift += ln / q as f64;
        }
    }
    if vanishes {
        return Ok(0.0);
    }
    let mut sums = power_sums(kernel, inputs, |j| points.iter().map(|point| point[j]).product());
    if kernel.normalized() {
        kernel.apply_shifted(&mut sums, &[shift]);
    } else {
        kernel.apply(&mut sums, 1);
    }
    Ok(sums[0])
}

/// `p_1, p_2, ...` of the products `z_j`.
pub(super) fn power_sums<K: TensorKernel + ?Sized>(
    kernel: &K,
    inputs: usize,
    product: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut sums = vec![0.0; kernel.power_sums()];
    for j in 0..inputs {
        let z = product(j);
        let mut power = 1.0;
        for sum in &mut sums {
            power *= z;
            *sum += power;
        }
    }
    sums
}
