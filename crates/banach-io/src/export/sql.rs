//! SQL: a query of a table called `data`, in the words of the standard.

use super::{
    Equations,
    expression::{LabelKind, digits, label, remark, sum},
};
use crate::Label;

/// A name of a column or table.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A text as a value.
fn value(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether a column has a label.
fn is(column: &str, label: &str) -> String {
    let column = name(column);
    match LabelKind::of(label) {
        // Some databases have truth values, some have 1 and 0 for them, some have a text.
        LabelKind::Truth(truth) => {
            format!("LOWER(CAST({column} AS VARCHAR(255))) IN ({}, '{}')", value(label), u8::from(truth))
        }
        LabelKind::Number(number) => {
            let spellings: Vec<String> = LabelKind::spellings(number).iter().map(|text| value(text)).collect();
            format!("CAST({column} AS VARCHAR(255)) IN ({})", spellings.join(", "))
        }
        LabelKind::Text(text) => format!("{column} = {}", value(text)),
    }
}

pub(super) fn text(equations: &Equations) -> String {
    let input = |at: usize| {
        let input = &equations.inputs[at];
        match &input.label {
            None => name(&input.column),
            Some(label) => format!("(CASE WHEN {} THEN 1.0 ELSE 0.0 END)", is(&input.column, label)),
        }
    };
    let sums = equations.equations.iter().map(|one| sum(one, "\n    ", digits, input));
    let head = format!("-- {}, written by banach. The table is called data here.\n", remark(&equations.target()));
    if let Some(names) = equations.names() {
        let columns: Vec<String> =
            names.iter().zip(sums).map(|(own, sum)| format!("  {sum} AS {}", name(own))).collect();
        return format!("{head}SELECT\n{}\nFROM data;\n", columns.join(",\n"));
    }
    let labels = equations.labels();
    let own = |k: usize| label(&labels[k], ["TRUE", "FALSE"], value);
    let decisions: Vec<String> = sums.enumerate().map(|(k, sum)| format!("    {sum} AS t{k}")).collect();
    // Some databases refuse an exponential that is too small for a number.
    let share = |k: usize| {
        format!(
            "    t{k}, CASE WHEN t{k} > 700 THEN 1.0 WHEN t{k} > 0 THEN 1 / (1 + EXP(-t{k})) \
             WHEN t{k} > -700 THEN EXP(t{k}) / (1 + EXP(t{k})) ELSE 0.0 END AS s{k}"
        )
    };
    let shares: Vec<String> = (0..labels.len()).map(share).collect();
    // The first class that none after it, and none before it, exceeds.
    let wins = |k: usize| {
        let others: Vec<String> = (k + 1..labels.len()).map(|other| format!("t{k} >= t{other}")).collect();
        format!("WHEN {} THEN {}", others.join(" AND "), own(k))
    };
    let last = labels.len() - 1;
    let cases: Vec<String> = (0..last).map(wins).collect();
    let total = (0..labels.len()).map(|k| format!("s{k}")).collect::<Vec<_>>().join(" + ");
    let count = labels.len();
    let chance = |(k, label): (usize, &Label)| {
        let named = name(&format!("probability of {label}"));
        format!("  CASE WHEN {total} > 0 THEN s{k} / ({total}) ELSE 1.0 / {count} END AS {named}")
    };
    let chances: Vec<String> = labels.iter().enumerate().map(chance).collect();
    format!(
        "{head}SELECT\n  CASE {} ELSE {} END AS {},\n{}\nFROM (\n  SELECT\n{}\n  FROM (\n  SELECT\n{}\n  FROM data\n  ) AS decisions\n) AS shares;\n",
        cases.join(" "),
        own(last),
        name(&equations.target()),
        chances.join(",\n"),
        shares.join(",\n"),
        decisions.join(",\n"),
    )
}
