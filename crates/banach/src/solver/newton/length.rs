//! How far to go: along a step, and along the ray through an iterate.

use super::{
    run::{PointRole, Run, SampleTerm},
    start::RAY_SHARE,
};
use crate::{
    form::Hessian,
    numeric::{dot, search::zero_between},
};

/// The share of the way to the border that a step may go. It grows as the gap closes, so that convergence is faster than linear.
pub(super) const SHARE_OF_WAY: f64 = 0.99;
/// A step is taken whole if the dual climbs at its end with at most this share of the slope at its start. On a parabola the step is
/// then at most half too long, which costs less than the pass of a line search.
pub(super) const MOST_CLIMB: f64 = 0.5;
/// Iterations without progress after which a step may not cross a kink. Most steps across kinks are good, and in
/// `banach-lab bench grid --quick` two of 1000 runs come back from more than this without progress.
const MOST_IDLE_ACROSS_KINKS: usize = 3;
/// The farthest that an iterate moves out on its ray: beyond this it was not near a minimum, and a step tells more.
const LONGEST_STRETCH: f64 = 2.0;
/// The search for a minimum nearer to zero on the ray ends at about this factor: beyond it a step tells more.
const SHORTEST_STRETCH: f64 = 1e-3;
/// The search for a minimum along a step ends where the slope is this share of the one at the start: the next step is another anyway.
pub(super) const SLOPE_SHARE: f64 = 0.1;
/// As [`SLOPE_SHARE`] on the ray, where a place costs as much as a certificate, and no pass.
const RAY_SLOPE_SHARE: f64 = 1e-6;

