//! `banach fit`: read, resolve, plan, validate, solve, describe, print.

pub(crate) mod args;
mod describe;
mod held_out;
mod interrupt;
pub(crate) mod read;
mod report;
mod resolve;
pub(crate) mod result;
mod save;
pub(crate) mod text;
mod validate;

use banach::{
    DualProblem, Folds, GammaGrid, Memory, Newton, Plan, Planner, Shape, Solution, Solver, Start, Status, Stopping,
    kernel::{TensorKernel, cardinality},
};
use banach_io::{Dataset, Standardization};

use self::{
    args::Fit,
    describe::Described,
    interrupt::Phase,
    resolve::Goal,
    result::{Categorical, Class, Data, Fitted, Imputed, Model, Route, RouteCost, Variable},
    validate::Validation,
};
use crate::print;

/// The values of gamma that are tried.
const GAMMAS: usize = 20;

/// The folds unless told otherwise.
const FOLDS: usize = 5;

pub(crate) fn fit(fit: &Fit, command: &str) -> anyhow::Result<u8> {
    let memory = fit.running.memory_limit.map_or_else(Memory::available, Memory::limit);
    let kernel_spec = resolve::kernel(&fit.model)?;
    let kernel = kernel_spec.build()?;
    fit.output.as_deref().map(|path| save::check(path, &fit.data)).transpose()?;
    let mut data = read::read(fit, memory)?;
    // The table stays; constant columns keep their place in memory.
    let memory = Memory::limit(memory.bytes().saturating_sub(data.table.bytes() as u64));
    let goal = Goal::new(&data, &fit.model)?;
    let mut notes = read::notes(&data);
    let standardization = (!fit.columns.no_standardize).then(|| data.table.standardize());
    notes.extend(standardization.iter().flat_map(read::standardized));
    anyhow::ensure!(!data.table.names().is_empty(), "every column beside the target is constant; name others");

    let (rows, variables) = (data.table.rows(), data.table.names().len());
    let x = read::matrix(&data.table)?;
    let folds = folds(fit, &goal, rows)?;
    interrupt::install()?;
    let planner = Planner {
        memory,
        scale: fit.model.monomials,
        problems: goal.functions.len() * folds.as_ref().map_or(1, Folds::count),
        route: fit.running.route,
        ..Planner::default()
    };
    let plan = planner.plan(Shape::from(&x), kernel.clone(), fit.model.p)?;
    let form = plan.build(&x)?;
    let stopping = Stopping { tolerance: fit.running.tolerance, max_iterations: fit.running.max_iterations };
    // What the form does not take is left to the solver.
    let rest = Memory::limit(memory.bytes().saturating_sub(plan.cost().bytes));
    let solver = Newton { stopping, memory: rest };

    let problem = |y| -> Result<DualProblem<'_>, banach::Error> {
        let problem = DualProblem::new(&*form, &*goal.loss, y, fit.choice.gamma.unwrap_or(1.0))?;
        if fit.model.no_intercept { Ok(problem) } else { problem.with_intercept() }
    };
    let problems: Vec<DualProblem<'_>> =
        goal.functions.iter().map(|function| problem(&function.y)).collect::<Result<_, _>>()?;
    let (gamma, validation) = choose_gamma(fit, &goal, &problems, folds.as_ref(), &solver, &mut notes)?;
    let problems: Vec<DualProblem<'_>> =
        problems.iter().map(|problem| problem.with_gamma(gamma)).collect::<Result<_, _>>()?;
    let (solutions, histories) = solve(fit, &problems, &solver)?;

    let described = Described { fit, data: &data, goal: &goal, standardization: standardization.as_ref(), x: &x };
    if let Some(path) = &fit.output {
        // Before the tables, which may take longer than the fit.
        described.save(path, kernel_spec, gamma, plan.chosen(), &problems, &solutions)?;
    }
    let described = described.functions(&kernel, (&problems, &solutions, &histories), &solver, rest, &mut notes)?;
    let worst = worst(&solutions);
    let fitted = Fitted {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: data_of(&data, &goal, standardization.as_ref()),
        model: Model {
            kernel: kernel.name(),
            min_degree: kernel.degrees().0,
            max_degree: kernel.degrees().1,
            features: cardinality(&*kernel, variables).and_then(|count| count.to_string().parse().ok()),
            monomials: fit.model.monomials.name(),
            p: fit.model.p.p(),
            q: fit.model.p.q(),
            loss: goal.loss.name(),
            gamma,
            intercept: !fit.model.no_intercept,
        },
        route: route_of(&plan, fit.tables.explain),
        validation,
        status: worst.name(),
        functions: described,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes,
    };
    if let Some(path) = &fit.tables.report {
        report::write(path, &fitted)?;
    }
    print::out(&if fit.tables.json { print::json(&fitted)? } else { text::page(&fitted, fit) })?;
    let done = worst == Status::Converged && !interrupt::pressed();
    Ok(u8::from(!done))
}

