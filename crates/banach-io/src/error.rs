//! What can be wrong with a file.

use std::io;

use thiserror::Error;

use crate::{At, field::decimal_comma};

/// A file that cannot be used: where, what was found there, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened or read to its end.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file without a byte, or with empty lines only.
    #[error("{file} is empty: it must have the names of its columns, and a row for every sample")]
    Empty {
        /// The file.
        file: String,
    },
    /// Too few samples.
    #[error("{file} has {columns} columns and {}; at least {} needed",
        rows(*found), if *needed == 1 { "one sample is" } else { "two samples are" })]
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
    /// A column without a name.
    #[error(
        "{file}: column {column} of {columns} has no name; write one into the first line (the nameless first column of \
         pandas is its index: to_csv(..., index=False) leaves it out)"
    )]
    EmptyName {
        /// The file.
        file: String,
        /// The column, counted from 1.
        column: usize,
        /// The number of columns.
        columns: usize,
    },
    /// Two columns of one name.
    #[error("{file}: columns {first} and {second} are both named {name:?}; rename one of them in the first line")]
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
    /// A first line of numbers.
    #[error(
        "{file}: the first line holds numbers ({first:?}, ...), and it must name the columns; add a line of names above \
         it, or say --no-header"
    )]
    NoHeader {
        /// The file.
        file: String,
        /// Its first field.
        first: String,
    },
    /// A row with too few or too many fields.
    #[error(
        "{file}, {at}: {got} fields, and the first line has {expected}; look for a missing or additional delimiter, or \
         quote the field that contains one"
    )]
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
    #[error("{file}, {at}, column {column}: the text is not UTF-8; save the file in that encoding")]
    Encoding {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// The column: its name, or its number in the first line.
        column: String,
    },
    /// A missing value.
    #[error(
        "{file}, {at}, column {column:?}: the value is missing ({value:?}){}; --impute mean or median fills missing \
         values in, --impute drop leaves such rows out, --drop a column",
        others(*count, *columns)
    )]
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
    #[error(
        "{file}, {at}, column {column:?}: {value} is not a finite number (at most 1.8e308); correct it, or \
         leave the row out"
    )]
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
    #[error(
        "{file}, {at}, column {column:?}: {value:?} is not a number{}; correct it, leave the column out with --drop \
         {drop:?}, or say --categorical {drop:?} if its values are labels",
        if decimal_comma(value) { " (decimals are written with a point)" } else { "" }
    )]
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
    #[error("{file} has no column {name:?} for {role}; {}", suggestion(near, names))]
    UnknownColumn {
        /// The file.
        file: String,
        /// Who asked for it.
        role: &'static str,
        /// The name.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
        /// All names.
        names: Vec<String>,
    },
    /// Columns that a model needs.
    #[error("{file} lacks {} that the model is made of: {}{}", columns(missing.len()), list(missing), unused(extra))]
    MissingColumns {
        /// The file.
        file: String,
        /// The columns that are not there.
        missing: Vec<String>,
        /// Columns of the file that the model does not have.
        extra: Vec<String>,
    },
    /// The target among the features.
    #[error("the target {name:?} is also asked for by --features; leave it out there")]
    TargetAsFeature {
        /// Its name.
        name: String,
    },
    /// Nothing to fit from.
    #[error(
        "{file}: no column is left beside the target {target:?}; {}",
        if *columns == 1 {
            "the first line has one field, so check the delimiter (--delimiter)"
        } else {
            "drop fewer columns"
        }
    )]
    NoFeatures {
        /// The file.
        file: String,
        /// The target.
        target: String,
        /// The number of columns of the file.
        columns: usize,
    },
    /// A target with more labels than make sense.
    #[error(
        "{file}, {at}, column {column:?}: more than {limit} different labels, the first of which that is not a \
         number is {value:?} in {first}; correct it if the target is a number, or choose another target"
    )]
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
    #[error(
        "{file} needs more memory than is allowed: {bytes} bytes by {at}; name the columns that matter with \
         --features, or raise the limit"
    )]
    TooLarge {
        /// The file.
        file: String,
        /// Where.
        at: At,
        /// Bytes needed so far.
        bytes: u64,
    },
    /// No target where the format has none of its own.
    #[error("{file}: which column is to be predicted? Name it with --target; {}", suggestion(&[], names))]
    NoTarget {
        /// The file.
        file: String,
        /// All names.
        names: Vec<String>,
    },
    /// Text that is different in every row.
    #[error(
        "{file}, column {column:?}: the text ({value:?}, ...) is different in every row, which tells nothing of other rows; \
         leave identifiers out with --drop {drop:?}, or say --categorical {column:?} if it is meant"
    )]
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
    #[error(
        "{file}, {at}, column {column:?}: more than {limit} different texts; leave the column out with --drop {column:?}"
    )]
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
    #[error("{file}, column {column:?}: every value is missing; leave the column out with --drop {column:?}")]
    AllMissing {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// Bytes that cannot be what they claim to be.
    #[error(
        "{file}, {place}: {problem}; the file is damaged, cut short or of another format: write or fetch it again, or name its format with --format"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// What a format can say and a table cannot be made of.
    #[error("{file}, {place}: {problem}; {instead}")]
    Unsupported {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What is found there.
        problem: String,
        /// What to do.
        instead: &'static str,
    },
}

/// What else is missing.
fn others(count: usize, columns: usize) -> String {
    match (count, columns) {
        (0 | 1, _) => String::new(),
        (_, 1) => format!(" and so are {} others in this column", count - 1),
        _ => format!(", the first of {count} in {columns} columns"),
    }
}

fn rows(found: usize) -> &'static str {
    if found == 0 { "no row" } else { "one row" }
}

fn columns(count: usize) -> String {
    if count == 1 { "a column".to_owned() } else { format!("{count} columns") }
}

/// The first few names.
fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let more = if names.len() > SHOWN { format!(" and {} others", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn unused(extra: &[String]) -> String {
    if extra.is_empty() { String::new() } else { format!("; the model does not know {}", list(extra)) }
}

/// The most names that a message lists.
const SHOWN: usize = 8;

/// The names that look like the one that was asked for, or the first few of all.
fn suggestion(near: &[String], names: &[String]) -> String {
    let quoted = |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if !near.is_empty() {
        return format!("did you mean {}?", quoted(near).replace(", ", " or "));
    }
    let more = if names.len() > SHOWN { format!(", ... ({} columns)", names.len()) } else { String::new() };
    let delimiter = match names {
        [one] if one.contains([';', '\t', '|', ',']) => {
            "; if that is several, name what separates them with --delimiter"
        }
        _ => "",
    };
    format!("its columns are {}{more}{delimiter}", quoted(&names[..names.len().min(SHOWN)]))
}
