//! The primal baselines of Table 1: what the dual algorithms are compared with.
//!
//! Both need the features themselves and a differentiable loss. Both read the matrix once per iteration:
//! the gradient of a block of features is complete as soon as the block has been read, so its image under
//! `Phi_n` is formed on the way.

mod fista;
mod gradient_descent;

pub use fista::{Fista, Momentum};
pub use gradient_descent::GradientDescent;

use crate::{Certificate, DualProblem, Error, Exponent, Loss, Status, form::Features};

/// The primal problem (22) `[eq:genprimal]` for listed features and a differentiable loss.
#[derive(Debug, Clone)]
pub struct PrimalProblem<'a> {
    features: &'a Features<'a>,
    dual: DualProblem<'a>,
    smoothness: f64,
}

impl<'a> PrimalProblem<'a> {
    /// The problem with the same `gamma > 0` for every sample.
    pub fn new(features: &'a Features<'a>, loss: &'a dyn Loss, y: &'a [f64], gamma: f64) -> Result<Self, Error> {
        let Some(smoothness) = loss.smoothness() else {
            let allowed = "losses without kinks";
            return Err(Error::Unsupported { solver: "primal", loss: loss.name(), allowed });
        };
        Ok(Self { features, dual: DualProblem::new(features, loss, y, gamma)?, smoothness })
    }

    /// The problem with `gamma_i = gamma * weights_i`; weights are non-negative and not all zero.
    pub fn with_sample_weights(self, weights: &[f64]) -> Result<Self, Error> {
        Ok(Self { dual: self.dual.with_sample_weights(weights)?, ..self })
    }

    /// Its dual.
    pub fn dual(&self) -> &DualProblem<'a> {
        &self.dual
    }

    /// The dual vector that belongs to predictions `t`: `alpha_i = -gamma_i L'(y_i, t_i)`, (25) `[eq:kkt]`.
    fn dual_vector(&self, t: &[f64], alpha: &mut [f64]) {
        let samples = self.dual.targets().iter().zip(self.dual.gammas()).zip(t);
        for (alpha, ((&y, &gamma), &t)) in alpha.iter_mut().zip(samples) {
            let slope = self.dual.loss().slope(y, t);
            *alpha = -gamma * slope.expect("a loss with a smoothness constant has a slope everywhere");
        }
    }

    /// The certificate of weights with predictions `t`, beside the dual vector that belongs to them. The loss
    /// terms of the gap vanish; what is left is a sum over features.
    fn certificate(&self, t: &[f64], alpha: &[f64], sums: FeatureSums) -> Certificate {
        let exponent = self.dual.form().exponent();
        let primal = self.dual.loss_sum(t) + sums.w_power / exponent.p();
        let dual = sums.u_power / exponent.q() + self.dual.conjugate_sum(alpha);
        Certificate::of_primal(primal, dual, sums.gap, sums.w_power.powf(1.0 / exponent.p()), exponent)
    }
}

/// Sums over features for weights `w` and `u = Phi_n* alpha`.
#[derive(Debug, Clone, Copy, Default)]
struct FeatureSums {
    /// `||w||_p^p`.
    w_power: f64,
    /// `||u||_q^q`.
    u_power: f64,
    /// `||w||_p^p/p + ||u||_q^q/q - <w, u>`: the Bregman distance of `(1/q)||.||_q^q` from `J_p(w)` to `u`.
    gap: f64,
}

impl FeatureSums {
    /// Numbers in the state of a pass: one for each field.
    const LENGTH: usize = 3;

    /// The sums over a block, which also turns `w` into the gradient `J_p(w) - u`; `base` is working memory.
    fn of_block(exponent: Exponent, w: &mut [f64], u: &[f64], base: &mut [f64]) -> Self {
        let w_power = exponent.inverse_duality_map(w);
        base.copy_from_slice(w);
        w.iter_mut().zip(u).for_each(|(gradient, u)| *gradient -= u);
        let line = exponent.line_sums(base, w, 1.0, -1.0);
        Self { w_power, u_power: line.power, gap: line.bregman }
    }

    fn add_to(self, state: &mut [f64]) {
        state[0] += self.w_power;
        state[1] += self.u_power;
        state[2] += self.gap;
    }

    fn load(state: &[f64]) -> Self {
        Self { w_power: state[0], u_power: state[1], gap: state[2] }
    }
}

/// The last weights of a run and what is known of them.
#[derive(Debug, Clone)]
pub struct PrimalSolution {
    /// The weights w.
    pub weights: Vec<f64>,
    /// How far they can be from the optimum.
    pub certificate: Certificate,
    /// How the run ended.
    pub status: Status,
    /// Iterations done.
    pub iterations: usize,
    /// Passes over the data.
    pub passes: usize,
}
