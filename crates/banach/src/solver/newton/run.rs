//! One problem on its way: points that it asks to have expanded, and what it makes of them.
//!
//! This file is the list of its steps. Where it starts is in `start`, the barrier and the direction in `barrier`, how far it
//! goes in `length`, what it remembers in `record`.

use std::ops::RangeInclusive;

use super::{
    barrier::Barrier,
    listed::Listed,
    model::Model,
    record::{Best, Record},
    rounding,
    term::Term,
};
use crate::{
    Certificate, DualProblem, Error, Expansion, FeatureMatrix, Scratch,
    solver::{Progress, Solution, Start, Status},
};

/// A sample that is present.
pub(super) struct Sample<'a> {
    pub i: usize,
    pub gamma: f64,
    pub term: Term<'a>,
}

/// A run that goes no further has met its limit by rounding if this many times the usual rounding of a prediction would make its
/// gap that many times as large.
const FEW_ROUNDINGS: f64 = 8.0;
const MUCH_MORE: f64 = 1.5;

/// The method for listed features has done its work when its pairs leave open this share of the tolerance, and so many
/// iterations have not made the gap smaller.
const SPENT: f64 = 0.1;
const FEW: usize = 5;
/// The share of the tolerance that they need not go below.
const LEAST_OPEN: f64 = 1e-2;

