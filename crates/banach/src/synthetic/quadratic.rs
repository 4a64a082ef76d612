//! The data of the paper's Table 2.

use serde::{Deserialize, Serialize};

use super::{Sample, draw::Draw};

/// `y = Phi_n w_* + sigma eps`, with X, eps normal, Phi the features of the polynomial kernel of degree 2 and
/// `w_*` sparse.
///
/// The choices that the paper leaves open are those that come near its iteration counts: the entries of X are N(0, 1),
/// and the non-zeros of `w_*` are +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SparseQuadratic {
    /// Samples, n.
    pub samples: usize,
    /// Variables, d.
    pub inputs: usize,
    /// Non-zeros of `w_*`.
    pub relevant: usize,
    /// The noise level sigma.
    pub noise: f64,
}

impl SparseQuadratic {
    /// The number of features, `N = d(d+1)/2`.
    pub fn features(&self) -> usize {
        self.inputs * (self.inputs + 1) / 2
    }

    /// The variables of a feature with their exponents.
    pub fn factors(&self, feature: usize) -> Vec<(usize, usize)> {
        let (j, k) = pair(self.inputs, feature);
        if j == k { vec![(j, 2)] } else { vec![(j, 1), (k, 1)] }
    }

    /// The draw that belongs to a seed, the same on every machine. Features are numbered as in
    /// [`FeatureMap`](crate::kernel::FeatureMap): `x0^2, x0 * x1, ..., x1^2, x1 * x2, ...`.
    pub fn sample(&self, seed: u64) -> Sample {
        let (n, d) = (self.samples, self.inputs);
        let mut draw = Draw::new(seed);
        let columns = draw.normals(n * d, 1.0);
        let truth = draw.signs(self.features(), self.relevant);
        let mut targets = draw.normals(n, self.noise);
        for &(feature, weight) in &truth {
            let (j, k) = pair(d, feature);
            // The coefficient of x_j x_k in Phi, to the power 1/q with q = 4 (section 4).
            let weight = if j == k { weight } else { weight * 2.0_f64.powf(0.25) };
            for (i, y) in targets.iter_mut().enumerate() {
                *y += weight * columns[j * n + i] * columns[k * n + i];
            }
        }
        Sample { columns, targets, truth }
    }
}

/// The variables of a feature of degree 2 in d variables.
fn pair(d: usize, mut feature: usize) -> (usize, usize) {
    let mut j = 0;
    while feature >= d - j {
        feature -= d - j;
        j += 1;
    }
    (j, j + feature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Exponent,
        kernel::{FeatureMap, Polynomial},
    };

    #[test]
    fn quadratic_features_are_numbered_row_by_row() {
        let pairs: Vec<(usize, usize)> = (0..6).map(|feature| pair(3, feature)).collect();
        assert_eq!(pairs, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]);
        let setting = SparseQuadratic { samples: 90, inputs: 650, relevant: 6, noise: 0.05 };
        assert_eq!(setting.features(), 211_575);
        assert_eq!(pair(650, 211_574), (649, 649));
    }

    #[test]
    fn the_features_of_the_kernel_explain_the_quadratic_targets() {
        let setting = SparseQuadratic { samples: 400, inputs: 4, relevant: 4, noise: 0.05 };
        let Sample { columns, targets, truth } = setting.sample(5);
        let kernel = Polynomial::new(2, 1.0, 0.0).expect("degree 2");
        let exponent = Exponent::from_fraction(4, 3).expect("p = 4/3");
        let map = FeatureMap::new(&kernel, 4, exponent, None).expect("ten features");
        let row = |i: usize| [0, 1, 2, 3].map(|j| columns[j * 400 + i]);
        let phi = |i: usize| map.phi(&row(i)).expect("finite numbers");
        let residual = |i: usize| targets[i] - truth.iter().map(|(k, w)| w * phi(i)[*k]).sum::<f64>();
        let variance = (0..400).map(|i| residual(i).powi(2)).sum::<f64>() / 400.0;
        assert!((variance.sqrt() - 0.05).abs() < 0.01, "{}", variance.sqrt());
    }
}
