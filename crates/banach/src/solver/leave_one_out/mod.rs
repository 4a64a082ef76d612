//! What the model without a sample predicts for it, without another fit.

mod response;

use self::response::Response;
use super::{
    Solution,
    newton::{Newton, kept_features},
};
use crate::{
    DualProblem, Memory, QForm,
    data::Scratch,
    form::{Expansion, Hessian},
    loss::{Conjugate, Targets},
    workers,
};

/// For every sample what the model without it predicts for it, intercept included, by one Newton step from the solution.
///
/// - Solves: for each i the dual (24) `[eq:gendual]` without sample i, to second order around the solution. With the Hessian
///   `H = (q-1) M + D` of the dual, where `D_j` is the curvature of the dual term of sample j, and `P = H^-1`, or
///   `P - P 1 1'P/(1'P 1)` with an intercept, `f_(-i)(x_i) ~ f(x_i) - alpha_i (1/P_ii - D_i)`. For the squared loss that leaves the
///   residual `alpha_i/P_ii`.
/// - Given: a problem and its solution. Samples whose dual variables are held at an end of their domain or at 0 stay there, and have no part in H;
///   one that is held at 0 changes nothing when it is left out. The slope of a loss with kinks and no curvature is averaged over an interval
///   around every prediction, as many samples pass a kink when one is left out. A sample of weight 0 is left out as it is.
/// - Returns: `None` for p = 1, where the dual has no curvature; where the memory does not suffice; and where its pass is ended.
/// - Cost: one pass over the data and one factorisation with its inverse, about a Newton step for all samples together.
/// - See: docs/solvers.md, with figures. Exact for p = 2 with the squared loss.
///
/// ```
/// use banach::{DualProblem, Exponent, FeatureMatrix, Memory, Newton, Solver, Unobserved, form::Features, loss::Squared};
/// use banach::solver::leave_one_out;
///
/// let x = FeatureMatrix::from_rows(4, 2, &[0.3, 1.0, -0.2, 0.8, 0.1, -1.1, -0.4, -0.7])?;
/// let (form, y) = (Features::new(x, Exponent::new(2.0)?), [1.0, 0.7, -1.2, -0.6]);
/// let problem = DualProblem::new(&form, &Squared, &y, 3.0)?.with_intercept()?;
/// let left_out = leave_one_out(&problem, &Newton::default().solve(&problem, &mut Unobserved)?, Memory::default());
///
/// let without_first = problem.with_sample_weights(&[0.0, 1.0, 1.0, 1.0])?;
/// let solution = Newton::default().solve(&without_first, &mut Unobserved)?;
/// assert!((left_out.expect("p > 1")[0] - (solution.omega[0] + solution.intercept)).abs() < 1e-6);
/// # Ok::<(), banach::Error>(())
/// ```
pub fn leave_one_out(problem: &DualProblem<'_>, solution: &Solution, memory: Memory) -> Option<Vec<f64>> {
    leave_one_out_all(std::slice::from_ref(problem), &[solution], memory).pop().flatten()
}

/// As [`leave_one_out`] for several problems over one form (gammas, outputs, classes), which share their passes over the data as far as
/// memory suffices.
///
/// # Panics
///
/// If there are not as many solutions as problems.
pub fn leave_one_out_all(
    problems: &[DualProblem<'_>],
    solutions: &[&Solution],
    memory: Memory,
) -> Vec<Option<Vec<f64>>> {
    assert_eq!(problems.len(), solutions.len(), "every problem has a solution");
    let Some(form) = problems.first().map(DualProblem::form) else { return Vec::new() };
    let mut found = vec![None; problems.len()];
    if form.exponent().is_endpoint() {
        return found;
    }
    let mut moving = Vec::new();
    for (at, (problem, &solution)) in problems.iter().zip(solutions).enumerate() {
        let left = MovableSolution::new(problem, solution);
        if left.is_fixed() {
            found[at] = Some(left.t);
        } else if left.bytes().is_some_and(|needed| needed <= memory.bytes()) {
            moving.push((at, left));
        }
    }
    let together = together(form, moving.iter().filter_map(|(_, left)| left.bytes()).max(), memory);
    for moving in moving.chunks_mut(together) {
        let duals: Vec<&[f64]> = moving.iter().map(|(_, left)| &left.solution.alpha[..]).collect();
        let (mut at, mut scratch) = (vec![Expansion::default(); duals.len()], Scratch::new());
        let mut places: Vec<&mut Expansion> = at.iter_mut().collect();
        if !workers::pass(|| form.expand(&duals.concat(), &mut places, &mut scratch)) {
            break;
        }
        for ((place, left), at) in moving.iter_mut().zip(&at) {
            found[*place] = left.predictions(&hessian(form, left.solution, at, &mut scratch));
        }
    }
    found
}

/// How many solutions are expanded in one pass, given the most bytes that one of them takes.
fn together(form: &dyn QForm, most: Option<u64>, memory: Memory) -> usize {
    let own = Newton::formed_bytes(form).map_or(u64::MAX, |(own, _)| own.max(1));
    let left = memory.bytes().saturating_sub(most.unwrap_or(0));
    usize::try_from(left / own).unwrap_or(usize::MAX).saturating_add(1)
}

/// A solution whose samples are left out.
struct MovableSolution<'a> {
    problem: &'a DualProblem<'a>,
    solution: &'a Solution,
    /// The predictions.
    t: Vec<f64>,
    /// The samples whose dual variables move, with the curvature of their terms.
    free: Vec<(usize, f64)>,
    /// Those that stay at an end of their domain, with their dual variables.
    held: Vec<(usize, f64)>,
}

