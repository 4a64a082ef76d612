//! A table before it has a format.

use banach_cli::table;
use serde::Serialize;

/// What a table says.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ResultTable {
    /// Its name.
    pub title: String,
    /// What was run, in one sentence.
    pub setting: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// Its rows, as long as the header.
    pub rows: Vec<Vec<Cell>>,
    /// What the reader must know, a sentence or two each.
    pub notes: Vec<String>,
}

impl ResultTable {
    /// The table in a terminal.
    pub(crate) fn text(&self) -> String {
        let Self { title, setting, header, rows, notes } = self.clone();
        let rows = rows.iter().map(|row| row.iter().map(Cell::marked).collect()).collect();
        table::Table { title, setting, header, rows, notes }.wide_text()
    }
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Cell {
    /// What it says.
    pub text: String,
    /// Whether it agrees with the paper, where the paper has something to compare with.
    pub agrees: Option<bool>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), agrees: None }
    }
}

impl Cell {
    pub(crate) fn judged(text: impl Into<String>, agrees: Option<bool>) -> Self {
        Self { text: text.into(), agrees }
    }

    /// The text with its verdict, where there are no colours.
    pub(super) fn marked(&self) -> String {
        match self.agrees {
            Some(true) => format!("{} =", self.text),
            Some(false) => format!("{} !=", self.text),
            None => self.text.clone(),
        }
    }
}
