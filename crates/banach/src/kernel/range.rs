//! Where a kernel can be evaluated, and its value at given points.

use std::iter;

use super::{Block, MAX_DEGREE, TensorKernel, inside};
use crate::{Error, Exponent, error::Parameter};

/// The logarithm of a normalised kernel is the difference of numbers of this size at most, so its value has eight
/// correct digits at least.
const MAX_LN: f64 = 1e7;

/// Refuses a sample at which the kernel leaves its range; `p_1` is its `sum_j x_ij^q = e_1`.
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
    // The scale at which the sample just comes into range.
    let scale = kernel.scale().map(|scale| scale * (limit / p_1)).filter(|&scale| scale > 1e-300).map(round_down);
    let normalize = !kernel.normalized() && p_1 <= normalized_limit(kernel);
    Err(Error::KernelRange { kernel: kernel.name(), what, row, sum: p_1, limit, scale, normalize })
}

/// Refuses a kernel with products of more different variables than there are: that degree has no feature.
pub(crate) fn check_columns(kernel: &dyn TensorKernel, inputs: usize) -> Result<(), Error> {
    match kernel.degrees().1 {
        Some(degree) if degree > inputs && Block::all(kernel, degree).any(|block| block.distinct) => {
            Err(Error::TooFewColumns { kernel: kernel.name(), degree, inputs })
        }
        _ => Ok(()),
    }
}

/// The largest `p_1` at which K divided by its values on the diagonal is accurate.
pub(super) fn normalized_limit<K: TensorKernel + ?Sized>(kernel: &K) -> f64 {
    // The other sums are at most powers of e_1.
    let finite = f64::MAX.powf(1.0 / kernel.symmetric() as f64);
    let accurate = match kernel.degrees() {
        // Entire functions of exponential growth, ln K <= scale p_1.
        (_, None) => MAX_LN / kernel.scale().unwrap_or(1.0),
        // At most degree ln p_1.
        (_, Some(_)) => f64::INFINITY,
    };
    inside(kernel.radius().min(finite).min(accurate))
}

/// A positive number to two significant digits, never more than it is.
fn round_down(value: f64) -> f64 {
    // Room for the rounding of the number itself.
    let value = value * (1.0 - 1e-12);
    let exponent = value.log10().floor();
    let digits = (value / 10_f64.powf(exponent - 1.0)).floor();
    format!("{}e{exponent}", digits / 10.0).parse().unwrap_or(value)
}

