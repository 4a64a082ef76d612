//! Reports and equations: data and text of the library, for Python.

use banach::{
    Error, Unobserved,
    fit::Assessment,
    kernel::Monomial,
    model::ExplicitModel,
    report::{ColumnNames, ColumnUnits, Described, GapAfter, Note, Report, Tables, Watch},
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    errors::{Arguments, exception},
    model::Model,
};

/// Names that the report uses; those of the classes may be None, and so may the means and deviations of columns that were standardised.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Names {
    variables: Vec<String>,
    target: String,
    classes: Option<Vec<String>>,
    scaling: Option<(Vec<f64>, Vec<f64>)>,
}

/// Signals are looked at by the thread of the interpreter, which ends all of the work.
struct Parts;

impl Watch for Parts {}

/// All that is known of a model, as JSON: what the command prints, without what it knows of the file.
#[pyfunction]
#[pyo3(signature = (model, names, top, relevance, select, stability, hierarchy, leaders, seed, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the tables of a report")]
pub(crate) fn report(
    py: Python<'_>,
    model: &Model,
    names: Names,
    top: usize,
    relevance: bool,
    select: Option<usize>,
    stability: Option<usize>,
    hierarchy: &str,
    leaders: bool,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (y, weights) = (&model.target, model.weights.as_deref());
    let hierarchy = hierarchy.parse().map_err(exception)?;
    let units = names.scaling.as_ref().map(|(means, deviations)| ColumnUnits { means, deviations });
    let columns =
        ColumnNames { names: &names.variables, units, target: &names.target, classes: names.classes.as_deref() };
    let history = |place: usize| {
        let own = model.history.iter().filter(|record| record.0 == place);
        own.map(|record| GapAfter { passes: record.2, relative_gap: record.5 }).collect()
    };
    let report: Report = model.spec.running(progress).run_over(py, &model.table, |matrix, _| {
        let tables = Tables { top, relevance, readout: false, select, stability, hierarchy, seed };
        let fit = &model.spec.fit_with(model.gamma)?;
        let (_, outputs) = y.outputs(matrix.samples(), fit.loss().targets(), weights)?;
        let prepared = &fit.prepare(matrix, outputs.len())?;
        let problems = &prepared.problems(&outputs, weights)?;
        let described = Described { fit, problems, model: &model.fitted, x: matrix, columns };
        let mut report = described.report(&tables, None, history, &mut Parts)?;
        if leaders && top > 0 {
            described.add_leaders(&mut report, prepared, &mut Unobserved)?;
        }
        Ok(report)
    })?;
    json(&report, &report.notes)
}

/// Data of the library as JSON, with notes in the words of Python.
pub(crate) fn json(data: &impl serde::Serialize, notes: &[Note]) -> PyResult<String> {
    #[derive(serde::Serialize)]
    struct WithNotes<'a, T> {
        #[serde(flatten)]
        data: &'a T,
        notes: Vec<String>,
    }
    let notes = notes.iter().map(|note| note.render(&Arguments)).collect();
    serde_json::to_string(&WithNotes { data, notes }).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// An assessment as JSON, with its verdict in words.
pub(crate) fn assessment_json(assessment: &Assessment) -> PyResult<String> {
    #[derive(serde::Serialize)]
    struct WithWords<'a> {
        #[serde(flatten)]
        assessment: &'a Assessment,
        verdict: Vec<String>,
    }
    let told = WithWords { assessment, verdict: assessment.lines() };
    serde_json::to_string(&told).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// An equation as a line of text, or as a formula of LaTeX.
#[pyfunction]
pub(crate) fn equation(
    left: &str,
    intercept: f64,
    terms: Vec<(Vec<(usize, usize)>, f64)>,
    names: Vec<String>,
    latex: bool,
) -> PyResult<String> {
    let terms = terms.into_iter().map(|(factors, coefficient)| (Monomial::new(&factors), coefficient)).collect();
    let model: Result<ExplicitModel, Error> = ExplicitModel::new(intercept, terms);
    let model = model.map_err(exception)?;
    Ok(if latex { model.latex(left, &names) } else { model.equation(left, &names) })
}
