//! A start for the next gamma from the solutions for smaller ones, without a pass over the data.

use super::{KnownPoint, Solution, Start};
use crate::{
    DualProblem,
    numeric::{dot, search::bisect},
};

/// The largest `ln Q` of a start: `e^600` is far below the end of the range, `e^709`.
const LARGEST_LN_VALUE: f64 = 600.0;

/// The last two solutions of one problem along increasing gamma.
#[derive(Debug, Default)]
pub(super) struct History {
    last: Option<Solved>,
    before: Option<Solved>,
}

/// The solution for one gamma.
#[derive(Debug)]
struct Solved {
    gamma: f64,
    alpha: Vec<f64>,
    /// `q Q(alpha)`.
    power: f64,
    /// The start for the next gamma, if it is this solution, until it is taken.
    known: Option<KnownPoint>,
}

impl History {
    pub(super) fn push(&mut self, gamma: f64, solution: Solution, known: Option<KnownPoint>) {
        let power = dot(&solution.alpha, &solution.omega);
        self.before = self.last.replace(Solved { gamma, alpha: solution.alpha, power, known });
    }

    /// The start for a problem with a larger gamma.
    ///
    /// For losses without kinks alpha is a smooth function of gamma, and a line through the last two solutions leads
    /// nearer than the ray of the last one; for losses with kinks alpha turns corners, and it does not. Measured over
    /// 16 gammas with Algorithm 3.3: half to a tenth of the iterations from a cold start on the ray, and of these
    /// another 10 to 40 % fewer on the line for the squared and logistic loss at p = 1.1 and 1.05, but up to 60 % more
    /// for the others.
    pub(super) fn start(&mut self, problem: &DualProblem<'_>) -> Start {
        let Some(last) = &mut self.last else { return Start::Auto };
        if let Some(known) = last.known.take().filter(|known| problem.check_start(&known.alpha).is_ok()) {
            return Start::Known(Box::new(known));
        }
        let last = &*last;
        let before = self.before.as_ref().filter(|_| !problem.loss().has_kinks());
        let line = before.and_then(|before| on_line(problem, before, last));
        let candidates = line.into_iter().chain(std::iter::once_with(|| on_ray(problem, last)));
        let balanced = candidates.map(|mut alpha| {
            problem.balance(&mut alpha);
            alpha
        });
        { balanced }.find(|alpha| problem.check_start(alpha).is_ok()).map_or(Start::Auto, Start::At)
    }
}

/// The minimiser of Lambda on the ray through the solution `alpha` for a smaller gamma, which costs no pass because
/// `q Q(t alpha) = t^q <alpha, omega>`.
///
/// The factor t lies between 1 (alpha stays, as for large gammas) and the ratio of the gammas (`alpha_i/gamma_i` stays,
/// as for small ones): there the slope of Lambda along the ray changes its sign, by the optimality of alpha and the
/// monotony of the conjugate's slopes. All these points are in the domain, which is an interval that contains 0.
fn on_ray(problem: &DualProblem<'_>, last: &Solved) -> Vec<f64> {
    let q = problem.form().exponent().q();
    let slope = |t: f64| {
        let samples = problem.gammas().iter().zip(problem.targets()).zip(&last.alpha);
        let terms = samples.filter(|((gamma, _), alpha)| **gamma > 0.0 && **alpha != 0.0);
        let terms = terms.map(|((gamma, &y), &alpha)| {
            let slope = problem.loss().conjugate_slope(problem.centred(y), t * alpha / gamma);
            slope.map_or(f64::INFINITY, |slope| alpha * slope)
        });
        last.power * t.powf(q - 1.0) + terms.sum::<f64>()
    };
    // The ratio itself might round out of the domain.
    let ratio = problem.gamma() / last.gamma * (1.0 - 1e-14);
    let t = bisect(0.0, ratio.ln(), 40, |ln_t| slope(ln_t.exp()) < 0.0).exp();
    last.alpha.iter().map(|alpha| t * alpha).collect()
}

/// The point of the line through two solutions, linear in the logarithm of gamma; sums of alpha that vanish stay so. It
/// stops halfway to the border of the domain. `None` where it would extrapolate more than twice the known distance, or
/// where `Q <= Q_max (1 + 2h)^q` does not prove that the objective is finite.
fn on_line(problem: &DualProblem<'_>, before: &Solved, last: &Solved) -> Option<Vec<f64>> {
    let q = problem.form().exponent().q();
    let h = (problem.gamma() / last.gamma).ln() / (last.gamma / before.gamma).ln();
    let ln_value = last.power.max(before.power).ln() + q * (2.0 * h).ln_1p();
    if !(h <= 2.0 && ln_value <= LARGEST_LN_VALUE) {
        return None;
    }
    let present = problem.gammas().iter().zip(problem.targets()).enumerate().filter(|(_, (gamma, _))| **gamma > 0.0);
    let steps = present.map(|(i, (gamma, &y))| {
        let (lower, upper) = problem.loss().domain(y);
        let (alpha, step) = (last.alpha[i], last.alpha[i] - before.alpha[i]);
        let room = if step > 0.0 { gamma * upper - alpha } else { alpha - gamma * lower };
        if step == 0.0 { h } else { 0.5 * room / step.abs() }
    });
    let h = steps.fold(h, f64::min);
    Some(last.alpha.iter().zip(&before.alpha).map(|(last, before)| last + h * (last - before)).collect())
}
