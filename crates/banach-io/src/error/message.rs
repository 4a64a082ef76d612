//! What an error says, in the words of any door.

use banach::error::counted;
use std::fmt;

use banach::error::{Parameter, Plain};

use super::{Error, FileWords, Setting};
use crate::{
    Decimal,
    written::{self, NumberStyle},
};

/// The most names that a message lists.
const SHOWN: usize = 8;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Plain))
    }
}

impl Error {
    /// Where, what was found there, and what to do.
    pub fn render(&self, words: &dyn FileWords) -> String {
        let word = |setting| words.setting(setting);
        let (drop, categorical) = (word(Setting::Drop), word(Setting::Categorical));
        match self {
            Self::Read { file, source } => format!("cannot read {file}: {source}"),
            Self::Empty { file } => {
                format!("{file} is empty: it must have the names of its columns, and a row for every sample")
            }
            Self::TooFewRows { file, columns, found, needed } => format!(
                "{file} has {} and {}; at least {} needed",
                counted(columns, "column", "columns"),
                if *found == 0 { "no row" } else { "one row" },
                if *needed == 1 { "one sample is" } else { "two samples are" },
            ),
            Self::DuplicateName { file, name, first, second } => format!(
                "{file}: columns {first} and {second} are both named {name:?}; rename one of them in the first line"
            ),
            Self::NoHeader { file, first } => format!(
                "{file}: the first line holds numbers ({first:?}, ...), and it must name the columns; add a line of \
                 names above it, or say {}",
                word(Setting::NoHeader)
            ),
            Self::Ragged { file, at, got, expected } => format!(
                "{file}, {at}: {got} fields, and the first line has {expected}; look for a missing or additional \
                 delimiter, or quote the field that contains one"
            ),
            Self::Encoding { file, at, column } => {
                format!(
                    "{file}, {at}, column {column}: the text is not UTF-8; save the file in that encoding, which spreadsheets \
                     call \"CSV UTF-8\""
                )
            }
            Self::Missing { file, at, column, value, count, columns } => format!(
                "{file}, {at}, column {column:?}: the value is missing ({value:?}){}; {impute} mean or median fills \
                 missing values in, {impute} drop leaves such rows out, {drop} a column",
                others(*count, *columns),
                impute = word(Setting::Impute)
            ),
            Self::NotFinite { file, at, column, value } => format!(
                "{file}, {at}, column {column:?}: {value} is not a finite number (at most 1.8e308); correct it, or \
                 leave the row out"
            ),
            Self::NotANumber { file, at, column, value, drop: wrong } => format!(
                "{file}, {at}, column {column:?}: {value:?} is not a number; {}correct it, leave the column out with \
                 {drop} {wrong:?}, or say {categorical} {wrong:?} if its values are labels",
                comma(value, word(Setting::Decimal))
            ),
            Self::UnknownColumn { file, setting, name, near, names } => {
                format!("{file} has no column {name:?} for {}; {}", word(*setting), suggestion(near, names, words))
            }
            Self::MissingColumns { file, missing, extra } => format!("{file} lacks {}", lacking(missing, extra)),
            Self::TargetAsFeature { name } => {
                format!("the target {name:?} is also asked for by {}; leave it out there", word(Setting::Features))
            }
            Self::NoFeatures { file, target, columns } => format!(
                "{file}: no column is left beside the target {target:?}; {}",
                if *columns == 1 {
                    format!("the first line has one field, so check the delimiter ({})", word(Setting::Delimiter))
                } else {
                    "drop fewer columns".to_owned()
                }
            ),
            Self::TooManyLabels { file, at, column, limit, value, first } => format!(
                "{file}, {at}, column {column:?}: more than {limit} different labels, the first of which that is not a \
                 number is {value:?} in {first}; correct it if the target is a number, or choose another target"
            ),
            Self::TooLarge { file, at, bytes } => format!(
                "{file} needs more memory than is allowed: {bytes} bytes by {at}; name the columns that matter with {}, \
                 or raise {}",
                word(Setting::Features),
                words.name(Parameter::MemoryLimit),
            ),
            Self::NoTarget { file, names } => format!(
                "{file}: which column is to be predicted? Name it with {}; {}",
                word(Setting::Target),
                suggestion(&[], names, words)
            ),
            Self::AmbiguousColumn { .. }
            | Self::MixedUnits { .. }
            | Self::Dates { .. }
            | Self::Identifiers { .. }
            | Self::TooManyCategories { .. }
            | Self::AllMissing { .. } => self.of_column(words),
            Self::Damaged { file, place, problem } => format!(
                "{file}, {place}: {problem}; the file is damaged, cut short or of another format: write or fetch it \
                 again, or name its format with {}",
                word(Setting::Format)
            ),
            Self::Unsupported { file, place, problem, instead } => {
                format!("{file}, {place}: {problem}; {}", instead.text(words))
            }
        }
    }

