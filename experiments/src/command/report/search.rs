//! The search for the largest monomials.

use banach_lab::bench::search::{Search, SearchCell, SearchRequest, SearchRun};

use super::{Cell, ResultTable};

pub(crate) fn search(search: &Search) -> ResultTable {
    let SearchRequest { data, seeds, count, nodes, gammas, .. } = &search.request;
    let row = |cell: &SearchCell| {
        let of = |value: &dyn Fn(&SearchRun) -> f64| {
            let values: Vec<f64> = cell.runs.iter().map(value).collect();
            let fold = |start, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
            (fold(f64::INFINITY, f64::min), fold(0.0, f64::max))
        };
        let (least, most) = of(&|run| run.nodes as f64);
        let (_, slowest) = of(&|run| run.seconds);
        let (_, degree) = of(&|run| run.degree as f64);
        let times = |wanted: &dyn Fn(&SearchRun) -> bool| {
            format!("{} of {}", cell.runs.iter().filter(|run| wanted(run)).count(), cell.runs.len())
        };
        [
            cell.data.entries.name().to_owned(),
            format!("{}", cell.scale),
            format!("{least} to {most}"),
            format!("{:.1} ms", 1e3 * slowest),
            format!("{degree}"),
            times(&|run| run.set_proven),
            times(&|run| run.order_proven),
            if cell.reached() { "reached" } else { "missed" }.to_owned(),
        ]
    };
    let header = ["variables", "scale", "monomials", "slowest", "degree", "set proven", "order proven", "complete"];
    let shape = data.first().map_or_else(String::new, |data| format!("n = {}, d = {}", data.samples, data.inputs));
    ResultTable {
        title: format!("The {count} largest monomials of the exponential kernel"),
        setting: format!(
            "{shape}, p = 4/3, squared loss with an intercept, {seeds} seeds, gamma = {gammas:?}, at most {nodes} monomials; {} threads.",
            search.threads
        ),
        header: header.map(str::to_owned).into(),
        rows: search.cells.iter().map(|cell| row(cell).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
