//! Evaluations to the tolerance over the grid.

use banach_lab::bench::solvers::grid::{Grid, GridCell, GridRun, Single};

use super::ResultTable;

pub(crate) fn grid(grid: &Grid) -> ResultTable {
    let mut exponents: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for GridCell { part, loss, p, .. } in &grid.cells {
        if !exponents.contains(p) {
            exponents.push(p);
        }
        if !rows.contains(&(part, loss)) {
            rows.push((part, loss));
        }
    }
    let find = |place: (&str, &str, &str)| grid.cells.iter().find(|cell| (&cell.part[..], cell.loss, cell.p) == place);
    let row = |(part, loss): (&str, &str)| {
        let counts = exponents.iter().map(|p| find((part, loss, p)).map_or_else(String::new, count));
        [part.to_owned(), loss.to_owned()].into_iter().chain(counts).map(super::Cell::from).collect()
    };
    let columns = exponents.iter().map(|p| format!("p = {p}"));
    ResultTable {
        title: "Evaluations".to_owned(),
        setting: format!(
            "The most over gamma and the intercept, to a relative gap of {:e}; {} runs, {} threads. \
             `>` shows the limit that was passed.",
            grid.tolerance,
            grid.runs.len(),
            grid.threads
        ),
        header: ["data, route", "loss"].map(str::to_owned).into_iter().chain(columns).collect(),
        rows: rows.into_iter().map(row).collect(),
        notes: notes(grid),
    }
}

fn count(cell: &GridCell) -> String {
    let GridCell { worst, limit, failures, rounded, runs, .. } = cell;
    let passed = if worst > limit { format!(" > {limit}") } else { String::new() };
    let failed = if *failures > 0 { format!(", {failures} of {runs} failed") } else { String::new() };
    let rounded = if *rounded > 0 { format!(", {rounded} to rounding") } else { String::new() };
    format!("{worst}{passed}{failed}{rounded}")
}

fn notes(grid: &Grid) -> Vec<String> {
    let within = grid.cells.iter().filter(|cell| cell.within()).count();
    let failures: usize = grid.cells.iter().map(|cell| cell.failures).sum();
    let mut notes = vec![format!(
        "{within} of {} cells are within their limits; {failures} of {} runs failed.",
        grid.cells.len(),
        grid.runs.len()
    )];
    notes.extend(grid.singles.iter().map(|(Single { what, limit, paper, .. }, run)| {
        let verdict = if run.converged && run.evaluations <= *limit { "reached" } else { "missed" };
        format!(
            "{what}: {} evaluations, {}; wanted at most {limit}: {verdict}. The paper: {paper}.",
            run.evaluations, run.end
        )
    }));
    notes.extend(grid.worst.as_ref().map(|run| {
        let GridRun { part, loss, p, gamma, intercept, evaluations, end, relative_gap, .. } = run;
        let intercept = if *intercept { "an intercept" } else { "no intercept" };
        let gap = relative_gap.map_or_else(String::new, |gap| format!(" at a gap of {gap:.1e}"));
        format!(
            "Worst: {evaluations} evaluations, {end}{gap}: {part}, {loss} loss, p = {p}, gamma = {gamma}, {intercept}."
        )
    }));
    notes
}
