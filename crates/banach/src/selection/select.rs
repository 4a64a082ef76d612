//! Select and refit: how many monomials, by honest cross-validation.

use std::ops::ControlFlow;

use super::{
    Ranking, Refit,
    refit::{LinearFit, monomial_columns},
};
use crate::{
    DualProblem, Error, FeatureMatrix, Observer, Solution, Solver, Status,
    kernel::Monomial,
    model::ExplicitModel,
    solver::{Choice, FoldFit, Folds, Mean, Progress, Start, fold_problems},
};

/// The most terms of an equation: each fold fits every number of terms up to it.
const MOST_TERMS: usize = 1000;

/// What a selection is told.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionOptions {
    /// The most monomials to take. More than there are samples, or than 1000, are never taken.
    pub max_terms: usize,
    /// The folds that choose how many.
    pub folds: Folds,
    /// How the chosen ones are fitted again.
    pub refit: Refit,
    /// By which rule.
    pub choice: Choice,
}

impl SelectionOptions {
    /// Least squares and the rule of one standard error.
    pub fn new(max_terms: usize, folds: Folds) -> Self {
        Self { max_terms, folds, refit: Refit::default(), choice: Choice::OneStandardError }
    }
}

/// A function of few monomials, and how they were chosen.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The function: the chosen monomials, fitted to all samples.
    pub model: ExplicitModel,
    /// The monomials of the fit to all samples, the largest first; the model has the first of them.
    pub ranked: Vec<Monomial>,
    /// The held-out scores of the first 0, 1, 2, ... monomials of each fold's own ranking: one list over the folds for every number.
    pub curve: Vec<Vec<FoldFit>>,
    /// Fits that did not converge: those of the folds, of all samples, and of the chosen monomials.
    pub unconverged: usize,
    choice: Choice,
}

impl Selection {
    /// The number of monomials that was chosen.
    pub fn terms(&self) -> usize {
        self.chosen(self.choice)
    }

    /// The held-out loss with this many monomials: its mean over the folds. Beyond the end of the curve it stays the same.
    pub fn loss(&self, terms: usize) -> Mean {
        let folds = self.folds(terms).iter().filter(|fit| fit.weight > 0.0);
        Mean::over(&folds.map(|fit| (fit.weight, fit.loss)).collect::<Vec<_>>())
    }

    /// The held-out score with this many monomials, `R^2` or accuracy, over the folds in which it is defined.
    pub fn score(&self, terms: usize) -> Option<Mean> {
        let folds = self.folds(terms).iter().filter_map(|fit| fit.score.map(|score| (fit.weight, score)));
        let folds: Vec<_> = folds.collect();
        (!folds.is_empty()).then(|| Mean::over(&folds))
    }

    fn folds(&self, terms: usize) -> &[FoldFit] {
        &self.curve[terms.min(self.curve.len() - 1)]
    }

    /// How many monomials a rule takes.
    pub fn chosen(&self, choice: Choice) -> usize {
        let losses: Vec<Option<Mean>> = (0..self.curve.len()).map(|terms| Some(self.loss(terms))).collect();
        choice.pick(&losses).unwrap_or(0)
    }
}

/// Takes the largest monomials of a fit and fits them alone; how many, the folds decide.
///
/// - Solves: the problem for all samples and without each fold, in one batch.
/// - Given: the data `x` of the form of the problem, and a ranking of monomials by a dual vector.
/// - Returns: the function of the chosen monomials, all other coefficients exactly 0, with the curve of held-out scores.
/// - Cost: one fit of `folds + 1` problems in lockstep; then a ranking for each, and small fits.
///
/// Every fold ranks with a fit to the other samples, so its score is honest: the choice of monomials is part of what is validated.
/// Only what all folds share has seen the held-out samples: gamma and x as they are given, and the means and sizes of unit or
/// standardised monomials. Of these only a gamma that was chosen with all samples has seen held-out targets.
///
/// The observer sees the folds as problems 0, 1, ..., then the fit to all samples, then all fits of the chosen monomials as one more
/// problem. When it stops, what is at hand is used, and counted as not converged.
pub fn select(
    problem: &DualProblem<'_>,
    x: &FeatureMatrix<'_>,
    ranking: &dyn Ranking,
    options: &SelectionOptions,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    if x.samples() != problem.samples() {
        return Err(Error::Shape { what: "X", got: x.samples(), expected: problem.samples() });
    }
    let mut problems = fold_problems(problem, &options.folds)?;
    problems.push(problem.clone());
    let mut stopped = ControlFlow::Continue(());
    let mut watch = |progress: &Progress| {
        if stopped.is_continue() {
            stopped = observer.observe(progress);
        }
        stopped
    };
    let solutions = solver.solve_all(&problems, &vec![Start::Auto; problems.len()], &mut watch)?;
    let mut unconverged = solutions.iter().filter(|solution| solution.status != Status::Converged).count();
    let mut watch_refits = |progress: &Progress| watch(&Progress { problem: problems.len(), ..*progress });
    let most = options.max_terms.min(x.samples()).min(MOST_TERMS);
    let mut of_folds: Vec<Vec<FoldFit>> = Vec::with_capacity(options.folds.count());
    let (mut ranked, mut fits) = (Vec::new(), Vec::new());
    // The fit to all samples is the last one, and stays.
    for (lane, (own, solution)) in problems.iter().zip(&solutions).enumerate() {
        ranked = ranking.largest(&solution.alpha, most)?;
        let columns = monomial_columns(&ranked, x)?;
        fits = options.refit.fits(own, &columns, solver, &mut watch_refits)?;
        unconverged += fits.iter().filter(|fit| fit.status != Status::Converged).count();
        let Some(held_out) = options.folds.held_out().get(lane) else { continue };
        of_folds.push(fits.iter().map(|fit| score(problem, held_out, fit, &columns, solution)).collect());
    }
    let longest = of_folds.iter().map(Vec::len).fold(fits.len(), usize::max);
    // Beyond the monomials of a fold, its last fit stands.
    let at = |terms: usize| of_folds.iter().map(|fits| fits[terms.min(fits.len() - 1)].clone()).collect();
    let curve = (0..longest).map(at).collect();
    let model = ExplicitModel::new(0.0, Vec::new())?;
    let mut selection = Selection { model, ranked, curve, unconverged, choice: options.choice };
    let fit = &fits[selection.terms().min(fits.len() - 1)];
    let terms = selection.ranked.iter().cloned().zip(fit.coefficients.iter().copied()).collect();
    selection.model = ExplicitModel::new(fit.intercept, terms)?;
    Ok(selection)
}

fn score(
    problem: &DualProblem<'_>,
    held_out: &[usize],
    fit: &LinearFit,
    columns: &[Vec<f64>],
    solution: &Solution,
) -> FoldFit {
    let predictions = held_out.iter().map(|&i| fit.value(columns, i)).collect();
    FoldFit::of_predictions(problem, held_out, predictions, solution)
}
