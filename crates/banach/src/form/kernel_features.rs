//! The features route for a kernel: its features, listed by its feature map.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    Evaluation, Expanded, Expansion, Features, Hessian, Lines, LocalModel, Predict, QForm,
    features::{Origin, Weights},
    rounding,
};
use crate::{
    Error, Exponent, FeatureMatrix, Memory,
    data::{COLUMNS_AT_ONCE, Scratch},
    kernel::{FeatureMap, INSTEAD, MonomialScale, TensorKernel, ln_norms},
};

/// `Q` of a kernel with finitely many features, from the matrix of all of them, for any q.
///
/// The feature matrix is formed once, `n card(K)` numbers. Predictions take points in the variables of the kernel and
/// form their features a few points at a time.
#[derive(Debug, Clone)]
pub struct KernelFeatures {
    features: Features<'static>,
    kernel: Arc<dyn TensorKernel>,
    inputs: usize,
    standardization: Arc<Standardization>,
}

/// How the listed features are brought to their [`MonomialScale`].
#[derive(Debug, Default)]
struct Standardization {
    /// The number that is subtracted from each feature, and the factor it is then multiplied by; empty for raw features.
    columns: Vec<(f64, f64)>,
}

impl Standardization {
    fn new(monomial_scale: MonomialScale, phi: &FeatureMatrix<'_>) -> Self {
        if monomial_scale == MonomialScale::Raw {
            return Self::default();
        }
        let of_column = |values: &mut Vec<f64>, column| {
            phi.column_into(column, values);
            monomial_scale.of_column(values)
        };
        let columns = (0..phi.features()).into_par_iter().with_min_len(COLUMNS_AT_ONCE);
        Self { columns: columns.map_init(|| vec![0.0; phi.samples()], of_column).collect() }
    }

    fn apply(&self, phi: FeatureMatrix<'static>) -> Result<FeatureMatrix<'static>, Error> {
        if self.columns.is_empty() {
            return Ok(phi);
        }
        phi.into_mapped(|column, values| {
            let (centre, factor) = self.columns[column];
            values.iter_mut().for_each(|value| *value = (*value - centre) * factor);
        })
    }

    /// The largest square of a mean, in units of the deviation of its feature.
    fn spread(&self) -> f64 {
        self.columns.iter().map(|(centre, factor)| (centre * factor) * (centre * factor)).fold(0.0, f64::max)
    }
}

/// What is to fit in memory.
pub(super) const FEATURES: &str = "the matrix of all features, with the working memory of its passes,";

impl KernelFeatures {
    /// The form of a kernel on the samples of a matrix.
    pub fn new(
        matrix: &FeatureMatrix<'_>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        Self::with_monomial_scale(matrix, kernel, MonomialScale::Raw, exponent, memory)
    }

    /// As [`new`](Self::new), with monomials of this scale.
    pub fn with_monomial_scale(
        matrix: &FeatureMatrix<'_>,
        kernel: impl TensorKernel + 'static,
        monomial_scale: MonomialScale,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        exponent.refuse_endpoint()?;
        let (kernel, inputs) = (Arc::new(kernel), matrix.features());
        let map = FeatureMap::new(&*kernel, inputs, exponent, None)?;
        memory.check(FEATURES, Self::bytes(&map, monomial_scale, matrix.samples(), 1), INSTEAD)?;
        let phi = map.matrix(matrix, memory)?;
        let standardization = Arc::new(Standardization::new(monomial_scale, &phi));
        let origin = origin(&*kernel, &standardization, matrix, &phi, exponent);
        let phi = standardization.apply(phi)?;
        Ok(Self { features: Features::formed(phi, exponent, origin), kernel, inputs, standardization })
    }

    /// The bytes that the features of n samples take, with the working memory of evaluations of this many problems and of line
    /// searches; `None` if they cannot be counted.
    pub fn bytes(map: &FeatureMap<'_>, monomial_scale: MonomialScale, samples: usize, problems: usize) -> Option<u64> {
        let working = Features::working_bytes(samples, map.len(), samples.checked_mul(map.len())?, problems)?;
        // Two numbers are kept for each standardised feature.
        let own = if monomial_scale == MonomialScale::Raw { 0 } else { (map.len() as u64).checked_mul(16)? };
        map.bytes(samples)?.checked_add(working)?.checked_add(own)
    }

    /// The form of the listed features, without the kernel.
    pub fn features(&self) -> &Features<'static> {
        &self.features
    }

    /// The kernel.
    pub fn kernel(&self) -> &dyn TensorKernel {
        &*self.kernel
    }
}

