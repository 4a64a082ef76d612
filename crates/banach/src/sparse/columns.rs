//! WorkingColumns at hand: some terms of a dictionary, written out.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::numeric::dot_in_lanes;

/// Some terms of a dictionary by their numbers, as columns of unit length one after another.
#[derive(Debug, Clone)]
pub(crate) struct WorkingColumns {
    samples: usize,
    values: Vec<f64>,
    numbers: Vec<u64>,
    places: HashMap<u64, usize>,
}

impl WorkingColumns {
    /// None yet.
    pub(crate) fn new(samples: usize) -> Self {
        Self { samples, values: Vec::new(), numbers: Vec::new(), places: HashMap::new() }
    }

    /// Adds a term that is not there yet.
    pub(crate) fn push(&mut self, number: u64, column: &[f64]) -> usize {
        debug_assert!(!self.places.contains_key(&number) && column.len() == self.samples);
        self.values.extend_from_slice(column);
        self.numbers.push(number);
        self.places.insert(number, self.numbers.len() - 1);
        self.numbers.len() - 1
    }

    /// The number of samples, n.
    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Where a term is.
    pub(crate) fn place(&self, number: u64) -> Option<usize> {
        self.places.get(&number).copied()
    }

    /// The number of a term in the dictionary.
    pub(crate) fn number(&self, place: usize) -> u64 {
        self.numbers[place]
    }

    /// The values of a term.
    pub(crate) fn column(&self, place: usize) -> &[f64] {
        &self.values[place * self.samples..][..self.samples]
    }

    /// The products of all columns with a vector.
    pub(crate) fn products(&self, vector: &[f64]) -> Vec<f64> {
        self.values.par_chunks(self.samples).with_min_len(256).map(|column| dot_in_lanes(column, vector)).collect()
    }

    /// All values, one column after another.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}