impl Run<'_> {
    /// The largest t with `from + t d` in the domain.
    pub(super) fn room(&self, from: &[f64], d: &[f64]) -> f64 {
        let rooms = self.samples.iter().map(|SampleTerm { i, gamma, term }| term.room(from[*i] / gamma, d[*i] / gamma));
        rooms.fold(f64::INFINITY, f64::min)
    }

    /// As [`room`](Self::room) from the iterate, for kinks under a barrier too.
    pub(super) fn room_under(&self, mu: f64, d: &[f64]) -> f64 {
        let rooms = self.samples.iter().map(|SampleTerm { i, gamma, term }| {
            let (s, ds) = (self.alpha[*i] / gamma, d[*i] / gamma);
            term.room(s, ds).min(term.kink_room(s, ds, mu / gamma))
        });
        rooms.fold(f64::INFINITY, f64::min)
    }

    /// The slope along d of the smoothed conjugates at `alpha + t d`.
    pub(super) fn conjugate_slope(&self, alpha: &[f64], d: &[f64], t: f64) -> f64 {
        let terms = self.samples.iter().map(|SampleTerm { i, gamma, term }| {
            let s = term.inside((alpha[*i] + t * d[*i]) / gamma);
            if d[*i] == 0.0 { 0.0 } else { d[*i] * term.slope(s, self.barrier.of_sample(*gamma)) }
        });
        terms.sum()
    }

    /// As [`conjugate_slope`](Self::conjugate_slope), as a function of t. That of the squared loss is a line, which two points tell.
    pub(super) fn conjugate_slopes<'s>(&'s self, alpha: &'s [f64], d: &'s [f64]) -> impl Fn(f64) -> f64 + 's {
        let line = self.problem.loss().curvature().map(|_| {
            let start = self.conjugate_slope(alpha, d, 0.0);
            (start, self.conjugate_slope(alpha, d, 1.0) - start)
        });
        move |t| match line {
            Some((start, growth)) if t != 0.0 => start + t * growth,
            Some((start, _)) => start,
            None => self.conjugate_slope(alpha, d, t),
        }
    }

    /// The slope of the smoothed dual along d at the iterate.
    pub(super) fn slope_along(&self, d: &[f64]) -> f64 {
        dot(&self.here.evaluation.omegas, d) + self.conjugate_slope(&self.alpha, d, 0.0)
    }

    /// The share of the Newton step to try: it stays off the border, and does not overshoot as far as the features that the Hessian
    /// has kept can tell.
    pub(super) fn length(&mut self, hessian: &Hessian, d: &[f64]) -> f64 {
        let most = SHARE_OF_WAY.max(1.0 - self.certificate.relative_gap());
        // Steps across kinks are often good; if they have led nowhere, the next ones stop there.
        let careful = self.record.idle() > MOST_IDLE_ACROSS_KINKS && self.barrier.is_there();
        let room = if careful { self.room_under(self.barrier.mu(), d) } else { self.room(&self.alpha, d) };
        let length = (most * room).min(1.0);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut share = 1.0;
        if let Some(line) = self.problem.form().preview(&self.here, hessian, d, &mut scratch) {
            // The kept features tell how the slope changes; the others add their share of the curvature.
            let descent = self.slope_along(d);
            let (start, tail) = (line.at(0, 0.0).slope, hessian.tail * dot(d, d));
            let conjugate = self.conjugate_slopes(&self.alpha, d);
            let slope = |t: f64| descent + line.at(0, t).slope - start + t * tail + (conjugate(t) - conjugate(0.0));
            if descent < 0.0 && slope(length) > MOST_CLIMB * descent.abs() {
                let enough = SLOPE_SHARE * descent.abs();
                share = zero_between((0.0, descent), (1.0, f64::INFINITY), enough, |share| slope(share * length));
            }
        }
        self.scratch = scratch;
        share * length
    }

    /// The step from the iterate to the point that is asked for.
    pub(super) fn step_to_point(&self) -> Vec<f64> {
        self.point.iter().zip(&self.alpha).map(|(to, from)| to - from).collect()
    }

    /// Whether the smoothed dual climbs at the end of the step.
    pub(super) fn is_too_long(&self) -> bool {
        let d = self.step_to_point();
        let slope = dot(&self.there.evaluation.omegas, &d) + self.conjugate_slope(&self.alpha, &d, 1.0);
        // An infinite end has no slope.
        slope.is_nan() || slope > MOST_CLIMB * self.descent.abs()
    }

    /// Asks for the minimum of the smoothed dual along the step instead of its end.
    pub(super) fn shorten(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let d = self.step_to_point();
        let form = self.problem.form();
        let line = form.segment((&self.alpha, &self.here), (&self.point, &self.there), &mut scratch);
        let conjugate = self.conjugate_slopes(&self.alpha, &d);
        let slope = |t: f64| line.at(0, t).slope + conjugate(t);
        let descent = self.descent.abs();
        let t = zero_between((0.0, -descent), (1.0, f64::INFINITY), SLOPE_SHARE * descent, slope);
        let passes = line.passes();
        drop(conjugate);
        drop(line);
        self.passes += passes;
        self.scratch = scratch;
        self.go(t, &d);
        self.role = PointRole::Shorter;
    }

    /// Asks for the point at the share t of a step, kept inside the domain.
    pub(super) fn go(&mut self, t: f64, d: &[f64]) {
        self.point.iter_mut().zip(&self.alpha).zip(d).for_each(|((point, alpha), d)| *point = alpha + t * d);
        self.keep_inside();
    }

    /// Keeps the point that is asked for inside the domain, and in balance.
    pub(super) fn keep_inside(&mut self) {
        for sample in &self.samples {
            let s = &mut self.point[sample.i];
            *s = sample.gamma * sample.term.inside(*s / sample.gamma);
        }
        self.problem.balance(&mut self.point);
    }

    /// Minimises the smoothed dual on the ray through the iterate, which costs no pass: `Q(t alpha) = t^q Q(alpha)`.
    pub(super) fn stretch(&mut self) {
        let q = self.problem.form().exponent().q();
        let value = q * self.here.evaluation.values[0];
        // The barrier is not known before the first step, and there the start is a minimum already.
        if !(value > 0.0 && value.is_finite() && self.barrier.is_known()) {
            return;
        }
        let zero = vec![0.0; self.alpha.len()];
        let room = self.room(&zero, &self.alpha);
        let longest = (1.0 + RAY_SHARE * (room - 1.0)).min(LONGEST_STRETCH);
        let conjugate = self.conjugate_slopes(&zero, &self.alpha);
        let slope = |t: f64| value * t.powf(q - 1.0) + conjugate(t);
        let here = slope(1.0);
        let between = |low: (f64, f64), high: (f64, f64)| zero_between(low, high, RAY_SLOPE_SHARE * here.abs(), slope);
        let t = if here > 0.0 {
            let mut low = (0.5, slope(0.5));
            while low.1 > 0.0 && low.0 > SHORTEST_STRETCH {
                low.0 *= 0.5;
                low.1 = slope(low.0);
            }
            between(low, (1.0, here))
        } else if longest > 1.0 && slope(longest) > 0.0 {
            between((1.0, here), (longest, slope(longest)))
        } else {
            longest.max(1.0)
        };
        drop(conjugate);
        if t.is_finite() && t != 1.0 {
            self.alpha.iter_mut().for_each(|alpha| *alpha *= t);
            self.here.stretch(t, q);
        }
    }
}
