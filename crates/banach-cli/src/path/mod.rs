//! `banach path`: read, plan, validate, solve for every gamma, follow the largest monomials, print.

pub(crate) mod args;
mod follow;
mod page;
mod text;

use banach::{DualProblem, Folds, GammaGrid, Status, path_all};
use serde::Serialize;

use self::args::Path;
use crate::{
    files,
    fit::{
        ground::{self, Ground, worst},
        interrupt::{self, Phase},
        result::{Data, Factor, Model, Proof, Route},
        validate::Validation,
    },
    options::Common,
    print,
};

/// The JSON object, key by key (docs/command-line.md explains them).
#[derive(Debug, Serialize)]
pub(crate) struct Followed {
    pub version: &'static str,
    pub command: String,
    pub data: Data,
    pub model: Model,
    pub route: Route,
    pub validation: Option<Validation>,
    /// `converged`, or how the worst of the fits ended.
    pub status: &'static str,
    pub gammas: Vec<f64>,
    pub functions: Vec<Function>,
    pub notes: Vec<String>,
}

/// One function along the path.
#[derive(Debug, Serialize)]
pub(crate) struct Function {
    /// The class that it is positive for.
    pub class: Option<String>,
    /// The fit for every gamma.
    pub fits: Vec<Fit>,
    pub monomials: Vec<Growth>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Fit {
    pub gamma: f64,
    pub status: &'static str,
    pub certificate: Proof,
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
    let choice = what.running.algorithm.choice()?;
    let mut ground = Ground::read(&what.data, &what.columns, &what.model, common.account()?)?;
    let mut notes = std::mem::take(&mut ground.notes);
    let x = ground.matrix()?;
    let _page = ground.page(what.grid.report.is_some())?;
    let folds = what.grid.cv.map(|count| ground.folds(count, what.running.seed)).transpose()?;
    interrupt::install()?;
    let plan = ground.plan(&x, &what.model, &what.running, folds.as_ref().map_or(1, Folds::count))?;
    let gammas = if what.grid.gamma.is_empty() { what.grid.gammas } else { what.grid.gamma.len() };
    Ground::warn_of_time(&plan, gammas, common);
    let (form, _taken) = ground.form(&plan, &x)?;
    let solver = ground.solver(&what.running, choice);
    let problems = ground.problems(&*form, &what.model, 1.0)?;
    let grid = grid(what, &problems[0])?;
    let gammas = grid.values();

    let phase = |name: &str, fits: usize| Phase::begin(name, fits, what.running.tolerance, common.quiet);
    let validate = |folds: &Folds| {
        let mut phase = phase("cross-validation", gammas.len() * folds.count() * problems.len());
        Validation::run(&problems, ground.goal.classes.as_ref(), &grid, folds, false, (&*solver, &mut phase))
    };
    let validation = folds.as_ref().map(validate).transpose()?;
    notes.extend(validation.iter().flat_map(|validation| validation.notes(interrupt::pressed())));
    let paths = path_all(&problems, &grid, &*solver, &mut phase("path", gammas.len() * problems.len()))?;
    let functions = follow::functions(what, &ground, &x, (&problems, &paths), &mut notes)?;
    let worst = worst(paths.iter().flat_map(|path| &path.solutions));
    if worst == Status::Interrupted {
        notes.push("the path was interrupted: where its fits had not begun, the model is the constant".to_owned());
    }
    let followed = Followed {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: ground.data(),
        model: ground.model(&what.model, None),
        route: ground::route(&plan, common.explain),
        validation,
        status: worst.name(),
        gammas: gammas.to_vec(),
        functions,
        notes,
    };
    if let Some(path) = &what.grid.report {
        page::write(path, &followed, common)?;
    }
    print::out(&if common.json { print::json(&followed)? } else { text::text(&followed, what) })?;
    Ok(u8::from(worst != Status::Converged || interrupt::pressed()))
}

fn grid(what: &Path, problem: &DualProblem<'_>) -> Result<GammaGrid, banach::Error> {
    match &what.grid.gamma[..] {
        [] => GammaGrid::from_data(problem, what.grid.gammas),
        given => GammaGrid::new(given.to_vec()),
    }
}
