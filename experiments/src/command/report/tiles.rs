//! The tiles route.

use banach_lab::bench::tiles::{TilesBench, TilesFit};

use super::{Cell, ResultTable, bench::figure_row};

pub(crate) fn tiles(bench: &TilesBench) -> [ResultTable; 2] {
    let header = ["figure", "ours", "other", "ratio", "target", ""];
    let figures = ResultTable {
        title: "Tiles".to_owned(),
        setting: format!(
            "{} threads, best of {} rounds. G/s: 1e9 multiply-adds per second.",
            bench.threads, bench.request.rounds
        ),
        header: header.map(str::to_owned).into(),
        rows: bench.figures.iter().map(|figure| figure_row(figure).map(Cell::from).into()).collect(),
        notes: vec![],
    };
    let row = |fit: &TilesFit| {
        let gaps: Vec<String> = fit.gaps.iter().map(|(passes, gap)| format!("{passes}: {gap:.0e}")).collect();
        [
            format!("p = {}, {} monomials", fit.p, fit.scale),
            fit.passes.to_string(),
            format!("{:.2} s", fit.seconds),
            fit.peak_bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000)),
            gaps.join(", "),
        ]
    };
    let data = &bench.request.data;
    let fits = ResultTable {
        title: "Fits".to_owned(),
        setting: format!(
            "Squared loss with intercept, gamma = {}, n = {}, d = {}, {} monomials of degree 2, {} of them in the target, to a \
             relative gap of {:e}. Memory is the most that the process has taken until then.",
            bench.request.gamma,
            data.samples,
            data.inputs,
            data.features(),
            data.relevant,
            bench.request.tolerance
        ),
        header: ["problem", "passes", "time", "memory", "passes: relative gap"].map(str::to_owned).into(),
        rows: bench.fits.iter().map(|fit| row(fit).map(Cell::from).into()).collect(),
        notes: vec![],
    };
    [figures, fits]
}
