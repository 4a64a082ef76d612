//! Algorithm 2.1 `[algo:main]`.

use super::{Linesearch, Observer, ProximalGradient, Rule, Solution, Solver, Start, Stopping};
use crate::{DualProblem, Error, loss::Split};

/// Gradient descent on the dual of the squared loss.
///
/// - Solves: `min Q(alpha) + sum_i alpha_i^2/(2 gamma_i) - y_i alpha_i`, (8) `[eq:dualellp]`.
/// - Given: a problem with the squared loss, and `lambda_bar < gamma/(2(1-delta))`.
/// - Returns: `alpha_m`, with `Lambda(alpha_m) - min Lambda` shrinking linearly (Theorem 2.3 `[thm:main]`).
/// - Cost: two passes over the data per iteration, whatever the number of trial steps.
/// - See: Algorithm 2.1. It is Algorithm 3.3 with `phi_1 = Lambda` and `phi_2 = 0`, as the paper remarks, and
///   its test `Lambda(alpha) - Lambda(alpha - lambda g) >= lambda (1-delta) ||g||^2` is the same inequality.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// When to stop.
    pub stopping: Stopping,
    /// Step sizes; monotone by default.
    pub linesearch: Linesearch,
}

impl Default for Gradient {
    fn default() -> Self {
        let linesearch = Linesearch { rule: Rule::Monotone, ..Linesearch::default() };
        Self { stopping: Stopping::default(), linesearch }
    }
}

impl Solver for Gradient {
    fn solve_from(
        &self,
        problem: &DualProblem<'_>,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        problem.form().exponent().refuse_endpoint()?;
        // What the algorithm needs of the squared loss: Lambda is differentiable on all of R^n.
        let loss = problem.loss();
        let everywhere = problem.targets().iter().all(|&y| loss.domain(y) == (f64::NEG_INFINITY, f64::INFINITY));
        if loss.split() != Split::Smooth || !everywhere {
            let solver = "gradient (Algorithm 2.1)";
            return Err(Error::Unsupported { solver, loss: loss.name(), allowed: "squared" });
        }
        // The smallest gamma decides the limit; an absent sample has none.
        let gamma = problem.gammas().iter().copied().filter(|&gamma| gamma > 0.0).fold(f64::INFINITY, f64::min);
        let limit = gamma / (2.0 * (1.0 - self.linesearch.delta));
        let lambda_bar = self.linesearch.first_step(0.99 * limit)?;
        if lambda_bar >= limit {
            return Err(Error::StepLimit { lambda_bar, limit });
        }
        let linesearch = Linesearch { lambda_bar: Some(lambda_bar), ..self.linesearch };
        ProximalGradient { stopping: self.stopping, linesearch }.solve_from(problem, start, observer)
    }
}
