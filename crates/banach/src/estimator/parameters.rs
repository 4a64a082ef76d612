//! Parameters, and the one place where they are checked.

use std::sync::Arc;

use super::{SolverChoice, fitted::Fitted};
use crate::{
    DualProblem, Error, Exponent, FeatureMatrix, Features, Loss, Memory, Observer, Plan, Planner, Predict, QForm,
    Rates, Route, Shape, Solution, Solver, Start, Stopping,
    kernel::{Linear, MonomialScale, TensorKernel},
    loss::Targets,
};

/// What an estimator is told, as it was told.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub p: f64,
    pub gamma: f64,
    pub kernel: Arc<dyn TensorKernel>,
    pub scale: MonomialScale,
    pub loss: Arc<dyn Loss>,
    pub fit_intercept: bool,
    pub stopping: Stopping,
    pub solver: SolverChoice,
    pub route: Option<Route>,
    pub memory: Option<Memory>,
    pub rates: Rates,
}

impl Parameters {
    pub(super) fn new(loss: impl Loss + 'static) -> Self {
        Self {
            p: 4.0 / 3.0,
            gamma: 1.0,
            kernel: Arc::new(Linear),
            scale: MonomialScale::Raw,
            loss: Arc::new(loss),
            fit_intercept: true,
            stopping: Stopping { tolerance: 1e-8, max_iterations: 1000 },
            solver: SolverChoice::Auto,
            route: None,
            memory: None,
            rates: Rates::default(),
        }
    }

    /// The same parameters, found to be in range.
    pub(super) fn check(&self, targets: Targets) -> Result<Checked<'_>, Error> {
        let exponent = Exponent::new(self.p)?;
        if !(self.gamma > 0.0 && self.gamma.is_finite()) {
            return Err(Error::parameter("gamma", self.gamma, "a finite number > 0"));
        }
        self.stopping.check()?;
        self.solver.check()?;
        if self.loss.targets() != targets {
            let allowed = match targets {
                Targets::Real => "a loss for numbers: squared, absolute, epsilon-insensitive, huber or quantile",
                Targets::Signs => "a loss for classes: logistic, hinge or squared hinge",
            };
            return Err(Error::Parameter { name: "loss", got: self.loss.name().to_owned(), allowed });
        }
        Ok(Checked { parameters: self, exponent })
    }
}

/// Parameters in range.
pub(super) struct Checked<'a> {
    parameters: &'a Parameters,
    exponent: Exponent,
}

