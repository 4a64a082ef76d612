//! FISTA on the primal, the third row of Table 1.

use super::{FeatureSums, PrimalProblem, PrimalSolution};
use crate::{
    Certificate, Error, Observer, Status, Stopping,
    data::{MAX_BLOCK, Scratch, Sweep, SweepBlock},
    error::Parameter,
    numeric::dot,
    solver::Progress,
};

/// The weight of the last step in the extrapolated point `w_k + weight (w_k - w_(k-1))`, for k = 1, 2, ...
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Momentum {
    /// `(t_k - 1)/t_(k+1)` with `t_1 = 1` and `t_(k+1) = (1 + sqrt(1 + 4 t_k^2))/2`: Beck and Teboulle, 2009.
    #[default]
    BeckTeboulle,
    /// `(k-1)/(k+a)`: Chambolle and Dossal, 2015, who prove that the iterates converge for `a > 2`.
    ChambolleDossal {
        /// A finite number >= 2, from where on `F(w_m) - min F = O(1/m^2)`.
        a: f64,
    },
}

impl Momentum {
    /// Refuses an `a` without a rate.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::ChambolleDossal { a } if !(2.0..f64::INFINITY).contains(&a) => {
                Err(Error::parameter(Parameter::Momentum, a, "a finite number >= 2 in the momentum (k-1)/(k+a)"))
            }
            _ => Ok(()),
        }
    }

    /// The weights for k = 1, 2, ..., of which the first is 0.
    fn weights(self) -> impl Iterator<Item = f64> {
        let mut t = 1.0_f64;
        (1_u32..).map(move |k| match self {
            Self::BeckTeboulle => {
                let next = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
                (std::mem::replace(&mut t, next) - 1.0) / next
            }
            Self::ChambolleDossal { a } => (f64::from(k) - 1.0) / (f64::from(k) + a),
        })
    }
}

/// FISTA, the accelerated proximal gradient method of Beck and Teboulle, or with the momentum of Chambolle and Dossal.
///
/// - Solves: `min_w F(w)`, (22) `[eq:genprimal]`, with the proximity operator of `(1/p)|.|^p`.
/// - Given: listed features, a differentiable loss.
/// - Returns: weights, with `F(w_m) - min F = O(1/m^2)`.
/// - Cost: one pass over the data per iteration; up to 100 at the start for the step size, and one whenever the
///   step turns out to be too long.
/// - See: paper, section 2.3, "Rate of convergence", method (b).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fista {
    /// When to stop.
    pub stopping: Stopping,
    /// How far a step goes on beyond its end.
    pub momentum: Momentum,
}

impl Fista {
    /// Runs from `w = 0`.
    pub fn solve(&self, problem: &PrimalProblem<'_>, observer: &mut dyn Observer) -> Result<PrimalSolution, Error> {
        self.stopping.check()?;
        self.momentum.check()?;
        let mut run = FistaRun::new(problem);
        let mut weights = self.momentum.weights();
        let mut iteration = 0;
        loop {
            // The certificate of w_m comes out of the pass that forms w_{m+1}.
            let certificate = run.proximal_step();
            let progress = Progress { problem: 0, iteration, passes: run.passes, certificate };
            if let Some(status) = self.stopping.end(&progress, observer) {
                return Ok(run.solution(status, progress));
            }
            while !run.is_majorised() {
                run.step *= 0.5;
                if run.step < f64::MIN_POSITIVE {
                    return Ok(run.solution(Status::Stalled, progress));
                }
                run.proximal_step();
            }
            // Both sequences tend to 1.
            run.extrapolate(weights.next().unwrap_or(1.0));
            iteration += 1;
        }
    }
}

/// Numbers kept per feature: w_m, the extrapolated point, and w_{m+1}.
const KEPT: usize = 3;

struct FistaRun<'a> {
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
    /// The squared distance from the extrapolated point to w_{m+1}.
    moved: f64,
    scratch: Scratch,
    passes: usize,
}