fn folds(fit: &Fit, goal: &Goal, rows: usize) -> anyhow::Result<Option<Folds>> {
    let count = match (fit.choice.cv, fit.choice.gamma) {
        (Some(count), _) => count,
        (None, Some(_)) => return Ok(None),
        (None, None) => FOLDS.min(rows),
    };
    Ok(Some(any_folds(goal, rows, count, fit.running.seed)?))
}

/// Random folds, with every class spread evenly.
fn any_folds(goal: &Goal, rows: usize, count: usize, seed: u64) -> Result<Folds, banach::Error> {
    match goal.strata() {
        Some(labels) => Folds::stratified(&labels, count, seed),
        None => Folds::shuffled(rows, count, seed),
    }
}

fn choose_gamma(
    fit: &Fit,
    goal: &Goal,
    problems: &[DualProblem<'_>],
    folds: Option<&Folds>,
    solver: &Newton,
    notes: &mut Vec<String>,
) -> anyhow::Result<(f64, Option<Validation>)> {
    let (Some(folds), given) = (folds, fit.choice.gamma) else {
        return Ok((fit.choice.gamma.unwrap_or(1.0), None));
    };
    let grid = match given {
        Some(gamma) => GammaGrid::new(vec![gamma])?,
        None => GammaGrid::from_data(&problems[0], GAMMAS)?,
    };
    let gammas = grid.values();
    let mut phase = phase(fit, "cross-validation", gammas.len() * folds.count() * problems.len());
    let (classes, one_se) = (goal.classes.as_ref(), fit.choice.one_se);
    let validation = Validation::run(problems, classes, &grid, folds, one_se, (solver, &mut phase))?;
    let gamma = validation.taken().map_or(gammas[gammas.len() / 2], |taken| taken.gamma);
    if validation.taken().is_none() {
        notes.push("no gamma was validated: the one in the middle of the grid is taken".to_owned());
    } else if interrupt::pressed() {
        notes.push("the cross-validation was interrupted: gamma is the best of those that were finished".to_owned());
    } else if validation.unconverged() > 0 {
        let (failed, all) = (validation.unconverged(), validation.fits * gammas.len());
        notes.push(format!("{failed} of the {all} fits of the cross-validation did not converge"));
    }
    if validation.at_end && !interrupt::pressed() {
        notes.push("the best gamma is at an end of the grid; a given --gamma beyond it may be better".to_owned());
    }
    Ok((gamma, Some(validation)))
}

fn phase(fit: &Fit, what: &str, fits: usize) -> Phase {
    Phase::begin(what, fits, fit.running.tolerance, fit.running.quiet)
}

/// Every function, and what its fit went through.
fn solve(
    fit: &Fit,
    problems: &[DualProblem<'_>],
    solver: &Newton,
) -> anyhow::Result<(Vec<Solution>, Vec<Vec<result::Step>>)> {
    let mut phase = phase(fit, "fit", problems.len());
    let solutions = solver.solve_all(problems, &vec![Start::Auto; problems.len()], &mut phase)?;
    Ok((solutions, (0..problems.len()).map(|at| phase.history(at)).collect()))
}

/// The end that is farthest from convergence.
fn worst(solutions: &[Solution]) -> Status {
    let met = |status: &Status| solutions.iter().any(|solution| solution.status == *status);
    let order = [Status::Interrupted, Status::IterationLimit, Status::Stalled];
    order.into_iter().find(met).unwrap_or(Status::Converged)
}

fn data_of(data: &Dataset, goal: &Goal, standardization: Option<&Standardization>) -> Data {
    let variable = |(at, name): (usize, &String)| Variable {
        name: name.clone(),
        mean: standardization.map_or(0.0, |done| done.means[at]),
        deviation: standardization.map_or(1.0, |done| done.deviations[at]),
    };
    let classes = goal.classes.as_ref().map(|classes| {
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
        imputed: data
            .fills
            .iter()
            .map(|fill| Imputed { column: fill.column.clone(), value: fill.value, rows: fill.count })
            .collect(),
        dropped: data.dropped,
        categorical: { data.encodings.iter() }
            .map(|column| Categorical { column: column.column.clone(), labels: column.labels.clone() })
            .collect(),
        constant: standardization.map_or_else(Vec::new, |done| done.constant.clone()),
    }
}

fn route_of(plan: &Plan, explain: bool) -> Route {
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
