//! One problem on its way: points that it asks to have expanded, and what it makes of them.
//!
//! This file is the list of its steps. Where it starts is in `start`, the barrier and the direction in `barrier`, how far it
//! goes in `length`, what it remembers in `record`, the steps of the method for listed features in `turn`.

use std::ops::RangeInclusive;

use super::{
    barrier::Barrier,
    between::local_features,
    listed::{ListedMethod, Matrix},
    model::HessianModel,
    record::{KeptIterate, Record, Seen},
    rounding,
    term::Term,
};
use crate::{
    Certificate, DualProblem, Error, FeatureMatrix,
    data::Scratch,
    form::{Expansion, Hessian},
    numeric::largest,
    solver::{KnownPoint, Progress, Solution, Start, Status, path::untouched},
};

/// A sample with positive weight: its number, its gamma and its term of the dual.
pub(in crate::solver) struct SampleTerm<'a> {
    pub i: usize,
    pub gamma: f64,
    pub term: Term<'a>,
}

/// Rounding limits a run whose gap would grow by [`GROWTH_AT_LIMIT`] if predictions moved by this many times their usual rounding,
/// which is a mean over the samples: some are moved more.
const ROUNDINGS_AT_LIMIT: f64 = 8.0;
/// See [`ROUNDINGS_AT_LIMIT`]: rounding then makes a third of the gap.
const GROWTH_AT_LIMIT: f64 = 1.5;

/// Steps after the tolerance has been reached: Newton's method is quadratic there, and two reach the last digits.
const POLISHING_STEPS: usize = 2;
/// The most entries of a matrix for which a run takes these steps: they then cost milliseconds.
const MOST_ENTRIES_POLISHED: usize = 1 << 20;
/// Tolerances up to this are those of a model, whose run takes these steps. Larger ones are those of a search.
const FINAL_TOLERANCE: f64 = 1e-7;
/// A run ends if rounding alone keeps more iterates than this above the tolerance: it then always will.
const MOST_DOUBTS: usize = 2;

/// Why a run asks for the expansion at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointRole {
    /// The direction of the ray, on which the start is found.
    Ray,
    /// The dual vector that the best constant asks for.
    Answers,
    /// A start that was given.
    Given,
    /// A start that was given, where Q is known and no pass is needed.
    Known,
    /// The start that was found, where it had to be expanded again.
    Start,
    /// The end of a Newton step.
    Step,
    /// The minimum along a step whose end was refused.
    Shorter,
}

