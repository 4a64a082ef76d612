//! Columns with mean 0 and standard deviation 1, as the command makes them, and what was done to them.

use banach::data::ColumnMoments;
use numpy::{
    PyArray1, PyArray2, PyReadonlyArray1, PyUntypedArrayMethods,
    ndarray::{Array2, ShapeBuilder as _},
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    data::{Borrowed, CompactArray, Numbers, Table, columns},
    errors::exception,
};

/// A table, and the means, corrections of means and deviations of its columns.
type Scaled<'py> = (Py<PyAny>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// A copy of a table with every column changed by `change`, which sees its values and how many zeros are not stored.
fn changed(py: Python<'_>, x: &Table, mut change: impl FnMut(usize, &mut [f64], usize)) -> PyResult<Py<PyAny>> {
    Ok(match x.borrow(py)? {
        Borrowed::Dense(array) => {
            let [samples, features] = [array.shape()[0], array.shape()[1]];
            let mut values = columns(&array)?.to_vec();
            values.chunks_mut(samples.max(1)).enumerate().for_each(|(at, column)| change(at, column, 0));
            let array = Array2::from_shape_vec((samples, features).f(), values);
            let array = array.map_err(|error| PyValueError::new_err(error.to_string()))?;
            PyArray2::from_owned_array(py, array).into_any().unbind()
        }
        Borrowed::Sparse(shape, starts, rows, values) => {
            let (starts, mut values) = (starts.as_slice()?, values.as_slice()?.to_vec());
            for (at, ends) in starts.windows(2).enumerate() {
                let stored = values
                    .get_mut(ends[0]..ends[1])
                    .filter(|stored| stored.len() <= shape.0)
                    .ok_or_else(|| PyValueError::new_err("X is not a sparse matrix by columns"))?;
                let zeros = shape.0 - stored.len();
                change(at, stored, zeros);
            }
            let parts = (
                shape,
                PyArray1::from_slice(py, starts),
                PyArray1::from_slice(py, rows.as_slice()?),
                PyArray1::from_vec(py, values),
            );
            parts.into_pyobject(py)?.into_any().unbind()
        }
        Borrowed::F32(..) | Borrowed::I8(..) => {
            return Err(PyValueError::new_err("X is in units of its own already"));
        }
    })
}

/// The mean and the standard deviation of every column; the value and 1 of a constant one.
fn moments(numbers: &Numbers<'_>) -> Result<(Vec<f64>, Vec<f64>), banach::Error> {
    let (matrix, mut column) = (numbers.matrix()?, vec![0.0; numbers.samples()]);
    let of_column = |j: usize| {
        matrix.column_into(j, &mut column);
        let constant = || (column.first().copied().unwrap_or(0.0), 1.0);
        ColumnMoments::of(&column, 0).map_or_else(constant, |moments| (moments.mean, moments.deviation))
    };
    Ok((0..matrix.features()).map(of_column).unzip())
}

/// The same numbers in other units: a table of the array, what is taken off and what is multiplied by.
fn rescaled(py: Python<'_>, array: &CompactArray, means: &[f64], deviations: &[f64]) -> PyResult<Py<PyAny>> {
    let factors: Vec<f64> = deviations.iter().map(|deviation| 1.0 / deviation).collect();
    let parts = (array.to_python(py), PyArray1::from_slice(py, means), PyArray1::from_vec(py, factors));
    Ok(parts.into_pyobject(py)?.into_any().unbind())
}

/// Gives the columns standard deviation 1, and those of an array mean 0. A constant column of an array becomes 0, and one of a sparse
/// matrix stays as it is.
#[pyfunction]
pub(crate) fn standardize(py: Python<'_>, x: Table) -> PyResult<Scaled<'_>> {
    if let Table::Compact(array) = &x {
        let table = x.borrow(py)?;
        let numbers = table.numbers()?;
        let (means, deviations) = py.detach(|| moments(&numbers)).map_err(exception)?;
        let corrections = PyArray1::from_vec(py, vec![0.0; means.len()]);
        let table = rescaled(py, array, &means, &deviations)?;
        return Ok((table, PyArray1::from_vec(py, means), corrections, PyArray1::from_vec(py, deviations)));
    }
    let (mut means, mut corrections, mut deviations) = (Vec::new(), Vec::new(), Vec::new());
    let dense = matches!(x, Table::Dense(_));
    let table = changed(py, &x, |_, column, zeros| {
        let known = if dense { ColumnMoments::standardize(column) } else { ColumnMoments::scale(column, zeros) };
        let moments = known.unwrap_or_else(|| {
            let mean = if dense { column.first().copied().unwrap_or(0.0) } else { 0.0 };
            if dense {
                column.fill(0.0);
            }
            ColumnMoments { mean, correction: 0.0, deviation: 1.0 }
        });
        means.push(moments.mean);
        corrections.push(moments.correction);
        deviations.push(moments.deviation);
    })?;
    Ok((table, PyArray1::from_vec(py, means), PyArray1::from_vec(py, corrections), PyArray1::from_vec(py, deviations)))
}

/// Does to new samples what was done to those of a fit. Where means were taken off, X is an array.
#[pyfunction]
pub(crate) fn rescale(
    py: Python<'_>,
    x: Table,
    means: PyReadonlyArray1<'_, f64>,
    corrections: PyReadonlyArray1<'_, f64>,
    deviations: PyReadonlyArray1<'_, f64>,
) -> PyResult<Py<PyAny>> {
    let known = (means.as_slice()?, corrections.as_slice()?, deviations.as_slice()?);
    if let Table::Compact(array) = &x {
        return rescaled(py, array, known.0, known.2);
    }
    changed(py, &x, |at, column, _| {
        ColumnMoments { mean: known.0[at], correction: known.1[at], deviation: known.2[at] }.apply(column);
    })
}
