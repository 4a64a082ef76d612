//! What languages share: sums of products, quoted texts, labels.

use super::{EquationFactor, EquationSum, EquationTerm};
use crate::{
    Label,
    field::{Field, number_label},
};

/// A sum as an expression: every summand on a line of its own that begins with `line`, or all on one line where that is empty. Every
/// language of ours multiplies from the left, so that a coefficient is what makes a product of whole numbers a number.
pub(super) fn sum(sum: &EquationSum, line: &str, number: fn(f64) -> String, input: impl Fn(usize) -> String) -> String {
    let space = if line.is_empty() { " " } else { line };
    let term = |EquationTerm { coefficient, factors }: &EquationTerm| {
        let (sign, size) = if *coefficient < 0.0 { ("-", -coefficient) } else { ("+", *coefficient) };
        let powers = factors.iter().flat_map(|factor| vec![difference(factor, number, &input); factor.power]);
        let product: Vec<String> = std::iter::once(number(size)).chain(powers).collect();
        format!("{space}{sign} {}", product.join(" * "))
    };
    std::iter::once(number(sum.constant)).chain(sum.terms.iter().map(term)).collect::<Vec<_>>().concat()
}

fn difference(factor: &EquationFactor, number: fn(f64) -> String, input: impl Fn(usize) -> String) -> String {
    let input = input(factor.input);
    match factor.minus {
        0.0 => input,
        minus if minus < 0.0 => format!("({input} + {})", number(-minus)),
        minus => format!("({input} - {})", number(minus)),
    }
}

/// A number with all its digits.
pub(super) fn digits(value: f64) -> String {
    format!("{value:?}")
}

/// A text in double quotes, with what is special in it as JSON, Python and R have it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// A text on one line, which ends no comment.
pub(super) fn remark(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ").replace("*/", "* /")
}

/// What a label of a column of the table was before it became a text: programs keep truth values and numbers as such, and write them in several
/// ways, which are all one label here.
pub(super) enum LabelKind<'a> {
    Truth(bool),
    /// A number, as every language writes it.
    Number(&'a str),
    Text(&'a str),
}

impl<'a> LabelKind<'a> {
    pub(super) fn of(label: &'a str) -> Self {
        match (label, Field::parse(label.as_bytes())) {
            ("true", _) => Self::Truth(true),
            ("false", _) => Self::Truth(false),
            (_, Field::Number(number)) if number_label(number) == label => Self::Number(label),
            _ => Self::Text(label),
        }
    }

    /// A number as text in all ways that programs have: a whole one may have a decimal.
    pub(super) fn spellings(number: &str) -> Vec<String> {
        let decimal = (!number.contains('.')).then(|| format!("{number}.0"));
        std::iter::once(number.to_owned()).chain(decimal).collect()
    }
}

/// A label as a value of a language, by its words for true and false and how it quotes texts.
pub(super) fn label(label: &Label, truth: [&str; 2], quoted: fn(&str) -> String) -> String {
    match label {
        Label::Boolean(value) => truth[usize::from(!*value)].to_owned(),
        Label::Integer(value) => value.to_string(),
        Label::Number(value) => digits(*value),
        Label::Text(text) => quoted(text),
    }
}
