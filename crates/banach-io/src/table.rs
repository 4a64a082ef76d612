//! Columns of numbers with names.

/// Columns of finite numbers, one after another in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    names: Vec<String>,
    rows: usize,
    values: Vec<f64>,
}

/// How columns were made comparable: `(x - mean)/deviation`.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardization {
    /// The mean of every column that is left.
    pub means: Vec<f64>,
    /// Its standard deviation, `sqrt(sum (x - mean)^2/n)`.
    pub deviations: Vec<f64>,
    /// The names of the constant columns, which are gone.
    pub constant: Vec<String>,
}

impl Table {
    pub(crate) fn new(names: Vec<String>, rows: usize, values: Vec<f64>) -> Self {
        debug_assert_eq!(names.len() * rows, values.len());
        Self { names, rows, values }
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All values, one column after another.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of a column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// The columns that only count the rows, upwards by one: identifiers, as a rule.
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        let counts = |column: &[f64]| column.len() > 2 && column.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        self.names.iter().enumerate().filter(move |(at, _)| counts(self.column(*at))).map(|(_, name)| &name[..])
    }

    /// Gives every column mean 0 and standard deviation 1, in place. Columns with one value only are taken out.
    pub fn standardize(&mut self) -> Standardization {
        let mut done = Standardization { means: Vec::new(), deviations: Vec::new(), constant: Vec::new() };
        let rows = self.rows;
        let mut kept = Vec::with_capacity(self.names.len());
        for (at, name) in std::mem::take(&mut self.names).into_iter().enumerate() {
            let Some((mean, deviation)) = moments(&self.values[at * rows..(at + 1) * rows]) else {
                done.constant.push(name);
                continue;
            };
            let place = kept.len() * rows;
            self.values.copy_within(at * rows..(at + 1) * rows, place);
            // One division of the difference could overflow.
            self.values[place..place + rows].iter_mut().for_each(|x| *x = *x / deviation - mean / deviation);
            done.means.push(mean);
            done.deviations.push(deviation);
            kept.push(name);
        }
        self.values.truncate(kept.len() * rows);
        self.names = kept;
        done
    }
}

/// Mean and standard deviation; `None` for a constant, up to rounding.
fn moments(column: &[f64]) -> Option<(f64, f64)> {
    let size = column.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    if column.iter().all(|x| *x == column[0]) {
        return None;
    }
    // Relative to the largest, so that no square is out of range.
    let n = column.len() as f64;
    let mean = column.iter().map(|x| x / size).sum::<f64>() / n;
    let variance = column.iter().map(|x| (x / size - mean).powi(2)).sum::<f64>() / n;
    let deviation = variance.sqrt();
    (deviation > 8.0 * f64::EPSILON * mean.abs() && size * deviation > 0.0).then_some((size * mean, size * deviation))
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

    #[test]
    fn what_counts_the_rows_is_found() {
        let names = ["id", "x", "year"].map(str::to_owned).to_vec();
        let table = Table::new(names, 3, vec![7.0, 8.0, 9.0, 1.0, 2.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(table.counters().collect::<Vec<_>>(), ["id"]);
    }
}
