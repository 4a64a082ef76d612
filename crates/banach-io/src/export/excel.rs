//! Spreadsheets: a line of headings and a line of formulas, with tabs between them, to be pasted into the first cell of a sheet.

use super::{
    Equations, ExportError,
    expression::{LabelKind, label, sum},
};

/// The longest formula that spreadsheets take.
const LONGEST: usize = 8192;

/// The letters of a column: A to Z, AA, AB, ...
fn letters(mut column: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'A' + (column % 26) as u8));
        if column < 26 {
            return text;
        }
        column = column / 26 - 1;
    }
}

/// Numbers with all their digits, of which spreadsheets keep 15 or more.
fn digits(value: f64) -> String {
    format!("{value:?}").replace('e', "E")
}

/// A text without what ends a cell.
fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

/// A text as a value of a formula.
fn value(text: &str) -> String {
    format!("\"{}\"", one_line(&text.replace('"', "\"\"")))
}

/// 1 where a cell has a label, else 0. Spreadsheets tell truth values and numbers from texts, and spell them in the language of the user.
fn is(cell: &str, label: &str) -> String {
    let text = value(label);
    match LabelKind::of(label) {
        LabelKind::Truth(truth) => {
            let own = if truth { cell.to_owned() } else { format!("NOT({cell})") };
            format!("IF(IF(ISLOGICAL({cell}),{own},LOWER({cell})={text}),1,0)")
        }
        LabelKind::Number(number) => format!("IF(IF(ISNUMBER({cell}),{cell}={number},EXACT({cell},{text})),1,0)"),
        LabelKind::Text(_) => format!("IF(EXACT({cell},{text}),1,0)"),
    }
}

/// A text that is a heading and no formula.
fn heading(text: &str) -> String {
    let text = one_line(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

pub(super) fn text(equations: &Equations) -> Result<String, ExportError> {
    let mut columns: Vec<&str> = Vec::new();
    for input in &equations.inputs {
        if !columns.contains(&&input.column[..]) {
            columns.push(&input.column);
        }
    }
    let cell = |column: usize| format!("{}2", letters(column));
    let input = |at: usize| {
        let input = &equations.inputs[at];
        let own = cell(columns.iter().position(|column| *column == input.column).unwrap_or(0));
        match &input.label {
            None => own,
            Some(label) => is(&own, label),
        }
    };
    let mut headings: Vec<String> = columns.iter().map(|column| heading(column)).collect();
    let mut cells = vec![String::new(); columns.len()];
    let sums = equations.equations.iter().map(|one| format!("={}", sum(one, "", digits, input)));
    if let Some(names) = equations.names() {
        headings.extend(names.iter().map(|name| heading(name)));
        cells.extend(sums);
    } else {
        let labels = equations.labels();
        let own = |k: usize| label(&labels[k], ["TRUE", "FALSE"], value);
        let first = columns.len();
        headings.extend(labels.iter().map(|label| format!("for {}", one_line(&label.to_string()))));
        cells.extend(sums);
        // 1/(1 + exp(-t)) for either sign, with all its digits and without overflow.
        let share = |k: usize| format!("EXP(MIN({0},0))/(1+EXP(-ABS({0})))", cell(first + k));
        let decisions: Vec<String> = (0..labels.len()).map(|k| cell(first + k)).collect();
        // Where all shares are too small for a spreadsheet, every class has the same.
        let (none, count) = (format!("MAX({})<-700", decisions.join(",")), labels.len());
        let total: Vec<String> = (0..labels.len()).map(share).collect();
        headings.extend(labels.iter().map(|label| format!("probability of {}", one_line(&label.to_string()))));
        cells.extend((0..count).map(|k| format!("=IF({none},1/{count},{}/({}))", share(k), total.join("+"))));
        headings.push(heading(&equations.target()));
        let last = own(labels.len() - 1);
        let choice = (0..labels.len() - 1).rev().fold(last, |rest, k| {
            let others: Vec<String> =
                (k + 1..labels.len()).map(|other| format!("{}>={}", cell(first + k), cell(first + other))).collect();
            format!("IF(AND({}),{},{rest})", others.join(","), own(k))
        });
        cells.push(format!("={choice}"));
    }
    match cells.iter().map(String::len).find(|length| *length > LONGEST) {
        Some(length) => Err(ExportError::TooLong { length, most: LONGEST }),
        None => Ok(format!("{}\n{}\n", headings.join("\t"), cells.join("\t"))),
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn columns_have_letters() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
