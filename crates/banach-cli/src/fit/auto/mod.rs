//! `banach fit` without a model: the best one that can be found.

mod page;
pub(crate) mod text;

use std::ops::ControlFlow;

use banach::{
    Status, Target,
    data::ColumnScaling,
    fit::{Assessment, Auto, AutoModel, AutoProgress, AutoRecord, Learner, LearningCurve, Recipe, TermsStanding},
    report::{Readout, SparseFunctionReport},
    solver::Folds,
};
use banach_io::{Provenance, SavedAuto};
use serde::Serialize;

use super::{
    announcement::{OF_CHOICE, announce},
    args::{Columns, FitArgs, ModelChoice},
    held,
    input::{CONSTANT, Input},
    interrupt,
    result::Data,
    sparse::functions,
    targets::Printed,
    tested,
};
use crate::{options::Common, print, progress::Bar};

/// What `banach fit` prints of a chosen model.
#[derive(Debug, Serialize)]
pub(super) struct FittedAuto {
    version: &'static str,
    /// What makes it again.
    command: String,
    data: Data,
    /// How well it predicts rows that were not seen, against a constant.
    assessment: Option<Assessment>,
    /// The same for the rows of a test of their own.
    test: Option<Assessment>,
    /// What was tried and chosen.
    choice: AutoRecord,
    /// The loss of the model as a share of that of a constant.
    error: f64,
    /// What matters to it: variables, pairs, and what the leading variables do.
    #[serde(flatten)]
    readout: Readout,
    /// How the error falls with the number of rows, if asked for.
    learning_curve: Option<LearningCurve>,
    /// The few terms that evidence names, be they the model or not.
    terms: Vec<SparseFunctionReport>,
    /// Their own errors, beside that of the model.
    terms_standing: Option<TermsStanding>,
    /// The model file, if one was asked for.
    saved: Option<String>,
    /// The model file of the equation, if one was asked for.
    saved_equation: Option<String>,
    /// What the reader should know.
    notes: Vec<String>,
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;

pub(super) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<Printed> {
    fit.check_outputs()?;
    // Every contender has units of its own.
    let columns = Columns { no_standardize: true, ..fit.columns.clone() };
    let input = held::read(fit, &columns, common)?;
    let _page = input.page(fit.tables.report.is_some())?;
    let x = input.matrix()?;
    anyhow::ensure!(!ColumnScaling::standard(&x, None).columns().is_empty(), CONSTANT);
    interrupt::install()?;
    let ModelChoice { effort, max_seconds, .. } = fit.choice_of_model;
    let auto = Auto { effort: effort.unwrap_or_default(), seconds: max_seconds, seed: fit.running.seed };
    let (folds, weights) = (held::folds(fit, &input, true)?, input.weights.as_deref());
    let choices = 1 + fit.held.permutations.unwrap_or(0);
    let mut model = {
        let (bar, mut tried): (Bar, Option<Recipe>) = (Bar::new(common.quiet), None);
        let _watched = interrupt::Watched::begin();
        let mut watch = |progress: AutoProgress<'_>| {
            if tried.is_none() {
                announce(&std::iter::repeat_n(progress.expected.clone(), choices).sum(), OF_CHOICE, common);
            }
            if tried.as_ref() != Some(progress.recipe) {
                tried = Some(progress.recipe.clone());
                bar.begin(&progress.recipe.to_string(), STEPS as usize);
            }
            bar.step((STEPS * progress.done) as usize);
            if interrupt::pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = auto.run(&x, &input.goal.target, weights, Some(&folds), &input.account, &mut watch);
        found.map_err(|error| input.located(error.into()))?
    };
    if fit.held.permutations.is_some()
        && let (Some(assessment), Some(error)) = (model.record().assessment.clone(), model.record().least_error())
    {
        let mut refit = |target: &Target<'_>, weights: Option<&[f64]>| {
            let mut watch = |_: AutoProgress<'_>| {
                if interrupt::pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let found = auto.run(&x, target, weights, Some(&folds), &input.account, &mut watch)?;
            Ok(found.record().least_error().filter(|_| !interrupt::pressed()))
        };
        let checked = held::with_permutations(assessment, error, fit, &input, &folds, common, &mut refit)?;
        model = model.with_assessment(checked);
    }
    if let Some(path) = &fit.output {
        saved(&input, &model)?.write(path)?;
    }
    let equation = model.record().equation()?;
    let mut notes = input.notes.clone();
    let saved_equation = fit.save_equation(&input, equation.as_ref(), &mut notes)?;
    let learning_curve = match &model.record().assessment {
        Some(whole) if fit.tables.learning_curve => {
            let mut choose = |part: &Folds| {
                let mut watch = |_: AutoProgress<'_>| {
                    if interrupt::pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let found = auto.run(&x, &input.goal.target, weights, Some(part), &input.account, &mut watch)?;
                Ok(found.record().assessment.clone().filter(|_| !interrupt::pressed()))
            };
            let parts = (&folds, &input.goal.target, fit.running.seed);
            Some(LearningCurve::new(Learner::Choice, whole, parts, &mut choose)?)
        }
        _ => None,
    };
    let terms = model.record().terms.as_ref().map(|terms| functions(&input, terms)).transpose()?;
    let classes = input.goal.classes.as_ref().map_or(&[][..], |classes| &classes.labels);
    let fitted = FittedAuto {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        error: model.record().error(),
        readout: Readout::of_auto(
            &model,
            input.data.table.names(),
            classes,
            Some((&x, &input.goal.target)),
            input.account.left(),
        )?,
        learning_curve,
        terms: terms.unwrap_or_default(),
        terms_standing: model.record().terms_standing(),
        assessment: model.record().assessment.clone().map(|found| input.named(found)),
        test: tested::assessed(fit, &input, || Ok(saved(&input, &model)?.to_bytes()?))?,
        choice: AutoRecord { assessment: None, ..model.record().clone() },
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        saved_equation,
        notes,
    };
    let target = input.goal.target;
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, &target, common)?;
    }
    let text = if common.json { print::json(&fitted)? } else { text::page(&fitted) };
    Ok((text, u8::from(model.status() != Status::Converged || interrupt::pressed())))
}

fn saved(input: &Input, model: &AutoModel) -> anyhow::Result<SavedAuto> {
    Ok(SavedAuto {
        names: Some(input.data.table.names().to_vec()),
        encodings: input.data.encodings.clone(),
        zero_based: input.data.zero_based,
        preparation: input.preparation.clone(),
        target: Some(input.data.target.name().to_owned()),
        weights: input.weights.clone(),
        provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
        ..SavedAuto::new(model.clone(), input.observed()?)
    })
}
