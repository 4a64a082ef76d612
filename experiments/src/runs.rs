//! Single runs of the compared algorithms, with the precision the paper measures.

use std::{ops::ControlFlow, time::Instant};

use banach::{
    Certificate, DualProblem, Loss, Observer, QForm, Solution, Solver, Status, Stopping,
    form::Features,
    loss::Squared,
    solver::{
        Gradient, Linesearch, Progress, Rule,
        primal::{Fista, GradientDescent, Momentum, PrimalProblem, PrimalSolution},
    },
};
use serde::Serialize;

use crate::{Error, Watch};

/// The relative gap of the reference solution (the paper's footnote to Table 1's experiment).
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
    /// Line search: first trial.
    pub lambda_bar: f64,
    /// Line search: whether every iteration starts from the first trial, or from the last step.
    pub rule: Rule,
    /// Relative precision at which iterations are counted.
    pub precision: f64,
    /// Iterations after which a baseline is given up.
    pub limit: usize,
    /// `a` of the momentum (k-1)/(k+a), in the second row of FISTA.
    pub momentum: f64,
}

impl Default for Settings {
    fn default() -> Self {
        let rule = Rule::Restart;
        let momentum = Self::MOMENTUM;
        Self { gamma: 10.0, delta: 0.5, theta: 0.5, lambda_bar: 0.2, rule, precision: 1e-8, limit: 5000, momentum }
    }
}

impl Settings {
    /// The middle of 2.2 and 2.5, between which a search found counts above and below both that the paper prints. The paper cites
    /// the momentum, and gives no number.
    pub const MOMENTUM: f64 = 2.35;

    /// The momentum of the second row of FISTA.
    pub(crate) fn fista(&self) -> Momentum {
        Momentum::ChambolleDossal { a: self.momentum }
    }

    /// Algorithm 2.1, to be stopped at this relative gap or after so many iterations.
    fn dual_algorithm(&self, tolerance: f64, max_iterations: usize) -> Gradient {
        let Self { rule, delta, theta, lambda_bar, .. } = *self;
        let linesearch = Linesearch { rule, delta, theta, lambda_bar: Some(lambda_bar) };
        Gradient { stopping: Stopping { tolerance, max_iterations }, linesearch }
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
    /// FISTA on the primal, with the momentum of Beck and Teboulle.
    Fista,
    /// FISTA with the momentum of Chambolle and Dossal.
    FistaMomentum,
}

impl Algorithm {
    /// The paper's name for it.
    pub fn title(self) -> &'static str {
        match self {
            Self::DualGradient => "dual GD + linesearch",
            Self::PrimalGradient => "primal GD + linesearch",
            Self::Fista => "primal FISTA",
            Self::FistaMomentum => "primal FISTA, (k-1)/(k+a)",
        }
    }
}

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The precision was reached.
    Precision,
    /// The largest number of iterations was reached first.
    Limit,
    /// The algorithm made no progress any more.
    Stalled,
}

/// One run of one algorithm, up to the precision.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The seed of the data.
    pub seed: u64,
    /// Iterations up to the end of the run.
    pub iterations: usize,
    /// What ended it.
    pub end: End,
    /// The relative precision there.
    pub precision: f64,
    /// The relative duality gap there.
    pub relative_gap: f64,
    /// The bound on the distance to the solution there, from (26) `[eq:dualineq]`.
    pub distance: f64,
    /// Passes over the data up to there.
    pub passes: usize,
    /// Seconds up to there.
    pub seconds: f64,
    /// The relative precision after each iteration, from the start.
    #[serde(skip)]
    pub history: Vec<f64>,
}

impl Outcome {
    fn new(seed: u64, end: End, precision: f64, progress: &Progress, seconds: f64, history: Vec<f64>) -> Self {
        Self {
            seed,
            iterations: progress.iteration,
            end,
            precision,
            relative_gap: progress.certificate.relative_gap(),
            distance: progress.certificate.distance,
            passes: progress.passes,
            seconds,
            history,
        }
    }
}

/// The dual solution to which all runs are compared, and how the dual algorithm got there.
pub(crate) struct Reference {
    pub solution: Solution,
    pub outcome: Outcome,
}

