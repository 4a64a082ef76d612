//! The primal baselines of Table 1: what the dual algorithms are compared with.
//!
//! Both need the features themselves and a differentiable loss. Both read the matrix once per iteration:
//! the gradient of a block of features is complete as soon as the block has been read, so its image under
//! `Phi_n` is formed on the way.

mod fista;
mod gradient_descent;

pub use fista::Fista;
pub use gradient_descent::GradientDescent;

use crate::{Certificate, DualProblem, Error, Features, Loss, Status};

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
            let allowed = "squared, huber, logistic, squared_hinge";
            return Err(Error::Unsupported { solver: "primal", loss: loss.name(), allowed });
        };
        Ok(Self { features, dual: DualProblem::new(features, loss, y, gamma)?, smoothness })
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

    /// The certificate of weights with predictions `t`, and the dual vector that belongs to them. The
    /// loss terms of the gap vanish; what is left is `||w||_p^p/p + ||u||_q^q/q - <w, u>`.
    fn certificate(&self, t: &[f64], alpha: &[f64], sums: WeightSums) -> Certificate {
        let exponent = self.dual.form().exponent();
        let (of_w, of_u) = (sums.w_power / exponent.p(), sums.u_power / exponent.q());
        let primal = self.dual.loss_sum(t) + of_w;
        let dual = of_u + self.dual.conjugate_sum(alpha);
        Certificate::new(primal, dual, (of_w + of_u - sums.product).max(0.0), self.dual.zero_value(), exponent)
    }
}

/// Sums over features of weights `w` and of `u = Phi_n* alpha`.
#[derive(Debug, Clone, Copy, Default)]
struct WeightSums {
    /// `||w||_p^p`.
    w_power: f64,
    /// `||u||_q^q`.
    u_power: f64,
    /// `<w, u>`.
    product: f64,
}

impl WeightSums {
    const LENGTH: usize = 3;

    fn add_to(self, state: &mut [f64]) {
        state[0] += self.w_power;
        state[1] += self.u_power;
        state[2] += self.product;
    }

    fn load(state: &[f64]) -> Self {
        Self { w_power: state[0], u_power: state[1], product: state[2] }
    }
}

/// Weights and what is known of them.
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
