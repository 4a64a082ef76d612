//! Where a run starts: on the ray, or at a point that was given.

use super::{
    listed::answers_of,
    run::{PointRole, Run},
};
use crate::solver::start::{self, Start};

/// The start goes at most this share of the way to the border, so that the barrier is finite there.
pub(super) const RAY_SHARE: f64 = 0.9;
/// A given start that may be on the border moves this share of the way to the ray: far enough for the first barrier, and little
/// enough to keep three digits of the start.
const TOWARDS_RAY: f64 = 1e-3;
/// Beyond this, powers of e leave the range of f64 (e^709).
const LN_RANGE: f64 = 600.0;
/// The search on the ray ends at e^-700: a length below this means that it has found no minimum.
const LEAST_LN_RAY: f64 = -699.0;

impl Run<'_> {
    /// Asks for the point from which the start is found.
    pub(super) fn ask_for_start(&mut self, start: &mut Start) {
        (self.point, self.role) = (self.ray(), PointRole::Ray);
        self.ask_for_answers();
        match start {
            Start::Auto | Start::Ray => {}
            Start::At(alpha) => self.ask_for_given(alpha),
            Start::Known(known) => {
                self.ask_for_given(&known.alpha);
                // A barrier may have moved it.
                let stays = self.role == PointRole::Given && self.point == known.alpha;
                if let Some(expansion) = known.expansion.take().filter(|_| stays) {
                    (self.there, self.role) = (expansion, PointRole::Known);
                }
            }
        }
        self.given = matches!(self.role, PointRole::Given | PointRole::Known);
    }

    /// Where features are listed and few, and the loss is smooth and no parabola, asks for the dual vector that the best constant asks for.
    /// There the first step of its method begins, whatever the start is, and no search on the ray is needed.
    fn ask_for_answers(&mut self) {
        let problem = self.problem;
        if self.listed.is_none() || self.barrier.is_there() || problem.loss().curvature().is_some() {
            return;
        }
        let t = vec![problem.centred_zero_intercept(); self.point.len()];
        let ray = self.point.clone();
        answers_of(problem, &self.samples, &t, |sample, s, _| self.point[sample.i] = sample.gamma * s);
        self.keep_inside();
        if problem.is_balanced(&self.point) {
            self.role = PointRole::Answers;
        } else {
            self.point = ray;
        }
    }

    /// Asks for the ray, where a start that was given has led nowhere.
    pub(super) fn start_again(&mut self) {
        self.listed = None;
        self.ask_for_start(&mut Start::Ray);
        self.given = false;
        self.doubts = 0;
        self.barrier.reset();
        self.record.reset();
    }

    /// A direction inside the domain along which the start is found.
    pub(super) fn ray(&self) -> Vec<f64> {
        start::inner_direction(self.problem)
    }

    /// Asks for a given start, moved a little towards the ray if it is not inside the domain.
    pub(super) fn ask_for_given(&mut self, alpha: &[f64]) {
        let ray = std::mem::replace(&mut self.point, alpha.to_vec());
        self.role = PointRole::Given;
        if !self.barrier.is_there() {
            return;
        }
        let size = |v: &[f64]| v.iter().map(|v| v.abs()).sum::<f64>();
        let room = self.room(&vec![0.0; alpha.len()], &ray);
        let inner = if room.is_finite() { 0.5 * room } else { size(alpha) / size(&ray) };
        if inner > 0.0 && inner.is_finite() {
            let mix = alpha.iter().zip(&ray);
            self.point = mix.map(|(alpha, ray)| (1.0 - TOWARDS_RAY) * alpha + TOWARDS_RAY * inner * ray).collect();
        } else if inner == 0.0 {
            (self.point, self.role) = (ray, PointRole::Ray);
            return;
        }
        self.keep_inside();
    }

    /// Whether a given start is worse than zero, which no start on the ray is.
    pub(super) fn is_worse_than_zero(&self) -> bool {
        let dual = self.problem.certificate(&self.point, &self.there.evaluation).dual;
        dual.is_nan() || dual > 0.0
    }

    /// Moves the expansion of the ray to the minimum on it; `false` if that must be expanded again, because the powers of
    /// the move are out of range.
    pub(super) fn settle_on_ray(&mut self) -> bool {
        let q = self.problem.form().exponent().q();
        let ln_value = self.there.evaluation.ln_values[0];
        self.role = PointRole::Start;
        if self.point.iter().all(|&a| a == 0.0) {
            return true;
        }
        let share = if self.barrier.is_there() { RAY_SHARE } else { 1.0 };
        let t = start::ray_length(self.problem, &self.point, ln_value, share);
        self.ray_length = t;
        self.ray_room = self.room(&vec![0.0; self.point.len()], &self.point) / t;
        if t.ln() < LEAST_LN_RAY && self.samples.iter().all(|sample| sample.term.has_zero_inside()) {
            // Nothing on the ray is better than zero.
            self.point.fill(0.0);
            return false;
        }
        let in_range = ln_value < LN_RANGE && ln_value + q * t.ln() < LN_RANGE && (q * t.ln()).abs() < LN_RANGE;
        self.point.iter_mut().for_each(|a| *a *= t);
        if in_range {
            self.there.stretch(t, q);
        }
        in_range
    }
}
