//! What the text of a cell says, by the rules of the files of the command.

use pyo3::prelude::*;

/// The label, or None where the text says that there is none.
#[pyfunction]
pub(crate) fn cell_label(text: &str) -> Option<String> {
    banach_io::cell_label(text)
}

/// The number: NaN where the text says that there is none, and None where it is something else.
#[pyfunction]
pub(crate) fn cell_number(text: &str) -> Option<f64> {
    banach_io::cell_number(text)
}
