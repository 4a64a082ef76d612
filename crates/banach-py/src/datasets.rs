//! Data to try models on.

use banach::synthetic::{EntryDistribution, Sample, SparseLinear, SparseMonomials, SparseQuadratic};
use numpy::{PyArray1, PyArray2, ndarray::ShapeBuilder};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

/// X in Fortran's order, y, and the features that matter with their coefficients.
type Draw<'py, Feature> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Vec<(Feature, f64)>);

/// Columns as an array in Fortran's order.
pub(crate) fn matrix(py: Python<'_>, samples: usize, columns: Vec<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
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
    let problem = SparseMonomials { samples, inputs, relevant, noise, entries: EntryDistribution::Uniform };
    let sample = py.detach(|| problem.sample(seed));
    Ok((matrix(py, samples, sample.columns)?, PyArray1::from_vec(py, sample.targets), sample.truth))
}

/// The genes of 326 blood cells, a packed CSV file.
#[pyfunction]
pub(crate) fn blood_cells(py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, banach_cli::BLOOD_CELLS)
}
