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
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: usize,
    /// The first row, and its line, of every run of rows on consecutive lines.
    runs: Vec<(usize, u64)>,
}

impl Lines {
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
            Some(run) => At::Line(self.runs[run].1 + (row - self.runs[run].0) as u64),
            None => At::Row(row as u64 + 1),
        }
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
    }
}
