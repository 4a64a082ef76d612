//! The automatic choice.

use banach::{
    Account, FeatureMatrix, Memory,
    fit::{Auto, AutoModel as ChosenModel, Standing},
};
use numpy::{PyArray1, PyArray2};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    background::Running,
    data::{Table, rows},
    errors::exception,
    spec::{Targeted, Weights, weights},
};

/// A chosen model, with the samples that it was fitted to.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug)]
pub(crate) struct AutoModel {
    pub(crate) model: ChosenModel,
    pub(crate) x: FeatureMatrix<'static>,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: usize,
}

/// The parts that progress is counted in.
const PARTS: f64 = 1000.0;

/// The best model of numbers or classes.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, *, effort, seconds, seed, memory, threads, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of an estimator, by name")]
pub(crate) fn fit_auto(
    py: Python<'_>,
    x: Table,
    y: Targeted<'_>,
    sample_weight: Weights<'_>,
    effort: &str,
    seconds: Option<f64>,
    seed: u64,
    memory: Option<u64>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<AutoModel> {
    let auto = Auto { effort: effort.parse().map_err(exception)?, seconds, seed };
    let (target, weights) = (y.target(), weights(&sample_weight));
    let account = Account::new(memory.map_or_else(Memory::available, Memory::limit));
    let (model, x) = Running { threads, tolerance: 0.0, progress }.run_over(py, &x, |matrix, watch| {
        let mut told = |progress: banach::fit::AutoProgress<'_>| {
            watch.count((PARTS * progress.done) as usize);
            std::ops::ControlFlow::Continue(())
        };
        let model = auto.run(matrix, &target, weights.as_deref(), &account, &mut told)?;
        Ok((model, matrix.view().into_owned()))
    })?;
    Ok(AutoModel { model, x, memory, threads })
}

impl AutoModel {
    fn running(&self) -> Running<'_, '_> {
        Running { threads: self.threads, tolerance: 0.0, progress: None }
    }
}

#[pymethods]
impl AutoModel {
    /// Numbers, one row; or the probability of every class, one row each.
    fn predictions<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = x.borrow(py)?.matrix()?.samples();
        let values = self.running().run_over(py, &x, |matrix, _| self.model.predictions(matrix))?;
        rows(py, values.len() / points.max(1), values)
    }

    /// How much every variable matters.
    fn relevance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let memory = self.memory.map_or_else(Memory::available, Memory::limit);
        let shares = self.running().run(py, |_| self.model.relevance(&self.x, memory))?;
        Ok(PyArray1::from_vec(py, shares))
    }

    /// What was chosen, in one line.
    #[getter]
    fn sentence(&self) -> String {
        self.model.sentence()
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.model.verdict().name()
    }

    /// Every contender: its name, the mean and the standard error of its held-out loss, what it claims, its accuracy and its weight.
    #[getter]
    fn standings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let told = |standing: &Standing| {
            let row = PyDict::new(py);
            row.set_item("contender", standing.recipe.to_string())?;
            row.set_item("loss", standing.loss.map(|loss| loss.value))?;
            row.set_item("std_error", standing.loss.map(|loss| loss.standard_error))?;
            row.set_item("claimed", standing.claimed)?;
            row.set_item("accuracy", standing.accuracy.map(|accuracy| accuracy.value))?;
            row.set_item("weight", standing.weight)?;
            row.set_item("seconds", standing.seconds)?;
            Ok(row)
        };
        self.model.standings().iter().map(told).collect()
    }

    /// What was not tried, and why.
    #[getter]
    fn left_out(&self) -> Vec<(String, String)> {
        self.model.left_out().iter().map(|(recipe, why)| (recipe.to_string(), why.clone())).collect()
    }

    /// The loss on held-out samples, its standard error, and that of a constant.
    #[getter]
    fn loss(&self) -> (f64, f64, f64) {
        let loss = self.model.loss();
        (loss.value, loss.standard_error, self.model.constant_loss())
    }
}
