//! From cells to a dataset: what is text, what is missing, and what is done about it. The same for every format.

mod labels;
mod missing;
mod units;

use std::collections::HashMap;

pub(crate) use self::units::UnitCounts;
use crate::{
    At, Dataset, Error, FileRemedy, Request, Table,
    at::Lines,
    columns::{ColumnUse, Names},
    date::is_date,
    field::{Field, number_label, shown, text_label},
    room::{Held, NAME, Room},
    target::Collector,
    written::NumberStyle,
};

/// The most labels of a column of text.
const MAX_CATEGORIES: usize = 1000;

/// Bytes that a label takes beside its text, which is kept twice.
const LABEL: u64 = 96;

/// Bytes of a row beside its features: a number, a class, and a mark if it has no target, in lists that grow by doubling.
const ROW: u64 = 48;

/// What stands in the matrix for a missing value.
pub(crate) const MISSING: f64 = f64::NAN;

/// What stands in the matrix for a label until columns of text become columns of numbers: a NaN with the number of the
/// label in its low bits.
fn code(label: usize) -> f64 {
    f64::from_bits(MISSING.to_bits() | (label as u64 + 1))
}

/// The label that a NaN stands for.
fn label(value: f64) -> Option<usize> {
    ((value.to_bits() ^ MISSING.to_bits()) as usize).checked_sub(1)
}

/// What the names of columns take.
fn bytes_of_names(names: &[String]) -> u64 {
    let text: u64 = names.iter().map(|name| name.len() as u64).sum();
    (NAME * names.len() as u64).saturating_add(text.saturating_mul(3))
}

/// The place of a column of the file in the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Dropped,
    Target,
    /// What tells rows apart.
    Id,
    /// The number of the feature.
    Number(usize),
    /// The same for values that are labels, whatever they look like.
    Label(usize),
}

/// The labels of a column, by first appearance, each with its first row.
#[derive(Debug, Default)]
struct Dictionary {
    labels: Vec<(String, usize)>,
    places: HashMap<String, usize>,
}