/// The state of one problem.
pub(super) struct Run<'a> {
    pub(super) problem: &'a DualProblem<'a>,
    pub(super) samples: Vec<SampleTerm<'a>>,
    /// The iterate, Q there, and what it proves.
    pub(super) alpha: Vec<f64>,
    pub(super) here: Expansion,
    pub(super) certificate: Certificate,
    /// The intercept b of the iterate, and the predictions `omega + b`, both less the centre of the targets.
    b: f64,
    pub(super) t: Vec<f64>,
    /// About how far rounding moves a prediction, as the last Hessian shows it.
    pub(super) rounding: f64,
    /// Whether rounding alone keeps the gap above the tolerance, and at how many iterates it did.
    blurred: bool,
    pub(super) doubts: usize,
    /// The smallest relative gap without rounding, and the iterations since it was halved.
    pub(super) plain: f64,
    pub(super) still: usize,
    /// The gap of the iterate if its predictions were not rounded.
    pub(super) plain_gap: f64,
    /// The iterates that have reached the tolerance.
    pub(super) polishes: usize,
    /// The point that is asked for, and why.
    pub(super) point: Vec<f64>,
    pub(super) there: Expansion,
    pub(super) role: PointRole,
    /// The slope of the smoothed dual along the step, at its start.
    pub(super) descent: f64,
    pub(super) barrier: Barrier,
    pub(super) record: Record,
    /// The features of a problem with few features, and the method that uses them once it has begun.
    pub(super) listed: Option<(&'a FeatureMatrix<'a>, Option<ListedMethod<'a>>)>,
    /// The same features while the method follows a start that was given.
    pub(super) warm: Option<&'a FeatureMatrix<'a>>,
    /// The features of a problem with many, for the same method if steps in alpha alone take long.
    pub(super) reserve: Option<&'a FeatureMatrix<'a>>,
    /// Whether this method has solved its equations. A gap that is left is then rounding of the dual vector, whatever steps follow.
    pub(super) solved: bool,
    /// Whether the start was given. The ray is then left to try.
    pub(super) given: bool,
    /// The length of the ray up to its minimum, once it is known, and up to the end of the domain as a multiple of that.
    pub(super) ray_length: f64,
    pub(super) ray_room: f64,
    pub(super) model: HessianModel,
    /// The features of a local model; 0 where none is good enough.
    pub(super) local_features: usize,
    pub(super) iteration: usize,
    pub(super) passes: usize,
    pub(super) status: Option<Status>,
    pub(super) scratch: Scratch,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        problem: &'a DualProblem<'a>,
        start: &mut Start,
        keep: RangeInclusive<usize>,
    ) -> Result<Self, Error> {
        if let Some(alpha) = start.given() {
            problem.check_start(alpha)?;
        }
        let (n, loss) = (problem.samples(), problem.loss());
        let present = (0..n).filter(|&i| problem.gammas()[i] > 0.0);
        // No more than it takes: there may be very many.
        let mut samples: Vec<SampleTerm<'_>> = Vec::with_capacity(present.clone().count());
        samples.extend(present.map(|i| SampleTerm {
            i,
            gamma: problem.gammas()[i],
            term: Term::new(loss, problem.centred(problem.targets()[i])),
        }));
        let barrier = Barrier::new(samples.iter().map(|sample| sample.term.barriers()).sum());
        let matrix = Matrix::of(problem);
        let (listed, reserve) = (matrix.filter(|matrix| matrix.at_once), matrix.filter(|matrix| !matrix.at_once));
        // A barrier follows the gap from pass to pass, and the method for listed features needs no passes for its steps.
        let stays = barrier.is_there() || listed.is_some();
        let mut run = Self {
            problem,
            samples,
            alpha: vec![0.0; n],
            here: Expansion::default(),
            certificate: Certificate { primal: f64::INFINITY, dual: 0.0, gap: f64::INFINITY, distance: f64::INFINITY },
            b: 0.0,
            t: vec![0.0; n],
            rounding: 0.0,
            blurred: false,
            doubts: 0,
            plain: f64::INFINITY,
            plain_gap: f64::INFINITY,
            polishes: 0,
            still: 0,
            point: vec![0.0; n],
            there: Expansion::default(),
            role: PointRole::Ray,
            descent: 0.0,
            barrier,
            record: Record::new(),
            listed: listed.map(|matrix| (matrix.x, None)),
            warm: None,
            reserve: reserve.map(|matrix| matrix.x),
            solved: false,
            given: false,
            ray_length: f64::INFINITY,
            ray_room: 1.0,
            local_features: if stays { 0 } else { local_features(problem.form()) },
            model: HessianModel::new(keep),
            iteration: 0,
            passes: 0,
            status: None,
            scratch: Scratch::new(),
        };
        run.ask_for_start(start);
        Ok(run)
    }

    /// The point to be expanded next, and where the expansion goes.
    pub(super) fn ask(&mut self) -> (&[f64], &mut Expansion) {
        (&self.point, &mut self.there)
    }

    /// Takes in the expansion of the point that was asked for. Afterwards the run stands at a new iterate, unless it asks for
    /// another point first, which is the answer `false`.
    pub(super) fn absorb(&mut self, tolerance: f64) -> bool {
        self.passes += usize::from(self.role != PointRole::Known);
        let arrived = match self.role {
            PointRole::Ray => self.settle_on_ray(),
            // Powers that leave the range of f64 tell nothing; the search on the ray stays inside of it.
            PointRole::Answers if !self.is_in_range() => {
                (self.point, self.role) = (self.ray(), PointRole::Ray);
                false
            }
            PointRole::Given | PointRole::Known if self.is_worse_than_zero() => {
                self.start_again();
                false
            }
            // What a line search would see of the last steps is rounding.
            PointRole::Step if self.listed.is_none() && !self.has_reached() && self.is_too_long() => {
                self.shorten();
                false
            }
            PointRole::Given
            | PointRole::Known
            | PointRole::Answers
            | PointRole::Start
            | PointRole::Step
            | PointRole::Shorter => true,
        };
        if !arrived {
            return false;
        }
        self.accept();
        if self.listed.is_none() {
            self.stretch();
        }
        self.certify(tolerance);
        true
    }

    /// Whether Q and its gradient at the point that was asked for are numbers.
    fn is_in_range(&self) -> bool {
        let evaluation = &self.there.evaluation;
        evaluation.values.iter().chain(&evaluation.omegas).all(|number| number.is_finite())
    }

    /// Makes the point that was asked for the iterate.
    fn accept(&mut self) {
        std::mem::swap(&mut self.alpha, &mut self.point);
        std::mem::swap(&mut self.here, &mut self.there);
        self.iteration += usize::from(matches!(self.role, PointRole::Step | PointRole::Shorter));
    }

    /// The certificate of the iterate, which is remembered if it is the best.
    fn certify(&mut self, tolerance: f64) {
        let evaluation = &mut self.here.evaluation;
        // Once the tolerance has been reached, no certificate is sharpened by a second look.
        let enough = if self.polishes > 0 { f64::INFINITY } else { tolerance };
        let certified = self.problem.certify(&self.alpha, evaluation, enough, &mut self.scratch);
        let certificate = certified.certificate;
        self.b = certified.b;
        self.passes += certified.passes;
        self.doubts += usize::from(certified.doubtful);
        self.blurred = certified.blurred || (self.doubts > MOST_DOUBTS && tolerance > 0.0);
        self.plain_gap = certified.plain;
        let plain = certificate.relative(certified.plain);
        if plain < 0.5 * self.plain {
            (self.plain, self.still) = (plain, 0);
        } else {
            self.still += 1;
        }
        let noisy = !self.record.is_progress(&certificate) && self.is_noisy(certificate.gap);
        let (problem, alpha, omegas, b) = (self.problem, &self.alpha, &self.here.evaluation.omegas, self.b);
        self.t.iter_mut().zip(omegas).for_each(|(t, omega)| *t = omega + b);
        let seen = Seen { certificate, plain, noisy };
        self.record.learn(seen, tolerance, || {
            let (alpha, omega) = (alpha.clone(), omegas.clone());
            KeptIterate { alpha, intercept: problem.uncentred(b), omega, certificate }
        });
        if self.listed.is_none() {
            self.model.learn(certificate.relative_gap(), self.role == PointRole::Step);
        }
        self.certificate = certificate;
    }

    /// The end of a run that makes no more progress; `None` if it goes on. The end is by rounding if rounding alone keeps the gap
    /// above the tolerance, or if a little more rounding would change the gap much.
    pub(super) fn dead_end(&self, tolerance: f64) -> Option<Status> {
        // Another method does not help where rounding makes every gap.
        let lost = self.record.is_lost() && !self.given && self.listed.is_none();
        if self.blurred || (lost && tolerance > 0.0) {
            return Some(Status::Rounding);
        }
        if !self.record.has_stalled() || self.given || self.listed.is_some() || self.reserve.is_some() {
            return None;
        }
        Some(self.stalled(tolerance))
    }

    fn stalled(&self, tolerance: f64) -> Status {
        let noisy = self.solved || self.record.is_noisy() || self.is_noisy(self.certificate.gap);
        if tolerance > 0.0 && noisy { Status::Rounding } else { Status::Stalled }
    }

    /// Whether rounding makes a large part of the gap: the gap that is claimed, or the one that a few more roundings would give. Also
    /// true if rounding may have made the largest predictions.
    pub(super) fn is_noisy(&self, claimed: f64) -> bool {
        let evaluation = &self.here.evaluation;
        let rounding = ROUNDINGS_AT_LIMIT * self.rounding;
        let rounded = || self.problem.gap_within(rounding, self.b, &self.alpha, evaluation);
        let most = GROWTH_AT_LIMIT * self.plain_gap;
        claimed > most
            || rounded() > most
            || GROWTH_AT_LIMIT * largest(&evaluation.roundings) > largest(&evaluation.omegas)
    }

    pub(super) fn progress(&self, problem: usize) -> Progress {
        Progress { problem, iteration: self.iteration, passes: self.passes, certificate: self.certificate }
    }

    /// Whether an iterate has reached the tolerance.
    pub(super) fn has_reached(&self) -> bool {
        self.polishes > 0
    }

    /// Whether a run that has reached its tolerance takes another step. If the matrix is small a step costs little, and the last steps
    /// bring many digits: a sample of weight 2 and a sample that is there twice, say, then give the same model to seven digits.
    pub(super) fn polishes(&mut self, tolerance: f64) -> bool {
        let small = self
            .problem
            .form()
            .listed()
            .is_some_and(|x| x.samples().saturating_mul(x.features()) <= MOST_ENTRIES_POLISHED);
        self.polishes += 1;
        small && tolerance <= FINAL_TOLERANCE && self.polishes <= POLISHING_STEPS
    }

    /// Finds the next step and asks for its end, or ends the run if there is none.
    pub(super) fn step(&mut self, tolerance: f64) {
        if self.takes_long() {
            self.turn_to_listed();
        }
        if self.record.has_stalled() {
            return self.start_again();
        }
        if self.listed.is_some() {
            return self.step_listed(tolerance);
        }
        if !self.step_between(tolerance) {
            let hessian = self.take_hessian(tolerance);
            let d = self.direction(&hessian, tolerance);
            let length = self.length(&hessian, &d);
            self.model.put_back(hessian);
            self.go(length, &d);
        }
        self.descent = self.slope_along(&self.step_to_point());
        self.role = PointRole::Step;
        if self.leads_nowhere() {
            match () {
                () if self.has_reached() => self.status = Some(Status::Converged),
                () if self.turn_to_listed() => self.step_listed(tolerance),
                () if self.given => self.start_again(),
                () => self.status = Some(self.stalled(tolerance)),
            }
        }
    }

    /// The Hessian at the iterate, which tells how far rounding moves predictions. It is to be put back.
    pub(super) fn take_hessian(&mut self, tolerance: f64) -> Hessian {
        let hessian = self.model.take(self.problem.form(), (&self.alpha, &self.here), tolerance, &mut self.scratch);
        self.rounding = rounding::of_predictions(&hessian, self.problem.form().listed(), &self.alpha);
        hessian
    }

    /// The size of the objective, as far as it is known.
    pub(super) fn size(&self) -> f64 {
        self.record.least_primal().min(self.certificate.dual.abs())
    }

    /// Whether the step does not move the iterate, or out of the range of f64.
    pub(super) fn leads_nowhere(&self) -> bool {
        self.point == self.alpha || !self.point.iter().all(|alpha| alpha.is_finite())
    }

    /// The best iterate, and the same as a start for other problems where that is a good one; the null model where the first pass was
    /// ended. Where a run ended for want of progress, its predictions are computed once more with less rounding.
    pub(super) fn solution(mut self, mut status: Status, tolerance: f64) -> (Solution, Option<KnownPoint>) {
        if !self.record.has_iterate() {
            return (untouched(self.problem), None);
        }
        let ended = matches!(status, Status::Stalled | Status::Rounding) && !self.blurred;
        let best = if ended {
            let (best, plain) = self.record.into_sharpened(self.problem, &mut self.passes, &mut self.scratch);
            if best.certificate.relative_gap() <= tolerance {
                status = Status::Converged;
            } else if tolerance > 0.0 && best.certificate.gap > GROWTH_AT_LIMIT * plain {
                status = Status::Rounding;
            }
            best
        } else {
            self.record.into_best()
        };
        let KeptIterate { alpha, omega, intercept, certificate } = best;
        // Without a local model, a line through two solutions leads as near as a step from one, and takes no Hessian.
        let led = self.local_features > 0
            && !self.here.evaluation.values.is_empty()
            && alpha.iter().any(|alpha| *alpha != 0.0);
        let known =
            (led && alpha == self.alpha).then(|| KnownPoint { alpha: alpha.clone(), expansion: Some(self.here) });
        let solution = Solution {
            alpha,
            omega,
            intercept,
            weights: None,
            certificate,
            status,
            iterations: self.iteration,
            passes: self.passes,
        };
        (solution, known)
    }
}
