//! From a file to a table and a target. Every format has a file of its own here, with one function `read`.

mod archive;
#[cfg(feature = "columnar")]
mod arrow;
mod csv;
mod format;
#[cfg(any(feature = "columnar", feature = "spreadsheet"))]
mod guard;
mod input;
mod npy;
#[cfg(feature = "columnar")]
mod parquet;
mod plink;
mod svmlight;
mod utf16;
#[cfg(feature = "spreadsheet")]
mod xlsx;

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};

use self::input::Input;
pub use self::{
    format::Format,
    plink::{Allele, Cohort, Genotypes},
};
pub use crate::columns::Renamed;
use crate::{At, Decimal, Error, FileRemedy, Table, Target, at::Lines, room::Room};

/// What workbooks of old, and encrypted ones, begin with.
const OLD_WORKBOOK: &[u8] = b"\xd0\xcf\x11\xe0";

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
    /// The column that tells rows apart, in the same way as the target. It is no feature; [`Dataset::ids`] has it.
    pub id: Option<String>,
    /// What separates the fields of a text; by default what its first lines tell.
    pub delimiter: Option<u8>,
    /// What stands before decimals in a text; by default what its first lines tell.
    pub decimal: Option<Decimal>,
    /// The sheet of a workbook, by its name or its number from 1; by default the first one that is not hidden.
    pub sheet: Option<String>,
    /// Whether the first line of a text names the columns. Otherwise they are `x1`, `x2` and so on.
    pub header: bool,
    /// What to do about missing values; they are refused if nothing is said.
    pub impute: Option<Impute>,
    /// For new samples of a model its columns. Target, features, columns to leave out and labels are then not asked for.
    pub model: Option<ModelColumns>,
    /// What to read of genotypes, and the tables beside them.
    pub cohort: Cohort,
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
    /// What is filled in where values are missing, for every variable; none if it is not known.
    pub fills: Option<Vec<f64>>,
    /// What to do about labels that it has not met.
    pub unknown: Unknown,
    /// Which of the names is the column of exposures, of counts. Nothing can be filled in there: what is predicted is a multiple of it.
    pub exposure: Option<String>,
}

/// What to do about labels that a model has not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Refuse the file.
    #[default]
    Error,
    /// Take the row for one whose label is not known: its variables are what they are on average.
    Ignore,
}

impl ModelColumns {
    /// Whether a column of new samples has the exposures.
    pub(crate) fn is_exposure(&self, column: &str) -> bool {
        self.exposure.as_ref().is_some_and(|own| own == column || own.trim() == column)
    }

    /// What to fill in in columns of new samples: by their names, or by their places where the model has no names.
    pub(crate) fn fills_of(&self, columns: &[String]) -> Vec<Option<f64>> {
        let fills = self.fills.as_deref().unwrap_or_default();
        if self.names.is_empty() {
            return (0..columns.len()).map(|place| fills.get(place).copied()).collect();
        }
        let known: HashMap<&str, f64> =
            self.names.iter().zip(fills).flat_map(|(name, fill)| [(&name[..], *fill), (name.trim(), *fill)]).collect();
        columns.iter().map(|name| known.get(&name[..]).copied()).collect()
    }
}

/// What to do about missing values. Rows without a target are left out in any case.
///
/// For new samples of a model any of these fills in what the model has learned for it ([`ModelColumns::fills`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impute {
    /// Fill in the mean of the column.
    Mean,
    /// Fill in its median.
    Median,
    /// Leave out the row.
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
    /// What tells the rows apart, if that was asked for.
    pub ids: Option<Vec<String>>,
    /// The columns of text that have become columns of 0 and 1.
    pub encodings: Vec<Encoding>,
    /// What was filled in.
    pub fills: Vec<Fill>,
    /// Labels that a model has not met and was told to ignore.
    pub unknown: Vec<UnknownLabels>,
    /// The number of rows that were left out.
    pub dropped: usize,
    /// Whether the first column has the index 0, in svmlight.
    pub zero_based: bool,
    /// How a text is written; `None` for other formats.
    pub dialect: Option<Dialect>,
    /// The columns that had no name, or that of another column.
    pub renamed: Vec<Renamed>,
    /// The columns whose numbers are written with a currency or a per cent sign.
    pub units: Vec<ColumnUnit>,
    /// The sheet of a workbook, where it has several.
    pub sheet: Option<String>,
    /// What was read and left out of genotypes; `None` for other formats.
    pub genotypes: Option<Genotypes>,
    /// What was done about missing values: of genotypes they are filled in without being asked for.
    pub impute: Option<Impute>,
    /// Where its rows are in the file.
    pub(crate) lines: Lines,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What separates its fields.
    pub delimiter: u8,
    /// What the name of the file makes one expect there.
    pub expected: u8,
    /// What stands before decimals.
    pub decimal: Decimal,
}

