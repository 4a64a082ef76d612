//! Table 1: the paper's iteration counts beside ours.

use banach::synthetic::SparseLinear;
use banach_lab::{
    Algorithm,
    table1::{Baselines, Table1, Table1Count},
};

use super::{
    Cell, ResultTable,
    counts::{CHOSEN, algorithm_settings, difference, measured, printed, range, seconds, seeds, verdict},
};

pub(crate) fn table1(table: &Table1) -> ResultTable {
    let SparseLinear { samples, features, relevant, noise } = table.request.data;
    let settings = &table.request.settings;
    let setting = format!(
        "Iterations to relative precision {:.0e}; n = {samples}, d = {features}, {relevant} relevant, sigma = {noise}, {}.",
        settings.precision,
        algorithm_settings(settings)
    );
    let mut exponents: Vec<&str> = Vec::new();
    for cell in &table.cells {
        if !exponents.contains(&&cell.p[..]) {
            exponents.push(&cell.p);
        }
    }
    let header =
        ["algorithm".to_owned(), String::new()].into_iter().chain(exponents.iter().map(|p| format!("p = {p}")));
    let mut rows = Vec::new();
    for algorithm in [Algorithm::DualGradient, Algorithm::PrimalGradient, Algorithm::Fista, Algorithm::FistaMomentum] {
        let cells =
            exponents.iter().map(|p| table.cells.iter().find(|cell| cell.algorithm == algorithm && cell.p == **p));
        let cells: Vec<Option<&Table1Count>> = cells.collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let mut row = |title: &str, source: &str, show: fn(&Table1Count) -> Cell| {
            let head = [Cell::from(title), Cell::from(source)];
            let shown = cells.iter().map(|cell| cell.map_or_else(|| "not run".into(), show));
            rows.push(head.into_iter().chain(shown).collect());
        };
        let title = match algorithm {
            Algorithm::FistaMomentum => format!("{}, a = {}", algorithm.title(), settings.momentum),
            _ => algorithm.title().to_owned(),
        };
        row(&title, "paper", |cell| printed(cell.count.paper).into());
        row("", "banach", |cell| measured(&cell.count).into());
        row("", "range", |cell| range(&cell.count).into());
        row("", "difference", |cell| difference(&cell.count));
        row("", "seconds", |cell| seconds(cell.count.outcomes.iter().map(|outcome| outcome.seconds)).into());
    }
    ResultTable { title: "Table 1".to_owned(), setting, header: header.collect(), rows, notes: notes(table) }
}

fn notes(table: &Table1) -> Vec<String> {
    let request = &table.request;
    let first = match request.baselines {
        Baselines::All => {
            format!("; where the paper has no count of FISTA, and for primal GD, seed {} alone", request.seed)
        }
        Baselines::None | Baselines::Fista => String::new(),
    };
    let counts = table.cells.iter().map(|cell| &cell.count);
    let mut notes = vec![
        format!("mean(standard deviation) and range over {}{first}.", seeds(request.repeats)),
        verdict(counts, request.paper_size, "n = 200 and d = 100000"),
        "The paper never says what its brackets are. We read them as a spread over draws of the data; the difference is plain: our \
         mean less the paper's number."
            .to_owned(),
        CHOSEN.to_owned(),
    ];
    if request.baselines != Baselines::None {
        notes.push(format!(
            "FISTA has the momentum of Beck and Teboulle, and in the second row (k-1)/(k+a) of Chambolle and Dossal, whom the \
             paper cites. It gives no a: a = {} was found by search between 2.2 and 2.5.",
            request.settings.momentum
        ));
    }
    notes
}
