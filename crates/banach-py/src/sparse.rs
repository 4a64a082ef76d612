//! Functions of few terms.

use std::ops::ControlFlow;

use banach::{
    Account, Memory,
    fit::SparseModel as FittedModel,
    loss::LossSpec,
    solver::Folds,
    sparse::{SparseCertificate, SparseSpec, StepScope, Substitution, WrittenFunction},
};
use numpy::{PyArray1, PyArray2, ndarray::Array2};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyTuple},
};
use serde::{Deserialize, Serialize};

use crate::{
    background::Running,
    data::{Table, rows},
    errors::exception,
    kernel::{Kernel, factors},
    report::assessment_json,
    search::Splits,
    spec::{Targeted, Weights, weights},
};

/// Functions of few terms, one for every output or class, and what they were fitted with.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::unsafe_derive_deserialize, reason = "what is unsafe is PyO3's, and keeps to its own fields")]
pub(crate) struct SparseModel {
    pub(crate) model: FittedModel,
    pub(crate) spec: SparseSpec,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: usize,
}

/// One of the functions.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug)]
pub(crate) struct SparseFunction {
    found: banach::sparse::SparseFunction,
}

/// The variables of a monomial with their exponents, and a number.
type Numbered<'py> = (Bound<'py, PyTuple>, f64);

/// Which few monomials of a kernel explain numbers, or tell classes apart; and where there are splits, what samples say that were held out of the
/// search, as JSON.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, splits=None, groups=None, *, kernel, penalty, hierarchy, max_terms, fit_intercept, memory, threads, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of an estimator, by name")]
pub(crate) fn fit_sparse(
    py: Python<'_>,
    x: Table,
    y: Targeted<'_>,
    sample_weight: Weights<'_>,
    splits: Option<Splits>,
    groups: Option<Vec<usize>>,
    kernel: &Kernel,
    penalty: &str,
    hierarchy: &str,
    max_terms: Option<usize>,
    fit_intercept: bool,
    memory: Option<u64>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(SparseModel, Option<String>)> {
    let spec = SparseSpec {
        kernel: kernel.spec.clone(),
        max_terms,
        fit_intercept,
        loss: if matches!(y, Targeted::Labels(_)) { LossSpec::Logistic } else { LossSpec::Squared },
        penalty: penalty.parse().map_err(exception)?,
        hierarchy: hierarchy.parse().map_err(exception)?,
        ..SparseSpec::default()
    };
    let (target, weights) = (y.target(), weights(&sample_weight));
    let account = Account::new(memory.map_or_else(Memory::available, Memory::limit));
    let running = Running { threads, tolerance: 0.0, progress };
    let (model, assessment) = running.run_over(py, &x, |matrix, _| {
        let model = spec.model(matrix, &target, weights.as_deref(), &account)?;
        let Some(splits) = splits else { return Ok((model, None)) };
        let folds = Folds::given(matrix.samples(), splits, groups.as_deref())?;
        let mut watch = |_| ControlFlow::Continue(());
        let unseen = spec.held_out(&model, matrix, &target, weights.as_deref(), &folds, &account, &mut watch)?;
        let (assessment, residuals) = unseen.map(|found| (found.assessment, found.residuals)).unzip();
        Ok((model.with_residuals(residuals.flatten()), assessment))
    })?;
    let assessment = assessment.as_ref().map(assessment_json).transpose()?;
    Ok((SparseModel { model, spec, memory, threads }, assessment))
}

/// An equation: its numbers, the digits that texts show of them, and what stands for variables.
pub(crate) fn written<'py>(py: Python<'py>, equation: &WrittenFunction) -> PyResult<Bound<'py, PyDict>> {
    let (found, model) = (PyDict::new(py), equation.model());
    let monomials = model.terms().iter().map(|(monomial, _)| factors(py, monomial));
    found.set_item("monomials", monomials.collect::<PyResult<Vec<_>>>()?)?;
    found.set_item("coefficients", model.terms().iter().map(|(_, coefficient)| *coefficient).collect::<Vec<_>>())?;
    found.set_item("intercept", model.intercept())?;
    found.set_item("digits", model.digits())?;
    let substitution = |one: &Substitution| (one.variable, one.minus, one.over, one.digits);
    found.set_item("substitutions", equation.substitutions().iter().map(substitution).collect::<Vec<_>>())?;
    Ok(found)
}

