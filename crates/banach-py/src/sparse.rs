//! Functions of few terms.

use banach::{Account, Memory, sparse::SparseSpec};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyTuple};
use serde::{Deserialize, Serialize};

use crate::{
    background::Running,
    data::Table,
    errors::exception,
    kernel::{Kernel, factors},
    spec::{Weights, weights},
};

/// A function of few terms, and the number of threads that predict.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::unsafe_derive_deserialize, reason = "what is unsafe is PyO3's, and keeps to its own fields")]
pub(crate) struct SparseFunction {
    found: banach::sparse::SparseFunction,
    threads: usize,
}

/// The variables of a monomial with their exponents, and a number.
type Numbered<'py> = (Bound<'py, PyTuple>, f64);

/// Which few monomials of a kernel explain numbers.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, *, kernel, max_terms, fit_intercept, memory, threads, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of an estimator, by name")]
pub(crate) fn fit_sparse(
    py: Python<'_>,
    x: Table,
    y: PyReadonlyArray1<'_, f64>,
    sample_weight: Weights<'_>,
    kernel: &Kernel,
    max_terms: Option<usize>,
    fit_intercept: bool,
    memory: Option<u64>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<SparseFunction> {
    let spec = SparseSpec { kernel: kernel.spec.clone(), max_terms, fit_intercept, ..SparseSpec::default() };
    let (y, weights) = (y.as_array().to_vec(), weights(&sample_weight));
    let account = Account::new(memory.map_or_else(Memory::available, Memory::limit));
    let found = Running { threads, tolerance: 0.0, progress }
        .run_over(py, &x, |matrix, _| spec.run(matrix, &y, weights.as_deref(), &account))?;
    Ok(SparseFunction { found, threads })
}

impl SparseFunction {
    fn of_each<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&banach::sparse::SparseTerm) -> f64,
    ) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.found.terms().iter().map(value).collect())
    }
}

#[pymethods]
impl SparseFunction {
    /// The monomials, the one with the most evidence first; arrays of terms have this order.
    #[getter]
    fn monomials<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.found.terms().iter().map(|term| factors(py, &term.monomial)).collect()
    }

    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.coefficient)
    }

    #[getter]
    fn std_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.std_error)
    }

    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.evidence)
    }

    /// For every term the monomials that could stand in its place, and how much the criterion rises with each.
    #[getter]
    fn alternatives<'py>(&self, py: Python<'py>) -> PyResult<Vec<Vec<Numbered<'py>>>> {
        let of_term = |term: &banach::sparse::SparseTerm| {
            let others = term.alternatives.iter();
            others.map(|other| Ok((factors(py, &other.monomial)?, other.evidence))).collect()
        };
        self.found.terms().iter().map(of_term).collect()
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.found.intercept()
    }

    /// What is taken from every variable before monomials are made of them; None if nothing is.
    #[getter]
    fn centres<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let centres = self.found.centres();
        (!centres.is_empty()).then(|| PyArray1::from_slice(py, centres))
    }

    #[getter]
    fn criterion(&self) -> f64 {
        self.found.criterion()
    }

    #[getter]
    fn unexplained(&self) -> f64 {
        self.found.unexplained()
    }

    /// How much the criterion rises at least with one more term, with one less and with one for another; and whether none makes it fall.
    #[getter]
    fn optimality(&self) -> (f64, f64, f64, bool) {
        let steps = self.found.certificate().steps().expect("the function is one by evidence");
        (steps.addition, steps.removal, steps.exchange, steps.holds())
    }

    /// For every number of terms the share of the variance that the best function leaves unexplained, and its criterion.
    #[getter]
    fn sizes(&self) -> Vec<(usize, f64, f64)> {
        self.found.sizes().iter().map(|size| (size.terms, size.unexplained, size.criterion)).collect()
    }

    /// The number of monomials that could have been named.
    #[getter]
    fn dictionary(&self) -> f64 {
        self.found.dictionary()
    }

    /// Passes over all monomials.
    #[getter]
    fn passes(&self) -> usize {
        self.found.passes()
    }

    /// The constant and the monomials of the variables as they are, with their coefficients.
    fn expanded<'py>(&self, py: Python<'py>) -> PyResult<(f64, Vec<Numbered<'py>>)> {
        let explicit = self.found.expanded().map_err(exception)?;
        let terms = explicit.terms().iter();
        let terms = terms.map(|(monomial, coefficient)| Ok((factors(py, monomial)?, *coefficient)));
        Ok((explicit.intercept(), terms.collect::<PyResult<_>>()?))
    }

    /// The values at new points.
    fn predict<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let running = Running { threads: self.threads, tolerance: 0.0, progress: None };
        let values = running.run_over(py, &x, |matrix, _| self.found.predict(matrix))?;
        Ok(PyArray1::from_vec(py, values))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let json = serde_json::to_string(slf.get()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((slf.get_type().getattr("restore")?, (json,)))
    }

    /// The function that `__reduce__` has written.
    #[staticmethod]
    fn restore(json: &str) -> PyResult<Self> {
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("a function of few terms: {error}")))
    }
}
