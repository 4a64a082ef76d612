//! Single runs of the compared algorithms, with the precision the paper measures.

use std::{ops::ControlFlow, time::Instant};

use banach::{
    Certificate, DualProblem, Features, Linesearch, Loss, Progress, ProximalGradient, Rule, Solution, Solver, Squared,
    Start, Status, Stopping,
    solver::primal::{Fista, GradientDescent, PrimalProblem},
};
use serde::Serialize;

use crate::{Error, Watch, data::Sample};

/// The relative gap of the reference solution (the paper's footnote 4).
const REFERENCE_GAP: f64 = 1e-14;

/// The loss of both experiments.
pub(crate) const LOSS: &dyn Loss = &Squared;

/// What the paper fixes, and what it leaves open and we found by measurement (docs/reproduction.md).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Settings {
    /// The regularisation parameter.
    pub gamma: f64,
    /// Line search: acceptance.
    pub delta: f64,
    /// Line search: shrinkage.
    pub theta: f64,
    /// Line search: first trial, in every iteration.
    pub lambda_bar: f64,
    /// Relative precision at which iterations are counted.
    pub precision: f64,
    /// Iterations after which a baseline is given up.
    pub limit: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { gamma: 10.0, delta: 0.5, theta: 0.5, lambda_bar: 0.2, precision: 1e-8, limit: 5000 }
    }
}

impl Settings {
    fn linesearch(&self) -> Linesearch {
        Linesearch { rule: Rule::Restart, delta: self.delta, theta: self.theta, lambda_bar: Some(self.lambda_bar) }
    }
}

/// An algorithm of Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Algorithm 2.1 on the dual.
    DualGradient,
    /// Gradient descent on the primal.
    PrimalGradient,
    /// FISTA on the primal.
    Fista,
}

impl Algorithm {
    /// The paper's name for it.
    pub fn title(self) -> &'static str {
        match self {
            Self::DualGradient => "dual GD + linesearch",
            Self::PrimalGradient => "primal GD + linesearch",
            Self::Fista => "primal FISTA",
        }
    }
}

/// One run of one algorithm.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The seed of the data.
    pub seed: u64,
    /// Iterations to the precision; `None` if the limit came first.
    pub iterations: Option<usize>,
    /// The relative precision at the end.
    pub precision: f64,
    /// Passes over the data up to there.
    pub passes: usize,
    /// Seconds up to there.
    pub seconds: f64,
    /// The relative precision after each iteration, from the start.
    #[serde(skip)]
    pub history: Vec<f64>,
}

/// The dual solution to which all runs are compared, and how the dual algorithm got there.
pub(crate) struct Reference {
    pub solution: Solution,
    pub outcome: Outcome,
}

/// Runs the dual algorithm until the duality gap is below 1e-14 and counts its iterations to the precision.
pub(crate) fn dual(
    settings: &Settings,
    form: &Features<'_>,
    sample: &Sample,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Reference, Error> {
    let problem = DualProblem::new(form, LOSS, &sample.targets, settings.gamma)?;
    let stopping = Stopping { tolerance: REFERENCE_GAP, max_iterations: 100 * settings.limit };
    let solver = ProximalGradient { stopping, linesearch: settings.linesearch(), start: Start::Auto };
    let mut marks = Vec::new();
    let started = Instant::now();
    let mut observe = |progress: &Progress| {
        marks.push((progress.certificate.dual, progress.passes, started.elapsed().as_secs_f64()));
        watch.step(progress.iteration)
    };
    let solution = solver.solve(&problem, &mut observe)?;
    match solution.status {
        Status::Converged => {}
        Status::Interrupted => return Err(Error::Stopped),
        status => {
            let gap = solution.certificate.relative_gap();
            return Err(Error::NoReference { p: form_p(form), status, gap, wanted: REFERENCE_GAP });
        }
    }
    let minimum = solution.certificate.dual;
    let history: Vec<f64> = marks.iter().map(|(dual, ..)| (dual - minimum) / minimum.abs()).collect();
    let reached = history.iter().position(|&precision| precision <= settings.precision);
    let (_, passes, seconds) = marks[reached.unwrap_or(marks.len() - 1)];
    let precision = history[reached.unwrap_or(history.len() - 1)];
    Ok(Reference { outcome: Outcome { seed, iterations: reached, precision, passes, seconds, history }, solution })
}

/// Runs a primal baseline until its value is within the precision of the minimum, or the limit is met.
pub(crate) fn primal(
    algorithm: Algorithm,
    settings: &Settings,
    form: &Features<'_>,
    sample: &Sample,
    reference: &Reference,
    watch: &mut dyn Watch,
) -> Result<Outcome, Error> {
    let problem = PrimalProblem::new(form, LOSS, &sample.targets, settings.gamma)?;
    let minimum = -reference.solution.certificate.dual;
    let precision = |certificate: &Certificate| (certificate.primal - minimum) / minimum.abs();
    let stopping = Stopping { tolerance: 0.0, max_iterations: settings.limit };
    let mut history = Vec::new();
    let mut stopped = false;
    let started = Instant::now();
    let mut observe = |progress: &Progress| {
        history.push(precision(&progress.certificate));
        stopped = watch.step(progress.iteration).is_break();
        let reached = history.last().is_some_and(|&precision| precision <= settings.precision);
        if stopped || reached { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let solution = match algorithm {
        Algorithm::PrimalGradient => {
            let linesearch = Linesearch { delta: settings.delta, theta: settings.theta, ..Linesearch::default() };
            GradientDescent { stopping, linesearch }.solve(&problem, &mut observe)?
        }
        Algorithm::Fista => Fista { stopping }.solve(&problem, &mut observe)?,
        Algorithm::DualGradient => unreachable!("the dual algorithm is not a primal baseline"),
    };
    if stopped {
        return Err(Error::Stopped);
    }
    let precision = precision(&solution.certificate);
    Ok(Outcome {
        seed: reference.outcome.seed,
        iterations: (precision <= settings.precision).then_some(solution.iterations),
        precision,
        passes: solution.passes,
        seconds: started.elapsed().as_secs_f64(),
        history,
    })
}

fn form_p(form: &Features<'_>) -> f64 {
    use banach::QForm;
    form.exponent().p()
}
