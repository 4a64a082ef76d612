//! Algorithm 3.3 `[dualalgo]`.

use super::{Linesearch, Observer, Progress, Solution, Solver, Start, Status, Stopping};
use crate::{Certificate, DualProblem, Error, Evaluation, Scratch, loss::Split};

/// Proximal gradient descent on the dual, for every loss.
///
/// - Solves: `min phi_1(alpha) + phi_2(alpha)`, (27) `[eq:201705417a]`.
/// - Given: a dual problem. `phi_1 = Lambda`, `phi_2 = 0` for the squared and the logistic loss; otherwise
///   `phi_1 = Q` and `phi_2` is the sum of the conjugates.
/// - Returns: `alpha_m`, linearly convergent if Lambda is strongly convex, else at rate o(1/m)
///   (Theorem 3.6 `[thm:dualalgo]`).
/// - Cost: two passes over the data per iteration, a third where a search needs more than 8 trials.
/// - See: Algorithm 3.3. The trial point uses `lambda_bar theta^j` throughout (docs/errata.md).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProximalGradient {
    /// When to stop.
    pub stopping: Stopping,
    /// Step sizes.
    pub linesearch: Linesearch,
    /// `alpha_0`.
    pub start: Start,
}

impl Solver for ProximalGradient {
    fn solve(&self, problem: &DualProblem<'_>, observer: &mut dyn Observer) -> Result<Solution, Error> {
        self.stopping.check()?;
        let lambda_bar = self.linesearch.first_step(problem.largest_gamma())?;
        let mut run = Run::new(problem, &self.start, self.linesearch)?;
        let mut lambda = lambda_bar;
        let status = loop {
            run.evaluate();
            run.remember_best();
            if let Some(status) = self.stopping.end(&run.progress(), observer) {
                break status;
            }
            run.form_gradient();
            let found = match problem.loss().split() {
                Split::Smooth => run.search_along_gradient(lambda),
                Split::Proximal => run.search_proximal(lambda),
            };
            let Some(accepted) = found else { break Status::Stalled };
            run.step();
            lambda = self.linesearch.next_start(lambda_bar, accepted);
        };
        Ok(run.solution(status))
    }
}

/// Trial points that share one pass over the data.
const TRIALS: usize = 8;

/// The state of one run.
struct Run<'a> {
    problem: &'a DualProblem<'a>,
    linesearch: Linesearch,
    alpha: Vec<f64>,
    /// The trial that the search accepted.
    next: Vec<f64>,
    evaluation: Evaluation,
    certificate: Certificate,
    /// The gradient of `phi_1`.
    gradient: Vec<f64>,
    /// Directions of the trials, n-vectors one after another.
    directions: Vec<f64>,
    /// Trials of the last search, which tells how many to prepare in the next.
    last_trials: usize,
    best: (Vec<f64>, Vec<f64>, Certificate),
    scratch: Scratch,
    iteration: usize,
    passes: usize,
}

impl<'a> Run<'a> {
    fn new(problem: &'a DualProblem<'a>, start: &Start, linesearch: Linesearch) -> Result<Self, Error> {
        let mut scratch = Scratch::new();
        let alpha = start.alpha(problem, &mut scratch)?;
        let n = problem.samples();
        let worst = Certificate { primal: f64::INFINITY, dual: f64::INFINITY, gap: f64::INFINITY, distance: f64::INFINITY };
        Ok(Self {
            problem,
            linesearch,
            next: alpha.clone(),
            evaluation: Evaluation::default(),
            certificate: worst,
            gradient: vec![0.0; n],
            directions: vec![0.0; n * TRIALS],
            last_trials: 1,
            best: (alpha.clone(), vec![0.0; n], worst),
            alpha,
            scratch,
            iteration: 0,
            passes: 0,
        })
    }

    fn evaluate(&mut self) {
        self.problem.form().evaluate(&self.alpha, &mut self.evaluation, &mut self.scratch);
        self.passes += 1;
        self.certificate = self.problem.certificate(&self.alpha, self.evaluation.values[0], &self.evaluation.omegas);
    }

