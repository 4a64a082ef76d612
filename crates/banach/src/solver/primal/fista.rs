//! FISTA on the primal, the third row of Table 1.

use super::{FeatureSums, PrimalProblem, PrimalSolution};
use crate::{
    Error, Observer, Progress, Scratch, Stopping,
    data::{Block, MAX_BLOCK, Sweep},
};

/// The accelerated proximal gradient method of Beck and Teboulle.
///
/// - Solves: `min_w F(w)`, (22) `[eq:genprimal]`, with the proximity operator of `(1/p)|.|^p`.
/// - Given: listed features, a differentiable loss.
/// - Returns: weights, with `F(w_m) - min F = O(1/m^2)`.
/// - Cost: one pass over the data per iteration; up to 100 at the start for the step size.
/// - See: paper, section 2.3, "Rate of convergence", method (b).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fista {
    /// When to stop.
    pub stopping: Stopping,
}

impl Fista {
    /// Runs from `w = 0`.
    pub fn solve(&self, problem: &PrimalProblem<'_>, observer: &mut dyn Observer) -> Result<PrimalSolution, Error> {
        self.stopping.check()?;
        let mut run = Run::new(problem);
        let mut momentum = 1.0_f64;
        for iteration in 0.. {
            // The certificate of w_m comes out of the pass that forms w_{m+1}.
            let certificate = run.proximal_step();
            let progress = Progress { iteration, passes: run.passes, certificate };
            if let Some(status) = self.stopping.end(&progress, observer) {
                let weights = run.weights();
                return Ok(PrimalSolution { weights, certificate, status, iterations: iteration, passes: run.passes });
            }
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            run.extrapolate((momentum - 1.0) / next);
            momentum = next;
        }
        unreachable!("an iteration limit is always reached")
    }
}

/// Numbers kept per feature: w_m, the extrapolated point, and w_{m+1}.
const KEPT: usize = 3;

struct Run<'a> {
    problem: &'a PrimalProblem<'a>,
    block: usize,
    step: f64,
    /// For each block of features the three vectors of `KEPT`.
    points: Vec<f64>,
    /// Predictions of w_m, of the extrapolated point and of w_{m+1}.
    t_old: Vec<f64>,
    t_point: Vec<f64>,
    t_new: Vec<f64>,
    /// The dual vectors of the extrapolated point and of w_m.
    alphas: Vec<f64>,
    scratch: Scratch,
    passes: usize,
}

impl<'a> Run<'a> {
    fn new(problem: &'a PrimalProblem<'a>) -> Self {
        let (n, matrix) = (problem.dual.samples(), problem.features.matrix());
        let mut run = Self {
            problem,
            block: matrix.layout().block,
            step: 0.0,
            points: vec![0.0; KEPT * matrix.features()],
            t_old: vec![0.0; n],
            t_point: vec![0.0; n],
            t_new: vec![0.0; n],
            alphas: vec![0.0; 2 * n],
            scratch: Scratch::new(),
            passes: 0,
        };
        let lipschitz = problem.dual.largest_gamma() * problem.smoothness * run.squared_norm();
        run.step = if lipschitz > 0.0 { 1.0 / lipschitz } else { 1.0 };
        run
    }

    /// `||Phi||^2` from the power method on `Phi Phi'`, raised by 1 % because it approaches from below.
    fn squared_norm(&mut self) -> f64 {
        let n = self.t_new.len();
        let mut vector: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 0.618_033_988_7).fract()).collect();
        let mut estimate = 0.0;
        for _ in 0..100 {
            let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length == 0.0 {
                return 0.0;
            }
            vector.iter_mut().for_each(|v| *v /= length);
            let mut image = vec![0.0; n];
            let pass = Sweep { per_feature: 0, state: 0, outputs: 1 };
            let add = |_: &[f64], sum: &[f64]| image.iter_mut().zip(sum).for_each(|(image, sum)| *image += sum);
            pass.run(self.problem.features.matrix(), &vector, &mut [], &mut self.scratch.pass, |_| {}, add);
            self.passes += 1;
            let last = std::mem::replace(&mut estimate, vector.iter().zip(&image).map(|(v, image)| v * image).sum());
            vector = image;
            if (estimate - last).abs() <= 1e-4 * estimate {
                break;
            }
        }
        1.01 * estimate
    }

    /// `w_{m+1} = prox(v + step Phi' alpha_v)` at the extrapolated point v, with its image, in one pass;
    /// returns the certificate of w_m, whose dual vector takes part in the same pass.
    fn proximal_step(&mut self) -> crate::Certificate {
        let n = self.t_old.len();
        let exponent = self.problem.dual.form().exponent();
        let step = self.step;
        let (of_point, of_old) = self.alphas.split_at_mut(n);
        self.problem.dual_vector(&self.t_point, of_point);
        self.problem.dual_vector(&self.t_old, of_old);
        let visit = |block: Block<'_>| {
            let width = block.columns.len();
            let (u_point, u_old) = block.u.split_at_mut(width);
            let (w, rest) = block.features.split_at_mut(width);
            let (point, new) = rest.split_at_mut(width);
            let mut base = [0.0; MAX_BLOCK];
            new.copy_from_slice(w);
            FeatureSums::of_block(exponent, new, u_old, &mut base[..width]).add_to(block.state);
            for k in 0..width {
                new[k] = exponent.prox(step, point[k] + step * u_point[k]);
            }
            u_point.copy_from_slice(new);
        };
        let mut totals = [0.0; FeatureSums::LENGTH];
        self.t_new.fill(0.0);
        let merge = |state: &[f64], sum: &[f64]| {
            totals.iter_mut().zip(state).for_each(|(total, state)| *total += state);
            self.t_new.iter_mut().zip(sum).for_each(|(t, sum)| *t += sum);
        };
        let pass = Sweep { per_feature: KEPT, state: FeatureSums::LENGTH, outputs: 1 };
        let matrix = self.problem.features.matrix();
        pass.run(matrix, &self.alphas, &mut self.points, &mut self.scratch.pass, visit, merge);
        self.passes += 1;
        self.problem.certificate(&self.t_old, &self.alphas[n..], FeatureSums::load(&totals))
    }

    /// `v = w_{m+1} + weight (w_{m+1} - w_m)`, and w_{m+1} becomes w_m.
    fn extrapolate(&mut self, weight: f64) {
        for block in self.points.chunks_mut(KEPT * self.block) {
            let (w, rest) = block.split_at_mut(block.len() / KEPT);
            let (point, new) = rest.split_at_mut(w.len());
            for k in 0..w.len() {
                point[k] = new[k] + weight * (new[k] - w[k]);
                w[k] = new[k];
            }
        }
        for i in 0..self.t_old.len() {
            self.t_point[i] = self.t_new[i] + weight * (self.t_new[i] - self.t_old[i]);
            self.t_old[i] = self.t_new[i];
        }
    }

    fn weights(&self) -> Vec<f64> {
        self.points.chunks(KEPT * self.block).flat_map(|block| &block[..block.len() / KEPT]).copied().collect()
    }
}