/// What a point that was asked for is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
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
    pub(super) problem: &'a DualProblem<'a>,
    pub(super) samples: Vec<Sample<'a>>,
    /// The iterate, Q there, and what it proves.
    pub(super) alpha: Vec<f64>,
    pub(super) here: Expansion,
    pub(super) certificate: Certificate,
    /// Predictions less what the dual does not see of them: `omega + b`, from the centre of the targets.
    pub(super) t: Vec<f64>,
    /// About how far rounding moves a prediction, as the last Hessian shows it.
    rounding: f64,
    /// Whether rounding is all that keeps the gap above the tolerance.
    blurred: bool,
    /// The smallest gap without what rounding adds to it, and the iterations since it was halved; where features are listed.
    plain: f64,
    still: usize,
    /// The point that is asked for, and why.
    pub(super) point: Vec<f64>,
    pub(super) there: Expansion,
    pub(super) asked: Asked,
    /// The slope of the smoothed dual along the step, at its start.
    pub(super) descent: f64,
    pub(super) barrier: Barrier,
    pub(super) record: Record,
    /// The features of a problem that has few, and the method that uses them once it has begun.
    pub(super) listed: Option<(&'a FeatureMatrix<'a>, Option<Listed<'a>>)>,
    /// Whether the start was given, so that the ray is left to try.
    pub(super) given: bool,
    model: Model,
    iteration: usize,
    pub(super) passes: usize,
    pub(super) status: Option<Status>,
    pub(super) scratch: Scratch,
}

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a DualProblem<'a>, start: &Start, keep: RangeInclusive<usize>) -> Result<Self, Error> {
        if let Start::At(alpha) = start {
            problem.check_start(alpha)?;
        }
        let (n, loss) = (problem.samples(), problem.loss());
        let samples: Vec<Sample<'_>> = (0..n)
            .filter(|&i| problem.gammas()[i] > 0.0)
            .map(|i| Sample {
                i,
                gamma: problem.gammas()[i],
                term: Term::new(loss, problem.centred(problem.targets()[i])),
            })
            .collect();
        let barrier = Barrier::new(samples.iter().map(|sample| sample.term.barriers()).sum());
        let mut run = Self {
            problem,
            samples,
            alpha: vec![0.0; n],
            here: Expansion::default(),
            certificate: Certificate { primal: f64::INFINITY, dual: 0.0, gap: f64::INFINITY, distance: f64::INFINITY },
            t: vec![0.0; n],
            rounding: 0.0,
            blurred: false,
            plain: f64::INFINITY,
            still: 0,
            point: vec![0.0; n],
            there: Expansion::default(),
            asked: Asked::Ray,
            descent: 0.0,
            barrier,
            record: Record::new(),
            listed: Listed::of(problem).map(|x| (x, None)),
            given: false,
            model: Model::new(keep),
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
        self.passes += 1;
        let arrived = match self.asked {
            Asked::Ray => self.settle_on_ray(),
            Asked::Given if self.is_worse_than_zero() => {
                self.start_again();
                false
            }
            Asked::Step if self.listed.is_none() && self.is_too_long() => {
                self.shorten();
                false
            }
            Asked::Given | Asked::Start | Asked::Step | Asked::Shorter => true,
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

    /// Makes the point that was asked for the iterate.
    fn accept(&mut self) {
        std::mem::swap(&mut self.alpha, &mut self.point);
        std::mem::swap(&mut self.here, &mut self.there);
        self.iteration += usize::from(matches!(self.asked, Asked::Step | Asked::Shorter));
    }

    /// The certificate of the iterate, which is remembered if it is the best.
    fn certify(&mut self, tolerance: f64) {
        let evaluation = &mut self.here.evaluation;
        let certified = self.problem.certify(&self.alpha, evaluation, tolerance, &mut self.scratch);
        let certificate = certified.certificate;
        self.passes += certified.passes;
        self.blurred = certified.blurred;
        if self.listed.is_some() {
            let plain = self.problem.certificate_within(0.0, &self.alpha, &self.here.evaluation).relative_gap();
            (self.plain, self.still) = if plain < 0.5 * self.plain { (plain, 0) } else { (self.plain, self.still + 1) };
        }
        let (problem, alpha, omegas) = (self.problem, &self.alpha, &self.here.evaluation.omegas);
        let b = problem.centred_intercept(omegas);
        self.t.iter_mut().zip(omegas).for_each(|(t, omega)| *t = omega + b);
        self.record.learn(certificate, || {
            let (alpha, omega) = (alpha.clone(), omegas.clone());
            Best { alpha, intercept: problem.intercept(&omega), omega, certificate }
        });
        self.model.learn(certificate.relative_gap(), self.asked == Asked::Step);
        self.certificate = certificate;
    }

    /// The end of a run that goes no further, if this is it: by rounding, where that alone keeps the gap above the tolerance or a
    /// little more of it would change the gap by much.
    pub(super) fn dead_end(&self, tolerance: f64) -> Option<Status> {
        if self.blurred {
            return Some(Status::Rounding);
        }
        if !self.record.has_stalled() || self.given || self.listed.is_some() {
            return None;
        }
        Some(self.stalled(tolerance))
    }

    fn stalled(&self, tolerance: f64) -> Status {
        let within = |rounding| self.problem.certificate_within(rounding, &self.alpha, &self.here.evaluation).gap;
        let (gap, moved) = (within(0.0), within(FEW_ROUNDINGS * self.rounding));
        if tolerance > 0.0 && moved > MUCH_MORE * gap { Status::Rounding } else { Status::Stalled }
    }

    pub(super) fn progress(&self, problem: usize) -> Progress {
        Progress { problem, iteration: self.iteration, passes: self.passes, certificate: self.certificate }
    }

    /// Finds the next step and asks for its end; `Stalled` if there is none.
    pub(super) fn step(&mut self, tolerance: f64) {
        if self.record.has_stalled() {
            return self.start_again();
        }
        if self.listed.is_some() {
            return self.step_listed(tolerance);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let hessian = self.model.take(self.problem.form(), (&self.alpha, &self.here), tolerance, &mut scratch);
        self.scratch = scratch;
        self.rounding = rounding::of_predictions(&hessian, &self.alpha);
        let d = self.direction(&hessian, tolerance);
        let length = self.length(&hessian, &d);
        self.model.put_back(hessian);
        self.go(length, &d);
        self.descent = self.slope_along(&self.step_to_point());
        self.asked = Asked::Step;
        if self.leads_nowhere() {
            if self.given {
                return self.start_again();
            }
            self.status = Some(self.stalled(tolerance));
        }
    }

    /// As [`step`](Self::step), where features are listed and few.
    fn step_listed(&mut self, tolerance: f64) {
        let Some((x, method)) = self.listed.take() else { return };
        let mut method =
            method.unwrap_or_else(|| Listed::new(self.problem, x, &self.samples, self.inner(), self.given));
        if self.is_spent(&method, tolerance) {
            let counted = self.certificate.relative_gap() > MUCH_MORE * self.plain;
            if counted {
                self.status = Some(Status::Rounding);
            } else {
                self.leave_listed();
            }
            return;
        }
        // Pairs need not leave open less than this; in the units of one sample.
        let least = LEAST_OPEN * tolerance * self.size() / self.problem.largest_gamma();
        self.point.copy_from_slice(method.step(self.problem, &self.samples, least));
        self.keep_inside();
        self.listed = Some((x, Some(method)));
        self.asked = Asked::Step;
        if self.leads_nowhere() {
            self.leave_listed();
        }
    }

    /// Goes on from the best iterate by steps in alpha alone.
    fn leave_listed(&mut self) {
        let best = self.record.best_alpha();
        self.start_again();
        self.ask_for_given(&best);
        self.given = self.asked == Asked::Given;
    }

    /// Where the method for listed features begins: at a start that was given, or in the middle of the domain with the
    /// predictions of a constant, which are not wild.
    fn inner(&self) -> (Vec<f64>, Vec<f64>) {
        if self.given {
            return (self.alpha.clone(), self.t.clone());
        }
        let ray = self.ray();
        let room = self.room(&vec![0.0; ray.len()], &ray);
        let largest =
            |of: &dyn Fn(&Sample<'a>) -> f64| self.samples.iter().map(of).fold(0.0, |a: f64, b| a.max(b.abs()));
        let share = if room.is_finite() {
            0.5 * room
        } else {
            // Where the domain has no end, dual variables as large as targets.
            let sizes = largest(&|sample| ray[sample.i] / sample.gamma);
            if sizes > 0.0 { largest(&|sample| sample.term.target()) / sizes } else { 0.0 }
        };
        let t = vec![self.problem.centred_zero_intercept(); ray.len()];
        (ray.iter().map(|a| share * a).collect(), t)
    }

    /// Whether the pairs leave open much less than the tolerance, and the gap does not fall any more.
    fn is_spent(&self, method: &Listed<'_>, tolerance: f64) -> bool {
        let enough = SPENT * tolerance * self.size();
        method.open(&self.samples).is_some_and(|open| open <= enough) && self.still > FEW
    }

    /// The size of the objective, as far as it is known.
    fn size(&self) -> f64 {
        self.record.least_primal().min(self.certificate.dual.abs())
    }

    /// Whether the step does not move the iterate, or out of the range of f64.
    fn leads_nowhere(&self) -> bool {
        self.point == self.alpha || !self.point.iter().all(|alpha| alpha.is_finite())
    }

    /// The best iterate. Where a run ended for want of progress, its predictions are computed once more with less rounding.
    pub(super) fn solution(mut self, status: Status, tolerance: f64) -> Solution {
        let ended = matches!(status, Status::Stalled | Status::Rounding) && !self.blurred;
        let best = self.record.into_best();
        let best = if ended { best.sharpened(self.problem, &mut self.passes, &mut self.scratch) } else { best };
        let Best { alpha, omega, intercept, certificate } = best;
        let status = if ended && certificate.relative_gap() <= tolerance { Status::Converged } else { status };
        Solution { alpha, omega, intercept, certificate, status, iterations: self.iteration, passes: self.passes }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
