//! The data of the paper's Table 1 and Figure 1.

use serde::Serialize;

use super::{Sample, draw::Draw};

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

impl SparseLinear {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> Sample {
        let (n, deviation) = (self.samples, 1.0 / (self.samples as f64).sqrt());
        let mut draw = Draw::new(seed);
        let columns = draw.normals(n * self.features, deviation);
        let truth = draw.signs(self.features, self.relevant);
        let targets = draw.linear_targets(&columns, &truth, n, self.noise);
        Sample { columns, targets, truth }
    }
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