    /// The same of what a whole column is.
    fn of_column(&self, words: &dyn FileWords) -> String {
        let word = |setting| words.setting(setting);
        let (drop, categorical) = (word(Setting::Drop), word(Setting::Categorical));
        match self {
            Self::AmbiguousColumn { file, setting, name, first, second } => format!(
                "{file}: columns {first} and {second} are both named {name:?}; name the one that is meant by its number: \
                 {setting} {first} or {setting} {second}",
                setting = word(*setting)
            ),
            Self::MixedUnits { file, at, column, units } => {
                let sign =
                    |unit: &str| if unit.is_empty() { "without a sign".to_owned() } else { format!("in {unit}") };
                format!(
                    "{file}, {at}, column {column:?}: some values are {} and others {}, which are different numbers; write all \
                     of them in one way, or leave the column out with {drop} {column:?}",
                    sign(units[0]),
                    sign(units[1])
                )
            }
            Self::Dates { file, column, value, drop: all } => format!(
                "{file}, column {column:?}: dates and times ({value:?}, ...) are no numbers; write what matters of them as \
                 numbers (days since the first, the month, the weekday, the hour), leave them out with {drop} {all:?}, or say \
                 {categorical} {column:?} if each is a label"
            ),
            Self::Identifiers { file, column, value, drop: all } => format!(
                "{file}, column {column:?}: the text ({value:?}, ...) is different in every row, which tells nothing of \
                 other rows; leave identifiers out with {drop} {all:?}, or say {categorical} {column:?} if it is meant"
            ),
            Self::TooManyCategories { file, at, column, limit } => format!(
                "{file}, {at}, column {column:?}: more than {limit} different texts; leave the column out with {drop} \
                 {column:?}"
            ),
            Self::AllMissing { file, column } => format!(
                "{file}, column {column:?}: every value is missing; leave the column out with {drop} {column:?}"
            ),
            // `render` sends no others here.
            _ => String::new(),
        }
    }
}

/// What a text with a comma can be.
fn comma(value: &str, setting: &str) -> String {
    let read = |decimal| written::parse(value, NumberStyle { decimal, grouped: true }).map(|(number, _)| number);
    match (read(Decimal::Comma), read(Decimal::Point)) {
        (Some(number), None) if value.contains(',') => format!("say {setting} comma if it is {number}; otherwise "),
        (Some(number), Some(other)) if value.contains(',') => {
            format!("say {setting} comma if it is {number}, or {setting} point if it is {other}; otherwise ")
        }
        _ => String::new(),
    }
}

/// What else is missing.
fn others(count: usize, columns: usize) -> String {
    match (count, columns) {
        (0 | 1, _) => String::new(),
        (2, 1) => " and so is 1 other in this column".to_owned(),
        (_, 1) => format!(" and so are {} others in this column", count - 1),
        _ => format!(", the first of {count} in {columns} columns"),
    }
}

/// What a model is made of and a file does not have.
fn lacking(missing: &[String], extra: &[String]) -> String {
    let columns = if missing.len() == 1 { "a column".to_owned() } else { format!("{} columns", missing.len()) };
    let unknown = if extra.is_empty() { String::new() } else { format!("; the model does not know {}", list(extra)) };
    format!("{columns} that the model is made of: {}{unknown}", list(missing))
}

/// The first few names.
fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let more = if names.len() > SHOWN {
        format!(" and {}", counted(names.len() - SHOWN, "other", "others"))
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// The names that look like the one that was asked for, or the first few of all.
fn suggestion(near: &[String], names: &[String], words: &dyn FileWords) -> String {
    let quoted = |names: &[String], between: &str| {
        names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(between)
    };
    if !near.is_empty() {
        return format!("did you mean {}?", quoted(near, " or "));
    }
    let more = if names.len() > SHOWN { format!(", ... ({} columns)", names.len()) } else { String::new() };
    let delimiter = match names {
        [one] if one.contains([';', '\t', '|', ',', ' ']) => {
            format!("; if that is several, name what separates them with {}", words.setting(Setting::Delimiter))
        }
        _ => String::new(),
    };
    format!("its columns are {}{more}{delimiter}", quoted(&names[..names.len().min(SHOWN)], ", "))
}
