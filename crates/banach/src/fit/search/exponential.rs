//! What a search tries for the exponential kernel unless it is told. ADR 14 has the measurements behind these numbers.

use crate::{Error, Exponent, FeatureMatrix, data::Column, error::Parameter, kernel::Degrees};

/// The exponents p that are tried.
pub(super) const EXPONENTS: [f64; 3] = [4.0 / 3.0, 1.1, 1.05];

/// A scale of `r^q` multiplies the variables by r. The scales that are tried give `sum_j (r x_j)^4` these means over the samples.
const SIZES: [f64; 4] = [0.03, 0.1, 0.3, 1.0];
/// At p = 2 they give these means to `sum_j (r x_j)^2`. The kernel is then Gauss's but for its normalisation, and a wider range of
/// scales is worth a trial.
const SIZES_AT_TWO: [f64; 6] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// Without a Gram tensor the kernel is cut at the highest degree with at most this many monomials, which a fit still lists soon.
const MOST_MONOMIALS: f64 = 5_000.0;
/// Degree 3 is kept up to this many monomials, those of 51 variables.
const MOST_MONOMIALS_CUBIC: f64 = 25_000.0;
/// The highest degree that is kept, however few the variables.
const HIGHEST_DEGREE: usize = 15;

/// Scales that suit the size of the data.
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
    let largest = x.size();
    if largest == 0.0 {
        return (0.0, 0.0);
    }
    let (mut sum, mut buffer) = (0.0, Vec::new());
    for j in 0..x.features() {
        let Column { rows, values } = x.column(j, &mut buffer);
        for (at, value) in values.iter().enumerate() {
            sum += weight(rows.map_or(at, |rows| rows[at])) * (value / largest).powi(order);
        }
    }
    (largest, sum / total)
}

/// The degrees. A Gram tensor has all of them, for q = 2, 4, 6 or 8 and few samples; otherwise a few thousand monomials set the highest.
pub(in crate::fit) fn degrees(exponent: Exponent, told: bool, variables: usize) -> Option<Degrees> {
    let tensor = [2.0, 4.0, 6.0, 8.0].iter().any(|q| (exponent.q() - q).abs() < 1e-9);
    if told && tensor {
        return None;
    }
    let monomials = |degree: usize| -> f64 { (1..=degree).map(|k| (variables + k) as f64 / k as f64).product() };
    let highest = (4..=HIGHEST_DEGREE).rev().find(|&degree| monomials(degree) <= MOST_MONOMIALS * (1.0 + 1e-9));
    let highest = highest.unwrap_or(if monomials(3) <= MOST_MONOMIALS_CUBIC { 3 } else { 2 });
    Some(Degrees { min: 0, max: highest, range: true })
}
