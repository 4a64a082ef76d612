//! What is fitted, and how: the parameters of an estimator, checked once.

use std::time::Instant;

use banach::{
    Classifier, Exponent, FeatureMatrix, Ground, Memory, Observer, PaperOptions, Plan, Regressor, Route, SolverChoice,
    kernel::{KernelSpec, MonomialScale},
    loss::{LossSpec, Targets},
};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use serde::{Deserialize, Serialize};

use crate::{
    background::Running,
    data::{Table, rows, vectors},
    errors::exception,
    kernel::Kernel,
    model::{Fitted, Model},
    path,
};

/// Everything but C and the data.
#[pyclass(frozen, module = "banach._core")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::unsafe_derive_deserialize, reason = "what is unsafe is PyO3's, and keeps to its own fields")]
pub(crate) struct Spec {
    pub(crate) p: f64,
    pub(crate) kernel: KernelSpec,
    pub(crate) monomials: String,
    pub(crate) loss: LossSpec,
    pub(crate) fit_intercept: bool,
    pub(crate) tol: f64,
    pub(crate) max_iter: usize,
    pub(crate) solver: SolverChoice,
    pub(crate) route: Option<String>,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: usize,
}

/// An estimator of the library.
pub(crate) enum Estimator {
    Regressor(Regressor),
    Classifier(Classifier),
}

/// What is to be predicted.
pub(crate) enum Goal {
    /// Numbers, one vector per output.
    Numbers(Vec<Vec<f64>>),
    /// Labels.
    Labels(Vec<i64>),
}

/// Targets as they come from Python: numbers, one row per output, or labels.
#[derive(FromPyObject)]
pub(crate) enum Target<'py> {
    Labels(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray2<'py, f64>),
}

impl Target<'_> {
    pub(crate) fn goal(&self) -> Goal {
        match self {
            Self::Labels(labels) => Goal::Labels(labels.as_array().to_vec()),
            Self::Numbers(numbers) => Goal::Numbers(vectors(numbers)),
        }
    }
}

