//! From a model to a short equation.

use banach::{
    Account,
    data::ColumnUnits,
    fit::{SparseModel as FittedModel, Task, repetitions},
    kernel::MonomialScale,
    model::Budget,
    selection::{self, Stability, StabilityOptions, StabilityRun},
    sparse::{SparseSpec, WrittenFunction},
};
use numpy::PyArray1;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    data::Table,
    errors::exception,
    kernel::factors,
    model::Model,
    sparse::{SparseModel, written},
};

/// Means and deviations of columns that were standardised.
type Units = Option<(Vec<f64>, Vec<f64>)>;

fn column_units(units: &Units) -> Option<ColumnUnits<'_>> {
    units.as_ref().map(|(means, deviations)| ColumnUnits { means, deviations })
}

/// The largest monomials with the coefficients that they have in the model, and what is left of its constant.
#[pyfunction]
#[pyo3(signature = (model, function, count, units=None))]
pub(crate) fn expansion<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    count: usize,
    units: Units,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    if model.spec.values.monomials != MonomialScale::Raw || model.fitted.plan().kernel().normalized() {
        return Err(PyValueError::new_err(
            "refit = False; allowed: True for normalised kernels and for unit or standardized monomials, whose \
             coefficients are not those of monomials alone",
        ));
    }
    let intercept = model.fitted.solutions()[function].intercept;
    let (explicit, bound) = model.spec.running(None).run_over(py, &model.table, |matrix, _| {
        let function = model.fitted.function(function, matrix)?;
        let function = function.with_memory(model.spec.memory());
        let top = function.top_monomials(count, Budget::default())?;
        let compiled = function.compile(&top.entries, intercept, model.spec.memory())?;
        let bound = compiled.bound_at(matrix)?.into_iter().fold(0.0, f64::max);
        Ok((compiled.model().clone(), bound))
    })?;
    let found = written(py, &WrittenFunction::of_standardized(explicit, column_units(&units)))?;
    found.set_item("bound", bound)?;
    Ok(found)
}

/// The targets of one function, and its weights as repetitions.
fn output(model: &Model, function: usize) -> Result<(Vec<f64>, Option<Vec<f64>>), banach::Error> {
    let samples = model.fitted.plan().shape().samples;
    let (_, mut outputs) = model.target.outputs(samples, model.spec.values.loss.targets(), model.weights.as_deref())?;
    Ok((outputs.swap_remove(function).into_owned(), model.weights.as_deref().and_then(repetitions)))
}

/// The terms of the kernel of a model that evidence names, as an equation and as a model, and what is known of each.
#[pyfunction]
#[pyo3(signature = (model, function, max_terms, hierarchy, units=None, progress=None))]
pub(crate) fn name_terms<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    max_terms: Option<usize>,
    hierarchy: &str,
    units: Units,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    let hierarchy = hierarchy.parse().map_err(exception)?;
    let (named, equation, own) = model.spec.running(progress).run_over(py, &model.table, |matrix, _| {
        let (y, weights) = output(model, function)?;
        let spec = SparseSpec { hierarchy, ..model.spec.values.few_terms(max_terms)? };
        let found = spec.run(matrix, &y, weights.as_deref(), &Account::new(model.spec.memory()))?;
        let found = column_units(&units).map_or_else(|| Ok(found.clone()), |units| found.measured(units))?;
        // One function tells a class from the rest.
        let task = if model.fitted.classes().is_empty() { Task::Numbers(1) } else { Task::Classes(vec![0, 1]) };
        let own = FittedModel::new(task, spec.loss, vec![found.clone()])?;
        Ok((found.clone(), found.written(None)?, (own, spec)))
    })?;
    let found = written(py, &equation)?;
    let (own, spec) = own;
    let json = serde_json::to_string(&spec).map_err(|error| PyValueError::new_err(error.to_string()))?;
    found.set_item("spec", json)?;
    let (memory, threads) = (model.spec.memory, model.spec.threads);
    found.set_item("model", Py::new(py, SparseModel { model: own, spec, memory, threads })?)?;
    let known = PyDict::new(py);
    let monomials = named.terms().iter().map(|term| factors(py, &term.monomial));
    known.set_item("exponents", monomials.collect::<PyResult<Vec<_>>>()?)?;
    for (name, value) in [
        ("coefficient", (|term| term.coefficient) as fn(&banach::sparse::SparseTerm) -> f64),
        ("std_error", |term| term.std_error),
        ("evidence", |term| term.evidence),
    ] {
        known.set_item(name, PyArray1::from_vec(py, named.terms().iter().map(value).collect()))?;
    }
    found.set_item("terms", known)?;
    found.set_item("centred", !named.centres().is_empty())?;
    found.set_item("proven", named.certificate().holds())?;
    found.set_item("dictionary", named.dictionary())?;
    Ok(found)
}

