//! The matrix `Phi_n` of (23) `[featmat]`: n samples by card(K) features.

use std::{borrow::Cow, fmt, sync::Arc};

use rayon::prelude::*;

use super::{ExcludedProducts, compact::Compact, sweep::Layout};
use crate::{Error, numeric::vectorised};

/// Largest magnitude of an entry. Sums of products of such entries with scaled dual vectors stay finite.
pub(crate) const MAX_ENTRY: f64 = 1e200;

/// A checked feature matrix: feature-major (a feature's n values are contiguous), dense or sparse; dense ones in f64 or in fewer bytes.
///
/// Every entry is finite and at most 1e200 in magnitude. Data that already have the right layout
/// are borrowed, not copied.
#[derive(Clone)]
pub struct FeatureMatrix<'a> {
    pub(super) samples: usize,
    pub(super) features: usize,
    pub(super) storage: Storage<'a>,
    layout: Layout,
    /// The largest magnitude of an entry.
    size: f64,
    /// The products of its columns that are no monomials.
    excluded: Option<Arc<ExcludedProducts>>,
}

#[derive(Clone)]
pub(super) enum Storage<'a> {
    /// Column-major values.
    Dense(Cow<'a, [f64]>),
    /// Compressed sparse columns.
    Sparse { starts: Cow<'a, [usize]>, rows: Cow<'a, [usize]>, values: Cow<'a, [f64]> },
    /// Column-major values in fewer bytes.
    Compact(Compact<'a>),
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
    /// Every entry, in fewer bytes; [`FeatureMatrix::column_into`] decodes a column.
    Compact,
}

impl<'a> FeatureMatrix<'a> {
    /// A dense matrix from its columns, one after another.
    pub fn from_columns(samples: usize, features: usize, values: impl Into<Cow<'a, [f64]>>) -> Result<Self, Error> {
        let values = values.into();
        check_size(samples, features, values.len())?;
        let size = checked_size(&values).map_err(|at| bad_entry(at % samples, at / samples, values[at]))?;
        Ok(Self::checked(samples, features, Storage::Dense(values), size))
    }

    /// A dense matrix from its rows, one after another; they are transposed into a new buffer.
    pub fn from_rows(samples: usize, features: usize, values: &[f64]) -> Result<Self, Error> {
        check_size(samples, features, values.len())?;
        let size = checked_size(values).map_err(|at| bad_entry(at / features, at % features, values[at]))?;
        let columns = Self::columns_of_rows(samples, features, values);
        Ok(Self::checked(samples, features, Storage::Dense(columns.into()), size))
    }

    /// The columns of a matrix, one after another, from its rows. Every entry is read and written once, a few cache lines of each side at a
    /// time, by all threads.
    ///
    /// # Panics
    ///
    /// If there are more or fewer entries than samples times features.
    pub fn columns_of_rows<T: Copy + Default + Send + Sync>(samples: usize, features: usize, rows: &[T]) -> Vec<T> {
        assert_eq!(rows.len(), samples * features, "n d entries");
        let mut columns = vec![T::default(); rows.len()];
        if columns.is_empty() {
            return columns;
        }
        columns.par_chunks_mut(samples * TURNED).enumerate().for_each(|(part, columns)| {
            let first = part * TURNED;
            let width = columns.len() / samples;
            for start in (0..samples).step_by(TURNED) {
                for i in start..(start + TURNED).min(samples) {
                    let row = &rows[i * features + first..][..width];
                    row.iter().enumerate().for_each(|(j, x)| columns[j * samples + i] = *x);
                }
            }
        });
        columns
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
        Error::check_length("the column starts of X", starts.len(), features.saturating_add(1))?;
        Error::check_length("the row indices of X", rows.len(), values.len())?;
        let mut size = 0.0_f64;
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
            let largest = checked_size(&values[ends[0]..ends[1]]);
            size = size.max(largest.map_err(|at| bad_entry(rows[at], column, values[ends[0] + at]))?);
        }
        Ok(Self::checked(samples, features, Storage::Sparse { starts, rows, values }, size))
    }

    pub(super) fn checked(samples: usize, features: usize, storage: Storage<'a>, size: f64) -> Self {
        let layout = Layout::new(samples, features, stored(samples, features, &storage));
        Self { samples, features, storage, layout, size, excluded: None }
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
            Storage::Compact(columns) => Storage::Compact(columns.view()),
        };
        FeatureMatrix { storage, excluded: self.excluded.clone(), ..*self }
    }

    /// The same matrix with data of its own, which are copied if they were borrowed.
    pub fn into_owned(self) -> FeatureMatrix<'static> {
        let Self { samples, features, storage, layout, size, excluded } = self;
        let storage = match storage {
            Storage::Dense(values) => Storage::Dense(Cow::Owned(values.into_owned())),
            Storage::Sparse { starts, rows, values } => Storage::Sparse {
                starts: Cow::Owned(starts.into_owned()),
                rows: Cow::Owned(rows.into_owned()),
                values: Cow::Owned(values.into_owned()),
            },
            Storage::Compact(columns) => Storage::Compact(columns.into_owned()),
        };
        FeatureMatrix { samples, features, storage, layout, size, excluded }
    }

    /// The same matrix, of whose columns some products are no monomials: their weights are exactly 0.
    ///
    /// # Panics
    ///
    /// If they are those of another number of columns.
    #[must_use]
    pub fn with_excluded(self, excluded: Option<Arc<ExcludedProducts>>) -> Self {
        assert!(
            excluded.as_ref().is_none_or(|excluded| excluded.columns() == self.features),
            "one entry for each column"
        );
        Self { excluded, ..self }
    }

    /// The products of its columns that are no monomials.
    pub fn excluded(&self) -> Option<&Arc<ExcludedProducts>> {
        self.excluded.as_ref()
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
        stored(self.samples, self.features, &self.storage)
    }

    /// The entries as they are stored.
    pub fn entries(&self) -> Entries<'_> {
        match &self.storage {
            Storage::Dense(values) => Entries::Dense(values),
            Storage::Sparse { starts, rows, values } => Entries::Sparse { starts, rows, values },
            Storage::Compact(_) => Entries::Compact,
        }
    }

    /// Whether only some of the entries are stored, with their rows.
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// Whether every entry is stored as a number, so that parts of columns are read where they are.
    pub(crate) fn is_read_in_place(&self) -> bool {
        matches!(self.storage, Storage::Dense(_))
    }

    /// The largest magnitude of an entry, which was found when the entries were checked.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// How a pass divides the features.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }
}

