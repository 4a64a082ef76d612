//! From a file of delimited text to a table and a target.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use csv::{ByteRecord, ReaderBuilder};

use crate::{
    Error, Table, Target,
    bands::Bands,
    columns::{Names, Part},
    field::{Field, shown},
    target::Collector,
};

/// The name of the file that is standard input.
pub const STANDARD_INPUT: &str = "-";

/// What to read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The column to predict: its name, or its number from 1 where no column has that name. `None` for new samples of a
    /// model: the features are then the names of its variables, each of which must be there, and one row is enough.
    pub target: Option<String>,
    /// The columns to predict from; all others if empty. An entry may be a list separated by commas, with a target.
    pub features: Vec<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// What separates fields; by default a tab in files named `.tsv` or `.tab` and a comma in others.
    pub delimiter: Option<u8>,
    /// The most bytes that the table may take.
    pub memory: u64,
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
}

impl Request {
    /// All columns but the target.
    pub fn new(target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), features: Vec::new(), drop: Vec::new(), delimiter: None, memory: u64::MAX }
    }

    /// These columns and no target; all columns if there is no name.
    pub fn of_columns(names: Vec<String>) -> Self {
        Self { target: None, features: names, ..Self::new("") }
    }

    /// Reads a file, or standard input for `-`.
    pub fn read(&self, path: &Path) -> Result<Dataset, Error> {
        if path.as_os_str() == STANDARD_INPUT {
            return self.read_from(io::stdin().lock(), "standard input");
        }
        let file = path.display().to_string();
        let unreadable = |source| Error::Read { file: file.clone(), source };
        let opened = File::open(path).map_err(unreadable)?;
        if opened.metadata().map_err(unreadable)?.is_dir() {
            return Err(unreadable(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file in it")));
        }
        self.read_from(opened, &file)
    }

    /// Reads a stream; `file` is its name in messages, which also tells the delimiter.
    pub fn read_from(&self, stream: impl Read, file: &str) -> Result<Dataset, Error> {
        let tabs = [".tsv", ".tab"].iter().any(|end| file.to_ascii_lowercase().ends_with(end));
        let delimiter = self.delimiter.unwrap_or(if tabs { b'\t' } else { b',' });
        let failed = |source: io::Error| Error::Read { file: file.to_owned(), source };
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let ends = LineEnds::of(stream.fill_buf().map_err(failed)?);
        let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(true).flexible(true).from_reader(stream);
        let header = reader.byte_headers().map_err(|error| failed(error.into()))?.clone();
        if header.is_empty() {
            return Err(Error::Empty { file: file.to_owned() });
        }
        let names = Names::new(file, texts(file, &header)?)?;
        let parts = names.parts(self.target.as_deref(), &self.features, &self.drop)?;
        let mut rows = Rows::new(file, &names, &parts, self.memory);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(|error| failed(error.into()))? {
            let next = reader.position().line();
            rows.push(&record, || ends.line(&record, next))?;
        }
        rows.finish()
    }
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Unix,
    Windows,
}

impl LineEnds {
    fn of(beginning: &[u8]) -> Self {
        let first = beginning.iter().position(|byte| *byte == b'\n');
        if first.is_some_and(|at| at > 0 && beginning[at - 1] == b'\r') { Self::Windows } else { Self::Unix }
    }

    /// The line on which a record starts, where `next` is the line that the reader has come to. The reader's own count
    /// is that of the end of the record before, and does not see empty lines.
    fn line(self, record: &ByteRecord, next: u64) -> u64 {
        let inside = record.as_slice().split(|byte| *byte == b'\n').count() as u64 - 1;
        // Of a line of Windows the reader leaves the last byte for later.
        let own = u64::from(self == Self::Unix);
        next.saturating_sub(inside + own).max(record.position().map_or(0, csv::Position::line))
    }
}

/// The rows so far.
struct Rows<'a> {
    file: &'a str,
    names: &'a Names<'a>,
    parts: &'a [Part],
    memory: u64,
    /// The numbers of the present row.
    row: Vec<f64>,
    bands: Bands,
    target: Collector,
}

