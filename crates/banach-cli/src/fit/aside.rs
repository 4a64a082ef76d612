//! Columns that are no variables: groups, times and weights of rows, and the target of a test.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, ensure};
use banach::Memory;
use banach_io::{At, Dataset, Impute};

use super::{args::Columns, read};

/// One column of a file by itself. `other` is any other column, which has to be there and does not matter.
pub(super) fn column(
    path: &Path,
    columns: &Columns,
    flag: &str,
    (name, other): (&str, &str),
    memory: Memory,
) -> anyhow::Result<Dataset> {
    ensure!(path.as_os_str() != "-", "{flag} reads the file once more, which standard input cannot do; name a file");
    let alone = Columns {
        target: Some(name.to_owned()),
        features: vec![other.to_owned()],
        drop: Vec::new(),
        categorical: Vec::new(),
        impute: Some(Impute::Mean),
        ..columns.clone()
    };
    read::read(path, &alone, memory).with_context(|| format!("{flag} {name}"))
}

/// The values of a column at the rows of another reading of the same file, in which rows may have been left out.
pub(super) fn aligned<T: Copy>(rows: &Dataset, column: &Dataset, values: &[T], flag: &str) -> anyhow::Result<Vec<T>> {
    let places: BTreeMap<At, T> = values.iter().enumerate().map(|(row, value)| (column.at(row), *value)).collect();
    let at = |row: usize| {
        let at = rows.at(row);
        let value = places.get(&at).copied();
        value
            .with_context(|| format!("{flag}: {}, {at}: the value of {:?} is missing", rows.file, column.target.name()))
    };
    (0..rows.table.rows()).map(at).collect()
}

/// A number for every group of rows, by text or by value.
pub(super) fn groups(column: &Dataset) -> Vec<usize> {
    if let Some(classes) = column.target.classes() {
        return classes.rows.clone();
    }
    let numbers = column.target.numbers().unwrap_or_default();
    let mut known = numbers.to_vec();
    known.sort_by(f64::total_cmp);
    known.dedup();
    numbers.iter().map(|number| known.partition_point(|other| other < number)).collect()
}

/// The times of rows: numbers, or text in the order of the alphabet, which is that of dates such as 2024-05-31.
pub(super) fn times(column: &Dataset) -> Vec<f64> {
    match (column.target.numbers(), column.target.classes()) {
        (Some(numbers), _) => numbers.to_vec(),
        (None, Some(classes)) => classes.rows.iter().map(|&place| place as f64).collect(),
        (None, None) => Vec::new(),
    }
}
