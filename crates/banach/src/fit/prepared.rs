//! A spec in range, and the data in the form of the planned route.

use std::sync::Arc;

use super::{Model, Spec, Target, Task, model::function_of};
use crate::{
    Account, DualProblem, Error, Exponent, FeatureMatrix, Loss, Memory, Observer, Planner, QForm, Route, Solution,
    Solver, Status, Stopping,
    data::ExcludedProducts,
    error::{Parameter, Remedy},
    form::{Endpoint, Features, Plan, Predict, Shape, SparseWeights},
    kernel::TensorKernel,
    memory::Taken,
    model::DualModel,
    problem::check_gamma,
    solver::{GammaGrid, Progress, Start, WorkingSets, path},
};

/// A relative gap beyond which a stalled fit is worth another start.
const FAR: f64 = 1e-3;
/// The steps from a smaller gamma from which such a fit is followed, and the factor of a step.
const STEPS: i32 = 10;
const STEP: f64 = 3.0;

/// A [`Spec`] that was found to be in range, with its kernel and its loss.
///
/// Kernels and losses that are not part of the library take the place of those of the spec.
///
/// ```
/// use std::sync::Arc;
/// use banach::{FeatureMatrix, Fit, Spec, Unobserved, kernel::Anova};
///
/// let x = FeatureMatrix::from_rows(3, 2, &[1.0, 0.5, -0.3, 2.0, 0.7, -1.0])?;
/// let fit = Fit::new(&Spec::default())?.with_kernel(Arc::new(Anova::new(1, 2)?));
/// let model = fit.run(&x, &(&[1.0, 2.0, -1.0]).into(), None, &mut Unobserved)?;
/// assert_eq!(model.solutions().len(), 1);
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fit {
    spec: Spec,
    exponent: Exponent,
    kernel: Arc<dyn TensorKernel>,
    loss: Arc<dyn Loss>,
    account: Account,
}

impl Fit {
    /// The parameters, if all of them are in range. The fit may take 80 % of the memory that is free now, besides the data.
    pub fn new(spec: &Spec) -> Result<Self, Error> {
        Self::within(spec, Account::new(Memory::available()))
    }

    /// The same with an account that the fit takes its memory from.
    pub fn within(spec: &Spec, account: Account) -> Result<Self, Error> {
        let exponent = Exponent::of_penalty(spec.p)?;
        check_gamma(spec.gamma)?;
        spec.stopping().check()?;
        spec.solver.check()?;
        spec.solver.check_for(exponent)?;
        Ok(Self { exponent, kernel: spec.kernel.build()?, loss: spec.loss.build()?, account, spec: spec.clone() })
    }

    /// The same fit with other parameters and their kernel. A loss that was given to it and the account stay.
    pub(super) fn with_spec(&self, spec: &Spec) -> Result<Self, Error> {
        Ok(Self { loss: self.loss.clone(), ..Self::within(spec, self.account.clone())? })
    }

    /// Another kernel than that of the spec.
    #[must_use]
    pub fn with_kernel(self, kernel: Arc<dyn TensorKernel>) -> Self {
        Self { kernel, ..self }
    }

    /// Another loss than that of the spec.
    #[must_use]
    pub fn with_loss(self, loss: Arc<dyn Loss>) -> Self {
        Self { loss, ..self }
    }

