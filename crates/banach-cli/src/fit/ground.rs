//! What models are fitted to: the table as it was read, what is to be predicted, and the way to a solution.

use std::{path::Path, sync::Arc};

use banach::{
    Account, DualModel, DualProblem, FeatureMatrix, Folds, Plan, Planner, QForm, Shape, Solution, Solver, SolverChoice,
    Status, Stopping, Taken,
    kernel::{KernelSpec, TensorKernel, cardinality},
};
use banach_io::{Dataset, Standardization};

use super::{
    args::{Columns, Model, Running},
    read, resolve,
    resolve::Goal,
    result::{self, Categorical, Class, Data, Imputed, Route, RouteCost, Variable},
};
use crate::options::Common;

/// What the result says of a variable, and how columns were scaled.
const VARIABLE: u64 = 160;

/// What a page takes whatever is on it, and for every variable.
const PAGE: u64 = 5 << 20;
const PAGE_VARIABLE: u64 = 600;

pub(crate) struct Ground {
    pub data: Dataset,
    pub goal: Goal,
    pub standardization: Option<Standardization>,
    pub kernel_spec: KernelSpec,
    pub kernel: Arc<dyn TensorKernel>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What the command may keep, and the table takes of it.
    pub account: Account,
    _table: Taken,
}

impl Ground {
    /// Reads the table and standardises it. A wrong parameter of the kernel does not cost the reading.
    pub(crate) fn read(path: &Path, columns: &Columns, model: &Model, account: Account) -> anyhow::Result<Self> {
        let kernel_spec = resolve::kernel(model)?;
        let kernel = kernel_spec.build()?;
        let mut data = read::read(path, columns, account.left())?;
        // The table stays; constant columns keep their place in memory. Every variable is described once more in the result.
        let bytes = data.bytes().saturating_add(VARIABLE * data.table.names().len() as u64);
        let table = account.take(bytes).map_err(|short| short.error("the table", "name the columns that matter"))?;
        let goal = Goal::new(&data, model)?;
        let mut notes = read::notes(&data);
        let standardization = (!columns.no_standardize).then(|| data.table.standardize());
        notes.extend(standardization.iter().flat_map(read::standardized));
        anyhow::ensure!(!data.table.names().is_empty(), "every column beside the target is constant; name others");
        Ok(Self { data, goal, standardization, kernel_spec, kernel, notes, account, _table: table })
    }

