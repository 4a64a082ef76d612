//! Table 1: the paper's iteration counts beside ours.

use banach_experiments::{
    Algorithm,
    data::SparseLinear,
    table1::{self, Table1},
};

use super::{
    Cell, Table,
    counts::{algorithm_settings, measured, printed, seconds, seeds, verdict},
};

pub(crate) fn table1(table: &Table1) -> Table {
    let SparseLinear { samples, features, relevant, noise } = table.request.data;
    let settings = &table.request.settings;
    let setting = format!(
        "Iterations to relative precision {:.0e}; n = {samples}, d = {features}, {relevant} relevant, sigma = {noise}, {}.",
        settings.precision,
        algorithm_settings(settings)
    );
    let mut header = vec!["algorithm".to_owned(), String::new()];
    for cell in &table.cells {
        let column = format!("p = {}", cell.p);
        if !header.contains(&column) {
            header.push(column);
        }
    }
    let mut rows = Vec::new();
    for algorithm in [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista] {
        let cells: Vec<&table1::Cell> = table.cells.iter().filter(|cell| cell.algorithm == algorithm).collect();
        if cells.is_empty() {
            continue;
        }
        let mut row = |title: &str, source: &str, show: fn(&table1::Cell) -> Cell| {
            let head = [Cell::from(title), Cell::from(source)];
            rows.push(head.into_iter().chain(cells.iter().map(|cell| show(cell))).collect());
        };
        row(algorithm.title(), "paper", |cell| printed(cell.count.paper).into());
        row("", "banach", |cell| Cell::judged(measured(&cell.count), cell.count.agrees));
        row("", "seconds", |cell| seconds(cell.count.outcomes.iter().map(|outcome| outcome.seconds)).into());
    }
    Table { title: "Table 1".to_owned(), setting, header, rows, notes: notes(table) }
}

fn notes(table: &Table1) -> Vec<String> {
    let request = &table.request;
    let baselines =
        if request.baselines { format!(", seed {} alone for the primal ones", request.seed) } else { String::new() };
    let spread = format!("mean(standard deviation) over {} for the dual algorithm{baselines}.", seeds(request.repeats));
    let counts = table.cells.iter().map(|cell| &cell.count);
    vec![spread, verdict(counts, request.paper_size, "n = 200 and d = 100000")]
}