impl<'a> FistaRun<'a> {
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
            moved: 0.0,
            scratch: Scratch::new(),
            passes: 0,
        };
        run.step = run.first_step();
        run
    }

    /// 0.99/(gamma ||Phi||^2), with the norm from the power method on `Phi Phi'`. It approaches from below, so steps
    /// are checked, and shortened where they are too long.
    fn first_step(&mut self) -> f64 {
        let n = self.t_new.len();
        let mut vector: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 0.618_033_988_7).fract()).collect();
        let mut norm = 0.0;
        for _ in 0..100 {
            let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length == 0.0 || !length.is_finite() {
                break;
            }
            vector.iter_mut().for_each(|v| *v /= length);
            let mut image = vec![0.0; n];
            let pass = Sweep { per_feature: 0, state: 0, outputs: 1 };
            let add = |_: &[f64], sum: &[f64]| image.iter_mut().zip(sum).for_each(|(image, sum)| *image += sum);
            pass.run(self.problem.features.matrix(), &vector, &mut [], &mut self.scratch.pass, |_| {}, add);
            self.passes += 1;
            let last = std::mem::replace(&mut norm, dot(&vector, &image));
            vector = image;
            if (norm - last).abs() <= 1e-4 * norm {
                break;
            }
        }
        let step = 0.99 / (self.problem.dual.largest_gamma() * self.problem.smoothness * norm);
        if step.is_normal() { step } else { 1.0 }
    }

    /// Whether the step was short enough: the loss lies below its quadratic model at w_{m+1}. This is implied by
    /// `gamma ||Phi (w - v)||^2 <= ||w - v||^2 / step`, with the smoothness of the loss on the left.
    fn is_majorised(&self) -> bool {
        let changes = self.t_new.iter().zip(&self.t_point).zip(self.problem.dual.gammas());
        let curvature: f64 = changes.map(|((new, point), gamma)| gamma * (new - point) * (new - point)).sum();
        // Rounding of the last digits is no reason to shorten a step.
        self.problem.smoothness * curvature * self.step <= self.moved * (1.0 + 1e-6)
    }

    /// `w_{m+1} = prox(v + step Phi' alpha_v)` at the extrapolated point v, with its image, in one pass;
    /// returns the certificate of w_m, whose dual vector takes part in the same pass.
    fn proximal_step(&mut self) -> Certificate {
        let n = self.t_old.len();
        let exponent = self.problem.dual.form().exponent();
        let step = self.step;
        let (of_point, of_old) = self.alphas.split_at_mut(n);
        self.problem.dual_vector(&self.t_point, of_point);
        self.problem.dual_vector(&self.t_old, of_old);
        let visit = |block: SweepBlock<'_>| {
            let width = block.columns.len();
            let (u_point, u_old) = block.u.split_at_mut(width);
            let (w, rest) = block.kept.split_at_mut(width);
            let (point, new) = rest.split_at_mut(width);
            let mut base = [0.0; MAX_BLOCK];
            new.copy_from_slice(w);
            FeatureSums::of_block(exponent, new, u_old, &mut base[..width]).add_to(block.state);
            for k in 0..width {
                new[k] = exponent.prox(step, point[k] + step * u_point[k]);
                block.state[FeatureSums::LENGTH] += (new[k] - point[k]) * (new[k] - point[k]);
            }
            u_point.copy_from_slice(new);
        };
        let mut totals = [0.0; FeatureSums::LENGTH + 1];
        self.t_new.fill(0.0);
        let merge = |state: &[f64], sum: &[f64]| {
            totals.iter_mut().zip(state).for_each(|(total, state)| *total += state);
            self.t_new.iter_mut().zip(sum).for_each(|(t, sum)| *t += sum);
        };
        let pass = Sweep { per_feature: KEPT, state: FeatureSums::LENGTH + 1, outputs: 1 };
        let matrix = self.problem.features.matrix();
        pass.run(matrix, &self.alphas, &mut self.points, &mut self.scratch.pass, visit, merge);
        self.passes += 1;
        self.moved = totals[FeatureSums::LENGTH];
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

    fn solution(&self, status: Status, progress: Progress) -> PrimalSolution {
        let weights = self.points.chunks(KEPT * self.block).flat_map(|block| &block[..block.len() / KEPT]).copied();
        let Progress { iteration, passes, certificate, .. } = progress;
        PrimalSolution { weights: weights.collect(), certificate, status, iterations: iteration, passes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the recursion and by the formula: both begin without momentum and grow to 1, and at a = 2 the formula is the limit of
    /// the recursion, t_k ~ k/2.
    #[test]
    fn weights_are_those_of_the_papers() {
        let first = |momentum: Momentum, count| momentum.weights().take(count).collect::<Vec<f64>>();
        let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
        let third = 0.5 * (1.0 + (1.0 + 4.0 * golden * golden).sqrt());
        assert_eq!(first(Momentum::BeckTeboulle, 2), [0.0, (golden - 1.0) / third]);
        assert_eq!(first(Momentum::ChambolleDossal { a: 3.0 }, 3), [0.0, 0.2, 2.0 / 6.0]);
        for momentum in [Momentum::BeckTeboulle, Momentum::ChambolleDossal { a: 2.35 }] {
            let weights = first(momentum, 1000);
            assert!(weights.windows(2).all(|pair| pair[0] < pair[1] && pair[1] < 1.0), "{momentum:?}");
        }
        let [recursion, formula] =
            [Momentum::BeckTeboulle, Momentum::ChambolleDossal { a: 2.0 }].map(|m| 1.0 - first(m, 10_000)[9_999]);
        assert!((recursion / formula - 1.0).abs() < 1e-3, "{recursion:e} {formula:e}");
    }

    #[test]
    fn a_momentum_without_a_rate_is_refused() {
        for a in [1.999, -3.0, f64::NAN, f64::INFINITY] {
            let error = Momentum::ChambolleDossal { a }.check().expect_err("no rate is known");
            assert!(error.to_string().contains("a = ") && error.to_string().contains(">= 2"), "{error}");
        }
        assert!(Momentum::ChambolleDossal { a: 2.0 }.check().is_ok());
    }
}
