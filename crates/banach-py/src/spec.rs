//! What is fitted, and how: the parameters of an estimator, checked once.

use std::time::Instant;

use banach::{
    Account, Exponent, Fit, Memory, Target,
    fit::{self, Exposure, Gammas, PaperOptions, PlannedFits, Residuals, SolverChoice},
    loss::{LossSpec, Targets},
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use serde::{Deserialize, Serialize};

use crate::{
    background::Running,
    data::{Table, rows, vectors},
    errors::exception,
    kernel::Kernel,
    model::Model,
    path,
    search::{self, Space, Splits},
};

/// The parameters of an estimator, and what it may take. C is told apart.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::unsafe_derive_deserialize, reason = "what is unsafe is PyO3's, and keeps to its own fields")]
pub(crate) struct Spec {
    pub(crate) values: banach::Spec,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: usize,
}

/// Targets as they come from Python: numbers, one row per output, or labels.
#[derive(FromPyObject)]
pub(crate) enum Targeted<'py> {
    Labels(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray2<'py, f64>),
}

impl Targeted<'_> {
    pub(crate) fn target(&self) -> Target<'static> {
        match self {
            Self::Labels(labels) => Target::Labels(labels.as_array().to_vec().into()),
            Self::Numbers(numbers) => Target::Numbers(vectors(numbers).into_iter().map(Into::into).collect()),
        }
    }
}

/// What a solver is told, as it comes from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    algorithm: Option<String>,
    rule: Option<String>,
    delta: Option<f64>,
    theta: Option<f64>,
    lambda_bar: Option<f64>,
}

impl Told {
    /// The solver with these options.
    fn of(self, solver: SolverChoice) -> Result<SolverChoice, banach::Error> {
        let Self { algorithm, rule, delta, theta, lambda_bar } = self;
        let algorithm = algorithm.map(|name| name.parse()).transpose()?;
        let rule = rule.map(|name| name.parse()).transpose()?;
        solver.with_options(PaperOptions { algorithm, rule, delta, theta, lambda_bar })
    }
}

/// Values of C: given ones, or so many that the data suggest.
pub(crate) fn gammas(given: Option<Vec<f64>>, count: usize) -> Gammas {
    given.map_or(Gammas::Count(count), Gammas::Given)
}

/// Weights of samples, if there are any.
pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

pub(crate) fn weights(given: &Weights<'_>) -> Option<Vec<f64>> {
    given.as_ref().map(|weights| weights.as_array().to_vec())
}

/// Exposures or their logarithms, as they were given.
pub(crate) struct Exposed {
    factors: Option<Vec<f64>>,
    offsets: Vec<f64>,
}

impl Exposed {
    pub(crate) fn new(exposure: &Weights<'_>, offset: &Weights<'_>) -> Self {
        Self { factors: weights(exposure), offsets: weights(offset).unwrap_or_default() }
    }

    pub(crate) fn exposure(&self) -> Exposure<'_> {
        self.factors.as_deref().map_or(Exposure::Offsets(&self.offsets), Exposure::Factors)
    }
}

impl Spec {
    pub(crate) fn memory(&self) -> Memory {
        self.memory.map_or_else(Memory::available, Memory::limit)
    }

    /// The fit with this C, within the memory that it may take.
    pub(crate) fn fit_with(&self, gamma: f64) -> Result<Fit, banach::Error> {
        let values = banach::Spec { gamma, ..self.values.clone() };
        Fit::within(&values, Account::new(self.memory()))
    }

    pub(crate) fn running<'a, 'py>(&self, progress: Option<&'a Bound<'py, PyAny>>) -> Running<'a, 'py> {
        Running { threads: self.threads, tolerance: self.values.tolerance, progress }
    }
}

/// The targets of a task.
fn targets(task: &str) -> Targets {
    if task == "classification" { Targets::Signs } else { Targets::Real }
}

/// The names of the losses for a task, the usual one first.
#[pyfunction]
pub(crate) fn losses(task: &str) -> Vec<&'static str> {
    LossSpec::of(targets(task)).map(LossSpec::name).collect()
}

/// The exponent of a penalty that is written as a decimal or a fraction, such as `4/3`.
#[pyfunction]
pub(crate) fn exponent(text: &str) -> PyResult<f64> {
    Ok(Exponent::parse_penalty(text).map_err(exception)?.p())
}

