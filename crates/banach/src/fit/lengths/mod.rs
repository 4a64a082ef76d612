//! A length per input, learned by the marginal likelihood.

#[cfg(test)]
mod laws;
mod likelihood;

use rayon::prelude::*;

use self::likelihood::{MarginalLikelihood, NEGLIGIBLE, Posterior};
use super::Spec;
use crate::{
    Error, FeatureMatrix, Memory,
    error::Remedy,
    kernel::KernelSpec,
    loss::LossSpec,
    numeric::{Minimum, dot, largest, minimise},
};

/// A factor for every variable, and the gamma that goes with them: a Gaussian process with a length per input, as a fit for p = 2.
///
/// The normalised exponential kernel for p = 2 is the Gaussian kernel: `exp(<x, x'>)` divided by the norms of the features of both points is
/// `exp(-|x - x'|^2/2)`. On variables that are multiplied by `kappa_j >= 0` it is `K = exp(-1/2 sum_j kappa_j^2 (x_j - x'_j)^2)`. If the values
/// of a function are a draw of the Gaussian process with covariance `a K` and the targets have noise of variance `nu` besides, then the
/// expectation of the function given the targets is the fit to them with `gamma = a/nu`: the same linear system. So the likelihood of the
/// targets, for all functions together, is a measure of how good kappa, a and nu are. It is minimised, as a negative logarithm, by them
/// all; a variable that is of no use has `kappa_j = 0`.
///
/// ```
/// use banach::{FeatureMatrix, fit::Lengths};
///
/// // Forty samples of four variables, of which the second matters.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..40 * 4).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..40).map(|i| (4.0 * x[40 + i]).sin()).collect();
/// let x = FeatureMatrix::from_columns(40, 4, x)?;
///
/// let lengths = Lengths::learn(&x, &y, &[])?;
/// assert!(lengths.scales[1] > 1.0, "{lengths:?}");
/// assert!([0, 2, 3].iter().all(|&j| lengths.scales[j] < 0.1), "{lengths:?}");
///
/// let model = lengths.spec().fit(&lengths.multiply(&x)?, &y)?;
/// let new = FeatureMatrix::from_rows(1, 4, &[0.9, 0.25, -0.4, 0.1])?;
/// assert!((model.decisions(&lengths.multiply(&new)?)?[0] - 1.0_f64.sin()).abs() < 0.01);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lengths {
    /// The factor `kappa_j >= 0` of every variable, in the inverse of its units; 0 for one that is of no use. Its length is `1/kappa_j`.
    pub scales: Vec<f64>,
    /// The weight of the loss, `a/nu`.
    pub gamma: f64,
    /// The negative logarithm of the likelihood with the penalty, for targets that are divided by their deviation. Between answers for
    /// the same targets the smaller is the better.
    pub value: f64,
    /// For every sample what the model without it predicts for it, with the same kappa and gamma.
    pub left_out: Vec<f64>,
}

/// Bounds on `ln kappa_j^2`, `ln a` and `ln nu`, for variables and targets of variance 1.
const LENGTH_BOUNDS: (f64, f64) = (-20.0, 5.0);
const SIGNAL_BOUNDS: (f64, f64) = (-8.0, 8.0);
const NOISE_BOUNDS: (f64, f64) = (-14.0, 3.0);
/// `ln a` and `ln nu` at every start.
const FIRST_SIGNAL: f64 = 0.0;
const FIRST_NOISE: f64 = -2.3;
/// Starts with equal lengths, by `sum_j kappa_j^2`: for variables of variance 1 the mean of the exponents of K but for their sign.
const EQUAL_STARTS: [f64; 3] = [0.2, 1.0, 4.0];
/// The most iterations from one start.
const ITERATIONS: usize = 80;
/// A gain of the likelihood, in natural logarithms, that says nothing of a model.
const TOLERANCE: f64 = 1e-5;
/// Squares of this many numbers of the samples that one evaluation keeps.
const SQUARES: u64 = 6;