impl fmt::Debug for FeatureMatrix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureMatrix")
            .field("samples", &self.samples)
            .field("features", &self.features)
            .field("stored", &self.stored())
            .finish()
    }
}

/// The number of entries that are stored; of compact columns as many as of the decoded ones, so that a pass divides both alike.
fn stored(samples: usize, features: usize, storage: &Storage<'_>) -> usize {
    match storage {
        Storage::Dense(values) | Storage::Sparse { values, .. } => values.len(),
        Storage::Compact(_) => samples * features,
    }
}

pub(super) fn check_size(samples: usize, features: usize, got: usize) -> Result<(), Error> {
    if samples == 0 || features == 0 {
        return Err(Error::Empty { what: "X" });
    }
    Error::check_length("X", got, samples.saturating_mul(features))
}

/// Rows and columns that are turned together: both sides of a block stay in a first-level cache.
const TURNED: usize = 32;

/// Entries that a thread looks at together, if there are others.
const LOOKED_AT: usize = 1 << 16;

/// The largest magnitude, or the place of the first entry that is none or too large.
fn checked_size(values: &[f64]) -> Result<f64, usize> {
    // Beside no other thread the work is not divided.
    let alone = values.len() <= LOOKED_AT || rayon::current_thread_index().is_none();
    let bits =
        if alone { largest_bits(values) } else { values.par_chunks(LOOKED_AT).map(largest_bits).max().unwrap_or(0) };
    let size = f64::from_bits(bits);
    let is_good = |value: f64| value.abs() <= MAX_ENTRY;
    if is_good(size) {
        return Ok(size);
    }
    Err(values.iter().position(|value| !is_good(*value)).expect("the largest is among them"))
}

/// The bits of the largest magnitude. Those of what is no number are beyond those of all numbers.
fn largest_bits(values: &[f64]) -> u64 {
    vectorised(
        #[inline(always)]
        move || values.iter().fold(0, |most: i64, value| most.max(value.abs().to_bits() as i64)) as u64,
    )
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

    /// Also by several threads, and with signs, zeros and numbers that are hardly any.
    #[test]
    fn the_size_is_that_of_the_largest_entry() {
        let mut values = vec![-0.0; 3 * LOOKED_AT];
        for (at, value) in [(7, -1e-310), (2 * LOOKED_AT + 5, 1e-3), (LOOKED_AT, -2.5)] {
            values[at] = value;
            let matrix = |values: &[f64]| FeatureMatrix::from_columns(3, LOOKED_AT, values.to_vec());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
            for found in [matrix(&values), pool.install(|| matrix(&values))] {
                assert_eq!(found.expect("valid").size(), value.abs());
            }
            let bad = values.iter().map(|x| if *x == value { f64::NAN } else { *x }).collect::<Vec<_>>();
            for found in [matrix(&bad), pool.install(|| matrix(&bad))] {
                let error = found.expect_err("one is no number");
                assert!(matches!(error, Error::BadEntry { row, column, .. } if (row, column) == (at % 3, at / 3)));
            }
        }
    }

    /// Blocks, rests of blocks, one row and one column.
    #[test]
    fn rows_are_turned_into_columns() {
        for (samples, features) in [(1, 1), (1, 70), (70, 1), (32, 32), (33, 31), (7, 100), (100, 65)] {
            let rows: Vec<f64> = (0..samples * features).map(|at| at as f64).collect();
            let columns = FeatureMatrix::columns_of_rows(samples, features, &rows);
            for (at, x) in columns.iter().enumerate() {
                assert_eq!(*x, (at % samples * features + at / samples) as f64, "{samples} {features}");
            }
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
