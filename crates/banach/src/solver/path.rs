//! Solutions along increasing gamma, for one problem or for several at once.

use std::ops::ControlFlow;

use super::{GammaGrid, Observer, Progress, Solution, Solver, warm_start::History};
use crate::{DualProblem, Error};

/// The solutions of one problem for every gamma of a grid.
#[derive(Debug, Clone)]
pub struct Path {
    /// The values of gamma, increasing.
    pub gammas: Vec<f64>,
    /// The solution for each of them.
    pub solutions: Vec<Solution>,
}

/// The solutions of a problem for every gamma of a grid; of the problem its own gamma does not count.
///
/// Each fit starts from the solution for the gamma before it. The observer sees the index of the gamma as
/// [`Progress::problem`]; when it stops, the gammas that are left get a start with its certificate and the status
/// [`Interrupted`](super::Status::Interrupted).
///
/// ```
/// use banach::{DualProblem, Exponent, FeatureMatrix, Features, GammaGrid, Newton, Squared, Unobserved};
/// let x = FeatureMatrix::from_rows(3, 4, &[1.0, 0.2, 0.0, -0.3, 0.1, 1.0, 0.5, 0.0, -0.4, 0.3, 1.0, 0.8])?;
/// let form = Features::new(x, Exponent::new(1.5)?);
/// let problem = DualProblem::new(&form, &Squared, &[1.0, -1.0, 0.5], 1.0)?;
///
/// let grid = GammaGrid::from_data(&problem, 10)?;
/// let path = banach::path(&problem, &grid, &Newton::default(), &mut Unobserved)?;
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
    let mut paths: Vec<Path> = problems
        .iter()
        .map(|_| Path { gammas: gammas.to_vec(), solutions: Vec::with_capacity(gammas.len()) })
        .collect();
    let mut keep = |_, problem: usize, solution: &Solution| paths[problem].solutions.push(solution.clone());
    follow(problems, gammas, 1, solver, observer, &mut keep)?;
    Ok(paths)
}

/// Solves several problems over one form, the *lanes*, for every gamma: `gammas_per_batch` values at a time, all lanes
/// together, so that a solver that works on a batch shares its passes among them. Every batch starts from the last
/// solution of its lane. Few gammas per batch give near starts, many give large batches.
///
/// `keep` is given every solution with its gamma and its lane. The observer sees problem `gamma * lanes + lane`.
pub(super) fn follow(
    lanes: &[DualProblem<'_>],
    gammas: &[f64],
    gammas_per_batch: usize,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
    keep: &mut dyn FnMut(usize, usize, &Solution),
) -> Result<(), Error> {
    let mut stopped = ControlFlow::Continue(());
    let mut histories: Vec<History> = lanes.iter().map(|_| History::default()).collect();
    let mut first = 0;
    while first < gammas.len() {
        // What is left after a stop is one batch, which ends at its start.
        let end = if stopped.is_break() { gammas.len() } else { gammas.len().min(first + gammas_per_batch) };
        let batch = gammas[first..end].iter().flat_map(|&gamma| lanes.iter().map(move |lane| lane.with_gamma(gamma)));
        let problems = batch.collect::<Result<Vec<_>, _>>()?;
        let of_lanes = problems.iter().zip(histories.iter().cycle());
        let starts: Vec<_> = of_lanes.map(|(problem, history)| history.start(problem)).collect();
        let mut observe_batch = |progress: &Progress| {
            if stopped.is_continue() {
                let problem = first * lanes.len() + progress.problem;
                stopped = observer.observe(&Progress { problem, ..*progress });
            }
            stopped
        };
        let solutions = solver.solve_all(&problems, &starts, &mut observe_batch)?;
        for (at, (problem, solution)) in problems.iter().zip(solutions).enumerate() {
            let lane = at % lanes.len();
            keep(first + at / lanes.len(), lane, &solution);
            histories[lane].push(problem.gamma(), solution);
        }
        first = end;
    }
    Ok(())
}
