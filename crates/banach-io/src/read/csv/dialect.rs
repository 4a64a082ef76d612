//! What separates the fields of a text, and how its numbers are written, from its first lines.

use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter, memrchr};

use super::super::{Dialect, Format, Request};
use crate::{
    field::Field,
    written::{self, Decimal, NumberStyle},
};

/// What may separate fields; of equally good ones the first.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// The most records that are looked at, and the most bytes of lines.
const RECORDS: usize = 100;
const BYTES: usize = 1 << 16;

const POINT: NumberStyle = NumberStyle { decimal: Decimal::Point, grouped: true };
const COMMA: NumberStyle = NumberStyle { decimal: Decimal::Comma, grouped: true };

/// How a text that begins so is written, as far as nobody has said it.
pub(super) fn of(beginning: &[u8], request: &Request, format: Format) -> (Dialect, NumberStyle) {
    // A line that is cut short would look like a row with fewer fields.
    let sample = memrchr(b'\n', beginning).map_or(beginning, |end| &beginning[..=end]);
    let usual = if format == Format::Tsv { b'\t' } else { b',' };
    let delimiter = request.delimiter.unwrap_or_else(|| delimiter(sample, usual, request.header));
    let style = match request.decimal {
        Some(decimal) => NumberStyle { decimal, grouped: true },
        None => style(sample, delimiter, request.header),
    };
    (Dialect { delimiter, expected: usual, decimal: style.decimal }, style)
}

/// The candidate by which most rows have as many fields as the first one, and of those the one with most numbers.
fn delimiter(sample: &[u8], usual: u8, header: bool) -> u8 {
    let line = memchr(b'\n', sample).map_or(sample, |end| &sample[..end]);
    let candidates: Vec<u8> = DELIMITERS.into_iter().filter(|one| memchr(*one, line).is_some()).collect();
    // Nearly always there is nothing to decide.
    if candidates.is_empty() || candidates == [usual] {
        return usual;
    }
    if line.len() > BYTES {
        // A first line of so many names tells enough.
        let often = |one: &&u8| memchr_iter(**one, &line[..BYTES]).count();
        return *candidates.iter().rev().max_by_key(often).unwrap_or(&usual);
    }
    let scores = candidates.iter().filter_map(|&one| Some((score(sample, one, header)?, one == usual, one)));
    let best = scores.reduce(|best, next| if (next.0, next.1) > (best.0, best.1) { next } else { best });
    best.map_or(usual, |(_, _, delimiter)| delimiter)
}

/// Per thousand, the rows with as many fields as the first, and the fields that are numbers or missing; `None` for one column.
fn score(sample: &[u8], delimiter: u8, header: bool) -> Option<(usize, usize)> {
    let (mut columns, mut rows, mut same, mut fields, mut numbers) = (0, 0, 0, 0, 0);
    records(sample, delimiter, |record| {
        rows += 1;
        if rows == 1 {
            columns = record.len();
        }
        same += usize::from(record.len() == columns);
        if rows > 1 || !header {
            fields += record.len();
            let is_number = |style, raw| !matches!(Field::written(raw, style).0, Field::Text(_) | Field::Bytes);
            numbers += record.iter().filter(|raw| is_number(POINT, raw) || is_number(COMMA, raw)).count();
        }
    });
    (columns > 1).then(|| (1000 * same / rows, 1000 * numbers / fields.max(1)))
}

/// How numbers are written: a text that is a number in one style only decides, unless another decides otherwise.
fn style(sample: &[u8], delimiter: u8, header: bool) -> NumberStyle {
    // Names are no numbers, and they may take much memory as a record.
    let names = if header { memchr(b'\n', sample).map_or(sample.len(), |end| end + 1) } else { 0 };
    let lines = &sample[names..];
    let (mut points, mut commas) = (0, 0);
    records(lines, delimiter, |record| {
        for text in record.iter().filter_map(|raw| std::str::from_utf8(raw).ok()) {
            if text.contains(['.', ',']) {
                let (point, comma) = (written::parse(text, POINT), written::parse(text, COMMA));
                points += usize::from(point.is_some() && comma.is_none());
                commas += usize::from(comma.is_some() && point.is_none());
            }
        }
    });
    match (points, commas) {
        (0, 1..) => COMMA,
        (1.., 0) => POINT,
        // `"1,234"` between commas is a thousand and more; between semicolons nobody can tell.
        (0, 0) => NumberStyle { grouped: delimiter == b',', ..POINT },
        _ => NumberStyle { grouped: false, ..POINT },
    }
}

/// The first records, as many as have few bytes together, or the beginning of one up to a field that is whole.
fn records(lines: &[u8], delimiter: u8, mut visit: impl FnMut(&ByteRecord)) {
    let few = &lines[..lines.len().min(BYTES)];
    let whole = memrchr(b'\n', few).or_else(|| memrchr(delimiter, few)).filter(|_| few.len() < lines.len());
    let few = whole.map_or(few, |end| &few[..end]);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(few);
    let mut record = ByteRecord::new();
    for _ in 0..RECORDS {
        match reader.read_byte_record(&mut record) {
            Ok(true) => visit(&record),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (char, Decimal, bool) {
        let (Dialect { delimiter, decimal, .. }, style) = of(text.as_bytes(), &Request::default(), Format::Csv);
        (char::from(delimiter), decimal, style.grouped)
    }

    #[test]
    fn files_tell_how_they_are_written() {
        use Decimal::{Comma, Point};
        for (text, expected) in [
            ("a,b\n1,2\n", (',', Point, true)),
            ("a,b\n1.5,2\n", (',', Point, true)),
            ("a;b\n1,5;2\n", (';', Comma, true)),
            ("a;b\n1.234,5;2\n", (';', Comma, true)),
            ("Breite, mm;Länge, mm\n1,5;2,5\n", (';', Comma, true)),
            ("a;b\n1,234;5,678\n", (';', Point, false)),
            ("a;b\n1,5;0.25\n", (';', Point, false)),
            ("a;b\n1.5;1,200\n", (';', Point, true)),
            ("a\tb\n1\t2\n", ('\t', Point, false)),
            ("a|b\n1|2\n", ('|', Point, false)),
            ("a,b\n\"x;y\",2\n\"u;v\",3\n", (',', Point, true)),
            ("a,b\n\"1,5\",2\n", (',', Comma, true)),
            ("a,b\n\"1,200\",2\n", (',', Point, true)),
            ("one\n1\n", (',', Point, true)),
            ("\"a;b\"\n1\n", (',', Point, true)),
            ("", (',', Point, true)),
            // A line that is cut.
            ("a;b;c\n1;2;3\n1,5;2", (';', Point, false)),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_said_is_not_looked_for() {
        let request = Request { delimiter: Some(b';'), decimal: Some(Decimal::Comma), ..Request::default() };
        let (dialect, style) = of(b"a,b\n1.5,2\n", &request, Format::Csv);
        assert_eq!((dialect.delimiter, style), (b';', COMMA));
        let headless = Request { header: false, ..Request::default() };
        let (dialect, style) = of(b"1,5;2,5;3\n2,5;1,5;4\n", &headless, Format::Csv);
        assert_eq!((dialect.delimiter, style), (b';', COMMA));
    }
}
