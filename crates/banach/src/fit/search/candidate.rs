//! The held-out scores of one gamma, of all functions together.

use serde::Serialize;

use crate::{
    Status, Target,
    fit::Task,
    solver::{CrossValidation, FoldFit, Mean},
};

/// One gamma of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// Its value.
    pub gamma: f64,
    /// The loss of held-out samples, summed over the functions; NaN if a fit was interrupted.
    pub loss: Mean,
    /// Their score: R^2 of a single number, or the share of samples whose class is predicted; none if a fit was interrupted.
    pub score: Option<Mean>,
    /// Fits that converged.
    pub converged: usize,
    /// Whether no fit was interrupted.
    pub finished: bool,
}

impl Candidate {
    /// The loss, if no fit was interrupted.
    pub(super) fn known_loss(&self) -> Option<Mean> {
        self.finished.then_some(self.loss)
    }
}

/// Every gamma, from the smallest to the largest.
pub(super) fn candidates(
    functions: &[CrossValidation],
    task: &Task,
    y: &Target<'_>,
    sample_weight: Option<&[f64]>,
) -> Vec<Candidate> {
    let candidate = |(at, &gamma): (usize, &f64)| {
        let fits = || functions.iter().flat_map(|function| &function.fits[at]);
        let converged = fits().filter(|fit| fit.status == Status::Converged).count();
        let finished = fits().all(|fit| fit.status != Status::Interrupted);
        let (loss, score) = match functions {
            // What was cut short would be scored by a null model, or by an iterate far from the optimum.
            _ if !finished => (Mean { value: f64::NAN, standard_error: f64::NAN }, None),
            [function] => (function.loss(at), function.score(at)),
            _ => (loss(functions, at), accuracy(functions, at, task, y, sample_weight)),
        };
        Candidate { gamma, loss, score, converged, finished }
    };
    functions[0].gammas.iter().enumerate().map(candidate).collect()
}

/// The fits of all functions without one fold.
fn of_fold(functions: &[CrossValidation], gamma: usize, fold: usize) -> Vec<&FoldFit> {
    functions.iter().map(|function| &function.fits[gamma][fold]).collect()
}

fn loss(functions: &[CrossValidation], gamma: usize) -> Mean {
    let folds = (0..functions[0].folds.count()).map(|fold| of_fold(functions, gamma, fold));
    let known = folds.filter(|fits| fits[0].weight > 0.0);
    Mean::over(&known.map(|fits| (fits[0].weight, fits.iter().map(|fit| fit.loss).sum())).collect::<Vec<_>>())
}

/// How often the largest function is that of the right class.
fn accuracy(
    functions: &[CrossValidation],
    gamma: usize,
    task: &Task,
    y: &Target<'_>,
    sample_weight: Option<&[f64]>,
) -> Option<Mean> {
    let (Task::Classes(classes), Target::Labels(labels)) = (task, y) else { return None };
    let weight = |sample: usize| sample_weight.map_or(1.0, |weights| weights[sample]);
    let mut folds = Vec::new();
    for (fold, held_out) in functions[0].folds.held_out().iter().enumerate() {
        let fits = of_fold(functions, gamma, fold);
        let predicted = |at: usize| {
            let larger = |best: usize, class: usize| {
                if fits[class].predictions[at] > fits[best].predictions[at] { class } else { best }
            };
            classes[(1..fits.len()).fold(0, larger)]
        };
        let right = held_out.iter().enumerate().filter(|(at, sample)| predicted(*at) == labels[**sample]);
        let right: f64 = right.map(|(_, &sample)| weight(sample)).sum();
        if fits[0].weight > 0.0 {
            folds.push((fits[0].weight, right / fits[0].weight));
        }
    }
    (!folds.is_empty()).then(|| Mean::over(&folds))
}