impl<'a> MovableSolution<'a> {
    fn new(problem: &'a DualProblem<'a>, solution: &'a Solution) -> Self {
        let t: Vec<f64> = solution.omega.iter().map(|omega| omega + solution.intercept).collect();
        let (mut free, mut held) = (Vec::new(), Vec::new());
        for (i, role) in roles(problem, &solution.alpha, &t).iter().enumerate() {
            match *role {
                Role::Idle => {}
                Role::Free { curvature } => free.push((i, curvature)),
                Role::Held { alpha } => held.push((i, alpha)),
            }
        }
        Self { problem, solution, t, free, held }
    }

    /// Whether no sample changes the model.
    fn is_fixed(&self) -> bool {
        self.free.is_empty() && self.held.is_empty()
    }

    /// The bytes of the Hessian and of the answer to it.
    fn bytes(&self) -> Option<u64> {
        let form = self.problem.form();
        let (own, step) = Newton::formed_bytes(form)?;
        let response = Response::length(Newton::columns(form), &self.free, self.held.len())?;
        own.checked_add(step)?.checked_add(response.checked_mul(8)?)
    }

    /// The predictions without each sample; `None` if they are not finite.
    fn predictions(&mut self, hessian: &Hessian) -> Option<Vec<f64>> {
        let Self { problem, solution, free, held, .. } = self;
        let mut t = std::mem::take(&mut self.t);
        let places: Vec<usize> = held.iter().map(|(i, _)| *i).collect();
        let Response { diagonal, ones, left, reach } = Response::new(hessian, problem.samples(), free, &places);
        let total: f64 = ones.iter().sum();
        // With an intercept at least one sample must be able to answer for its constant.
        let balanced = problem.has_intercept() && total > 0.0;
        for (place, &(i, curvature)) in free.iter().enumerate() {
            let without_constant = diagonal[place] - ones[place] * ones[place] / total;
            let alone = !balanced || without_constant <= LEAST_SHARE * diagonal[place];
            let own = if alone { diagonal[place] } else { without_constant };
            t[i] -= solution.alpha[i] * (1.0 / own - curvature);
        }
        for (place, &(i, alpha)) in held.iter().enumerate() {
            let constant = if balanced { (1.0 - reach[place]).powi(2) / total } else { 0.0 };
            t[i] -= alpha * (left[place] + constant);
        }
        t.iter().all(|t| t.is_finite()).then_some(t)
    }
}

/// A share of the diagonal below which a difference is rounding: the sample is the only one that can move.
const LEAST_SHARE: f64 = 1e-12;
/// Times as many features as the first Hessian of a fit keeps. A fit doubles that number where it has to.
const FEATURES: usize = 4;

/// What becomes of the dual variable of a sample when another sample is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    /// It is 0 and stays so.
    Idle,
    /// It moves, against this curvature of its own term.
    Free { curvature: f64 },
    /// It stays at an end of its domain, where it is this.
    Held { alpha: f64 },
}

/// The roles of the samples at their predictions t.
fn roles(problem: &DualProblem<'_>, alpha: &[f64], t: &[f64]) -> Vec<Role> {
    let roles = held_or_free(problem, alpha, t);
    if problem.loss().has_kinks() { averaged(problem, t, roles) } else { roles }
}