impl Checked<'_> {
    /// The form of the data, for so many problems at a time.
    pub(super) fn ground<'x>(&self, x: &'x FeatureMatrix<'_>, problems: usize) -> Result<Ground<'x>, Error> {
        let parameters = self.parameters;
        let memory = parameters.memory.unwrap_or_default();
        let plan = self.planned(x, problems)?;
        let form = plan.build(x)?;
        // What the form does not take is left to the solver.
        let rest = Memory::limit(memory.bytes().saturating_sub(plan.cost().bytes));
        let solver = parameters.solver.solver(parameters.stopping, rest);
        let Parameters { gamma, fit_intercept, .. } = *parameters;
        Ok(Ground { plan, form, loss: parameters.loss.clone(), gamma, fit_intercept, rest, solver })
    }

    /// The route that is taken.
    pub(super) fn planned(&self, x: &FeatureMatrix<'_>, problems: usize) -> Result<Plan, Error> {
        let parameters = self.parameters;
        self.plan(x, parameters.memory.unwrap_or_default(), parameters.route, problems)
    }

    fn plan(
        &self,
        x: &FeatureMatrix<'_>,
        memory: Memory,
        route: Option<Route>,
        problems: usize,
    ) -> Result<Plan, Error> {
        let Parameters { rates, scale, ref kernel, .. } = *self.parameters;
        let planner = Planner { rates, memory, scale, problems, route, ..Planner::default() };
        planner.plan(Shape::from(x), kernel.clone(), self.exponent)
    }

    /// One function for every column of targets: plan, form, problems, solutions, model.
    pub(super) fn fit(
        &self,
        x: &FeatureMatrix<'_>,
        outputs: &[&[f64]],
        weights: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fitted, Error> {
        check_lengths(x.samples(), outputs, weights)?;
        let ground = self.ground(x, outputs.len())?;
        let problems = ground.problems(outputs, weights)?;
        let solutions = ground.solver().solve_all(&problems, &vec![Start::Auto; outputs.len()], observer)?;
        let radii =
            problems.iter().zip(&solutions).map(|(problem, found)| problem.radius(&found.certificate)).collect();
        drop(problems);
        let predictor = predictor(&ground.plan, &*ground.form, x, &solutions);
        Ok(Fitted::new(self.summary(), ground.plan, predictor, solutions, radii))
    }

    /// The model of solutions that were found before, by the route that was taken then. A tensor is not stored for it.
    pub(super) fn restore(
        &self,
        x: &FeatureMatrix<'_>,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
        route: Route,
    ) -> Result<Fitted, Error> {
        if solutions.is_empty() {
            return Err(Error::Empty { what: "the solutions" });
        }
        let lengths = solutions.iter().flat_map(|solution| [("alpha", &solution.alpha), ("omega", &solution.omega)]);
        for (what, numbers) in lengths {
            if numbers.len() != x.samples() {
                return Err(Error::Shape { what, got: numbers.len(), expected: x.samples() });
            }
            if let Some(row) = numbers.iter().position(|number| !number.is_finite()) {
                return Err(Error::BadValue { what, row, value: numbers[row], allowed: "finite numbers" });
            }
        }
        if radii.len() != solutions.len() {
            return Err(Error::Shape { what: "the radii", got: radii.len(), expected: solutions.len() });
        }
        let memory = self.parameters.memory.unwrap_or_default();
        // A machine that could not hold the tensor can use the model.
        let without_limit = if route == Route::Gram { Memory::limit(u64::MAX) } else { memory };
        let plan = self.plan(x, without_limit, Some(route), solutions.len())?;
        let light = if route == Route::Gram { Route::Streamed } else { route };
        let predictor = if plan.lists_inputs() {
            linear_predictor(&plan, x, &solutions)
        } else {
            self.plan(x, memory, Some(light), solutions.len())?.build(x)?.predictor(&alphas(&solutions))
        };
        Ok(Fitted::new(self.summary(), plan, predictor, solutions, radii))
    }

    fn summary(&self) -> String {
        format!("{} loss, gamma = {}", self.parameters.loss.name(), self.parameters.gamma)
    }
}

/// The functions of solutions. A linear model predicts by its weights, also where the tensor was the cheaper way to fit it.
fn predictor(plan: &Plan, form: &dyn QForm, x: &FeatureMatrix<'_>, solutions: &[Solution]) -> Box<dyn Predict> {
    if plan.lists_inputs() { linear_predictor(plan, x, solutions) } else { form.predictor(&alphas(solutions)) }
}

fn linear_predictor(plan: &Plan, x: &FeatureMatrix<'_>, solutions: &[Solution]) -> Box<dyn Predict> {
    Features::new(x.view(), plan.exponent()).predictor(&alphas(solutions))
}

fn alphas(solutions: &[Solution]) -> Vec<f64> {
    solutions.iter().flat_map(|solution| &solution.alpha).copied().collect()
}

/// Parameters and data, ready for problems: the form by the route that was planned, the loss and the solver. For paths,
/// cross-validation and selection; [`fit`](crate::Regressor::fit) needs none of it.
#[derive(Debug)]
pub struct Ground<'x> {
    plan: Plan,
    form: Box<dyn QForm + 'x>,
    loss: Arc<dyn Loss>,
    gamma: f64,
    fit_intercept: bool,
    rest: Memory,
    solver: Box<dyn Solver>,
}

