//! What languages share: sums of products, quoted texts, labels.

use super::{EquationFactor, EquationSum, EquationTerm};
use crate::Label;

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

/// A label as a value of a language, by its words for true and false and how it quotes texts.
pub(super) fn label(label: &Label, truth: [&str; 2], quoted: fn(&str) -> String) -> String {
    match label {
        Label::Boolean(value) => truth[usize::from(!*value)].to_owned(),
        Label::Integer(value) => value.to_string(),
        Label::Number(value) => digits(*value),
        Label::Text(text) => quoted(text),
    }
}
