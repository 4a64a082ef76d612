//! Tables and vectors between NumPy and the library.

use banach::FeatureMatrix;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
    ndarray::Array2, npyffi::NPY_ORDER,
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// A table as it comes from Python. Arrays are in Fortran's order, and used where they are.
#[derive(FromPyObject)]
pub(crate) enum Table {
    /// Of float64.
    #[pyo3(transparent)]
    Dense(Py<PyArray2<f64>>),
    /// Of float32 or int8.
    #[pyo3(transparent)]
    Compact(CompactArray),
    /// The same, each column less a centre and times a factor.
    Rescaled(CompactArray, Py<PyArray1<f64>>, Py<PyArray1<f64>>),
    /// By columns: (shape, indptr, indices, data) of a `scipy.sparse.csc_array` with sorted indices.
    Sparse((usize, usize), Py<PyArray1<usize>>, Py<PyArray1<usize>>, Py<PyArray1<f64>>),
}

/// An array of numbers with fewer bytes than those of float64.
#[derive(FromPyObject)]
pub(crate) enum CompactArray {
    #[pyo3(transparent)]
    F32(Py<PyArray2<f32>>),
    #[pyo3(transparent)]
    I8(Py<PyArray2<i8>>),
}

impl CompactArray {
    fn borrow<'py>(&self, py: Python<'py>, units: Option<CentresAndFactors<'py>>) -> PyResult<Borrowed<'py>> {
        Ok(match self {
            Self::F32(values) => Borrowed::F32(values.bind(py).try_readonly().map_err(busy)?, units),
            Self::I8(values) => Borrowed::I8(values.bind(py).try_readonly().map_err(busy)?, units),
        })
    }

    pub(crate) fn to_python(&self, py: Python<'_>) -> Py<PyAny> {
        match self {
            Self::F32(values) => values.clone_ref(py).into_any(),
            Self::I8(values) => values.clone_ref(py).into_any(),
        }
    }
}

fn busy(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("X is written to at the same time: {error}"))
}

impl Table {
    pub(crate) fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        Ok(match self {
            Self::Dense(values) => Borrowed::Dense(values.bind(py).try_readonly().map_err(busy)?),
            Self::Compact(array) => array.borrow(py, None)?,
            Self::Rescaled(array, centres, factors) => {
                let [centres, factors] =
                    [centres, factors].map(|numbers| numbers.bind(py).try_readonly().map_err(busy));
                array.borrow(py, Some((centres?, factors?)))?
            }
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
            Self::Compact(array) => array.to_python(py),
            Self::Rescaled(array, centres, factors) => {
                let parts = (array.to_python(py), centres.clone_ref(py), factors.clone_ref(py));
                parts.into_pyobject(py)?.into_any().unbind()
            }
            Self::Sparse(shape, starts, rows, values) => {
                let parts = (*shape, starts.clone_ref(py), rows.clone_ref(py), values.clone_ref(py));
                parts.into_pyobject(py)?.into_any().unbind()
            }
        })
    }
}

/// The centres and factors of columns.
type CentresAndFactors<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// A table that nobody writes to for a while.
pub(crate) enum Borrowed<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>, Option<CentresAndFactors<'py>>),
    I8(PyReadonlyArray2<'py, i8>, Option<CentresAndFactors<'py>>),
    Sparse((usize, usize), PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, f64>),
}

/// The numbers of a table, which another thread may read.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    samples: usize,
    features: usize,
    entries: Entries<'a>,
    /// The centres and factors of the columns.
    units: Option<(&'a [f64], &'a [f64])>,
}

#[derive(Clone, Copy)]
enum Entries<'a> {
    Dense(&'a [f64]),
    F32(&'a [f32]),
    I8(&'a [i8]),
    Sparse { starts: &'a [usize], rows: &'a [usize], values: &'a [f64] },
}

impl<'a> Numbers<'a> {
    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    /// The checked matrix. Inside of workers the check is theirs.
    pub(crate) fn matrix(&self) -> Result<FeatureMatrix<'a>, banach::Error> {
        let Self { samples, features, entries, units } = *self;
        let matrix = match entries {
            Entries::Dense(columns) => FeatureMatrix::from_columns(samples, features, columns),
            Entries::F32(columns) => FeatureMatrix::from_columns_f32(samples, features, columns),
            Entries::I8(columns) => FeatureMatrix::from_columns_i8(samples, features, columns),
            Entries::Sparse { starts, rows, values } => {
                FeatureMatrix::from_sparse_columns(samples, features, starts, rows, values)
            }
        }?;
        match units {
            Some((centres, factors)) => matrix.rescaled(centres, factors),
            None => Ok(matrix),
        }
    }
}

impl Borrowed<'_> {
    pub(crate) fn numbers(&self) -> PyResult<Numbers<'_>> {
        let dense = |shape: &[usize], entries| Numbers { samples: shape[0], features: shape[1], entries, units: None };
        Ok(match self {
            Self::Dense(array) => dense(array.shape(), Entries::Dense(columns(array)?)),
            Self::F32(array, units) => {
                Numbers { units: of_columns(units.as_ref())?, ..dense(array.shape(), Entries::F32(columns(array)?)) }
            }
            Self::I8(array, units) => {
                Numbers { units: of_columns(units.as_ref())?, ..dense(array.shape(), Entries::I8(columns(array)?)) }
            }
            Self::Sparse((samples, features), starts, rows, values) => {
                let (starts, rows, values) = (starts.as_slice()?, rows.as_slice()?, values.as_slice()?);
                dense(&[*samples, *features], Entries::Sparse { starts, rows, values })
            }
        })
    }
}

/// The columns of an array in Fortran's order.
pub(crate) fn columns<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    let columns = array.as_slice().ok().filter(|_| array.is_fortran_contiguous());
    columns.ok_or_else(|| PyValueError::new_err("X is not in Fortran's order"))
}

fn of_columns<'a>(units: Option<&'a CentresAndFactors<'_>>) -> PyResult<Option<(&'a [f64], &'a [f64])>> {
    units.map(|(centres, factors)| Ok((centres.as_slice()?, factors.as_slice()?))).transpose()
}

/// An array in any order.
#[derive(FromPyObject)]
pub(crate) enum Array<'py> {
    #[pyo3(transparent)]
    F64(PyReadonlyArray2<'py, f64>),
    #[pyo3(transparent)]
    F32(PyReadonlyArray2<'py, f32>),
    #[pyo3(transparent)]
    I8(PyReadonlyArray2<'py, i8>),
}

/// The same table in Fortran's order, turned by all cores.
#[pyfunction]
pub(crate) fn by_columns<'py>(py: Python<'py>, x: Array<'py>) -> PyResult<Bound<'py, PyAny>> {
    match x {
        Array::F64(x) => turned(py, &x),
        Array::F32(x) => turned(py, &x),
        Array::I8(x) => turned(py, &x),
    }
}

fn turned<'py, T: Element + Copy + Default + Sync>(
    py: Python<'py>,
    x: &PyReadonlyArray2<'py, T>,
) -> PyResult<Bound<'py, PyAny>> {
    let [samples, features] = [x.shape()[0], x.shape()[1]];
    let rows = x.as_slice().ok().filter(|_| x.is_c_contiguous());
    let rows = rows.ok_or_else(|| PyValueError::new_err("X is not in the order of C"))?;
    let columns = py.detach(|| FeatureMatrix::columns_of_rows(samples, features, rows));
    let columns = PyArray1::from_vec(py, columns);
    Ok(columns.reshape_with_order([samples, features], NPY_ORDER::NPY_FORTRANORDER)?.into_any())
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
