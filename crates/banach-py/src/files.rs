//! Model files.

use std::{io, path::PathBuf};

use banach::{FeatureMatrix, Memory, Target, data::Entries};
use banach_io::{
    Encoding, ExposureColumn, Impute, Label, ModelFileError, Observed, Preparation, Saved, SavedAuto, SavedModel,
    SavedSparse, Standardization, Unknown,
};
use numpy::{
    PyArray1, PyArray2,
    ndarray::{Array2, ShapeBuilder as _},
};
use pyo3::{
    IntoPyObjectExt as _,
    exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    auto::AutoModel,
    data::Table,
    errors::{Arguments, exception},
    model::Model,
    sparse::SparseModel,
    spec::Spec,
};

/// The label of a class as Python has it.
#[derive(FromPyObject)]
pub(crate) enum PyLabel {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl From<PyLabel> for Label {
    fn from(label: PyLabel) -> Self {
        match label {
            PyLabel::Boolean(value) => Self::Boolean(value),
            PyLabel::Integer(value) => Self::Integer(value),
            PyLabel::Number(value) => Self::Number(value),
            PyLabel::Text(value) => Self::Text(value),
        }
    }
}

fn label(py: Python<'_>, label: &Label) -> PyResult<Py<PyAny>> {
    match label {
        Label::Boolean(value) => value.into_py_any(py),
        Label::Integer(value) => value.into_py_any(py),
        Label::Number(value) => value.into_py_any(py),
        Label::Text(value) => value.into_py_any(py),
    }
}

/// `OSError` where the file cannot be opened or written, `ValueError` where it holds no model.
fn refused(error: ModelFileError) -> PyErr {
    let message = error.render(&Arguments);
    match error {
        ModelFileError::Read { source, .. } | ModelFileError::Write { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        _ => PyValueError::new_err(message),
    }
}

/// Means, corrections of means and deviations of columns.
type Scaling = (Vec<f64>, Vec<f64>, Vec<f64>);

/// What Python knows of a model beside its numbers; each may be None.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Known {
    names: Option<Vec<String>>,
    target: Option<String>,
    classes: Option<Vec<PyLabel>>,
    /// Means, what is missing to these beyond their digits, and deviations.
    scaling: Option<Scaling>,
    /// Columns of labels, and these.
    encodings: Option<Vec<(String, Vec<String>)>>,
    /// What fills in missing values, for every variable, and whether it does so without being asked for.
    fills: Option<Vec<f64>>,
    imputes: Option<bool>,
    /// Whether labels that the model has not met are ignored.
    ignores_unknown: Option<bool>,
    /// The column of exposures, and whether it has their logarithms.
    exposure: Option<(String, bool)>,
}

impl Known {
    /// What is done to new samples first.
    fn preparation(&self) -> Preparation {
        Preparation {
            impute: self.imputes.filter(|imputes| *imputes).map(|_| Impute::Mean),
            fills: self.fills.clone(),
            unknown: if self.ignores_unknown == Some(true) { Unknown::Ignore } else { Unknown::Error },
        }
    }

