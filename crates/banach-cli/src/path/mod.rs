//! `banach path`: read, plan, validate, solve for every gamma, follow the largest monomials, print.

pub(crate) mod args;
mod follow;
mod page;
mod text;

use banach::{
    Search, Status,
    fit::{Gammas, KernelSpace},
    report::{CertificateValues, Factor, ModelSummary, RouteSummary, Validation},
    solver::path_all,
};
use serde::Serialize;

use self::args::Path;
use crate::{
    files,
    fit::{
        announcement::announce_fits,
        input::Input,
        interrupt::{self, Phase},
        resolve,
        result::Data,
    },
    lines::folded,
    options::Common,
    print, words,
};

/// The JSON object, key by key (docs/command-line.md explains them).
#[derive(Debug, Serialize)]
pub(crate) struct Followed {
    pub version: &'static str,
    pub command: String,
    pub data: Data,
    pub model: ModelSummary,
    pub route: RouteSummary,
    pub validation: Option<Validation>,
    /// `converged`, or how the worst of the fits ended.
    pub status: Status,
    pub gammas: Vec<f64>,
    pub functions: Vec<FollowedFunction>,
    pub notes: Vec<String>,
    /// What every route would cost, where it was asked for.
    #[serde(skip)]
    pub explained: Option<String>,
}

/// One function along the path.
#[derive(Debug, Serialize)]
pub(crate) struct FollowedFunction {
    /// The class that it is positive for.
    pub class: Option<String>,
    /// The fit for every gamma.
    pub fits: Vec<PathFit>,
    pub monomials: Vec<Growth>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PathFit {
    pub gamma: f64,
    pub status: Status,
    pub certificate: CertificateValues,
    pub iterations: usize,
    pub passes: usize,
    pub intercept: f64,
    /// `||w||_p^p`.
    pub norm: f64,
}

/// One monomial along the path, a number for every gamma.
#[derive(Debug, Serialize)]
pub(crate) struct Growth {
    pub monomial: String,
    pub factors: Vec<Factor>,
    pub weights: Vec<f64>,
    pub coefficients: Vec<f64>,
}

pub(crate) fn path(what: &Path, common: &Common, command: &str) -> anyhow::Result<u8> {
    files::check_output("--report", what.grid.report.as_deref(), &[&what.data])?;
    what.running.algorithm.choice()?;
    resolve::kernel(&what.model)?;
    let mut input = Input::read(&what.data, &what.columns, &what.model, common.account()?)?;
    let notes = std::mem::take(&mut input.notes);
    path_of(&input, notes, what, common, command).map_err(|error| input.located(error))
}

fn path_of(input: &Input, mut notes: Vec<String>, what: &Path, common: &Common, command: &str) -> anyhow::Result<u8> {
    let x = input.matrix()?;
    let _page = input.page(what.grid.report.is_some())?;
    let target = &input.goal.target;
    let folds = what.grid.cv.map(|count| target.folds(input.rows(), count, what.running.seed)).transpose()?;
    interrupt::install()?;

    let spec = resolve::spec(&what.model, &what.running, &input.goal, None)?;
    let fit = input.fit(&spec)?;
    notes.extend(input.unequal_scales(&spec, &x));
    let weights = input.weights.as_deref();
    let (_, outputs) = target.outputs(x.samples(), spec.loss.targets(), weights)?;
    let gammas = match &what.grid.gamma[..] {
        [] => what.grid.gammas.map_or_else(Gammas::default, Gammas::Count),
        given => Gammas::Given(given.to_vec()),
    };
    let planned = || {
        let all = fit.planned(&x, outputs.len(), gammas.count())?;
        Ok(match &folds {
            Some(folds) => all.and(fit.planned(&x, outputs.len() * folds.count(), gammas.count())?),
            None => all,
        })
    };
    announce_fits(planned(), common);
    let prepared = fit.prepare(&x, outputs.len())?;
    let problems = prepared.problems(&outputs, weights)?;
    let grid = gammas.grid(&problems[0])?;
    let phase = |name: &str, fits: usize, gap: f64| Phase::begin(name, fits, gap, common.quiet);
    let validate = |folds: &banach::solver::Folds| -> anyhow::Result<Validation> {
        let search = Search {
            exponents: vec![spec.p],
            gammas: Gammas::Given(grid.values().to_vec()),
            ..Search::new(KernelSpace::Fixed(spec.kernel.clone()))
        };
        let mut phase = phase("cross-validation", search.fits(1, outputs.len(), folds.count()), search.gap(&spec));
        let found = search.run(&fit, &x, target, weights, folds, &mut phase)?;
        Ok(Validation::new(&found, search.choice, target, &**fit.loss(), weights)?)
    };
    let validation = folds.as_ref().map(validate).transpose()?;
    notes.extend(validation.iter().flat_map(|validation| &validation.notes).map(words::note));
    let fits = grid.values().len() * problems.len();
    let paths = path_all(&problems, &grid, prepared.solver(), &mut phase("path", fits, spec.tolerance))?;
    let functions = follow::functions(what, input, &fit, &x, (&problems, &paths), &mut notes)?;
    let worst = Status::worst(paths.iter().flat_map(|path| &path.solutions).map(|solution| solution.status));
    if worst == Status::Interrupted {
        notes.push("the path was interrupted: where its fits had not begun, the model is the constant".to_owned());
    }
    let followed = Followed {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        model: ModelSummary::new(&fit, prepared.plan(), None),
        route: prepared.plan().into(),
        validation,
        status: worst,
        gammas: grid.values().to_vec(),
        functions,
        notes,
        explained: common.explain.then(|| words::explain(prepared.plan())),
    };
    if let Some(path) = &what.grid.report {
        page::write(path, &followed, common)?;
    }
    print::out(&if common.json { print::json(&followed)? } else { folded(&text::text(&followed)) })?;
    Ok(u8::from(worst != Status::Converged || interrupt::pressed()))
}
