//! The measured figures.

use banach_lab::bench::{Figure, MachineFigures, Side, Target};

use super::{Cell, ResultTable};

pub(crate) fn bench(bench: &MachineFigures) -> ResultTable {
    let rounds = bench.request.rounds;
    ResultTable {
        title: "Bench".to_owned(),
        setting: format!(
            "{} threads, best of {rounds} rounds (fewer for the slow ones). G/s: 1e9 bytes or multiply-adds per second.",
            bench.threads
        ),
        header: ["figure", "ours", "other", "ratio", "target", ""].map(str::to_owned).into(),
        rows: bench.figures.iter().map(|figure| figure_row(figure).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}

/// A figure as a row.
pub(super) fn figure_row(figure: &Figure) -> [String; 6] {
    let side = |side: &Side| {
        let rate =
            if side.work > 1.0 { format!(", {:.1} G/s", 1e-9 * side.work / side.seconds) } else { String::new() };
        format!("{}: {:.3} ms{rate}", side.name, 1e3 * side.seconds)
    };
    [
        figure.what.clone(),
        side(&figure.ours),
        side(&figure.other),
        format!("{:.2}", figure.ratio),
        target(figure),
        if figure.reached() { "reached" } else { "missed" }.to_owned(),
    ]
}

/// What the ratio of a figure should be.
pub(super) fn target(figure: &Figure) -> String {
    match figure.target {
        Target::AtLeast(bound) => format!(">= {bound}"),
        Target::AtMost(bound) => format!("<= {bound}"),
        Target::Within(factor) => format!("1/{factor} to {factor}"),
    }
}