impl Lengths {
    /// The lengths of the targets, from the best of several starts: those that are given, as [`scales`](Self::scales), and equal lengths of
    /// three sizes. The likelihood has many minima, and a start from what is known of the variables is worth more than chance.
    ///
    /// Variables are centred and divided by their deviation inside, so that units do not matter. Targets that are constant need no variable.
    /// Cost: O(n^3 + n^2 d) for about a hundred evaluations for each start. The answer does not depend on the number of threads.
    pub fn learn(x: &FeatureMatrix<'_>, y: &[f64], starts: &[Vec<f64>]) -> Result<Self, Error> {
        let (n, d) = (x.samples(), x.features());
        Error::check_length("y", y.len(), n)?;
        Error::check_values("y", y, "finite numbers", f64::is_finite)?;
        for start in starts {
            Error::check_length("a start of the lengths", start.len(), d)?;
            Error::check_values("a start of the lengths", start, "numbers >= 0", |scale| {
                scale >= 0.0 && scale.is_finite()
            })?;
        }
        let Some(target) = Standardised::new(y) else { return Ok(Self::constant(y, d)) };
        check_memory(n, d, starts.len() + EQUAL_STARTS.len())?;
        let mut column = vec![0.0; n];
        let columns = (0..d).map(|j| {
            x.column_into(j, &mut column);
            Standardised::new(&column)
        });
        let columns: Vec<Option<Standardised>> = columns.collect();
        // Constant variables have no length.
        let varying: Vec<(usize, &Standardised)> =
            columns.iter().enumerate().filter_map(|(j, column)| Some((j, column.as_ref()?))).collect();
        let inputs: Vec<f64> = varying.iter().flat_map(|(_, column)| &column.values).copied().collect();
        let likelihood = MarginalLikelihood { x: &inputs, y: &target.values };

        let given = starts.iter().map(|start| {
            varying.iter().map(|(j, column)| 2.0 * (start[*j] * column.deviation).ln()).collect::<Vec<f64>>()
        });
        let equal = EQUAL_STARTS.iter().map(|sum| vec![(sum / varying.len() as f64).ln(); varying.len()]);
        let mut thetas: Vec<Vec<f64>> = given.chain(equal).collect();
        thetas.iter_mut().for_each(|theta| theta.extend([FIRST_SIGNAL, FIRST_NOISE]));
        let (theta, posterior) = without_negligible(&likelihood, best_minimum(&likelihood, &thetas));

        let mut scales = vec![0.0; d];
        for ((j, column), theta) in varying.iter().zip(&theta) {
            scales[*j] = (0.5 * theta).exp() / column.deviation;
        }
        let residuals = posterior.alpha.iter().zip(&posterior.diagonal).map(|(alpha, diagonal)| alpha / diagonal);
        let left_out = y.iter().zip(residuals).map(|(y, residual)| y - target.deviation * residual).collect();
        let gamma = (theta[varying.len()] - theta[varying.len() + 1]).exp();
        Ok(Self { scales, gamma, value: posterior.value, left_out })
    }

    /// Targets without differences: no variable matters, and the constant is all there is to predict.
    fn constant(y: &[f64], inputs: usize) -> Self {
        Self { scales: vec![0.0; inputs], gamma: 1.0, value: 0.0, left_out: y.to_vec() }
    }

    /// The parameters whose fit to the multiplied variables is the expectation of the process, intercept included.
    pub fn spec(&self) -> Spec {
        let kernel = Box::new(KernelSpec::Exp { scale: 1.0, degrees: None });
        Spec {
            p: 2.0,
            gamma: self.gamma,
            kernel: KernelSpec::Normalized { kernel },
            loss: LossSpec::Squared,
            fit_intercept: true,
            ..Spec::default()
        }
    }

