//! Consecutive features of a matrix, as a pass reads them: several times, from a cache.
//!
//! Compact columns are decoded into a buffer, a few at a time: they stay in a first-level cache while they are used, and are decoded again
//! for the next product, so that only what is stored moves through the larger caches. Products are to the last bit those of the decoded block.

use std::ops::Range;

use super::{
    compact::Compact,
    feature_matrix::{FeatureMatrix, Storage},
    number_block::{BlockEntries, MOST_BY_COLUMNS, NumberBlock},
};

/// Numbers that are decoded together, if they are those of several columns: half of a first-level cache of 32 KB.
const DECODED: usize = 2048;
/// Columns that are decoded together are a multiple of those that products handle together.
const TOGETHER: usize = 4;

/// Some features next to each other.
#[derive(Clone, Copy)]
pub(crate) enum FeatureBlock<'b> {
    Numbers(NumberBlock<'b>),
    Compact(CompactBlock<'b>),
}

/// Some compact columns next to each other.
#[derive(Clone, Copy)]
pub(crate) struct CompactBlock<'b> {
    samples: usize,
    stored: &'b Compact<'b>,
    first: usize,
    width: usize,
}

impl FeatureMatrix<'_> {
    /// Some features next to each other.
    pub(crate) fn block(&self, columns: Range<usize>) -> FeatureBlock<'_> {
        let (samples, width) = (self.samples, columns.len());
        let entries = match &self.storage {
            Storage::Dense(values) => BlockEntries::Dense(&values[columns.start * samples..columns.end * samples]),
            Storage::Sparse { starts, rows, values } => {
                BlockEntries::Sparse { starts: &starts[columns.start..=columns.end], rows, values }
            }
            Storage::Compact(stored) => {
                return FeatureBlock::Compact(CompactBlock { samples, stored, first: columns.start, width });
            }
        };
        FeatureBlock::Numbers(NumberBlock { samples, width, entries })
    }
}

impl FeatureBlock<'_> {
    /// The squares of the norms of the features.
    pub(crate) fn squares(self, buffer: &mut Vec<f64>, out: &mut [f64]) {
        match self {
            FeatureBlock::Numbers(block) => block.squares(out),
            FeatureBlock::Compact(block) => block.in_groups(buffer, |at, group| group.squares(&mut out[at])),
        }
    }

    /// Adds `|x|^power` of the entries to the sums of their samples, for power 2 or 4.
    pub(crate) fn add_row_powers(self, power: u32, buffer: &mut Vec<f64>, sums: &mut [f64]) {
        match self {
            FeatureBlock::Numbers(block) => block.add_row_powers(power, sums),
            FeatureBlock::Compact(block) => block.in_groups(buffer, |_, group| group.add_row_powers(power, sums)),
        }
    }

    /// `u = Phi_b' a` for n-vectors `a`, one after another. `rows` is `a` transposed, and `turned` working memory of the size of `u`, where
    /// there is more than one.
    pub(crate) fn adjoint(self, a: &[f64], rows: &[f64], buffer: &mut Vec<f64>, u: &mut [f64], turned: &mut [f64]) {
        let block = match self {
            FeatureBlock::Numbers(block) => return block.adjoint(a, rows, u, turned),
            FeatureBlock::Compact(block) => block,
        };
        match a.len() / block.samples {
            1 => block.in_groups(buffer, |at, group| group.adjoint(a, rows, &mut u[at], &mut [])),
            count if count <= MOST_BY_COLUMNS => block.in_groups(buffer, |at, group| {
                let part = &mut turned[..group.width * count];
                group.adjoint(a, rows, part, &mut []);
                let vectors = part.chunks(group.width).zip(u.chunks_mut(block.width));
                vectors.for_each(|(part, u)| u[at.clone()].copy_from_slice(part));
            }),
            _ => block.decoded(0..block.width, buffer).adjoint(a, rows, u, turned),
        }
    }

    /// `out += Phi_b w` for vectors `w` and n-vectors `out`, one after another.
    pub(crate) fn apply(self, w: &[f64], buffer: &mut Vec<f64>, out: &mut [f64]) {
        match self {
            FeatureBlock::Numbers(block) => block.apply(w, out),
            FeatureBlock::Compact(block) if out.len() == block.samples => {
                block.in_groups(buffer, |at, group| group.apply(&w[at], out));
            }
            FeatureBlock::Compact(block) => block.decoded(0..block.width, buffer).apply(w, out),
        }
    }
}

impl CompactBlock<'_> {
    /// Looks at all columns, a few at a time, with their numbers in the block.
    fn in_groups(self, buffer: &mut Vec<f64>, mut look: impl FnMut(Range<usize>, NumberBlock<'_>)) {
        let together = TOGETHER * (DECODED / (TOGETHER * self.samples)).max(1);
        for start in (0..self.width).step_by(together) {
            let group = start..(start + together).min(self.width);
            look(group.clone(), self.decoded(group, buffer));
        }
    }

    /// Some of the columns, decoded.
    fn decoded(self, columns: Range<usize>, buffer: &mut Vec<f64>) -> NumberBlock<'_> {
        let Self { samples, stored, first, .. } = self;
        let width = columns.len();
        if buffer.len() < width * samples {
            buffer.resize(width * samples, 0.0);
        }
        let values = stored.decode_columns(first + columns.start..first + columns.end, &(0..samples), buffer);
        NumberBlock { samples, width, entries: BlockEntries::Dense(values) }
    }
}
