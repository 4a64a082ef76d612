//! The automatic choice.

use banach::{
    Account, Memory, Target,
    fit::{
        Auto, AutoEffect, AutoExplanation, AutoRecord, ContenderScore, ContributionSource, ExpectedLoss,
        PermutationCheck, SelectedEquation,
    },
    solver::Folds,
};
use banach_io::{Label, Observed, Saved, SavedAuto};
use numpy::{PyArray1, PyArray2};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict, PyTuple},
};

use crate::{
    background::Running,
    data::{Table, rows},
    errors::exception,
    kernel::factors,
    report::assessment_json,
    search::Splits,
    sparse::SparseModel,
    spec::{Targeted, Weights, weights},
};

/// A chosen model, as a file has it.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug)]
pub(crate) struct AutoModel {
    pub(crate) saved: SavedAuto,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: usize,
}

/// What restores a pickled model: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<u64>, usize));

/// Values of a variable, and predictions, one row per class.
type Curves<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// The variables of a contribution, or its monomial.
type Source<'py> = (Option<Vec<usize>>, Option<Bound<'py, PyTuple>>);

/// A constant, contributions with their sources, and what the others add.
type Explained<'py> = (f64, Vec<Source<'py>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// The parts that progress is counted in.
const PARTS: f64 = 1000.0;

/// The best model of numbers or classes.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, splits, groups, *, effort, seconds, seed, permutations, memory, threads, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the parameters of an estimator, by name")]
pub(crate) fn fit_auto(
    py: Python<'_>,
    x: Table,
    y: Targeted<'_>,
    sample_weight: Weights<'_>,
    splits: Splits,
    groups: Option<Vec<usize>>,
    effort: &str,
    seconds: Option<f64>,
    seed: u64,
    permutations: usize,
    memory: Option<u64>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<AutoModel> {
    let auto = Auto { effort: effort.parse().map_err(exception)?, seconds, seed };
    let (target, weights) = (y.target(), weights(&sample_weight));
    let account = Account::new(memory.map_or_else(Memory::available, Memory::limit));
    let model = Running { threads, tolerance: 0.0, progress }.run_over(py, &x, |matrix, watch| {
        let mut told = |progress: banach::fit::AutoProgress<'_>| {
            watch.count((PARTS * progress.done) as usize);
            std::ops::ControlFlow::Continue(())
        };
        let weights = weights.as_deref();
        let folds = Folds::given(matrix.samples(), splits, groups.as_deref())?;
        let model = auto.run(matrix, &target, weights, Some(&folds), &account, &mut told)?;
        let (Some(assessment), Some(error)) = (model.record().assessment.clone(), model.record().least_error()) else {
            return Ok(model);
        };
        if permutations == 0 {
            return Ok(model);
        }
        let mut refit = |target: &Target<'_>, weights: Option<&[f64]>| {
            let shuffled = auto.run(matrix, target, weights, Some(&folds), &account, &mut told)?;
            Ok(shuffled.record().least_error())
        };
        let check = PermutationCheck::run(&target, weights, &folds, permutations, error, &mut refit)?;
        Ok(match check {
            Some(check) => model.with_assessment(assessment.with_permutations(check)),
            None => model,
        })
    })?;
    let observed = match &target {
        Target::Numbers(outputs) => Observed::Numbers(outputs.iter().map(|y| y.to_vec()).collect()),
        Target::Labels(codes) => Observed::Classes {
            labels: model.classes().iter().map(|class| Label::Integer(*class)).collect(),
            rows: codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect(),
        },
    };
    let saved = SavedAuto { weights, ..SavedAuto::new(model, observed) };
    Ok(AutoModel { saved, memory, threads })
}

impl AutoModel {
    fn record(&self) -> &AutoRecord {
        self.saved.model.record()
    }

    fn available(&self) -> Memory {
        self.memory.map_or_else(Memory::available, Memory::limit)
    }

    fn running(&self) -> Running<'_, '_> {
        Running { threads: self.threads, tolerance: 0.0, progress: None }
    }
}

