//! One draw of data whose truth is known, and the criterion of the truth, computed again from its formula.

use banach::{
    FeatureMatrix,
    kernel::{Degrees, KernelChoice, KernelName, KernelSpec, Monomial},
};

use super::SupportData;
use crate::Error;

/// A draw.
pub(super) struct SupportDraw {
    samples: usize,
    inputs: usize,
    degree: usize,
    columns: Vec<f64>,
    /// The targets.
    pub targets: Vec<f64>,
    /// The true monomials.
    pub truth: Vec<Monomial>,
}

/// A support may have one term for so many samples.
const SAMPLES_PER_TERM: usize = 3;

impl SupportDraw {
    pub(super) fn new(data: SupportData, seed: u64) -> Self {
        match data {
            SupportData::Linear(data) => {
                let sample = data.sample(seed);
                let truth = sample.truth.iter().map(|(feature, _)| Monomial::new(&[(*feature, 1)])).collect();
                let (samples, inputs) = (data.samples, data.features);
                Self { samples, inputs, degree: 1, columns: sample.columns, targets: sample.targets, truth }
            }
            SupportData::Quadratic(data) => {
                let sample = data.sample(seed);
                let truth = sample.truth.iter().map(|(feature, _)| Monomial::new(&data.factors(*feature))).collect();
                let (samples, inputs) = (data.samples, data.inputs);
                Self { samples, inputs, degree: 2, columns: sample.columns, targets: sample.targets, truth }
            }
            SupportData::Cubic(data) => {
                let sample = data.sample(seed);
                let truth = sample.truth.iter().map(|(factors, _)| Monomial::new(factors)).collect();
                let (samples, inputs) = (data.samples, data.inputs);
                Self { samples, inputs, degree: 3, columns: sample.columns, targets: sample.targets, truth }
            }
        }
    }

    pub(super) fn matrix(&self) -> Result<FeatureMatrix<'_>, Error> {
        Ok(FeatureMatrix::from_columns(self.samples, self.inputs, &self.columns[..])?)
    }

    /// The kernel whose monomials can be named.
    pub(super) fn kernel(&self) -> Result<KernelSpec, Error> {
        let degree = Some(Degrees::range(1, self.degree)?);
        Ok(KernelChoice { degree, ..KernelChoice::new(KernelName::Poly) }.spec()?)
    }

    /// The criterion of the truth in a dictionary of so many monomials, by the formula of docs/sparse.md and least squares of our own;
    /// `None` where the truth has more terms than a support may have.
    pub(super) fn criterion_of_truth(&self, dictionary: f64) -> Option<f64> {
        let (n, k) = (self.samples as f64, self.truth.len() as f64);
        if self.truth.len() > self.samples / SAMPLES_PER_TERM {
            return None;
        }
        if self.truth.is_empty() {
            return Some(0.0);
        }
        let r = self.unexplained_by_truth();
        let g = (((1.0 - r) / k) / (r / (n - 1.0 - k)) - 1.0).max(0.0);
        let bracket = (n - 1.0 - k) * g.ln_1p() - (n - 1.0) * (g * r).ln_1p();
        let ln_lists: f64 = (0..self.truth.len()).map(|i| (dictionary - i as f64).ln()).sum();
        Some(2.0 * (ln_lists + (k + 1.0).ln() + 20.0_f64.ln()) - bracket)
    }

    /// The share of the variance of the targets that the true monomials do not explain.
    fn unexplained_by_truth(&self) -> f64 {
        let n = self.samples;
        let value = |monomial: &Monomial, i: usize| {
            let power = |&(j, e): &(usize, usize)| self.columns[j * n + i].powi(e as i32);
            monomial.factors().iter().map(power).product::<f64>()
        };
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for monomial in &self.truth {
            let mut column = centred((0..n).map(|i| value(monomial, i)).collect());
            // A second time for what rounding left of the first.
            for _ in 0..2 {
                basis.iter().for_each(|other| take_away(&mut column, other));
            }
            let length = dot(&column, &column).sqrt();
            column.iter_mut().for_each(|x| *x /= length);
            basis.push(column);
        }
        let target = centred(self.targets.clone());
        let mut rest = target.clone();
        basis.iter().for_each(|column| take_away(&mut rest, column));
        dot(&rest, &rest) / dot(&target, &target)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn centred(mut values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    values
}

/// Takes from a vector its part along one of length 1.
fn take_away(vector: &mut [f64], unit: &[f64]) {
    let part = dot(vector, unit);
    vector.iter_mut().zip(unit).for_each(|(value, unit)| *value -= part * unit);
}
