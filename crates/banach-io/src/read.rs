//! From a file to a table and a target. Every format has a file of its own here, with one function `read`.

#[cfg(feature = "columnar")]
mod arrow;
mod csv;
mod format;
#[cfg(feature = "columnar")]
mod guard;
mod input;
mod npy;
#[cfg(feature = "columnar")]
mod parquet;
mod svmlight;

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};

pub use self::format::Format;
use self::input::Input;
#[cfg(not(feature = "columnar"))]
use crate::FileRemedy;
use crate::{At, Error, Table, Target, at::Lines, room::Room};

/// The name of the file that is standard input.
const STANDARD_INPUT: &str = "-";

/// What to read of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The column to predict: its name, or its number from 1 where no column has that name. Formats with a target of
    /// their own need none.
    pub target: Option<String>,
    /// The columns to predict from; all others if empty. An entry may be a list separated by commas, and a name a
    /// pattern with `*`, `?` and `[a-z]`.
    pub features: Vec<String>,
    /// Columns to leave out, in the same way.
    pub drop: Vec<String>,
    /// Columns whose values are labels even if they are numbers, in the same way.
    pub categorical: Vec<String>,
    /// The format; by default that of the name of the file.
    pub format: Option<Format>,
    /// What separates the fields of a text; by default a tab in files named `.tsv` or `.tab` and a comma in others.
    pub delimiter: Option<u8>,
    /// Whether the first line of a text names the columns. Otherwise they are `x1`, `x2` and so on.
    pub header: bool,
    /// What to do about missing values; they are refused if nothing is said.
    pub impute: Option<Impute>,
    /// For new samples of a model its columns. Target, features, columns to leave out and labels are then not asked for.
    pub model: Option<ModelColumns>,
    /// The most bytes that reading may take, the table included.
    pub memory: u64,
}

/// What a model knows of the columns that it was fitted to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelColumns {
    /// The names of its variables, each of which must be there; all columns of a file if empty.
    pub names: Vec<String>,
    /// The columns of labels that some of the variables were made of.
    pub encodings: Vec<Encoding>,
    /// Whether the first column of svmlight has the index 0.
    pub zero_based: bool,
    /// The means of its variables, with which [`Impute::Mean`] fills in; none if they are not known.
    pub means: Option<Vec<f64>>,
}

impl ModelColumns {
    /// The means of columns of new samples: by their names, or by their places where the model has no names.
    pub(crate) fn means_of(&self, columns: &[String]) -> Vec<Option<f64>> {
        let means = self.means.as_deref().unwrap_or_default();
        if self.names.is_empty() {
            return (0..columns.len()).map(|place| means.get(place).copied()).collect();
        }
        let known: HashMap<&str, f64> =
            self.names.iter().zip(means).flat_map(|(name, mean)| [(&name[..], *mean), (name.trim(), *mean)]).collect();
        columns.iter().map(|name| known.get(&name[..]).copied()).collect()
    }
}

/// What to do about missing values. Rows without a target are left out in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impute {
    /// Fill in the mean of the column; for new samples of a model that of the samples it was fitted to.
    Mean,
    /// Fill in its median; not for new samples of a model.
    Median,
    /// Leave out the row; not for new samples of a model.
    Drop,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The name of the file, for people.
    pub file: String,
    /// The number of columns of the file.
    pub columns: usize,
    /// The names of the columns that were left out.
    pub others: Vec<String>,
    /// The columns to predict from.
    pub table: Table,
    /// What to predict.
    pub target: Target,
    /// The columns of text that have become columns of 0 and 1.
    pub encodings: Vec<Encoding>,
    /// What was filled in.
    pub fills: Vec<Fill>,
    /// The number of rows that were left out.
    pub dropped: usize,
    /// Whether the first column has the index 0, in svmlight.
    pub zero_based: bool,
    /// Where its rows are in the file.
    pub(crate) lines: Lines,
}

impl Dataset {
    /// Where a row of the table is in the file.
    pub fn at(&self, row: usize) -> At {
        self.lines.at(row)
    }

