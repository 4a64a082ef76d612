//! Random problems, many of them hostile, whose answers are computed again in extended precision.
//!
//! A certificate says: the objective of this answer is at most so far above the minimum. `oracle` recomputes that distance from the
//! dual vector and the intercept that were returned, by formulas of its own with 32 digits. A *false certificate* claims less than
//! the truth. Routes that can hold the same problem must agree within what they claim.

mod draw;
mod oracle;

use std::{ops::ControlFlow, sync::Mutex};

use banach::{
    DualProblem, Newton, Route, Solution, Solver, Status, Stopping, Unobserved, data::Scratch, form::Evaluation,
};
use rayon::prelude::*;
use serde::Serialize;

use self::{draw::Draw, oracle::Truth};
use crate::{Error, Watch};

/// What is tried.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct StressRequest {
    /// Problems; each is fitted by every route that can hold it.
    pub problems: u64,
    /// The seed of the first; the others follow.
    pub seed: u64,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Stress {
    /// What was asked for.
    pub request: StressRequest,
    /// How the fits of each route ended.
    pub routes: Vec<Ends>,
    /// What must not be.
    pub failures: Vec<Failure>,
}

/// How the fits of a route ended.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Ends {
    /// The route.
    pub route: Route,
    /// Fits.
    pub fits: usize,
    /// Those that reached their tolerance.
    pub converged: usize,
    /// Those that rounding has kept from it.
    pub rounding: usize,
    /// Those that met the limit on iterations.
    pub limit: usize,
    /// Problems that were refused with a reason.
    pub refused: usize,
    /// The most passes over the data.
    pub passes: usize,
}

/// One thing that must not be.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// What.
    pub kind: Kind,
    /// The seed that draws the problem again.
    pub seed: u64,
    /// The problem and the numbers.
    pub what: String,
}

/// What must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A gap that is smaller than the true one.
    FalseCertificate,
    /// A run that goes no further, where rounding is not the reason: it does not say so, or its own route proves the answer of another.
    Stall,
    /// Two routes whose objectives differ by more than their gaps.
    Disagreement,
}

/// Problems between two reports of progress.
const TOGETHER: u64 = 64;

/// One fit.
struct RouteFit {
    route: Route,
    /// `None` where it was refused.
    solution: Option<Solution>,
}

impl Stress {
    /// Runs all problems.
    ///
    /// # Panics
    ///
    /// If a fit does, which none may.
    pub fn run(request: StressRequest, watch: &mut dyn Watch) -> Result<Self, Error> {
        watch.begin("random problems", usize::try_from(request.problems).unwrap_or(usize::MAX));
        let mut routes: Vec<Ends> = Route::ALL.map(Ends::new).into();
        let mut failures = Vec::new();
        for first in (0..request.problems).step_by(TOGETHER as usize) {
            let seeds = first..(first + TOGETHER).min(request.problems);
            let found = Mutex::new(Vec::new());
            seeds.into_par_iter().for_each(|at| {
                let one = try_problem(request.seed + at);
                found.lock().expect("no thread panics").push((at, one));
            });
            let mut found = found.into_inner().expect("no thread panics");
            found.sort_by_key(|(at, _)| *at);
            for (_, (fits, failed)) in found {
                fits.iter().for_each(|fit| routes[fit.route as usize].count(fit));
                failures.extend(failed);
            }
            if watch.step(usize::try_from(first + TOGETHER).unwrap_or(usize::MAX)) == ControlFlow::Break(()) {
                return Err(Error::Stopped);
            }
        }
        Ok(Self { request, routes, failures })
    }

    /// How many failures there are of a kind.
    pub fn failed(&self, kind: Kind) -> usize {
        self.failures.iter().filter(|failure| failure.kind == kind).count()
    }
}

impl Ends {
    fn new(route: Route) -> Self {
        Self { route, fits: 0, converged: 0, rounding: 0, limit: 0, refused: 0, passes: 0 }
    }

