//! `banach fit --sparse`: the few terms that explain a number, or tell classes apart.

mod page;
pub(crate) mod text;

use std::ops::ControlFlow;

use banach::{
    FeatureMatrix, Target,
    fit::{Assessment, Learner, LearningCurve, Residuals, SparseModel, UnseenTerms, repetitions},
    report::{Readout, SparseFunctionReport, SparseTable},
    solver::Folds,
    sparse::SparseSpec,
};
use banach_io::{Label, Provenance, SavedSparse};
use serde::Serialize;

use super::{
    args::{Columns, FitArgs},
    held,
    input::Input,
    resolve,
    result::Data,
    targets::Printed,
    tested,
};
use crate::{options::Common, print, progress::Bar};

/// What `banach fit --sparse` prints.
#[derive(Debug, Serialize)]
struct FittedSparse {
    version: &'static str,
    /// What makes it again.
    command: String,
    data: Data,
    /// How well terms that are found without them predict rows, against a constant.
    assessment: Option<Assessment>,
    /// The same for the rows of a test of their own.
    test: Option<Assessment>,
    /// What could be named, and how it was looked for.
    spec: SparseSpec,
    /// What matters to the terms and what they predict along it, for a page.
    readout: Option<Readout>,
    /// How the error falls with the number of rows, if asked for.
    learning_curve: Option<LearningCurve>,
    /// One, or one for every class if there are more than two.
    functions: Vec<SparseFunctionReport>,
    /// The model file, if one was asked for.
    saved: Option<String>,
    /// What the reader should know.
    notes: Vec<String>,
    /// Whether to say how the search ended.
    #[serde(skip)]
    explain: bool,
}

pub(super) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<Printed> {
    fit.check_outputs()?;
    // Products of variables as they were measured are tried as well as those of centred ones, so nothing is standardised here.
    let columns = Columns { no_standardize: true, ..fit.columns.clone() };
    let input = held::read(fit, &columns, common)?;
    let _page = input.page(fit.tables.report.is_some())?;
    let spec = SparseSpec {
        kernel: resolve::kernel(&fit.model)?.spec()?,
        max_terms: fit.sparse.max_terms,
        fit_intercept: !fit.model.no_intercept,
        loss: input.goal.loss,
        penalty: fit.sparse.penalty,
        hierarchy: fit.sparse.hierarchy,
        ..SparseSpec::default()
    };
    let x = input.matrix()?;
    // Evidence takes weights for numbers of repetitions.
    let weights = input.weights.as_deref().and_then(repetitions);
    let model = spec
        .model(&x, &input.goal.target, weights.as_deref(), &input.account)
        .map_err(|error| input.located(error.into()))?;
    if let Some(path) = &fit.output {
        // Before rows are held out, which takes longer than the search.
        saved(&input, &spec, &model).write(path)?;
    }
    let HeldOut { assessment, residuals, learning_curve } =
        held_out(fit, common, &input, (&spec, &model), &x, weights.as_deref())?;
    let model = model.with_residuals(residuals);
    if let Some(path) = &fit.output {
        saved(&input, &spec, &model).write(path)?;
    }
    let given = (&x, &input.goal.target, weights.as_deref());
    let classes = input.goal.classes.as_ref().map_or(&[][..], |classes| &classes.labels);
    let readout =
        fit.tables.report.is_some().then(|| Readout::of_terms(&model, input.data.table.names(), classes, given));
    let fitted = FittedSparse {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        assessment: assessment.map(|found| input.named(found)),
        test: tested::assessed(fit, &input, || Ok(saved(&input, &spec, &model).to_bytes()?))?,
        readout: readout.transpose()?,
        learning_curve,
        functions: functions(&input, &model)?,
        spec,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        notes: input.notes,
        explain: common.explain,
    };
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, common)?;
    }
    let text = if common.json { print::json(&fitted)? } else { text::page(&fitted) };
    let holds = model.functions().iter().all(|function| function.certificate().holds());
    Ok((text, u8::from(!holds)))
}

/// What held-out rows say.
#[derive(Default)]
struct HeldOut {
    assessment: Option<Assessment>,
    residuals: Option<Residuals>,
    learning_curve: Option<LearningCurve>,
}

/// How well terms that are found without each fold predict it, and with fewer rows if that was asked for; nothing where the rows allow no
/// folds that were not asked for.
fn held_out(
    fit: &FitArgs,
    common: &Common,
    input: &Input,
    (spec, model): (&SparseSpec, &SparseModel),
    x: &FeatureMatrix<'_>,
    weights: Option<&[f64]>,
) -> anyhow::Result<HeldOut> {
    let folds = match held::folds(fit, input, false) {
        Ok(folds) => folds,
        Err(_) if !fit.asks_for_held_out_rows() => return Ok(HeldOut::default()),
        Err(error) => return Err(error.into()),
    };
    let of = |target: &Target<'_>, weights: Option<&[f64]>, folds: &Folds, quiet: bool| {
        let bar = Bar::new(quiet);
        bar.begin("held-out rows", folds.count());
        let mut watch = |share: f64| {
            bar.step((share * folds.count() as f64).round() as usize);
            ControlFlow::Continue(())
        };
        spec.held_out(model, x, target, weights, folds, &input.account, &mut watch)
    };
    let target = &input.goal.target;
    let Some(UnseenTerms { assessment, residuals }) = of(target, weights, &folds, common.quiet)? else {
        return Ok(HeldOut::default());
    };
    let mut part = |part: &Folds| Ok(of(target, weights, part, common.quiet)?.map(|found| found.assessment));
    let parts = (&folds, target, fit.running.seed);
    let curve = fit.tables.learning_curve.then(|| LearningCurve::new(Learner::Terms, &assessment, parts, &mut part));
    let curve = curve.transpose()?;
    let error = assessment.error();
    let mut refit = |target: &Target<'_>, weights: Option<&[f64]>| {
        let weights = weights.and_then(repetitions);
        // The bar of all shuffled targets is enough.
        Ok(of(target, weights.as_deref(), &folds, true)?.map(|found| found.assessment.error()))
    };
    let assessment = held::with_permutations(assessment, error, fit, input, &folds, common, &mut refit)?;
    Ok(HeldOut { assessment: Some(assessment), residuals, learning_curve: curve })
}

/// Every function by the names of its class and of its variables.
pub(super) fn functions(input: &Input, model: &SparseModel) -> Result<Vec<SparseFunctionReport>, banach::Error> {
    let named = input.columns();
    let left = if named.classes.is_some() { "decision" } else { named.target };
    let functions = model.functions().iter().zip(input.goal.positive());
    let report = |(function, class)| {
        Ok(SparseFunctionReport { class, table: SparseTable::new(function, named.names, named.units, left)? })
    };
    functions.map(report).collect()
}

/// A model of few terms, of the variables as they were measured, as its file has it.
pub(super) fn saved(input: &Input, spec: &SparseSpec, model: &SparseModel) -> SavedSparse {
    let labels = input.goal.classes.as_ref().map(|classes| Label::from_texts(&classes.labels));
    SavedSparse {
        names: Some(input.data.table.names().to_vec()),
        encodings: input.data.encodings.clone(),
        zero_based: input.data.zero_based,
        preparation: input.preparation.clone(),
        target: Some(input.data.target.name().to_owned()),
        labels,
        provenance: Provenance { source: Some(input.data.file.clone()), ..Provenance::default() },
        ..SavedSparse::new(spec.clone(), model.clone(), (input.rows(), input.data.table.names().len()))
    }
}
