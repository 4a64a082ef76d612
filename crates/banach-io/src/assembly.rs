//! From cells to a dataset: what is text, what is missing, and what is done about it. The same for every format.

use std::collections::HashMap;

use crate::{
    At, Dataset, Encoding, Error, FileRemedy, Fill, Impute, Request, Table,
    at::Lines,
    columns::{ColumnUse, Names},
    field::{Field, decimal_comma, number_label, shown},
    room::{Held, NAME, Room, reserve},
    target::{Collector, Target},
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
    pub(crate) lines: Lines,
    rows: usize,
    /// The features, one after another.
    values: Vec<f64>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(file: &'a str, request: &'a Request, room: &Room<'a>, names: Vec<String>) -> Result<Self, Error> {
        let mut names_held = room.part();
        names_held.set(bytes_of_names(&names), At::Row(1))?;
        let mut names = Names::new(file, names)?;
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
        let bytes = ROW * rows as u64 + self.lines.bytes() + self.target.bytes();
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
            Role::Target => self.target_text(row, text.as_bytes())?,
            Role::Number(feature) | Role::Label(feature) => {
                let value = self.coded(place, row, text)?;
                self.values[feature * self.rows + row] = value;
            }
        }
        Ok(())
    }

    /// No value in a column of the file.
    pub(crate) fn missing(&mut self, place: usize, row: usize, text: &str) {
        match self.roles[place] {
            Role::Dropped => return,
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
        match Field::parse(raw) {
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
        let text = text.trim();
        if Field::is_missing(text) {
            self.note_missing(place, row, text);
            return Ok(MISSING);
        }
        // Programs write truth values in several ways; formats that have them give these.
        let text = ["true", "false"].into_iter().find(|truth| truth.eq_ignore_ascii_case(text)).unwrap_or(text);
        let dictionary = self.dictionaries.entry(place).or_default();
        if let Some(&known) = dictionary.places.get(text) {
            return Ok(code(known));
        }
        let new = dictionary.labels.len();
        if new == MAX_CATEGORIES {
            let (file, column) = (self.file.to_owned(), self.names.name(place).to_owned());
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
        self.settle_texts()?;
        self.refuse_missing()?;
        let columns = self.names.len();
        let mut target = std::mem::replace(&mut self.target, Collector::new("")).finish();
        let kept = self.drop_rows(&mut target)?;
        let (names, encodings) = self.one_hot()?;
        let fills = self.fill(&names)?;
        let table = Table::new(names, self.rows, self.values);
        let (file, others) = (self.file.to_owned(), self.others);
        let (mut lines, mut dropped) = (self.lines, 0);
        if let Some(kept) = kept {
            lines.keep(&kept);
            dropped = kept.len() - self.rows;
        }
        Ok(Dataset { file, columns, others, table, target, encodings, fills, dropped, zero_based: false, lines })
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

    /// Decides for every column with text whether it holds labels, or numbers some of which are missing; a column that
    /// holds both, or a different text in every row, is refused.
    fn settle_texts(&mut self) -> Result<(), Error> {
        let (mut wrong, mut identifiers) = (Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        for (feature, &place) in self.features.iter().enumerate() {
            let Some(dictionary) = self.dictionaries.get(&place) else { continue };
            if matches!(self.roles[place], Role::Label(_)) {
                continue;
            }
            let column = &self.values[feature * self.rows..(feature + 1) * self.rows];
            let has_numbers = column.iter().any(|x| !x.is_nan());
            let is_text = |(text, _): &&(String, usize)| !Field::is_missing_number(text);
            let text = dictionary.labels.iter().find(is_text);
            let comma = || dictionary.labels.iter().find(|(text, _)| decimal_comma(text));
            match (text, if has_numbers { text } else { comma() }) {
                (None, _) => numbers.push(place),
                (_, Some((text, row))) => wrong.push((*row, place, shown(text.as_bytes()))),
                // A model knows which columns hold labels.
                (Some((text, row)), None) if self.request.model.is_some() => {
                    wrong.push((*row, place, shown(text.as_bytes())));
                }
                (Some((text, _)), None) => {
                    let labelled = column.iter().filter(|x| label(**x).is_some()).count();
                    if labelled > 2 && labelled == dictionary.labels.len() {
                        identifiers.push((place, shown(text.as_bytes())));
                    }
                }
            }
        }
        let name = |place: usize| self.names.name(place);
        let file = self.file.to_owned();
        if let Some((row, place, value)) = wrong.iter().min() {
            if self.request.model.is_some() {
                let instead = FileRemedy::Do("the model was fitted to numbers in this column; correct it");
                return Err(self.unfit(*row, *place, format!("{value:?} is not a number"), instead));
            }
            let drop = wrong.iter().map(|(_, place, _)| name(*place)).collect::<Vec<_>>().join(",");
            let (at, column, value) = (self.lines.at(*row), name(*place).to_owned(), value.clone());
            return Err(Error::NotANumber { file, at, column, value, drop });
        }
        if let Some((place, value)) = identifiers.first() {
            let drop = identifiers.iter().map(|(place, _)| name(*place)).collect::<Vec<_>>().join(",");
            return Err(Error::Identifiers { file, column: name(*place).to_owned(), value: value.clone(), drop });
        }
        for place in numbers {
            for (text, row) in self.dictionaries.remove(&place).into_iter().flat_map(|column| column.labels) {
                self.note_missing(place, row, &text);
            }
        }
        Ok(())
    }

    /// Whether the value of a feature is missing; labels are not.
    fn is_missing(&self, feature: usize, value: f64) -> bool {
        value.is_nan() && (label(value).is_none() || !self.dictionaries.contains_key(&self.features[feature]))
    }

    fn refuse_missing(&self) -> Result<(), Error> {
        let Some((row, place, value)) = &self.missing else { return Ok(()) };
        let model = self.request.model.as_ref();
        let filled = match model {
            Some(model) => model.means.is_some() && self.request.impute == Some(Impute::Mean),
            None => self.request.impute.is_some(),
        };
        if filled {
            return Ok(());
        }
        if let Some(model) = model {
            let instead = match model.means {
                Some(_) => FileRemedy::FillMean,
                None => FileRemedy::Do(
                    "a model needs every value, and this one knows no means; fill it in, or leave the row out",
                ),
            };
            return Err(self.unfit(*row, *place, format!("the value is missing ({value:?})"), instead));
        }
        let mut counts: Vec<usize> = self
            .values
            .chunks(self.rows)
            .enumerate()
            .map(|(feature, column)| column.iter().filter(|x| self.is_missing(feature, **x)).count())
            .collect();
        counts.push(self.untargeted.len());
        Err(Error::Missing {
            file: self.file.to_owned(),
            at: self.lines.at(*row),
            column: self.names.name(*place).to_owned(),
            value: value.clone(),
            count: counts.iter().sum(),
            columns: counts.iter().filter(|count| **count > 0).count(),
        })
    }

    /// Leaves out the rows without a target, and those with missing values if that was asked for; says which are left, if not all are.
    fn drop_rows(&mut self, target: &mut Target) -> Result<Option<Vec<bool>>, Error> {
        if self.missing.is_none() {
            return Ok(None);
        }
        let mut kept = vec![true; self.rows];
        if self.request.impute == Some(Impute::Drop) {
            for (feature, column) in self.values.chunks(self.rows).enumerate() {
                for (kept, &x) in kept.iter_mut().zip(column) {
                    *kept &= !self.is_missing(feature, x);
                }
            }
        }
        // The target has only the rows that have one.
        let mut targeted = vec![true; self.rows];
        self.untargeted.iter().for_each(|&row| targeted[row] = false);
        let among: Vec<bool> =
            kept.iter().zip(&targeted).filter(|(_, targeted)| **targeted).map(|(kept, _)| *kept).collect();
        target.keep(&among);
        kept.iter_mut().zip(&targeted).for_each(|(kept, targeted)| *kept &= targeted);
        let left = kept.iter().filter(|kept| **kept).count();
        self.too_few(left)?;
        let mut at = 0..;
        let rows = self.rows;
        self.values.retain(|_| at.next().is_some_and(|at: usize| kept[at % rows]));
        self.rows = left;
        Ok(Some(kept))
    }

    /// Turns every column of labels into one column of 0 and 1 for every label, or for the second of two. Returns the
    /// names of all columns.
    fn one_hot(&mut self) -> Result<(Vec<String>, Vec<Encoding>), Error> {
        let name = |place: &usize| self.names.name(*place).to_owned();
        if self.dictionaries.is_empty() && self.features.iter().all(|place| self.known(*place).is_none()) {
            return Ok((self.features.iter().map(name).collect(), Vec::new()));
        }
        let rows = self.rows;
        let (mut names, mut sources, mut encodings) = (Vec::new(), Vec::new(), Vec::new());
        // For every feature its first new column, and the labels of those that have any.
        let mut plan: Vec<(usize, Option<Vec<usize>>)> = Vec::with_capacity(self.features.len());
        let nothing = Dictionary::default();
        for (feature, place) in self.features.iter().enumerate() {
            let first = names.len();
            // All labels of a column that a model knows may be missing.
            let known = self.known(*place);
            let Some(dictionary) = self.dictionaries.get(place).or(known.map(|_| &nothing)) else {
                plan.push((first, None));
                names.push(name(place));
                sources.push(*place);
                continue;
            };
            if let Some(known) = known {
                let labels = self.as_known(*place, dictionary, known)?;
                names.extend(known.variables());
                sources.extend(labels.iter().map(|_| *place));
                encodings.push(known.clone());
                plan.push((first, Some(labels)));
                continue;
            }
            let mut met = vec![false; dictionary.labels.len()];
            let column = &self.values[feature * rows..(feature + 1) * rows];
            column.iter().filter_map(|x| label(*x)).for_each(|label| met[label] = true);
            let mut order: Vec<usize> = (0..met.len()).filter(|label| met[*label]).collect();
            let text = |label: usize| &dictionary.labels[label].0;
            order.sort_by(|a, b| text(*a).cmp(text(*b)));
            if order.is_empty() {
                return Err(Error::AllMissing { file: self.file.to_owned(), column: name(place) });
            }
            let labels = order.iter().map(|label| text(*label).clone()).collect();
            encodings.push(Encoding { column: name(place), labels });
            if order.len() == 2 {
                order.remove(0);
            }
            names.extend(order.iter().map(|label| format!("{}={}", self.names.name(*place), text(*label))));
            sources.extend(order.iter().map(|_| *place));
            plan.push((first, Some(order)));
        }
        let mut places = HashMap::new();
        for (name, place) in names.iter().zip(&sources) {
            if let Some(first) = places.insert(name, *place) {
                let (name, first, second) = (name.clone(), first + 1, place + 1);
                return Err(Error::DuplicateName { file: self.file.to_owned(), name, first, second });
            }
        }
        let (at, old) = (At::Row(rows as u64), self.values.len());
        self.rows_held.set(8 * (rows as u64).saturating_mul(names.len() as u64), at)?;
        self.names_held.set(bytes_of_names(&names), at)?;
        // From the last to the first, so that nothing is overwritten before it has moved.
        reserve(&mut self.values, (names.len() * rows).saturating_sub(old), self.file, at)?;
        self.values.resize(names.len() * rows, 0.0);
        for (feature, (first, labels)) in plan.into_iter().enumerate().rev() {
            let column = feature * rows..(feature + 1) * rows;
            let Some(labels) = labels else {
                self.values.copy_within(column, first * rows);
                continue;
            };
            let codes = self.values[column].to_vec();
            for (at, wanted) in labels.into_iter().enumerate() {
                let new = &mut self.values[(first + at) * rows..(first + at + 1) * rows];
                for (new, code) in new.iter_mut().zip(&codes) {
                    *new = label(*code).map_or(MISSING, |label| f64::from(u8::from(label == wanted)));
                }
            }
        }
        Ok((names, encodings))
    }

    /// What a model knows of a column of labels.
    fn known(&self, place: usize) -> Option<&'a Encoding> {
        let encodings = &self.request.model.as_ref()?.encodings;
        encodings.iter().find(|encoding| encoding.column == self.names.name(place))
    }

    /// For every variable that a model has made of a column of labels the place of its label in the dictionary, beyond
    /// its end if the label is not there. A label that the model has not met is refused.
    fn as_known(&self, place: usize, dictionary: &Dictionary, known: &Encoding) -> Result<Vec<usize>, Error> {
        if let Some((label, row)) = dictionary.labels.iter().find(|(label, _)| !known.labels.contains(label)) {
            let problem = format!("the model was fitted without the label {:?}", shown(label.as_bytes()));
            let instead = FileRemedy::Do("correct it, leave the row out, or fit the model to data that have it");
            return Err(self.unfit(*row, place, problem, instead));
        }
        let find = |label: &String| dictionary.places.get(label).copied().unwrap_or(usize::MAX);
        Ok(known.shown().iter().map(find).collect())
    }

    /// Fills in what is missing.
    fn fill(&mut self, names: &[String]) -> Result<Vec<Fill>, Error> {
        let mut fills = Vec::new();
        let Some(impute) = self.request.impute.filter(|_| self.missing.is_some()) else { return Ok(fills) };
        let means = self.request.model.as_ref().map(|model| model.means_of(names));
        for (at, (name, column)) in names.iter().zip(self.values.chunks_mut(self.rows)).enumerate() {
            let count = column.iter().filter(|x| x.is_nan()).count();
            if count == 0 {
                continue;
            }
            let value = match &means {
                Some(means) => means[at],
                None => impute.value(&mut column.iter().copied().filter(|x| !x.is_nan()).collect::<Vec<f64>>()),
            };
            let Some(value) = value else {
                return Err(Error::AllMissing { file: self.file.to_owned(), column: name.clone() });
            };
            column.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = value);
            fills.push(Fill { column: name.clone(), value, count });
        }
        Ok(fills)
    }
}

impl Impute {
    /// What to fill in among these values.
    fn value(self, present: &mut [f64]) -> Option<f64> {
        let n = present.len();
        if n == 0 {
            return None;
        }
        if self == Self::Median {
            present.sort_by(f64::total_cmp);
            // Halves first, as a sum may leave the range.
            return Some(if n % 2 == 1 { present[n / 2] } else { 0.5 * present[n / 2 - 1] + 0.5 * present[n / 2] });
        }
        let mean = present.iter().map(|x| x / n as f64).sum::<f64>();
        let correction = present.iter().map(|x| (x - mean) / n as f64).sum::<f64>();
        Some(if correction.is_finite() { mean + correction } else { mean })
    }
}
