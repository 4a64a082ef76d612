//! A fitted model, with the data that explain it.

use banach::{
    Certificate, Route, Solution, Target, fit::Residuals, form::SparseWeights, model::Budget, solver::leave_one_out_all,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    background::Record,
    data::{Table, rows},
    errors::{Arguments, exception},
    kernel::{Kernel, factors},
    path,
    spec::{Exposed, Spec, Targeted, Weights, gammas, weights},
};

/// A fitted model and what it was fitted to.
#[pyclass(frozen, module = "banach._core")]
pub(crate) struct Model {
    pub(crate) spec: Spec,
    pub(crate) gamma: f64,
    pub(crate) table: Table,
    pub(crate) target: Target<'static>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) fitted: banach::Model,
    pub(crate) history: Vec<Record>,
    /// What the fit took.
    pub(crate) seconds: f64,
}

/// One solution as it is kept in a pickle.
type State<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    f64,
    (f64, f64, f64, f64),
    String,
    usize,
    usize,
    Option<f64>,
    Option<NonZeroWeights<'py>>,
);

/// The numbers of features and their weights, for p = 1.
type NonZeroWeights<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, f64>);

fn solution((alpha, omega, intercept, values, end, iterations, passes, _, weights): &State<'_>) -> PyResult<Solution> {
    let (primal, dual, gap, distance) = *values;
    Ok(Solution {
        alpha: alpha.as_array().to_vec(),
        omega: omega.as_array().to_vec(),
        intercept: *intercept,
        weights: weights.as_ref().map(|(features, values)| SparseWeights {
            features: features.as_array().to_vec(),
            values: values.as_array().to_vec(),
        }),
        certificate: Certificate { primal, dual, gap, distance },
        status: end.parse().map_err(exception)?,
        iterations: *iterations,
        passes: *passes,
    })
}

impl Model {
    fn of_each(&self, value: impl Fn(&Solution) -> f64) -> Vec<f64> {
        self.fitted.solutions().iter().map(value).collect()
    }

    pub(crate) fn check(&self, function: usize) -> PyResult<()> {
        let functions = self.fitted.solutions().len();
        if function < functions {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("output = {function}; allowed: 0 to {}", functions - 1)))
    }
}

/// The same, for Python.
type OwnWeights<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

/// The weights that are not 0, for p = 1.
fn nonzero<'py>(py: Python<'py>, solution: &Solution) -> Option<OwnWeights<'py>> {
    let SparseWeights { features, values } = solution.weights.as_ref()?;
    Some((PyArray1::from_slice(py, features), PyArray1::from_slice(py, values)))
}

