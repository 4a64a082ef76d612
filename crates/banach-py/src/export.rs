//! Equations as code.

use banach_io::{Label, Language, Saved, SavedSparse};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{files::PyLabel, sparse::SparseModel};

/// A model of few terms of so many variables in a language; names and labels may be None.
#[pyfunction]
pub(crate) fn export_sparse(
    model: &SparseModel,
    language: &str,
    variables: usize,
    names: Option<Vec<String>>,
    target: Option<String>,
    classes: Option<Vec<PyLabel>>,
) -> PyResult<String> {
    let language: Language = language
        .parse()
        .map_err(|allowed: String| PyValueError::new_err(format!("language = {language:?}; allowed: {allowed}")))?;
    let saved = SavedSparse {
        names,
        target,
        labels: classes.map(|classes| classes.into_iter().map(Label::from).collect()),
        // The number of samples is no part of an equation.
        ..SavedSparse::new(model.spec.clone(), model.model.clone(), (1, variables))
    };
    let code = Saved::Sparse(Box::new(saved)).equations().and_then(|equations| equations.written_in(language));
    code.map_err(|error| PyValueError::new_err(error.to_string()))
}
