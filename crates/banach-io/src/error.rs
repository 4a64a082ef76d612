//! What can be wrong with a file.

mod message;
mod words;

use std::{fmt::Display, io};

pub use self::words::{FileRemedy, FileWords, Setting};
use crate::At;

/// A file that cannot be used: where, what was found there, and what to do.
///
/// It carries ids of settings and values. [`Error::render`] spells it in the words of a door, `to_string` in those of [`Request`].
///
/// [`Request`]: crate::Request
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened or read to its end.
    Read {
        /// The file.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file without a byte, or with empty lines only.
    Empty {
        /// The file.
        file: String,
    },
    /// Too few samples.
    TooFewRows {
        /// The file.
        file: String,
        /// The number of columns.
        columns: usize,
        /// The rows that can be used: none or one.
        found: usize,
        /// The fewest rows: one or two.
        needed: usize,
    },
    /// Two columns of one name.
    DuplicateName {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The first column with it, counted from 1.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A name that several columns have.
    AmbiguousColumn {
        /// The file.
        file: String,
        /// Where it was asked for.
        setting: Setting,
        /// The name.
        name: String,
        /// The first column with it, counted from 1.
        first: usize,
        /// The second.
        second: usize,
    },
    /// Numbers of which one column has several kinds.
    MixedUnits {
        /// The file.
        file: String,
        /// Where the second kind is.
        at: At,
        /// The column.
        column: String,
        /// Their signs; empty for none.
        units: [&'static str; 2],
    },
    /// Dates and times.
    Dates {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// One of them.
        value: String,
        /// All such columns, separated by commas.
        drop: String,
    },
    /// A first line of numbers.
    NoHeader {
        /// The file.
        file: String,
        /// Its first field.
        first: String,
    },
    /// A row with too few or too many fields.
    Ragged {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The fields in it.
        got: usize,
        /// The number of columns.
        expected: usize,
    },
    /// Bytes that are not UTF-8.
    Encoding {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The column: its name, or its number in the first line.
        column: String,
    },
    /// A missing value.
    Missing {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
        /// How many values are missing in all.
        count: usize,
        /// In how many columns.
        columns: usize,
    },
    /// Infinity, or a number beyond the range of f64.
    NotFinite {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
    },
    /// Text where a number is needed.
    NotANumber {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
        /// All columns in which text stands among numbers, separated by commas.
        drop: String,
    },
    /// A column that does not exist.
    UnknownColumn {
        /// The file.
        file: String,
        /// Where it was asked for.
        setting: Setting,
        /// The name.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All names.
        names: Vec<String>,
    },
    /// Columns that a model needs.
    MissingColumns {
        /// The file.
        file: String,
        /// The columns that are not there.
        missing: Vec<String>,
        /// Columns of the file that the model does not have.
        extra: Vec<String>,
    },
    /// The target among the features.
    TargetAsFeature {
        /// Its name.
        name: String,
    },
    /// Nothing to fit from.
    NoFeatures {
        /// The file.
        file: String,
        /// The target.
        target: String,
        /// The number of columns of the file.
        columns: usize,
    },
    /// A target with more labels than make sense.
    TooManyLabels {
        /// The file.
        file: String,
        /// Where there is one too many.
        at: At,
        /// The target.
        column: String,
        /// The most labels.
        limit: usize,
        /// The first label that is not a number.
        value: String,
        /// Where it is.
        first: At,
    },
    /// More numbers than memory.
    TooLarge {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// Bytes needed so far.
        bytes: u64,
    },
    /// No target where the format has none of its own.
    NoTarget {
        /// The file.
        file: String,
        /// All names.
        names: Vec<String>,
    },
    /// Text that is different in every row.
    Identifiers {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its first text.
        value: String,
        /// All such columns, separated by commas.
        drop: String,
    },
    /// A column of text with more labels than make sense.
    TooManyCategories {
        /// The file.
        file: String,
        /// Where there is one too many.
        at: At,
        /// The column.
        column: String,
        /// The most labels.
        limit: usize,
    },
    /// A column without a value.
    AllMissing {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// Bytes that cannot be what they claim to be.
    Damaged {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// What a format can say and a table cannot be made of.
    Unsupported {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What is found there.
        problem: String,
        /// What to do.
        instead: FileRemedy,
    },
}

impl Error {
    /// Bytes that cannot be what they claim to be.
    pub(crate) fn damaged(file: &str, place: impl Display, problem: impl Display) -> Self {
        Self::Damaged { file: file.to_owned(), place: place.to_string(), problem: problem.to_string() }
    }

    /// What a table cannot be made of.
    pub(crate) fn unsupported(file: &str, place: impl Display, problem: impl Display, instead: FileRemedy) -> Self {
        Self::Unsupported { file: file.to_owned(), place: place.to_string(), problem: problem.to_string(), instead }
    }

    /// More numbers than memory.
    pub(crate) fn too_large(file: &str, at: At, bytes: u64) -> Self {
        Self::TooLarge { file: file.to_owned(), at, bytes }
    }
}
