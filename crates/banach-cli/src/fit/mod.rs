//! `banach fit`: read, plan, validate, solve, describe, print.

pub(crate) mod announcement;
pub(crate) mod args;
mod aside;
pub(crate) mod auto;
mod held;
pub(crate) mod input;
pub(crate) mod interrupt;
pub(crate) mod page;
pub(crate) mod read;
pub(crate) mod resolve;
pub(crate) mod result;
mod save;
pub(crate) mod sparse;
mod targets;
mod tested;
pub(crate) mod text;
pub(crate) mod verdict;

use anyhow::ensure;
use banach::{
    FeatureMatrix, Fit, Search, Spec, Status, Target,
    fit::{Assessment, LearningCurve, PlannedFits, Searched},
    form::Rates,
    report::{Described, Note, Tables, Validation},
    solver::Folds,
    sparse::Hierarchy,
};

use self::{
    announcement::announce_fits,
    args::{FitArgs, Tables as TableArgs},
    input::Input,
    interrupt::{Parts, Phase},
    result::Fitted,
    targets::Printed,
};
use crate::{lines::folded, options::Common, print, words};

pub(crate) fn fit(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<u8> {
    fit.running.algorithm.choice()?;
    let TableArgs { select, stability, .. } = &fit.tables;
    ensure!(
        fit.sparse.hierarchy == Hierarchy::None || fit.sparse.sparse || select.is_some() || stability.is_some(),
        "--hierarchy {}: it says which products may be terms, and no terms are named; add --sparse, --select K or --stability K",
        fit.sparse.hierarchy
    );
    fit.check_choice()?;
    let fits = targets::each(fit, common)?;
    let (mut objects, mut worst) = (Vec::new(), 0);
    for (at, one) in fits.iter().enumerate() {
        let (text, code) = of_target(one, common, command)?;
        worst = worst.max(code);
        if common.json {
            objects.push(text);
        } else {
            // What is known is said before the next one, which may fail.
            print::out(&format!("{}{}", if at > 0 { "\n" } else { "" }, folded(&text)))?;
        }
        if interrupt::pressed() {
            break;
        }
    }
    if common.json {
        print::out(&targets::together(&objects, fits.len()))?;
    }
    Ok(worst)
}

/// The fit of one target.
fn of_target(fit: &FitArgs, common: &Common, command: &str) -> anyhow::Result<Printed> {
    if fit.sparse.sparse {
        return sparse::fit(fit, common, command);
    }
    if fit.is_auto()? {
        return auto::fit(fit, common, command);
    }
    fit.check_outputs()?;
    if fit.choice.one().is_some() {
        resolve::kernel(&fit.model)?;
    }
    let mut input = held::read(fit, &fit.columns, common)?;
    let notes = std::mem::take(&mut input.notes);
    fit_to(&input, notes, fit, common, command).map_err(|error| input.located(error))
}

fn fit_to(
    input: &Input,
    mut notes: Vec<String>,
    fit: &FitArgs,
    common: &Common,
    command: &str,
) -> anyhow::Result<Printed> {
    let x = input.matrix()?;
    let _page = input.page(fit.tables.report.is_some())?;
    interrupt::install()?;

    let run = Run { fit, common, input, x: &x };
    let asked = resolve::spec(&fit.model, &fit.running, &input.goal, fit.choice.one())?;
    notes.extend(input.unequal_scales(&asked, &x));
    let weights = input.weights.as_deref();
    let search = resolve::search(&fit.model, &asked, &fit.choice);
    // One gamma is fitted first, and judged then.
    let told = fit.choice.one().is_some() && fit.choice.cv.is_none();
    announce_fits(run.planned(&asked, &search, told), common);
    let (spec, validation, mut assessment, residuals) = if told {
        (asked.clone(), None, None, None)
    } else {
        let folds = held::folds(fit, input, false)?;
        let found = run.search(&asked, &search, &folds)?;
        let (spec, validation) = run.taken(&asked, &search, &found)?;
        let assessment = run.assessed(&asked, &search, &folds, validation.assessment.clone())?;
        (spec, Some(validation), assessment, found.residuals(&input.goal.target, weights))
    };
    let fitting = input.fit(&spec)?;
    let (task, outputs) = input.goal.target.outputs(x.samples(), spec.loss.targets(), weights)?;
    let prepared = fitting.prepare(&x, outputs.len())?;
    let problems = prepared.problems(&outputs, weights)?;
    let mut phase = run.phase("fit", problems.len(), spec.tolerance);
    let solutions = prepared.solve(&problems, &mut phase)?;
    let model = prepared.model(&x, task, &problems, solutions).with_residuals(residuals);
    if let Some(path) = &fit.output {
        // Before the tables, which may take longer than the fit.
        run.saved(&spec, &model)?.write(path)?;
    }
    if told && !interrupt::pressed() {
        match run.judged(&asked, &search) {
            Ok(found) => assessment = found,
            Err(error) => notes.push(format!("no verdict on unseen rows: {}", words::message(error.as_ref()))),
        }
    }
    let test = tested::assessed(fit, input, || Ok(run.saved(&spec, &model)?.to_bytes()?))?;
    let described = Described { fit: &fitting, problems: &problems, model: &model, x: &x, columns: input.columns() };
    let mut report = described.report(&run.tables(), validation, |place| phase.history(place), &mut Parts)?;
    // Where gamma was chosen, others could have been: what leads there is shown beside it.
    let soon =
        !fitting.planned_by(prepared.plan(), outputs.len(), OTHERS).prediction(&Rates::default()).is_left_to_ask();
    if fit.tables.top() > 0 && (!told || common.explain) && soon && !interrupt::pressed() {
        let mut others = run.phase("other gammas", 2 * problems.len(), spec.tolerance);
        if let Err(error) = described.add_leaders(&mut report, &prepared, &mut others) {
            notes.push(format!("no leaders at other gammas: {}", words::message(&error)));
        }
    }
    if !interrupt::pressed() {
        report.learning_curve = run.learning_curve(&fitting, report.validation.is_some(), assessment.as_ref())?;
    }
    report.assessment = assessment.map(|found| input.named(found));
    report.test = test;
    notes.extend(report.notes.iter().map(words::note));
    let equation = fit.save_equation(input, report.selected.as_ref(), &mut notes)?;
    let fitted = Fitted {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        data: input.data(),
        report,
        saved: fit.output.as_ref().map(|path| path.display().to_string()),
        saved_equation: equation,
        notes,
        explained: common.explain.then(|| words::explain(prepared.plan())),
    };
    if let Some(path) = &fit.tables.report {
        page::write(path, &fitted, common)?;
    }
    let text = if common.json { print::json(&fitted)? } else { text::page(&fitted, fit) };
    let done = model.status() == Status::Converged && !interrupt::pressed();
    Ok((text, u8::from(!done)))
}

/// Fits beside that of the model from which it is shown which monomials lead.
const OTHERS: usize = 2;

/// One run of the command: what was asked for, and what it works on.
struct Run<'a> {
    fit: &'a FitArgs,
    common: &'a Common,
    input: &'a Input,
    x: &'a FeatureMatrix<'a>,
}

