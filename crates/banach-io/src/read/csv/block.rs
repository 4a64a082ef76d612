//! Rows that are parsed, many at a time, before they are in their places.

use std::ops::Range;

use csv::ByteRecord;
use memchr::{memchr, memchr_iter};

use crate::{
    assembly::{MISSING, Role, UnitCounts},
    field::{Field, shown},
    written::NumberStyle,
};

/// How the fields of lines are told apart, and what they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    pub roles: &'a [Role],
    pub delimiter: u8,
    pub style: NumberStyle,
}

/// Rows that are parsed and not yet in their places.
#[derive(Default)]
pub(super) struct Block {
    /// The line of every row; 0 is the first of the block.
    pub lines: Vec<u64>,
    /// The lines of the block.
    pub ends: u64,
    /// The features, row by row.
    pub numbers: Vec<f64>,
    /// The cells among them that are no numbers.
    pub odd: Vec<Odd>,
    pub targets: Vec<Range<usize>>,
    pub ids: Vec<Range<usize>>,
    /// What is written beside numbers, with the first row of the block that has it.
    pub units: UnitCounts,
    /// What ended it.
    pub fault: Option<Fault>,
    /// The fields of records that are not the lines of a text.
    pub text: Vec<u8>,
    /// The most cells that are no numbers, if that is limited.
    most_odd: Option<usize>,
}

/// A cell that is not a number.
pub(super) struct Odd {
    pub row: usize,
    pub place: usize,
    pub feature: usize,
    pub text: Range<usize>,
    pub is_label: bool,
}

/// What ends the reading, and on which line of the block.
pub(super) struct Fault {
    pub line: u64,
    pub what: Wrong,
}

pub(super) enum Wrong {
    /// So many fields in a row.
    Fields(usize),
    /// The column and what stands there.
    NotFinite(usize, String),
    /// Cells that are no numbers, which would take so many bytes.
    TooMany(u64),
}

impl Block {
    /// Parses lines without quotes, with so many numbers and cells that are none at most.
    pub(super) fn parse(text: &[u8], layout: Layout<'_>, (numbers, odd): (usize, usize)) -> Self {
        let mut block = Self { numbers: Vec::with_capacity(numbers), most_odd: Some(odd), ..Self::default() };
        // Such a delimiter may be a part of a number, and so may a comma.
        let whole = !b"+-.".contains(&layout.delimiter) && layout.style.decimal == crate::Decimal::Point;
        let mut from = 0;
        while from < text.len() {
            let end = memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at);
            let line = text[from..end].strip_suffix(b"\r").unwrap_or(&text[from..end]);
            if !is_blank(line, layout.delimiter) && !block.line(line, from, layout, whole) {
                break;
            }
            block.ends += 1;
            from = end + 1;
        }
        block
    }

    /// Parses a line that starts at `from`; whether all is well.
    fn line(&mut self, line: &[u8], from: usize, layout: Layout<'_>, whole: bool) -> bool {
        let Layout { roles, delimiter, style } = layout;
        let mut at = 0;
        for (place, role) in roles.iter().enumerate() {
            if at > line.len() {
                return self.stop(Wrong::Fields(place));
            }
            let field = &line[at..];
            if whole
                && let Role::Number(_) = role
                && let Ok((number, size)) = fast_float2::parse_partial::<f64, _>(field)
                && number.is_finite()
                && field.get(size).is_none_or(|next| *next == delimiter)
            {
                self.numbers.push(number);
                at += size + 1;
                continue;
            }
            let end = memchr(delimiter, field).unwrap_or(field.len());
            if !self.field((place, *role), &field[..end], from + at, style) {
                return false;
            }
            at += end + 1;
        }
        if at <= line.len() {
            return self.stop(Wrong::Fields(memchr_iter(delimiter, line).count() + 1));
        }
        self.lines.push(self.ends);
        true
    }

    /// Takes in a record on some line.
    pub(super) fn record(&mut self, record: &ByteRecord, line: u64, layout: Layout<'_>) {
        let Layout { roles, style, .. } = layout;
        if self.fault.is_some() {
            return;
        }
        self.ends = line;
        if record.len() > 1 && record.iter().all(|field| field.trim_ascii().is_empty()) {
            return;
        }
        if record.len() != roles.len() {
            self.stop(Wrong::Fields(record.len()));
            return;
        }
        for (place, (raw, role)) in record.iter().zip(roles).enumerate() {
            let from = self.text.len();
            let kept = match role {
                Role::Dropped => false,
                Role::Target | Role::Id | Role::Label(_) => true,
                Role::Number(_) => !matches!(Field::written(raw, style).0, Field::Number(_)),
            };
            if kept {
                self.text.extend_from_slice(raw);
            }
            if !self.field((place, *role), raw, from, style) {
                return;
            }
        }
        self.lines.push(line);
    }

    /// Takes in a field that starts at `from`; whether all is well.
    fn field(&mut self, (place, role): (usize, Role), raw: &[u8], from: usize, style: NumberStyle) -> bool {
        let text = from..from + raw.len();
        match role {
            Role::Dropped => {}
            Role::Target => self.targets.push(text),
            Role::Id => self.ids.push(text),
            Role::Number(feature) | Role::Label(feature) => match Field::written(raw, style) {
                (Field::Number(number), unit) if matches!(role, Role::Number(_)) => {
                    unit.into_iter().for_each(|unit| self.units.count(place, unit, self.lines.len(), 1));
                    self.numbers.push(number);
                }
                (Field::NotFinite, _) => return self.stop(Wrong::NotFinite(place, shown(raw))),
                _ if self.most_odd.is_some_and(|most| self.odd.len() >= most) => {
                    return self.stop(Wrong::TooMany(2 * (self.odd.len() * size_of::<Odd>()) as u64));
                }
                _ => {
                    let is_label = matches!(role, Role::Label(_));
                    self.odd.push(Odd { row: self.lines.len(), place, feature, text, is_label });
                    self.numbers.push(MISSING);
                }
            },
        }
        true
    }

    fn stop(&mut self, what: Wrong) -> bool {
        self.fault = Some(Fault { line: self.ends, what });
        false
    }

    /// What it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + 8 * self.numbers.len() + size_of::<Odd>() * self.odd.len()
    }
}

/// Whether a line holds nothing: spreadsheets write rows of delimiters behind the last one.
fn is_blank(line: &[u8], delimiter: u8) -> bool {
    let nothing = |byte: &u8| *byte == b' ' || *byte == delimiter;
    // A line of one column is blank only if it is empty.
    line.is_empty() || nothing(&line[0]) && line.contains(&delimiter) && line.iter().all(nothing)
}
