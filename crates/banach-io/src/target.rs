//! The target: numbers, classes, or either.

use std::{cmp::Ordering, collections::HashMap};

use crate::{At, Error, field::Field};

/// The most labels of a target.
const MAX_LABELS: usize = 1000;

/// Bytes that a label takes beside its text.
const LABEL: u64 = 192;

/// The target of every row, as what it can be read as.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    name: String,
    numbers: Option<Vec<f64>>,
    classes: Option<Classes>,
    first_text: Option<FirstText>,
}

/// The first label that is not a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstText {
    /// Where it is in the file.
    pub at: At,
    /// What stands there.
    pub value: String,
}

/// Labels and who has which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The different labels: numbers by their value, then text by the alphabet.
    pub labels: Vec<String>,
    /// For every row the place of its label among them.
    pub rows: Vec<usize>,
}

impl Classes {
    /// How many rows have each label.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.labels.len()];
        self.rows.iter().for_each(|&class| counts[class] += 1);
        counts
    }
}

impl Target {
    /// The name of its column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values, if all are numbers.
    pub fn numbers(&self) -> Option<&[f64]> {
        self.numbers.as_deref()
    }

    /// Its labels; `None` for numbers with very many different values.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// Leaves out the rows that are not marked.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let mut marks = kept.iter();
        self.numbers.iter_mut().for_each(|numbers| numbers.retain(|_| marks.next() == Some(&true)));
        let Some(classes) = &mut self.classes else { return };
        let mut marks = kept.iter();
        classes.rows.retain(|_| marks.next() == Some(&true));
        let counts = classes.counts();
        let mut left = 0..;
        let places: Vec<usize> =
            counts.iter().map(|&count| if count > 0 { left.next().unwrap_or(0) } else { 0 }).collect();
        classes.rows.iter_mut().for_each(|class| *class = places[*class]);
        let mut counts = counts.iter();
        classes.labels.retain(|_| counts.next().is_some_and(|count| *count > 0));
    }

    /// Where the first label is that is not a number.
    pub fn first_text(&self) -> Option<&FirstText> {
        self.first_text.as_ref()
    }
}

/// A label: numbers that are equal are one, however they are written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LabelKey {
    Number(u64),
    Text(String),
}

/// Collects the target row by row.
#[derive(Debug)]
pub(crate) struct Collector {
    name: String,
    numbers: Option<Vec<f64>>,
    /// By first appearance; `None` once there are too many to be classes.
    labels: Option<Labels>,
    first_text: Option<FirstText>,
    /// What the labels take, about.
    bytes: u64,
}

#[derive(Debug, Default)]
struct Labels {
    places: HashMap<LabelKey, usize>,
    texts: Vec<(LabelKey, String)>,
    rows: Vec<usize>,
}

impl Collector {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            numbers: Some(Vec::new()),
            labels: Some(Labels::default()),
            first_text: None,
            bytes: 0,
        }
    }

    /// Takes in the value of a row; missing values and such have been refused.
    pub(crate) fn push(&mut self, file: &str, at: At, field: Field<'_>, raw: &str) -> Result<(), Error> {
        let raw = raw.trim();
        let label = if let Field::Number(number) = field {
            if let Some(numbers) = &mut self.numbers {
                numbers.push(number);
            }
            // -0 is 0.
            LabelKey::Number((number + 0.0).to_bits())
        } else {
            self.numbers = None;
            self.first_text.get_or_insert_with(|| FirstText { at, value: raw.to_owned() });
            LabelKey::Text(raw.to_owned())
        };
        let full = match &mut self.labels {
            Some(labels) => {
                let known = labels.texts.len();
                let room = labels.push(label, raw);
                // In the list, in the index, and in that of the classes.
                self.bytes += (labels.texts.len() - known) as u64 * (LABEL + 3 * raw.len() as u64);
                !room
            }
            None => true,
        };
        if full {
            self.labels = None;
            if let Some(FirstText { at: first, value }) = self.first_text.clone() {
                let (file, column) = (file.to_owned(), self.name.clone());
                return Err(Error::TooManyLabels { file, at, column, limit: MAX_LABELS, value, first });
            }
        }
        Ok(())
    }

    /// The bytes of its labels.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> Target {
        let Self { name, numbers, labels, first_text, .. } = self;
        Target { name, numbers, classes: labels.map(Labels::sorted), first_text }
    }
}

impl Labels {
    /// Whether there was room.
    fn push(&mut self, label: LabelKey, raw: &str) -> bool {
        let place = match self.places.get(&label) {
            Some(&place) => place,
            None if self.texts.len() == MAX_LABELS => return false,
            None => {
                self.texts.push((label.clone(), raw.to_owned()));
                self.places.insert(label, self.texts.len() - 1);
                self.texts.len() - 1
            }
        };
        self.rows.push(place);
        true
    }

    fn sorted(self) -> Classes {
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        let compare = |a: &LabelKey, b: &LabelKey| match (a, b) {
            (LabelKey::Number(a), LabelKey::Number(b)) => f64::from_bits(*a).total_cmp(&f64::from_bits(*b)),
            (LabelKey::Number(_), LabelKey::Text(_)) => Ordering::Less,
            (LabelKey::Text(_), LabelKey::Number(_)) => Ordering::Greater,
            (LabelKey::Text(a), LabelKey::Text(b)) => a.cmp(b),
        };
        order.sort_by(|&a, &b| compare(&self.texts[a].0, &self.texts[b].0));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &label)| places[label] = place);
        Classes {
            labels: order.iter().map(|&label| self.texts[label].1.clone()).collect(),
            rows: self.rows.into_iter().map(|label| places[label]).collect(),
        }
    }
}