impl Goal {
    /// The targets of every function.
    pub(crate) fn outputs(&self, weights: Option<&[f64]>) -> Result<Vec<Vec<f64>>, banach::Error> {
        match self {
            Self::Numbers(outputs) => Ok(outputs.clone()),
            Self::Labels(labels) => Ok(Classifier::signs(labels, weights)?.1),
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
    /// The solver with these options. A refusal names the parameter that they came in.
    fn of(self, solver: SolverChoice) -> PyResult<SolverChoice> {
        let Self { algorithm, rule, delta, theta, lambda_bar } = self;
        let checked = || {
            let algorithm = algorithm.map(|name| name.parse()).transpose()?;
            let rule = rule.map(|name| name.parse()).transpose()?;
            solver.with_options(PaperOptions { algorithm, rule, delta, theta, lambda_bar })
        };
        checked().map_err(|error: banach::Error| PyValueError::new_err(format!("solver_options: {error}")))
    }
}

/// Weights of samples, if there are any.
pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

pub(crate) fn weights(given: &Weights<'_>) -> Option<Vec<f64>> {
    given.as_ref().map(|weights| weights.as_array().to_vec())
}

impl Spec {
    fn scale(&self) -> Result<MonomialScale, banach::Error> {
        self.monomials.parse()
    }

    pub(crate) fn exponent(&self) -> Result<Exponent, banach::Error> {
        Exponent::new(self.p)
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory.map_or_else(Memory::available, Memory::limit)
    }

    pub(crate) fn monomial_scale(&self) -> MonomialScale {
        self.scale().unwrap_or_default()
    }

    /// The estimator with this C.
    pub(crate) fn estimator(&self, gamma: f64) -> Result<Estimator, banach::Error> {
        let (kernel, loss, scale) = (self.kernel.build()?, self.loss.build()?, self.scale()?);
        let route: Option<Route> = self.route.as_deref().map(str::parse).transpose()?;
        // The two builders have the same parameters.
        macro_rules! told {
            ($builder:expr) => {
                $builder
                    .p(self.p)
                    .gamma(gamma)
                    .kernel(kernel)
                    .monomials(scale)
                    .loss(loss)
                    .fit_intercept(self.fit_intercept)
                    .tolerance(self.tol)
                    .max_iterations(self.max_iter)
                    .solver(self.solver)
                    .route(route)
                    .memory(self.memory())
            };
        }
        Ok(match self.loss.targets() {
            Targets::Real => Estimator::Regressor(told!(Regressor::new())),
            Targets::Signs => Estimator::Classifier(told!(Classifier::new())),
        })
    }

    pub(crate) fn running<'a, 'py>(&self, progress: Option<&'a Bound<'py, PyAny>>) -> Running<'a, 'py> {
        Running { threads: self.threads, tolerance: self.tol, progress }
    }
}

impl Estimator {
    pub(crate) fn fit(
        &self,
        x: &FeatureMatrix<'_>,
        goal: &Goal,
        weights: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fitted, banach::Error> {
        match (self, goal) {
            (Self::Regressor(regressor), Goal::Numbers(outputs)) => {
                let outputs: Vec<&[f64]> = outputs.iter().map(|y| &y[..]).collect();
                regressor.fit_observed(x, &outputs, weights, observer).map(Fitted::Regression)
            }
            (Self::Classifier(classifier), Goal::Labels(labels)) => {
                classifier.fit_observed(x, labels, weights, observer).map(Fitted::Classification)
            }
            (Self::Regressor(_), Goal::Labels(_)) | (Self::Classifier(_), Goal::Numbers(_)) => {
                Err(banach::Error::Parameter {
                    name: "y",
                    got: "targets of another kind".to_owned(),
                    allowed: "numbers for a loss of numbers, labels for one of classes",
                })
            }
        }
    }

    fn plan(&self, x: &FeatureMatrix<'_>, problems: usize) -> Result<Plan, banach::Error> {
        match self {
            Self::Regressor(regressor) => regressor.plan(x, problems),
            Self::Classifier(classifier) => classifier.plan(x, problems),
        }
    }

    pub(crate) fn ground<'x>(&self, x: &'x FeatureMatrix<'_>, problems: usize) -> Result<Ground<'x>, banach::Error> {
        match self {
            Self::Regressor(regressor) => regressor.ground(x, problems),
            Self::Classifier(classifier) => classifier.ground(x, problems),
        }
    }
}

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
        monomials: String,
        loss: &str,
        epsilon: f64,
        rho: f64,
        quantile: f64,
        fit_intercept: bool,
        tol: f64,
        max_iter: usize,
        solver: &str,
        solver_options: Told,
        route: Option<String>,
        memory: Option<u64>,
        threads: usize,
    ) -> PyResult<Self> {
        let targets = if task == "classification" { Targets::Signs } else { Targets::Real };
        let loss = match LossSpec::named(loss, targets).map_err(exception)? {
            LossSpec::EpsilonInsensitive { .. } => LossSpec::EpsilonInsensitive { epsilon },
            LossSpec::Huber { .. } => LossSpec::Huber { rho },
            LossSpec::Quantile { .. } => LossSpec::Quantile { tau: quantile },
            other => other,
        };
        let kernel = kernel.spec.clone();
        let solver = solver_options.of(solver.parse().map_err(exception)?)?;
        let spec = Self { p, kernel, monomials, loss, fit_intercept, tol, max_iter, solver, route, memory, threads };
        let route = spec.route.as_deref().map(str::parse::<Route>).transpose();
        let checked = spec.exponent().and(spec.loss.build()).and(spec.scale()).and(route);
        checked.map_err(exception)?;
        if !(0.0..f64::INFINITY).contains(&spec.tol) {
            return Err(PyValueError::new_err(format!("tol = {}; allowed: a finite number >= 0", spec.tol)));
        }
        Ok(spec)
    }

    /// The kernel.
    #[getter(kernel)]
    fn built_kernel(&self) -> Kernel {
        Kernel { spec: self.kernel.clone() }
    }

    /// What is predicted of the fits of so many problems for so many values of C, if they are to take more than ten minutes.
    fn long_fit(&self, py: Python<'_>, x: Table, problems: usize, count: usize) -> PyResult<Option<String>> {
        let table = x.borrow(py)?;
        let matrix = table.matrix()?;
        let plan = self.estimator(1.0).and_then(|estimator| estimator.plan(&matrix, problems));
        // What cannot be planned is refused by the fit.
        Ok(plan.ok().and_then(|plan| plan.long_fit(count)).map(|long| long.to_string()))
    }

    /// A model of the data.
    #[pyo3(signature = (x, y, sample_weight, C, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn fit(
        &self,
        py: Python<'_>,
        x: Table,
        y: Target<'_>,
        sample_weight: Weights<'_>,
        C: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Model> {
        let (goal, weights) = (y.goal(), weights(&sample_weight));
        let (fitted, history, seconds) = {
            let table = x.borrow(py)?;
            let matrix = table.matrix()?;
            self.running(progress).run(py, |watch| {
                let begin = Instant::now();
                let fitted = self.estimator(C)?.fit(&matrix, &goal, weights.as_deref(), watch)?;
                Ok((fitted, std::mem::take(&mut watch.history), begin.elapsed().as_secs_f64()))
            })?
        };
        Ok(Model { spec: self.clone(), gamma: C, table: x, goal, weights, fitted, history, seconds })
    }

    /// Held-out decisions, losses and certificates for every C and split; see `banach._cv`.
    #[pyo3(signature = (x, y, sample_weight, *, Cs, count, splits, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a search, by name")]
    fn cross_validate<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        y: Target<'_>,
        sample_weight: Weights<'_>,
        Cs: Option<Vec<f64>>,
        count: usize,
        splits: Vec<(Vec<usize>, Vec<usize>)>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        path::cross_validate(py, self, &x, &y.goal(), weights(&sample_weight), (Cs, count), splits, progress)
    }

    /// The solutions for every C; see `banach.lp_path`.
    #[pyo3(signature = (x, y, sample_weight, *, Cs, count, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    #[expect(clippy::too_many_arguments, reason = "the parameters of a path, by name")]
    fn path<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        y: Target<'_>,
        sample_weight: Weights<'_>,
        Cs: Option<Vec<f64>>,
        count: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        path::path(py, self, &x, &y.goal(), weights(&sample_weight), (Cs, count), progress)
    }

    /// The probability of every class from decisions, both with one row per function or class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        decisions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let Estimator::Classifier(classifier) = self.estimator(1.0).map_err(exception)? else {
            return Err(PyValueError::new_err("probabilities need a classifier"));
        };
        let (functions, points) = (decisions.shape()[0], decisions.shape()[1]);
        let values = classifier.probabilities(&vectors(&decisions).concat(), points).map_err(exception)?;
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
