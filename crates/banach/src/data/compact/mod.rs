//! Dense columns in fewer bytes than f64: f32, i8, and genotypes of two bits.
//!
//! What reads them decodes some columns into a buffer that stays in a cache, and computes in f64 with that. An answer is that of the
//! decoded matrix, to the last bit. A column can have units of its own: the numbers are stored as they were given, and moved and
//! scaled when they are decoded.

mod construction;
mod genotypes;
mod numbers;
mod two_bit;

#[cfg(test)]
pub(super) mod laws;

use std::ops::Range;

pub use genotypes::Genotypes;
use numbers::Numbers;
use two_bit::TwoBit;

/// The columns of a matrix in fewer bytes than f64.
#[derive(Clone)]
pub(super) enum Compact<'a> {
    F32(Numbers<'a, f32>),
    I8(Numbers<'a, i8>),
    TwoBit(TwoBit<'a>),
}

/// Something that all three can do.
macro_rules! each {
    ($compact:expr, $columns:ident => $done:expr) => {
        match $compact {
            Compact::F32($columns) => $done,
            Compact::I8($columns) => $done,
            Compact::TwoBit($columns) => $done,
        }
    };
}

/// Something that makes columns of the same kind.
macro_rules! each_kept {
    ($compact:expr, $columns:ident => $done:expr) => {
        match $compact {
            Compact::F32($columns) => Compact::F32($done),
            Compact::I8($columns) => Compact::I8($done),
            Compact::TwoBit($columns) => Compact::TwoBit($done),
        }
    };
}

/// Entries that are decoded together where nobody keeps them.
const PART: usize = 256;

impl Compact<'_> {
    /// Some samples of a column.
    pub(super) fn decode(&self, column: usize, samples: Range<usize>, out: &mut [f64]) {
        each!(self, columns => columns.decode(column, samples, out));
    }

    /// Some samples of columns next to each other, one column after another, at the start of the buffer.
    pub(super) fn decode_columns<'b>(
        &self,
        columns: Range<usize>,
        samples: &Range<usize>,
        buffer: &'b mut [f64],
    ) -> &'b [f64] {
        let out = &mut buffer[..columns.len() * samples.len()];
        each!(self, stored => {
            for (column, out) in columns.zip(out.chunks_mut(samples.len().max(1))) {
                stored.decode(column, samples.clone(), out);
            }
        });
        out
    }

    /// Looks at the numbers of a column, some samples at a time.
    pub(super) fn visit(&self, column: usize, samples: usize, mut look: impl FnMut(Range<usize>, &[f64])) {
        let mut part = [0.0; PART];
        for first in (0..samples).step_by(PART) {
            let range = first..(first + PART).min(samples);
            let part = &mut part[..range.len()];
            self.decode(column, range.clone(), part);
            look(range, part);
        }
    }

    /// The same columns without a copy.
    pub(super) fn view(&self) -> Compact<'_> {
        each_kept!(self, columns => columns.view())
    }

    /// The same columns with data of their own.
    pub(super) fn into_owned(self) -> Compact<'static> {
        each_kept!(self, columns => columns.into_owned())
    }

    /// The moduli of the entries.
    pub(super) fn into_moduli(self) -> Self {
        each_kept!(self, columns => columns.into_moduli())
    }

    /// Every column j divided by `2^exponents[j]`.
    pub(super) fn into_scaled(self, exponents: &[f64]) -> Self {
        each_kept!(self, columns => columns.into_scaled(exponents))
    }

    /// Every column less a centre and times a factor.
    pub(super) fn into_rescaled(self, centres: &[f64], factors: &[f64]) -> Self {
        each_kept!(self, columns => columns.into_rescaled(centres, factors))
    }

    /// Some of the samples, in any order.
    pub(super) fn select_samples(&self, samples: &[usize]) -> Compact<'static> {
        each_kept!(self, columns => columns.select_samples(samples))
    }

    /// Some of the columns.
    pub(super) fn select_columns(&self, chosen: &[usize]) -> Compact<'static> {
        each_kept!(self, columns => columns.select_columns(chosen))
    }
}
