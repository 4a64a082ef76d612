//! One problem on its way: points that it asks to have expanded, and what it makes of them.

use std::ops::RangeInclusive;

use super::{
    System,
    model::Model,
    term::{self, Term},
};
use crate::{
    Certificate, DualProblem, Error, Expansion, Hessian, Scratch,
    solver::{Progress, Solution, Start, Status, start},
};

/// A sample that is present.
struct Sample<'a> {
    i: usize,
    gamma: f64,
    term: Term<'a>,
}

/// What a point that was asked for is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The direction of the ray, on which the start is found.
    Ray,
    /// A start that was given.
    Given,
    /// The start that was found, where it had to be expanded again.
    Start,
    /// The end of a Newton step.
    Step,
    /// The minimum along a step whose end was refused.
    Shorter,
}

/// The state of one problem.
pub(super) struct Run<'a> {
    problem: &'a DualProblem<'a>,
    samples: Vec<Sample<'a>>,
    /// The iterate, Q there, and what it proves.
    alpha: Vec<f64>,
    here: Expansion,
    certificate: Certificate,
    /// Predictions less what the dual does not see of them: `omega + b`, from the centre of the targets.
    t: Vec<f64>,
    best: Option<Best>,
    /// The point that is asked for, and why.
    point: Vec<f64>,
    there: Expansion,
    asked: Asked,
    /// The slope of the smoothed dual along the step, at its start.
    descent: f64,
    /// The size of the barrier, and the last factor by which it shrank, as a place in [`SHRINK`].
    mu: f64,
    shrink: usize,
    barriers: f64,
    model: Model,
    iteration: usize,
    passes: usize,
    /// Iterations without progress, and the dual value at the last one that made some.
    idle: usize,
    /// Whether the start was given, so that the ray is left to try.
    given: bool,
    milestone: f64,
    pub(super) status: Option<Status>,
    scratch: Scratch,
}

/// The iterate with the smallest relative gap.
struct Best {
    alpha: Vec<f64>,
    omega: Vec<f64>,
    intercept: f64,
    certificate: Certificate,
}

