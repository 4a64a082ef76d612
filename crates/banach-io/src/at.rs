//! Where in a file a row is.

use std::fmt;

/// A row of a file, as people find it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The line of a text, counted from 1.
    Line(u64),
    /// The row of a table without lines, counted from 1.
    Row(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// The line of every row. Most rows have a line each, so only the others take memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    rows: usize,
    /// The first row, and its line, of every run of rows on consecutive lines.
    runs: Vec<(usize, u64)>,
    /// Whether these are the numbers of rows, in a table without lines.
    of_rows: bool,
}

/// Where rows are in a file is no part of what the file holds: the same table can be written in many ways.
impl PartialEq for Lines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Lines {
    /// Of a table without lines, whose rows have numbers.
    pub(crate) fn of_rows() -> Self {
        Self { of_rows: true, ..Self::default() }
    }

    /// The bytes that it takes, in lists that grow by doubling.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&self.runs[..]) as u64 * 2
    }

    pub(crate) fn push(&mut self, line: u64) {
        let expected = self.runs.last().map(|(row, first)| first + (self.rows - row) as u64);
        if expected != Some(line) {
            self.runs.push((self.rows, line));
        }
        self.rows += 1;
    }

    /// The place of a row; that of its number where no lines were counted.
    pub(crate) fn at(&self, row: usize) -> At {
        match self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1) {
            Some(run) => {
                let place = self.runs[run].1 + (row - self.runs[run].0) as u64;
                if self.of_rows { At::Row(place) } else { At::Line(place) }
            }
            None => At::Row(row as u64 + 1),
        }
    }

    /// Leaves out the rows that are not marked.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let mut left = Self { of_rows: self.of_rows || self.runs.is_empty(), ..Self::default() };
        for row in kept.iter().enumerate().filter(|(_, kept)| **kept).map(|(row, _)| row) {
            let (At::Line(place) | At::Row(place)) = self.at(row);
            left.push(place);
        }
        *self = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_remembered() {
        let mut lines = Lines::default();
        assert_eq!(lines.at(4), At::Row(5));
        let all = [2, 3, 4, 7, 8, 20];
        all.iter().for_each(|&line| lines.push(line));
        assert!(all.iter().enumerate().all(|(row, &line)| lines.at(row) == At::Line(line)));
        assert_eq!(lines.runs.len(), 3);
        lines.keep(&[true, false, true, true, false, true]);
        assert_eq!([0, 1, 2, 3].map(|row| lines.at(row)), [2, 4, 7, 20].map(At::Line));
    }

    #[test]
    fn rows_without_lines_keep_their_numbers() {
        let mut lines = Lines::default();
        lines.keep(&[false, true, true, false, true]);
        assert_eq!([0, 1, 2].map(|row| lines.at(row)), [2, 3, 5].map(At::Row));
        lines.keep(&[true, false, true]);
        assert_eq!([0, 1].map(|row| lines.at(row)), [2, 5].map(At::Row));
    }
}
