//! Solutions along increasing gamma, for one problem or for several at once.

use std::{collections::VecDeque, ops::ControlFlow};

use super::{GammaGrid, Observer, Progress, Solution, Solver, Status, warm_start::History};
use crate::{
    DualProblem, Error,
    form::{Evaluation, SparseWeights},
};

/// The solutions of one problem for every gamma of a grid.
#[derive(Debug, Clone)]
pub struct Path {
    /// The values of gamma, increasing.
    pub gammas: Vec<f64>,
    /// The solution for each of them.
    pub solutions: Vec<Solution>,
}

/// The solutions of a problem for every gamma of a grid; the problem's own gamma does not count.
///
/// Each fit starts from the solution for the gamma before it; a solver that [shares its passes](Solver::shares_passes)
/// follows a few chains of gammas abreast, each from its own first. The observer sees the index of the gamma as
/// [`Progress::problem`]; when it stops, the gammas that are left get the null model with its certificate and the status
/// [`Interrupted`](super::Status::Interrupted).
///
/// ```
/// use banach::{
///     DualProblem, Exponent, FeatureMatrix, Newton, Unobserved, form::Features, loss::Squared, solver::GammaGrid
/// };
/// let x = FeatureMatrix::from_rows(3, 4, &[1.0, 0.2, 0.0, -0.3, 0.1, 1.0, 0.5, 0.0, -0.4, 0.3, 1.0, 0.8])?;
/// let form = Features::new(x, Exponent::new(1.5)?);
/// let problem = DualProblem::new(&form, &Squared, &[1.0, -1.0, 0.5], 1.0)?;
///
/// let grid = GammaGrid::from_data(&problem, 10)?;
/// let path = banach::solver::path(&problem, &grid, &Newton::default(), &mut Unobserved)?;
/// let size = |weights: Vec<f64>| weights.iter().map(|w| w.abs().powf(1.5)).sum::<f64>();
/// let sizes = path.solutions.iter().map(|solution| size(form.weights(&solution.alpha)));
/// assert!(sizes.is_sorted(), "the larger gamma, the larger the model");
/// # Ok::<(), banach::Error>(())
/// ```
pub fn path(
    problem: &DualProblem<'_>,
    grid: &GammaGrid,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Path, Error> {
    Ok(path_all(std::slice::from_ref(problem), grid, solver, observer)?.swap_remove(0))
}

/// The paths of several problems over one form (outputs, classes, resamples), each gamma a batch for the solver.
///
/// As [`path`]; the observer sees the problem `gamma * problems.len() + problem`.
pub fn path_all(
    problems: &[DualProblem<'_>],
    grid: &GammaGrid,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Vec<Path>, Error> {
    let gammas = grid.values();
    let mut solutions: Vec<Vec<Option<Solution>>> = vec![vec![None; gammas.len()]; problems.len()];
    let mut keep = |gamma: usize, problem: usize, solution: &Solution| {
        solutions[problem][gamma] = Some(solution.clone());
    };
    follow(problems, gammas, chains(solver, gammas.len()), solver, observer, &mut keep)?;
    // Every gamma is solved.
    let path = |solutions: Vec<Option<Solution>>| Path {
        gammas: gammas.to_vec(),
        solutions: solutions.into_iter().flatten().collect(),
    };
    Ok(solutions.into_iter().map(path).collect())
}

/// Gammas of a chain. Only the first starts far from its solution, and the other four from a neighbour's; longer chains would share
/// fewer passes.
const CHAIN: usize = 5;

/// How many chains of warm starts a grid is divided into: one, unless the solver shares its passes among them.
pub(crate) fn chains(solver: &dyn Solver, gammas: usize) -> usize {
    if solver.shares_passes() { (gammas / CHAIN).max(1) } else { 1 }
}

/// Solves several problems over one form, the *lanes*, for every gamma. The gammas are divided into *chains* of neighbours. All
/// lanes of all chains are one batch, so that a solver that works on a batch shares its passes among them, and every
/// fit but the first of a chain starts from the last solution of its lane and chain. What a fit starts from does not
/// depend on which others are in its batch.
///
/// `keep` is given every solution with its gamma and its lane. The observer sees problem `gamma * lanes + lane`.
pub(super) fn follow(
    lanes: &[DualProblem<'_>],
    gammas: &[f64],
    chains: usize,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
    keep: &mut dyn FnMut(usize, usize, &Solution),
) -> Result<(), Error> {
    let length = gammas.len().div_ceil(chains.max(1));
    let mut stopped = ControlFlow::Continue(());
    let mut histories: Vec<History> = (0..lanes.len() * chains.max(1)).map(|_| History::default()).collect();
    let mut rounds: VecDeque<Vec<usize>> = (0..length).map(|at| (at..gammas.len()).step_by(length).collect()).collect();
    while let Some(round) = rounds.pop_front() {
        let fits: Vec<(usize, usize)> =
            round.iter().flat_map(|&gamma| (0..lanes.len()).map(move |lane| (gamma, lane))).collect();
        let history = |&(gamma, lane): &(usize, usize)| gamma / length * lanes.len() + lane;
        let problems = fits.iter().map(|&(gamma, lane)| lanes[lane].with_gamma(gammas[gamma]));
        let problems = problems.collect::<Result<Vec<_>, _>>()?;
        if stopped.is_break() {
            // Nobody waits for passes over the data after a stop.
            fits.iter().zip(&problems).for_each(|(fit, problem)| keep(fit.0, fit.1, &untouched(problem)));
            continue;
        }
        let starts: Vec<_> =
            problems.iter().zip(&fits).map(|(problem, fit)| histories[history(fit)].start(problem)).collect();
        let mut observe_batch = |progress: &Progress| {
            if stopped.is_continue() {
                let (gamma, lane) = fits[progress.problem];
                stopped = observer.observe(&Progress { problem: gamma * lanes.len() + lane, ..*progress });
            }
            stopped
        };
        let solutions = solver.solve_on(&problems, starts, &mut observe_batch)?;
        if solutions.iter().any(|(solution, _)| solution.status == Status::Interrupted) {
            stopped = ControlFlow::Break(());
        }
        for ((fit, problem), (solution, known)) in fits.iter().zip(&problems).zip(solutions) {
            keep(fit.0, fit.1, &solution);
            histories[history(fit)].push(problem.gamma(), solution, known);
        }
    }
    Ok(())
}

/// What is known of a problem without a pass over the data: `alpha = 0`, which is the null model.
pub(super) fn untouched(problem: &DualProblem<'_>) -> Solution {
    let alpha = vec![0.0; problem.samples()];
    let evaluation = Evaluation {
        values: vec![0.0],
        ln_values: vec![f64::NEG_INFINITY],
        omegas: alpha.clone(),
        roundings: alpha.clone(),
        ..Evaluation::default()
    };
    Solution {
        omega: alpha.clone(),
        intercept: if problem.has_intercept() { problem.intercept(&alpha) } else { 0.0 },
        weights: problem.form().exponent().is_endpoint().then(SparseWeights::default),
        certificate: problem.certificate(&alpha, &evaluation),
        status: Status::Interrupted,
        iterations: 0,
        passes: 0,
        alpha,
    }
}
