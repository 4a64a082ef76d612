//! Matrices made from another one: of some of its samples, or with its entries changed.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    columns::stored_within,
    feature_matrix::{FeatureMatrix, Storage},
};
use crate::{Error, numeric::scale_by_exp2};

/// Columns that are worth the attention of another thread.
pub(crate) const COLUMNS_AT_ONCE: usize = 256;

impl FeatureMatrix<'_> {
    /// The matrix with feature j divided by `2^exponents[j]`.
    pub(crate) fn scaled_columns(&self, exponents: &[f64]) -> Result<FeatureMatrix<'static>, Error> {
        let divided = |column: usize| {
            let exponent = -exponents[column];
            self.column(column).values.iter().map(move |x| scale_by_exp2(*x, exponent))
        };
        self.with_values((0..self.features).flat_map(divided).collect())
    }

    /// The moduli of the entries.
    pub(crate) fn moduli(&self) -> Result<FeatureMatrix<'static>, Error> {
        self.with_values(self.storage.values().iter().map(|value| value.abs()).collect())
    }

    /// The matrix with other numbers in place of those that are stored.
    fn with_values(&self, values: Vec<f64>) -> Result<FeatureMatrix<'static>, Error> {
        let matrix = match &self.storage {
            Storage::Dense(_) => FeatureMatrix::from_columns(self.samples, self.features, values),
            Storage::Sparse { starts, rows, .. } => {
                FeatureMatrix::from_sparse_columns(self.samples, self.features, starts.to_vec(), rows.to_vec(), values)
            }
        };
        Ok(matrix?.with_excluded(self.excluded().cloned()))
    }

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