    /// The variables, each multiplied by its factor.
    pub fn multiply(&self, x: &FeatureMatrix<'_>) -> Result<FeatureMatrix<'static>, Error> {
        let (n, d) = (x.samples(), x.features());
        Error::check_length("a row of X", d, self.scales.len())?;
        let mut columns = vec![0.0; n * d];
        for (j, (column, scale)) in columns.chunks_mut(n).zip(&self.scales).enumerate() {
            x.column_into(j, column);
            column.iter_mut().for_each(|x| *x *= scale);
        }
        FeatureMatrix::from_columns(n, d, columns)
    }
}

/// Refuses what cannot be kept: the squares of an evaluation for every thread, and the variables.
fn check_memory(n: usize, d: usize, starts: usize) -> Result<(), Error> {
    let (n, d) = (n as u64, d as u64);
    let together = starts.min(rayon::current_num_threads()) as u64;
    let squares = n.checked_mul(n).and_then(|square| square.checked_mul(SQUARES * together));
    let variables = n.checked_mul(d).and_then(|entries| entries.checked_mul(2 + 2 * together));
    let needed = squares.zip(variables).and_then(|(a, b)| a.checked_add(b)?.checked_mul(8));
    Memory::available().check("a length per input", needed, &[Remedy::Do("take fewer samples")])
}

/// The best of the minima that are reached from some starts; of equal ones the first.
fn best_minimum(likelihood: &MarginalLikelihood<'_>, starts: &[Vec<f64>]) -> Vec<f64> {
    let found: Vec<Minimum> = starts.par_iter().map(|start| minimum(likelihood, start)).collect();
    let best = found.into_iter().reduce(|best, next| if next.value < best.value { next } else { best });
    best.expect("there are starts").point
}

/// The minimum that is reached from one start.
fn minimum(likelihood: &MarginalLikelihood<'_>, start: &[f64]) -> Minimum {
    let mut bounds = vec![LENGTH_BOUNDS; likelihood.inputs()];
    bounds.extend([SIGNAL_BOUNDS, NOISE_BOUNDS]);
    let value = |theta: &[f64], gradient: &mut [f64]| match likelihood.at(theta) {
        Some(posterior) => {
            gradient.copy_from_slice(&posterior.gradient);
            posterior.value
        }
        None => f64::INFINITY,
    };
    minimise(value, start, &bounds, ITERATIONS, TOLERANCE)
}

/// The same point without the inputs that are worth less than their penalty, the smallest first. Logarithms would never get to 0.
fn without_negligible(likelihood: &MarginalLikelihood<'_>, mut theta: Vec<f64>) -> (Vec<f64>, Posterior) {
    let mut found = likelihood.at(&theta).expect("a minimum is a point with a likelihood");
    let mut small: Vec<usize> = (0..likelihood.inputs()).filter(|&j| theta[j].exp() < NEGLIGIBLE).collect();
    small.sort_by(|&a, &b| theta[a].total_cmp(&theta[b]));
    for j in small {
        let kept = std::mem::replace(&mut theta[j], f64::NEG_INFINITY);
        match likelihood.at(&theta) {
            Some(without) if without.value <= found.value => found = without,
            _ => theta[j] = kept,
        }
    }
    (theta, found)
}

/// Numbers of mean 0 and variance 1, and what they were divided by.
struct Standardised {
    values: Vec<f64>,
    deviation: f64,
}

/// Numbers whose differences are below this share of the largest are equal to rounding.
const ROUNDING: f64 = 1e-13;
/// Numbers whose deviation is smaller cannot be divided by it.
const SMALLEST: f64 = 1e-290;

impl Standardised {
    /// `None` for numbers that are all equal.
    fn new(numbers: &[f64]) -> Option<Self> {
        let (n, whole) = (numbers.len() as f64, largest(numbers));
        // Divided first, as sums of very large numbers are out of range.
        let mean: f64 = numbers.iter().map(|number| number / n).sum();
        let mut values: Vec<f64> = numbers.iter().map(|number| number - mean).collect();
        let size = largest(&values);
        if !(size > ROUNDING * whole && size > SMALLEST && size.is_finite()) {
            return None;
        }
        values.iter_mut().for_each(|value| *value /= size);
        let share = (dot(&values, &values) / n).sqrt();
        values.iter_mut().for_each(|value| *value /= share);
        Some(Self { values, deviation: size * share })
    }
}