    pub(crate) fn matrix(&self) -> Result<FeatureMatrix<'_>, banach::Error> {
        read::matrix(&self.data.table)
    }

    pub(crate) fn rows(&self) -> usize {
        self.data.table.rows()
    }

    /// The route to so many fits of every function.
    pub(crate) fn plan(
        &self,
        x: &FeatureMatrix<'_>,
        model: &Model,
        running: &Running,
        fits: usize,
    ) -> Result<Plan, banach::Error> {
        let planner = Planner {
            memory: self.account.left(),
            scale: model.monomials,
            problems: self.goal.functions.len() * fits,
            route: running.route,
            ..Planner::default()
        };
        planner.plan(Shape::from(x), self.kernel.clone(), model.p)
    }

    /// Says before it starts that a fit for so many values of gamma will take long.
    pub(crate) fn warn_of_time(plan: &Plan, gammas: usize, common: &Common) {
        if let Some(long) = plan.long_fit(gammas) {
            common.say(format_args!(
                "note: {long}; a lower --degree, fewer columns (--features), fewer rows or fewer gammas and folds take less"
            ));
        }
    }

    /// What a page will take, which is held from the beginning, so that a long fit does not end without one.
    pub(crate) fn page(&self, wanted: bool) -> Result<Taken, banach::Error> {
        let bytes = if wanted { PAGE + PAGE_VARIABLE * self.data.table.names().len() as u64 } else { 0 };
        self.account.take(bytes).map_err(|short| short.error("the page, with the table,", "leave --report out"))
    }

    /// The form that was planned, and what it takes.
    pub(crate) fn form<'x>(
        &self,
        plan: &Plan,
        x: &'x FeatureMatrix<'_>,
    ) -> Result<(Box<dyn QForm + 'x>, Taken), banach::Error> {
        let taken =
            self.account.take(plan.cost().bytes).map_err(|short| short.error("the form", "take another route"))?;
        Ok((plan.build(x)?, taken))
    }

    /// The solver, to which is left what the form does not take.
    pub(crate) fn solver(&self, running: &Running, choice: SolverChoice) -> Box<dyn Solver> {
        let stopping = Stopping { tolerance: running.tolerance, max_iterations: running.max_iterations };
        choice.solver(stopping, self.account.left())
    }

    /// The problem of every function.
    pub(crate) fn problems<'a>(
        &'a self,
        form: &'a dyn QForm,
        model: &Model,
        gamma: f64,
    ) -> Result<Vec<DualProblem<'a>>, banach::Error> {
        let problem = |function: &'a resolve::Function| {
            let problem = DualProblem::new(form, &*self.goal.loss, &function.y, gamma)?;
            if model.no_intercept { Ok(problem) } else { problem.with_intercept() }
        };
        self.goal.functions.iter().map(problem).collect()
    }

    /// Random folds, with every class spread evenly.
    pub(crate) fn folds(&self, count: usize, seed: u64) -> Result<Folds, banach::Error> {
        match self.goal.strata() {
            Some(labels) => Folds::stratified(&labels, count, seed),
            None => Folds::shuffled(self.rows(), count, seed),
        }
    }

    /// What a function is made of.
    pub(crate) fn described<'a>(
        &self,
        x: &'a FeatureMatrix<'_>,
        model: &Model,
        problem: &DualProblem<'_>,
        solution: &Solution,
    ) -> Result<DualModel<'a>, banach::Error> {
        let described = DualModel::new(x.view(), self.kernel.clone(), model.p, &solution.alpha)?
            .with_scale(model.monomials)
            .with_omega(&solution.omega)?
            .with_memory(self.account.left());
        match problem.radius(&solution.certificate).filter(|radius| radius.is_finite()) {
            Some(radius) => described.with_radius(radius),
            None => Ok(described),
        }
    }

    /// What was read.
    pub(crate) fn data(&self) -> Data {
        let Self { data, standardization, .. } = self;
        let standardization = standardization.as_ref();
        let variable = |(at, name): (usize, &String)| Variable {
            name: name.clone(),
            mean: standardization.map_or(0.0, |done| done.means[at]),
            deviation: standardization.map_or(1.0, |done| done.deviations[at]),
        };
        let classes = self.goal.classes.as_ref().map(|classes| {
            let labels = classes.labels.iter().cloned().zip(classes.counts());
            labels.map(|(label, rows)| Class { label, rows }).collect()
        });
        Data {
            file: data.file.clone(),
            rows: data.table.rows(),
            columns: data.columns,
            target: data.target.name().to_owned(),
            task: if classes.is_some() { "classification" } else { "regression" },
            classes,
            variables: data.table.names().iter().enumerate().map(variable).collect(),
            standardized: standardization.is_some(),
            centred: standardization.is_some_and(|done| done.centred),
            sparse: data.table.is_sparse(),
            imputed: data.fills.iter().map(Imputed::from).collect(),
            dropped: data.dropped,
            categorical: { data.encodings.iter() }
                .map(|column| Categorical { column: column.column.clone(), labels: column.labels.clone() })
                .collect(),
            constant: standardization.map_or_else(Vec::new, |done| done.constant.clone()),
        }
    }

    /// The model as it was asked for, with the gamma that was chosen if it is one.
    pub(crate) fn model(&self, model: &Model, gamma: Option<f64>) -> result::Model {
        let (kernel, variables) = (&*self.kernel, self.data.table.names().len());
        result::Model {
            kernel: kernel.name(),
            min_degree: kernel.degrees().0,
            max_degree: kernel.degrees().1,
            features: cardinality(kernel, variables).and_then(|count| count.to_string().parse().ok()),
            monomials: model.monomials.name(),
            p: model.p.p(),
            q: model.p.q(),
            loss: self.goal.loss.name(),
            gamma,
            intercept: !model.no_intercept,
        }
    }
}

/// What was planned; with the whole table where it was asked for.
pub(crate) fn route(plan: &Plan, explain: bool) -> Route {
    let candidate = |candidate: &banach::RoutePlan| {
        let cost = candidate.outcome.as_ref().ok();
        RouteCost {
            route: candidate.route.name(),
            seconds: cost.map(|cost| cost.total),
            bytes: cost.map(|cost| cost.bytes),
            refused: candidate.outcome.as_ref().err().map(ToString::to_string),
        }
    };
    Route {
        chosen: plan.chosen().name(),
        candidates: plan.routes().iter().map(candidate).collect(),
        table: explain.then(|| plan.explain()),
    }
}

/// The end that is farthest from convergence.
pub(crate) fn worst<'a>(solutions: impl Iterator<Item = &'a Solution>) -> Status {
    let order = [Status::Converged, Status::Rounding, Status::Stalled, Status::IterationLimit, Status::Interrupted];
    let rank = |status: Status| order.iter().position(|known| *known == status).unwrap_or(0);
    order[solutions.map(|solution| rank(solution.status)).max().unwrap_or(0)]
}
