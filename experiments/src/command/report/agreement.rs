//! What agrees with the paper and what does not, in one table.

use banach_lab::{Algorithm, Comparison, figure1::Figure1, table1::Table1, table2::Table2};

use super::{
    Cell, ResultTable,
    counts::{CHOSEN, difference, measured, printed},
};

pub(crate) fn agreement(table1: &Table1, figure1: &Figure1, table2: &Table2) -> ResultTable {
    let setting = if table1.request.paper_size {
        "Iteration counts: what the paper prints and what came out."
    } else {
        "This run is of a small size, to which the paper's numbers do not apply: nothing is compared."
    };
    let cells = table1.cells.iter().map(|cell| (format!("{}, p = {}", cell.algorithm.title(), cell.p), &cell.count));
    let rows = table2.rows.iter().map(|row| (row.step.title().to_owned(), &row.count));
    ResultTable {
        title: "Agreement with the paper".to_owned(),
        setting: setting.to_owned(),
        header: ["experiment", "counts that agree", "counts that differ"].map(str::to_owned).into(),
        rows: vec![
            row("Table 1", cells),
            vec!["Figure 1".into(), "the paper prints none".into(), "---".into()],
            row("Table 2", rows),
        ],
        notes: claims(figure1, table2),
    }
}

fn row<'a>(name: &str, counts: impl Iterator<Item = (String, &'a Comparison)>) -> Vec<Cell> {
    let judged: Vec<(String, &Comparison)> = counts.filter(|(_, count)| count.agrees.is_some()).collect();
    let differ: Vec<String> = judged
        .iter()
        .filter(|(_, count)| count.agrees == Some(false))
        .map(|(what, count)| {
            format!(
                "{what}: paper {}, banach {}, difference {}",
                printed(count.paper),
                measured(count),
                difference(count).text
            )
        })
        .collect();
    let agree = match judged.len() {
        0 => "---".to_owned(),
        all => format!("{} of {all}", all - differ.len()),
    };
    let differ = match (judged.is_empty(), differ.is_empty()) {
        (true, _) => "---".to_owned(),
        (false, true) => "none".to_owned(),
        (false, false) => differ.join("; "),
    };
    vec![name.into(), agree.into(), differ.into()]
}

/// What the paper says in words.
fn claims(figure1: &Figure1, table2: &Table2) -> Vec<String> {
    let mut notes = vec![CHOSEN.to_owned()];
    for pair in figure1.curves.chunks(2) {
        let [dual, fista] = pair else { continue };
        debug_assert!(dual.algorithm == Algorithm::DualGradient && fista.algorithm == Algorithm::Fista);
        let precision = figure1.request.settings.precision;
        let count = |reached: Option<usize>| reached.map_or("more than it was given".to_owned(), |m| m.to_string());
        notes.push(format!(
            "Figure 1, left, p = {}: iterations to {precision:.0e} are {} for the dual algorithm and {} for FISTA.",
            dual.p,
            count(dual.iterations_to(precision)),
            count(fista.iterations_to(precision))
        ));
    }
    let all_found = |found: &[usize], relevant: usize| {
        let all = found.iter().filter(|found| **found == relevant).count();
        format!("all {relevant} relevant features have the largest weights on {all} of {} seeds", found.len())
    };
    notes.push(format!("Figure 1, right: {}.", all_found(&figure1.found, figure1.truth.len())));
    notes.push(format!("Table 2: {}.", all_found(&table2.found, table2.request.data.relevant)));
    let small = table2.kept.iter().filter(|kept| 10 * **kept <= table2.request.data.features()).count();
    notes.push(format!(
        "Table 2: a threshold that keeps every relevant feature discards nine in ten features or more, as the paper says, on \
         {small} of {} seeds.",
        table2.kept.len()
    ));
    notes
}
