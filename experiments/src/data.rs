//! The paper's data (section 4): a normal matrix, a sparse vector, and noise.

use banach::{Exponent, FeatureMatrix, Features};
use rand::{RngExt, SeedableRng, seq::index};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::Error;

/// `y = X w_* + sigma eps`, with X, eps normal and w_* sparse.
///
/// The paper leaves two choices open. Those that reproduce its iteration counts: the entries of X are
/// divided by `sqrt(n)`, and the non-zeros of `w_*` are +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SparseLinear {
    /// Samples, n.
    pub samples: usize,
    /// Features, d.
    pub features: usize,
    /// Non-zeros of `w_*`.
    pub relevant: usize,
    /// The noise level sigma.
    pub noise: f64,
}

/// One draw of [`SparseLinear`].
#[derive(Debug, Clone)]
pub struct Sample {
    /// X, one feature after another.
    pub columns: Vec<f64>,
    /// y.
    pub targets: Vec<f64>,
    /// The non-zeros of `w_*`: feature and value, by feature.
    pub truth: Vec<(usize, f64)>,
}

impl SparseLinear {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> Sample {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (n, d) = (self.samples, self.features);
        let scale = 1.0 / (n as f64).sqrt();
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let columns: Vec<f64> = (0..n * d).map(|_| scale * normal(&mut random)).collect();
        let mut relevant = index::sample(&mut random, d, self.relevant).into_vec();
        relevant.sort_unstable();
        let truth: Vec<(usize, f64)> =
            relevant.into_iter().map(|feature| (feature, if random.random() { 1.0 } else { -1.0 })).collect();
        let mut targets: Vec<f64> = (0..n).map(|_| self.noise * normal(&mut random)).collect();
        for &(feature, weight) in &truth {
            let column = &columns[feature * n..(feature + 1) * n];
            targets.iter_mut().zip(column).for_each(|(y, x)| *y += weight * x);
        }
        Sample { columns, targets, truth }
    }
}

impl Sample {
    /// The features route for the exponent that the paper writes so.
    pub(crate) fn form(&self, p: &str) -> Result<Features<'_>, Error> {
        let n = self.targets.len();
        let matrix = FeatureMatrix::from_columns(n, self.columns.len() / n, &self.columns[..])?;
        Ok(Features::new(matrix, p.parse::<Exponent>()?))
    }
}

/// How many relevant features are among as many largest weights.
pub(crate) fn count_found(truth: &[(usize, f64)], weights: &[f64]) -> usize {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    truth.iter().filter(|(feature, _)| order[..truth.len()].contains(feature)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_draw_and_another_seed_another() {
        let setting = SparseLinear { samples: 5, features: 40, relevant: 3, noise: 0.05 };
        let [a, b, c] = [setting.sample(1), setting.sample(1), setting.sample(2)];
        assert_eq!(a.columns, b.columns);
        assert_eq!(a.targets, b.targets);
        assert_ne!(a.columns, c.columns);
        assert_eq!(a.truth.len(), 3);
        assert!(a.truth.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_model_explains_the_targets_up_to_the_noise() {
        let setting = SparseLinear { samples: 400, features: 50, relevant: 4, noise: 0.05 };
        let Sample { columns, targets, truth } = setting.sample(3);
        let residual = |i: usize| targets[i] - truth.iter().map(|(k, w)| w * columns[k * 400 + i]).sum::<f64>();
        let variance = (0..400).map(|i| residual(i).powi(2)).sum::<f64>() / 400.0;
        assert!((variance.sqrt() - 0.05).abs() < 0.01, "{}", variance.sqrt());
        let size = columns.iter().map(|x| x * x).sum::<f64>() / 50.0;
        assert!((size - 1.0).abs() < 0.05, "{size}");
    }
}