    /// The parameters.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The exponent p and its conjugate.
    pub fn exponent(&self) -> Exponent {
        self.exponent
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<dyn TensorKernel> {
        &self.kernel
    }

    /// The account that it takes its memory from.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The loss.
    pub fn loss(&self) -> &Arc<dyn Loss> {
        &self.loss
    }

    /// The function of a solution, by its dual vector and the samples. Its searches may take what memory is left.
    pub fn function<'x>(
        &self,
        x: FeatureMatrix<'x>,
        solution: &Solution,
        radius: Option<f64>,
    ) -> Result<DualModel<'x>, Error> {
        let (kernel, exponent, monomial_scale) = (self.kernel.clone(), self.exponent, self.spec.monomials);
        let excluded = self.excluded(&x);
        let x = x.with_excluded(excluded);
        Ok(function_of(kernel, exponent, monomial_scale, x, solution, radius)?.with_memory(self.account.left()))
    }

    /// The cost of every route to the data, for this many problems at a time, and the route that would be taken.
    pub fn plan(&self, x: &FeatureMatrix<'_>, problems: usize) -> Result<Plan, Error> {
        self.plan_route(x, self.account.left(), self.spec.route, problems)
    }

    /// The products of columns that are no monomials.
    fn excluded(&self, x: &FeatureMatrix<'_>) -> Option<Arc<ExcludedProducts>> {
        self.spec.interactions.excluded(x, self.kernel.degrees().1)
    }

    fn plan_route(
        &self,
        x: &FeatureMatrix<'_>,
        memory: Memory,
        route: Option<Route>,
        problems: usize,
    ) -> Result<Plan, Error> {
        let monomial_scale = self.spec.monomials;
        let excluded = self.excluded(x);
        let planner = Planner { monomial_scale, problems, route, excluded, ..Planner::within(memory) };
        planner.plan(Shape::from(x), self.kernel.clone(), self.exponent)
    }

    /// The data in the form of the planned route, for this many problems at a time.
    pub fn prepare<'x>(&self, x: &'x FeatureMatrix<'_>, problems: usize) -> Result<Prepared<'x>, Error> {
        let plan = self.plan(x, problems)?;
        let taken = self
            .account
            .take(plan.cost().bytes)
            .map_err(|short| short.error("the form", &[Remedy::Change(Parameter::Route)]))?;
        let form = plan.build(x)?;
        Ok(Prepared { fit: self.clone(), plan, form, solver: self.solver(), _taken: taken })
    }

    /// The algorithm. The memory that is left when the form has taken its own is the solver's.
    fn solver(&self) -> Box<dyn Solver> {
        let (stopping, memory) = (self.spec.stopping(), self.account.left());
        if self.exponent.is_endpoint() {
            Box::new(WorkingSets { stopping, memory })
        } else {
            self.spec.solver.solver(stopping, memory)
        }
    }

    /// The model of the targets, with optional weights of samples, watched by an observer that may end it.
    /// [`Progress::problem`](crate::solver::Progress::problem) is the number of the function.
    pub fn run(
        &self,
        x: &FeatureMatrix<'_>,
        y: &Target<'_>,
        sample_weight: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Model, Error> {
        let (task, outputs) = y.outputs(x.samples(), self.loss.targets(), sample_weight)?;
        let prepared = self.prepare(x, outputs.len())?;
        let problems = prepared.problems(&outputs, sample_weight)?;
        let solutions = prepared.solve(&problems, observer)?;
        Ok(prepared.model(x, task, &problems, solutions))
    }

    /// The model with the [solutions](Model::solutions) and [radii](Model::radii) of an earlier fit to the same samples, by the route that
    /// it took. Nothing is fitted again, and no tensor is stored.
    pub fn restore(
        &self,
        x: &FeatureMatrix<'_>,
        task: Task,
        solutions: Vec<Solution>,
        radii: Vec<Option<f64>>,
        route: Route,
    ) -> Result<Model, Error> {
        check_found(x.samples(), &task, &solutions, &radii)?;
        let memory = self.account.left();
        if self.exponent.is_endpoint() {
            let plan = self.plan_route(x, memory, Some(route), solutions.len())?;
            let x = x.view().with_excluded(plan.excluded().cloned());
            let form = Endpoint::new(x, self.kernel.clone(), self.spec.monomials)?;
            check_weights(&form, &solutions)?;
            let functions = form.functions(&weights(&solutions));
            return Ok(Model::new(self, task, plan, functions, solutions, radii));
        }
        // A machine that could not hold the tensor can use the model.
        let without_limit = if route == Route::Gram { Memory::limit(u64::MAX) } else { memory };
        let plan = self.plan_route(x, without_limit, Some(route), solutions.len())?;
        let light = if route == Route::Gram { Route::Streamed } else { route };
        let predictor = if plan.lists_inputs() {
            linear_predictor(&plan, x, &solutions)
        } else {
            self.plan_route(x, memory, Some(light), solutions.len())?.build(x)?.predictor(&alphas(&solutions))
        };
        Ok(Model::new(self, task, plan, predictor, solutions, radii))
    }
}

impl Spec {
    pub(super) fn stopping(&self) -> Stopping {
        Stopping { tolerance: self.tolerance, max_iterations: self.max_iterations }
    }
}

/// A fit with the data in the form of the planned route, ready for problems: for paths and cross-validation.
#[derive(Debug)]
pub struct Prepared<'x> {
    fit: Fit,
    plan: Plan,
    form: Box<dyn QForm + 'x>,
    solver: Box<dyn Solver>,
    _taken: Taken,
}

