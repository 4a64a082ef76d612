//! Errors as the exceptions that Python users expect.

use banach::Error;
use pyo3::{
    PyErr,
    exceptions::{PyMemoryError, PyRuntimeError, PyValueError},
};

/// `MemoryError` for what was refused for want of memory, `ValueError` for every other input that cannot work.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = in_python_names(error.to_string());
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        // A route that could be taken with more memory.
        Error::NoRoute { ref refused, .. } if refused.iter().any(|(_, why)| matches!(why, Error::Memory { .. })) => {
            PyMemoryError::new_err(message)
        }
        Error::Threads { .. } => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The Rust library and the paper say gamma where scikit-learn says C, and so on.
fn in_python_names(message: String) -> String {
    let renamed = [("gamma = ", "C = "), ("tolerance = ", "tol = "), ("tau = ", "quantile = ")];
    match renamed.iter().find(|(rust, _)| message.starts_with(rust)) {
        Some((rust, python)) => message.replacen(rust, python, 1),
        None => message,
    }
}

/// What work that runs in the background can fail with.
pub(crate) trait Failure: Send {
    fn exception(self) -> PyErr;
}

impl Failure for Error {
    fn exception(self) -> PyErr {
        exception(self)
    }
}

impl Failure for banach_experiments::Error {
    fn exception(self) -> PyErr {
        match self {
            Self::Banach(error) => exception(error),
            other => PyRuntimeError::new_err(other.to_string()),
        }
    }
}
