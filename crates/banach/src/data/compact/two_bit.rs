//! Columns of at most four different numbers, two bits for each entry.

use std::{array::from_fn, borrow::Cow, ops::Range, sync::Arc};

use crate::numeric::scale_by_exp2;

/// Entries in a byte, the first in its lowest bits.
pub(super) const PER_BYTE: usize = 4;

/// Columns of codes from 0 to 3, whole bytes for each column, and what the codes of every column mean.
#[derive(Clone)]
pub(in crate::data) struct TwoBit<'a> {
    samples: usize,
    bytes: Cow<'a, [u8]>,
    levels: Arc<[[f64; 4]]>,
}

/// The code of a sample.
fn code(bytes: &[u8], sample: usize) -> usize {
    usize::from(bytes[sample / PER_BYTE] >> (2 * (sample % PER_BYTE)) & 3)
}

impl<'a> TwoBit<'a> {
    pub(super) fn new(samples: usize, bytes: Cow<'a, [u8]>, levels: Arc<[[f64; 4]]>) -> Self {
        Self { samples, bytes, levels }
    }

    fn column(&self, column: usize) -> &[u8] {
        let length = self.samples.div_ceil(PER_BYTE);
        &self.bytes[column * length..][..length]
    }

    pub(super) fn decode(&self, column: usize, samples: Range<usize>, out: &mut [f64]) {
        let (bytes, levels) = (self.column(column), self.levels[column]);
        // Whole bytes, between the entries of the bytes at both ends.
        let start = samples.start.next_multiple_of(PER_BYTE).min(samples.end);
        let (first, rest) = out.split_at_mut(start - samples.start);
        let (whole, last) = rest.as_chunks_mut::<PER_BYTE>();
        let end = samples.end - last.len();
        first.iter_mut().zip(samples.start..).for_each(|(out, i)| *out = levels[code(bytes, i)]);
        last.iter_mut().zip(end..).for_each(|(out, i)| *out = levels[code(bytes, i)]);
        let pairs: [[f64; 2]; 16] = from_fn(|codes| [levels[codes & 3], levels[codes >> 2]]);
        for (out, byte) in whole.iter_mut().zip(&bytes[start / PER_BYTE..]) {
            let [low, high] = [pairs[usize::from(byte & 15)], pairs[usize::from(byte >> 4)]];
            *out = [low[0], low[1], high[0], high[1]];
        }
    }

    pub(super) fn view(&self) -> TwoBit<'_> {
        TwoBit { samples: self.samples, bytes: Cow::Borrowed(&self.bytes), levels: self.levels.clone() }
    }

    pub(super) fn into_owned(self) -> TwoBit<'static> {
        let Self { samples, bytes, levels } = self;
        TwoBit { samples, bytes: Cow::Owned(bytes.into_owned()), levels }
    }

    pub(super) fn into_moduli(self) -> Self {
        self.with_levels(|_, level| level.abs())
    }

    pub(super) fn into_scaled(self, exponents: &[f64]) -> Self {
        self.with_levels(|column, level| scale_by_exp2(level, -exponents[column]))
    }

    pub(super) fn into_rescaled(self, centres: &[f64], factors: &[f64]) -> Self {
        self.with_levels(|column, level| (level - centres[column]) * factors[column])
    }

    fn with_levels(self, change: impl Fn(usize, f64) -> f64) -> Self {
        let levels = self.levels.iter().enumerate();
        let levels = levels.map(|(column, levels)| levels.map(|level| change(column, level))).collect();
        Self { levels, ..self }
    }

    pub(super) fn select_samples(&self, samples: &[usize]) -> TwoBit<'static> {
        let length = samples.len().div_ceil(PER_BYTE);
        let mut chosen = vec![0; length * self.levels.len()];
        for (column, chosen) in chosen.chunks_mut(length.max(1)).enumerate() {
            let bytes = self.column(column);
            for (at, &i) in samples.iter().enumerate() {
                chosen[at / PER_BYTE] |= (code(bytes, i) as u8) << (2 * (at % PER_BYTE));
            }
        }
        TwoBit { samples: samples.len(), bytes: Cow::Owned(chosen), levels: self.levels.clone() }
    }

    pub(super) fn select_columns(&self, chosen: &[usize]) -> TwoBit<'static> {
        let bytes = chosen.iter().flat_map(|&j| self.column(j)).copied().collect();
        let levels = chosen.iter().map(|&j| self.levels[j]).collect();
        TwoBit { samples: self.samples, bytes: Cow::Owned(bytes), levels }
    }
}
