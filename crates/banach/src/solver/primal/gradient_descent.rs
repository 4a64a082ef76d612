//! Gradient descent on the primal, the second row of Table 1.

use rayon::prelude::*;

use super::{FeatureSums, PrimalProblem, PrimalSolution};
use crate::{
    Error, Observer, Status, Stopping,
    data::{MAX_BLOCK, Scratch, Sweep, SweepBlock},
    solver::{Linesearch, MAX_TRIALS, Progress},
};

/// Gradient descent with linesearch.
///
/// - Solves: `min_w F(w)`, (22) `[eq:genprimal]`.
/// - Given: listed features, a differentiable loss.
/// - Returns: weights; the gradient is not locally Lipschitz for p < 2, so steps may shrink to zero and no
///   rate is known.
/// - Cost: one pass over the data per iteration.
/// - See: paper, section 2.3, "Rate of convergence", method (a).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradientDescent {
    /// When to stop.
    pub stopping: Stopping,
    /// Step sizes; `lambda_bar` is 1 if not given.
    pub linesearch: Linesearch,
}

impl GradientDescent {
    /// Runs from `w = 0`.
    pub fn solve(&self, problem: &PrimalProblem<'_>, observer: &mut dyn Observer) -> Result<PrimalSolution, Error> {
        self.stopping.check()?;
        let lambda_bar = self.linesearch.first_step(1.0)?;
        let mut run = DescentRun::new(problem);
        let mut lambda = lambda_bar;
        let mut iteration = 0;
        loop {
            run.form_gradient();
            let certificate = problem.certificate(&run.t, &run.alpha, run.sums);
            let progress = Progress { problem: 0, iteration, passes: iteration + 1, certificate };
            if let Some(status) = self.stopping.end(&progress, observer) {
                return Ok(run.solution(status, progress));
            }
            let Some(accepted) = run.search(&self.linesearch, lambda, certificate.primal) else {
                return Ok(run.solution(Status::Stalled, progress));
            };
            lambda = self.linesearch.next_start(lambda_bar, accepted);
            iteration += 1;
        }
    }
}

struct DescentRun<'a> {
    problem: &'a PrimalProblem<'a>,
    /// Features in a block; `weights` holds a block's w, then its gradient, block after block.
    block: usize,
    weights: Vec<f64>,
    /// Predictions `Phi w` and their rate of change `Phi g`.
    t: Vec<f64>,
    t_rate: Vec<f64>,
    t_trial: Vec<f64>,
    alpha: Vec<f64>,
    sums: FeatureSums,
    squared_gradient: f64,
    scratch: Scratch,
}

impl<'a> DescentRun<'a> {
    fn new(problem: &'a PrimalProblem<'a>) -> Self {
        let (n, matrix) = (problem.dual.samples(), problem.features.matrix());
        Self {
            problem,
            block: matrix.layout().block,
            weights: vec![0.0; 2 * matrix.features()],
            t: vec![0.0; n],
            t_rate: vec![0.0; n],
            t_trial: vec![0.0; n],
            alpha: vec![0.0; n],
            sums: FeatureSums::default(),
            squared_gradient: 0.0,
            scratch: Scratch::new(),
        }
    }

    /// `g = J_p(w) - Phi' alpha`, its image `Phi g`, and the sums of the certificate, in one pass.
    fn form_gradient(&mut self) {
        let exponent = self.problem.dual.form().exponent();
        self.problem.dual_vector(&self.t, &mut self.alpha);
        let visit = |block: SweepBlock<'_>| {
            let (w, g) = block.kept.split_at_mut(block.columns.len());
            let mut base = [0.0; MAX_BLOCK];
            g.copy_from_slice(w);
            FeatureSums::of_block(exponent, g, block.u, &mut base[..g.len()]).add_to(block.state);
            block.u.copy_from_slice(g);
            block.state[FeatureSums::LENGTH] += g.iter().map(|g| g * g).sum::<f64>();
        };
        let mut totals = [0.0; FeatureSums::LENGTH + 1];
        self.t_rate.fill(0.0);
        let merge = |state: &[f64], sum: &[f64]| {
            totals.iter_mut().zip(state).for_each(|(total, state)| *total += state);
            self.t_rate.iter_mut().zip(sum).for_each(|(rate, sum)| *rate += sum);
        };
        let pass = Sweep { per_feature: 2, state: FeatureSums::LENGTH + 1, outputs: 1 };
        let matrix = self.problem.features.matrix();
        pass.run(matrix, &self.alpha, &mut self.weights, &mut self.scratch.pass, visit, merge);
        self.sums = FeatureSums::load(&totals);
        self.squared_gradient = totals[FeatureSums::LENGTH];
    }

    /// The first step with `F(w) - F(w - lambda g) >= lambda (1 - delta) ||g||^2`, taken.
    fn search(&mut self, linesearch: &Linesearch, first: f64, value: f64) -> Option<f64> {
        let mut lambda = first;
        for trials in 0.. {
            let trial = self.t.iter().zip(&self.t_rate).map(|(t, rate)| t - lambda * rate);
            self.t_trial.iter_mut().zip(trial).for_each(|(t, trial)| *t = trial);
            let decrease = lambda * (1.0 - linesearch.delta) * self.squared_gradient;
            if decrease <= f64::EPSILON * value || !decrease.is_finite() || trials == MAX_TRIALS {
                return None;
            }
            if value - self.trial_value(lambda) >= decrease {
                break;
            }
            lambda *= linesearch.theta;
        }
        std::mem::swap(&mut self.t, &mut self.t_trial);
        for block in self.weights.chunks_mut(2 * self.block) {
            let (w, g) = block.split_at_mut(block.len() / 2);
            w.iter_mut().zip(g).for_each(|(w, g)| *w -= lambda * *g);
        }
        Some(lambda)
    }

    /// `F(w - lambda g)` from the predictions and the weights; no pass over the data.
    fn trial_value(&self, lambda: f64) -> f64 {
        let exponent = self.problem.dual.form().exponent();
        let powers: Vec<f64> = self
            .weights
            .par_chunks(2 * self.block)
            .with_min_len(16)
            .map_init(
                || vec![0.0; self.block],
                |trial, block| {
                    let (w, g) = block.split_at(block.len() / 2);
                    let trial = &mut trial[..w.len()];
                    trial.iter_mut().zip(w.iter().zip(g)).for_each(|(trial, (w, g))| *trial = w - lambda * g);
                    exponent.inverse_duality_map(trial)
                },
            )
            .collect();
        self.problem.dual.loss_sum(&self.t_trial) + powers.iter().sum::<f64>() / exponent.p()
    }

    fn solution(&self, status: Status, progress: Progress) -> PrimalSolution {
        let weights =
            self.weights.chunks(2 * self.block).flat_map(|block| &block[..block.len() / 2]).copied().collect();
        let Progress { iteration, passes, certificate, .. } = progress;
        PrimalSolution { weights, certificate, status, iterations: iteration, passes }
    }
}
