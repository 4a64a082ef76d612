//! Solutions along increasing gamma, for one problem or for several at once.

use std::ops::ControlFlow;

use super::{GammaGrid, Observer, Progress, Solution, Solver, Start};
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
/// use banach::{DualProblem, Exponent, FeatureMatrix, Features, GammaGrid, ProximalGradient, Squared, Unobserved};
/// let x = FeatureMatrix::from_rows(3, 4, &[1.0, 0.2, 0.0, -0.3, 0.1, 1.0, 0.5, 0.0, -0.4, 0.3, 1.0, 0.8])?;
/// let form = Features::new(x, Exponent::new(1.5)?);
/// let problem = DualProblem::new(&form, &Squared, &[1.0, -1.0, 0.5], 1.0)?;
///
/// let grid = GammaGrid::from_data(&problem, 10)?;
/// let path = banach::path(&problem, &grid, &ProximalGradient::default(), &mut Unobserved)?;
/// let norms = path.solutions.iter().map(|solution| form.weights(&solution.alpha).iter().map(|w| w.abs().powf(1.5)).sum());
/// assert!(norms.collect::<Vec<f64>>().is_sorted(), "the larger gamma, the larger the model");
/// # Ok::<(), banach::Error>(())
/// ```
pub fn path(
    problem: &DualProblem<'_>,
    grid: &GammaGrid,
    solver: &dyn Solver,
    observer: &mut dyn Observer,
) -> Result<Path, Error> {
    let gammas = grid.values().to_vec();
    let mut solutions = Vec::with_capacity(gammas.len());
    let lanes = std::slice::from_ref(problem);
    follow(lanes, &gammas, 1, solver, observer, &mut |_, _, solution| solutions.push(solution.clone()))?;
    Ok(Path { gammas, solutions })
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
    let mut last: Vec<Option<Solved>> = lanes.iter().map(|_| None).collect();
    let mut first = 0;
    while first < gammas.len() {
        // What is left after a stop is one batch, which ends at its start.
        let end = if stopped.is_break() { gammas.len() } else { gammas.len().min(first + gammas_per_batch) };
        let batch = gammas[first..end].iter().flat_map(|&gamma| lanes.iter().map(move |lane| lane.with_gamma(gamma)));
        let problems = batch.collect::<Result<Vec<_>, _>>()?;
        let of_lanes = last.iter().cycle();
        let starts: Vec<_> = problems.iter().zip(of_lanes).map(|(problem, last)| warm_start(problem, last)).collect();
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
            last[lane] = Some(Solved { gamma: problem.gamma(), alpha: solution.alpha, omega: solution.omega });
        }
        first = end;
    }
    Ok(())
}

/// The solution for another gamma.
struct Solved {
    gamma: f64,
    alpha: Vec<f64>,
    omega: Vec<f64>,
}

fn warm_start(problem: &DualProblem<'_>, last: &Option<Solved>) -> Start {
    let scaled = last.as_ref().map(|last| scaled(problem, last));
    match scaled {
        Some(alpha) if problem.check_start(&alpha).is_ok() => Start::At(alpha),
        _ => Start::Auto,
    }
}

/// The minimiser of Lambda on the ray through the solution `alpha` for a smaller gamma, which costs no pass because
/// `q Q(t alpha) = t^q <alpha, omega>`.
///
/// The factor t lies between 1 (alpha stays, as for large gammas) and the ratio of the gammas (`alpha_i/gamma_i` stays, as for
/// small ones): there the slope of Lambda along the ray changes its sign, by the optimality of alpha and the monotony of
/// the conjugate's slopes. All these points are in the domain, which is an interval that contains 0.
fn scaled(problem: &DualProblem<'_>, last: &Solved) -> Vec<f64> {
    let (gammas, q) = (problem.gammas(), problem.form().exponent().q());
    let power: f64 = last.alpha.iter().zip(&last.omega).map(|(alpha, omega)| alpha * omega).sum();
    let slope = |t: f64| {
        let samples = gammas.iter().zip(problem.targets()).zip(&last.alpha);
        let terms = samples.map(|((&gamma, &y), &alpha)| match problem.loss().conjugate_slope(y, t * alpha / gamma) {
            _ if gamma == 0.0 || alpha == 0.0 => 0.0,
            Some(slope) => alpha * slope,
            None => f64::INFINITY,
        });
        power * t.powf(q - 1.0) + terms.sum::<f64>()
    };
    // The ratio itself might round out of the domain.
    let ratio = problem.gamma() / last.gamma * (1.0 - 1e-14);
    let (mut lower, mut upper) = (0.0, ratio.ln());
    for _ in 0..40 {
        let middle = 0.5 * (lower + upper);
        if slope(f64::exp(middle)) < 0.0 {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    let t = f64::exp(lower);
    last.alpha.iter().map(|alpha| t * alpha).collect()
}
