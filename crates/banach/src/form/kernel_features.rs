//! The features route for a kernel: its features, listed by its feature map.

use std::sync::Arc;

use super::{Evaluation, Expansion, Features, Hessian, Lines, Predict, QForm, features::Weights};
use crate::{
    Error, Exponent, FeatureMatrix, Memory, Scratch,
    kernel::{FeatureMap, TensorKernel},
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
}

/// What is to fit in memory, and what to do where it does not.
pub(super) const FEATURES: &str = "the matrix of all features, with the working memory of its passes,";
pub(super) const INSTEAD: &str =
    "lower the degree, take fewer samples, or use the Gram tensor, which lists no features";

impl KernelFeatures {
    /// The form of a kernel on the samples of a matrix.
    pub fn new(
        matrix: &FeatureMatrix<'_>,
        kernel: impl TensorKernel + 'static,
        exponent: Exponent,
        memory: Memory,
    ) -> Result<Self, Error> {
        let (kernel, inputs) = (Arc::new(kernel), matrix.features());
        let map = FeatureMap::new(&*kernel, inputs, exponent, None)?;
        memory.check(FEATURES, Self::bytes(&map, matrix.samples(), 1), INSTEAD)?;
        let phi = map.matrix(matrix, memory)?;
        Ok(Self { features: Features::new(phi, exponent), kernel, inputs })
    }

    /// The bytes that the features of n samples take, with the working memory of evaluations of so many problems and of
    /// line searches; `None` beyond all counting.
    pub fn bytes(map: &FeatureMap<'_>, samples: usize, problems: usize) -> Option<u64> {
        let working = Features::working_bytes(samples, map.len(), samples.checked_mul(map.len())?, problems)?;
        map.bytes(samples)?.checked_add(working)
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

    fn expand(&self, alphas: &[f64], out: &mut [&mut Expansion], scratch: &mut Scratch) {
        self.features.expand(alphas, out, scratch);
    }

    fn expansion_length(&self) -> usize {
        self.features.expansion_length()
    }

    fn hessian(&self, at: &Expansion, keep: usize, scratch: &mut Scratch) -> Hessian {
        self.features.hessian(at, keep, scratch)
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

    fn segment<'b>(
        &'b self,
        from: (&[f64], &Expansion),
        to: (&[f64], &Expansion),
        scratch: &'b mut Scratch,
    ) -> (Box<dyn Lines + 'b>, usize) {
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
    features: usize,
    exponent: Exponent,
}

/// Bytes of the features of the points that are predicted together.
const POINT_BYTES: usize = 1 << 25;

impl Predict for KernelWeights {
    fn predict(&self, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let (got, expected) = (x.features(), self.inputs);
        if got != expected {
            return Err(Error::Shape { what: "a row of the new X", got, expected });
        }
        let map = FeatureMap::new(&*self.kernel, self.inputs, self.exponent, None)?;
        let (points, together) = (x.samples(), (POINT_BYTES / 8 / self.features).max(1));
        let mut blocks = Vec::new();
        for first in (0..points).step_by(together) {
            let rows = x.sample_range(first..(first + together).min(points))?;
            // A block of points is small, or one point with as many features as the weights that are already there.
            let phi = map.matrix(&rows, Memory::limit(u64::MAX))?;
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
