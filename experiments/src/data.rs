//! The paper's data (section 4): a normal matrix, a sparse vector, and noise. And data with correlated variables.

use banach::{Exponent, FeatureMatrix, Features};
use rand::{RngExt, SeedableRng, seq::index};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

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

/// One draw of the data.
#[derive(Debug, Clone)]
pub struct Sample {
    /// X, one variable after another.
    pub columns: Vec<f64>,
    /// y.
    pub targets: Vec<f64>,
    /// The non-zeros of `w_*`: feature and value, by feature.
    pub truth: Vec<(usize, f64)>,
}

impl SparseLinear {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> Sample {
        let (n, scale) = (self.samples, 1.0 / (self.samples as f64).sqrt());
        let mut draw = Draw::new(seed);
        let columns = draw.normals(n * self.features, scale);
        let truth = draw.signs(self.features, self.relevant);
        let targets = draw.linear_targets(&columns, &truth, n, self.noise);
        Sample { columns, targets, truth }
    }
}

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
    /// [`FeatureMap`](banach::kernel::FeatureMap): `x0^2, x0 * x1, ..., x1^2, x1 * x2, ...`.
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

/// `y = sum of some monomials + sigma eps` with variables that are at most 1 in modulus. The degrees of the monomials run
/// through 1, 2, 3, their variables are drawn, and their coefficients are +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SparseMonomials {
    /// Samples, n.
    pub samples: usize,
    /// Variables, d.
    pub inputs: usize,
    /// Monomials.
    pub relevant: usize,
    /// The noise level sigma, relative to the size of the rest.
    pub noise: f64,
    /// The variables.
    pub entries: Entries,
}

/// The distribution of variables that are at most 1 in modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entries {
    /// Uniform in (-1, 1).
    Uniform,
    /// Uniform in (0, 1).
    Positive,
    /// Normal, each variable divided by its largest value.
    Normal,
}

impl Entries {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform in (-1, 1)",
            Self::Positive => "uniform in (0, 1)",
            Self::Normal => "normal, largest 1",
        }
    }
}

/// One draw of such data.
#[derive(Debug, Clone)]
pub struct MonomialSample {
    /// X, one variable after another.
    pub columns: Vec<f64>,
    /// y.
    pub targets: Vec<f64>,
    /// The monomials, by their variables and exponents, with their coefficients.
    pub truth: Vec<(Vec<(usize, usize)>, f64)>,
}

impl SparseMonomials {
    /// The draw that belongs to a seed, the same on every machine.
    pub fn sample(&self, seed: u64) -> MonomialSample {
        let (n, d) = (self.samples, self.inputs);
        let mut draw = Draw::new(seed);
        let mut columns = match self.entries {
            Entries::Uniform => (0..n * d).map(|_| 2.0 * draw.0.random::<f64>() - 1.0).collect(),
            Entries::Positive => (0..n * d).map(|_| draw.0.random::<f64>()).collect(),
            Entries::Normal => draw.normals(n * d, 1.0),
        };
        if self.entries == Entries::Normal {
            for column in columns.chunks_mut(n) {
                let largest = column.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                column.iter_mut().for_each(|x| *x /= largest);
            }
        }
        let mut truth = Vec::new();
        for term in 0..self.relevant {
            let mut variables: Vec<usize> = (0..=term % 3).map(|_| draw.0.random_range(0..d)).collect();
            variables.sort_unstable();
            let factors = variables.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
            truth.push((factors, if draw.0.random() { 1.0 } else { -1.0 }));
        }
        let value = |(factors, weight): &(Vec<(usize, usize)>, f64), i: usize| {
            weight * factors.iter().map(|&(j, e)| columns[j * n + i].powi(e as i32)).product::<f64>()
        };
        let mut targets: Vec<f64> = (0..n).map(|i| truth.iter().map(|term| value(term, i)).sum()).collect();
        let size = (targets.iter().map(|y| y * y).sum::<f64>() / n as f64).sqrt();
        let noise = draw.normals(n, self.noise * size);
        targets.iter_mut().zip(noise).for_each(|(y, noise)| *y += noise);
        MonomialSample { columns, targets, truth }
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

/// Random numbers of one seed.
struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn normals(&mut self, count: usize, scale: f64) -> Vec<f64> {
        let mut normal = || -> f64 { StandardNormal.sample(&mut self.0) };
        (0..count).map(|_| scale * normal()).collect()
    }

    /// `X w_* + sigma eps`.
    fn linear_targets(&mut self, columns: &[f64], truth: &[(usize, f64)], n: usize, noise: f64) -> Vec<f64> {
        let mut targets = self.normals(n, noise);
        for &(feature, weight) in truth {
            let column = &columns[feature * n..(feature + 1) * n];
            targets.iter_mut().zip(column).for_each(|(y, x)| *y += weight * x);
        }
        targets
    }

    /// So many features of all, in increasing order, with +1 or -1 each.
    fn signs(&mut self, features: usize, relevant: usize) -> Vec<(usize, f64)> {
        let mut relevant = index::sample(&mut self.0, features, relevant).into_vec();
        relevant.sort_unstable();
        relevant.into_iter().map(|feature| (feature, if self.0.random() { 1.0 } else { -1.0 })).collect()
    }
}

impl Sample {
    /// The features route, with the variables as features, for the exponent that the paper writes so.
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

/// How many weights are left by the largest threshold that keeps every relevant feature.
pub(crate) fn count_kept(truth: &[(usize, f64)], weights: &[f64]) -> usize {
    let threshold = truth.iter().map(|(feature, _)| weights[*feature].abs()).fold(f64::INFINITY, f64::min);
    weights.iter().filter(|weight| weight.abs() >= threshold).count()
}

#[cfg(test)]
mod tests {
    use banach::kernel::{FeatureMap, Polynomial};

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

    #[test]
    fn monomials_explain_their_targets_and_no_variable_is_above_1() {
        for entries in [Entries::Uniform, Entries::Positive, Entries::Normal] {
            let setting = SparseMonomials { samples: 200, inputs: 5, relevant: 4, noise: 0.0, entries };
            let MonomialSample { columns, targets, truth } = setting.sample(1);
            assert!(columns.iter().all(|x| x.abs() <= 1.0));
            let degree = |factors: &[(usize, usize)]| factors.iter().map(|(_, e)| e).sum::<usize>();
            assert_eq!(truth.iter().map(|(factors, _)| degree(factors)).collect::<Vec<_>>(), [1, 2, 3, 1]);
            for (i, y) in targets.iter().enumerate() {
                let power = |&(j, e): &(usize, usize)| (0..e).map(|_| columns[j * 200 + i]).product::<f64>();
                let value = |factors: &[(usize, usize)]| factors.iter().map(power).product::<f64>();
                let sum: f64 = truth.iter().map(|(factors, weight)| weight * value(factors)).sum();
                assert!((y - sum).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn found_and_kept_look_at_magnitudes() {
        let truth = [(1, 1.0), (4, -1.0)];
        let weights = [0.1, 0.9, -0.4, 0.0, -0.3];
        assert_eq!((count_found(&truth, &weights), count_kept(&truth, &weights)), (1, 3));
        assert_eq!((count_found(&truth[..1], &weights), count_kept(&truth[..1], &weights)), (1, 1));
    }

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