/// Rates, one row per output, and the weights that belong to them.
type RatesAndWeights<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Spec {
    /// Checks every parameter that can be wrong without data.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the parameters of an estimator, by name")]
    #[pyo3(signature = (*, task, p, kernel, monomials, loss, epsilon, rho, quantile, fit_intercept, tol, max_iter, solver, solver_options, route, memory, threads))]
    fn new(
        task: &str,
        p: f64,
        kernel: &Kernel,
        monomials: &str,
        loss: &str,
        epsilon: f64,
        rho: f64,
        quantile: f64,
        fit_intercept: bool,
        tol: f64,
        max_iter: usize,
        solver: &str,
        solver_options: Told,
        route: Option<&str>,
        memory: Option<u64>,
        threads: usize,
    ) -> PyResult<Self> {
        let targets = targets(task);
        let usual = LossSpec::named(loss, targets).map_err(exception)?;
        let parameters = [("epsilon", epsilon), ("rho", rho), ("tau", quantile)];
        let loss = parameters.into_iter().find_map(|(name, value)| usual.with(name, value)).unwrap_or(usual);
        let values = banach::Spec {
            p,
            kernel: kernel.spec.clone(),
            monomials: monomials.parse().map_err(exception)?,
            loss,
            fit_intercept,
            tolerance: tol,
            max_iterations: max_iter,
            solver: solver.parse::<SolverChoice>().and_then(|solver| solver_options.of(solver)).map_err(exception)?,
            route: route.map(str::parse).transpose().map_err(exception)?,
            ..banach::Spec::default()
        };
        Fit::within(&values, Account::new(Memory::limit(0))).map_err(exception)?;
        Ok(Self { values, memory, threads })
    }

    /// The kernel.
    #[getter(kernel)]
    fn built_kernel(&self) -> Kernel {
        Kernel { spec: self.values.kernel.clone() }
    }

    /// What the fits of so many problems for so many values of C are expected to take, if that is worth a word.
    fn long_fit(&self, py: Python<'_>, x: Table, problems: usize, count: usize) -> PyResult<Option<LongFit>> {
        let fit = self.fit_with(1.0).map_err(exception)?;
        self.running(None).run_over(py, &x, |matrix, _| Ok(long(fit.planned(matrix, problems, count))))
    }

    /// What is to be said of columns whose scales differ so much that they should be standardised, if they do.
    fn unequal_scales(&self, py: Python<'_>, x: Table, names: Vec<String>) -> PyResult<Option<String>> {
        let found = self.running(None).run_over(py, &x, |matrix, _| Ok(self.values.unequal_scales(matrix)))?;
        Ok(found.map(|scales| scales.with_names(&names).to_string()))
    }

    /// A model of the data; `residuals` are what a search says of held-out samples. Before the fit `warn` is called with what is to be said of
    /// columns whose scales differ very much, if there are names for columns, and of a fit that is expected to take long.
    #[pyo3(signature = (x, y, sample_weight, C, *, functions, warn, names=None, progress=None, residuals=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a fit, by name")]
    fn fit(
        &self,
        py: Python<'_>,
        x: Table,
        y: Targeted<'_>,
        sample_weight: Weights<'_>,
        C: f64,
        functions: usize,
        warn: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        progress: Option<&Bound<'_, PyAny>>,
        residuals: Option<Vec<Vec<f64>>>,
    ) -> PyResult<Model> {
        let (target, weights) = (y.target(), weights(&sample_weight));
        let residuals = residuals.map(Residuals::new).transpose().map_err(exception)?;
        let table = x.borrow(py)?;
        let numbers = table.numbers()?;
        let fit = self.fit_with(C).map_err(exception)?;
        let (matrix, scales, long) = self.running(None).run(py, |_| {
            let matrix = numbers.matrix()?;
            let scales = names.as_ref().and_then(|_| self.values.unequal_scales(&matrix));
            let long = long(fit.planned(&matrix, functions, 1));
            Ok((matrix, scales, long))
        })?;
        let scales = scales.map(|scales| scales.with_names(names.as_deref().unwrap_or_default()).to_string());
        if scales.is_some() || long.is_some() {
            warn.call1((scales, long))?;
        }
        let (fitted, history, seconds) = self.running(progress).run(py, |watch| {
            let begin = Instant::now();
            let fitted = fit.run(&matrix, &target, weights.as_deref(), watch)?;
            Ok((fitted, std::mem::take(&mut watch.history), begin.elapsed().as_secs_f64()))
        })?;
        drop(matrix);
        drop(table);
        let fitted = fitted.with_residuals(residuals);
        Ok(Model { spec: self.clone(), gamma: C, table: x, target, weights, fitted, history, seconds })
    }

    /// What is searched beside C, tried on splits of the samples; see `banach._cv`.
    #[pyo3(signature = (x, y, sample_weight, *, space, Cs, count, splits, one_standard_error, groups=None, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a search, by name")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        y: Targeted<'_>,
        sample_weight: Weights<'_>,
        space: Space,
        Cs: Option<Vec<f64>>,
        count: usize,
        splits: Splits,
        one_standard_error: bool,
        groups: Option<Vec<usize>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let search = space.search(gammas(Cs, count), one_standard_error).map_err(exception)?;
        search::run(py, self, &search, (&x, &y.target(), weights(&sample_weight)), (splits, groups), progress)
    }

    /// How many fits a search takes, and what they and the fit of its choice are expected to take, if that is worth a word.
    #[pyo3(signature = (x, sample_weight, *, space, Cs, count, functions, splits))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a search, by name")]
    fn search_size(
        &self,
        py: Python<'_>,
        x: Table,
        sample_weight: Weights<'_>,
        space: Space,
        Cs: Option<Vec<f64>>,
        count: usize,
        functions: usize,
        splits: usize,
    ) -> PyResult<(usize, Option<LongFit>)> {
        let search = space.search(gammas(Cs, count), false).map_err(exception)?;
        let (weights, fit) = (weights(&sample_weight), self.fit_with(1.0).map_err(exception)?);
        self.running(None).run_over(py, &x, |matrix, _| {
            let options = search.options(&self.values, matrix, weights.as_deref())?.len();
            let planned = search.planned_with_model(&fit, matrix, functions, weights.as_deref(), splits);
            Ok((search.fits(options, functions, splits), long(planned)))
        })
    }

    /// The solutions for every C; see `banach.lp_path`.
    #[pyo3(signature = (x, y, sample_weight, *, Cs, count, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a path, by name")]
    fn path<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        y: Targeted<'_>,
        sample_weight: Weights<'_>,
        Cs: Option<Vec<f64>>,
        count: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        path::path(py, self, &x, &y.target(), weights(&sample_weight), &gammas(Cs, count), progress)
    }

    /// Counts over exposures, one row per output, and the weights that belong to these rates.
    #[pyo3(signature = (counts, sample_weight, exposure=None, offset=None))]
    fn rates<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray2<'_, f64>,
        sample_weight: Weights<'_>,
        exposure: Weights<'_>,
        offset: Weights<'_>,
    ) -> PyResult<RatesAndWeights<'py>> {
        let (own, weights) = (Exposed::new(&exposure, &offset), weights(&sample_weight));
        let mut of_samples = Vec::new();
        let mut rates = Vec::new();
        for counts in vectors(&counts) {
            let found = own.exposure().rates(self.values.loss, &counts, weights.as_deref()).map_err(exception)?;
            rates.extend(found.rates);
            of_samples = found.weights;
        }
        Ok((rows(py, counts.shape()[0], rates)?, PyArray1::from_vec(py, of_samples)))
    }

    /// The probability of every class from decisions, both with one row per function or class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        decisions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let loss = self.values.loss.build().map_err(exception)?;
        let (functions, points) = (decisions.shape()[0], decisions.shape()[1]);
        let values = fit::probabilities(&*loss, &vectors(&decisions).concat(), points).map_err(exception)?;
        rows(py, if functions == 1 { 2 } else { functions }, values)
    }
}

impl Spec {
    /// What `to_json` has written.
    pub(crate) fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("the parameters of a model: {error}")))
    }

    pub(crate) fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(self).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// What is said of a long fit, and whether that is so long that nobody would wait for it.
type LongFit = (String, bool);

/// What fits are expected to take, if that is worth a word. What cannot be planned is refused by the fit.
fn long(planned: Result<PlannedFits, banach::Error>) -> Option<LongFit> {
    let expected = planned.ok()?.prediction_here();
    expected.is_announced().then(|| (expected.to_string(), expected.is_left_to_ask()))
}
