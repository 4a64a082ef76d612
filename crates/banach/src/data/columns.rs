//! The columns of a feature matrix, whole or in part, from any storage.

use std::ops::Range;

use faer::MatRef;
use rayon::prelude::*;

use super::{
    compact::Compact,
    feature_matrix::{FeatureMatrix, Storage},
};
use crate::numeric::{binary_exponent, largest, scale_by_exp2, vectorised};

/// A feature as it is stored.
pub(crate) struct Column<'a> {
    /// The samples of the values; `None` if every sample has one.
    pub rows: Option<&'a [usize]>,
    pub values: &'a [f64],
}

impl FeatureMatrix<'_> {
    /// A feature: where it is stored as numbers, and else in the buffer.
    pub(crate) fn column<'b>(&'b self, column: usize, buffer: &'b mut Vec<f64>) -> Column<'b> {
        self.stored_column(column).unwrap_or_else(|columns| {
            buffer.resize(self.samples, 0.0);
            columns.decode(column, 0..self.samples, buffer);
            Column { rows: None, values: buffer }
        })
    }

    /// A feature where it is stored as numbers; the columns that are not.
    pub(super) fn stored_column(&self, column: usize) -> Result<Column<'_>, &Compact<'_>> {
        match &self.storage {
            Storage::Dense(values) => {
                Ok(Column { rows: None, values: &values[column * self.samples..][..self.samples] })
            }
            Storage::Sparse { starts, rows, values } => {
                let stored = starts[column]..starts[column + 1];
                Ok(Column { rows: Some(&rows[stored.clone()]), values: &values[stored] })
            }
            Storage::Compact(columns) => Err(columns),
        }
    }

    /// The samples and the values of the entries of a feature that are stored; `None` where all are.
    pub(crate) fn sparse_column(&self, column: usize) -> Option<(&[usize], &[f64])> {
        let Column { rows, values } = self.stored_column(column).ok()?;
        rows.map(|rows| (rows, values))
    }

    /// The values of one feature, one per sample.
    ///
    /// # Panics
    ///
    /// If there is no such feature, or `out` has another length than there are samples.
    pub fn column_into(&self, column: usize, out: &mut [f64]) {
        assert!(column < self.features && out.len() == self.samples, "one number for each sample of a feature");
        match self.stored_column(column) {
            Ok(Column { rows: None, values }) => out.copy_from_slice(values),
            Ok(Column { rows: Some(rows), values }) => {
                out.fill(0.0);
                rows.iter().zip(values).for_each(|(&row, value)| out[row] = *value);
            }
            Err(columns) => columns.decode(column, 0..self.samples, out),
        }
    }

    /// The values of one feature, each times a factor.
    pub(crate) fn scaled_column_into(&self, column: usize, factor: f64, out: &mut [f64]) {
        match self.stored_column(column) {
            Ok(Column { rows: None, values }) => vectorised(
                #[inline(always)]
                move || out.iter_mut().zip(values).for_each(|(out, x)| *out = factor * x),
            ),
            Ok(Column { rows: Some(rows), values }) => {
                out.fill(0.0);
                rows.iter().zip(values).for_each(|(&row, x)| out[row] = factor * x);
            }
            Err(columns) => {
                columns.decode(column, 0..self.samples, out);
                out.iter_mut().for_each(|x| *x *= factor);
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
        let value = |column: usize| match self.stored_column(column) {
            Ok(Column { rows: None, values }) => values[sample],
            Ok(Column { rows: Some(rows), values }) => rows.binary_search(&sample).map_or(0.0, |at| values[at]),
            Err(columns) => {
                let mut value = [0.0];
                columns.decode(column, sample..sample + 1, &mut value);
                value[0]
            }
        };
        (0..self.features).map(value).collect()
    }

    /// Some samples of some features, column by column: a view of what is stored as it is, and else a copy in the buffer.
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
            Storage::Compact(stored) => {
                MatRef::from_column_major_slice(stored.decode_columns(columns, &samples, buffer), n, count)
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

    /// Some samples of one feature: a view of what is stored as it is, and else a copy in the buffer.
    pub(crate) fn column_part<'b>(&'b self, column: usize, samples: Range<usize>, buffer: &'b mut [f64]) -> &'b [f64] {
        let (rows, values) = match self.stored_column(column) {
            Ok(Column { rows: None, values }) => return &values[samples],
            Ok(Column { rows: Some(rows), values }) => (rows, values),
            Err(columns) => return columns.decode_columns(column..column + 1, &samples, buffer),
        };
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
        let multiply = |out: &mut [f64], values: &[f64]| out.iter_mut().zip(values).for_each(|(out, x)| *out *= x);
        let (rows, values) = match self.stored_column(column) {
            Ok(Column { rows: None, values }) => return multiply(out, values),
            Ok(Column { rows: Some(rows), values }) => (rows, values),
            Err(columns) => {
                return columns.visit(column, self.samples, |samples, values| multiply(&mut out[samples], values));
            }
        };
        let mut next = 0;
        for (&row, value) in rows.iter().zip(values) {
            out[next..row].fill(0.0);
            out[row] *= value;
            next = row + 1;
        }
        out[next..].fill(0.0);
    }

    /// The largest magnitude of an entry of a feature.
    fn column_size(&self, column: usize) -> f64 {
        match self.stored_column(column) {
            Ok(Column { values, .. }) => largest(values),
            Err(columns) => {
                let mut size = 0.0_f64;
                columns.visit(column, self.samples, |_, values| size = size.max(largest(values)));
                size
            }
        }
    }

    /// For each feature, the exponent of the power of two that divides its entries to at most 1.
    pub(crate) fn column_exponents(&self) -> Vec<f64> {
        (0..self.features).map(|column| f64::from(binary_exponent(self.column_size(column)))).collect()
    }

    /// The exponent of the power of two that divides the entries of all these features to at most 1.
    pub(crate) fn exponent_of(&self, columns: &[usize]) -> f64 {
        let sizes = columns.par_iter().with_min_len(64).map(|&column| self.column_size(column));
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
