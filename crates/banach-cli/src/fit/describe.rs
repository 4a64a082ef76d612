//! What the fitted functions are made of: the tables that were asked for.

use banach::{
    DualProblem, FeatureMatrix, Model, Prepared, Solution,
    kernel::MonomialScale,
    model::Budget,
    selection::{Refit, SelectionOptions, StabilityOptions, select, stability},
};
use banach_io::Standardization;

use super::{
    Run,
    interrupt::{self, Phase, stoppable},
    result::{Agreement, Function, Selected, Shares, Step, Top},
};
use crate::words;

/// Lines of a table of variables or of frequencies.
const ROWS: usize = 20;

/// What was fitted.
pub(super) struct Described<'a> {
    pub fit: &'a banach::Fit,
    pub prepared: &'a Prepared<'a>,
    pub problems: &'a [DualProblem<'a>],
    pub model: &'a Model,
}

/// One function of it.
struct Source<'a> {
    of: &'a Described<'a>,
    place: usize,
    problem: &'a DualProblem<'a>,
    solution: &'a Solution,
    history: Vec<Step>,
}

impl Run<'_> {
    /// Every function with its tables. A table that cannot be made becomes a note.
    pub(super) fn functions(
        &self,
        of: &Described<'_>,
        phase: &Phase,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Vec<Function>> {
        let found = of.problems.iter().zip(of.model.solutions()).enumerate();
        let sources = found.map(|(place, (problem, solution))| {
            let history = phase.history(place);
            Source { of, place, problem, solution, history }
        });
        let classes = self.input.goal.positive();
        sources.zip(classes).map(|(source, class)| self.function(class, &source, notes)).collect()
    }

    fn function(
        &self,
        class: Option<String>,
        source: &Source<'_>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Function> {
        let Source { of, solution, .. } = *source;
        let (fit, input) = (self.fit, self.input);
        let (names, kernel, memory) = (input.data.table.names(), of.prepared.plan().kernel(), input.account.left());
        let model = of.model.function(source.place, self.x)?.with_memory(memory);

        let deviations = input.standardization.as_ref().map(|done| &done.deviations[..]);
        let per_unit = |variable: usize| deviations.map_or(1.0, |deviations| 1.0 / deviations[variable]);
        let linear = deviations.is_some() && kernel.degrees() == (1, Some(1)) && !kernel.normalized();
        let top = (fit.tables.top > 0).then(|| stoppable(|| model.top_monomials(fit.tables.top, Budget::default())));
        let top = top.and_then(|top| or_note(top, "table of monomials", notes));
        let relevance = fit.tables.wants_relevance().then(|| stoppable(|| model.relevance(memory)));
        let relevance = relevance.and_then(|found| or_note(found, "relevance", notes));
        let selection = fit
            .tables
            .select
            .and_then(|terms| unless_stopped("equation", notes, |notes| self.select(source, terms, notes)));
        let stability = fit
            .tables
            .wanted_stability()
            .and_then(|terms| unless_stopped("stability", notes, |notes| self.stability(source, terms, notes)));
        Ok(Function {
            status: solution.status,
            certificate: solution.certificate.into(),
            iterations: solution.iterations,
            passes: solution.passes,
            history: source.history.clone(),
            intercept: solution.intercept + self.centring(source)?,
            intercept_original: (linear && of.fit.spec().monomials == MonomialScale::Raw)
                .then(|| self.original_intercept(source)),
            top: top.map(|top| Top::new(top, names, linear.then_some(&per_unit))),
            relevance: relevance.map(|found| Shares::new(&found, names, ROWS)),
            selection,
            stability,
            class,
        })
    }

    /// What the means of standardised monomials add to the constant: f(0), as no other monomial has a constant part.
    fn centring(&self, source: &Source<'_>) -> anyhow::Result<f64> {
        if source.of.fit.spec().monomials != MonomialScale::Standardized {
            return Ok(0.0);
        }
        let zero = FeatureMatrix::from_columns(1, self.x.features(), vec![0.0; self.x.features()])?;
        Ok(source.problem.form().predictor(&source.solution.alpha).predict(&zero)?[0])
    }

    /// `b - sum_j c_j mean_j/deviation_j`, the constant for the variables as they are in the file.
    fn original_intercept(&self, source: &Source<'_>) -> f64 {
        let Source { solution, .. } = source;
        let (table, plan) = (&self.input.data.table, source.of.prepared.plan());
        let u = |column: usize| table.dot(column, &solution.alpha);
        let size = plan.kernel().coefficient(&[1]).powf(1.0 / plan.exponent().q());
        let mut weights: Vec<f64> = (0..table.names().len()).map(u).map(|u| size * u).collect();
        plan.exponent().j_q(&mut weights);
        let Some(Standardization { means, deviations, .. }) = &self.input.standardization else {
            return solution.intercept;
        };
        let moved = weights.iter().zip(means).zip(deviations);
        solution.intercept - moved.map(|((w, mean), deviation)| size * w * (mean / deviation)).sum::<f64>()
    }

    fn select(&self, source: &Source<'_>, terms: usize, notes: &mut Vec<String>) -> anyhow::Result<Selected> {
        let (fit, input) = (self.fit, self.input);
        let folds = input.goal.target.folds(input.rows(), fit.choice.cv, fit.running.seed)?;
        let mut options = SelectionOptions::new(terms, folds);
        options.refit = Refit::for_loss(source.problem.loss());
        let mut phase = self.phase("selection", options.folds.count() + 1, source.of.fit.spec().tolerance);
        let (ranking, solver) = (source.of.fit.ranking(self.x.view()), source.of.prepared.solver());
        let selection = select(source.problem, self.x, &ranking, &options, solver, &mut phase)?;
        if interrupt::pressed() {
            notes.push("the selection was interrupted: the equation is made of the iterates at hand".to_owned());
        } else if selection.unconverged > 0 {
            notes.push(format!("{} fits of the selection did not converge", selection.unconverged));
        }
        let left = if input.goal.classes.is_some() { "decision" } else { input.data.target.name() };
        Ok(Selected::new(&selection, input.data.table.names(), left))
    }

    fn stability(&self, source: &Source<'_>, terms: usize, notes: &mut Vec<String>) -> anyhow::Result<Agreement> {
        let options = StabilityOptions { seed: self.fit.running.seed, ..StabilityOptions::new(terms) };
        let mut phase = self.phase("stability", 2 * options.pairs, source.of.fit.spec().tolerance);
        let (ranking, solver) = (source.of.fit.ranking(self.x.view()), source.of.prepared.solver());
        let found = stability(source.problem, &ranking, &options, solver, &mut phase)?;
        let (counted, all) = (found.subsamples, 2 * options.pairs);
        if interrupt::pressed() {
            notes.push(format!("the stability was interrupted: {counted} of its {all} fits were finished and count"));
        } else if found.unconverged > 0 {
            notes.push(format!("{} of the {all} fits of the stability did not converge", found.unconverged));
        }
        Ok(Agreement::new(&found, self.input.data.table.names(), ROWS))
    }
}

/// What was found, or a note on why nothing was.
fn or_note<T>(
    found: Result<Option<Result<T, banach::Error>>, banach::Error>,
    what: &str,
    notes: &mut Vec<String>,
) -> Option<T> {
    let reason = match found {
        Ok(Some(Ok(found))) => return Some(found),
        Ok(None) => "interrupted".to_owned(),
        Ok(Some(Err(error))) | Err(error) => words::message(&error),
    };
    notes.push(format!("no {what}: {reason}"));
    None
}

/// A table, unless Ctrl-C was pressed before or it cannot be made; then a note says so.
fn unless_stopped<T>(
    what: &str,
    notes: &mut Vec<String>,
    make: impl FnOnce(&mut Vec<String>) -> anyhow::Result<T>,
) -> Option<T> {
    if interrupt::pressed() {
        notes.push(format!("no {what}: interrupted before"));
        return None;
    }
    make(notes).map_err(|error| notes.push(format!("no {what}: {}", words::message(&*error)))).ok()
}
