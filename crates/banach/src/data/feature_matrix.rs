//! The matrix `Phi_n` of (23) `[featmat]`: n samples by card(K) features.

use std::{borrow::Cow, fmt, ops::Range};

use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use rayon::prelude::*;

use super::{stream, sweep::Layout};
use crate::{
    Error,
    numeric::{binary_exponent, dot, largest, scale_by_exp2},
};

/// Largest magnitude of an entry. Sums of products of such entries with scaled dual vectors stay finite.
pub(crate) const MAX_ENTRY: f64 = 1e200;

/// A checked feature matrix: feature-major (a feature's n values are contiguous), dense or sparse.
///
/// Every entry is finite and at most 1e200 in magnitude. Data that already have the right layout
/// are borrowed, not copied.
#[derive(Clone)]
pub struct FeatureMatrix<'a> {
    samples: usize,
    features: usize,
    storage: Storage<'a>,
    layout: Layout,
}

#[derive(Clone)]
enum Storage<'a> {
    /// Column-major values.
    Dense(Cow<'a, [f64]>),
    /// Compressed sparse columns.
    Sparse { starts: Cow<'a, [usize]>, rows: Cow<'a, [usize]>, values: Cow<'a, [f64]> },
}

/// What a matrix stores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entries<'a> {
    /// Every entry, one column after another.
    Dense(&'a [f64]),
    /// Compressed columns, as [`FeatureMatrix::from_sparse_columns`] takes them.
    Sparse {
        /// Where every column starts, and the end of the last.
        starts: &'a [usize],
        /// The row of every stored entry.
        rows: &'a [usize],
        /// The stored entries.
        values: &'a [f64],
    },
}

impl Storage<'_> {
    fn values(&self) -> &[f64] {
        match self {
            Storage::Dense(values) | Storage::Sparse { values, .. } => values,
        }
    }
}

impl<'a> FeatureMatrix<'a> {
    /// A dense matrix from its columns, one after another.
    pub fn from_columns(samples: usize, features: usize, values: impl Into<Cow<'a, [f64]>>) -> Result<Self, Error> {
        let values = values.into();
        check_size(samples, features, values.len())?;
        if let Some(at) = first_bad(&values) {
            return Err(bad_entry(at % samples, at / samples, values[at]));
        }
        Ok(Self::checked(samples, features, Storage::Dense(values)))
    }

    /// A dense matrix from its rows, one after another; they are transposed into a new buffer.
    pub fn from_rows(samples: usize, features: usize, values: &[f64]) -> Result<Self, Error> {
        check_size(samples, features, values.len())?;
        if let Some(at) = first_bad(values) {
            return Err(bad_entry(at / features, at % features, values[at]));
        }
        let mut columns = vec![0.0; values.len()];
        MatMut::from_column_major_slice_mut(&mut columns, samples, features)
            .copy_from(MatRef::from_row_major_slice(values, samples, features));
        Ok(Self::checked(samples, features, Storage::Dense(columns.into())))
    }

    /// A sparse matrix in compressed columns: column k holds `values[starts[k]..starts[k+1]]` in the
    /// increasing rows `rows[starts[k]..starts[k+1]]`.
    pub fn from_sparse_columns(
        samples: usize,
        features: usize,
        starts: impl Into<Cow<'a, [usize]>>,
        rows: impl Into<Cow<'a, [usize]>>,
        values: impl Into<Cow<'a, [f64]>>,
    ) -> Result<Self, Error> {
        let (starts, rows, values) = (starts.into(), rows.into(), values.into());
        if samples == 0 || features == 0 {
            return Err(Error::Empty { what: "X" });
        }
        if features.checked_add(1) != Some(starts.len()) {
            return Err(Error::Shape {
                what: "the column starts of X",
                got: starts.len(),
                expected: features.saturating_add(1),
            });
        }
        if rows.len() != values.len() {
            return Err(Error::Shape { what: "the row indices of X", got: rows.len(), expected: values.len() });
        }
        let wrong = |problem, column| Err(Error::SparseStructure { problem, column });
        if starts[0] != 0 || starts[features] != values.len() {
            return wrong("column starts must run from 0 to the number of values", 0);
        }
        for (column, ends) in starts.windows(2).enumerate() {
            if ends[1] < ends[0] || ends[1] > values.len() {
                return wrong("column starts must not decrease", column);
            }
            let rows = &rows[ends[0]..ends[1]];
            if rows.windows(2).any(|pair| pair[1] <= pair[0]) {
                return wrong("row indices must increase within a column", column);
            }
            if rows.last().is_some_and(|&row| row >= samples) {
                return wrong("a row index is not below the number of samples", column);
            }
            if let Some(at) = first_bad(&values[ends[0]..ends[1]]) {
                return Err(bad_entry(rows[at], column, values[ends[0] + at]));
            }
        }
        Ok(Self::checked(samples, features, Storage::Sparse { starts, rows, values }))
    }