impl Ground<'_> {
    /// The problems of several targets, with `gamma_i = gamma * weights_i`.
    pub fn problems<'a>(
        &'a self,
        outputs: &[&'a [f64]],
        weights: Option<&[f64]>,
    ) -> Result<Vec<DualProblem<'a>>, Error> {
        check_lengths(self.form.samples(), outputs, weights)?;
        let problem = |y: &'a [f64]| -> Result<DualProblem<'a>, Error> {
            let problem = DualProblem::new(&*self.form, &*self.loss, y, self.gamma)?;
            let problem = if let Some(weights) = weights { problem.with_sample_weights(weights)? } else { problem };
            if self.fit_intercept { problem.with_intercept() } else { Ok(problem) }
        };
        outputs.iter().map(|y| problem(y)).collect()
    }

    /// The algorithm that was chosen, with what memory the form has left.
    pub fn solver(&self) -> &dyn Solver {
        &*self.solver
    }

    /// The route that is taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The memory that the form has left.
    pub fn memory(&self) -> Memory {
        self.rest
    }
}

/// Wrong lengths are found before anything is built.
fn check_lengths(samples: usize, outputs: &[&[f64]], weights: Option<&[f64]>) -> Result<(), Error> {
    if outputs.is_empty() {
        return Err(Error::Empty { what: "y" });
    }
    let lengths = outputs.iter().map(|y| ("y", y.len())).chain(weights.map(|weights| ("sample_weight", weights.len())));
    match { lengths }.find(|(_, length)| *length != samples) {
        Some((what, got)) => Err(Error::Shape { what, got, expected: samples }),
        None => Ok(()),
    }
}

/// The parameters that all estimators have, as methods of a builder with the field `parameters`.
macro_rules! parameters {
    () => {
        /// The exponent of the regulariser, 1 < p <= 2; 4/3 unless told otherwise. Nearer to 1, fewer features matter.
        #[must_use]
        pub fn p(mut self, p: f64) -> Self {
            self.parameters.p = p;
            self
        }

        /// The weight of the loss, gamma > 0; 1 unless told otherwise. The larger, the closer the fit.
        #[must_use]
        pub fn gamma(mut self, gamma: f64) -> Self {
            self.parameters.gamma = gamma;
            self
        }

        /// The tensor kernel; the linear one, whose features are the variables, unless told otherwise.
        #[must_use]
        pub fn kernel(mut self, kernel: impl TensorKernel + 'static) -> Self {
            self.parameters.kernel = Arc::new(kernel);
            self
        }

        /// The scale of the kernel's monomials; raw unless told otherwise.
        #[must_use]
        pub fn monomials(mut self, scale: MonomialScale) -> Self {
            self.parameters.scale = scale;
            self
        }

        /// The loss; an `Arc<dyn Loss>` where its type is known only when the program runs.
        #[must_use]
        pub fn loss(mut self, loss: impl Loss + 'static) -> Self {
            self.parameters.loss = Arc::new(loss);
            self
        }

        /// Whether a constant without penalty is part of the model; true unless told otherwise.
        #[must_use]
        pub fn fit_intercept(mut self, fit_intercept: bool) -> Self {
            self.parameters.fit_intercept = fit_intercept;
            self
        }

        /// The relative duality gap to reach; 1e-8 unless told otherwise.
        #[must_use]
        pub fn tolerance(mut self, tolerance: f64) -> Self {
            self.parameters.stopping.tolerance = tolerance;
            self
        }

        /// The most iterations; 1000 unless told otherwise.
        #[must_use]
        pub fn max_iterations(mut self, max_iterations: usize) -> Self {
            self.parameters.stopping.max_iterations = max_iterations;
            self
        }

        /// The algorithm; Newton's method unless told otherwise.
        #[must_use]
        pub fn solver(mut self, solver: SolverChoice) -> Self {
            self.parameters.solver = solver;
            self
        }

        /// The route to take; `None`, the cheapest that can be taken, unless told otherwise.
        #[must_use]
        pub fn route(mut self, route: impl Into<Option<Route>>) -> Self {
            self.parameters.route = route.into();
            self
        }

        /// The memory that the fit may take, besides the data; 80 % of what is available unless told otherwise.
        #[must_use]
        pub fn memory(mut self, memory: Memory) -> Self {
            self.parameters.memory = Some(memory);
            self
        }

        /// How fast the machine is, which decides between routes; see [`Rates::measure`].
        #[must_use]
        pub fn rates(mut self, rates: Rates) -> Self {
            self.parameters.rates = rates;
            self
        }
    };
}

pub(super) use parameters;
