//! Columns of numbers with names.

use banach::data::{ColumnMoments, ColumnUnits};

/// Columns of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    names: Vec<String>,
    rows: usize,
    values: Values,
}

/// The numbers of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One column after another.
    Dense(Vec<f64>),
    /// Compressed columns: column k has `values[starts[k]..starts[k + 1]]` in the increasing rows
    /// `rows[starts[k]..starts[k + 1]]`, and 0 elsewhere.
    Sparse {
        /// Where every column starts, and the number of values.
        starts: Vec<usize>,
        /// The row of every value.
        rows: Vec<usize>,
        /// The values.
        values: Vec<f64>,
    },
}

/// How columns were made comparable: `(x - mean)/deviation`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standardization {
    /// What was taken off every column that is left: its mean, or 0 in a sparse table, which stays sparse.
    pub means: Vec<f64>,
    /// What is missing to the mean beyond the digits of an f64; 0 but for columns far from 0.
    pub corrections: Vec<f64>,
    /// Its standard deviation, `sqrt(sum (x - mean)^2/n)`.
    pub deviations: Vec<f64>,
    /// The names of the constant columns, which are gone.
    pub constant: Vec<String>,
    /// Whether the columns have mean 0 now.
    pub centred: bool,
}

impl Standardization {
    /// The units that the columns had.
    pub fn units(&self) -> ColumnUnits<'_> {
        // What is missing to a mean beyond its digits is no part of a number that people read.
        ColumnUnits { means: &self.means, deviations: &self.deviations }
    }
}

impl Table {
    pub(crate) fn new(names: Vec<String>, rows: usize, values: Vec<f64>) -> Self {
        debug_assert_eq!(names.len() * rows, values.len());
        Self { names, rows, values: Values::Dense(values) }
    }

    pub(crate) fn sparse(
        names: Vec<String>,
        rows: usize,
        (starts, places, values): (Vec<usize>, Vec<usize>, Vec<f64>),
    ) -> Self {
        debug_assert_eq!(names.len() + 1, starts.len());
        Self { names, rows, values: Values::Sparse { starts, rows: places, values } }
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names and all values.
    pub fn into_parts(self) -> (Vec<String>, Values) {
        (self.names, self.values)
    }

    /// All values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Whether only the values that are not 0 are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self.values, Values::Sparse { .. })
    }

    /// The bytes of its numbers.
    pub fn bytes(&self) -> usize {
        match &self.values {
            Values::Dense(values) => size_of_val(&values[..]),
            Values::Sparse { starts, rows, values } => {
                size_of_val(&starts[..]) + size_of_val(&rows[..]) + size_of_val(&values[..])
            }
        }
    }

