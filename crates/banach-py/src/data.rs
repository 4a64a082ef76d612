//! Tables and vectors between NumPy and the library.

use banach::FeatureMatrix;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods, ndarray::Array2,
    npyffi::NPY_ORDER,
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// A table as it comes from Python.
#[derive(FromPyObject)]
pub(crate) enum Table {
    /// Of float64, in Fortran's order; it is used where it is.
    #[pyo3(transparent)]
    Dense(Py<PyArray2<f64>>),
    /// By columns: (shape, indptr, indices, data) of a `scipy.sparse.csc_array` with sorted indices.
    Sparse((usize, usize), Py<PyArray1<usize>>, Py<PyArray1<usize>>, Py<PyArray1<f64>>),
}

impl Table {
    pub(crate) fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let busy = |error| PyValueError::new_err(format!("X is written to at the same time: {error}"));
        Ok(match self {
            Self::Dense(values) => Borrowed::Dense(values.bind(py).try_readonly().map_err(busy)?),
            Self::Sparse(shape, starts, rows, values) => Borrowed::Sparse(
                *shape,
                starts.bind(py).try_readonly().map_err(busy)?,
                rows.bind(py).try_readonly().map_err(busy)?,
                values.bind(py).try_readonly().map_err(busy)?,
            ),
        })
    }

    /// What it was made from.
    pub(crate) fn to_python(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Self::Dense(values) => values.clone_ref(py).into_any(),
            Self::Sparse(shape, starts, rows, values) => {
                let parts = (*shape, starts.clone_ref(py), rows.clone_ref(py), values.clone_ref(py));
                parts.into_pyobject(py)?.into_any().unbind()
            }
        })
    }
}

/// A table that nobody writes to for a while.
pub(crate) enum Borrowed<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse((usize, usize), PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, f64>),
}

/// The numbers of a table, which another thread may read.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    Dense { samples: usize, features: usize, columns: &'a [f64] },
    Sparse { samples: usize, features: usize, starts: &'a [usize], rows: &'a [usize], values: &'a [f64] },
}

impl Numbers<'_> {
    pub(crate) fn samples(&self) -> usize {
        match *self {
            Self::Dense { samples, .. } | Self::Sparse { samples, .. } => samples,
        }
    }

    /// The checked matrix. Inside of workers the check is theirs.
    pub(crate) fn matrix(&self) -> Result<FeatureMatrix<'_>, banach::Error> {
        match *self {
            Self::Dense { samples, features, columns } => FeatureMatrix::from_columns(samples, features, columns),
            Self::Sparse { samples, features, starts, rows, values } => {
                FeatureMatrix::from_sparse_columns(samples, features, starts, rows, values)
            }
        }
    }
}

impl Borrowed<'_> {
    pub(crate) fn numbers(&self) -> PyResult<Numbers<'_>> {
        Ok(match self {
            Self::Dense(array) => {
                let columns = array.as_slice().ok().filter(|_| array.is_fortran_contiguous());
                let columns = columns.ok_or_else(|| PyValueError::new_err("X is not in Fortran's order"))?;
                Numbers::Dense { samples: array.shape()[0], features: array.shape()[1], columns }
            }
            Self::Sparse((samples, features), starts, rows, values) => Numbers::Sparse {
                samples: *samples,
                features: *features,
                starts: starts.as_slice()?,
                rows: rows.as_slice()?,
                values: values.as_slice()?,
            },
        })
    }
}

/// The same table in Fortran's order, turned by all cores.
#[pyfunction]
pub(crate) fn by_columns<'py>(py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let [samples, features] = [x.shape()[0], x.shape()[1]];
    let rows = x.as_slice().ok().filter(|_| x.is_c_contiguous());
    let rows = rows.ok_or_else(|| PyValueError::new_err("X is not in the order of C"))?;
    let columns = py.detach(|| FeatureMatrix::columns_of_rows(samples, features, rows));
    PyArray1::from_vec(py, columns).reshape_with_order([samples, features], NPY_ORDER::NPY_FORTRANORDER)
}

/// Rows of equal length as one array.
pub(crate) fn rows(py: Python<'_>, rows: usize, values: Vec<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let columns = values.len() / rows.max(1);
    let array = Array2::from_shape_vec((rows, columns), values);
    Ok(PyArray2::from_owned_array(py, array.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// The rows of an array.
pub(crate) fn vectors(array: &PyReadonlyArray2<'_, f64>) -> Vec<Vec<f64>> {
    array.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
}