/// K at q points; see [`TensorKernel::value`].
pub(super) fn value<K: TensorKernel + ?Sized>(kernel: &K, points: &[&[f64]]) -> Result<f64, Error> {
    let q = points.len();
    Parameter::Points.check(q, [2, 4, 6, 8].contains(&q), "2, 4, 6 or 8, the order q")?;
    let inputs = points[0].len();
    if inputs == 0 {
        return Err(Error::Empty { what: "a point" });
    }
    let mut shift = 0.0;
    let mut vanishes = false;
    for (row, point) in points.iter().enumerate() {
        Error::check_length("a point", point.len(), inputs)?;
        if let Some(column) = point.iter().position(|entry| !entry.is_finite()) {
            let value = point[column];
            return Err(Error::BadEntry { what: "points", row, column, value, limit: f64::MAX });
        }
        let sums = symmetric_sums(kernel, inputs, |j| iter::repeat_n(point[j], q).product());
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
    let mut sums = symmetric_sums(kernel, inputs, |j| points.iter().map(|point| point[j]).product());
    if kernel.normalized() {
        kernel.apply_shifted(&mut sums, &[shift]);
    } else {
        kernel.apply(&mut sums, 1);
    }
    Ok(sums[0])
}

/// `ln ||Phi(x_i)||_q = ln K(x_i, ..., x_i)/q` of every sample, before a normalised kernel is divided, from the columns of the
/// data; minus infinity where there is no feature.
pub(crate) fn ln_norms(
    kernel: &dyn TensorKernel,
    exponent: Exponent,
    samples: usize,
    inputs: usize,
    column_into: impl Fn(usize, &mut [f64]),
) -> Vec<f64> {
    if kernel.degrees().1.is_some() {
        return ln_finite_norms(kernel, exponent, samples, inputs, column_into);
    }
    // Infinite kernels are functions of e_1.
    let q = exponent.q();
    let mut sums = vec![0.0; samples];
    let mut column = vec![0.0; samples];
    for j in 0..inputs {
        column_into(j, &mut column);
        sums.iter_mut().zip(&column).for_each(|(sum, x)| *sum += x.abs().powf(q));
    }
    sums.iter().map(|sum| kernel.ln_value(&[*sum]).1 / q).collect()
}

/// The same for a kernel with finitely many features: in logarithms, so that nothing overflows or vanishes for any q, and as
/// sums of positive terms, so that nothing cancels.
fn ln_finite_norms(
    kernel: &dyn TensorKernel,
    exponent: Exponent,
    samples: usize,
    inputs: usize,
    column_into: impl Fn(usize, &mut [f64]),
) -> Vec<f64> {
    let (q, blocks) = (exponent.q(), Block::all(kernel, kernel.degrees().1.unwrap_or(0)).collect::<Vec<_>>());
    let most = blocks.iter().filter(|block| block.distinct).map(|block| block.degree).fold(1, usize::max);
    // ln e_0, ..., ln e_most of the powers |x_ij|^q, for every sample; e_1 is their sum.
    let mut sums = vec![f64::NEG_INFINITY; (most + 1) * samples];
    sums.iter_mut().step_by(most + 1).for_each(|constant| *constant = 0.0);
    let mut column = vec![0.0; samples];
    for j in 0..inputs {
        column_into(j, &mut column);
        for (sums, x) in sums.chunks_exact_mut(most + 1).zip(&column).filter(|(_, x)| **x != 0.0) {
            let ln_power = q * x.abs().ln();
            for s in (1..=most).rev() {
                sums[s] = ln_add(sums[s], ln_power + sums[s - 1]);
            }
        }
    }
    let ln_scale = kernel.scale().unwrap_or(1.0).ln();
    let norm = |sums: &[f64]| {
        let terms = blocks.iter().map(|&Block { degree, distinct }| {
            // All monomials of a degree add up to c p_1^s, where c is the coefficient of x_0^s.
            let (c, sum) = match (degree, distinct) {
                (0, _) => (kernel.unscaled_coefficient(&[]), 0.0),
                (s, true) => (kernel.unscaled_coefficient(&[1; MAX_DEGREE][..s]), sums[s]),
                (s, false) => (kernel.unscaled_coefficient(&[s]), s as f64 * sums[1]),
            };
            c.ln() + degree as f64 * ln_scale + sum
        });
        terms.fold(f64::NEG_INFINITY, ln_add) / q
    };
    sums.chunks_exact(most + 1).map(norm).collect()
}

/// `ln(e^a + e^b)`.
fn ln_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// `e_1, e_2, ...` of the products `z_j`.
pub(crate) fn symmetric_sums<K: TensorKernel + ?Sized>(
    kernel: &K,
    inputs: usize,
    product: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut sums = vec![0.0; kernel.symmetric()];
    for z in (0..inputs).map(product) {
        for m in (1..sums.len()).rev() {
            sums[m] += z * sums[m - 1];
        }
        sums[0] += z;
    }
    sums
}

/// How many times a relative error of all products `z_j >= 0` with the sum `e_1` can grow in K: a bound on
/// `e_1 K'(e_1)/K(e_1)`, the mean degree of the features.
///
/// As the coefficients are not negative, `ln K` is a convex function of `ln e_1`, so its slope is at most that of a chord which
/// begins there. The highest degree bounds it too, and is all that is needed where there is one.
pub(crate) fn condition(kernel: &dyn TensorKernel, e_1: f64) -> f64 {
    if let (_, Some(highest)) = kernel.degrees() {
        return highest as f64;
    }
    if e_1 <= 0.0 {
        return kernel.degrees().0 as f64;
    }
    // Half of the way to the end of the domain, which is never met, or a tenth more.
    let end = (1.1 * e_1).min(0.5 * (e_1 + kernel.radius()));
    let rise = kernel.ln_value(&[end]).1 - kernel.ln_value(&[e_1]).1;
    let condition = rise / (end / e_1).ln();
    if condition.is_nan() { f64::INFINITY } else { condition.max(1.0) * (1.0 + 1e-9) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Anova, Exponential, Linear, Normalized, Polynomial, PowerSeries, Series};

    #[test]
    fn points_that_cannot_work_are_refused() {
        let point = |entries: &'static [f64]| Linear.value(&[entries, &[1.0, 2.0]]);
        assert_eq!(point(&[3.0, 4.0]), Ok(11.0));
        assert_eq!(point(&[]), Err(Error::Empty { what: "a point" }));
        assert_eq!(point(&[1.0]), Err(Error::Shape { what: "a point", got: 2, expected: 1 }));
        assert!(matches!(point(&[1.0, f64::NAN]), Err(Error::BadEntry { row: 0, column: 1, .. })));
        for q in [0, 1, 3, 5, 7, 9, 10] {
            assert!(matches!(Linear.value(&vec![&[1.0][..]; q]), Err(Error::Parameter { .. })), "{q}");
        }
    }

    fn advice(kernel: &dyn TensorKernel, p_1: f64) -> String {
        match check_range(kernel, "X", 7, p_1) {
            Err(error @ Error::KernelRange { row: 7, what: "X", .. }) => error.to_string(),
            other => panic!("{kernel:?} {p_1}: {other:?}"),
        }
    }

    #[test]
    fn the_scale_that_is_named_works_and_is_not_timid() {
        let build: [fn(f64) -> Box<dyn TensorKernel>; 4] = [
            |scale| Box::new(Exponential::new(scale).expect("valid")),
            |scale| Box::new(Polynomial::new(40, scale, 3.0).expect("valid")),
            |scale| Box::new(PowerSeries::new(Series::Geometric, scale).expect("valid")),
            |scale| Box::new(Normalized(PowerSeries::new(Series::Cosh, scale).expect("valid"))),
        ];
        for build in build {
            for scale in [1e-3, 0.37, 1.0, 5.0] {
                for times in [1.000_001, 1.7, 20.0, 1e9] {
                    let p_1 = build(scale).limit() * times;
                    let message = advice(&*build(scale), p_1);
                    let (_, rest) = message.split_once("lower scale to ").expect("a scale is named");
                    let (named, _) = rest.split_once(" or less").expect("and ends");
                    let named: f64 = named.parse().expect("a number");
                    assert!(check_range(&*build(named), "X", 7, p_1).is_ok(), "{message}");
                    assert!(check_range(&*build(1.2 * named), "X", 7, p_1).is_err(), "{message}");
                }
            }
        }
    }

    #[test]
    fn normalising_is_named_where_it_helps() {
        let exponential = Exponential::new(1.0).expect("valid");
        assert!(advice(&exponential, 1e4).contains("normalise the kernel"));
        assert!(Normalized(exponential).value(&[&[100.0], &[100.0]]).is_ok());
        assert!(!advice(&exponential, 1e20).contains("normalise"));
        assert!(!advice(&Normalized(exponential), 1e20).contains("normalise the"));
        assert!(!advice(&PowerSeries::new(Series::Geometric, 1.0).expect("valid"), 2.0).contains("normalise"));
        assert!(advice(&Anova::new(2, 4).expect("valid"), 1e75).contains("normalise the kernel"));
        let infinite = advice(&exponential, f64::INFINITY);
        assert!(infinite.contains("standardise the columns") && !infinite.contains("lower scale"), "{infinite}");
        assert!(check_range(&Linear, "X", 0, f64::NAN).is_err());
    }

    #[test]
    fn a_message_reads_well() {
        let kernel = Exponential::new(1.0).expect("valid");
        let error = kernel.value(&[&[1.0, 1.0], &[30.0, 20.0]]).expect_err("out of range").to_string();
        assert_eq!(
            error,
            "exp(1 t) at sample 1 of points: t = sum_j x_1j ... x_qj reaches 1.3000e3, and the largest allowed is 6.4472e2; lower \
             scale to 4.9e-1 or less, or standardise the columns (or divide them by a larger number), or normalise \
             the kernel (normalize)"
        );
    }
}