/// How often each monomial is named where only half of the samples are known.
#[pyfunction]
#[pyo3(signature = (model, function, max_terms, pairs, threshold, seed, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of stability selection")]
pub(crate) fn stability<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    max_terms: usize,
    pairs: usize,
    threshold: f64,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    let options = StabilityOptions { pairs, threshold, seed };
    let stability = model.spec.running(progress).run_over(py, &model.table, |matrix, watch| {
        let (y, weights) = output(model, function)?;
        let spec = model.spec.values.few_terms(Some(max_terms))?;
        let (given, account) = ((&y[..], weights.as_deref()), Account::new(model.spec.memory()));
        selection::stability(&spec, matrix, given, &options, &account, |finished| watch.count(finished))
    })?;
    told(py, &stability)
}

/// What halves agree on, as Python has it.
fn told<'py>(py: Python<'py>, stability: &Stability) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let monomials = stability.entries.iter().map(|entry| factors(py, &entry.monomial));
    found.set_item("monomials", monomials.collect::<PyResult<Vec<_>>>()?)?;
    let frequencies: Vec<f64> = stability.entries.iter().map(|entry| entry.frequency).collect();
    found.set_item("frequencies", PyArray1::from_vec(py, frequencies))?;
    found.set_item("stable", stability.stable().len())?;
    found.set_item("subsamples", stability.subsamples)?;
    found.set_item("selected_per_fit", stability.selected_per_fit)?;
    found.set_item("unproven", stability.unproven)?;
    found.set_item("expected_false", stability.expected_false())?;
    found.set_item("expected_false_unimodal", stability.expected_false_unimodal())?;
    Ok(found)
}

/// Stability selection one half after another, for columns that Python makes anew of every half.
#[pyclass(module = "banach._core")]
pub(crate) struct Halves {
    run: StabilityRun,
    spec: crate::spec::Spec,
}

#[pymethods]
impl Halves {
    #[new]
    fn new(
        model: &Model,
        function: usize,
        max_terms: usize,
        pairs: usize,
        threshold: f64,
        seed: u64,
    ) -> PyResult<Self> {
        model.check(function)?;
        let (y, weights) = output(model, function).map_err(exception)?;
        let spec = model.spec.values.few_terms(Some(max_terms)).map_err(exception)?;
        let options = StabilityOptions { pairs, threshold, seed };
        let run = StabilityRun::new(&spec, (&y, weights.as_deref()), &options).map_err(exception)?;
        Ok(Self { run, spec: model.spec.clone() })
    }

    /// The samples of the next half; None after the last one.
    fn next(&self) -> Option<Vec<usize>> {
        self.run.half().map(<[usize]>::to_vec)
    }

    /// Searches the next half, whose columns are known by these numbers.
    fn search(&mut self, py: Python<'_>, x: Table, columns: Vec<usize>) -> PyResult<usize> {
        let (run, spec) = (&mut self.run, &self.spec);
        let account = Account::new(spec.memory());
        spec.running(None).run_over(py, &x, |matrix, _| run.search(matrix, Some(&columns), &account))?;
        Ok(self.run.finished())
    }

    /// What the halves agree on.
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        told(py, &self.run.clone().stability())
    }
}