/// A dataset in the making.
#[derive(Debug)]
pub(crate) struct Assembly<'a> {
    pub(crate) file: &'a str,
    request: &'a Request,
    names: Names<'a>,
    roles: Vec<Role>,
    /// The names of the columns that are left out.
    others: Vec<String>,
    /// The columns of the file that are features.
    features: Vec<usize>,
    dictionaries: HashMap<usize, Dictionary>,
    bytes_of_labels: u64,
    /// What names, labels, the target with its rows and lines, and the features take.
    names_held: Held<'a>,
    labels_held: Held<'a>,
    target_held: Held<'a>,
    rows_held: Held<'a>,
    /// The row, the column of the file and the text of the first missing value.
    missing: Option<(usize, usize, String)>,
    target: Collector,
    /// The column of the target.
    target_place: usize,
    /// Rows without a target.
    untargeted: Vec<usize>,
    /// What tells the rows apart, if that was asked for.
    ids: Vec<String>,
    bytes_of_ids: u64,
    /// How numbers are written where they are text.
    pub(crate) style: NumberStyle,
    pub(crate) units: UnitCounts,
    pub(crate) lines: Lines,
    rows: usize,
    /// The features, one after another.
    values: Vec<f64>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(file: &'a str, request: &'a Request, room: &Room<'a>, names: Vec<String>) -> Result<Self, Error> {
        let mut names_held = room.part();
        names_held.set(bytes_of_names(&names), At::Row(1))?;
        let mut names = Names::new(file, names);
        let uses = names.uses(request)?;
        names.forget_places();
        let mut features = Vec::new();
        let mut target_place = 0;
        let mut others = Vec::new();
        let role = |(place, used): (usize, &ColumnUse)| match used {
            ColumnUse::Dropped => {
                others.push(names.name(place).to_owned());
                Role::Dropped
            }
            ColumnUse::Target => {
                target_place = place;
                Role::Target
            }
            ColumnUse::Id => Role::Id,
            ColumnUse::Feature | ColumnUse::Label => {
                features.push(place);
                let feature = features.len() - 1;
                if *used == ColumnUse::Label { Role::Label(feature) } else { Role::Number(feature) }
            }
        };
        let roles = uses.iter().enumerate().map(role).collect();
        let target = Collector::new(if request.model.is_some() { "" } else { names.name(target_place) });
        Ok(Self {
            file,
            request,
            roles,
            features,
            target,
            target_place,
            names,
            others,
            dictionaries: HashMap::new(),
            bytes_of_labels: 0,
            names_held,
            labels_held: room.whole_part(),
            target_held: room.part(),
            rows_held: room.whole_part(),
            missing: None,
            untargeted: Vec::new(),
            ids: Vec::new(),
            bytes_of_ids: 0,
            style: NumberStyle::default(),
            units: UnitCounts::default(),
            lines: Lines::default(),
            rows: 0,
            values: Vec::new(),
        })
    }

    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    pub(crate) fn features(&self) -> usize {
        self.features.len()
    }

    /// Counts the rows that have been read, beside their features: targets and lines.
    pub(crate) fn count_rows(&mut self, rows: usize) -> Result<(), Error> {
        let bytes = ROW * rows as u64 + self.lines.bytes() + self.target.bytes() + self.bytes_of_ids;
        self.target_held.set(bytes, self.lines.at(rows.saturating_sub(1)))
    }

    /// What the features take, which are not here yet.
    pub(crate) fn rows_held(&mut self) -> &mut Held<'a> {
        &mut self.rows_held
    }

    /// Makes room for so many rows, which [`number`](Self::number) and the like fill. Memory that is not written to is not
    /// taken, so a wrong claim costs nothing.
    pub(crate) fn allocate(&mut self, rows: usize) -> Result<(), Error> {
        let at = self.lines.at(rows.saturating_sub(1));
        // More than can be counted is more than any limit, also than none.
        let bytes = (rows as u64).checked_mul(self.features.len() as u64).and_then(|numbers| numbers.checked_mul(8));
        let bytes = bytes.ok_or_else(|| Error::too_large(self.file, at, u64::MAX))?;
        self.rows_held.set(bytes, at)?;
        let values = banach::memory::zeros(rows * self.features.len());
        self.values = values.ok_or_else(|| Error::too_large(self.file, at, bytes))?;
        self.rows = rows;
        self.count_rows(rows)
    }

    /// The first so many features, one after another; NaN stands for a missing value, of which [`note_missing`](Self::note_missing) is told.
    pub(crate) fn columns_mut(&mut self, features: usize) -> &mut [f64] {
        &mut self.values[..features * self.rows]
    }

    /// Takes a finished matrix instead.
    pub(crate) fn set_values(&mut self, rows: usize, values: Vec<f64>) {
        debug_assert_eq!(values.len(), rows * self.features.len());
        (self.rows, self.values) = (rows, values);
    }

    /// A number in a column of the file; NaN is a missing one.
    pub(crate) fn number(&mut self, place: usize, row: usize, value: f64) -> Result<(), Error> {
        if value.is_nan() {
            self.missing(place, row, "nan");
            return Ok(());
        }
        if value.is_infinite() {
            return Err(self.not_finite(place, row, &value.to_string()));
        }
        match self.roles[place] {
            Role::Dropped => {}
            Role::Id => self.id(&number_label(value)),
            Role::Target => {
                self.target.push(self.file, self.lines.at(row), Field::Number(value), &value.to_string())?;
            }
            Role::Number(feature) => self.values[feature * self.rows + row] = value,
            Role::Label(feature) => {
                let value = self.coded(place, row, &number_label(value))?;
                self.values[feature * self.rows + row] = value;
            }
        }
        Ok(())
    }

    /// A text in a column of the file.
    pub(crate) fn text(&mut self, place: usize, row: usize, text: &str) -> Result<(), Error> {
        match self.roles[place] {
            Role::Dropped => {}
            Role::Id => self.id(text),
            Role::Target => self.target_text(row, text.as_bytes())?,
            Role::Number(feature) | Role::Label(feature) => {
                let value = self.coded(place, row, text)?;
                self.values[feature * self.rows + row] = value;
            }
        }
        Ok(())
    }

    /// A text that is a number if it can be one, as in a spreadsheet.
    pub(crate) fn text_or_number(&mut self, place: usize, row: usize, text: &str) -> Result<(), Error> {
        match (self.roles[place], Field::written(text.as_bytes(), self.style)) {
            (Role::Number(feature), (Field::Number(number), unit)) => {
                unit.into_iter().for_each(|unit| self.units.count(place, unit, row, 1));
                self.values[feature * self.rows + row] = number;
                Ok(())
            }
            (Role::Label(_), (Field::Number(number), None)) => self.number(place, row, number),
            (Role::Number(_), (Field::NotFinite, _)) => Err(self.not_finite(place, row, text)),
            _ => self.text(place, row, text),
        }
    }

    /// What tells the next row from others.
    pub(crate) fn id(&mut self, text: &str) {
        let text = text.trim();
        self.bytes_of_ids += 2 * (24 + text.len() as u64);
        self.ids.push(text.to_owned());
    }

    /// No value in a column of the file.
    pub(crate) fn missing(&mut self, place: usize, row: usize, text: &str) {
        match self.roles[place] {
            Role::Dropped => return,
            Role::Id => return self.id(""),
            Role::Target => self.untargeted.push(row),
            Role::Number(feature) | Role::Label(feature) => self.values[feature * self.rows + row] = MISSING,
        }
        self.note_missing(place, row, text);
    }

    /// Remembers the first missing value.
    pub(crate) fn note_missing(&mut self, place: usize, row: usize, text: &str) {
        if self.missing.as_ref().is_none_or(|(first, column, _)| (row, place) < (*first, *column)) {
            self.missing = Some((row, place, text.to_owned()));
        }
    }

    /// The target of a row, as it is written.
    pub(crate) fn target_text(&mut self, row: usize, raw: &[u8]) -> Result<(), Error> {
        let place = self.target_place;
        let (field, unit) = Field::written(raw, self.style);
        unit.into_iter().for_each(|unit| self.units.count(place, unit, row, 1));
        match field {
            field @ (Field::Number(_) | Field::Text(_)) => {
                self.target.push(self.file, self.lines.at(row), field, &String::from_utf8_lossy(raw))
            }
            Field::Missing => {
                self.untargeted.push(row);
                self.note_missing(place, row, &shown(raw));
                Ok(())
            }
            Field::NotFinite => Err(self.not_finite(place, row, &shown(raw))),
            Field::Bytes => Err(self.encoding(place, row)),
        }
    }

    /// What stands for a text in the matrix. An empty text and the like is a missing value.
    pub(crate) fn coded(&mut self, place: usize, row: usize, text: &str) -> Result<f64, Error> {
        let Some(text) = text_label(text) else {
            self.note_missing(place, row, text.trim());
            return Ok(MISSING);
        };
        let dictionary = self.dictionaries.entry(place).or_default();
        if let Some(&known) = dictionary.places.get(text) {
            return Ok(code(known));
        }
        let new = dictionary.labels.len();
        if new == MAX_CATEGORIES {
            let (file, column) = (self.file.to_owned(), self.names.name(place).to_owned());
            if dictionary.labels.iter().all(|(label, _)| is_date(label)) {
                let value = shown(text.as_bytes());
                return Err(Error::Dates { file, drop: column.clone(), column, value });
            }
            return Err(Error::TooManyCategories { file, at: self.lines.at(row), column, limit: MAX_CATEGORIES });
        }
        self.bytes_of_labels += LABEL + 2 * text.len() as u64;
        self.labels_held.set(self.bytes_of_labels, self.lines.at(row))?;
        dictionary.labels.push((text.to_owned(), row));
        dictionary.places.insert(text.to_owned(), new);
        Ok(code(new))
    }

    pub(crate) fn not_finite(&self, place: usize, row: usize, value: &str) -> Error {
        let (file, column) = (self.file.to_owned(), self.names.name(place).to_owned());
        Error::NotFinite { file, at: self.lines.at(row), column, value: value.to_owned() }
    }

    pub(crate) fn encoding(&self, place: usize, row: usize) -> Error {
        let column = format!("{:?}", self.names.name(place));
        Error::Encoding { file: self.file.to_owned(), at: self.lines.at(row), column }
    }

    pub(crate) fn finish(mut self) -> Result<Dataset, Error> {
        self.too_few(self.rows)?;
        self.drop_empty_columns();
        self.settle_texts()?;
        let units = self.one_unit()?;
        self.refuse_missing()?;
        let columns = self.names.len();
        let mut target = std::mem::replace(&mut self.target, Collector::new("")).finish();
        let kept = self.drop_rows(&mut target)?;
        let labels::Encoded { names, encodings, unknown } = self.one_hot()?;
        let fills = self.fill(&names)?;
        let table = Table::new(names, self.rows, self.values);
        let (mut lines, mut dropped, mut ids) = (self.lines, 0, self.ids);
        if let Some(kept) = kept {
            lines.keep(&kept);
            let mut marks = kept.iter();
            ids.retain(|_| marks.next() == Some(&true));
            dropped = kept.len() - self.rows;
        }
        Ok(Dataset {
            columns,
            others: self.others,
            ids: self.request.id.as_ref().map(|_| ids),
            encodings,
            fills,
            unknown,
            dropped,
            renamed: self.names.into_renamed(),
            impute: self.request.impute,
            units,
            ..Dataset::new(self.file.to_owned(), table, target, lines)
        })
    }

    fn too_few(&self, rows: usize) -> Result<(), Error> {
        let needed = self.request.fewest_rows();
        if rows >= needed {
            return Ok(());
        }
        Err(Error::TooFewRows { file: self.file.to_owned(), columns: self.names.len(), found: rows, needed })
    }

    /// What is wrong with a value of a new sample, and what to do.
    fn unfit(&self, row: usize, place: usize, problem: String, instead: FileRemedy) -> Error {
        let place = format!("{}, column {:?}", self.lines.at(row), self.names.name(place));
        Error::unsupported(self.file, place, problem, instead)
    }
}
