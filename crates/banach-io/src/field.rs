//! What a field of a file says.

use std::borrow::Cow;

use crate::written::{self, Decimal, NumberStyle, Unit};

/// What stands for a missing value, in any case.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

/// The same where a number is wanted; a label may well be `none`.
const MISSING_NUMBER: [&str; 4] = ["none", "-", ".", "missing"];

/// The most characters of a value that a message shows.
const SHOWN: usize = 40;

/// A field where a number is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Field<'a> {
    Number(f64),
    Missing,
    /// Infinite, or beyond the range of f64.
    NotFinite,
    Text(&'a str),
    /// Not UTF-8.
    Bytes,
}

impl<'a> Field<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return Self::Bytes };
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Self::Number(number),
            Ok(number) if number.is_nan() => Self::Missing,
            Ok(_) => Self::NotFinite,
            Err(_) if one_of(&MISSING, text) => Self::Missing,
            Err(_) => Self::Text(text),
        }
    }

    /// The same in some style, also with groups of thousands, and what is written beside the number.
    pub(crate) fn written(bytes: &'a [u8], style: NumberStyle) -> (Self, Option<Unit>) {
        match Self::parse(bytes) {
            // A point would part thousands.
            Self::Number(_) | Self::NotFinite if style.decimal == Decimal::Comma && bytes.contains(&b'.') => {
                Self::in_words(std::str::from_utf8(bytes).unwrap_or_default().trim(), style)
            }
            Self::Text(text) => Self::in_words(text, style),
            field => (field, None),
        }
    }

    fn in_words(text: &'a str, style: NumberStyle) -> (Self, Option<Unit>) {
        written::parse(text, style).map_or((Self::Text(text), None), |(number, unit)| (Self::Number(number), unit))
    }

    /// Whether a text means that there is no value, be it a number or a label.
    pub(crate) fn is_missing(text: &str) -> bool {
        one_of(&MISSING, text)
    }

    /// Whether a text means that a number is missing.
    pub(crate) fn is_missing_number(text: &str) -> bool {
        one_of(&MISSING_NUMBER, text)
    }
}

fn one_of(words: &[&str], text: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// A value for a message: at most a few words of it.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(8 * SHOWN)]);
    let text = text.trim();
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain("...".chars()).collect()
}

/// The number that a text says, as it would in a file that is read by a model: NaN where it says that there is none, infinite beyond
/// the range of numbers, and `None` where it is something else.
pub fn cell_number(text: &str) -> Option<f64> {
    match Field::parse(text.as_bytes()) {
        Field::Number(number) => Some(number),
        Field::Missing => Some(f64::NAN),
        Field::NotFinite => text.trim().parse().ok(),
        Field::Text(text) => Field::is_missing_number(text).then_some(f64::NAN),
        Field::Bytes => None,
    }
}

/// The label that a text says, as it would in a column of labels of a text file; `None` where it says that there is none.
pub fn cell_label(text: &str) -> Option<String> {
    text_label(&counted_label(text)).map(str::to_owned)
}

/// A label as it is kept, or `None` for a missing one. Programs write truth values in several ways; formats that have them give these.
pub(crate) fn text_label(text: &str) -> Option<&str> {
    let text = text.trim();
    if Field::is_missing(text) {
        return None;
    }
    Some(["true", "false"].into_iter().find(|truth| truth.eq_ignore_ascii_case(text)).unwrap_or(text))
}

/// A label of a format that does not tell numbers from text: those that are equal are one, however they are written.
pub(crate) fn counted_label(text: &str) -> Cow<'_, str> {
    match Field::parse(text.as_bytes()) {
        Field::Number(number) => number_label(number).into(),
        _ => text.into(),
    }
}

/// A number that is a label: written in one way, whichever format it comes from, and without a negative zero.
pub(crate) fn number_label(number: f64) -> String {
    (number + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_what_is_not_one() {
        for (text, number) in [("1", 1.0), (" -2.5e3 ", -2500.0), ("+.5", 0.5), ("1e-400", 0.0), ("\t7\r", 7.0)] {
            assert_eq!(Field::parse(text.as_bytes()), Field::Number(number), "{text:?}");
        }
        for text in ["", "  ", "NA", "n/a", "NaN", "-nan", "NULL", "?"] {
            assert_eq!(Field::parse(text.as_bytes()), Field::Missing, "{text:?}");
        }
        for text in ["inf", "-Infinity", "1e400", "-1e999"] {
            assert_eq!(Field::parse(text.as_bytes()), Field::NotFinite, "{text:?}");
        }
        for text in ["abc", "1,5", "12 mg", "0x10", "1_000", "None"] {
            assert_eq!(Field::parse(text.as_bytes()), Field::Text(text), "{text:?}");
        }
        assert_eq!(Field::parse(b"\xff\xfe1"), Field::Bytes);
    }

    #[test]
    fn labels_are_kept_in_one_way() {
        for (text, label) in
            [("01", "1"), (" 1.50 ", "1.5"), ("-0", "0"), ("1e3", "1000"), ("TRUE", "true"), (" a b ", "a b")]
        {
            assert_eq!(cell_label(text).as_deref(), Some(label), "{text:?}");
        }
        for text in ["", " ", "NA", "?", "n/a", "Null", "nan"] {
            assert_eq!(cell_label(text), None, "{text:?}");
            assert!(cell_number(text).is_some_and(f64::is_nan), "{text:?}");
        }
        assert_eq!((cell_label("none").as_deref(), cell_label("-").as_deref()), (Some("none"), Some("-")));
        assert!(["none", "-", ".", "missing"].iter().all(|text| cell_number(text).is_some_and(f64::is_nan)));
        assert_eq!((cell_number(" 01 "), cell_number("-1e999")), (Some(1.0), Some(f64::NEG_INFINITY)));
        assert_eq!((cell_number("a"), cell_number("1,5"), cell_number("5%")), (None, None, None));
    }

    #[test]
    fn messages_stay_short() {
        assert_eq!(shown(b" abc "), "abc");
        let long = shown("\u{e4}".repeat(1_000_000).as_bytes());
        assert_eq!(long.chars().count(), SHOWN + 3);
    }
}
