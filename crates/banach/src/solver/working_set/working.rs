//! The features at hand.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hasher},
};

use crate::form::Endpoint;

/// Some features with their values, in the order in which they came. Of features that are the same but for their sign, one is enough: their
/// products with dual vectors are the same.
#[derive(Debug, Default)]
pub(super) struct WorkingSet {
    features: Vec<u64>,
    /// One column after another, over all samples.
    values: Vec<f64>,
    places: HashMap<u64, usize>,
    /// Of the columns, up to their sign.
    hashes: HashSet<u64>,
    /// The largest `(mean/deviation)^2`.
    spread: f64,
}

impl WorkingSet {
    /// Takes a feature; returns whether it is a new one.
    pub(super) fn join(&mut self, feature: u64, form: &Endpoint<'_>, samples: usize) -> bool {
        if self.places.contains_key(&feature) {
            return false;
        }
        let start = self.values.len();
        self.values.resize(start + samples, 0.0);
        let column = &mut self.values[start..];
        form.column_into(feature, column);
        if !self.hashes.insert(hash(column)) {
            self.values.truncate(start);
            return false;
        }
        self.spread = self.spread.max(form.spread(feature));
        self.places.insert(feature, self.features.len());
        self.features.push(feature);
        true
    }

    /// Whether a feature is at hand.
    pub(super) fn has(&self, feature: u64) -> bool {
        self.places.contains_key(&feature)
    }

    /// The numbers of the features.
    pub(super) fn features(&self) -> &[u64] {
        &self.features
    }

    /// The values of a feature.
    pub(super) fn column(&self, place: usize) -> &[f64] {
        let samples = self.values.len() / self.features.len().max(1);
        &self.values[place * samples..][..samples]
    }

    /// The largest `(mean/deviation)^2` of a feature that is standardised.
    pub(super) fn spread(&self) -> f64 {
        self.spread
    }

    /// The columns at some samples.
    pub(super) fn rows(&self, samples: &[usize]) -> Vec<f64> {
        (0..self.features.len()).flat_map(|place| samples.iter().map(move |&i| self.column(place)[i])).collect()
    }
}

/// A number for a column, the same for its negative.
fn hash(column: &[f64]) -> u64 {
    let negative = column.iter().find(|value| **value != 0.0).is_some_and(|value| *value < 0.0);
    let mut hasher = DefaultHasher::new();
    // Adding 0 leaves no negative zero.
    column.iter().for_each(|value| hasher.write_u64((if negative { -value } else { *value } + 0.0).to_bits()));
    hasher.finish()
}
