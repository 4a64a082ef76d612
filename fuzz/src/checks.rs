//! What holds of everything that is read.

use std::collections::HashSet;

use banach_io::{Dataset, Error, Request, Values};

use crate::CEILING;

/// Runs something that must not take more memory than this.
pub(crate) fn within(ceiling: u64, run: impl FnOnce()) {
    let taken = allocation_counter::measure(run).bytes_max;
    assert!(taken <= ceiling, "{taken} bytes, and {ceiling} are allowed");
}

/// Reads bytes as a file; whether they are one.
pub(crate) fn read(request: &Request, data: &[u8]) -> bool {
    read_by(request, || request.read_from(data, "data"))
}

/// The same for what is read in some other way.
pub(crate) fn read_by(request: &Request, read: impl FnOnce() -> Result<Dataset, Error>) -> bool {
    let mut found = None;
    within(CEILING, || found = Some(read()));
    match found.expect("it has run") {
        Ok(dataset) => {
            check(&dataset, request);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn check(data: &Dataset, request: &Request) {
    let (table, rows) = (&data.table, data.table.rows());
    assert!(rows >= if request.model.is_some() { 1 } else { 2 });
    match table.values() {
        Values::Dense(values) => {
            assert_eq!(values.len(), rows * table.names().len());
            assert!(values.iter().all(|value| value.is_finite()));
        }
        Values::Sparse { starts, rows: places, values } => {
            assert_eq!((starts.len(), starts[0]), (table.names().len() + 1, 0));
            assert!(starts.is_sorted() && starts.last() == Some(&values.len()) && values.len() == places.len());
            for column in starts.windows(2).map(|ends| &places[ends[0]..ends[1]]) {
                assert!(column.is_sorted_by(|a, b| a < b) && column.last().is_none_or(|last| *last < rows));
            }
            assert!(values.iter().all(|value| value.is_finite() && *value != 0.0));
        }
    }
    let names: HashSet<&String> = table.names().iter().collect();
    assert_eq!(names.len(), table.names().len(), "names that tell columns apart");
    assert!(data.encodings.iter().flat_map(banach_io::Encoding::variables).all(|name| names.contains(&name)));
    assert!(data.fills.iter().all(|fill| fill.value.is_finite() && fill.count > 0 && fill.count <= rows));
    if request.model.is_none() {
        let (numbers, classes) = (data.target.numbers(), data.target.classes());
        assert!(numbers.is_some() || classes.is_some());
        assert!(numbers.is_none_or(|y| y.len() == rows && y.iter().all(|y| y.is_finite())));
        assert!(classes.is_none_or(|classes| classes.rows.len() == rows && !classes.counts().contains(&0)));
    }
    let mut standardized = table.clone();
    let done = standardized.standardize();
    assert_eq!(done.constant.len() + standardized.names().len(), table.names().len());
    assert!(done.deviations.iter().all(|deviation| *deviation > 0.0));
    let (Values::Dense(values) | Values::Sparse { values, .. }) = standardized.values();
    assert!(values.iter().all(|value| value.is_finite()));
}
