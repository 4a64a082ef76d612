//! What the fitted functions are made of: the tables that were asked for.

use banach::{
    DualProblem, FeatureMatrix, Solution,
    kernel::MonomialScale,
    model::Budget,
    selection::{MonomialRanking, Refit, SelectionOptions, StabilityOptions, select, stability},
};
use banach_io::Standardization;

use super::{
    FOLDS, Run,
    interrupt::{self, stoppable},
    result::{Agreement, Function, Selected, Shares, Step, Top},
};

/// Lines of a table of variables or of frequencies.
const ROWS: usize = 20;

/// What one function is made from.
struct Source<'a> {
    problem: &'a DualProblem<'a>,
    solution: &'a Solution,
    history: &'a [Step],
}

impl Run<'_> {
    /// Every function with its tables. A table that cannot be made becomes a note.
    pub(super) fn functions(
        &self,
        problems: &[DualProblem<'_>],
        solutions: &[Solution],
        histories: &[Vec<Step>],
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Vec<Function>> {
        let functions = self.ground.goal.functions.iter().zip(problems).zip(solutions).zip(histories);
        functions
            .map(|(((function, problem), solution), history)| {
                self.function(function.class.clone(), &Source { problem, solution, history }, notes)
            })
            .collect()
    }

    fn function(
        &self,
        class: Option<String>,
        source: &Source<'_>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Function> {
        let Source { problem, solution, .. } = *source;
        let (fit, ground) = (self.fit, self.ground);
        let (names, kernel, memory) = (ground.data.table.names(), &ground.kernel, self.memory);
        let model = ground.described(self.x, &fit.model, problem, solution)?;

        let deviations = ground.standardization.as_ref().map(|done| &done.deviations[..]);
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
            status: solution.status.name(),
            certificate: solution.certificate.into(),
            iterations: solution.iterations,
            passes: solution.passes,
            history: source.history.to_vec(),
            intercept: solution.intercept + self.centring(source)?,
            intercept_original: (linear && fit.model.monomials == MonomialScale::Raw)
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
        if self.fit.model.monomials != MonomialScale::Standardized {
            return Ok(0.0);
        }
        let zero = FeatureMatrix::from_columns(1, self.x.features(), vec![0.0; self.x.features()])?;
        Ok(source.problem.form().predictor(&source.solution.alpha).predict(&zero)?[0])
    }

    /// `b - sum_j c_j mean_j/deviation_j`, the constant for the variables as they are in the file.
    fn original_intercept(&self, source: &Source<'_>) -> f64 {
        let Source { solution, .. } = source;
        let (table, kernel) = (&self.ground.data.table, &self.ground.kernel);
        let u = |column: usize| table.dot(column, &solution.alpha);
        let size = kernel.coefficient(&[1]).powf(1.0 / self.fit.model.p.q());
        let mut weights: Vec<f64> = (0..table.names().len()).map(u).map(|u| size * u).collect();
        self.fit.model.p.j_q(&mut weights);
        let Some(Standardization { means, deviations, .. }) = &self.ground.standardization else {
            return solution.intercept;
        };
        let moved = weights.iter().zip(means).zip(deviations);
        solution.intercept - moved.map(|((w, mean), deviation)| size * w * (mean / deviation)).sum::<f64>()
    }

    fn select(&self, source: &Source<'_>, terms: usize, notes: &mut Vec<String>) -> anyhow::Result<Selected> {
        let (fit, ground) = (self.fit, self.ground);
        let count = fit.choice.cv.unwrap_or(FOLDS.min(ground.rows()));
        let mut options = SelectionOptions::new(terms, ground.folds(count, fit.running.seed)?);
        options.refit = Refit::for_loss(source.problem.loss());
        let mut phase = self.phase("selection", count + 1);
        let ranking = self.ranking();
        let selection = select(source.problem, self.x, &ranking, &options, &*self.solver, &mut phase)?;
        if interrupt::pressed() {
            notes.push("the selection was interrupted: the equation is made of the iterates at hand".to_owned());
        } else if selection.unconverged > 0 {
            notes.push(format!("{} fits of the selection did not converge", selection.unconverged));
        }
        let left = if ground.goal.classes.is_some() { "decision" } else { ground.data.target.name() };
        Ok(Selected::new(&selection, ground.data.table.names(), left))
    }

    fn stability(&self, source: &Source<'_>, terms: usize, notes: &mut Vec<String>) -> anyhow::Result<Agreement> {
        let options = StabilityOptions { seed: self.fit.running.seed, ..StabilityOptions::new(terms) };
        let mut phase = self.phase("stability", 2 * options.pairs);
        let ranking = self.ranking();
        let found = stability(source.problem, &ranking, &options, &*self.solver, &mut phase)?;
        let (counted, all) = (found.subsamples, 2 * options.pairs);
        if interrupt::pressed() {
            notes.push(format!("the stability was interrupted: {counted} of its {all} fits were finished and count"));
        } else if found.unconverged > 0 {
            notes.push(format!("{} of the {all} fits of the stability did not converge", found.unconverged));
        }
        Ok(Agreement::new(&found, self.ground.data.table.names(), ROWS))
    }

    fn ranking(&self) -> MonomialRanking<'_> {
        let model = &self.fit.model;
        MonomialRanking::new(self.x.view(), self.ground.kernel.clone(), model.p).with_scale(model.monomials)
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
        Ok(Some(Err(error))) | Err(error) => error.to_string(),
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
    make(notes).map_err(|error| notes.push(format!("no {what}: {error}"))).ok()
}