#[pymethods]
impl Model {
    /// The dual vectors, one row per function.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let solutions = self.fitted.solutions();
        rows(py, solutions.len(), solutions.iter().flat_map(|solution| &solution.alpha).copied().collect())
    }

    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.of_each(|solution| solution.intercept))
    }

    /// The kernel.
    #[getter]
    fn kernel(&self) -> Kernel {
        Kernel { spec: self.spec.values.kernel.clone() }
    }

    /// The number of variables.
    #[getter]
    fn n_features(&self) -> usize {
        self.fitted.plan().shape().inputs
    }

    /// The weights of listed features, one row per function.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let functions = self.fitted.solutions().len();
        let weights = |function: usize| self.fitted.weights(function);
        let all: Option<Vec<Vec<f64>>> = (0..functions).map(weights).collect();
        all.map(|all| rows(py, functions, all.concat())).transpose()
    }

    /// For p = 1 the numbers of the features whose weights are not 0, and these weights, for every function.
    #[getter]
    fn nonzero_weights<'py>(&self, py: Python<'py>) -> Option<Vec<OwnWeights<'py>>> {
        self.fitted.solutions().iter().map(|solution| nonzero(py, solution)).collect()
    }

    #[getter]
    fn relative_gaps(&self) -> Vec<f64> {
        self.of_each(|solution| solution.certificate.relative_gap())
    }

    #[getter]
    fn primal_values(&self) -> Vec<f64> {
        self.of_each(|solution| solution.certificate.primal)
    }

    #[getter]
    fn dual_values(&self) -> Vec<f64> {
        self.of_each(|solution| solution.certificate.dual)
    }

    #[getter]
    fn iterations(&self) -> Vec<usize> {
        self.fitted.solutions().iter().map(|solution| solution.iterations).collect()
    }

    #[getter]
    fn passes(&self) -> Vec<usize> {
        self.fitted.solutions().iter().map(|solution| solution.passes).collect()
    }

    /// How the fit ended; of several functions, the end that is farthest from convergence.
    #[getter]
    fn status(&self) -> &'static str {
        self.fitted.status().name()
    }

    /// Fit, iteration, passes, primal, dual, relative gap.
    #[getter]
    fn history(&self) -> Vec<Record> {
        self.history.clone()
    }

    /// The time that the fit took, without what Python does before and after it.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    #[getter]
    fn route(&self) -> &'static str {
        self.fitted.plan().chosen().name()
    }

    /// What every route would cost, or why it cannot be taken.
    #[getter]
    fn plan(&self) -> String {
        self.fitted.plan().render(&Arguments)
    }

    /// What a fit of these sizes is expected to take.
    #[getter]
    fn expected(&self) -> PyResult<String> {
        let (fit, plan) = (self.spec.fit_with(self.gamma).map_err(exception)?, self.fitted.plan());
        Ok(fit.planned_by(plan, self.fitted.solutions().len(), 1).prediction_here().to_string())
    }

    fn __str__(&self) -> String {
        self.fitted.render(&Arguments)
    }

    /// What it was fitted to: numbers, one row per output, or labels.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match &self.target {
            Target::Numbers(outputs) => rows(py, outputs.len(), outputs.concat())?.into_any(),
            Target::Labels(labels) => PyArray1::from_slice(py, labels).into_any(),
        })
    }

    /// The solutions for other values of C; as `Spec.path`.
    #[pyo3(signature = (Cs, count, progress=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn path<'py>(
        &self,
        py: Python<'py>,
        Cs: Option<Vec<f64>>,
        count: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        path::path(py, &self.spec, &self.table, &self.target, self.weights.clone(), &gammas(Cs, count), progress)
    }

    /// For every output, how far a prediction is off at most in this share of cases.
    fn half_widths(&self, coverage: f64) -> PyResult<Vec<f64>> {
        self.fitted.half_widths(coverage).map_err(exception)
    }

    /// `f(x) + b` at new points, one row per function.
    fn decision<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.spec.running(None).run_over(py, &x, |matrix, _| self.fitted.decisions(matrix))?;
        rows(py, self.fitted.solutions().len(), values)
    }

    /// The numbers that are predicted at new points, one row per function: for counts the means under an exposure, or its logarithm.
    #[pyo3(signature = (x, exposure=None, offset=None))]
    fn responses<'py>(
        &self,
        py: Python<'py>,
        x: Table,
        exposure: Weights<'_>,
        offset: Weights<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let own = (exposure.is_some() || offset.is_some()).then(|| Exposed::new(&exposure, &offset));
        let values = self
            .spec
            .running(None)
            .run_over(py, &x, |matrix, _| self.fitted.responses(matrix, own.as_ref().map(Exposed::exposure)))?;
        rows(py, self.fitted.solutions().len(), values)
    }

    /// The probability of every class at new points, one row per class.
    fn probabilities<'py>(&self, py: Python<'py>, x: Table) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.spec.running(None).run_over(py, &x, |matrix, _| self.fitted.probabilities(matrix))?;
        rows(py, self.fitted.classes().len(), values)
    }

    /// The monomials of the largest weights, and what is proven of them.
    #[pyo3(signature = (function, count, nodes, seconds))]
    fn top<'py>(
        &self,
        py: Python<'py>,
        function: usize,
        count: usize,
        nodes: u64,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.check(function)?;
        let top = self.spec.running(None).run_over(py, &self.table, |matrix, _| {
            let found = self.fitted.function(function, matrix)?.with_memory(self.spec.memory());
            found.top_monomials(count, Budget { nodes, seconds })
        })?;
        let found = PyDict::new(py);
        let of_each = |value: &dyn Fn(&banach::model::TopMonomial) -> f64| {
            PyArray1::from_vec(py, top.entries.iter().map(value).collect())
        };
        let monomials: Vec<_> =
            top.entries.iter().map(|entry| factors(py, &entry.monomial)).collect::<PyResult<_>>()?;
        found.set_item("monomials", monomials)?;
        found.set_item("weights", of_each(&|entry| entry.weight))?;
        found.set_item("coefficients", of_each(&|entry| entry.coefficient))?;
        found.set_item("shares", of_each(&|entry| entry.share.unwrap_or(f64::NAN)))?;
        found.set_item("lower", of_each(&|entry| entry.interval.map_or(f64::NAN, |(lower, _)| lower)))?;
        found.set_item("upper", of_each(&|entry| entry.interval.map_or(f64::NAN, |(_, upper)| upper)))?;
        found.set_item("complete", top.end == banach::model::SearchEnd::Complete)?;
        found.set_item("unlisted", top.unlisted)?;
        found.set_item("set_proven", top.set_proven)?;
        found.set_item("order_proven", top.order_proven)?;
        found.set_item("nodes", top.nodes)?;
        Ok(found)
    }

    /// What the model without each sample predicts for it, one row per function; None where the dual has no curvature, or memory is short.
    fn leave_one_out<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let weights = self.weights.as_deref();
        let found = self.spec.running(None).run_over(py, &self.table, |matrix, _| {
            let fit = self.spec.fit_with(self.gamma)?;
            let (_, outputs) = self.target.outputs(matrix.samples(), fit.loss().targets(), weights)?;
            let prepared = fit.prepare(matrix, outputs.len())?;
            let problems = prepared.problems(&outputs, weights)?;
            let solutions: Vec<_> = self.fitted.solutions().iter().collect();
            let each: Option<Vec<_>> =
                leave_one_out_all(&problems, &solutions, prepared.memory()).into_iter().collect();
            let response = |t: f64| fit.loss().response(t);
            Ok(each.map(|each| each.concat().into_iter().map(response).collect()))
        })?;
        found.map(|found| rows(py, self.fitted.solutions().len(), found)).transpose()
    }

    /// The share of every variable and of every degree.
    fn relevance<'py>(&self, py: Python<'py>, function: usize) -> PyResult<Bound<'py, PyDict>> {
        self.check(function)?;
        let found = self.spec.running(None).run_over(py, &self.table, |matrix, _| {
            self.fitted.function(function, matrix)?.relevance(self.spec.memory())
        })?;
        let shares = PyDict::new(py);
        shares.set_item("variables", PyArray1::from_slice(py, found.variables()))?;
        shares.set_item("degrees", found.degrees())?;
        shares.set_item("rest", found.rest())?;
        shares.set_item("error", found.error())?;
        shares.set_item("norm", found.norm())?;
        Ok(shares)
    }

    /// The share of every pair of some variables, largest first.
    fn pair_shares(
        &self,
        py: Python<'_>,
        function: usize,
        variables: Vec<usize>,
    ) -> PyResult<Vec<(usize, usize, f64)>> {
        self.check(function)?;
        self.spec.running(None).run_over(py, &self.table, |matrix, _| {
            let shares = self.fitted.function(function, matrix)?.pair_shares(&variables, self.spec.memory())?;
            Ok(shares.ranking())
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (py, model) = (slf.py(), slf.get());
        let state = PyDict::new(py);
        state.set_item("spec", model.spec.to_json()?)?;
        state.set_item("C", model.gamma)?;
        state.set_item("x", model.table.to_python(py)?)?;
        state.set_item("targets", model.targets(py)?)?;
        state.set_item("weights", model.weights.as_ref().map(|weights| PyArray1::from_slice(py, weights)))?;
        state.set_item("route", model.route())?;
        state.set_item("history", model.history.clone())?;
        state.set_item("seconds", model.seconds)?;
        let mut solutions = Vec::new();
        for (solution, radius) in model.fitted.solutions().iter().zip(model.fitted.radii()) {
            let Certificate { primal, dual, gap, distance } = solution.certificate;
            let vectors = (PyArray1::from_slice(py, &solution.alpha), PyArray1::from_slice(py, &solution.omega));
            solutions.push((
                vectors.0,
                vectors.1,
                solution.intercept,
                (primal, dual, gap, distance),
                solution.status.name(),
                solution.iterations,
                solution.passes,
                *radius,
                nonzero(py, solution),
            ));
        }
        state.set_item("solutions", solutions)?;
        state.set_item("residuals", model.fitted.residuals().cloned().map(Vec::from))?;
        Ok((slf.get_type().getattr("restore")?, (state,)))
    }

    /// The model that `__reduce__` has taken apart.
    #[staticmethod]
    fn restore(py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let get = |key: &str| {
            let missing = || PyValueError::new_err(format!("a model without {key:?}"));
            state.get_item(key)?.ok_or_else(missing)
        };
        let spec = Spec::from_json(&get("spec")?.extract::<String>()?)?;
        let gamma: f64 = get("C")?.extract()?;
        let table: Table = get("x")?.extract()?;
        let target = get("targets")?.extract::<Targeted<'_>>()?.target();
        let weights = weights(&get("weights")?.extract()?);
        let route: Route = get("route")?.extract::<String>()?.parse().map_err(exception)?;
        let states: Vec<State<'_>> = get("solutions")?.extract()?;
        let solutions: Vec<Solution> = states.iter().map(solution).collect::<PyResult<_>>()?;
        let radii = states.iter().map(|state| state.7).collect();
        let (history, seconds) = (get("history")?.extract()?, get("seconds")?.extract()?);
        let fitted = spec.running(None).run_over(py, &table, |matrix, _| {
            let fit = spec.fit_with(gamma)?;
            let (task, _) = target.outputs(matrix.samples(), fit.loss().targets(), weights.as_deref())?;
            fit.restore(matrix, task, solutions, radii, route)
        })?;
        // Older ones have none.
        let residuals = state.get_item("residuals")?.map(|told| told.extract::<Option<Vec<Vec<f64>>>>()).transpose()?;
        let residuals = residuals.flatten().map(Residuals::new).transpose().map_err(exception)?;
        let fitted = fitted.with_residuals(residuals);
        Ok(Self { spec, gamma, table, target, weights, fitted, history, seconds })
    }
}
