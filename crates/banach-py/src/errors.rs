//! Errors as the exceptions that Python users expect.

use banach::Error;
use pyo3::{
    PyErr,
    exceptions::{PyMemoryError, PyRuntimeError, PyValueError},
};

/// `MemoryError` for what was refused for want of memory, `ValueError` for every other input that cannot work.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        // The library and the paper say gamma where scikit-learn says C, and so on.
        Error::Parameter { name, got, allowed } => {
            let name = match name {
                "gamma" => "C",
                "tolerance" => "tol",
                "tau" => "quantile",
                other => other,
            };
            PyValueError::new_err(Error::Parameter { name, got, allowed }.to_string())
        }
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        // A route that could be taken with more memory.
        Error::NoRoute { ref refused, .. } if refused.iter().any(|(_, why)| matches!(why, Error::Memory { .. })) => {
            PyMemoryError::new_err(error.to_string())
        }
        Error::Threads { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string().replace("gamma", "C")),
    }
}
