//! Matrices made from another one: of some of its samples, or with its entries changed.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    columns::stored_within,
    compact::Compact,
    feature_matrix::{FeatureMatrix, Storage},
};
use crate::{Error, numeric::scale_by_exp2};

/// Columns that are worth the attention of another thread.
pub(crate) const COLUMNS_AT_ONCE: usize = 256;

impl<'a> FeatureMatrix<'a> {
    /// The matrix with feature j divided by `2^exponents[j]`.
    pub(crate) fn into_scaled_columns(self, exponents: &[f64]) -> Result<Self, Error> {
        self.with_stored(
            |columns| columns.into_scaled(exponents),
            |column, values| values.iter_mut().for_each(|x| *x = scale_by_exp2(*x, -exponents[column])),
        )
    }

    /// The moduli of the entries.
    pub(crate) fn into_moduli(self) -> Result<Self, Error> {
        self.with_stored(Compact::into_moduli, |_, values| values.iter_mut().for_each(|x| *x = x.abs()))
    }

    /// The matrix with other entries in the same storage: compact columns as a whole, or the numbers that are stored of each column.
    pub(super) fn with_stored(
        self,
        of_compact: impl FnOnce(Compact<'a>) -> Compact<'a>,
        change: impl Fn(usize, &mut [f64]),
    ) -> Result<Self, Error> {
        let (samples, features, excluded) = (self.samples, self.features, self.excluded().cloned());
        let matrix = match self.storage {
            Storage::Dense(values) => {
                let mut values = values.into_owned();
                values.chunks_mut(samples).enumerate().for_each(|(column, values)| change(column, values));
                Self::from_columns(samples, features, values)
            }
            Storage::Sparse { starts, rows, values } => {
                let mut values = values.into_owned();
                let ends = starts.windows(2).enumerate();
                ends.for_each(|(column, ends)| change(column, &mut values[ends[0]..ends[1]]));
                Self::from_sparse_columns(samples, features, starts, rows, values)
            }
            Storage::Compact(columns) => Self::from_compact(samples, features, of_compact(columns)),
        };
        Ok(matrix?.with_excluded(excluded))
    }

    /// Every column j less `centres[j]` and times `factors[j]`. Compact columns keep the numbers that they were given and change them as
    /// they are read; a sparse matrix becomes dense where something is taken off.
    ///
    /// ```
    /// use banach::FeatureMatrix;
    ///
    /// let x = FeatureMatrix::from_columns_i8(2, 1, &[3_i8, 7][..])?.rescaled(&[5.0], &[0.5])?;
    /// assert_eq!([x.row(0), x.row(1)], [[-1.0], [1.0]]);
    /// # Ok::<(), banach::Error>(())
    /// ```
    pub fn rescaled(self, centres: &[f64], factors: &[f64]) -> Result<Self, Error> {
        Error::check_length("the centres", centres.len(), self.features)?;
        Error::check_length("the factors", factors.len(), self.features)?;
        Error::check_values("the centres", centres, "finite numbers", f64::is_finite)?;
        Error::check_values("the factors", factors, "normal numbers other than 0", f64::is_normal)?;
        let change = |column: usize, values: &mut [f64]| {
            let (centre, factor) = (centres[column], factors[column]);
            values.iter_mut().for_each(|x| *x = (*x - centre) * factor);
        };
        if self.is_sparse() && centres.iter().any(|centre| *centre != 0.0) {
            return self.map_columns(change);
        }
        self.with_stored(|columns| columns.into_rescaled(centres, factors), change)
    }
}

impl FeatureMatrix<'_> {
    /// The matrix, dense, with each feature changed.
    pub(crate) fn map_columns(
        &self,
        mut change: impl FnMut(usize, &mut [f64]),
    ) -> Result<FeatureMatrix<'static>, Error> {
        let mut values = vec![0.0; self.samples * self.features];
        for (column, out) in values.chunks_mut(self.samples).enumerate() {
            self.column_into(column, out);
            change(column, out);
        }
        let matrix = FeatureMatrix::from_columns(self.samples, self.features, values)?;
        Ok(matrix.with_excluded(self.excluded().cloned()))
    }

    /// The matrix with each feature changed, in its own memory if it is dense and its own.
    pub(crate) fn into_mapped(
        self,
        change: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<FeatureMatrix<'static>, Error> {
        let (samples, features, excluded) = (self.samples, self.features, self.excluded().cloned());
        let Storage::Dense(values) = self.storage else { return self.map_columns(change) };
        let mut values = values.into_owned();
        let each = values.par_chunks_mut(samples).with_min_len(COLUMNS_AT_ONCE).enumerate();
        each.for_each(|(column, values)| change(column, values));
        Ok(FeatureMatrix::from_columns(samples, features, values)?.with_excluded(excluded))
    }

    /// The matrix of the given samples, in any order.
    pub(crate) fn select_samples(&self, samples: &[usize]) -> Result<FeatureMatrix<'static>, Error> {
        let n = self.samples;
        if let Some(row) = samples.iter().position(|&i| i >= n) {
            let allowed = "sample numbers below n";
            return Err(Error::BadValue { what: "samples", row, value: samples[row] as f64, allowed });
        }
        let matrix = match &self.storage {
            Storage::Dense(values) => {
                let columns: Vec<f64> =
                    values.chunks(n).flat_map(|column| samples.iter().map(|&i| column[i])).collect();
                FeatureMatrix::from_columns(samples.len(), self.features, columns)
            }
            Storage::Compact(columns) => {
                FeatureMatrix::from_compact(samples.len(), self.features, columns.select_samples(samples))
            }
            Storage::Sparse { .. } => {
                let mut column = vec![0.0; n];
                let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
                for j in 0..self.features {
                    self.column_into(j, &mut column);
                    let kept = samples.iter().map(|&i| column[i]).enumerate().filter(|(_, value)| *value != 0.0);
                    kept.for_each(|(row, value)| {
                        rows.push(row);
                        values.push(value);
                    });
                    starts.push(rows.len());
                }
                FeatureMatrix::from_sparse_columns(samples.len(), self.features, starts, rows, values)
            }
        };
        Ok(matrix?.with_excluded(self.excluded().cloned()))
    }

    /// The matrix of consecutive samples.
    pub(crate) fn sample_range(&self, range: Range<usize>) -> Result<FeatureMatrix<'static>, Error> {
        let matrix = match &self.storage {
            Storage::Dense(values) => {
                let columns = values.chunks(self.samples).flat_map(|column| &column[range.clone()]).copied();
                FeatureMatrix::from_columns(range.len(), self.features, columns.collect::<Vec<_>>())
            }
            Storage::Compact(columns) => {
                let samples: Vec<usize> = range.clone().collect();
                FeatureMatrix::from_compact(range.len(), self.features, columns.select_samples(&samples))
            }
            Storage::Sparse { starts, rows, values } => {
                let (mut new_starts, mut new_rows, mut new_values) = (vec![0], Vec::new(), Vec::new());
                for ends in starts.windows(2) {
                    let (rows, values) = (&rows[ends[0]..ends[1]], &values[ends[0]..ends[1]]);
                    let kept = stored_within(rows, &range);
                    new_rows.extend(rows[kept.clone()].iter().map(|row| row - range.start));
                    new_values.extend_from_slice(&values[kept]);
                    new_starts.push(new_rows.len());
                }
                FeatureMatrix::from_sparse_columns(range.len(), self.features, new_starts, new_rows, new_values)
            }
        };
        Ok(matrix?.with_excluded(self.excluded().cloned()))
    }
}