/// A column whose numbers are written with a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUnit {
    /// Its name.
    pub column: String,
    /// `%`, which counts hundredths, or a currency.
    pub unit: String,
}

/// Labels of a column that a model has not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownLabels {
    /// The name of the column.
    pub column: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The rows that have them, from 0.
    pub rows: Vec<usize>,
    /// The variables of the model that the column becomes.
    #[serde(skip)]
    pub(crate) variables: Vec<String>,
}

impl Dataset {
    /// A table and a target, of which nothing else is to be said.
    pub(crate) fn new(file: String, table: Table, target: Target, lines: Lines) -> Self {
        Self {
            file,
            columns: table.names().len() + 1,
            others: Vec::new(),
            table,
            target,
            ids: None,
            encodings: Vec::new(),
            fills: Vec::new(),
            unknown: Vec::new(),
            dropped: 0,
            zero_based: false,
            dialect: None,
            renamed: Vec::new(),
            units: Vec::new(),
            sheet: None,
            genotypes: None,
            impute: None,
            lines,
        }
    }

    /// Leaves out the rows that are not marked.
    ///
    /// # Panics
    ///
    /// If there is not one mark for every row.
    pub fn keep(&mut self, kept: &[bool]) {
        assert_eq!(kept.len(), self.table.rows(), "a mark for every row");
        self.table.keep(kept);
        self.target.keep(kept);
        self.lines.keep(kept);
        let mut marks = kept.iter();
        self.ids.iter_mut().for_each(|ids| ids.retain(|_| marks.next() == Some(&true)));
        let mut marks = kept.iter();
        self.genotypes.iter_mut().for_each(|told| told.names.retain(|_| marks.next() == Some(&true)));
    }

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
            + self.ids.as_deref().map_or(0, texts)
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
        if self.format.or_else(|| Format::of_name(&file)) == Some(Format::Plink) {
            return plink::read_beside(path, self);
        }
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

    /// Reads genotypes of PLINK from the bytes of a `.bed`, a `.bim` and a `.fam`; `file` is the name of the first in messages.
    pub fn read_genotypes(&self, files: [&[u8]; 3], file: &str) -> Result<Dataset, Error> {
        plink::read_bytes(files, file, self)
    }

    /// The variables that genotypes have after everything is left out that was asked for, with their means; all samples count.
    pub fn genotype_columns(&self, path: &Path) -> Result<(ModelColumns, Genotypes), Error> {
        plink::columns(path, self)
    }

    /// The fewest rows that are enough.
    pub(crate) fn fewest_rows(&self) -> usize {
        if self.model.is_some() { 1 } else { 2 }
    }

    fn read_input(&self, input: Input<'_>, file: &str) -> Result<Dataset, Error> {
        let (input, head) = input.unpacked().map_err(|error| failed(file, error))?;
        let room = &Room::new(file, self.memory);
        if head.starts_with(OLD_WORKBOOK) {
            let problem = "an encrypted workbook, or one of Excel before 2007 (.xls)";
            let instead = FileRemedy::Do("save it as .xlsx without a password, or as CSV");
            return Err(Error::unsupported(file, "its beginning", problem, instead));
        }
        let format = self.format.or_else(|| Format::of_name(file)).or_else(|| Format::of_bytes(&head));
        if let Some(setting) = self.cohort.first_setting().filter(|_| format != Some(Format::Plink)) {
            let problem = "it has no genotypes of PLINK (.bed)";
            return Err(Error::unsupported(file, "its format", problem, FileRemedy::Unset(setting)));
        }
        match format.unwrap_or(Format::Csv) {
            Format::Plink => Err(plink::alone(file, &head)),
            format @ (Format::Csv | Format::Tsv) => csv::read(utf16::decoded(input, &head), self, room, format),
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
            #[cfg(feature = "spreadsheet")]
            Format::Xlsx => xlsx::read(input, self, room),
            #[cfg(not(feature = "spreadsheet"))]
            Format::Xlsx => Err(Error::unsupported(
                file,
                "its format",
                "this program was built without workbooks",
                FileRemedy::Do("build it with the feature \"spreadsheet\", or write the file as CSV"),
            )),
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
            id: None,
            delimiter: None,
            decimal: None,
            sheet: None,
            header: true,
            impute: None,
            model: None,
            cohort: Cohort::default(),
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
