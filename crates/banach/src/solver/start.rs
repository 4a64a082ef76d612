//! Where the dual iteration starts.

use crate::{DualProblem, Error, Evaluation, Scratch};

/// The choice of `alpha_0`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Start {
    /// Zero, as in the paper's experiments, where Lambda is differentiable there; otherwise (logistic loss)
    /// the ray.
    #[default]
    Auto,
    /// The minimiser of Lambda on the ray `alpha_i = t gamma_i y_i`. It costs one evaluation, because
    /// `Q(t alpha) = t^q Q(alpha)`.
    Ray,
    /// A given vector.
    At(Vec<f64>),
}

impl Start {
    /// The starting vector, and the passes over the data that it took.
    pub(crate) fn alpha(&self, problem: &DualProblem<'_>, scratch: &mut Scratch) -> Result<(Vec<f64>, usize), Error> {
        let zero = vec![0.0; problem.samples()];
        let (alpha, passes) = match self {
            Self::At(alpha) => (alpha.clone(), 0),
            Self::Auto if problem.first_inadmissible(&zero).is_none() => (zero, 0),
            Self::Auto | Self::Ray => (ray(problem, scratch)?, 1),
        };
        problem.check_start(&alpha)?;
        Ok((alpha, passes))
    }
}

/// Minimises the convex function `t -> Lambda(t a)`, `a_i = gamma_i y_i`, by bisection on its slope over
/// `ln t`: the optimal `t` can be as small as the data are large.
fn ray(problem: &DualProblem<'_>, scratch: &mut Scratch) -> Result<Vec<f64>, Error> {
    let (y, gammas, q) = (problem.targets(), problem.gammas(), problem.form().exponent().q());
    let direction: Vec<f64> = gammas.iter().zip(y).map(|(gamma, y)| gamma * y).collect();
    let mut evaluation = Evaluation::default();
    problem.form().evaluate(&direction, &mut evaluation, scratch);
    let ln_value = evaluation.ln_values[0];
    let slope = |ln_t: f64| {
        let t = ln_t.exp();
        let terms = gammas.iter().zip(y).map(|(&gamma, &y)| match problem.loss().conjugate_slope(y, t * y) {
            _ if gamma == 0.0 || y == 0.0 => 0.0,
            Some(slope) => gamma * y * slope,
            None => f64::INFINITY,
        });
        (q.ln() + ln_value + (q - 1.0) * ln_t).exp() + terms.sum::<f64>()
    };
    // The ray leaves the domain where its first sample does. Without such an end every sample is past its
    // minimum at t = 1, where alpha_i/gamma_i = y_i.
    let ends = gammas.iter().zip(y).filter(|(gamma, y)| **gamma > 0.0 && **y != 0.0).map(|(_, &y)| {
        let (lower, upper) = problem.loss().domain(y);
        (if y > 0.0 { upper } else { lower }) / y
    });
    let end = ends.fold(f64::INFINITY, f64::min);
    let (mut lower, mut upper) = (-700.0, if end.is_finite() { end.ln() } else { 0.0 });
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        if slope(middle) < 0.0 {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    let t = f64::exp(lower);
    let alpha: Vec<f64> = direction.iter().map(|a| t * a).collect();
    if problem.first_inadmissible(&alpha).is_none() { Ok(alpha) } else { Err(Error::NoStart { t }) }
}
