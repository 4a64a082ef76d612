//! What a search tries for the exponential kernel unless it is told (ADR 14).

use crate::{Entries, Error, Exponent, FeatureMatrix, Parameter, kernel::Degrees};

/// The exponents.
pub(super) const EXPONENTS: [f64; 3] = [4.0 / 3.0, 1.1, 1.05];

/// The mean of `sum_j (r x_j)^4` over the samples, for the factors r that are tried.
const SIZES: [f64; 4] = [0.03, 0.1, 0.3, 1.0];
/// The mean of `sum_j (r x_j)^2`, for p = 2, whose kernel is that of Gauss but for its normalisation and is tried more widely.
const SIZES_AT_TWO: [f64; 6] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// The most monomials of a kernel that is cut because all degrees cannot be had, and the most for which it keeps degree 3.
const MANY: f64 = 5_000.0;
const MANY_CUBIC: f64 = 25_000.0;
const HIGHEST: usize = 15;

/// Scales that suit the size of the data. With a scale of `r^q` the variables are multiplied by r before the monomials are formed.
pub(super) fn scales(
    exponent: Exponent,
    x: &FeatureMatrix<'_>,
    sample_weight: Option<&[f64]>,
) -> Result<Vec<f64>, Error> {
    let (order, sizes) = if exponent.p() == 2.0 { (2, &SIZES_AT_TWO[..]) } else { (4, &SIZES[..]) };
    let weight = |sample: usize| sample_weight.map_or(1.0, |weights| weights[sample]);
    let (largest, mean) = mean_power(x, order, weight);
    if mean == 0.0 {
        return Ok(vec![1.0]);
    }
    let power = f64::from(order);
    let scale = |size: &f64| (exponent.q() / power * ((size / mean).ln() - power * largest.ln())).exp();
    let scales: Vec<f64> = sizes.iter().map(scale).collect();
    if scales.iter().any(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return Err(Error::Parameter {
            parameter: Parameter::Data,
            got: format!("entries up to {largest:.1e}"),
            allowed: "entries nearer to 1 for the exponential kernel; standardise it",
        });
    }
    // Six digits, so that the order in which the samples are summed does not show.
    Ok(scales.iter().map(|scale| format!("{scale:.5e}").parse().unwrap_or(*scale)).collect())
}

/// The largest entry, and the mean over the samples of `sum_j (x_j/largest)^order`: entries may be as large as 1e200.
fn mean_power(x: &FeatureMatrix<'_>, order: i32, weight: impl Fn(usize) -> f64) -> (f64, f64) {
    let samples = x.samples();
    let total: f64 = (0..samples).map(&weight).sum();
    let (values, sample_of): (&[f64], Box<dyn Fn(usize) -> usize + '_>) = match x.entries() {
        Entries::Dense(values) => (values, Box::new(move |at| at % samples)),
        Entries::Sparse { rows, values, .. } => (values, Box::new(|at| rows[at])),
    };
    let largest = values.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 0.0);
    }
    let sum: f64 = values.iter().enumerate().map(|(at, x)| weight(sample_of(at)) * (x / largest).powi(order)).sum();
    (largest, sum / total)
}

/// The degrees: all where a Gram tensor can have them, which takes q = 2, 4, 6 or 8 and few samples; otherwise as high as a few thousand
/// monomials allow.
pub(super) fn degrees(exponent: Exponent, told: bool, variables: usize) -> Option<Degrees> {
    let tensor = [2.0, 4.0, 6.0, 8.0].iter().any(|q| (exponent.q() - q).abs() < 1e-9);
    if told && tensor {
        return None;
    }
    let monomials = |degree: usize| -> f64 { (1..=degree).map(|k| (variables + k) as f64 / k as f64).product() };
    let highest = (4..=HIGHEST).rev().find(|&degree| monomials(degree) <= MANY * (1.0 + 1e-9));
    let highest = highest.unwrap_or(if monomials(3) <= MANY_CUBIC { 3 } else { 2 });
    Some(Degrees { min: 0, max: highest, range: true })
}
