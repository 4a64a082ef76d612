//! Interactions among very many variables.

use banach_lab::bench::interactions::{Done, Interactions, Large};

use super::{Cell, ResultTable, bench::figure_row};

pub(crate) fn interactions(bench: &Interactions) -> [ResultTable; 2] {
    [routes(bench), large(bench)]
}

fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.0} s") }
}

fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{} MB", bytes.div_ceil(1_000_000)))
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "missed" }
}

fn routes(bench: &Interactions) -> ResultTable {
    let (request, routes) = (&bench.request.routes, &bench.routes);
    let side = |done: &Done| format!("{}, {} passes", seconds(done.seconds), done.passes);
    let (found, draws) = (routes.found(), routes.draws.len());
    let wanted = draws - draws.div_ceil(10);
    let (times, memory) = (routes.times_as_fast(), routes.times_the_memory());
    let rows = [
        [
            format!("seeds with the {} true monomials first", routes.relevant),
            format!("{found} of {draws}"),
            String::new(),
            String::new(),
            format!(">= {wanted}"),
            verdict(found >= wanted).to_owned(),
        ],
        [
            "form, fit and list".to_owned(),
            side(&routes.tiles),
            side(&routes.features),
            format!("{times:.1} times as fast"),
            ">= 5".to_owned(),
            verdict(times >= 5.0).to_owned(),
        ],
        [
            "peak memory of the process".to_owned(),
            bytes(routes.tiles.peak_bytes),
            bytes(routes.features.peak_bytes),
            memory.map_or_else(|| "?".to_owned(), |times| format!("{times:.1} times less")),
            ">= 20".to_owned(),
            verdict(memory.is_some_and(|times| times >= 20.0)).to_owned(),
        ],
        [
            "of it, with the data and before the form".to_owned(),
            bytes(routes.tiles.data_bytes),
            bytes(routes.features.data_bytes),
            String::new(),
            String::new(),
            String::new(),
        ],
    ];
    let data = &request.data;
    ResultTable {
        title: "Tiles against the matrix of all monomials".to_owned(),
        setting: format!(
            "n = {}, d = {}, {} raw monomials of degree 2, p = {}, gamma = {}, relative gap 1e-8; {} threads; in turn, {} processes of each, best time of all their rounds.",
            data.samples,
            data.inputs,
            data.features(),
            request.p,
            request.gamma,
            bench.threads,
            request.rounds
        ),
        header: ["figure", "tiles", "features", "ratio", "wanted", ""].map(str::to_owned).into(),
        rows: rows.map(|row| row.map(Cell::from).into()).into(),
        notes: vec![],
    }
}

fn large(bench: &Interactions) -> ResultTable {
    let row = |large: &Large| {
        let Large { request, done } = large;
        let limit = request.passes.map_or_else(String::new, |passes| format!("<= {passes} passes, "));
        let proven = match (done.set_proven, done.order_proven) {
            (true, true) => "set and order proven",
            (true, false) => "set proven",
            _ => "not proven",
        };
        [
            format!(
                "fit, n = {}, d = {}, {} monomials",
                request.data.samples,
                request.data.inputs,
                request.data.features()
            ),
            format!("{} passes, gap {:.0e}, {}", done.passes, done.gap, seconds(done.seconds - done.top_seconds)),
            format!(
                "{} of {} true first; {} in {}, {proven}",
                done.found,
                request.data.relevant,
                request.top,
                seconds(done.top_seconds)
            ),
            bytes(done.peak_bytes),
            format!("{limit}<= {} MB", request.bytes / 1_000_000),
            verdict(large.reached()).to_owned(),
        ]
    };
    let evaluations = bench.evaluation.iter().map(|figure| {
        let [what, ours, other, ratio, target, verdict] = figure_row(figure);
        [what, ours, format!("{other}: {ratio}"), String::new(), target, verdict]
    });
    ResultTable {
        title: "Very many monomials".to_owned(),
        setting: format!(
            "p = 1.05, gamma = 10, squared loss with intercept, raw monomials of degree 2, seed 0, {} threads; each fit in a process of its \
             own, whose peak is its memory. An evaluation is held against a matrix product of the same work.",
            bench.threads
        ),
        header: ["figure", "result", "largest monomials, or product: ratio", "memory", "wanted", ""]
            .map(str::to_owned)
            .into(),
        rows: bench.large.iter().map(row).chain(evaluations).map(|row| row.map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
