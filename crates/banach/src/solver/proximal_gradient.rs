//! Algorithm 3.3 `[dualalgo]`.

use super::{Linesearch, MAX_TRIALS, Observer, Progress, Solution, Solver, Start, Status, Stopping};
use crate::{Certificate, DualProblem, Error, data::Scratch, form::Evaluation, loss::Split};

/// Proximal gradient descent on the dual, for every loss.
///
/// - Solves: `min phi_1(alpha) + phi_2(alpha)`, (27) `[eq:201705417a]`.
/// - Given: a dual problem. `phi_1 = Lambda`, `phi_2 = 0` for the squared and the logistic loss; otherwise
///   `phi_1 = Q` and `phi_2` is the sum of the conjugates. With an intercept the constraint `sum_i alpha_i = 0` is a part
///   of `phi_2`: a projection of the gradient, or a shift of all entries before the proximity operator.
/// - Returns: `alpha_m`, linearly convergent if Lambda is strongly convex; else `||w_m - w_bar||_p = o(1/sqrt(m))`
///   (Theorem 3.6 `[thm:dualalgo]`).
/// - Cost: two passes over the data per iteration. With a proximity operator, another one for every 8 trials
///   beyond one more than the last search took.
/// - See: Algorithm 3.3. The trial point uses `lambda_bar theta^j` throughout (docs/errata.md).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProximalGradient {
    /// When to stop.
    pub stopping: Stopping,
    /// Step sizes.
    pub linesearch: Linesearch,
}

impl Solver for ProximalGradient {
    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        self.stopping.check()?;
        problem.form().exponent().refuse_endpoint()?;
        let lambda_bar = self.linesearch.first_step(problem.largest_gamma())?;
        let mut run = ProximalRun::new(problem, start, self.linesearch)?;
        let mut lambda = lambda_bar;
        let status = loop {
            if let Some(status) = self.stopping.end(&run.progress(), observer) {
                break status;
            }
            run.form_gradient();
            let Some(accepted) = run.search(lambda) else { break Status::Stalled };
            run.step();
            let blurred = run.evaluate(self.stopping.tolerance);
            run.remember_best();
            if blurred {
                break Status::Rounding;
            }
            lambda = self.linesearch.next_start(lambda_bar, accepted);
        };
        Ok(run.solution(status))
    }
}

/// Trial points that share one pass over the data: it costs less than as many passes, and a search seldom needs more trials.
const TRIALS: usize = 8;

/// The state of one run.
struct ProximalRun<'a> {
    problem: &'a DualProblem<'a>,
    linesearch: Linesearch,
    alpha: Vec<f64>,
    /// The trial that the search accepted.
    next: Vec<f64>,
    evaluation: Evaluation,
    certificate: Certificate,
    /// The gradient of `phi_1`.
    gradient: Vec<f64>,
    /// The trials of a proximal search, and their directions from alpha: n-vectors one after another.
    trials: Vec<f64>,
    directions: Vec<f64>,
    /// Trials of the last search, which tells how many to prepare in the next.
    last_trials: usize,
    best: BestIterate,
    scratch: Scratch,
    iteration: usize,
    passes: usize,
}

/// The iterate with the smallest relative gap.
struct BestIterate {
    alpha: Vec<f64>,
    omega: Vec<f64>,
    certificate: Certificate,
}

impl<'a> ProximalRun<'a> {
    /// A run at its start, evaluated.
    fn new(problem: &'a DualProblem<'a>, start: &Start, linesearch: Linesearch) -> Result<Self, Error> {
        let mut scratch = Scratch::new();
        let (alpha, passes) = start.alpha(problem, &mut scratch)?;
        let n = problem.samples();
        let mut evaluation = Evaluation::default();
        problem.form().evaluate(&alpha, &mut evaluation, &mut scratch);
        let certificate = problem.certificate(&alpha, &evaluation);
        refuse_infinite_start(&alpha, &certificate)?;
        Ok(Self {
            problem,
            linesearch,
            next: alpha.clone(),
            best: BestIterate { alpha: alpha.clone(), omega: evaluation.omegas.clone(), certificate },
            evaluation,
            certificate,
            gradient: vec![0.0; n],
            trials: vec![0.0; n * TRIALS],
            directions: vec![0.0; n * TRIALS],
            last_trials: 1,
            alpha,
            scratch,
            iteration: 0,
            passes: passes + 1,
        })
    }

    /// Evaluates and certifies the iterate; returns whether only rounding is between it and the tolerance.
    fn evaluate(&mut self, tolerance: f64) -> bool {
        self.problem.form().evaluate(&self.alpha, &mut self.evaluation, &mut self.scratch);
        let certified = self.problem.certify(&self.alpha, &mut self.evaluation, tolerance, &mut self.scratch);
        self.passes += 1 + certified.passes;
        self.certificate = certified.certificate;
        certified.blurred
    }

    fn remember_best(&mut self) {
        if self.certificate.relative_gap() < self.best.certificate.relative_gap() {
            self.best.alpha.copy_from_slice(&self.alpha);
            self.best.omega.copy_from_slice(&self.evaluation.omegas);
            self.best.certificate = self.certificate;
        }
    }

    fn progress(&self) -> Progress {
        Progress { problem: 0, iteration: self.iteration, passes: self.passes, certificate: self.certificate }
    }

    fn form_gradient(&mut self) {
        self.gradient.copy_from_slice(&self.evaluation.omegas);
        if self.problem.loss().split() == Split::Smooth {
            self.problem.add_conjugate_gradient(&self.alpha, &mut self.gradient);
            self.problem.project(&mut self.gradient);
        }
    }

