//! Columns in fewer bytes than dense f64.

use banach_lab::bench::scale::{MostMemory, Scale, ScaleMemory};

use super::{Cell, ResultTable, bench::figure_row};

pub(crate) fn scale(scale: &Scale) -> ResultTable {
    let bytes =
        |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{} MB", bytes.div_ceil(1_000_000)));
    let of_memory = |memory: &ScaleMemory| {
        let ([ours, other], [label, other_label]) = (memory.peaks, memory.labels);
        let ratio = ours.zip(other).map(|(ours, other)| ours as f64 / other as f64);
        let (target, reached) = match memory.most {
            MostMemory::Bytes(most) => (format!("< {} MB", most / 1_000_000), ours.map(|ours| ours < most)),
            MostMemory::Share(most) => (format!("<= {most}"), ratio.map(|ratio| ratio <= most)),
        };
        [
            format!("memory of the process: {}", memory.name),
            format!("{label}: {}", bytes(ours)),
            format!("{other_label}: {}", bytes(other)),
            ratio.map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.2}")),
            target,
            reached.map_or("?", |reached| if reached { "reached" } else { "missed" }).to_owned(),
        ]
    };
    let rows = scale.figures.iter().map(figure_row).chain(scale.memory.iter().map(of_memory));
    ResultTable {
        title: "Columns in fewer bytes".to_owned(),
        setting: format!(
            "{} threads, best of {} rounds, in processes of their own {}. G/s: 1e9 multiply-adds per second, two for every entry.",
            scale.threads, scale.request.rounds, scale.request.process_rounds
        ),
        header: ["figure", "ours", "other", "ratio", "target", ""].map(str::to_owned).into(),
        rows: rows.map(|row| row.map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
