//! `banach fit`: read, plan, validate, solve, describe, print.

pub(crate) mod args;
pub(crate) mod auto;
pub(crate) mod input;
pub(crate) mod interrupt;
pub(crate) mod page;
pub(crate) mod read;
pub(crate) mod resolve;
pub(crate) mod result;
mod save;
pub(crate) mod sparse;
pub(crate) mod text;

use banach::{
    FeatureMatrix, Spec, Status,
    report::{Described, Note, Tables, Validation},
    solver::Folds,
};

use self::{
    args::FitArgs,
    input::{Input, warn_of_time},
    interrupt::{Parts, Phase},
    result::Fitted,
};
use crate::{files, options::Common, print, words};

pub(crate) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    if fit.sparse.sparse {
        return sparse::fit(fit, common, command);
    }
    if fit.is_auto()? {
        return auto::fit(fit, common, command);
    }
    files::check_outputs(fit.output.as_deref(), fit.tables.report.as_deref(), &fit.data)?;
    fit.running.algorithm.choice()?;
    let mut input = Input::read(&fit.data, &fit.columns, &fit.model, common.account()?)?;
    let notes = std::mem::take(&mut input.notes);
    fit_to(&input, notes, fit, common, command).map_err(|error| input.located(error))
}

fn fit_to(input: &Input, mut notes: Vec<String>, fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    let x = input.matrix()?;
    let _page = input.page(fit.tables.report.is_some())?;
    let folds = folds(fit, input)?;
    interrupt::install()?;

    let run = Run { fit, common, input, x: &x };
    let asked = resolve::spec(&fit.model, &fit.running, &input.goal, fit.choice.gamma)?;
    let (spec, validation) = match &folds {
        Some(folds) => run.search(&asked, folds)?,
        None => (asked, None),
    };
    let fitting = input.fit(&spec)?;
    let (task, outputs) = input.goal.target.outputs(x.samples(), spec.loss.targets(), None)?;
    // Before anything is built, which may take long by itself.
    warn_of_time(fitting.plan(&x, outputs.len())?.long_fit(1), common);
    let prepared = fitting.prepare(&x, outputs.len())?;
    let problems = prepared.problems(&outputs, None)?;
    let mut phase = run.phase("fit", problems.len(), spec.tolerance);
    let solutions = prepared.solve(&problems, &mut phase)?;
    let model = prepared.model(&x, task, &problems, solutions);
    if let Some(path) = &fit.output {
        // Before the tables, which may take longer than the fit.
        run.save(path, &spec, &model)?;
    }
    let described = Described { fit: &fitting, problems: &problems, model: &model, x: &x, columns: input.columns() };
    let report = described.report(&run.tables(), validation, |place| phase.history(place), &mut Parts)?;
    notes.extend(report.notes.iter().map(words::note));
    let fitted = Fitted {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        report,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes,
        explained: common.explain.then(|| words::explain(prepared.plan())),
    };
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, common)?;
    }
    print::out(&if common.json { print::json(&fitted)? } else { text::page(&fitted, fit) })?;
    let done = model.status() == Status::Converged && !interrupt::pressed();
    Ok(u8::from(!done))
}

/// One run of the command: what was asked for, and what it works on.
struct Run<'a> {
    fit: &'a FitArgs,
    common: &'a Common,
    input: &'a Input,
    x: &'a FeatureMatrix<'a>,
}

fn folds(fit: &FitArgs, input: &Input) -> Result<Option<Folds>, banach::Error> {
    if fit.choice.cv.is_none() && fit.choice.gamma.is_some() {
        return Ok(None);
    }
    input.goal.target.folds(input.rows(), fit.choice.cv, fit.running.seed).map(Some)
}

impl Run<'_> {
    /// The parameters that held-out samples choose.
    fn search(&self, asked: &Spec, folds: &Folds) -> anyhow::Result<(Spec, Option<Validation>)> {
        let Self { fit, common, input, x } = *self;
        let search = resolve::search(&fit.model, asked, &fit.choice);
        let (fitting, target) = (input.fit(asked)?, &input.goal.target);
        let (task, _) = target.outputs(x.samples(), asked.loss.targets(), None)?;
        warn_of_time(search.long_fit(&fitting, x, task.functions(), None, folds.count()), common);
        let options = search.options(asked, x, None)?.len();
        let fits = search.fits(options, task.functions(), folds.count());
        let mut phase = self.phase("cross-validation", fits, search.gap(asked));
        let found = search.run(&fitting, x, target, None, folds, &mut phase)?;
        let mut validation = Validation::new(&found, search.choice, target, &**fitting.loss())?;
        validation.notes.extend(found.chosen.is_none().then_some(Note::MiddleTaken));
        Ok((found.chosen_or_middle(), Some(validation)))
    }

    /// What is told of every function: what only the page shows included.
    fn tables(&self) -> Tables {
        let FitArgs { tables, running, .. } = self.fit;
        Tables {
            top: tables.top(),
            relevance: tables.wants_relevance(),
            select: tables.select,
            stability: tables.stability,
            seed: running.seed,
        }
    }

    fn phase(&self, what: &str, fits: usize, tolerance: f64) -> Phase {
        Phase::begin(what, fits, tolerance, self.common.quiet)
    }
}