impl Prepared<'_> {
    /// The problems of several targets, with `gamma_i = gamma * sample_weight_i`.
    pub fn problems<'a>(
        &'a self,
        outputs: &'a [impl AsRef<[f64]>],
        sample_weight: Option<&[f64]>,
    ) -> Result<Vec<DualProblem<'a>>, Error> {
        let Spec { gamma, fit_intercept, .. } = self.fit.spec;
        let problem = |y: &'a [f64]| -> Result<DualProblem<'a>, Error> {
            let problem = DualProblem::new(&*self.form, &*self.fit.loss, y, gamma)?;
            let problem = match sample_weight {
                Some(weights) => problem.with_sample_weights(weights)?,
                None => problem,
            };
            if fit_intercept { problem.with_intercept() } else { Ok(problem) }
        };
        outputs.iter().map(|y| problem(y.as_ref())).collect()
    }

    /// The model of the solutions to problems over all samples `x`.
    pub fn model(
        &self,
        x: &FeatureMatrix<'_>,
        task: Task,
        problems: &[DualProblem<'_>],
        solutions: Vec<Solution>,
    ) -> Model {
        let found = problems.iter().zip(&solutions);
        let radii = found.map(|(problem, solution)| problem.radius(&solution.alpha, &solution.certificate)).collect();
        let functions = self.functions(x, &solutions);
        Model::new(&self.fit, task, self.plan.clone(), functions, solutions, radii)
    }

    /// The functions of solutions to problems over all samples `x`, without their intercepts.
    pub fn functions(&self, x: &FeatureMatrix<'_>, solutions: &[Solution]) -> Box<dyn Predict> {
        // A linear model predicts by its weights, also where the tensor was the cheaper way to fit it.
        if let Some(form) = self.form.endpoint() {
            form.functions(&weights(solutions))
        } else if self.plan.lists_inputs() {
            linear_predictor(&self.plan, x, solutions)
        } else {
            self.form.predictor(&alphas(solutions))
        }
    }

    /// The solutions of problems over all samples. One that ends far from its optimum for want of a good start is begun again at a much smaller
    /// gamma, and followed from there.
    pub fn solve(&self, problems: &[DualProblem<'_>], observer: &mut dyn Observer) -> Result<Vec<Solution>, Error> {
        let mut solutions = self.solver.solve_all(problems, &vec![Start::Auto; problems.len()], observer)?;
        for (place, (problem, solution)) in problems.iter().zip(&mut solutions).enumerate() {
            if solution.status != Status::Stalled || solution.certificate.relative_gap() < FAR {
                continue;
            }
            let smaller = (0..=STEPS).map(|step| problem.gamma() * STEP.powi(step - STEPS));
            let grid = GammaGrid::new(smaller.filter(|gamma| gamma.is_normal()).collect())?;
            let mut of_problem = |progress: &Progress| observer.observe(&Progress { problem: place, ..*progress });
            let last = path(problem, &grid, &*self.solver, &mut of_problem)?.solutions.pop();
            if let Some(last) = last.filter(|last| last.certificate.gap < solution.certificate.gap) {
                *solution = last;
            }
        }
        Ok(solutions)
    }

    /// Fits end at another relative duality gap from now on.
    pub(super) fn set_tolerance(&mut self, tolerance: f64) {
        self.fit.spec.tolerance = tolerance;
        self.solver = self.fit.solver();
    }

    /// The algorithm that was chosen, within the memory that the form has left.
    pub fn solver(&self) -> &dyn Solver {
        &*self.solver
    }

    /// The route that is taken, and why.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The memory that the form has left.
    pub fn memory(&self) -> Memory {
        self.fit.account.left()
    }
}

fn linear_predictor(plan: &Plan, x: &FeatureMatrix<'_>, solutions: &[Solution]) -> Box<dyn Predict> {
    Features::new(x.view(), plan.exponent()).predictor(&alphas(solutions))
}

/// The weights of solutions for p = 1.
fn weights(solutions: &[Solution]) -> Vec<&SparseWeights> {
    solutions.iter().filter_map(|solution| solution.weights.as_ref()).collect()
}

/// Whether solutions for p = 1 that were found before have weights, and those are of features.
fn check_weights(form: &Endpoint<'_>, solutions: &[Solution]) -> Result<(), Error> {
    let each = solutions.iter().map(|solution| match &solution.weights {
        Some(weights) => form.check(weights),
        None => Err(Error::Empty { what: "the weights for p = 1" }),
    });
    { each }.collect()
}

fn alphas(solutions: &[Solution]) -> Vec<f64> {
    solutions.iter().flat_map(|solution| &solution.alpha).copied().collect()
}

/// Whether solutions that were found before go together with the samples and with each other.
fn check_found(samples: usize, task: &Task, solutions: &[Solution], radii: &[Option<f64>]) -> Result<(), Error> {
    if let Task::Classes(classes) = task
        && (classes.len() < 2 || !classes.is_sorted_by(|a, b| a < b))
    {
        return Err(Error::Shape { what: "the classes in increasing order", got: classes.len(), expected: 2 });
    }
    if solutions.is_empty() {
        return Err(Error::Empty { what: "the solutions" });
    }
    for (what, got, expected) in
        [("the solutions", solutions.len(), task.functions()), ("the radii", radii.len(), solutions.len())]
    {
        if got != expected {
            return Err(Error::Shape { what, got, expected });
        }
    }
    let vectors = solutions.iter().flat_map(|solution| [("alpha", &solution.alpha), ("omega", &solution.omega)]);
    for (what, numbers) in vectors {
        if numbers.len() != samples {
            return Err(Error::Shape { what, got: numbers.len(), expected: samples });
        }
        if let Some(row) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Error::BadValue { what, row, value: numbers[row], allowed: "finite numbers" });
        }
    }
    Ok(())
}