    fn encodings(&self) -> Vec<Encoding> {
        let encoding =
            |(column, labels): &(String, Vec<String>)| Encoding { column: column.clone(), labels: labels.clone() };
        self.encodings.iter().flatten().map(encoding).collect()
    }
}

/// Writes a model to a file.
#[pyfunction]
pub(crate) fn save_model(py: Python<'_>, model: &Model, path: PathBuf, known: Known) -> PyResult<()> {
    let (preparation, encodings) = (known.preparation(), known.encodings());
    let Known { names, target, classes, scaling, exposure, .. } = known;
    let observed = match (&model.target, classes) {
        (Target::Numbers(outputs), _) => Observed::Numbers(outputs.iter().map(|y| y.to_vec()).collect()),
        (Target::Labels(codes), Some(classes)) => Observed::Classes {
            labels: classes.into_iter().map(Label::from).collect(),
            rows: codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect(),
        },
        (Target::Labels(_), None) => return Err(PyValueError::new_err("a classifier without its labels")),
    };
    let spec = banach::Spec { gamma: model.gamma, ..model.spec.values.clone() };
    let table = model.table.borrow(py)?;
    let numbers = table.numbers()?;
    let matrix = numbers.matrix().map_err(exception)?;
    let dense = !matrix.is_sparse();
    let saved = SavedModel {
        names,
        encodings,
        preparation,
        target,
        exposure: exposure.map(|(column, is_offset)| ExposureColumn { column, is_offset }),
        standardization: scaling.map(|scaling| standardization(scaling, dense)),
        weights: model.weights.clone(),
        ..SavedModel::new(spec, matrix, observed)
    };
    let saved = saved.with_model(&model.fitted);
    py.detach(|| saved.write(&path)).map_err(refused)
}

/// What a scaler has done to columns.
fn standardization((means, corrections, deviations): Scaling, dense: bool) -> Standardization {
    Standardization {
        centred: dense || means.iter().any(|mean| *mean != 0.0),
        means,
        corrections,
        deviations,
        constant: Vec::new(),
    }
}

/// Writes a model of few terms to a file; `shape` is that of the samples, and `weight` what they count together.
#[pyfunction]
pub(crate) fn save_sparse(
    py: Python<'_>,
    model: &SparseModel,
    path: PathBuf,
    known: Known,
    shape: (usize, usize),
    weight: Option<f64>,
) -> PyResult<()> {
    let (preparation, encodings) = (known.preparation(), known.encodings());
    let Known { names, target, classes, scaling, .. } = known;
    let saved = SavedSparse {
        encodings,
        preparation,
        weight,
        names,
        target,
        labels: classes.map(|classes| classes.into_iter().map(Label::from).collect()),
        standardization: scaling.map(|scaling| standardization(scaling, true)),
        ..SavedSparse::new(model.spec.clone(), model.model.clone(), shape)
    };
    py.detach(|| saved.write(&path)).map_err(refused)
}

/// Writes a chosen model to a file.
#[pyfunction]
pub(crate) fn save_auto(py: Python<'_>, model: &AutoModel, path: PathBuf, known: Known) -> PyResult<()> {
    let (preparation, encodings) = (known.preparation(), known.encodings());
    let Known { names, target, classes, scaling, .. } = known;
    if scaling.is_some() {
        return Err(PyValueError::new_err("a chosen model scales by itself, and is saved without a scaler"));
    }
    let observed = match (model.saved.observed.clone(), classes) {
        (Observed::Classes { rows, .. }, Some(classes)) => {
            Observed::Classes { labels: classes.into_iter().map(Label::from).collect(), rows }
        }
        (observed, _) => observed,
    };
    let saved = SavedAuto { names, encodings, preparation, target, observed, ..model.saved.clone() };
    py.detach(|| saved.write(&path)).map_err(refused)
}

/// The model in a file, and what the file says of it: a dict of `model`, `spec` (JSON), `names`, `target`, `classes`, `scaling` and what
/// is done to new samples first; of a model of few terms also the `shape` of the samples and their `weight`, and of one with a
/// penalty the column of its `exposure`.
#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let told = PyDict::new(py);
    let saved = match py.detach(|| Saved::read(&path)).map_err(refused)? {
        Saved::Lp(saved) => *saved,
        Saved::Auto(saved) => {
            let auto = &saved.model.record().auto;
            prepared(&told, &saved.encodings, &saved.preparation)?;
            tell(&told, auto, saved.names.as_ref(), saved.target.as_ref(), saved.labels(), None)?;
            told.set_item("model", Py::new(py, AutoModel { saved: *saved, memory: None, threads: 0 })?)?;
            return Ok(told);
        }
        Saved::Sparse(saved) => {
            prepared(&told, &saved.encodings, &saved.preparation)?;
            tell(
                &told,
                &saved.spec,
                saved.names.as_ref(),
                saved.target.as_ref(),
                saved.labels.as_deref(),
                saved.standardization.as_ref(),
            )?;
            told.set_item("shape", (saved.samples, saved.variables))?;
            told.set_item("weight", saved.weight)?;
            let model = SparseModel { model: saved.model, spec: saved.spec, memory: None, threads: 0 };
            told.set_item("model", Py::new(py, model)?)?;
            return Ok(told);
        }
    };
    let gamma = saved.spec.gamma;
    let spec = Spec { values: saved.spec.clone(), memory: None, threads: 0 };
    let fitted = spec.running(None).run(py, |_| saved.restore(Memory::available()))?;
    let labels = saved.observed.labels();
    prepared(&told, &saved.encodings, &saved.preparation)?;
    tell(&told, &saved.spec, saved.names.as_ref(), saved.target.as_ref(), labels, saved.standardization.as_ref())?;
    told.set_item("exposure", saved.exposure.map(|exposure| (exposure.column, exposure.is_offset)))?;
    let target = match saved.observed {
        Observed::Numbers(outputs) => Target::Numbers(outputs.into_iter().map(Into::into).collect()),
        Observed::Classes { rows, .. } => Target::Labels(rows.into_iter().map(|class| class as i64).collect()),
    };
    let (table, weights) = (table(py, &saved.x)?, saved.weights);
    let model = Model { spec, gamma, table, target, weights, fitted, history: Vec::new(), seconds: 0.0 };
    told.set_item("model", Py::new(py, model)?)?;
    Ok(told)
}