    fn remember_best(&mut self) {
        if self.iteration == 0 || self.certificate.gap < self.best.2.gap {
            self.best.0.copy_from_slice(&self.alpha);
            self.best.1.copy_from_slice(&self.evaluation.omegas);
            self.best.2 = self.certificate;
        }
    }

    fn progress(&self) -> Progress {
        Progress { iteration: self.iteration, passes: self.passes, certificate: self.certificate }
    }

    fn form_gradient(&mut self) {
        self.gradient.copy_from_slice(&self.evaluation.omegas);
        if self.problem.loss().split() == Split::Smooth {
            self.problem.add_conjugate_gradient(&self.alpha, &mut self.gradient);
        }
    }

    /// The step for `phi_2 = 0`: the trials lie on a line, so one pass serves all of them. A trial outside
    /// the domain has an infinite Bregman distance and is refused.
    ///
    /// DEVIATION: the left side of the test is computed as a Bregman distance without cancellation.
    fn search_along_gradient(&mut self, first: f64) -> Option<f64> {
        let n = self.alpha.len();
        let direction = &mut self.directions[..n];
        direction.iter_mut().zip(&self.gradient).for_each(|(direction, gradient)| *direction = -gradient);
        let lines = self.problem.form().lines(&self.alpha, direction, &mut self.scratch);
        self.passes += 1;
        let mut lambda = first;
        loop {
            let trial = self.alpha.iter().zip(&*direction).map(|(alpha, direction)| alpha + lambda * direction);
            self.next.iter_mut().zip(trial).for_each(|(next, trial)| *next = trial);
            if self.next == self.alpha {
                return None;
            }
            let bregman = lines.at(0, lambda).bregman + self.problem.conjugate_bregman(&self.alpha, &self.next);
            // ||alpha_hat - alpha||^2 / lambda = lambda ||gradient||^2, kept inside the range of f64.
            if bregman / lambda <= self.linesearch.delta * squared_norm(direction) {
                return Some(lambda);
            }
            lambda *= self.linesearch.theta;
        }
    }

    /// The step for `phi_1 = Q`: each trial has its own direction, and a batch of trials shares a pass.
    fn search_proximal(&mut self, first: f64) -> Option<f64> {
        let n = self.alpha.len();
        let (mut lambda, mut tried) = (first, 0);
        loop {
            let batch = (self.last_trials + 1).saturating_sub(tried).clamp(1, TRIALS);
            let lambdas: [f64; TRIALS] = std::array::from_fn(|j| lambda * self.linesearch.theta.powi(j as i32));
            let directions = &mut self.directions[..n * batch];
            for (direction, lambda) in directions.chunks_mut(n).zip(lambdas) {
                for (i, direction) in direction.iter_mut().enumerate() {
                    *direction = self.alpha[i] - lambda * self.gradient[i];
                }
                self.problem.prox(lambda, direction);
                direction.iter_mut().zip(&self.alpha).for_each(|(direction, alpha)| *direction -= alpha);
            }
            let lines = self.problem.form().lines(&self.alpha, directions, &mut self.scratch);
            self.passes += 1;
            for (j, (direction, lambda)) in directions.chunks(n).zip(lambdas).enumerate() {
                tried += 1;
                self.next.iter_mut().zip(&self.alpha).zip(direction).for_each(|((next, a), d)| *next = a + d);
                if self.next == self.alpha {
                    return None;
                }
                if lines.at(j, 1.0).bregman <= self.linesearch.delta * squared_norm(direction) / lambda {
                    self.last_trials = tried;
                    return Some(lambda);
                }
            }
            lambda = lambdas[batch - 1] * self.linesearch.theta;
        }
    }

    fn step(&mut self) {
        std::mem::swap(&mut self.alpha, &mut self.next);
        self.iteration += 1;
    }

    fn solution(self, status: Status) -> Solution {
        let (alpha, omega, certificate) = self.best;
        Solution { alpha, omega, certificate, status, iterations: self.iteration, passes: self.passes }
    }
}

fn squared_norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}