#[pymethods]
impl AutoModel {
    /// Numbers, one row; or the probability of every class, one row each.
    fn predictions<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = x.borrow(py)?.numbers()?.samples();
        let values = self.running().run_over(py, &x, |matrix, _| self.saved.model.predictions(matrix))?;
        rows(py, values.len() / points.max(1), values)
    }

    /// How far a prediction is off at most in this share of cases.
    fn half_widths(&self, coverage: f64) -> PyResult<Vec<f64>> {
        self.saved.model.half_widths(coverage).map_err(exception)
    }

    /// How much every variable matters.
    fn relevance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let memory = self.available();
        let shares = self.running().run(py, |_| self.saved.model.relevance(memory))?;
        Ok(PyArray1::from_vec(py, shares))
    }

    /// The share of every pair of some variables, largest first.
    fn pair_relevance(&self, py: Python<'_>, variables: Vec<usize>) -> PyResult<Vec<(usize, usize, f64)>> {
        let memory = self.available();
        let shares = self.running().run(py, |_| self.saved.model.pair_relevance(&variables, memory))?;
        Ok(shares.ranking())
    }

    /// Some of the variables that matter most, the first first.
    fn leading_variables(&self, py: Python<'_>, count: usize) -> PyResult<Vec<usize>> {
        let memory = self.available();
        self.running().run(py, |_| self.saved.model.leading_variables(count, memory))
    }

    /// For every variable its values, and what is predicted there: numbers, one row, or the probability of every class, one row each.
    fn effects<'py>(&self, py: Python<'py>, variables: Vec<usize>, points: usize) -> PyResult<Vec<Curves<'py>>> {
        let found = self.running().run(py, |_| self.saved.model.effects(&variables, points))?;
        let curves = |effect: AutoEffect| {
            let count = effect.predictions.len() / effect.grid.len().max(1);
            Ok((PyArray1::from_vec(py, effect.grid), rows(py, count, effect.predictions)?))
        };
        found.into_iter().map(curves).collect()
    }

    /// For every function the constant, whose every contribution is (variables, or a monomial), the contributions, one row each, and what
    /// all others add.
    fn explain<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Vec<Explained<'py>>> {
        let memory = self.available();
        let found = self.running().run_over(py, &x, |matrix, _| self.saved.model.explain(matrix, memory))?;
        let told = |explained: AutoExplanation| {
            let (mut sources, mut values) = (Vec::new(), Vec::new());
            for one in explained.contributions {
                sources.push(match one.source {
                    ContributionSource::Variables(variables) => (Some(variables), None),
                    ContributionSource::Term(monomial) => (None, Some(factors(py, &monomial)?)),
                });
                values.extend(one.values);
            }
            let values = rows(py, sources.len(), values)?;
            Ok((explained.constant, sources, values, PyArray1::from_vec(py, explained.others)))
        };
        found.into_iter().map(told).collect()
    }

    /// How the few terms did, beside the model.
    #[getter]
    fn terms_sentence(&self) -> Option<String> {
        self.record().terms_sentence()
    }

    /// The held-out error of the few terms, what their evidence claims, and the error of the model; shares of the loss of a constant.
    #[getter]
    fn terms_standing(&self) -> Option<(Option<f64>, Option<f64>, f64)> {
        self.record().terms_standing().map(|found| (found.held_out, found.claimed, found.model))
    }

    /// How well it predicts held-out samples, against a constant, as JSON; None if none were held out.
    #[getter]
    fn assessment(&self) -> PyResult<Option<String>> {
        self.record().assessment.as_ref().map(assessment_json).transpose()
    }

    /// What was chosen, in one line.
    #[getter]
    fn sentence(&self) -> String {
        self.record().sentence()
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.record().verdict.name()
    }

    /// Every contender: its name, the mean and the standard error of its held-out loss, what it claims, its accuracy and its weight.
    #[getter]
    fn standings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let told = |standing: &ContenderScore| {
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
        self.record().standings.iter().map(told).collect()
    }

    /// What was not tried, and why.
    #[getter]
    fn left_out(&self) -> Vec<(String, String)> {
        self.record().left_out.iter().map(|(recipe, why)| (recipe.to_string(), why.clone())).collect()
    }

    /// The loss that is to be expected, its standard error if it was that of held-out samples, and the loss of a constant.
    #[getter]
    fn loss(&self) -> (f64, Option<f64>, f64) {
        let (loss, constant) = (self.record().loss, self.record().constant_loss);
        let error = if let ExpectedLoss::HeldOut(mean) = loss { Some(mean.standard_error) } else { None };
        (loss.value(), error, constant)
    }

    /// The predictions of held-out samples, as `predictions` has them; None where few terms are the model by their evidence.
    #[getter]
    fn held_out<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let record = self.record();
        let each = |values: &Vec<f64>| rows(py, values.len() / record.samples.max(1), values.clone());
        record.held_out.as_ref().map(each).transpose()
    }

    /// The few terms that evidence names, be they the model or not.
    #[getter]
    fn terms(&self) -> Option<SparseModel> {
        let SelectedEquation { spec, model } = self.record().equation().ok()??;
        Some(SparseModel { model, spec, memory: self.memory, threads: self.threads })
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.record().samples
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.record().variables
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let own = slf.get();
        let bytes = own.saved.to_bytes().map_err(|flaw| PyValueError::new_err(flaw.to_string()))?;
        let arguments = (PyBytes::new(slf.py(), &bytes), own.memory, own.threads);
        Ok((slf.get_type().getattr("restore")?, arguments))
    }

    /// The model that `__reduce__` has written.
    #[staticmethod]
    fn restore(bytes: &[u8], memory: Option<u64>, threads: usize) -> PyResult<Self> {
        match Saved::from_bytes(bytes) {
            Ok(Saved::Auto(saved)) => Ok(Self { saved: *saved, memory, threads }),
            Ok(_) => Err(PyValueError::new_err("a model of another kind")),
            Err(flaw) => Err(PyValueError::new_err(flaw.to_string())),
        }
    }
}