    fn checked(samples: usize, features: usize, storage: Storage<'a>) -> Self {
        let layout = Layout::new(samples, features, storage.values().len());
        Self { samples, features, storage, layout }
    }

    /// The same matrix without a copy.
    pub fn view(&self) -> FeatureMatrix<'_> {
        let storage = match &self.storage {
            Storage::Dense(values) => Storage::Dense(Cow::Borrowed(values)),
            Storage::Sparse { starts, rows, values } => Storage::Sparse {
                starts: Cow::Borrowed(starts),
                rows: Cow::Borrowed(rows),
                values: Cow::Borrowed(values),
            },
        };
        FeatureMatrix { storage, ..*self }
    }

    /// The same matrix with data of its own, which are copied if they were borrowed.
    pub fn into_owned(self) -> FeatureMatrix<'static> {
        let Self { samples, features, storage, layout } = self;
        let storage = match storage {
            Storage::Dense(values) => Storage::Dense(Cow::Owned(values.into_owned())),
            Storage::Sparse { starts, rows, values } => Storage::Sparse {
                starts: Cow::Owned(starts.into_owned()),
                rows: Cow::Owned(rows.into_owned()),
                values: Cow::Owned(values.into_owned()),
            },
        };
        FeatureMatrix { samples, features, storage, layout }
    }

    /// The number of samples, n.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The number of features, card(K).
    pub fn features(&self) -> usize {
        self.features
    }

    /// The number of entries that are stored.
    pub fn stored(&self) -> usize {
        self.storage.values().len()
    }

    /// The entries as they are stored.
    pub fn entries(&self) -> Entries<'_> {
        match &self.storage {
            Storage::Dense(values) => Entries::Dense(values),
            Storage::Sparse { starts, rows, values } => Entries::Sparse { starts, rows, values },
        }
    }

    /// Whether only some of the entries are stored, with their rows.
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The values of one feature, one per sample.
    pub(crate) fn column_into(&self, column: usize, out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => out.copy_from_slice(&values[column * self.samples..(column + 1) * self.samples]),
            Storage::Sparse { starts, rows, values } => {
                out.fill(0.0);
                let stored = starts[column]..starts[column + 1];
                for (&row, &value) in rows[stored.clone()].iter().zip(&values[stored]) {
                    out[row] = value;
                }
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
        let value = |column: usize| match &self.storage {
            Storage::Dense(values) => values[column * self.samples + sample],
            Storage::Sparse { starts, rows, values } => {
                let stored = starts[column]..starts[column + 1];
                rows[stored.clone()].binary_search(&sample).map_or(0.0, |at| values[stored][at])
            }
        };
        (0..self.features).map(value).collect()
    }

    /// Some samples of some features, column by column: where they are if they are stored so, else in the buffer.
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
                    self.scatter(column, samples.clone(), out);
                }
                MatRef::from_column_major_slice(buffer, n, count)
            }
        }
    }

    /// Some samples of one feature, where they are or in the buffer.
    pub(crate) fn column_part<'b>(&'b self, column: usize, samples: Range<usize>, buffer: &'b mut [f64]) -> &'b [f64] {
        match &self.storage {
            Storage::Dense(values) => &values[column * self.samples..][samples],
            Storage::Sparse { .. } => {
                let buffer = &mut buffer[..samples.len()];
                self.scatter(column, samples, buffer);
                buffer
            }
        }
    }

    /// Some samples of one feature of a sparse matrix.
    fn scatter(&self, column: usize, samples: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        if let Storage::Sparse { starts, rows, values } = &self.storage {
            let stored = starts[column]..starts[column + 1];
            let (rows, values) = (&rows[stored.clone()], &values[stored]);
            let place = |row: usize| rows.partition_point(|&stored| stored < row);
            let part = place(samples.start)..place(samples.end);
            for (row, value) in rows[part.clone()].iter().zip(&values[part]) {
                out[row - samples.start] = *value;
            }
        }
    }

    /// Multiplies a vector by one feature, entry by entry.
    pub(crate) fn multiply_by_column(&self, column: usize, out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                let values = &values[column * self.samples..(column + 1) * self.samples];
                out.iter_mut().zip(values).for_each(|(out, x)| *out *= x);
            }
            Storage::Sparse { starts, rows, values } => {
                let mut next = 0;
                let stored = starts[column]..starts[column + 1];
                for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                    out[next..row].fill(0.0);
                    out[row] *= value;
                    next = row + 1;
                }
                out[next..].fill(0.0);
            }
        }
    }

    /// The powers of two that bring the entries of each feature to at most 1.
    pub(crate) fn column_exponents(&self) -> Vec<f64> {
        (0..self.features).map(|column| f64::from(binary_exponent(largest(self.stored_entries(column))))).collect()
    }

    /// The matrix with each feature divided by `2^exponent`.
    pub(crate) fn scaled_columns(&self, exponents: &[f64]) -> Result<FeatureMatrix<'static>, Error> {
        let scaled = |column: usize| self.stored_entries(column).iter().map(move |x| (column, *x));
        let entries = (0..self.features).flat_map(scaled);
        self.with_values(entries.map(|(column, x)| scale_by_exp2(x, -exponents[column])).collect())
    }

    /// The matrix with other numbers in place of those that are stored.
    fn with_values(&self, values: Vec<f64>) -> Result<FeatureMatrix<'static>, Error> {
        match &self.storage {
            Storage::Dense(_) => FeatureMatrix::from_columns(self.samples, self.features, values),
            Storage::Sparse { starts, rows, .. } => {
                FeatureMatrix::from_sparse_columns(self.samples, self.features, starts.to_vec(), rows.to_vec(), values)
            }
        }
    }

    /// The moduli of the entries.
    pub(crate) fn moduli(&self) -> Result<FeatureMatrix<'static>, Error> {
        self.with_values(self.storage.values().iter().map(|value| value.abs()).collect())
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
        FeatureMatrix::from_columns(self.samples, self.features, values)
    }

    /// The largest magnitude of an entry of each sample, and its feature, where each feature is divided by `2^exponent`; as it
    /// is without exponents.
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

    /// The matrix of the given samples, in any order.
    pub(crate) fn select_samples(&self, samples: &[usize]) -> Result<FeatureMatrix<'static>, Error> {
        let n = self.samples;
        if let Some(row) = samples.iter().position(|&i| i >= n) {
            let allowed = "sample numbers below n";
            return Err(Error::BadValue { what: "samples", row, value: samples[row] as f64, allowed });
        }
        match &self.storage {
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
        }
    }

    /// The matrix of consecutive samples.
    pub(crate) fn sample_range(&self, range: Range<usize>) -> Result<FeatureMatrix<'static>, Error> {
        match &self.storage {
            Storage::Dense(values) => {
                let columns = values.chunks(self.samples).flat_map(|column| &column[range.clone()]).copied();
                FeatureMatrix::from_columns(range.len(), self.features, columns.collect::<Vec<_>>())
            }
            Storage::Sparse { starts, rows, values } => {
                let (mut new_starts, mut new_rows, mut new_values) = (vec![0], Vec::new(), Vec::new());
                for ends in starts.windows(2) {
                    let (rows, values) = (&rows[ends[0]..ends[1]], &values[ends[0]..ends[1]]);
                    let place = |row: usize| rows.partition_point(|&stored| stored < row);
                    let kept = place(range.start)..place(range.end);
                    new_rows.extend(rows[kept.clone()].iter().map(|row| row - range.start));
                    new_values.extend_from_slice(&values[kept]);
                    new_starts.push(new_rows.len());
                }
                FeatureMatrix::from_sparse_columns(range.len(), self.features, new_starts, new_rows, new_values)
            }
        }
    }

    /// `Phi_n w`.
    pub(crate) fn times(&self, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.samples];
        self.apply(0..self.features, w, &mut out);
        out
    }

    /// A feature as it is stored.
    pub(crate) fn column(&self, column: usize) -> Column<'_> {
        let rows = match &self.storage {
            Storage::Dense(_) => None,
            Storage::Sparse { starts, rows, .. } => Some(&rows[starts[column]..starts[column + 1]]),
        };
        Column { rows, values: self.stored_entries(column) }
    }

    /// The stored entries of a feature.
    fn stored_entries(&self, column: usize) -> &[f64] {
        match &self.storage {
            Storage::Dense(values) => &values[column * self.samples..(column + 1) * self.samples],
            Storage::Sparse { starts, values, .. } => &values[starts[column]..starts[column + 1]],
        }
    }

    /// The power of two that brings the entries of some features to at most 1.
    pub(crate) fn scale_of(&self, columns: &[usize]) -> f64 {
        let sizes = columns.par_iter().with_min_len(64).map(|&column| largest(self.stored_entries(column)));
        f64::from(binary_exponent(sizes.reduce(|| 0.0, f64::max)))
    }

    /// The squares of the norms of the features of a block.
    pub(crate) fn squares(&self, block: Range<usize>, out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                stream::squares(self.samples, &values[block.start * self.samples..block.end * self.samples], out);
            }
            Storage::Sparse { starts, values, .. } => {
                for (column, out) in block.zip(out) {
                    *out = values[starts[column]..starts[column + 1]].iter().map(|value| value * value).sum();
                }
            }
        }
    }

    /// Adds `|x|^power` of the entries of a block of features to the sums of their samples, for power 2 or 4.
    pub(crate) fn add_row_powers(&self, power: u32, block: Range<usize>, sums: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                let n = self.samples;
                stream::add_row_powers(n, power == 4, &values[block.start * n..block.end * n], sums);
            }
            Storage::Sparse { starts, rows, values } => {
                let stored = starts[block.start]..starts[block.end];
                for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                    sums[row] += value.powi(power as i32);
                }
            }
        }
    }

    /// The squares of the norms of all features, for entries divided by a power of two, to at most 1, which is returned
    /// too: also where [`squares`](Self::squares) leaves the range of numbers.
    pub(crate) fn scaled_squares(&self) -> (Vec<f64>, f64) {
        let sizes = self.storage.values().par_chunks(1 << 16).map(largest);
        // Powers beyond these are not numbers.
        let exponent = f64::from(binary_exponent(sizes.reduce(|| 0.0, f64::max)).clamp(-1000, 1000));
        let factor = scale_by_exp2(1.0, -exponent);
        let square = |column: usize| self.stored_entries(column).iter().map(|x| (x * factor) * (x * factor)).sum();
        ((0..self.features).into_par_iter().with_min_len(64).map(square).collect(), exponent)
    }

    /// The products of some features with a vector.
    pub(crate) fn products(&self, columns: &[usize], vector: &[f64], out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(values) => {
                columns.par_iter().zip(out).with_min_len(64).for_each(|(&column, out)| {
                    let values = &values[column * self.samples..(column + 1) * self.samples];
                    *out = dot(values, vector);
                });
            }
            Storage::Sparse { starts, rows, values } => {
                for (&column, out) in columns.iter().zip(out) {
                    let stored = starts[column]..starts[column + 1];
                    let products = rows[stored.clone()].iter().zip(&values[stored]);
                    *out = products.map(|(&row, value)| value * vector[row]).sum();
                }
            }
        }
    }

    /// How a pass divides the features.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// `u = Phi_b' a` for the features of a block and n-vectors `a`, one after another. `rows` is `a` transposed, and
    /// `turned` working memory of the size of `u`.
    pub(crate) fn adjoint(&self, block: Range<usize>, a: &[f64], rows: &[f64], u: &mut [f64], turned: &mut [f64]) {
        let (n, width) = (self.samples, block.len());
        match &self.storage {
            Storage::Dense(values) => {
                let columns = &values[block.start * n..block.end * n];
                let count = a.len() / n;
                // The first few stream the block from memory and leave it in cache for the others.
                let lead = if count <= MOST_BY_COLUMNS { count } else { (count - 1) % MULTIPLE + 1 };
                let (first, others) = u.split_at_mut(lead * width);
                stream::adjoint(n, columns, &a[..lead * n], first);
                if lead < count {
                    let rest = count - lead;
                    let turned = &mut turned[..rest * width];
                    let product = MatMut::from_column_major_slice_mut(turned, rest, width);
                    let rows = MatRef::from_column_major_slice(rows, count, n).subrows(lead, rest);
                    let columns = MatRef::from_column_major_slice(columns, n, width);
                    matmul(product, Accum::Replace, rows, columns, 1.0, Par::Seq);
                    MatMut::from_column_major_slice_mut(others, width, rest)
                        .copy_from(MatRef::from_row_major_slice(turned, width, rest));
                }
            }
            Storage::Sparse { starts, rows, values } => {
                for (a, u) in a.chunks(n).zip(u.chunks_mut(width)) {
                    for (u, feature) in u.iter_mut().zip(block.clone()) {
                        let stored = starts[feature]..starts[feature + 1];
                        let products = rows[stored.clone()].iter().zip(&values[stored]);
                        *u = products.map(|(&row, value)| value * a[row]).sum();
                    }
                }
            }
        }
    }

    /// `out += Phi_b w` for the features of a block, vectors `w` and n-vectors `out`, one after another.
    pub(crate) fn apply(&self, block: Range<usize>, w: &[f64], out: &mut [f64]) {
        let (n, width) = (self.samples, block.len());
        match &self.storage {
            Storage::Dense(values) => {
                let columns = &values[block.start * n..block.end * n];
                let count = out.len() / n;
                if count <= MOST_BY_COLUMNS {
                    return stream::apply(n, columns, w, out);
                }
                let out = MatMut::from_column_major_slice_mut(out, n, count);
                let columns = MatRef::from_column_major_slice(columns, n, width);
                let w = MatRef::from_column_major_slice(w, width, count);
                matmul(out, Accum::Add, columns, w, 1.0, Par::Seq);
            }
            Storage::Sparse { starts, rows, values } => {
                for (w, out) in w.chunks(width).zip(out.chunks_mut(n)) {
                    for (w, feature) in w.iter().zip(block.clone()) {
                        let stored = starts[feature]..starts[feature + 1];
                        for (&row, value) in rows[stored.clone()].iter().zip(&values[stored]) {
                            out[row] += value * w;
                        }
                    }
                }
            }
        }
    }
}

