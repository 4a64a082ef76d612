//! Table 2: the paper's times and counts beside ours.

use banach::synthetic::SparseQuadratic;
use banach_lab::{
    Comparison, Outcome,
    table2::{Row, Table2},
};

use super::{
    Cell, ResultTable,
    counts::{CHOSEN, algorithm_settings, difference, list, mean, measured, printed, seconds, seeds, verdict},
};

pub(crate) fn table2(table: &Table2) -> ResultTable {
    let SparseQuadratic { samples, inputs, relevant, noise } = table.request.data;
    let settings = &table.request.settings;
    ResultTable {
        title: "Table 2".to_owned(),
        setting: format!(
            "Seconds and iterations to relative precision {:.0e}; polynomial kernel of degree 2, p = 4/3, n = {samples}, \
             d = {inputs}, {relevant} of {} features relevant, sigma = {noise}, {}; {} threads.",
            settings.precision,
            table.request.data.features(),
            algorithm_settings(settings),
            table.threads
        ),
        header: [
            "algorithm",
            "seconds, paper",
            "seconds, banach",
            "iterations, paper",
            "iterations, banach",
            "difference",
            "passes",
            "relative gap",
        ]
        .map(str::to_owned)
        .into(),
        rows: table.rows.iter().map(row).collect(),
        notes: notes(table),
    }
}

fn row(row: &Row) -> Vec<Cell> {
    const NOTHING: &str = "---";
    let Comparison { paper, outcomes, .. } = &row.count;
    let paper_seconds = row.paper_seconds.map_or(NOTHING.to_owned(), |seconds| seconds.to_string());
    let solved = !outcomes.is_empty();
    let passes = outcomes.iter().map(|outcome| outcome.passes as f64);
    let gap = outcomes.iter().map(|outcome: &Outcome| outcome.relative_gap).fold(0.0, f64::max);
    vec![
        row.step.title().into(),
        paper_seconds.into(),
        seconds(row.seconds.iter().copied()).into(),
        printed(*paper).into(),
        if solved { measured(&row.count) } else { NOTHING.to_owned() }.into(),
        difference(&row.count),
        if solved { format!("{:.0}", mean(passes)) } else { NOTHING.to_owned() }.into(),
        if solved { format!("{gap:.0e}") } else { NOTHING.to_owned() }.into(),
    ]
}

fn notes(table: &Table2) -> Vec<String> {
    let spread = format!(
        "mean(standard deviation) of the iterations, mean of seconds and passes, largest gap over {}. Seconds are by the \
         clock on this machine, the paper's are CPU seconds on a laptop of its time: they are not compared.",
        seeds(table.found.len())
    );
    let count = table.request.data.relevant;
    let recovery = format!(
        "Of the {count} relevant features, among the {count} largest weights, seed by seed: {}. The largest threshold that \
         keeps all {count} leaves of the {} features: {}.",
        list(&table.found),
        table.request.data.features(),
        list(&table.kept)
    );
    let counts = table.rows.iter().map(|row| &row.count);
    let drawn = "The paper says that X is drawn as in Table 1. Here its entries are N(0, 1), there N(0, 1)/sqrt(n): with that X and the \
                 settings of Table 1 the count is 168 (docs/reproduction.md)."
        .to_owned();
    vec![spread, verdict(counts, table.request.paper_size, "n = 90 and d = 650"), CHOSEN.to_owned(), drawn, recovery]
}
