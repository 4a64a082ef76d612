//! From a model to a short equation.

use banach::{
    DualProblem, Fit, Prepared,
    kernel::{KernelSpec, Monomial, MonomialScale},
    model::{Budget, ExplicitModel},
    selection::{self, Refit, SelectionOptions, StabilityOptions},
    solver::{Choice, Folds},
};
use numpy::PyArray1;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{data::rows, kernel::factors, model::Model, spec::Spec};

fn terms<'py>(py: Python<'py>, model: &ExplicitModel) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let monomials = model.terms().iter().map(|(monomial, _)| factors(py, monomial));
    found.set_item("monomials", monomials.collect::<PyResult<Vec<_>>>()?)?;
    found.set_item("coefficients", model.terms().iter().map(|(_, coefficient)| *coefficient).collect::<Vec<_>>())?;
    found.set_item("intercept", model.intercept())?;
    Ok(found)
}

/// The largest monomials with the coefficients that they have in the model, and what is left of its constant.
#[pyfunction]
pub(crate) fn expansion<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    count: usize,
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
    let found = terms(py, &explicit)?;
    found.set_item("bound", bound)?;
    Ok(found)
}

/// The targets of one function.
fn output(model: &Model, fit: &Fit, function: usize) -> Result<Vec<f64>, banach::Error> {
    let samples = model.fitted.plan().shape().samples;
    let (_, mut outputs) = model.target.outputs(samples, fit.loss().targets(), model.weights.as_deref())?;
    Ok(outputs.swap_remove(function).into_owned())
}

fn problem<'a>(
    prepared: &'a Prepared<'_>,
    y: &'a [Vec<f64>],
    weights: Option<&[f64]>,
) -> Result<DualProblem<'a>, banach::Error> {
    Ok(prepared.problems(y, weights)?.swap_remove(0))
}

/// The largest monomials, fitted again without shrinkage.
#[pyfunction]
#[pyo3(signature = (model, function, monomials, progress=None))]
pub(crate) fn refit<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    monomials: Vec<Vec<(usize, usize)>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    let monomials: Vec<Monomial> = monomials.iter().map(|factors| Monomial::new(factors)).collect();
    // The targets, the weights and the loss matter here, and not what the form is made of.
    let raw = banach::Spec { kernel: KernelSpec::Linear, monomials: MonomialScale::Raw, ..model.spec.values.clone() };
    let values = banach::Spec { route: None, ..raw };
    let plain = Spec { values, ..model.spec.clone() };
    let (explicit, end) = plain.running(progress).run_over(py, &model.table, |matrix, watch| {
        let fit = plain.fit_with(model.gamma)?;
        let (prepared, y) = (fit.prepare(matrix, 1)?, [output(model, &fit, function)?]);
        let problem = problem(&prepared, &y, model.weights.as_deref())?;
        selection::refit(&problem, matrix, &monomials, Refit::for_loss(problem.loss()), prepared.solver(), watch)
    })?;
    let found = terms(py, &explicit)?;
    found.set_item("status", end.name())?;
    Ok(found)
}

/// As `refit`, with as many of the largest monomials as cross-validation says.
#[pyfunction]
#[pyo3(signature = (model, function, max_terms, splits, one_standard_error, progress=None))]
pub(crate) fn select<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    max_terms: usize,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    one_standard_error: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    let choice = if one_standard_error { Choice::OneStandardError } else { Choice::Best };
    let selected = model.spec.running(progress).run_over(py, &model.table, |matrix, watch| {
        let folds = Folds::from_splits(matrix.samples(), splits)?;
        let fit = model.spec.fit_with(model.gamma)?;
        let (prepared, y) = (fit.prepare(matrix, folds.count() + 1)?, [output(model, &fit, function)?]);
        let problem = problem(&prepared, &y, model.weights.as_deref())?;
        let refit = Refit::for_loss(problem.loss());
        let options = SelectionOptions { refit, choice, ..SelectionOptions::new(max_terms, folds) };
        selection::select(&problem, matrix, &fit.ranking(matrix.view()), &options, prepared.solver(), watch)
    })?;
    let found = terms(py, &selected.model)?;
    let losses: Vec<f64> = (0..selected.curve.len())
        .flat_map(|terms| {
            let loss = selected.loss(terms);
            [loss.value, loss.standard_error]
        })
        .collect();
    found.set_item("losses", rows(py, selected.curve.len(), losses)?)?;
    found.set_item("unconverged", selected.unconverged)?;
    Ok(found)
}

/// How often each monomial is among the largest of fits to halves of the samples.
#[pyfunction]
#[pyo3(signature = (model, function, terms, pairs, threshold, seed, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of stability selection")]
pub(crate) fn stability<'py>(
    py: Python<'py>,
    model: &Model,
    function: usize,
    terms: usize,
    pairs: usize,
    threshold: f64,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    model.check(function)?;
    let options = StabilityOptions { pairs, terms, threshold, seed };
    let stability = model.spec.running(progress).run_over(py, &model.table, |matrix, watch| {
        let fit = model.spec.fit_with(model.gamma)?;
        let (prepared, y) = (fit.prepare(matrix, 2 * pairs)?, [output(model, &fit, function)?]);
        let problem = problem(&prepared, &y, model.weights.as_deref())?;
        selection::stability(&problem, &fit.ranking(matrix.view()), &options, prepared.solver(), watch)
    })?;
    let found = PyDict::new(py);
    let monomials = stability.entries.iter().map(|entry| factors(py, &entry.monomial));
    found.set_item("monomials", monomials.collect::<PyResult<Vec<_>>>()?)?;
    let frequencies: Vec<f64> = stability.entries.iter().map(|entry| entry.frequency).collect();
    found.set_item("frequencies", PyArray1::from_vec(py, frequencies))?;
    found.set_item("stable", stability.stable().len())?;
    found.set_item("subsamples", stability.subsamples)?;
    found.set_item("selected_per_fit", stability.selected_per_fit)?;
    found.set_item("unconverged", stability.unconverged)?;
    found.set_item("expected_false", stability.expected_false())?;
    found.set_item("expected_false_unimodal", stability.expected_false_unimodal())?;
    Ok(found)
}