/// What is done to new samples first.
fn prepared(told: &Bound<'_, PyDict>, encodings: &[Encoding], preparation: &Preparation) -> PyResult<()> {
    let encodings: Vec<(&String, &Vec<String>)> =
        encodings.iter().map(|encoding| (&encoding.column, &encoding.labels)).collect();
    told.set_item("encodings", encodings)?;
    told.set_item("fills", preparation.fills.as_ref().map(|fills| PyArray1::from_slice(told.py(), fills)))?;
    told.set_item("imputes", preparation.usual().is_some())?;
    told.set_item("ignores_unknown", preparation.unknown == Unknown::Ignore)
}

/// What every file says.
fn tell(
    told: &Bound<'_, PyDict>,
    spec: &impl serde::Serialize,
    names: Option<&Vec<String>>,
    target: Option<&String>,
    labels: Option<&[Label]>,
    scaling: Option<&Standardization>,
) -> PyResult<()> {
    let py = told.py();
    let json = serde_json::to_string(spec).map_err(|error| PyValueError::new_err(error.to_string()))?;
    told.set_item("spec", json)?;
    told.set_item("names", names)?;
    told.set_item("target", target)?;
    let labels = labels.map(|labels| labels.iter().map(|one| label(py, one)).collect::<PyResult<Vec<_>>>());
    told.set_item("classes", labels.transpose()?)?;
    let array = |values: &[f64]| PyArray1::from_slice(py, values);
    let arrays = |done: &Standardization| (array(&done.means), array(&done.corrections), array(&done.deviations));
    told.set_item("scaling", scaling.map(arrays))
}

/// Arrays of their own.
fn table(py: Python<'_>, x: &FeatureMatrix<'_>) -> PyResult<Table> {
    let (samples, variables) = (x.samples(), x.features());
    Ok(match x.entries() {
        Entries::Dense(_) | Entries::Compact => {
            let mut values = vec![0.0; samples * variables];
            values.chunks_mut(samples).enumerate().for_each(|(j, column)| x.column_into(j, column));
            let array = Array2::from_shape_vec((samples, variables).f(), values);
            let array = array.map_err(|error| PyValueError::new_err(error.to_string()))?;
            Table::Dense(PyArray2::from_owned_array(py, array).unbind())
        }
        Entries::Sparse { starts, rows, values } => Table::Sparse(
            (samples, variables),
            PyArray1::from_slice(py, starts).unbind(),
            PyArray1::from_slice(py, rows).unbind(),
            PyArray1::from_slice(py, values).unbind(),
        ),
    })
}