    /// The values of a column, one for every row.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn column(&self, column: usize) -> Vec<f64> {
        match &self.values {
            Values::Dense(values) => values[column * self.rows..(column + 1) * self.rows].to_vec(),
            Values::Sparse { starts, rows, values } => {
                let stored = starts[column]..starts[column + 1];
                let mut column = vec![0.0; self.rows];
                rows[stored.clone()].iter().zip(&values[stored]).for_each(|(&row, &value)| column[row] = value);
                column
            }
        }
    }

    /// Leaves out the rows that are not marked.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let before = self.rows;
        self.rows = kept.iter().filter(|kept| **kept).count();
        match &mut self.values {
            Values::Dense(values) => {
                let mut at = 0..;
                values.retain(|_| at.next().is_some_and(|at: usize| kept[at % before]));
            }
            Values::Sparse { starts, rows, values } => {
                let mut places = Vec::with_capacity(before);
                kept.iter().fold(0, |place, kept| {
                    places.push(place);
                    place + usize::from(*kept)
                });
                let (mut end, mut from) = (0, 0);
                for start in &mut starts[1..] {
                    for at in from..*start {
                        if kept[rows[at]] {
                            (rows[end], values[end]) = (places[rows[at]], values[at]);
                            end += 1;
                        }
                    }
                    (from, *start) = (*start, end);
                }
                rows.truncate(end);
                values.truncate(end);
            }
        }
    }

    /// Takes a column out, by its name.
    pub fn take(&mut self, name: &str) -> Option<Vec<f64>> {
        let place = self.names.iter().position(|own| own == name)?;
        let taken = self.column(place);
        self.names.remove(place);
        match &mut self.values {
            Values::Dense(values) => {
                values.drain(place * self.rows..(place + 1) * self.rows);
            }
            Values::Sparse { starts, rows, values } => {
                let stored = starts[place]..starts[place + 1];
                let length = stored.len();
                rows.drain(stored.clone());
                values.drain(stored);
                starts.remove(place + 1);
                starts[place + 1..].iter_mut().for_each(|start| *start -= length);
            }
        }
        Some(taken)
    }

    /// The columns that only count the rows, upwards by one: identifiers, as a rule.
    pub fn counters(&self) -> Vec<&str> {
        let Values::Dense(values) = &self.values else { return Vec::new() };
        let counts = |column: &[f64]| column.len() > 2 && column.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        let columns = self.names.iter().zip(values.chunks(self.rows.max(1)));
        columns.filter(|(_, column)| counts(column)).map(|(name, _)| &name[..]).collect()
    }

    /// Gives every column mean 0 and standard deviation 1, in place. Columns with one value only are taken out. The
    /// columns of a sparse table are scaled but not moved, as zeros would not stay zeros.
    pub fn standardize(&mut self) -> Standardization {
        let rows = self.rows;
        let mut done = Standardization { centred: !self.is_sparse(), ..Standardization::default() };
        let mut kept = Vec::with_capacity(self.names.len());
        let names = std::mem::take(&mut self.names);
        match &mut self.values {
            Values::Dense(values) => {
                for (at, name) in names.into_iter().enumerate() {
                    let place = kept.len() * rows;
                    values.copy_within(at * rows..(at + 1) * rows, place);
                    match ColumnMoments::standardize(&mut values[place..place + rows]) {
                        Some(moments) => done.push(moments, name, &mut kept),
                        None => done.constant.push(name),
                    }
                }
                values.truncate(kept.len() * rows);
            }
            Values::Sparse { starts, rows: places, values } => {
                let mut end = 0;
                for (at, name) in names.into_iter().enumerate() {
                    let stored = starts[at]..starts[at + 1];
                    starts[kept.len()] = end;
                    places.copy_within(stored.clone(), end);
                    values.copy_within(stored.clone(), end);
                    let next = end + stored.len();
                    match ColumnMoments::scale(&mut values[end..next], rows - stored.len()) {
                        Some(moments) => {
                            done.push(moments, name, &mut kept);
                            end = next;
                        }
                        None => done.constant.push(name),
                    }
                }
                starts.truncate(kept.len() + 1);
                starts[kept.len()] = end;
                places.truncate(end);
                values.truncate(end);
            }
        }
        self.names = kept;
        done
    }
}

impl Standardization {
    /// Takes a column over into those that are left.
    fn push(&mut self, moments: ColumnMoments, name: String, kept: &mut Vec<String>) {
        self.means.push(moments.mean);
        self.corrections.push(moments.correction);
        self.deviations.push(moments.deviation);
        kept.push(name);
    }