impl Run<'_> {
    /// What held-out samples say of all that is tried.
    fn search(&self, asked: &Spec, search: &Search, folds: &Folds) -> anyhow::Result<Searched> {
        let Self { input, x, .. } = *self;
        let (fitting, target, weights) = (input.fit(asked)?, &input.goal.target, input.weights.as_deref());
        let (task, _) = target.outputs(x.samples(), asked.loss.targets(), weights)?;
        let options = search.options(asked, x, weights)?.len();
        let fits = search.fits(options, task.functions(), folds.count());
        let mut phase = self.phase("cross-validation", fits, search.gap(asked));
        Ok(search.run(&fitting, x, target, weights, folds, &mut phase)?)
    }

    /// The parameters that were chosen, and what is said of it.
    fn taken(&self, asked: &Spec, search: &Search, found: &Searched) -> anyhow::Result<(Spec, Validation)> {
        let (target, weights) = (&self.input.goal.target, self.input.weights.as_deref());
        let loss = self.input.fit(asked)?;
        let mut validation = Validation::new(found, search.choice, target, &**loss.loss(), weights)?;
        validation.notes.extend(found.chosen.is_none().then_some(Note::MiddleTaken));
        Ok((found.chosen_or_middle(), validation))
    }

    /// The fits until there is a model and a verdict, shuffled targets included.
    fn planned(&self, asked: &Spec, search: &Search, told: bool) -> Result<PlannedFits, banach::Error> {
        let Self { fit, input, x, .. } = *self;
        let (fitting, weights) = (input.fit(asked)?, input.weights.as_deref());
        let (task, _) = input.goal.target.outputs(x.samples(), asked.loss.targets(), weights)?;
        let (functions, folds) = (task.functions(), held::folds(fit, input, false));
        let folds = match folds {
            Ok(folds) => folds.count(),
            // Without folds there is no verdict.
            Err(_) if told => return fitting.planned(x, functions, 1),
            Err(error) => return Err(error),
        };
        if told && self.leaves_folds_to_ask(asked, search, folds)? {
            return fitting.planned(x, functions, 1);
        }
        let shuffled = fit.held.permutations.unwrap_or(0);
        let of_shuffled = search.planned(&fitting, x, functions, weights, folds)?.times(shuffled);
        Ok(search.planned_with_model(&fitting, x, functions, weights, folds)?.and(of_shuffled))
    }

    /// Whether the folds that judge a gamma that was given would take long, and nobody has asked for them.
    fn leaves_folds_to_ask(&self, asked: &Spec, search: &Search, folds: usize) -> Result<bool, banach::Error> {
        let Self { fit, input, x, .. } = *self;
        let weights = input.weights.as_deref();
        let (task, _) = input.goal.target.outputs(x.samples(), asked.loss.targets(), weights)?;
        let planned = search.planned(&input.fit(asked)?, x, task.functions(), weights, folds)?;
        Ok(fit.held.permutations.is_none() && planned.prediction(&Rates::default()).is_left_to_ask())
    }

    /// How well the parameters that were given predict held-out rows; an error where the rows allow no folds, or they would take long.
    fn judged(&self, asked: &Spec, search: &Search) -> anyhow::Result<Option<Assessment>> {
        let folds = held::folds(self.fit, self.input, false)?;
        let long = self.leaves_folds_to_ask(asked, search, folds.count())?;
        anyhow::ensure!(!long, "its folds would take long; --cv {} asks for them", folds.count());
        let found = self.search(asked, search, &folds)?;
        let (_, validation) = self.taken(asked, search, &found)?;
        self.assessed(asked, search, &folds, validation.assessment)
    }

    /// The assessment, with shuffled targets beside it if they were asked for: the same search with each of them.
    fn assessed(
        &self,
        asked: &Spec,
        search: &Search,
        folds: &Folds,
        assessment: Option<Assessment>,
    ) -> anyhow::Result<Option<Assessment>> {
        let Self { fit, common, input, x } = *self;
        let Some(assessment) = assessment else { return Ok(None) };
        let fitting = input.fit(asked)?;
        let mut refit = |target: &Target<'_>, weights: Option<&[f64]>| {
            // The bar of all shuffled targets is enough.
            let mut phase = Phase::begin("shuffled target", 0, search.gap(asked), true);
            let found = search.run(&fitting, x, target, weights, folds, &mut phase)?;
            let assessed = found.assessment(target, &**fitting.loss(), weights)?;
            Ok(assessed.filter(|_| !found.interrupted()).map(|found| found.error()))
        };
        let error = assessment.error();
        held::with_permutations(assessment, error, fit, input, folds, common, &mut refit).map(Some)
    }

    /// How the error falls with the number of rows: on request, and for a page where folds have chosen, as it takes little beside that.
    fn learning_curve(
        &self,
        fitting: &Fit,
        chosen: bool,
        whole: Option<&Assessment>,
    ) -> anyhow::Result<Option<LearningCurve>> {
        let Self { fit, input, x, .. } = *self;
        let wanted = fit.tables.learning_curve || (chosen && fit.tables.report.is_some());
        let Some(whole) = whole.filter(|_| wanted) else { return Ok(None) };
        let folds = held::folds(fit, input, false)?;
        let mut phase = self.phase("learning curve", 0, fitting.spec().tolerance);
        let (given, parts) = ((&input.goal.target, input.weights.as_deref()), (&folds, fit.running.seed));
        Ok(Some(fitting.learning_curve(x, given, parts, whole, &mut phase)?))
    }

    /// What is told of every function: what only the page shows included.
    fn tables(&self) -> Tables {
        let FitArgs { tables, running, sparse, .. } = self.fit;
        Tables {
            top: tables.top(),
            relevance: tables.wants_relevance(),
            readout: tables.report.is_some(),
            select: tables.select,
            stability: tables.stability,
            hierarchy: sparse.hierarchy,
            seed: running.seed,
        }
    }

    fn phase(&self, what: &str, fits: usize, tolerance: f64) -> Phase {
        Phase::begin(what, fits, tolerance, self.common.quiet)
    }
}
