//! Table 1: the paper's iteration counts beside ours.

use banach_experiments::{
    Algorithm, Comparison, End, Outcome, Printed,
    data::SparseLinear,
    table1::{self, Table1},
};

use super::{Cell, Table};

pub(crate) fn table1(table: &Table1) -> Table {
    let SparseLinear { samples, features, relevant, noise } = table.request.data;
    let settings = &table.request.settings;
    let setting = format!(
        "iterations to relative precision {:.0e}; n = {samples}, d = {features}, {relevant} relevant, sigma = {noise}, \
         gamma = {}, delta = {}, theta = {}, lambda_bar = {}",
        settings.precision, settings.gamma, settings.delta, settings.theta, settings.lambda_bar
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
        row("", "seconds", |cell| seconds(&cell.count).into());
    }
    Table { title: "Table 1".to_owned(), setting, header, rows, notes: notes(table) }
}

fn notes(table: &Table1) -> Vec<String> {
    let seeds: Vec<u64> = table.cells[0].count.outcomes.iter().map(|outcome| outcome.seed).collect();
    let plural = if seeds.len() == 1 { "" } else { "s" };
    let baselines =
        if table.request.baselines { format!(", seed {} alone for the primal ones", seeds[0]) } else { String::new() };
    let spread =
        format!("mean(standard deviation) over {} seed{plural} for the dual algorithm{baselines}.", seeds.len());
    let verdict = if table.request.paper_size {
        let agreeing = table.cells.iter().filter(|cell| cell.count.agrees == Some(true)).count();
        let decided = table.cells.iter().filter(|cell| cell.count.agrees.is_some()).count();
        format!(
            "{agreeing} of {decided} cells agree with the paper (=): within its mean plus or minus twice its bracket, \
             within 10 % of a single count, or above the same limit. The others do not (!=)."
        )
    } else {
        "This is a small size: the paper's numbers, at n = 200 and d = 100000, do not apply to it.".to_owned()
    };
    vec![spread, verdict]
}

/// A count as the paper prints it.
fn printed(printed: Printed) -> String {
    match printed {
        Printed::Spread { mean, bracket } => format!("{mean}({bracket})"),
        Printed::Count(count) => count.to_string(),
        Printed::Above(limit) => format!("> {limit}"),
        Printed::Nothing => "---".to_owned(),
    }
}

/// Our count in the same form.
fn measured(count: &Comparison) -> String {
    match (count.mean, count.deviation) {
        (Some(mean), Some(deviation)) => format!("{mean:.1}({deviation:.1})"),
        (Some(mean), None) => format!("{mean}"),
        (None, _) => {
            let worst = count.outcomes.iter().max_by(|a, b| a.precision.total_cmp(&b.precision));
            let Outcome { iterations, end, precision, .. } = worst.expect("a cell has at least one run");
            let after = if *end == End::Stalled { "stalled at" } else { ">" };
            format!("{after} {iterations} (at {precision:.0e})")
        }
    }
}

fn seconds(count: &Comparison) -> String {
    let mean = count.outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / count.outcomes.len() as f64;
    format!("{mean:.2}")
}
