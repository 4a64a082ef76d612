//! The measured figures.

use banach_experiments::bench::{Bench, Figure, Target};

use super::{Cell, Table};

pub(crate) fn bench(bench: &Bench) -> Table {
    let row = |figure: &Figure| {
        let side = |(name, seconds): (&str, f64)| format!("{name}: {:.3} ms", 1e3 * seconds);
        let target = match figure.target {
            Target::AtLeast(bound) => format!(">= {bound}"),
            Target::AtMost(bound) => format!("<= {bound}"),
        };
        [
            figure.what.to_owned(),
            side(figure.ours),
            side(figure.other),
            format!("{:.2}", figure.ratio),
            target,
            if figure.reached() { "reached" } else { "missed" }.to_owned(),
        ]
    };
    let request = &bench.request;
    Table {
        title: "Bench".to_owned(),
        setting: format!(
            "n = {}, d = {}, {} threads, best of {} rounds; streaming read {:.1} GB/s.",
            request.samples,
            request.features,
            bench.threads,
            request.rounds,
            bench.bandwidth / 1e9
        ),
        header: ["figure", "ours", "other", "ratio", "target", ""].map(str::to_owned).into(),
        rows: bench.figures.iter().map(|figure| row(figure).map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
