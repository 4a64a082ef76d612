//! SQL: a query of a table called `data`, in the words of the standard.

use super::{
    Equations,
    expression::{digits, label, remark, sum},
};

/// A name of a column or table.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A text as a value.
fn value(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub(super) fn text(equations: &Equations) -> String {
    let input = |at: usize| {
        let input = &equations.inputs[at];
        match &input.label {
            None => name(&input.column),
            Some(label) => format!("(CASE WHEN {} = {} THEN 1.0 ELSE 0.0 END)", name(&input.column), value(label)),
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
    let shares: Vec<String> = (0..labels.len())
        .map(|k| {
            format!(
                "    t{k}, CASE WHEN t{k} > 0 THEN 1 / (1 + EXP(-t{k})) ELSE EXP(t{k}) / (1 + EXP(t{k})) END AS s{k}"
            )
        })
        .collect();
    // The first class that none after it, and none before it, exceeds.
    let wins = |k: usize| {
        let others: Vec<String> = (k + 1..labels.len()).map(|other| format!("t{k} >= t{other}")).collect();
        format!("WHEN {} THEN {}", others.join(" AND "), own(k))
    };
    let last = labels.len() - 1;
    let cases: Vec<String> = (0..last).map(wins).collect();
    let total = (0..labels.len()).map(|k| format!("s{k}")).collect::<Vec<_>>().join(" + ");
    let chances: Vec<String> = labels
        .iter()
        .enumerate()
        .map(|(k, label)| format!("  s{k} / ({total}) AS {}", name(&format!("probability of {label}"))))
        .collect();
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
