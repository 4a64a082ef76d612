//! Steps between passes: Newton's method on what the heaviest features tell of Q.

use super::{
    barrier::Direction,
    length::{MOST_CLIMB, SHARE_OF_WAY, SLOPE_SHARE},
    rounding,
    run::{PointRole, Run},
};
use crate::{
    QForm,
    form::{LocalModel, LocalPoint},
    numeric::search::zero_between,
};

/// A local model is used if the features that it leaves out have at most this share of the trace of the Hessian: each step leaves
/// about this share of the way, and steps between passes cannot mend that.
const MOST_LEFT_OUT: f64 = 0.1;
/// Weights are `|u|^(q-2)`. Below this q, which is about p = 6/5, they fall so slowly that a few features do not hold the trace.
const LEAST_Q: f64 = 5.9;
/// Steps between two passes, at most. Nearly all minima of local models take fewer than this.
const MOST_STEPS: usize = 10;
/// Steps end when the next one promises at most this share of the tolerance, or of what the features that are left out can spoil.
const ENOUGH: f64 = 0.01;
/// See [`ENOUGH`].
const ENOUGH_LEFT_OUT: f64 = 0.1;
/// Iterations without progress after which a run goes on without local models.
const MOST_IDLE: usize = 2;
/// A local model has one in so many of the features, so that its gradients and its columns take a fraction of a pass.
const FEATURES_SHARE: usize = 16;
/// Beyond so many samples a step between passes, which factorises a matrix of this size, takes longer than many passes.
const MOST_SAMPLES: usize = 1024;
/// It has at least and at most so many features for each sample. More than the most hardly ever have weight.
const LEAST_FOR_SAMPLE: usize = 4;
/// See [`LEAST_FOR_SAMPLE`].
const MOST_FOR_SAMPLE: usize = 16;

/// How many features a local model has at first; 0 where there is none to be had, or to be gained.
pub(super) fn local_features(form: &dyn QForm) -> usize {
    let (n, features) = (form.samples(), usize::try_from(form.cardinality().unwrap_or(0)).unwrap_or(usize::MAX));
    if form.exponent().q() < LEAST_Q || features <= n || n > MOST_SAMPLES {
        return 0;
    }
    // Its columns hold every entry: a pass over few stored ones takes less than they do.
    if form.listed().is_some_and(|x| x.is_sparse() && x.stored() < LEAST_FOR_SAMPLE * n * n) {
        return 0;
    }
    (features / FEATURES_SHARE).clamp(LEAST_FOR_SAMPLE * n, MOST_FOR_SAMPLE * n).min(form.most_kept())
}

/// The most features that a local model has: twice as many.
pub(super) fn most_local_features(form: &dyn QForm) -> usize {
    (2 * local_features(form)).min(form.most_kept())
}

impl Run<'_> {
    /// Asks for the minimum of the dual with a local model instead of Q. `false` where there is none that is good enough, and where ends
    /// and kinks need a barrier, which follows the gap from pass to pass.
    pub(super) fn step_between(&mut self, tolerance: f64) -> bool {
        let Some(model) = self.local_model() else { return false };
        let (mut at, mut enough) = (model.origin(), ENOUGH * tolerance * self.size());
        // What the step before has promised.
        let mut last = 0.0;
        for step in 0..MOST_STEPS {
            let hessian = model.hessian(&at, &mut self.scratch);
            let predictions = if step == 0 { self.t.clone() } else { self.predictions(&model.omega(&at)) };
            let mut memory = std::mem::take(&mut self.scratch.spare);
            let found = self.direction_at(&hessian, (&at.alpha, &predictions), 0.0, 0.0, &mut memory);
            self.scratch.spare = memory;
            if step == 0 {
                self.rounding = rounding::of_predictions(&hessian, None, &self.alpha);
                enough = enough.max(ENOUGH_LEFT_OUT * model.tail_share() * found.decrease);
            }
            hessian.end(&mut self.scratch);
            if found.decrease.is_nan() {
                break;
            }
            at = self.advance(&model, &at, &found);
            // What the next step would promise, if it gained as much as this one.
            let gain = if last > 0.0 { (found.decrease / last).min(1.0) } else { 1.0 };
            if gain * found.decrease <= enough {
                break;
            }
            last = found.decrease;
        }
        model.end(&mut self.scratch);
        self.point = at.alpha;
        self.keep_inside();
        if self.leads_nowhere() {
            self.local_features = 0;
        }
        self.local_features > 0
    }

    /// `Q` near the iterate. Where one is not good enough the run does without.
    fn local_model(&mut self) -> Option<LocalModel> {
        if self.record.idle() > MOST_IDLE {
            self.local_features = 0;
        }
        if self.role == PointRole::Shorter {
            // Features that it did not have were in the way.
            self.local_features = most_local_features(self.problem.form()).min(2 * self.local_features);
        }
        if self.local_features == 0 {
            return None;
        }
        let found =
            self.problem.form().local((&self.alpha, &self.here), self.local_features, MOST_LEFT_OUT, &mut self.scratch);
        if found.is_none() {
            self.local_features = 0;
        }
        found
    }

    /// The predictions where Q has this gradient, for targets from their centre.
    fn predictions(&self, omega: &[f64]) -> Vec<f64> {
        let b = self.problem.centred_intercept(omega);
        omega.iter().map(|omega| omega + b).collect()
    }

    /// The end of a Newton step on a local model, or its minimum along the step where it climbs there.
    fn advance(&self, model: &LocalModel, at: &LocalPoint, Direction { d, decrease }: &Direction) -> LocalPoint {
        let (line, conjugate) = (model.line(at, d), self.conjugate_slopes(&at.alpha, d));
        let most = (SHARE_OF_WAY * self.room(&at.alpha, d)).min(1.0);
        let slope = |share: f64| line.slope(share * most) + conjugate(share * most);
        let share = if slope(1.0) > MOST_CLIMB * decrease {
            zero_between((0.0, -decrease), (1.0, f64::INFINITY), SLOPE_SHARE * decrease, slope)
        } else {
            1.0
        };
        line.end(share * most)
    }
}