impl<'a> Rows<'a> {
    fn new(file: &'a str, names: &'a Names<'a>, parts: &'a [Part], memory: u64) -> Self {
        let features = parts.iter().filter(|part| **part == Part::Feature).count();
        let target = parts.iter().position(|part| *part == Part::Target).map_or("", |place| names.name(place));
        let (row, bands) = (Vec::with_capacity(features), Bands::new(features));
        Self { file, names, parts, memory, row, bands, target: Collector::new(target) }
    }

    fn push(&mut self, record: &ByteRecord, line: impl Fn() -> u64) -> Result<(), Error> {
        if record.len() != self.names.len() {
            let (got, expected) = (record.len(), self.names.len());
            return Err(Error::Ragged { file: self.file.to_owned(), line: line(), got, expected });
        }
        self.row.clear();
        for (place, raw) in record.iter().enumerate() {
            match self.parts[place] {
                Part::Dropped => {}
                Part::Feature => match Field::parse(raw) {
                    Field::Number(number) => self.row.push(number),
                    other => return Err(self.refused(record, line(), place, other)),
                },
                Part::Target => match Field::parse(raw) {
                    field @ (Field::Number(_) | Field::Text(_)) => {
                        self.target.push(self.file, &line, field, &String::from_utf8_lossy(raw))?;
                    }
                    other => return Err(self.refused(record, line(), place, other)),
                },
            }
        }
        self.bands.push(&self.row);
        let bytes = 8 * (self.bands.rows() as u64).saturating_mul(self.row.len() as u64);
        if bytes > self.memory {
            return Err(Error::TooLarge { file: self.file.to_owned(), line: line(), bytes });
        }
        Ok(())
    }

    /// Why a field cannot be used.
    fn refused(&self, record: &ByteRecord, line: u64, place: usize, field: Field<'_>) -> Error {
        let (file, column, value) = (self.file.to_owned(), self.names.name(place).to_owned(), shown(&record[place]));
        match field {
            Field::Missing => Error::Missing { file, line, column, value },
            Field::NotFinite => Error::NotFinite { file, line, column, value },
            Field::Bytes => Error::Encoding { file, line, column: format!("{column:?}") },
            Field::Text(text) if Field::is_missing_number(text) => Error::Missing { file, line, column, value },
            Field::Text(_) | Field::Number(_) => {
                let is_text = |place: &usize| {
                    self.parts[*place] == Part::Feature && matches!(Field::parse(&record[*place]), Field::Text(_))
                };
                let texts: Vec<&str> = (0..record.len()).filter(is_text).map(|place| self.names.name(place)).collect();
                Error::NotANumber { file, line, column, value, drop: texts.join(",") }
            }
        }
    }

    fn finish(self) -> Result<Dataset, Error> {
        let (file, columns, rows) = (self.file.to_owned(), self.names.len(), self.bands.rows());
        let needed = if self.parts.contains(&Part::Target) { 2 } else { 1 };
        if rows < needed {
            return Err(Error::TooFewRows { file, columns, found: rows, needed });
        }
        let names_of = |wanted: Part| {
            let places = self.parts.iter().enumerate().filter(move |(_, part)| **part == wanted);
            places.map(|(place, _)| self.names.name(place).to_owned()).collect()
        };
        let (names, others) = (names_of(Part::Feature), names_of(Part::Dropped));
        let table = Table::new(names, rows, self.bands.into_columns());
        Ok(Dataset { file, columns, others, table, target: self.target.finish() })
    }
}

/// The names in the first line.
fn texts(file: &str, header: &ByteRecord) -> Result<Vec<String>, Error> {
    let text = |(place, raw): (usize, &[u8])| match std::str::from_utf8(raw) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(_) => Err(Error::Encoding { file: file.to_owned(), line: 1, column: (place + 1).to_string() }),
    };
    header.iter().enumerate().map(text).collect()
}

#[cfg(test)]
mod tests;
