//! `banach fit` without a model: the best one that can be found.

mod page;
pub(crate) mod text;

use std::ops::ControlFlow;

use banach::{
    Status,
    data::ColumnScaling,
    fit::{Auto, AutoModel, AutoProgress, AutoRecord, Recipe, TermsStanding},
    report::{AutoReadout, SparseFunctionReport},
};
use banach_io::{Provenance, SavedAuto};
use serde::Serialize;

use super::{
    args::{Columns, FitArgs},
    input::{CONSTANT, Input},
    interrupt,
    result::Data,
    sparse::functions,
};
use crate::{files, options::Common, print, progress::Bar};

/// What `banach fit` prints of a chosen model.
#[derive(Debug, Serialize)]
pub(super) struct FittedAuto {
    version: &'static str,
    /// What makes it again.
    command: String,
    data: Data,
    /// What was tried and chosen.
    choice: AutoRecord,
    /// The loss of the model as a share of that of a constant.
    error: f64,
    /// What matters to it: variables, pairs, and what the leading variables do.
    #[serde(flatten)]
    readout: AutoReadout,
    /// The few terms that evidence names, be they the model or not.
    terms: Vec<SparseFunctionReport>,
    /// Their own errors, beside that of the model.
    terms_standing: Option<TermsStanding>,
    /// The model file, if one was asked for.
    saved: Option<String>,
    /// What the reader should know.
    notes: Vec<String>,
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;

pub(super) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    files::check_outputs(fit.output.as_deref(), fit.tables.report.as_deref(), &fit.data)?;
    // Every contender has units of its own.
    let columns = Columns { no_standardize: true, ..fit.columns.clone() };
    let input = Input::read(&fit.data, &columns, &fit.model, common.account()?)?;
    let _page = input.page(fit.tables.report.is_some())?;
    let x = input.matrix()?;
    anyhow::ensure!(!ColumnScaling::standard(&x, None).columns().is_empty(), CONSTANT);
    interrupt::install()?;
    let auto =
        Auto { effort: fit.choice_of_model.effort, seconds: fit.choice_of_model.max_seconds, seed: fit.running.seed };
    let model = {
        let (bar, mut tried): (Bar, Option<Recipe>) = (Bar::new(common.quiet), None);
        let _watched = interrupt::Watched::begin();
        let mut watch = |progress: AutoProgress<'_>| {
            if tried.as_ref() != Some(progress.recipe) {
                tried = Some(progress.recipe.clone());
                bar.begin(&progress.recipe.to_string(), STEPS as usize);
            }
            bar.step((STEPS * progress.done) as usize);
            if interrupt::pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = auto.run(&x, &input.goal.target, None, &input.account, &mut watch);
        found.map_err(|error| input.located(error.into()))?
    };
    if let Some(path) = &fit.output {
        saved(&input, &model)?.write(path)?;
    }
    let terms = model.record().terms.as_ref().map(|terms| functions(&input, terms)).transpose()?;
    let classes = input.goal.classes.as_ref().map_or(&[][..], |classes| &classes.labels);
    let fitted = FittedAuto {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        error: model.record().error(),
        readout: AutoReadout::new(&model, input.data.table.names(), classes, input.account.left())?,
        terms: terms.unwrap_or_default(),
        terms_standing: model.record().terms_standing(),
        choice: model.record().clone(),
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes: input.notes,
    };
    let target = input.goal.target;
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, &target, common)?;
    }
    print::out(&if common.json { print::json(&fitted)? } else { text::page(&fitted) })?;
    Ok(u8::from(model.status() != Status::Converged || interrupt::pressed()))
}

fn saved(input: &Input, model: &AutoModel) -> anyhow::Result<SavedAuto> {
    Ok(SavedAuto {
        names: Some(input.data.table.names().to_vec()),
        encodings: input.data.encodings.clone(),
        zero_based: input.data.zero_based,
        target: Some(input.data.target.name().to_owned()),
        provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
        ..SavedAuto::new(model.clone(), input.observed()?)
    })
}
