//! Rows in, columns out, in little more memory than the columns.

/// The most bands. While the columns are put in place one band is there twice.
const BANDS: usize = 32;

/// Rows that are turned at a time, so that what is read and what is written stay in cache.
const BLOCK: usize = 64;

/// The rows of a table, cut into bands of neighbouring columns.
///
/// The number of rows of a stream is not known before its end, so a row cannot go straight to its places in the columns.
/// Each band grows by its part of every row. At the end one band after another is turned into columns and given back, so that
/// beside the matrix there is never more than one band.
#[derive(Debug)]
pub(crate) struct Bands {
    columns: usize,
    width: usize,
    rows: usize,
    parts: Vec<Vec<f64>>,
}

impl Bands {
    pub(crate) fn new(columns: usize) -> Self {
        let width = columns.div_ceil(BANDS).max(1);
        Self { columns, width, rows: 0, parts: vec![Vec::new(); columns.div_ceil(width)] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn push(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.columns);
        for (band, part) in self.parts.iter_mut().zip(row.chunks(self.width)) {
            band.extend_from_slice(part);
        }
        self.rows += 1;
    }

    /// All values, one column after another.
    pub(crate) fn into_columns(self) -> Vec<f64> {
        let Self { columns, width, rows, parts } = self;
        // Fresh zeros take no memory before they are written.
        let mut values = vec![0.0; columns * rows];
        if values.is_empty() {
            return values;
        }
        for (band, places) in parts.into_iter().zip(values.chunks_mut(width * rows)) {
            let width = places.len() / rows;
            for from in (0..rows).step_by(BLOCK) {
                let to = rows.min(from + BLOCK);
                for (column, place) in places.chunks_exact_mut(rows).enumerate() {
                    for row in from..to {
                        place[row] = band[row * width + column];
                    }
                }
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_rows() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 2), (65, 31), (130, 100), (7, 1000), (200, 33)] {
            let mut bands = Bands::new(columns);
            for row in 0..rows {
                bands.push(&(0..columns).map(|column| (row * columns + column) as f64).collect::<Vec<_>>());
            }
            assert_eq!(bands.rows(), rows);
            let values = bands.into_columns();
            assert_eq!(values.len(), rows * columns);
            for row in 0..rows {
                for column in 0..columns {
                    assert_eq!(values[column * rows + row], (row * columns + column) as f64);
                }
            }
        }
    }
}
