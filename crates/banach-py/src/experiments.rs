//! The paper's data and experiments.

use std::ops::ControlFlow;

use banach_experiments::{
    Watch,
    data::{Entries, Sample, SparseLinear, SparseMonomials, SparseQuadratic},
    figure1::{self, Figure1},
    table1::{self, Baselines, Table1},
    table2::{self, Table2},
};
use numpy::{PyArray1, PyArray2, ndarray::ShapeBuilder};
use pyo3::{exceptions::PyValueError, prelude::*};
use serde::Serialize;

use crate::background::Running;

/// X in Fortran's order, y, and the features that matter with their coefficients.
type Draw<'py, Feature> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Vec<(Feature, f64)>);

fn matrix(py: Python<'_>, samples: usize, columns: Vec<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = (samples, columns.len() / samples.max(1)).f();
    let array = numpy::ndarray::Array2::from_shape_vec(shape, columns);
    Ok(PyArray2::from_owned_array(py, array.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// Sizes that a draw can have.
fn check(samples: usize, features: usize, relevant: usize, most: usize, noise: f64) -> PyResult<()> {
    let refuse = |text: String| Err(PyValueError::new_err(text));
    if samples == 0 || features == 0 {
        return refuse(format!("n_samples = {samples}, n_features = {features}; allowed: at least 1 of both"));
    }
    if relevant > most {
        return refuse(format!("n_informative = {relevant}; allowed: at most {most}"));
    }
    if !(0.0..f64::INFINITY).contains(&noise) {
        return refuse(format!("noise = {noise}; allowed: a finite number >= 0"));
    }
    Ok(())
}

/// The data of Table 1 and Figure 1.
#[pyfunction]
pub(crate) fn make_sparse_linear(
    py: Python<'_>,
    samples: usize,
    features: usize,
    relevant: usize,
    noise: f64,
    seed: u64,
) -> PyResult<Draw<'_, usize>> {
    check(samples, features, relevant, features, noise)?;
    let Sample { columns, targets, truth } =
        py.detach(|| SparseLinear { samples, features, relevant, noise }.sample(seed));
    Ok((matrix(py, samples, columns)?, PyArray1::from_vec(py, targets), truth))
}

/// The variables of a monomial with their exponents.
type Factors = Vec<(usize, usize)>;

/// The data of Table 2.
#[pyfunction]
pub(crate) fn make_sparse_quadratic(
    py: Python<'_>,
    samples: usize,
    inputs: usize,
    relevant: usize,
    noise: f64,
    seed: u64,
) -> PyResult<Draw<'_, Factors>> {
    let problem = SparseQuadratic { samples, inputs, relevant, noise };
    check(samples, inputs, relevant, inputs.saturating_mul(inputs + 1) / 2, noise)?;
    let Sample { columns, targets, truth } = py.detach(|| problem.sample(seed));
    let truth = truth.into_iter().map(|(feature, weight)| (problem.factors(feature), weight)).collect();
    Ok((matrix(py, samples, columns)?, PyArray1::from_vec(py, targets), truth))
}

/// A few monomials of degrees 1 to 3.
#[pyfunction]
pub(crate) fn make_monomials(
    py: Python<'_>,
    samples: usize,
    inputs: usize,
    relevant: usize,
    noise: f64,
    seed: u64,
) -> PyResult<Draw<'_, Factors>> {
    check(samples, inputs, relevant, usize::MAX, noise)?;
    let problem = SparseMonomials { samples, inputs, relevant, noise, entries: Entries::Uniform };
    let sample = py.detach(|| problem.sample(seed));
    Ok((matrix(py, samples, sample.columns)?, PyArray1::from_vec(py, sample.targets), sample.truth))
}

/// Nobody is told how far an experiment is; Ctrl-C ends it.
struct Unwatched;

impl Watch for Unwatched {
    fn begin(&mut self, _what: &str, _steps: usize) {}

    fn step(&mut self, _done: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A table or figure of the paper, as JSON.
#[pyfunction]
pub(crate) fn reproduce(
    py: Python<'_>,
    what: &str,
    quick: bool,
    seed: u64,
    repeats: usize,
    baselines: bool,
    threads: usize,
) -> PyResult<String> {
    fn json(result: &impl Serialize) -> Result<String, banach_experiments::Error> {
        serde_json::to_string(result).map_err(|error| banach_experiments::Error::Drawing(error.to_string()))
    }
    let running = Running { threads, tolerance: 0.0, progress: None };
    let watch = &mut Unwatched;
    match what {
        "table1" => running.run_any(py, |_| {
            let request = if quick { table1::Request::quick } else { table1::Request::full };
            let baselines = if baselines { Baselines::All } else { Baselines::None };
            json(&Table1::run(request(seed, repeats, baselines), watch)?)
        }),
        "table2" => running.run_any(py, |_| {
            let request = if quick { table2::Request::quick } else { table2::Request::full };
            json(&Table2::run(request(seed, repeats), watch)?)
        }),
        "figure1" => running.run_any(py, |_| {
            let request = if quick { figure1::Request::quick } else { figure1::Request::full };
            json(&Figure1::run(request(seed, repeats), watch)?)
        }),
        other => Err(PyValueError::new_err(format!("what = {other:?}; allowed: table1, table2 or figure1"))),
    }
}
