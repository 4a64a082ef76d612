//! Data whose neighbouring variables are alike.

use serde::Serialize;

use super::{Sample, draw::Draw};

/// `y = X w_* + sigma eps` with neighbouring variables alike: the rows of X are independent, and along a row runs a
/// stationary AR(1) process with entries N(0, 1). The non-zeros of `w_*` are +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Correlated {
    /// Samples, n.
    pub samples: usize,
    /// Features, d.
    pub features: usize,
    /// Non-zeros of `w_*`.
    pub relevant: usize,
    /// The noise level sigma.
    pub noise: f64,
    /// The correlation of neighbouring variables.
    pub correlation: f64,
}

impl Correlated {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> Sample {
        let (n, rho) = (self.samples, self.correlation);
        let fresh = (1.0 - rho * rho).sqrt();
        let mut draw = Draw::new(seed);
        let mut columns = draw.normals(n * self.features, 1.0);
        for k in n..columns.len() {
            columns[k] = rho * columns[k - n] + fresh * columns[k];
        }
        let truth = draw.signs(self.features, self.relevant);
        let targets = draw.linear_targets(&columns, &truth, n, self.noise);
        Sample { columns, targets, truth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_correlated_and_rows_are_not() {
        let (n, d) = (300, 400);
        let setting = Correlated { samples: n, features: d, relevant: 3, noise: 0.1, correlation: 0.9 };
        let Sample { columns, targets, truth } = setting.sample(2);
        assert_eq!((columns.len(), targets.len(), truth.len()), (n * d, n, 3));
        let mean = |lag: usize| {
            let products = columns.iter().zip(&columns[lag..]).map(|(a, b)| a * b);
            products.sum::<f64>() / (columns.len() - lag) as f64
        };
        for (lag, expected) in [(0, 1.0), (n, 0.9), (2 * n, 0.81), (1, 0.0), (n + 1, 0.0)] {
            assert!((mean(lag) - expected).abs() < 0.04, "lag {lag}: {}", mean(lag));
        }
        let residual = |i: usize| targets[i] - truth.iter().map(|(k, w)| w * columns[k * n + i]).sum::<f64>();
        let variance = (0..n).map(|i| residual(i).powi(2)).sum::<f64>() / n as f64;
        assert!((variance.sqrt() - 0.1).abs() < 0.015, "{}", variance.sqrt());
    }
}