    fn count(&mut self, fit: &RouteFit) {
        self.fits += 1;
        let Some(solution) = &fit.solution else {
            self.refused += 1;
            return;
        };
        self.passes = self.passes.max(solution.passes);
        match solution.status {
            Status::Converged => self.converged += 1,
            Status::Rounding => self.rounding += 1,
            Status::IterationLimit => self.limit += 1,
            _ => {}
        }
    }
}

fn try_problem(seed: u64) -> (Vec<RouteFit>, Vec<Failure>) {
    let draw = Draw::new(seed);
    let fits: Vec<RouteFit> =
        draw.routes().into_iter().map(|route| RouteFit { route, solution: fit(&draw, route) }).collect();
    let mut failures = Vec::new();
    let mut fail = |kind, what: String| failures.push(Failure { kind, seed, what: format!("{draw}: {what}") });
    let mut last: Option<(Route, Truth)> = None;
    for (route, solution) in fits.iter().filter_map(|fit| Some((fit.route, fit.solution.as_ref()?))) {
        let truth = oracle::truth(&draw, &solution.alpha, solution.intercept);
        let (claimed, status) = (solution.certificate, solution.status);
        // What is lost in 32 digits.
        let slack = 1e-22 * truth.primal.0.abs().max(truth.dual.0.abs());
        if truth.gap > claimed.gap * (1.0 + 1e-6) + slack {
            let claimed = format!("{:.2e} (relative {:.2e})", claimed.gap, claimed.relative_gap());
            fail(
                Kind::FalseCertificate,
                format!("{route:?} {status} claims a gap of {claimed}, it is {:.2e}", truth.gap),
            );
        }
        let mut others = fits.iter().filter(|other| other.route != route).filter_map(|other| other.solution.as_ref());
        if status == Status::Stalled {
            let passes = solution.passes;
            fail(Kind::Stall, format!("{route:?} at {:.2e} after {passes} passes", claimed.relative_gap()));
        } else if status != Status::Converged && others.any(|other| is_proved(&draw, route, &other.alpha)) {
            let passes = solution.passes;
            let gap = claimed.relative_gap();
            fail(
                Kind::Stall,
                format!("{route:?} {status} at {gap:.2e} after {passes} passes, and proves a better answer"),
            );
        }
        if let Some((other, last)) = last
            && (truth.primal - last.primal).0.abs() > 1.01 * truth.gap.max(last.gap) + slack
        {
            fail(Kind::Disagreement, format!("{route:?} {:e} and {other:?} {:e}", truth.primal.0, last.primal.0));
        }
        if truth.gap.is_finite() {
            last = Some((route, truth));
        }
    }
    (fits, failures)
}

/// The answer of a route; `None` where the problem is refused.
fn fit(draw: &Draw, route: Route) -> Option<Solution> {
    let stopping = Stopping { tolerance: draw.tolerance, max_iterations: 1000 };
    of_problem(draw, route, |problem| Newton { stopping, ..Newton::default() }.solve(problem, &mut Unobserved).ok())?
}

/// Whether a route proves an answer to the tolerance.
fn is_proved(draw: &Draw, route: Route, alpha: &[f64]) -> bool {
    let gap = of_problem(draw, route, |problem| {
        let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
        problem.form().evaluate(alpha, &mut evaluation, &mut scratch);
        problem.form().sharpen(alpha, &mut evaluation, &mut scratch);
        problem.certificate(alpha, &evaluation).relative_gap()
    });
    gap.is_some_and(|gap| gap <= draw.tolerance)
}