/// Runs the dual algorithm until the duality gap is below 1e-14 and counts its iterations to the precision.
pub(crate) fn dual(
    settings: &Settings,
    form: &dyn QForm,
    targets: &[f64],
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Reference, Error> {
    let problem = DualProblem::new(form, LOSS, targets, settings.gamma)?;
    let mut marks = Vec::new();
    let started = Instant::now();
    let mut observe = |progress: &Progress| {
        marks.push((*progress, started.elapsed().as_secs_f64()));
        watch.step(progress.iteration)
    };
    let solution = settings.dual_algorithm(REFERENCE_GAP, 100 * settings.limit).solve(&problem, &mut observe)?;
    match solution.status {
        Status::Converged => {}
        Status::Interrupted => return Err(Error::Stopped),
        status => {
            let gap = solution.certificate.relative_gap();
            return Err(Error::NoReference { p: form.exponent().p(), status, gap, wanted: REFERENCE_GAP });
        }
    }
    let minimum = solution.certificate.dual;
    let history: Vec<f64> =
        marks.iter().map(|(progress, _)| (progress.certificate.dual - minimum) / minimum.abs()).collect();
    let reached = history.iter().position(|&precision| precision <= settings.precision);
    let reached = reached.expect("the minimum itself is among the values");
    let (progress, seconds) = &marks[reached];
    let outcome = Outcome::new(seed, End::Precision, history[reached], progress, *seconds, history);
    Ok(Reference { solution, outcome })
}

/// Follows a run towards a known minimum, and stops it at the precision.
struct Follow<'a> {
    /// What approaches the minimum.
    value: fn(&Certificate) -> f64,
    minimum: f64,
    precision: f64,
    history: Vec<f64>,
    started: Instant,
    watch: &'a mut dyn Watch,
    stopped: bool,
}

impl Observer for Follow<'_> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let distance = self.distance(&progress.certificate);
        self.history.push(distance);
        self.stopped = self.watch.step(progress.iteration).is_break();
        if self.stopped || distance <= self.precision { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl<'a> Follow<'a> {
    fn new(value: fn(&Certificate) -> f64, minimum: f64, precision: f64, watch: &'a mut dyn Watch) -> Self {
        Self { value, minimum, precision, history: Vec::new(), started: Instant::now(), watch, stopped: false }
    }

    /// The relative precision.
    fn distance(&self, certificate: &Certificate) -> f64 {
        ((self.value)(certificate) - self.minimum) / self.minimum.abs()
    }

    /// What became of the run.
    fn outcome(self, seed: u64, status: Status, progress: &Progress) -> Result<Outcome, Error> {
        if self.stopped {
            return Err(Error::Stopped);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let precision = self.distance(&progress.certificate);
        let end = match status {
            _ if precision <= self.precision => End::Precision,
            Status::IterationLimit => End::Limit,
            _ => End::Stalled,
        };
        Ok(Outcome::new(seed, end, precision, progress, seconds, self.history))
    }
}

/// Runs the dual algorithm on another form of the same problem, until its value is within the precision of the
/// minimum, or the limit is met.
pub(crate) fn dual_again(
    settings: &Settings,
    form: &dyn QForm,
    targets: &[f64],
    reference: &Reference,
    watch: &mut dyn Watch,
) -> Result<Outcome, Error> {
    let problem = DualProblem::new(form, LOSS, targets, settings.gamma)?;
    let minimum = reference.solution.certificate.dual;
    let mut follow = Follow::new(|certificate| certificate.dual, minimum, settings.precision, watch);
    let solution = settings.dual_algorithm(0.0, settings.limit).solve(&problem, &mut follow)?;
    let Solution { certificate, status, iterations, passes, .. } = solution;
    follow.outcome(reference.outcome.seed, status, &Progress { problem: 0, iteration: iterations, passes, certificate })
}

/// Runs a primal baseline until its value is within the precision of the minimum, or the limit is met.
pub(crate) fn primal(
    algorithm: Algorithm,
    settings: &Settings,
    form: &Features<'_>,
    targets: &[f64],
    reference: &Reference,
    watch: &mut dyn Watch,
) -> Result<Outcome, Error> {
    let problem = PrimalProblem::new(form, LOSS, targets, settings.gamma)?;
    let minimum = -reference.solution.certificate.dual;
    let stopping = Stopping { tolerance: 0.0, max_iterations: settings.limit };
    let mut follow = Follow::new(|certificate| certificate.primal, minimum, settings.precision, watch);
    let solution = match algorithm {
        Algorithm::PrimalGradient => {
            let linesearch = Linesearch { delta: settings.delta, theta: settings.theta, ..Linesearch::default() };
            GradientDescent { stopping, linesearch }.solve(&problem, &mut follow)?
        }
        Algorithm::Fista => Fista { stopping, ..Fista::default() }.solve(&problem, &mut follow)?,
        Algorithm::FistaMomentum => Fista { stopping, momentum: settings.fista() }.solve(&problem, &mut follow)?,
        Algorithm::DualGradient => unreachable!("the dual algorithm is not a primal baseline"),
    };
    let PrimalSolution { certificate, status, iterations, passes, .. } = solution;
    follow.outcome(reference.outcome.seed, status, &Progress { problem: 0, iteration: iterations, passes, certificate })
}