/// The roles by which dual variables can move.
///
/// A dual variable that a solver leaves beside an end is held there if a proximal step reaches the end: if the force on it, in units of
/// the largest residual, is larger than its distance, in units of the largest dual variable. Their product is of the size of the gap.
fn held_or_free(problem: &DualProblem<'_>, alpha: &[f64], t: &[f64]) -> Vec<Role> {
    let (loss, y, gammas) = (problem.loss(), problem.targets(), problem.gammas());
    let present = || (0..y.len()).filter(|&i| gammas[i] > 0.0);
    let size = present().map(|i| (alpha[i] / gammas[i]).abs()).fold(0.0, f64::max);
    let force = match loss.targets() {
        Targets::Real => present().map(|i| (y[i] - t[i]).abs()).fold(0.0, f64::max),
        Targets::Counts => present().filter_map(|i| loss.slope(y[i], t[i])).map(f64::abs).fold(0.0, f64::max),
        Targets::Signs => 1.0,
    };
    let step = if (size / force).is_normal() { size / force } else { 1.0 };
    let role = |i: usize| {
        let (gamma, s) = (gammas[i], alpha[i] / gammas[i]);
        if gamma == 0.0 {
            return Role::Idle;
        }
        let at_end = |s: f64| if s == 0.0 { Role::Idle } else { Role::Held { alpha: gamma * s } };
        match loss.conjugate_kind() {
            Conjugate::Smooth(_) => match loss.conjugate_curvature(y[i], s).filter(|curvature| curvature.is_finite()) {
                Some(curvature) => Role::Free { curvature: curvature / gamma },
                None => at_end(s),
            },
            Conjugate::Quadratic { a, k } => {
                let (lower, upper) = loss.domain(y[i]);
                let moved = match loss.targets() {
                    // Such a loss depends on the residual alone, which large constants leave its digits.
                    Targets::Real => loss.prox(y[i] - t[i], step, s),
                    Targets::Counts | Targets::Signs => loss.prox(y[i], step, s - step * t[i]),
                };
                let held = moved == lower || moved == upper || (k > 0.0 && moved == 0.0);
                if held { at_end(moved) } else { Role::Free { curvature: a / gamma } }
            }
        }
    };
    (0..y.len()).map(role).collect()
}

/// The share of the held samples that are near enough to a kink to pass it when another sample is left out. Measured for the losses with
/// kinks: a third and a half are as good, and none is three times farther off.
const NEAR_KINKS: f64 = 0.15;

/// The roles for a loss without curvature, whose slope is averaged over `t_i +- h`: a sample that has a kink there is free, with the
/// curvature of the dual that belongs to the mean curvature of the loss, `(L'(t_i + h) - L'(t_i - h))/(2h)`.
fn averaged(problem: &DualProblem<'_>, t: &[f64], mut roles: Vec<Role>) -> Vec<Role> {
    let (loss, y, gammas) = (problem.loss(), problem.targets(), problem.gammas());
    let free = roles.iter().filter(|role| matches!(role, Role::Free { .. })).count();
    // psi(s) = -y s + k|s| has its slopes where the residual is k or -k.
    let mut distances: Vec<f64> =
        (0..y.len()).filter(|&i| gammas[i] > 0.0).map(|i| ((y[i] - t[i]).abs() - loss.kink()).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let near = free + (NEAR_KINKS * (distances.len() - free) as f64).ceil() as usize;
    let size = (0..y.len()).map(|i| y[i].abs().max(t[i].abs())).fold(f64::MIN_POSITIVE, f64::max);
    // A little wider, so that the last of them is inside; and wider than rounding.
    let h = 1.01 * distances[near.clamp(1, distances.len()) - 1].max(1e-12 * size);
    for (i, role) in roles.iter_mut().enumerate().filter(|(i, _)| gammas[*i] > 0.0) {
        let (below, above) = (loss.slopes(y[i], t[i] - h).0, loss.slopes(y[i], t[i] + h).1);
        if above > below {
            *role = Role::Free { curvature: 2.0 * h / (above - below) / gammas[i] };
        }
    }
    roles
}

/// The Hessian of Q at a solution, around which it has been expanded.
fn hessian(form: &dyn QForm, solution: &Solution, at: &Expansion, scratch: &mut Scratch) -> Hessian {
    let q = form.exponent().q();
    let keep = kept_features(form).saturating_mul(FEATURES).min(form.most_kept());
    let mut hessian = form.hessian(at, keep, scratch);
    if hessian.tail_share > 0.0 {
        // What is known without the features that are left out: omega is homogeneous of degree q - 1.
        hessian.correct(&solution.alpha, &solution.omega.iter().map(|omega| (q - 1.0) * omega).collect::<Vec<f64>>());
    }
    hessian
}