/// Factors by which the barrier may shrink in one step.
const SHRINK: [f64; 6] = [1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0];
/// The share of the way to the border that a step may go, and that the start on the ray may have gone.
const MOST: f64 = 0.99;
const RAY_SHARE: f64 = 0.9;
/// A step is taken whole if the slope at its end is at most this share of the one at its start.
const FLAT: f64 = 0.5;
/// The barrier may shrink as long as the step promises no more than this many times what the barrier leaves open.
const CENTRED: f64 = 5.0;
/// The barrier must shrink when a step promises no more than this share of what the barrier leaves open.
const CENTRE: f64 = 0.1;
/// Iterations without progress after which a run has stalled.
const PATIENCE: usize = 30;
/// Iterations without progress after which a step may not cross a kink.
const HASTE: usize = 3;
/// A fall of the dual value by this share is progress, even if the gap does not show it.
const FALL: f64 = 0.02;
/// Beyond this, powers of e leave the range of f64.
const LN_RANGE: f64 = 600.0;
/// The search on the ray ends at -700.
const LEAST_LN_RAY: f64 = -699.0;

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a DualProblem<'a>, start: &Start, keep: RangeInclusive<usize>) -> Result<Self, Error> {
        let (n, loss) = (problem.samples(), problem.loss());
        let samples: Vec<Sample<'_>> = (0..n)
            .filter(|&i| problem.gammas()[i] > 0.0)
            .map(|i| Sample {
                i,
                gamma: problem.gammas()[i],
                term: Term::new(loss, problem.centred(problem.targets()[i])),
            })
            .collect();
        let barriers = samples.iter().map(|sample| sample.term.barriers()).sum::<usize>() as f64;
        let mut run = Self {
            problem,
            samples,
            alpha: vec![0.0; n],
            here: Expansion::default(),
            certificate: Certificate { primal: f64::INFINITY, dual: 0.0, gap: f64::INFINITY, distance: f64::INFINITY },
            t: vec![0.0; n],
            best: None,
            point: vec![0.0; n],
            there: Expansion::default(),
            asked: Asked::Ray,
            descent: 0.0,
            mu: f64::INFINITY,
            shrink: SHRINK.len() - 1,
            barriers,
            model: Model::new(keep),
            iteration: 0,
            passes: 0,
            idle: 0,
            given: false,
            milestone: f64::INFINITY,
            status: None,
            scratch: Scratch::new(),
        };
        run.point = run.ray();
        if let Start::At(alpha) = start {
            problem.check_start(alpha)?;
            run.start_at(alpha);
            run.given = run.asked == Asked::Given;
        }
        Ok(run)
    }

    /// The point to be expanded next, and where the expansion goes.
    pub(super) fn ask(&mut self) -> (&[f64], &mut Expansion) {
        (&self.point, &mut self.there)
    }

    /// A direction inside the domain along which the start is found.
    fn ray(&self) -> Vec<f64> {
        let problem = self.problem;
        if !term::is_bounded_regression(problem.loss()) {
            return start::direction(problem);
        }
        // Residuals from the middle beyond the usual size count as one: their samples end at the border.
        let mut sizes: Vec<f64> = self.residuals().map(|(_, residual)| residual.abs()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let usual = sizes[sizes.len() / 2].max(sizes[sizes.len() - 1] * 1e-3);
        let mut a = vec![0.0; problem.samples()];
        if usual == 0.0 {
            return a;
        }
        for (sample, residual) in self.residuals() {
            a[sample.i] = sample.gamma * (residual / usual).tanh();
        }
        if problem.has_intercept() {
            // Both sides of the middle weigh the same.
            let side = |sign: f64| a.iter().map(|a| (sign * a).max(0.0)).sum::<f64>();
            let (plus, minus) = (side(1.0), side(-1.0));
            let least = plus.min(minus);
            if least == 0.0 {
                // The best constant is an end of the targets.
                return start::direction(problem);
            }
            a.iter_mut().for_each(|a| *a *= least / if *a > 0.0 { plus } else { minus });
            problem.balance(&mut a);
        }
        a
    }

    /// The residuals of the best constant, or of 0.
    fn residuals(&self) -> impl Iterator<Item = (&Sample<'a>, f64)> {
        self.samples.iter().map(|sample| (sample, self.problem.centred(self.problem.targets()[sample.i])))
    }

    /// Asks for a given start, moved a little towards the ray if it is not inside the domain.
    fn start_at(&mut self, alpha: &[f64]) {
        let ray = std::mem::replace(&mut self.point, alpha.to_vec());
        self.asked = Asked::Given;
        if self.barriers == 0.0 {
            return;
        }
        let size = |v: &[f64]| v.iter().map(|v| v.abs()).sum::<f64>();
        let room = self.room(&vec![0.0; alpha.len()], &ray);
        let inner = if room.is_finite() { 0.5 * room } else { size(alpha) / size(&ray) };
        if inner > 0.0 && inner.is_finite() {
            let towards = 1e-3;
            let mix = alpha.iter().zip(&ray).map(|(alpha, ray)| (1.0 - towards) * alpha + towards * inner * ray);
            self.point = mix.collect();
        } else if inner == 0.0 {
            (self.point, self.asked) = (ray, Asked::Ray);
            return;
        }
        self.keep_inside();
    }

    /// Takes in the expansion of the point that was asked for. Afterwards the run stands at a new iterate, unless it asks for
    /// another point first, which is the answer `false`.
    pub(super) fn absorb(&mut self) -> bool {
        self.passes += 1;
        if self.asked == Asked::Given && self.is_worse_than_zero() {
            self.start_again();
            return false;
        }
        if self.asked == Asked::Ray && !self.settle_on_ray() {
            return false;
        }
        if self.asked == Asked::Step && self.is_too_long() {
            self.shorten();
            return false;
        }
        std::mem::swap(&mut self.alpha, &mut self.point);
        std::mem::swap(&mut self.here, &mut self.there);
        self.iteration += usize::from(matches!(self.asked, Asked::Step | Asked::Shorter));
        self.stretch();
        self.certify();
        true
    }

    /// Whether a given start is worse than zero, which no start on the ray is.
    fn is_worse_than_zero(&self) -> bool {
        let dual = self.problem.certificate(&self.point, &self.there.evaluation).dual;
        dual.is_nan() || dual > 0.0
    }

    /// Moves the expansion of the ray to the minimum on it; `false` if that must be expanded again, because the powers of
    /// the move are out of range.
    fn settle_on_ray(&mut self) -> bool {
        let q = self.problem.form().exponent().q();
        let ln_value = self.there.evaluation.ln_values[0];
        if self.point.iter().all(|&a| a == 0.0) {
            self.asked = Asked::Start;
            return true;
        }
        let share = if self.barriers > 0.0 { RAY_SHARE } else { 1.0 };
        let t = start::ray_length(self.problem, &self.point, ln_value, share);
        if t.ln() < LEAST_LN_RAY && self.samples.iter().all(|sample| sample.term.has_zero_inside()) {
            // Nothing on the ray is better than zero.
            self.point.fill(0.0);
            self.asked = Asked::Start;
            return false;
        }
        let in_range = ln_value < LN_RANGE && ln_value + q * t.ln() < LN_RANGE && (q * t.ln()).abs() < LN_RANGE;
        self.point.iter_mut().for_each(|a| *a *= t);
        self.asked = Asked::Start;
        if in_range {
            self.there.stretch(t, q);
        }
        in_range
    }

    /// Keeps the point that is asked for inside the domain, and in balance.
    fn keep_inside(&mut self) {
        for sample in &self.samples {
            let s = &mut self.point[sample.i];
            *s = sample.gamma * sample.term.inside(*s / sample.gamma);
        }
        self.problem.balance(&mut self.point);
    }

    /// The largest t with `from + t d` in the domain.
    fn room(&self, from: &[f64], d: &[f64]) -> f64 {
        let rooms = self.samples.iter().map(|Sample { i, gamma, term }| term.room(from[*i] / gamma, d[*i] / gamma));
        rooms.fold(f64::INFINITY, f64::min)
    }

    /// As [`room`](Self::room) from the iterate, for kinks under a barrier too.
    fn room_under(&self, mu: f64, d: &[f64]) -> f64 {
        let rooms = self.samples.iter().map(|Sample { i, gamma, term }| {
            let (s, ds) = (self.alpha[*i] / gamma, d[*i] / gamma);
            term.room(s, ds).min(term.kink_room(s, ds, mu / gamma))
        });
        rooms.fold(f64::INFINITY, f64::min)
    }

    /// The slope along d of the smoothed conjugates at `alpha + t d`.
    fn conjugate_slope(&self, alpha: &[f64], d: &[f64], t: f64) -> f64 {
        let terms = self.samples.iter().map(|Sample { i, gamma, term }| {
            let s = term.inside((alpha[*i] + t * d[*i]) / gamma);
            if d[*i] == 0.0 { 0.0 } else { d[*i] * term.slope(s, self.mu_of(*gamma)) }
        });
        terms.sum()
    }

    /// The barrier in the units of one sample.
    fn mu_of(&self, gamma: f64) -> f64 {
        if self.barriers == 0.0 { 0.0 } else { self.mu / gamma }
    }

    /// Whether the smoothed dual climbs at the end of the step.
    fn is_too_long(&self) -> bool {
        let d: Vec<f64> = self.point.iter().zip(&self.alpha).map(|(to, from)| to - from).collect();
        let omegas = &self.there.evaluation.omegas;
        let slope = dot(omegas, &d) + self.conjugate_slope(&self.alpha, &d, 1.0);
        // An infinite end has no slope.
        slope.is_nan() || slope > FLAT * self.descent.abs()
    }

    /// Asks for the minimum of the smoothed dual along the step instead of its end.
    fn shorten(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let d: Vec<f64> = self.point.iter().zip(&self.alpha).map(|(to, from)| to - from).collect();
        let form = self.problem.form();
        let line = form.segment((&self.alpha, &self.here), (&self.point, &self.there), &mut scratch);
        let t = root(|t| line.at(0, t).slope + self.conjugate_slope(&self.alpha, &d, t), self.descent.abs());
        let passes = line.passes();
        drop(line);
        self.passes += passes;
        self.scratch = scratch;
        self.point.iter_mut().zip(&self.alpha).zip(&d).for_each(|((point, alpha), d)| *point = alpha + t * d);
        self.keep_inside();
        self.asked = Asked::Shorter;
    }

    /// Minimises the smoothed dual on the ray through the iterate, which costs no pass: `Q(t alpha) = t^q Q(alpha)`.
    fn stretch(&mut self) {
        let q = self.problem.form().exponent().q();
        let value = q * self.here.evaluation.values[0];
        // The barrier is not known before the first step, and there the start is a minimum already.
        if !(value > 0.0 && value.is_finite()) || self.mu.is_infinite() && self.barriers > 0.0 {
            return;
        }
        let zero = vec![0.0; self.alpha.len()];
        let room = self.room(&zero, &self.alpha);
        let longest = (1.0 + RAY_SHARE * (room - 1.0)).min(2.0);
        let slope = |t: f64| value * t.powf(q - 1.0) + self.conjugate_slope(&zero, &self.alpha, t);
        let here = slope(1.0);
        let t = if here > 0.0 {
            let mut low = 0.5;
            while slope(low) > 0.0 && low > 1e-3 {
                low *= 0.5;
            }
            low + (1.0 - low) * root(|share| slope(low + (1.0 - low) * share), 0.0)
        } else if longest > 1.0 && slope(longest) > 0.0 {
            1.0 + (longest - 1.0) * root(|share| slope(1.0 + (longest - 1.0) * share), 0.0)
        } else {
            longest.max(1.0)
        };
        if t.is_finite() && t != 1.0 {
            self.alpha.iter_mut().for_each(|alpha| *alpha *= t);
            self.here.stretch(t, q);
        }
    }

    /// The certificate of the iterate, which is remembered if it is the best.
    fn certify(&mut self) {
        let (problem, omegas) = (self.problem, &self.here.evaluation.omegas);
        self.certificate = problem.certificate(&self.alpha, &self.here.evaluation);
        let b = problem.centred_intercept(omegas);
        self.t.iter_mut().zip(omegas).for_each(|(t, omega)| *t = omega + b);
        let gap = self.certificate.relative_gap();
        let best = self.best.as_ref().map_or(f64::INFINITY, |best| best.certificate.relative_gap());
        let dual = self.certificate.dual;
        let falls = dual < self.milestone - FALL * self.milestone.abs();
        self.idle = if gap < 0.9 * best || falls { 0 } else { self.idle + 1 };
        if falls || self.best.is_none() {
            self.milestone = dual;
        }
        if gap < best || self.best.is_none() {
            let (alpha, omega) = (self.alpha.clone(), omegas.clone());
            let intercept = problem.intercept(&omega);
            self.best = Some(Best { alpha, omega, intercept, certificate: self.certificate });
        }
        self.model.learn(gap, self.asked == Asked::Step);
    }

    pub(super) fn progress(&self, problem: usize) -> Progress {
        Progress { problem, iteration: self.iteration, passes: self.passes, certificate: self.certificate }
    }

    /// Whether no step makes progress any more.
    pub(super) fn has_stalled(&self) -> bool {
        self.idle > PATIENCE && !self.given
    }

    /// Asks for the ray, where a start that was given has led nowhere.
    fn start_again(&mut self) {
        (self.point, self.asked) = (self.ray(), Asked::Ray);
        (self.given, self.idle, self.mu, self.shrink) = (false, 0, f64::INFINITY, SHRINK.len() - 1);
        self.milestone = f64::INFINITY;
    }

    /// Finds the next step and asks for its end; `Stalled` if there is none.
    pub(super) fn step(&mut self, tolerance: f64) {
        if self.idle > PATIENCE {
            return self.start_again();
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let hessian = self.model.take(self.problem.form(), &self.here, tolerance, &mut scratch);
        self.scratch = scratch;
        let d = self.direction(&hessian, tolerance);
        let length = self.length(&hessian, &d);
        self.model.put_back(hessian);
        self.point.iter_mut().zip(&self.alpha).zip(&d).for_each(|((point, alpha), d)| *point = alpha + length * d);
        self.keep_inside();
        let d: Vec<f64> = self.point.iter().zip(&self.alpha).map(|(to, from)| to - from).collect();
        self.descent = dot(&self.here.evaluation.omegas, &d) + self.conjugate_slope(&self.alpha, &d, 0.0);
        self.asked = Asked::Step;
        if self.point == self.alpha || !self.point.iter().all(|alpha| alpha.is_finite()) {
            if self.given {
                return self.start_again();
            }
            self.status = Some(Status::Stalled);
        }
    }

    /// How much of the Newton step to try: what stays off the border, and what the features that the Hessian has kept allow.
    fn length(&mut self, hessian: &Hessian, d: &[f64]) -> f64 {
        let most = MOST.max(1.0 - self.certificate.relative_gap());
        // Steps across kinks are often good; if they have led nowhere, the next ones stop there.
        let careful = self.idle > HASTE && self.barriers > 0.0;
        let room = if careful { self.room_under(self.mu, d) } else { self.room(&self.alpha, d) };
        let length = (most * room).min(1.0);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut share = 1.0;
        if let Some(line) = self.problem.form().preview(&self.here, hessian, d, &mut scratch) {
            // What is kept of the features tells how the slope changes; the others add their share of the curvature.
            let descent = dot(&self.here.evaluation.omegas, d) + self.conjugate_slope(&self.alpha, d, 0.0);
            let (start, tail) = (line.at(0, 0.0).slope, hessian.tail * dot(d, d));
            let conjugate =
                |t: f64| self.conjugate_slope(&self.alpha, d, t) - self.conjugate_slope(&self.alpha, d, 0.0);
            let slope = |t: f64| descent + line.at(0, t).slope - start + t * tail + conjugate(t);
            if descent < 0.0 && slope(length) > FLAT * descent.abs() {
                share = root(|share| slope(share * length), descent.abs());
            }
        }
        self.scratch = scratch;
        share * length
    }

    /// The Newton direction for the smallest barrier under which the step neither meets the border nor promises more than
    /// the barrier leaves open.
    fn direction(&mut self, hessian: &Hessian, tolerance: f64) -> Vec<f64> {
        if self.barriers == 0.0 {
            return self.newton_direction(hessian, 0.0).d;
        }
        let Certificate { primal, dual, gap, .. } = self.certificate;
        if self.mu.is_infinite() {
            let open = if dual == 0.0 { gap } else { gap.min(dual.abs()) };
            self.mu = open / self.barriers;
        }
        // Below this the barrier does not matter for the tolerance.
        let least = 1e-3 * tolerance.max(1e-14) * primal.abs().min(dual.abs()) / self.barriers;
        let mu = |place: usize| (SHRINK[place] * self.mu).max(least.min(self.mu));
        let fits = |found: &Direction, place: usize| {
            self.room_under(mu(place), &found.d) >= 0.9 && found.decrease <= CENTRED * self.barriers * mu(place)
        };
        let mut place = self.shrink;
        let mut found = self.newton_direction(hessian, mu(place));
        if fits(&found, place) {
            while place > 0 {
                let bolder = self.newton_direction(hessian, mu(place - 1));
                if !fits(&bolder, place - 1) {
                    break;
                }
                (found, place) = (bolder, place - 1);
            }
        } else {
            while place + 1 < SHRINK.len() {
                place += 1;
                found = self.newton_direction(hessian, mu(place));
                if fits(&found, place) {
                    break;
                }
            }
        }
        // Where the step promises next to nothing the barrier shrinks, whether the step fits or not.
        if place + 1 == SHRINK.len() && found.decrease <= CENTRE * self.barriers * self.mu {
            place -= 1;
            found = self.newton_direction(hessian, mu(place));
        }
        self.mu = mu(place);
        self.shrink = place;
        found.d
    }

    fn newton_direction(&self, hessian: &Hessian, mu: f64) -> Direction {
        let (mut gradient, mut diagonal) = (Vec::new(), Vec::new());
        for Sample { i, gamma, term } in &self.samples {
            let found = term.linearised(term.inside(self.alpha[*i] / gamma), self.t[*i], mu / gamma);
            gradient.push(-found.gradient);
            diagonal.push(found.curvature / gamma);
        }
        let present: Vec<usize> = self.samples.iter().map(|sample| sample.i).collect();
        let n = self.alpha.len();
        let solved = System::new(hessian, &diagonal, &present, n, self.problem.has_intercept()).solve(&gradient);
        let mut d = vec![0.0; n];
        present.iter().zip(&solved).for_each(|(&i, solved)| d[i] = *solved);
        Direction { d, decrease: dot(&gradient, &solved) }
    }

    pub(super) fn solution(self, status: Status) -> Solution {
        let best = self.best.expect("a run ends at an iterate");
        let Best { alpha, omega, intercept, certificate } = best;
        let (iterations, passes) = (self.iteration, self.passes);
        Solution { alpha, omega, intercept, certificate, status, iterations, passes }
    }
}

/// A step, and what the model of the smoothed dual promises of it, twice.
struct Direction {
    d: Vec<f64>,
    decrease: f64,
}

/// A zero in ]0, 1[ of an increasing function that is negative at 0 and positive at 1, to a tenth of its size `descent` at 0, or to the
/// last digits.
fn root(f: impl Fn(f64) -> f64, descent: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let (mut below, mut above) = (-descent, f64::INFINITY);
    let mut t = 0.5;
    for _ in 0..100 {
        let value = f(t);
        if value.abs() <= 0.1 * descent || high - low <= 1e-14 * high {
            break;
        }
        // The end that stays counts half, so that the other one moves too.
        if value < 0.0 {
            (low, below, above) = (t, value, 0.5 * above);
        } else {
            (high, above, below) = (t, value, 0.5 * below);
        }
        let steep = above.is_nan() || above > -10.0 * below;
        t = if steep { 0.5 * (low + high) } else { low + (high - low) * below / (below - above) };
    }
    t
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