/// How far rounding may have moved listed features. There is a unit for each factor of a monomial, some for the root of its
/// coefficient, and those of the divisor of a normalised kernel. Standardised features have those of their means and deviations too:
/// one that is nearly constant loses as many digits as its mean is larger than its deviation.
fn origin(
    kernel: &dyn TensorKernel,
    standardization: &Standardization,
    x: &FeatureMatrix<'_>,
    phi: &FeatureMatrix<'_>,
    exponent: Exponent,
) -> Origin {
    let (n, q) = (phi.samples() as f64, exponent.q());
    let mut units = rounding::monomials(kernel.degrees().1.unwrap_or(0));
    if kernel.normalized() {
        let norms = ln_norms(kernel, exponent, x.samples(), x.features(), |j, out| x.column_into(j, out));
        units += rounding::norms(&norms, x.features());
    }
    if standardization.columns.is_empty() {
        return Origin { units, ln_least: f64::NEG_INFINITY };
    }
    // No entry is larger than sqrt(n (1 + spread)) before its mean is taken off.
    let ln_least = (phi.features() as f64).ln() / q + 0.5 * (n.ln() + standardization.spread().ln_1p());
    Origin { units: units + 2.0 * n + 8.0, ln_least }
}

impl QForm for KernelFeatures {
    fn exponent(&self) -> Exponent {
        self.features.exponent()
    }

    fn samples(&self) -> usize {
        self.features.samples()
    }

    fn evaluate(&self, alphas: &[f64], out: &mut Evaluation, scratch: &mut Scratch) {
        self.features.evaluate(alphas, out, scratch);
    }

    fn sharpen(&self, alpha: &[f64], at: &mut Evaluation, scratch: &mut Scratch) -> usize {
        self.features.sharpen(alpha, at, scratch)
    }

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        self.features.expand(alphas, out, scratch);
    }

    fn cardinality(&self) -> Option<u64> {
        self.features.cardinality()
    }

    fn listed(&self) -> Option<&FeatureMatrix<'_>> {
        self.features.listed()
    }

    fn expansion_length(&self) -> usize {
        self.features.expansion_length()
    }

    fn batch_bytes(&self) -> u64 {
        self.features.batch_bytes()
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        self.features.hessian(at, keep, scratch)
    }

    fn local(&self, at: Expanded<'_>, keep: usize, most_left_out: f64, scratch: &mut Scratch) -> Option<LocalModel> {
        self.features.local(at, keep, most_left_out, scratch)
    }

    fn hessian_in_place(&self, at: &Expansion) -> Option<Hessian> {
        self.features.hessian_in_place(at)
    }

    fn preview<'b>(
        &'b self,
        at: &Expansion,
        hessian: &Hessian,
        d: &[f64],
        scratch: &'b mut Scratch,
    ) -> Option<Box<dyn Lines + 'b>> {
        self.features.preview(at, hessian, d, scratch)
    }

    fn segment<'b>(&'b self, from: Expanded<'_>, to: Expanded<'_>, scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        self.features.segment(from, to, scratch)
    }

    fn lines<'b>(&'b self, alpha: &[f64], directions: &[f64], scratch: &'b mut Scratch) -> Box<dyn Lines + 'b> {
        self.features.lines(alpha, directions, scratch)
    }

    fn predictor(&self, alphas: &[f64]) -> Box<dyn Predict> {
        Box::new(KernelWeights {
            weights: Weights::new(&self.features, alphas),
            kernel: self.kernel.clone(),
            inputs: self.inputs,
            standardization: self.standardization.clone(),
            features: self.features.matrix().features(),
            exponent: self.exponent(),
        })
    }
}

/// `f(x) = <w, Phi(x)>`.
#[derive(Debug)]
struct KernelWeights {
    weights: Weights,
    kernel: Arc<dyn TensorKernel>,
    inputs: usize,
    standardization: Arc<Standardization>,
    features: usize,
    exponent: Exponent,
}

/// Bytes of the features of the points that are predicted together: 4 MB, which a last-level cache holds.
const POINT_BYTES: usize = 1 << 22;

impl Predict for KernelWeights {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        Error::check_length("a row of the new X", x.features(), self.inputs)?;
        let map = FeatureMap::new(&*self.kernel, self.inputs, self.exponent, None)?;
        let (points, together) = (x.samples(), (POINT_BYTES / 8 / self.features).max(1));
        let mut blocks = Vec::new();
        for first in (0..points).step_by(together) {
            let rows = x.sample_range(first..(first + together).min(points))?;
            // A block of points is small, or one point with as many features as the weights that are already there.
            let phi = self.standardization.apply(map.matrix(&rows, Memory::limit(u64::MAX))?)?;
            blocks.push((phi.samples(), self.weights.predict(&phi)?));
        }
        let functions = blocks.first().map_or(0, |(points, values)| values.len() / points);
        let of_function = |function: usize| {
            blocks.iter().flat_map(move |(points, values)| &values[function * points..(function + 1) * points]).copied()
        };
        Ok((0..functions).flat_map(of_function).collect())
    }

    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.weights()
    }
}
