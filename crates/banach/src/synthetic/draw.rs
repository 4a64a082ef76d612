//! Random numbers that are the same on every machine.

use rand::{RngExt, SeedableRng, seq::index};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers of one seed.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in (0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// One of the first `count` whole numbers.
    pub(super) fn index(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// +1 or -1.
    pub(super) fn sign(&mut self) -> f64 {
        if self.0.random() { 1.0 } else { -1.0 }
    }

    pub(super) fn normals(&mut self, count: usize, deviation: f64) -> Vec<f64> {
        let mut normal = || -> f64 { StandardNormal.sample(&mut self.0) };
        (0..count).map(|_| deviation * normal()).collect()
    }

    /// `X w_* + sigma eps`.
    pub(super) fn linear_targets(&mut self, columns: &[f64], truth: &[(usize, f64)], n: usize, noise: f64) -> Vec<f64> {
        let mut targets = self.normals(n, noise);
        for &(feature, weight) in truth {
            let column = &columns[feature * n..(feature + 1) * n];
            targets.iter_mut().zip(column).for_each(|(y, x)| *y += weight * x);
        }
        targets
    }

    /// `relevant` of the features, drawn, in increasing order, with +1 or -1 each.
    pub(super) fn signs(&mut self, features: usize, relevant: usize) -> Vec<(usize, f64)> {
        let mut relevant = index::sample(&mut self.0, features, relevant).into_vec();
        relevant.sort_unstable();
        relevant.into_iter().map(|feature| (feature, self.sign())).collect()
    }
}
