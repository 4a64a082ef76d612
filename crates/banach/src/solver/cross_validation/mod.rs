//! Held-out scores for every gamma and fold, from fits that share their passes.

mod choice;
mod dealing;
mod folds;
#[cfg(test)]
mod laws;
mod summary;

pub use choice::Choice;
pub use folds::{Dealing, Folds};
pub(crate) use folds::{SplitMix64, shuffle};
pub(crate) use summary::score;
pub use summary::{CrossValidation, FoldFit, Mean, Metric};

use super::{
    GammaGrid, Observer, Solution, Solver,
    path::{chains, follow},
};
use crate::{DualProblem, Error, loss::Targets};

/// Cross-validates a problem: for every gamma of the grid and every fold it fits the model of the other samples, and scores its
/// predictions of the fold. The sample weights and the intercept of the problem count; its own gamma does not.
///
/// A held-out sample has weight 0, so that its `omega_i + b` is its prediction, and nothing is predicted separately. All folds are
/// problems over one form. A gamma, or a few gammas at a time ([`Solver::shares_passes`]), are one batch for the solver, which starts
/// from the solutions for the gammas before. The gamma of a fold is that of the whole, like `C` in scikit-learn.
///
/// The observer sees the problem `gamma * folds + fold`. When it stops, the fits that are left get the null model with its
/// certificate and the status [`Interrupted`](super::Status::Interrupted); no gamma with such a fit is ever the best.
///
/// ```
/// use banach::{DualProblem, Exponent, FeatureMatrix, Unobserved, form::Features, loss::Squared};
/// use banach::{Newton, solver::{Folds, GammaGrid}};
/// # let x: Vec<f64> = (0..60).map(|i| ((i * i * 37) % 101) as f64 / 50.0 - 1.0).collect();
/// # let y: Vec<f64> = x.chunks(5).map(|x| 2.0 * x[1]).collect();
/// // Twelve samples of five variables.
/// let form = Features::new(FeatureMatrix::from_rows(12, 5, &x)?, Exponent::new(1.2)?);
/// let problem = DualProblem::new(&form, &Squared, &y, 1.0)?.with_intercept()?;
///
/// let grid = GammaGrid::from_data(&problem, 8)?;
/// let folds = Folds::shuffled(12, 4, 0)?;
/// let solver = Newton::default();
/// let validated = banach::solver::cross_validate(&problem, &grid, &folds, &solver, &mut Unobserved)?;
/// println!("{validated}");
/// assert_eq!(validated.unconverged().count(), 0);
/// let gamma = validated.best_gamma().expect("nothing stopped it");
/// let final_problem = problem.with_gamma(gamma)?;
/// # Ok::<(), banach::Error>(())
/// ```
pub fn cross_validate(
    problem: &DualProblem<'_>,
    grid: &GammaGrid,
    folds: &Folds,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<CrossValidation, Error> {
    Ok(cross_validate_all(std::slice::from_ref(problem), grid, folds, solver, observer)?.swap_remove(0))
}

/// Cross-validates several problems over one form (outputs, classes), all of them and all folds in one batch for each
/// gamma.
///
/// As [`cross_validate`]; the observer sees the problem `(gamma * problems.len() + problem) * folds + fold`.
pub(crate) fn cross_validate_all(
    problems: &[DualProblem<'_>],
    grid: &GammaGrid,
    folds: &Folds,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Vec<CrossValidation>, Error> {
    in_chains(problems, grid, folds, chains(solver, grid.values().len()), solver, observer)
}

/// As [`cross_validate_all`], with this many chains of gammas. One chain follows the path with all folds abreast; as many chains as
/// gammas solve everything at once, from the solver's own starts.
fn in_chains(
    problems: &[DualProblem<'_>],
    grid: &GammaGrid,
    folds: &Folds,
    chains: usize,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Vec<CrossValidation>, Error> {
    let lanes = problems.iter().map(|problem| fold_problems(problem, folds)).collect::<Result<Vec<_>, _>>()?;
    let gammas = grid.values();
    let mut validated = Vec::with_capacity(problems.len());
    for (problem, of_folds) in problems.iter().zip(&lanes) {
        let constants = of_folds.iter().map(best_constant).collect::<Result<_, _>>()?;
        validated.push(CrossValidation::empty(problem, gammas, folds, constants));
    }
    let lanes = lanes.concat();
    let mut keep = |gamma: usize, lane: usize, solution: &Solution| {
        let (problem, fold) = (lane / folds.count(), lane % folds.count());
        let constant = validated[problem].constants[fold];
        let fit = FoldFit::new(&problems[problem], &folds.held_out()[fold], solution, constant);
        validated[problem].fits[gamma].push(fit);
    };
    follow(&lanes, gammas, chains, solver, observer, &mut keep)?;
    Ok(validated)
}

/// The problems of one fold after another.
fn fold_problems<'a>(problem: &DualProblem<'a>, folds: &Folds) -> Result<Vec<DualProblem<'a>>, Error> {
    Error::check_length("folds", folds.samples(), problem.samples())?;
    let weights = problem.sample_weights();
    let held_out = || folds.held_out().iter().flatten();
    if held_out().all(|&i| weights[i] == 0.0) {
        return Err(Error::HeldOutWeight { samples: held_out().count() });
    }
    (0..folds.count()).map(|fold| without(problem, folds, fold)).collect()
}

/// The constant with the least loss on the samples of a problem, whether or not it has an intercept.
fn best_constant(problem: &DualProblem<'_>) -> Result<f64, Error> {
    let problem = problem.clone().with_intercept()?;
    Ok(problem.intercept(&vec![0.0; problem.samples()]))
}

/// The problem of the samples outside a fold.
fn without<'a>(problem: &DualProblem<'a>, folds: &Folds, fold: usize) -> Result<DualProblem<'a>, Error> {
    let mut weights = problem.sample_weights().to_vec();
    folds.absent()[fold].iter().for_each(|&i| weights[i] = 0.0);
    let labels = || problem.targets().iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(y, _)| *y);
    let Some(label) = labels().next() else { return Err(Error::FoldWeight { fold }) };
    if problem.loss().targets() == Targets::Counts && problem.has_intercept() && labels().all(|y| y == 0.0) {
        return Err(Error::NoCounts { fold: Some(fold), samples: labels().count() });
    }
    if problem.loss().targets() == Targets::Signs && labels().all(|y| y == label) {
        return Err(Error::FoldClass { fold, label, samples: labels().count() });
    }
    problem.clone().with_sample_weights(&weights)
}