    /// The first step that passes the test, or `None` if no step does: `next` is then no longer different from
    /// `alpha`, or the start was so far out that the gradient has left the range of f64.
    fn search(&mut self, first: f64) -> Option<f64> {
        if !self.gradient.iter().all(|gradient| gradient.is_finite()) {
            return None;
        }
        match self.problem.loss().split() {
            Split::Smooth => self.search_along_gradient(first),
            Split::Proximal => self.search_proximal(first),
        }
    }

    /// The step for `phi_2 = 0`: the trials lie on a line, so one pass serves all of them. A trial that is not
    /// strictly inside the domain is refused.
    ///
    /// DEVIATION: the left side of the test is computed as a Bregman distance without cancellation.
    fn search_along_gradient(&mut self, first: f64) -> Option<f64> {
        let n = self.alpha.len();
        let direction = &mut self.directions[..n];
        direction.iter_mut().zip(&self.gradient).for_each(|(direction, gradient)| *direction = -gradient);
        let before = self.passes;
        let lines = self.problem.form().lines(&self.alpha, direction, &mut self.scratch);
        self.passes = before + lines.passes();
        let size = norm(direction);
        let mut lambda = first;
        for _ in 0..MAX_TRIALS {
            let trial = self.alpha.iter().zip(&*direction).map(|(alpha, direction)| alpha + lambda * direction);
            self.next.iter_mut().zip(trial).for_each(|(next, trial)| *next = trial);
            self.problem.balance(&mut self.next);
            if self.next == self.alpha || lambda == 0.0 {
                return None;
            }
            if self.problem.first_inadmissible(&self.next).is_none() {
                let bregman = lines.at(0, lambda).bregman + self.problem.conjugate_bregman(&self.alpha, &self.next);
                self.passes = before + lines.passes();
                // ||alpha_hat - alpha||^2 / lambda = lambda ||gradient||^2.
                if bregman / lambda / size <= self.linesearch.delta * size {
                    return Some(lambda);
                }
            }
            lambda *= self.linesearch.theta;
        }
        None
    }

    /// The step for `phi_1 = Q`: each trial has its own direction, and a batch of trials shares a pass.
    fn search_proximal(&mut self, first: f64) -> Option<f64> {
        let n = self.alpha.len();
        let (mut lambda, mut tried) = (first, 0);
        while lambda > 0.0 && tried < MAX_TRIALS {
            let batch = if tried == 0 { TRIALS.min(self.last_trials + 1) } else { TRIALS };
            let lambdas: [f64; TRIALS] = std::array::from_fn(|j| lambda * self.linesearch.theta.powi(j as i32));
            let (trials, directions) = (&mut self.trials[..n * batch], &mut self.directions[..n * batch]);
            for ((trial, direction), lambda) in trials.chunks_mut(n).zip(directions.chunks_mut(n)).zip(lambdas) {
                let forward = self.alpha.iter().zip(&self.gradient).map(|(alpha, gradient)| alpha - lambda * gradient);
                trial.iter_mut().zip(forward).for_each(|(trial, forward)| *trial = forward);
                self.problem.prox(lambda, trial);
                // A trial that overflowed is refused below; its line must only be a line.
                let steps = trial.iter().zip(&self.alpha).map(|(trial, alpha)| trial - alpha);
                direction.iter_mut().zip(steps).for_each(|(direction, step)| {
                    *direction = if step.is_finite() { step } else { 0.0 };
                });
            }
            let before = self.passes;
            let lines = self.problem.form().lines(&self.alpha, directions, &mut self.scratch);
            self.passes = before + lines.passes();
            for (j, (trial, lambda)) in trials.chunks(n).zip(lambdas).enumerate() {
                tried += 1;
                if trial == self.alpha {
                    return None;
                }
                let size = norm(&directions[j * n..(j + 1) * n]);
                let accepted = self.problem.first_inadmissible(trial).is_none()
                    && lines.at(j, 1.0).bregman / size <= self.linesearch.delta * size / lambda;
                self.passes = before + lines.passes();
                if accepted {
                    self.next.copy_from_slice(trial);
                    self.last_trials = tried;
                    return Some(lambda);
                }
            }
            lambda = lambdas[batch - 1] * self.linesearch.theta;
        }
        None
    }

    fn step(&mut self) {
        std::mem::swap(&mut self.alpha, &mut self.next);
        self.iteration += 1;
    }

    fn solution(self, status: Status) -> Solution {
        let BestIterate { alpha, omega, certificate } = self.best;
        let intercept = self.problem.intercept(&omega);
        Solution {
            alpha,
            omega,
            intercept,
            weights: None,
            certificate,
            status,
            iterations: self.iteration,
            passes: self.passes,
        }
    }
}

/// A given start may be in the domain of the loss and still too far out for Q.
fn refuse_infinite_start(alpha: &[f64], certificate: &Certificate) -> Result<(), Error> {
    if certificate.dual.is_finite() {
        return Ok(());
    }
    let row = (0..alpha.len()).max_by(|&i, &j| alpha[i].abs().total_cmp(&alpha[j].abs()));
    let row = row.expect("a problem has at least one sample");
    let allowed = "a start at which Lambda is a finite number: smaller values";
    Err(Error::BadValue { what: "alpha_0", row, value: alpha[row], allowed })
}

/// The Euclidean norm, whose square may be out of range.
fn norm(v: &[f64]) -> f64 {
    let size = v.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
    if size == 0.0 { 0.0 } else { size * v.iter().map(|v| (v / size).powi(2)).sum::<f64>().sqrt() }
}
