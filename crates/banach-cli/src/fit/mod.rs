//! `banach fit`: read, plan, validate, solve, describe, print.

pub(crate) mod args;
mod describe;
pub(crate) mod ground;
mod held_out;
pub(crate) mod interrupt;
pub(crate) mod read;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod result;
mod save;
pub(crate) mod text;
pub(crate) mod validate;

use banach::{DualProblem, FeatureMatrix, Folds, GammaGrid, Solution, Solver, SolverChoice, Start, Status};

use self::{
    args::{Fit, GammaChoice},
    ground::{Ground, worst},
    interrupt::Phase,
    result::Fitted,
    validate::Validation,
};
use crate::{files, options::Common, print};

/// The values of gamma that are tried.
pub(crate) const GAMMAS: usize = 20;

/// The folds unless told otherwise.
const FOLDS: usize = 5;

pub(crate) fn fit(fit: &Fit, common: &Common, command: &str) -> anyhow::Result<u8> {
    files::check_output("-o", fit.output.as_deref(), &[&fit.data])?;
    files::check_output("--report", fit.tables.report.as_deref(), &[&fit.data])?;
    anyhow::ensure!(
        fit.output.is_none() || fit.output != fit.tables.report,
        "-o and --report name the same file; the page would replace the model"
    );
    let choice = fit.running.algorithm.choice()?;
    let mut ground = Ground::read(&fit.data, &fit.columns, &fit.model, common.account()?)?;
    let mut notes = std::mem::take(&mut ground.notes);
    let x = ground.matrix()?;
    let _page = ground.page(fit.tables.report.is_some())?;
    let folds = folds(fit, &ground)?;
    interrupt::install()?;
    let plan = ground.plan(&x, &fit.model, &fit.running, folds.as_ref().map_or(1, Folds::count))?;
    let searched = folds.is_some() && fit.choice.gamma.is_none();
    Ground::warn_of_time(&plan, if searched { GAMMAS } else { 1 }, common);
    let (form, _taken) = ground.form(&plan, &x)?;
    let solver = ground.solver(&fit.running, choice);

    let run = Run { fit, common, ground: &ground, x: &x, choice, solver };
    let problems = ground.problems(&*form, &fit.model, fit.choice.gamma.unwrap_or(1.0))?;
    let (gamma, validation) = run.choose_gamma(&problems, folds.as_ref(), &mut notes)?;
    let problems: Vec<DualProblem<'_>> =
        problems.iter().map(|problem| problem.with_gamma(gamma)).collect::<Result<_, _>>()?;
    let (solutions, histories) = run.solve(&problems)?;
    if let Some(path) = &fit.output {
        // Before the tables, which may take longer than the fit.
        run.save(path, gamma, plan.chosen(), &problems, &solutions)?;
    }
    let functions = run.functions(&problems, &solutions, &histories, &mut notes)?;
    let worst = worst(solutions.iter());
    let fitted = Fitted {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: ground.data(),
        model: ground.model(&fit.model, Some(gamma)),
        route: ground::route(&plan, common.explain),
        validation,
        status: worst.name(),
        functions,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes,
    };
    if let Some(path) = &fit.tables.report {
        report::write(path, &fitted, common)?;
    }
    print::out(&if common.json { print::json(&fitted)? } else { text::page(&fitted, fit) })?;
    let done = worst == Status::Converged && !interrupt::pressed();
    Ok(u8::from(!done))
}

/// One run of the command: what was asked for, and what it works on.
struct Run<'a> {
    fit: &'a Fit,
    common: &'a Common,
    ground: &'a Ground,
    x: &'a FeatureMatrix<'a>,
    choice: SolverChoice,
    solver: Box<dyn Solver>,
}

fn folds(fit: &Fit, ground: &Ground) -> anyhow::Result<Option<Folds>> {
    let count = match (fit.choice.cv, fit.choice.gamma) {
        (Some(count), _) => count,
        (None, Some(_)) => return Ok(None),
        (None, None) => FOLDS.min(ground.rows()),
    };
    Ok(Some(ground.folds(count, fit.running.seed)?))
}

impl Run<'_> {
    fn choose_gamma(
        &self,
        problems: &[DualProblem<'_>],
        folds: Option<&Folds>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<(f64, Option<Validation>)> {
        let GammaChoice { gamma: given, one_se, .. } = self.fit.choice;
        let Some(folds) = folds else { return Ok((given.unwrap_or(1.0), None)) };
        let grid = match given {
            Some(gamma) => GammaGrid::new(vec![gamma])?,
            None => GammaGrid::from_data(&problems[0], GAMMAS)?,
        };
        let gammas = grid.values();
        let mut phase = self.phase("cross-validation", gammas.len() * folds.count() * problems.len());
        let classes = self.ground.goal.classes.as_ref();
        let validation = Validation::run(problems, classes, &grid, folds, one_se, (&*self.solver, &mut phase))?;
        let gamma = validation.taken().map_or(gammas[gammas.len() / 2], |taken| taken.gamma);
        if validation.taken().is_none() {
            notes.push("no gamma was validated: the one in the middle of the grid is taken".to_owned());
        }
        notes.extend(validation.notes(interrupt::pressed()));
        Ok((gamma, Some(validation)))
    }

    fn phase(&self, what: &str, fits: usize) -> Phase {
        Phase::begin(what, fits, self.fit.running.tolerance, self.common.quiet)
    }

    /// Every function, and what its fit went through.
    fn solve(&self, problems: &[DualProblem<'_>]) -> anyhow::Result<(Vec<Solution>, Vec<Vec<result::Step>>)> {
        let mut phase = self.phase("fit", problems.len());
        let solutions = self.solver.solve_all(problems, &vec![Start::Auto; problems.len()], &mut phase)?;
        Ok((solutions, (0..problems.len()).map(|at| phase.history(at)).collect()))
    }
}