/// A feature: its entries, or those that are not zero and their samples.
pub(crate) struct Column<'a> {
    pub rows: Option<&'a [usize]>,
    pub values: &'a [f64],
}

/// Up to this many vectors are multiplied by the columns as they are, more by a general matrix product.
const MOST_BY_COLUMNS: usize = 8;
/// A general product is fastest for a multiple of so many vectors.
const MULTIPLE: usize = 4;

impl fmt::Debug for FeatureMatrix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureMatrix")
            .field("samples", &self.samples)
            .field("features", &self.features)
            .field("stored", &self.stored())
            .finish()
    }
}

fn check_size(samples: usize, features: usize, got: usize) -> Result<(), Error> {
    if samples == 0 || features == 0 {
        return Err(Error::Empty { what: "X" });
    }
    let expected = samples.saturating_mul(features);
    if got == expected { Ok(()) } else { Err(Error::Shape { what: "X", got, expected }) }
}

fn first_bad(values: &[f64]) -> Option<usize> {
    values.iter().position(|value| !value.is_finite() || value.abs() > MAX_ENTRY)
}

fn bad_entry(row: usize, column: usize, value: f64) -> Error {
    Error::BadEntry { what: "X", row, column, value, limit: MAX_ENTRY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_entries_are_named_by_row_and_column() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e250] {
            let rows = [1.0, 2.0, 3.0, 4.0, 5.0, value];
            let error = FeatureMatrix::from_rows(2, 3, &rows).expect_err("bad entry");
            assert!(matches!(error, Error::BadEntry { row: 1, column: 2, .. }), "{error}");
            let columns = [1.0, 2.0, 3.0, value, 5.0, 6.0];
            let error = FeatureMatrix::from_columns(2, 3, &columns[..]).expect_err("bad entry");
            assert!(matches!(error, Error::BadEntry { row: 1, column: 1, .. }), "{error}");
            let error = FeatureMatrix::from_sparse_columns(3, 2, vec![0, 1, 2], vec![0, 2], vec![1.0, value])
                .expect_err("bad entry");
            assert!(matches!(error, Error::BadEntry { row: 2, column: 1, .. }), "{error}");
        }
    }

    #[test]
    fn columns_are_read_from_either_storage() {
        let dense = FeatureMatrix::from_rows(3, 2, &[1.0, 0.0, 0.0, 5.0, -2.0, 6.0]).expect("valid");
        let sparse =
            FeatureMatrix::from_sparse_columns(3, 2, vec![0, 2, 4], vec![0, 2, 1, 2], vec![1.0, -2.0, 5.0, 6.0])
                .expect("valid");
        for matrix in [dense, sparse] {
            let mut column = [9.0; 3];
            matrix.column_into(0, &mut column);
            assert_eq!(column, [1.0, 0.0, -2.0]);
            matrix.column_into(1, &mut column);
            assert_eq!(column, [0.0, 5.0, 6.0]);
        }
    }

    #[test]
    fn wrong_shapes_are_refused() {
        assert_eq!(FeatureMatrix::from_rows(0, 3, &[]).err(), Some(Error::Empty { what: "X" }));
        assert_eq!(FeatureMatrix::from_columns(3, 0, vec![]).err(), Some(Error::Empty { what: "X" }));
        let error = FeatureMatrix::from_rows(2, 2, &[1.0; 3]).err();
        assert_eq!(error, Some(Error::Shape { what: "X", got: 3, expected: 4 }));
        assert!(FeatureMatrix::from_rows(usize::MAX, 2, &[1.0; 3]).is_err());
    }

    #[test]
    fn contradictory_sparse_structures_are_refused() {
        let build = |starts: &[usize], rows: &[usize], values: &[f64]| {
            FeatureMatrix::from_sparse_columns(2, 2, starts.to_vec(), rows.to_vec(), values.to_vec())
        };
        assert!(build(&[0, 1, 2], &[0, 1], &[1.0, 2.0]).is_ok());
        assert!(build(&[0, 0, 0], &[], &[]).is_ok());
        assert!(build(&[0, 1], &[0, 1], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 1, 3], &[0, 1], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 3, 2], &[0, 1], &[1.0, 2.0]).is_err());
        assert!(build(&[1, 1, 2], &[0, 1], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 1, 2], &[0, 2], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 2, 2], &[1, 0], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 2, 2], &[1, 1], &[1.0, 2.0]).is_err());
        assert!(build(&[0, 1, 2], &[0], &[1.0, 2.0]).is_err());
    }
}
