//! Reports and equations: data and text of the library, for Python.

use banach::{
    Error, Unobserved,
    data::ColumnUnits,
    fit::Assessment,
    kernel::Monomial,
    model::ExplicitModel,
    report::{ColumnNames, Described, GapAfter, Note, Report, Tables, Watch},
    sparse::{Substitution, WrittenFunction},
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

/// The digits of a number.
const ALL_DIGITS: usize = 17;

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

/// An equation as text, or as a formula of LaTeX. `digits` are those of the constant and of every coefficient, and `substitutions` what stands
/// for variables, as `written` has them.
#[pyfunction]
#[pyo3(signature = (left, intercept, terms, names, latex, digits=None, substitutions=Vec::new()))]
pub(crate) fn equation(
    left: &str,
    intercept: f64,
    terms: Vec<(Vec<(usize, usize)>, f64)>,
    names: Vec<String>,
    latex: bool,
    digits: Option<Vec<usize>>,
    substitutions: Vec<(usize, f64, f64, usize)>,
) -> PyResult<String> {
    let terms = terms.into_iter().map(|(factors, coefficient)| (Monomial::new(&factors), coefficient)).collect();
    let model: Result<ExplicitModel, Error> = ExplicitModel::new(intercept, terms);
    let model = model.and_then(|model| match digits {
        Some(digits) => model.with_digits(digits.into_iter().map(|count| count.min(ALL_DIGITS)).collect()),
        None => Ok(model),
    });
    let substitution = |(variable, minus, over, digits): (usize, f64, f64, usize)| Substitution {
        variable,
        minus,
        over,
        digits: digits.min(ALL_DIGITS),
    };
    let substitutions = substitutions.into_iter().map(substitution).collect();
    let written = WrittenFunction::new(model.map_err(exception)?, substitutions);
    Ok(if latex { written.latex(left, &names) } else { written.text(left, &names) })
}
