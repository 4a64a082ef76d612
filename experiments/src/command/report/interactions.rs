//! Interactions among very many variables.

use banach_lab::bench::interactions::{Done, Draw, Gamma, Interactions, Large};

use super::{Cell, Table, bench::figure_row};

pub(crate) fn interactions(bench: &Interactions) -> [Table; 4] {
    let [recovery, ends] = recovery(bench);
    [recovery, ends, routes(bench), large(bench)]
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

fn recovery(bench: &Interactions) -> [Table; 2] {
    let (request, recovery) = (&bench.request.recovery, &bench.recovery);
    let relevant = recovery.relevant;
    let row = |Draw { seed, ours, selected, lasso }: &Draw| {
        let chosen = selected.chosen.as_ref().map_or_else(String::new, |chosen| {
            let error = chosen.error.map_or_else(String::new, |error| format!(", coefficients to {error:.3}"));
            format!("{} true of {}{error}", chosen.right, chosen.terms)
        });
        let none = || "-".to_owned();
        let theirs = lasso.as_ref();
        [
            seed.to_string(),
            format!("{} of {relevant}", ours.found),
            theirs.map_or_else(none, |lasso| format!("{} of {relevant}, {} not 0", lasso.found, lasso.nonzeros)),
            chosen,
            seconds(ours.seconds),
            seconds(selected.seconds),
            theirs.map_or_else(none, |lasso| {
                format!("{} ({} of it to expand)", seconds(lasso.seconds), seconds(lasso.expansion_seconds))
            }),
            bytes(ours.peak_bytes),
            bytes(selected.peak_bytes),
            theirs.map_or_else(none, |lasso| bytes(Some(lasso.peak_bytes))),
        ]
    };
    let data = &request.data;
    let gamma = match request.gamma {
        Gamma::Fixed(gamma) => format!("gamma = {gamma}"),
        Gamma::Knees(knees) => format!("gamma = {knees} times the knee of the data"),
    };
    let header = [
        "seed",
        "first monomials",
        "Lasso",
        "select and refit",
        "time",
        "select, time",
        "Lasso, time",
        "memory",
        "select, memory",
        "Lasso, memory",
    ];
    let other = recovery.versions.as_ref().map_or_else(
        || "The Lasso was not asked: name with --python an interpreter that has celer and scikit-learn.".to_owned(),
        |versions| {
            format!(
                "Lasso: celer {}, scikit-learn {}, numpy {}, at its best alpha in hindsight.",
                versions.celer, versions.scikit_learn, versions.numpy
            )
        },
    );
    let draws = Table {
        title: "The true monomials, against a Lasso on all monomials written out".to_owned(),
        setting: format!(
            "n = {}, d = {}, {} standardised monomials of degree 2, {relevant} true, noise {}; p = {}, {gamma}, relative gap 1e-8. {} \
             threads on each side, best of {} rounds, each seed and side in a process of its own. Select and refit takes up to {} \
             monomials, as {} folds decide.",
            data.samples,
            data.inputs,
            data.features(),
            data.noise,
            request.p,
            bench.threads,
            request.rounds,
            request.select.terms,
            request.select.folds
        ),
        header: header.map(str::to_owned).into(),
        rows: recovery.draws.iter().map(|draw| row(draw).map(Cell::from).into()).collect(),
        notes: vec![other],
    };
    [draws, ends(bench)]
}

fn ends(bench: &Interactions) -> Table {
    let recovery = &bench.recovery;
    let draws = recovery.draws.len();
    let mut rows: Vec<[String; 4]> = Vec::new();
    let found = recovery.found();
    if let Some(theirs) = recovery.lasso_found() {
        rows.push([
            "seeds with all true monomials first".to_owned(),
            format!("{found} of {draws}"),
            format!("Lasso: {theirs} of {draws}"),
            verdict(found >= theirs).to_owned(),
        ]);
    } else {
        let ours = format!("{found} of {draws}");
        rows.push(["seeds with all true monomials first".to_owned(), ours, String::new(), String::new()]);
    }
    for (p, found) in &recovery.others {
        let what = format!("the same with p = {p}");
        rows.push([what, format!("{found} of {draws}"), String::new(), String::new()]);
    }
    let [all, exact] = recovery.chosen();
    for (what, seeds) in [("has all of them", all), ("has all of them and no other", exact)] {
        let what = format!("seeds in which select and refit {what}");
        rows.push([what, format!("{seeds} of {draws}"), String::new(), String::new()]);
    }
    if let Some([fit, select]) = recovery.times_as_fast() {
        for (what, times) in [("one fit", fit), ("select and refit", select)] {
            let what = format!("{what}: times as fast as the Lasso, all seeds");
            rows.push([what, format!("{times:.2}"), "> 1".to_owned(), verdict(times > 1.0).to_owned()]);
        }
    }
    if let Some([fit, select]) = recovery.memory_share() {
        for (what, share) in [("one fit", fit), ("select and refit", select)] {
            let what = format!("{what}: memory as a part of the Lasso's, worst seed");
            rows.push([what, format!("{share:.3}"), "<= 0.1".to_owned(), verdict(share <= 0.1).to_owned()]);
        }
    }
    Table {
        title: "In sum".to_owned(),
        setting: String::new(),
        header: ["figure", "ours", "wanted", ""].map(str::to_owned).into(),
        rows: rows.into_iter().map(|row| row.map(Cell::from).into()).collect(),
        notes: vec![],
    }
}

fn routes(bench: &Interactions) -> Table {
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
    Table {
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

fn large(bench: &Interactions) -> Table {
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
    Table {
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