    /// The bytes that it keeps, about.
    pub fn bytes(&self) -> u64 {
        let texts = |texts: &[String]| texts.iter().map(|text| 56 + text.len() as u64).sum::<u64>();
        let labels = self.encodings.iter().map(|encoding| texts(&encoding.labels)).sum::<u64>();
        self.table.bytes() as u64
            + texts(self.table.names())
            + texts(&self.others)
            + labels
            + 16 * self.table.rows() as u64
    }
}

/// A column of text: every label has a column of 0 and 1 of its own, named `column=label`; of two labels only the second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Its name.
    pub column: String,
    /// Its labels, by the alphabet.
    pub labels: Vec<String>,
}

impl Encoding {
    /// The labels that have a column.
    pub(crate) fn shown(&self) -> &[String] {
        if self.labels.len() == 2 { &self.labels[1..] } else { &self.labels }
    }

    /// The names of the columns that it becomes.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        self.shown().iter().map(|label| format!("{}={label}", self.column))
    }
}

/// What was filled in where values of a column were missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fill {
    /// The name of the column.
    pub column: String,
    /// The value.
    pub value: f64,
    /// In so many rows.
    #[serde(rename = "rows")]
    pub count: usize,
}

impl Request {
    /// All columns but the target.
    pub fn new(target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), ..Self::default() }
    }

    /// New samples of a model: its columns by their names and no target. One row is enough.
    pub fn of_model(columns: ModelColumns) -> Self {
        Self { model: Some(columns), ..Self::default() }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&self, path: &Path) -> Result<Dataset, Error> {
        if path.as_os_str() == STANDARD_INPUT {
            return self.read_from(io::stdin().lock(), "standard input");
        }
        let file = path.display().to_string();
        let unreadable = |source| Error::Read { file: file.clone(), source };
        let opened = File::open(path).map_err(unreadable)?;
        let about = opened.metadata().map_err(unreadable)?;
        if about.is_dir() {
            return Err(unreadable(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it")));
        }
        // A pipe cannot go back to its beginning.
        if about.is_file() { self.read_input(Input::File(opened), &file) } else { self.read_from(opened, &file) }
    }

    /// Reads a stream; `file` is its name in messages, which also tells the format.
    pub fn read_from<'a>(&self, stream: impl Read + 'a, file: &str) -> Result<Dataset, Error> {
        self.read_input(Input::Stream(Box::new(stream)), file)
    }

    /// The fewest rows that are enough.
    pub(crate) fn fewest_rows(&self) -> usize {
        if self.model.is_some() { 1 } else { 2 }
    }

    fn read_input(&self, input: Input<'_>, file: &str) -> Result<Dataset, Error> {
        let (input, head) = input.unpacked().map_err(|error| failed(file, error))?;
        let room = &Room::new(file, self.memory);
        let format = self.format.or_else(|| Format::of_name(file)).or_else(|| Format::of_bytes(&head));
        match format.unwrap_or(Format::Csv) {
            format @ (Format::Csv | Format::Tsv) => csv::read(input, self, room, format),
            #[cfg(feature = "columnar")]
            Format::Parquet => parquet::read(input, self, room),
            #[cfg(feature = "columnar")]
            Format::Arrow => arrow::read(input, self, room),
            #[cfg(not(feature = "columnar"))]
            Format::Parquet | Format::Arrow => Err(Error::unsupported(
                file,
                "its format",
                "this program was built without Parquet and Arrow",
                FileRemedy::Do("build it with the feature \"columnar\", or write the file as CSV"),
            )),
            Format::Npy => npy::read(input, self, room),
            Format::Npz => npy::read_archive(input, self, room),
            Format::Svmlight => svmlight::read(input, self, room),
        }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            target: None,
            features: Vec::new(),
            drop: Vec::new(),
            categorical: Vec::new(),
            format: None,
            delimiter: None,
            header: true,
            impute: None,
            model: None,
            memory: u64::MAX,
        }
    }
}

/// The error of a stream that cannot be read to its end.
fn failed(file: &str, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            Error::damaged(file, "reading on", source)
        }
        _ => Error::Read { file: file.to_owned(), source },
    }
}

#[cfg(test)]
mod tests;