/// Asks something of the problem of a route; `None` where it is refused.
fn of_problem<T>(draw: &Draw, route: Route, ask: impl FnOnce(&DualProblem<'_>) -> T) -> Option<T> {
    let form = draw.form(route).ok()?;
    let loss = draw.loss.build().expect("drawn within range");
    let problem = DualProblem::new(&*form, &*loss, &draw.y, draw.gamma).ok()?;
    let problem = problem.with_sample_weights(&draw.weights).ok()?;
    let problem = if draw.intercept { problem.with_intercept().ok()? } else { problem };
    Some(ask(&problem))
}

#[cfg(test)]
mod tests {
    use qd::Quad;

    use super::*;
    use crate::watch::Count;

    /// A sample of the 20,000 problems that `banach-lab bench stress` tries. One fit in a hundred there stalls (docs/solvers.md).
    #[test]
    fn nothing_false_is_certified() {
        let stress =
            Stress::run(StressRequest { problems: 1000, seed: 1 }, &mut Count::default()).expect("nobody stops it");
        let (stalls, wrong): (Vec<&Failure>, Vec<&Failure>) =
            stress.failures.iter().partition(|failure| failure.kind == Kind::Stall);
        assert!(wrong.is_empty(), "{wrong:#?}");
        let converged: usize = stress.routes.iter().map(|ends| ends.converged).sum();
        let fits: usize = stress.routes.iter().map(|ends| ends.fits).sum();
        assert!(converged * 4 > fits * 3, "{converged} of {fits} fits converged");
        assert!(stalls.len() * 50 < fits, "{} of {fits} fits stalled: {stalls:#?}", stalls.len());
    }

    /// Every prediction is within the bound on its rounding, at the first look and at the second, for dual vectors far from a solution and
    /// of every size.
    #[test]
    fn predictions_are_within_their_bounds() {
        let wrong: Vec<String> = (0..1500_u64).into_par_iter().flat_map_iter(within_bounds).collect();
        assert!(wrong.is_empty(), "{} of 1500 problems: {wrong:#?}", wrong.len());
    }

    fn within_bounds(seed: u64) -> Vec<String> {
        let draw = Draw::new(seed);
        // From 1e-6 to 1e6, of both signs and without a pattern.
        let size = 10_f64.powf((seed % 13) as f64 - 6.0);
        let alpha: Vec<f64> = (0..draw.n).map(|i| size * (1.0 + (i * i + 3 * i) as f64).sin()).collect();
        let truth = oracle::omega(&draw, &alpha);
        let mut wrong = Vec::new();
        for route in draw.routes() {
            let Ok(form) = draw.form(route) else { continue };
            let (mut evaluation, mut scratch) = (Evaluation::default(), Scratch::new());
            form.evaluate(&alpha, &mut evaluation, &mut scratch);
            for look in ["first", "second"] {
                for (i, truth) in truth.iter().enumerate().filter(|(_, truth)| truth.0.is_finite()) {
                    let (omega, bound) = (evaluation.omegas[i], evaluation.roundings[i]);
                    let off = (*truth - Quad::from(omega)).0.abs();
                    // What is lost in 32 digits, and below the range of f64.
                    let slack = 1e-24 * truth.0.abs() + f64::MIN_POSITIVE;
                    if omega.is_nan() || bound.is_nan() || (omega.is_finite() && off > bound + slack) {
                        wrong.push(format!(
                            "{seed} {draw}: {route:?}, {look} look, {omega:e} is off by {off:e}, not {bound:e}"
                        ));
                    }
                }
                form.sharpen(&alpha, &mut evaluation, &mut scratch);
            }
        }
        wrong.truncate(1);
        wrong
    }

    /// The oracle sees a gap that is claimed too small.
    #[test]
    fn the_oracle_tells_a_wrong_answer() {
        let draw = (0..1000).map(Draw::new).find(|draw| draw.routes()[0] == Route::Features && draw.y.len() > 5);
        let draw = draw.expect("most are");
        let solution = fit(&draw, Route::Features).expect("not refused");
        let right = oracle::truth(&draw, &solution.alpha, solution.intercept);
        let moved: Vec<f64> = solution.alpha.iter().map(|alpha| 0.5 * alpha).collect();
        let wrong = oracle::truth(&draw, &moved, solution.intercept);
        assert!(wrong.gap > 10.0 * right.gap, "{} {}", wrong.gap, right.gap);
    }
}
