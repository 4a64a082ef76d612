//! The largest monomials of a function with finitely many features, by going through all of them.

use std::cmp::Ordering;

use super::DualModel;
use crate::{
    Error, Memory,
    kernel::{FeatureMap, FeatureRuns, Monomial},
};

/// A feature with its `u_k`.
#[derive(Debug, Clone)]
struct Feature {
    size: f64,
    variables: Vec<usize>,
}

impl Feature {
    /// The larger first, then the lower degree, then the first in a dictionary.
    fn order(&self, other: &Self) -> Ordering {
        let sizes = other.size.total_cmp(&self.size);
        sizes
            .then_with(|| self.variables.len().cmp(&other.variables.len()))
            .then_with(|| self.variables.cmp(&other.variables))
    }
}

/// The largest features so far, kept to at most twice their number.
struct Largest {
    count: usize,
    features: Vec<Feature>,
    /// Smaller ones need not be looked at.
    least: f64,
}

impl Largest {
    fn new(count: usize) -> Self {
        Self { count, features: Vec::new(), least: 0.0 }
    }

    fn add(&mut self, size: f64, variables: impl Iterator<Item = usize>) {
        self.features.push(Feature { size, variables: variables.collect() });
        if self.features.len() >= 2 * self.count + 16 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.features.sort_by(Feature::order);
        self.features.truncate(self.count);
        if self.features.len() == self.count {
            self.least = self.features.last().map_or(f64::INFINITY, |feature| feature.size);
        }
    }
}

impl DualModel<'_> {
    /// The `count` monomials with the largest weights, largest first; those of weight 0 are not listed.
    pub(crate) fn largest_listed(&self, count: usize, memory: Memory) -> Result<Vec<Monomial>, Error> {
        if self.kernel.degrees().1.is_none() {
            return Err(Error::InfinitelyManyFeatures { kernel: self.kernel.name() });
        }
        if count == 0 || self.alpha.iter().all(|&alpha| alpha == 0.0) {
            return Ok(Vec::new());
        }
        let map = FeatureMap::new(&*self.kernel, self.samples.features(), self.exponent, None)?;
        let (samples, alpha) = self.present()?;
        let runs = FeatureRuns::new(&map, &samples, &alpha, self.scale, memory)?;
        let parts = runs.read(
            || Largest::new(count),
            |largest, run| {
                for (at, u) in run.u.iter().enumerate() {
                    if u.abs() >= largest.least && *u != 0.0 {
                        largest.add(u.abs(), run.variables(at));
                    }
                }
            },
        );
        let mut whole = Largest::new(count);
        parts.into_iter().for_each(|part| whole.features.extend(part.features));
        whole.cut();
        Ok(whole.features.iter().map(|feature| Monomial::of_sorted(&feature.variables)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponent, FeatureMatrix, KernelFeatures, form::laws::with_threads, kernel::Polynomial};

    #[test]
    fn the_largest_weights_are_found_in_order() {
        let (n, d) = (12, 9);
        let x: Vec<f64> = (0..n * d).map(|k| (k as f64 * 1.7).sin()).collect();
        let x = FeatureMatrix::from_columns(n, d, x).expect("valid");
        let alpha: Vec<f64> = (0..n).map(|i| (i as f64 * 0.9).cos()).collect();
        let exponent = Exponent::new(1.2).expect("inside");
        let kernel = Polynomial::new(3, 1.0, 0.6).expect("valid");
        let form = KernelFeatures::new(&x, kernel, exponent, Memory::default()).expect("fits");
        let map = FeatureMap::new(&kernel, d, exponent, None).expect("finite");
        let weights = form.features().weights(&alpha);
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        let model = DualModel::new(x, kernel, exponent, &alpha).expect("valid");
        for count in [0, 1, 5, 40, 220, 1000] {
            let found = with_threads(3, || model.largest_listed(count, Memory::default()).expect("finite"));
            let expected = order.iter().take(count).map(|&k| map.monomial(k).expect("listed"));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{count}");
        }
    }
}
