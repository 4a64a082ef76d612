//! The choice of gamma: held-out losses and scores of one function, or of all classes together.

use banach::{
    CrossValidation, DualProblem, Folds, GammaGrid, Observer, Solver, Status, cross_validate_all,
    solver::{FoldFit, Mean, Metric},
};
use banach_io::Classes;
use serde::Serialize;

use super::held_out::HeldOut;

/// A mean over the folds with its standard error.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Estimate {
    pub mean: f64,
    pub standard_error: f64,
}

impl From<Mean> for Estimate {
    fn from(mean: Mean) -> Self {
        Self { mean: mean.value, standard_error: mean.standard_error }
    }
}

impl Estimate {
    /// Over folds, as (weight, value).
    fn over(folds: &[(f64, f64)]) -> Option<Self> {
        (!folds.is_empty()).then(|| Mean::over(folds).into())
    }
}

/// What held-out samples say of one gamma.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Candidate {
    pub gamma: f64,
    /// The loss, summed over the functions.
    pub loss: Estimate,
    /// R^2 or accuracy.
    pub score: Option<Estimate>,
    /// Fits that converged.
    pub converged: usize,
    /// Whether no fit was interrupted.
    pub finished: bool,
}

/// The candidates, and which was taken.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Validation {
    pub folds: usize,
    /// `r2` or `accuracy`.
    pub metric: &'static str,
    /// `best`, `one_standard_error` or `given`.
    pub rule: &'static str,
    pub candidates: Vec<Candidate>,
    /// The index of the one that was taken; none if nothing was finished.
    pub chosen: Option<usize>,
    /// Fits of each candidate.
    pub fits: usize,
    /// Whether the best gamma is the first or last of several.
    pub at_end: bool,
    /// The samples that were held out, at the gamma that was taken.
    pub held_out: Option<HeldOut>,
}

impl Validation {
    pub(crate) fn run(
        problems: &[DualProblem<'_>],
        classes: Option<&Classes>,
        grid: &GammaGrid,
        folds: &Folds,
        one_se: bool,
        (solver, observer): (&dyn Solver, &mut dyn Observer),
    ) -> anyhow::Result<Self> {
        let validated = cross_validate_all(problems, grid, folds, solver, observer)?;
        let candidates: Vec<Candidate> =
            (0..grid.values().len()).map(|gamma| candidate(&validated, gamma, classes)).collect();
        let finished =
            (0..candidates.len()).filter(|&at| candidates[at].finished && !candidates[at].loss.mean.is_nan());
        let best = finished.min_by(|&a, &b| candidates[a].loss.mean.total_cmp(&candidates[b].loss.mean));
        let simplest = best.and_then(|best| {
            let Estimate { mean, standard_error } = candidates[best].loss;
            let limit = if standard_error.is_nan() { mean } else { mean + standard_error };
            (0..=best).find(|&at| candidates[at].finished && candidates[at].loss.mean <= limit)
        });
        let last = candidates.len() - 1;
        let chosen = if one_se { simplest } else { best };
        let held_out = chosen.map(|chosen| HeldOut::new(&validated, chosen, problems, classes.is_some()));
        Ok(Self {
            folds: folds.count(),
            metric: match validated[0].metric {
                Metric::RSquared => "r2",
                Metric::Accuracy => "accuracy",
            },
            rule: match (last, one_se) {
                (0, _) => "given",
                (_, true) => "one_standard_error",
                (_, false) => "best",
            },
            chosen,
            held_out,
            fits: folds.count() * problems.len(),
            at_end: last > 0 && best.is_some_and(|best| best == 0 || best == last),
            candidates,
        })
    }

    /// What is known of the gamma that was taken.
    pub(crate) fn taken(&self) -> Option<&Candidate> {
        self.chosen.map(|chosen| &self.candidates[chosen])
    }

    /// What the reader should know.
    pub(crate) fn notes(&self, interrupted: bool) -> Vec<String> {
        let (failed, all) = (self.unconverged(), self.fits * self.candidates.len());
        let mut notes = Vec::new();
        if interrupted {
            notes
                .push("the cross-validation was interrupted: gamma is the best of those that were finished".to_owned());
        } else if failed > 0 {
            notes.push(format!("{failed} of the {all} fits of the cross-validation did not converge"));
        }
        if self.at_end && !interrupted {
            notes.push("the best gamma is at an end of the grid; a given --gamma beyond it may be better".to_owned());
        }
        notes
    }

    /// Fits that did not converge.
    fn unconverged(&self) -> usize {
        self.candidates.iter().map(|candidate| self.fits - candidate.converged).sum()
    }
}

fn candidate(validated: &[CrossValidation], gamma: usize, classes: Option<&Classes>) -> Candidate {
    let fits = || validated.iter().flat_map(|function| &function.fits[gamma]);
    let (loss, score) = match (validated, classes) {
        ([function], _) => (function.loss(gamma).into(), function.score(gamma).map(Estimate::from)),
        (functions, classes) => of_all(functions, gamma, classes),
    };
    Candidate {
        gamma: validated[0].gammas[gamma],
        loss,
        score,
        converged: fits().filter(|fit| fit.status == Status::Converged).count(),
        finished: fits().all(|fit| fit.status != Status::Interrupted),
    }
}

/// The loss of all functions together, and how often the largest of them is that of the right class.
fn of_all(functions: &[CrossValidation], gamma: usize, classes: Option<&Classes>) -> (Estimate, Option<Estimate>) {
    let (mut losses, mut scores) = (Vec::new(), Vec::new());
    for (fold, held_out) in functions[0].folds.held_out().iter().enumerate() {
        let fits: Vec<&FoldFit> = functions.iter().map(|function| &function.fits[gamma][fold]).collect();
        let weight = fits[0].weight;
        losses.push((weight, fits.iter().map(|fit| fit.loss).sum()));
        let Some(classes) = classes else { continue };
        let predicted = |at: usize| {
            let better = |best: usize, class: usize| {
                if fits[class].predictions[at] > fits[best].predictions[at] { class } else { best }
            };
            (1..fits.len()).fold(0, better)
        };
        let right = held_out.iter().enumerate().filter(|(at, row)| predicted(*at) == classes.rows[**row]).count();
        scores.push((weight, right as f64 / held_out.len() as f64));
    }
    let nothing = Estimate { mean: f64::NAN, standard_error: f64::NAN };
    (Estimate::over(&losses).unwrap_or(nothing), Estimate::over(&scores))
}