    /// Does to new values of a column what was done to those that it was made from.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn apply(&self, column: usize, values: &mut [f64]) {
        let (mean, correction) = (self.means[column], self.corrections[column]);
        ColumnMoments { mean, correction, deviation: self.deviations[column] }.apply(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_mean_0_and_deviation_1_and_constants_go() {
        let columns =
            [[1.0, 2.0, 3.0, 6.0], [5.0; 4], [1e308, -1e308, 0.0, 1e308], [1e-300, 0.0, 2e-300, 0.0], [0.1; 4]];
        let names = ["a", "same", "large", "small", "tenth"].map(str::to_owned).to_vec();
        let mut table = Table::new(names, 4, columns.concat());
        let done = table.standardize();
        assert_eq!(table.names(), ["a", "large", "small"]);
        assert_eq!(done.constant, ["same", "tenth"]);
        assert!((done.means[0] - 3.0).abs() + (done.deviations[0] - 3.5_f64.sqrt()).abs() < 1e-15);
        for column in 0..3 {
            let x = table.column(column);
            assert!(x.iter().sum::<f64>().abs() < 1e-12, "{x:?}");
            assert!((x.iter().map(|x| x * x).sum::<f64>() - 4.0).abs() < 1e-12, "{x:?}");
        }
    }

    /// Times in milliseconds, say.
    #[test]
    fn a_column_far_from_0_keeps_its_digits() {
        let rows = 1000;
        let noise = |k: usize| ((k * k) as f64 * 0.618_033_988).fract();
        let digits: Vec<f64> = (0..rows).map(|k| 1.7e12 + (k % 10) as f64).collect();
        let noisy: Vec<f64> = (0..rows).map(|k| 1e12 + noise(k)).collect();
        let huge: Vec<f64> = (0..rows).map(|k| -1e300 * (1.0 + 1e-9 * noise(k))).collect();
        let tiny: Vec<f64> = (0..rows).map(|k| 1e-300 * (1.0 + 1e-9 * noise(k))).collect();
        let names = ["digits", "noisy", "huge", "tiny"].map(str::to_owned).to_vec();
        let mut table = Table::new(names, rows, [digits, noisy, huge, tiny].concat());
        let raw = table.clone();
        let done = table.standardize();
        assert_eq!(table.names().len(), 4);
        assert_eq!(done.means[0], 1.7e12 + 4.5);
        assert!((done.deviations[0] - 8.25_f64.sqrt()).abs() < 1e-14);
        for column in 0..4 {
            let x = table.column(column);
            let mean = x.iter().sum::<f64>() / rows as f64;
            let square = x.iter().map(|x| x * x).sum::<f64>() / rows as f64;
            assert!(mean.abs() < 1e-12 && (square - 1.0).abs() < 1e-12, "{column} {mean} {square}");
        }
        assert!((table.column(0)[9] - 4.5 / 8.25_f64.sqrt()).abs() < 1e-14);
        for column in 0..4 {
            let mut again = raw.column(column);
            done.apply(column, &mut again);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(again.iter().zip(&table.column(column)).all(near), "{column}");
        }
    }

    #[test]
    fn the_same_rows_are_left_of_every_kind_of_table() {
        let names = || ["a", "none", "b"].map(str::to_owned).to_vec();
        let mut dense = Table::new(names(), 3, vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 5.0, 6.0]);
        let stored = (vec![0, 3, 3, 5], vec![0, 1, 2, 1, 2], vec![1.0, 2.0, 3.0, 5.0, 6.0]);
        let mut sparse = Table::sparse(names(), 3, stored);
        dense.keep(&[true, false, true]);
        sparse.keep(&[true, false, true]);
        assert_eq!((dense.rows(), dense.column(0), dense.column(2)), (2, vec![1.0, 3.0], vec![0.0, 6.0]));
        assert!((0..3).all(|column| sparse.column(column) == dense.column(column)), "{sparse:?}");
    }

    #[test]
    fn what_counts_the_rows_is_found() {
        let names = ["id", "x", "year"].map(str::to_owned).to_vec();
        let table = Table::new(names, 3, vec![7.0, 8.0, 9.0, 1.0, 2.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(table.counters(), ["id"]);
    }

    #[test]
    fn a_sparse_table_is_scaled_as_a_dense_one_and_not_moved() {
        let names = || ["a", "none", "full", "same"].map(str::to_owned).to_vec();
        let dense = vec![0.0, 3.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 7.0, 7.0, 7.0];
        let stored = (vec![0, 2, 2, 6, 10], vec![1, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
        let values = vec![3.0, -1.0, 1.0, 2.0, 3.0, 4.0, 7.0, 7.0, 7.0, 7.0];
        let mut sparse = Table::sparse(names(), 4, (stored.0, stored.1, values));
        let mut dense = Table::new(names(), 4, dense);
        assert_eq!(sparse.column(0), dense.column(0));
        let (scaled, standardised) = (sparse.standardize(), dense.standardize());
        assert_eq!(scaled.deviations, standardised.deviations);
        assert_eq!((scaled.centred, standardised.centred, &scaled.means[..]), (false, true, &[0.0, 0.0][..]));
        assert_eq!((scaled.constant, sparse.names()), (standardised.constant, dense.names()));
        for column in 0..2 {
            let move_back = standardised.means[column] / standardised.deviations[column];
            for (x, y) in sparse.column(column).iter().zip(dense.column(column)) {
                assert!((x - (y + move_back)).abs() < 1e-14);
            }
        }
    }
}
