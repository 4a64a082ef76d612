//! Numbers as people write them: decimal commas, groups of thousands, currencies and per cent.

/// What stands between the whole part of a number and its decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decimal {
    /// `1.5`
    #[default]
    Point,
    /// `1,5`
    Comma,
}

impl Decimal {
    fn mark(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    /// What parts thousands where this parts decimals.
    fn other(self) -> char {
        match self {
            Self::Point => ',',
            Self::Comma => '.',
        }
    }
}

/// How the numbers of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NumberStyle {
    pub decimal: Decimal,
    /// Whether the other mark parts thousands, as in `1,234.5`. Where nobody can tell, `1,234` is no number.
    pub grouped: bool,
}

/// What is written beside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Unit {
    /// The number counts hundredths.
    Percent,
    Currency(&'static str),
}

impl Unit {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Percent => "%",
            Self::Currency(sign) => sign,
        }
    }
}

const CURRENCIES: [&str; 13] = ["$", "€", "£", "¥", "₹", "₩", "₽", "₺", "EUR", "USD", "GBP", "CHF", "JPY"];

/// What parts thousands whatever the decimals: apostrophes, and spaces that do not break a line.
const GROUPS: [char; 5] = ['\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}'];

/// The longest text that may be a number: no reader goes through more to find out that it is none.
const LONGEST: usize = 400;

/// The number that a text says, and its unit.
pub(crate) fn parse(text: &str, style: NumberStyle) -> Option<(f64, Option<Unit>)> {
    if text.len() > LONGEST {
        return None;
    }
    let (mut negative, text) = signed(text.trim());
    let (unit, mut body) = without_unit(text)?;
    if negative.is_none() && matches!(unit, Some(Unit::Currency(_))) {
        (negative, body) = signed(body);
    }
    let digits = plain(body, style)?;
    let size: f64 = digits.parse().ok().filter(|size: &f64| size.is_finite())?;
    let value = if negative == Some(true) { -size } else { size };
    Some((if unit == Some(Unit::Percent) { value / 100.0 } else { value }, unit))
}

/// Whether there is a minus, if there is a sign at all, and what is behind it.
fn signed(text: &str) -> (Option<bool>, &str) {
    for (sign, negative) in [('-', true), ('\u{2212}', true), ('+', false)] {
        if let Some(rest) = text.strip_prefix(sign) {
            return (Some(negative), rest.trim_start());
        }
    }
    (None, text)
}

/// The unit before or behind a number; `None` if the text cannot be one.
fn without_unit(text: &str) -> Option<(Option<Unit>, &str)> {
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    if is_number(first) && is_number(last) {
        return Some((None, text));
    }
    if let Some(body) = text.strip_suffix('%') {
        return Some((Some(Unit::Percent), body.trim_end()));
    }
    CURRENCIES.iter().find_map(|sign| {
        let body = if is_number(first) {
            text.strip_suffix(sign).map(str::trim_end)
        } else {
            text.strip_prefix(sign).map(str::trim_start)
        };
        body.map(|body| (Some(Unit::Currency(sign)), body))
    })
}

/// Digits as the standard library reads them, without groups of thousands and with a point.
fn plain(body: &str, style: NumberStyle) -> Option<String> {
    let (whole, rest) = body.split_at(body.find([style.decimal.mark(), 'e', 'E']).unwrap_or(body.len()));
    let mut rest = rest.chars();
    let rest_is_plain = rest.clone().skip(1).all(|c| c.is_ascii_digit() || "eE+-".contains(c));
    if !rest_is_plain || !whole.chars().all(|c| c.is_ascii_digit() || c == style.decimal.other() || GROUPS.contains(&c))
    {
        return None;
    }
    let mut digits = ungrouped(whole, style)?;
    match rest.next() {
        Some(mark) if mark == style.decimal.mark() => digits.push('.'),
        Some(exponent) => digits.push(exponent),
        None => {}
    }
    digits.extend(rest);
    Some(digits)
}

/// The digits of a whole number: all together, or the first one to three and then threes, parted by one mark.
fn ungrouped(whole: &str, style: NumberStyle) -> Option<String> {
    let Some(mark) = whole.chars().find(|c| !c.is_ascii_digit()) else { return Some(whole.to_owned()) };
    let allowed = GROUPS.contains(&mark) || style.grouped && mark == style.decimal.other();
    let mut groups = whole.split(mark);
    let first = groups.next()?;
    let threes = groups.clone().all(|group| group.len() == 3);
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let all = std::iter::once(first).chain(groups).collect::<String>();
    (allowed && begins && threes && all.bytes().all(|byte| byte.is_ascii_digit())).then_some(all)
}

/// Whether a text is a number with a comma for the point, or would be one.
pub(crate) fn decimal_comma(text: &str) -> bool {
    text.contains(',') && parse(text, NumberStyle { decimal: Decimal::Comma, grouped: true }).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: NumberStyle = NumberStyle { decimal: Decimal::Point, grouped: true };
    const COMMA: NumberStyle = NumberStyle { decimal: Decimal::Comma, grouped: true };

    #[test]
    fn numbers_are_read_as_they_are_meant() {
        for (text, style, value, unit) in [
            ("1,200", POINT, 1200.0, None),
            ("1,234,567.5", POINT, 1_234_567.5, None),
            ("$1,200", POINT, 1200.0, Some("$")),
            ("-$1,200.50", POINT, -1200.5, Some("$")),
            ("$-3", POINT, -3.0, Some("$")),
            ("USD 5", POINT, 5.0, Some("USD")),
            ("12 %", POINT, 0.12, Some("%")),
            ("-12.5%", POINT, -0.125, Some("%")),
            ("1'234.5", POINT, 1234.5, None),
            ("1 234 567", POINT, 1_234_567.0, None),
            ("\u{2212}5", POINT, -5.0, None),
            ("1,5", COMMA, 1.5, None),
            ("1.234,5", COMMA, 1234.5, None),
            ("1.234", COMMA, 1234.0, None),
            ("1.200,50 €", COMMA, 1200.5, Some("€")),
            ("1,5e-3", COMMA, 1.5e-3, None),
            (",5", COMMA, 0.5, None),
            ("7", COMMA, 7.0, None),
            ("1\u{202f}234,5", COMMA, 1234.5, None),
        ] {
            let found = parse(text, style).map(|(value, unit)| (value, unit.map(Unit::sign)));
            assert_eq!(found, Some((value, unit)), "{text:?}");
        }
    }

    #[test]
    fn what_may_be_something_else_is_no_number() {
        let unsure = NumberStyle { decimal: Decimal::Point, grouped: false };
        for (text, style) in [
            ("1,234", unsure),
            ("1,5", POINT),
            ("1.5", COMMA),
            ("0,123", POINT),
            ("12,34", POINT),
            ("1,2345", POINT),
            ("1,234'567", POINT),
            ("31.01.2024", COMMA),
            ("1.2.3", POINT),
            ("$", POINT),
            ("%", POINT),
            ("", POINT),
            ("-", POINT),
            ("5 mg", POINT),
            ("e5", POINT),
            ("1e400", COMMA),
            ("1,5,", COMMA),
            ("--5", POINT),
            ("$€5", POINT),
            ("12 % %", POINT),
            (",", COMMA),
            ("1 23", POINT),
        ] {
            assert_eq!(parse(text, style), None, "{text:?}");
        }
        assert!(decimal_comma("1,5") && decimal_comma("1.234,5") && !decimal_comma("a,b") && !decimal_comma("1.5"));
        assert_eq!(parse(&"1".repeat(LONGEST + 1), POINT), None);
    }
}
