//! Columns in fewer bytes than f64.

use banach_lab::bench::scale::Scale;

use super::{Cell, ResultTable, bench::figure_row};

pub(crate) fn scale(scale: &Scale) -> ResultTable {
    let bytes =
        |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{} MB", bytes.div_ceil(1_000_000)));
    let (memory, (samples, variants)) = (&scale.memory, scale.request.genotypes);
    let ratio = memory.two_bit.zip(memory.f64).map(|(ours, other)| ours as f64 / other as f64);
    let reached = match memory.two_bit {
        Some(ours) if ours < memory.limit => "reached",
        Some(_) => "missed",
        None => "?",
    };
    let of_memory = [
        format!("memory of a process with genotypes, n = {samples}, d = {variants}"),
        format!("two bits: {}", bytes(memory.two_bit)),
        format!("f64: {}", bytes(memory.f64)),
        ratio.map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.2}")),
        format!("< {} MB", memory.limit / 1_000_000),
        reached.to_owned(),
    ];
    let rows = scale.figures.iter().map(figure_row).chain([of_memory]);
    ResultTable {
        title: "Columns in fewer bytes".to_owned(),
        setting: format!(
            "{} threads, best of {} rounds, of genotypes {}. G/s: 1e9 multiply-adds per second, of the features route two for every entry.",
            scale.threads, scale.request.rounds, scale.request.genotype_rounds
        ),
        header: ["figure", "ours", "other", "ratio", "target", ""].map(str::to_owned).into(),
        rows: rows.map(|row| row.map(Cell::from).into()).collect(),
        notes: vec![],
    }
}