impl SparseModel {
    fn running<'a, 'py>(&self, progress: Option<&'a Bound<'py, PyAny>>) -> Running<'a, 'py> {
        Running { threads: self.threads, tolerance: 0.0, progress }
    }
}

#[pymethods]
impl SparseModel {
    /// The function of every output or class; two classes have one.
    #[getter]
    fn functions(&self) -> Vec<SparseFunction> {
        self.model.functions().iter().map(|found| SparseFunction { found: found.clone() }).collect()
    }

    /// The values of the functions, one row each.
    fn decision<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.running(None).run_over(py, &x, |matrix, _| self.model.decisions(matrix))?;
        rows(py, self.model.functions().len(), values)
    }

    /// What every term of a function adds, one row each.
    fn term_values<'py>(&self, py: Python<'py>, x: Table, function: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.model.functions().get(function);
        let found = found.ok_or_else(|| PyValueError::new_err(format!("there is no function {function}")))?;
        let points = x.borrow(py)?.numbers()?.samples();
        let values = self.running(None).run_over(py, &x, |matrix, _| found.term_values(matrix))?;
        let array = Array2::from_shape_vec((values.len(), points), values.concat());
        Ok(PyArray2::from_owned_array(py, array.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }

    /// How far a prediction is off at most in this share of cases, where samples were held out.
    fn half_widths(&self, coverage: f64) -> PyResult<Vec<f64>> {
        self.model.half_widths(coverage).map_err(exception)
    }

    /// The probability of every class, one row each.
    fn probabilities<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.running(None).run_over(py, &x, |matrix, _| self.model.probabilities(matrix))?;
        rows(py, self.model.classes().len(), values)
    }

    /// For every function, how often monomials are named when samples are left out.
    #[pyo3(signature = (x, y, sample_weight, resamples, seed, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "the arguments of a fit, and what is drawn")]
    fn stability<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        y: Targeted<'_>,
        sample_weight: Weights<'_>,
        resamples: usize,
        seed: u64,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Vec<Numbered<'py>>>> {
        let (target, weights) = (y.target(), weights(&sample_weight));
        let account = Account::new(self.memory.map_or_else(Memory::available, Memory::limit));
        let found = self.running(progress).run_over(py, &x, |matrix, _| {
            self.model.stability(&self.spec, matrix, &target, weights.as_deref(), resamples, seed, &account)
        })?;
        let named = |of_function: banach::sparse::SparseStability| {
            of_function.named.iter().map(|(monomial, share)| Ok((factors(py, monomial)?, *share))).collect()
        };
        found.into_iter().map(named).collect()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let json = serde_json::to_string(slf.get()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((slf.get_type().getattr("restore")?, (json,)))
    }

    /// The model that `__reduce__` has written.
    #[staticmethod]
    fn restore(json: &str) -> PyResult<Self> {
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("a model of few terms: {error}")))
    }
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

    /// The coefficients without a penalty.
    #[getter]
    fn refits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.refit)
    }

    /// Where the intervals of confidence begin.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.lower)
    }

    /// Where they end.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |term| term.upper)
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

    /// Whether the terms separate two classes.
    #[getter]
    fn separated(&self) -> bool {
        self.found.separated()
    }

    /// What holds at the end of the search: its kind, and what it says.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
        let (told, certificate) = (PyDict::new(py), self.found.certificate());
        told.set_item("holds", certificate.holds())?;
        let kind = match certificate {
            SparseCertificate::Steps(steps) => {
                told.set_item("addition", steps.addition)?;
                told.set_item("removal", steps.removal)?;
                told.set_item("exchange", steps.exchange)?;
                told.set_item("proven", steps.scope == StepScope::Every)?;
                "steps"
            }
            SparseCertificate::Gap { lambda, relative_gap } => {
                told.set_item("strength", lambda)?;
                told.set_item("relative_gap", relative_gap)?;
                "gap"
            }
            SparseCertificate::Stationarity { lambda, violation } => {
                told.set_item("strength", lambda)?;
                told.set_item("violation", violation)?;
                "stationarity"
            }
            _ => return Err(PyValueError::new_err("a certificate of another kind")),
        };
        Ok((kind, told))
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

    /// The function as an equation: its numbers, the digits that texts show of them, and what stands for variables.
    fn written<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        written(py, &self.found.written(None).map_err(exception)?)
    }
}
