//! The data of a fit, and what there is to say about them.

use std::path::Path;

use banach::{FeatureMatrix, Memory};
use banach_io::{Dataset, Request, Standardization, Table, Values};

use super::args::Columns;

pub(super) fn read(path: &Path, columns: &Columns, memory: Memory) -> Result<Dataset, banach_io::Error> {
    let Columns { target, features, drop, categorical, impute, format, delimiter, no_header, .. } = columns;
    let request = Request {
        target: target.clone(),
        features: features.clone(),
        drop: drop.clone(),
        categorical: categorical.clone(),
        format: *format,
        delimiter: *delimiter,
        header: !no_header,
        impute: *impute,
        model: None,
        memory: memory.bytes(),
    };
    request.read(path)
}

/// The matrix of a table, without a copy.
pub(super) fn matrix(table: &Table) -> Result<FeatureMatrix<'_>, banach::Error> {
    let (samples, features) = (table.rows(), table.names().len());
    match table.values() {
        Values::Dense(values) => FeatureMatrix::from_columns(samples, features, &values[..]),
        Values::Sparse { starts, rows, values } => {
            FeatureMatrix::from_sparse_columns(samples, features, &starts[..], &rows[..], &values[..])
        }
    }
}

/// What was done to the table while it was read, and columns that may be identifiers.
pub(super) fn notes(data: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    if !data.encodings.is_empty() {
        let names: Vec<&str> = data.encodings.iter().map(|column| &column.column[..]).collect();
        notes.push(format!("columns of labels, each of which became a column of 0 and 1: {}", list(&names)));
    }
    if data.dropped > 0 {
        notes.push(format!("rows with missing values that were left out: {}", data.dropped));
    }
    notes.extend(filled(data));
    let counters = data.table.counters();
    if !counters.is_empty() {
        notes.push(format!("columns that only count the rows: {}; leave identifiers out with --drop", list(&counters)));
    }
    notes
}

/// How many missing values were filled in, if any.
pub(crate) fn filled(data: &Dataset) -> Option<String> {
    let (count, columns) = (data.fills.iter().map(|fill| fill.count).sum::<usize>(), data.fills.len());
    (columns > 0).then(|| format!("missing values that were filled in: {count}, in {columns} of the variables"))
}

/// What standardising did beyond the usual.
pub(super) fn standardized(done: &Standardization) -> Vec<String> {
    let mut notes = Vec::new();
    if !done.constant.is_empty() {
        let names: Vec<&str> = done.constant.iter().map(|name| &name[..]).collect();
        notes.push(format!("constant columns are left out: {}", list(&names)));
    }
    if !done.centred {
        notes.push("the table is sparse: its columns were scaled to standard deviation 1 and not centred".to_owned());
    }
    notes
}

/// The first few names.
pub(crate) fn list(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let more = if names.len() > SHOWN { format!(" and {} others", names.len() - SHOWN) } else { String::new() };
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    format!("{}{more}", shown.join(", "))
}
