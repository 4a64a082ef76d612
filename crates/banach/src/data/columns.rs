//! The columns of a feature matrix, whole or in part, from either storage.

use std::ops::Range;

use faer::MatRef;
use rayon::prelude::*;

use super::feature_matrix::{FeatureMatrix, Storage};
use crate::numeric::{binary_exponent, largest, scale_by_exp2};

/// A feature as it is stored.
pub(crate) struct Column<'a> {
    /// The samples of the values; `None` if every sample has one.
    pub rows: Option<&'a [usize]>,
    pub values: &'a [f64],
}

impl FeatureMatrix<'_> {
    /// A feature as it is stored.
    pub(crate) fn column(&self, column: usize) -> Column<'_> {
        match &self.storage {
            Storage::Dense(values) => Column { rows: None, values: &values[column * self.samples..][..self.samples] },
            Storage::Sparse { starts, rows, values } => {
                let stored = starts[column]..starts[column + 1];
                Column { rows: Some(&rows[stored.clone()]), values: &values[stored] }
            }
        }
    }

    /// The values of one feature, one per sample.
    pub(crate) fn column_into(&self, column: usize, out: &mut [f64]) {
        let Column { rows, values } = self.column(column);
        match rows {
            None => out.copy_from_slice(values),
            Some(rows) => {
                out.fill(0.0);
                rows.iter().zip(values).for_each(|(&row, value)| out[row] = *value);
            }
        }
    }

    /// The values of one sample, one per feature.
    ///
    /// # Panics
    ///
    /// If there is no such sample.
    pub fn row(&self, sample: usize) -> Vec<f64> {
        assert!(sample < self.samples, "samples are numbered from 0");
        let value = |Column { rows, values }: Column<'_>| match rows {
            None => values[sample],
            Some(rows) => rows.binary_search(&sample).map_or(0.0, |at| values[at]),
        };
        (0..self.features).map(|column| value(self.column(column))).collect()
    }

    /// Some samples of some features, column by column: a view of a dense matrix, a copy in the buffer of a sparse one.
    pub(crate) fn panel<'b>(
        &'b self,
        columns: Range<usize>,
        samples: Range<usize>,
        buffer: &'b mut [f64],
    ) -> MatRef<'b, f64> {
        let (n, count) = (samples.len(), columns.len());
        match &self.storage {
            Storage::Dense(values) => {
                let values = &values[columns.start * self.samples..columns.end * self.samples];
                MatRef::from_column_major_slice(values, self.samples, count).subrows(samples.start, n)
            }
            Storage::Sparse { .. } => {
                let buffer = &mut buffer[..n * count];
                for (column, out) in columns.zip(buffer.chunks_mut(n)) {
                    self.column_part(column, samples.clone(), out);
                }
                MatRef::from_column_major_slice(buffer, n, count)
            }
        }
    }

    /// Some samples of one feature: a view of a dense matrix, a copy in the buffer of a sparse one.
    pub(crate) fn column_part<'b>(&'b self, column: usize, samples: Range<usize>, buffer: &'b mut [f64]) -> &'b [f64] {
        let Column { rows, values } = self.column(column);
        let Some(rows) = rows else { return &values[samples] };
        let buffer = &mut buffer[..samples.len()];
        buffer.fill(0.0);
        let part = stored_within(rows, &samples);
        for (row, value) in rows[part.clone()].iter().zip(&values[part]) {
            buffer[row - samples.start] = *value;
        }
        buffer
    }

    /// Multiplies a vector by one feature, entry by entry.
    pub(crate) fn multiply_by_column(&self, column: usize, out: &mut [f64]) {
        let Column { rows, values } = self.column(column);
        let Some(rows) = rows else {
            return out.iter_mut().zip(values).for_each(|(out, x)| *out *= x);
        };
        let mut next = 0;
        for (&row, value) in rows.iter().zip(values) {
            out[next..row].fill(0.0);
            out[row] *= value;
            next = row + 1;
        }
        out[next..].fill(0.0);
    }

    /// For each feature, the exponent of the power of two that divides its entries to at most 1.
    pub(crate) fn column_exponents(&self) -> Vec<f64> {
        (0..self.features).map(|column| f64::from(binary_exponent(largest(self.column(column).values)))).collect()
    }

    /// The exponent of the power of two that divides the entries of all these features to at most 1.
    pub(crate) fn exponent_of(&self, columns: &[usize]) -> f64 {
        let sizes = columns.par_iter().with_min_len(64).map(|&column| largest(self.column(column).values));
        f64::from(binary_exponent(sizes.reduce(|| 0.0, f64::max)))
    }

    /// For each sample its largest entry in magnitude, and the feature that has it. Feature j is first divided by
    /// `2^exponents[j]`, if there are exponents.
    pub(crate) fn sample_sizes(&self, exponents: &[f64]) -> Vec<(f64, usize)> {
        let mut sizes = vec![(0.0, 0); self.samples];
        let mut column = vec![0.0; self.samples];
        for j in 0..self.features {
            self.column_into(j, &mut column);
            if let Some(exponent) = exponents.get(j) {
                column.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -exponent));
            }
            for (size, x) in sizes.iter_mut().zip(&column).filter(|(size, x)| x.abs() > size.0) {
                *size = (x.abs(), j);
            }
        }
        sizes
    }
}

/// Where the samples of a range are among the increasing `rows` of a sparse column.
pub(super) fn stored_within(rows: &[usize], samples: &Range<usize>) -> Range<usize> {
    let place = |row: usize| rows.partition_point(|&stored| stored < row);
    place(samples.start)..place(samples.end)
}
