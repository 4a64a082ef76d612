//! When a run turns to the method for listed features (`listed/`), its steps there, and when it leaves them.

use super::{
    listed::ListedMethod,
    run::{PointRole, Run, SampleTerm},
};
use crate::{FeatureMatrix, Status};

/// The method for listed features has done its work when its pairs leave open at most this share of the tolerance, and the gap has not
/// been halved for [`STILL_AT_END`] iterations.
const OPEN_SHARE_AT_END: f64 = 0.1;
/// See [`OPEN_SHARE_AT_END`].
const STILL_AT_END: usize = 5;
/// The pairs leave open at least this share of the tolerance, which the gap hardly shows: smaller products would only cost digits.
const LEAST_OPEN: f64 = 1e-2;

/// Iterations within which nearly all runs end (`banach-lab bench grid`): with a barrier, and without one.
const USUAL_ITERATIONS: usize = 13;
const USUAL_ITERATIONS_SMOOTH: usize = 40;
/// The weights of a start whose relative gap is at most this are not wild: their primal value is at most twice the least.
const GAP_OF_TAME_WEIGHTS: f64 = 0.5;
/// A run whose relative gap is at most this needs only a few more iterations, and is left alone.
const GAP_NEAR_END: f64 = 1e-3;
/// Ends of the domain are far if they are this many times as far as the minimum on the ray.
const DISTANT_ENDS: f64 = 1e2;

impl<'a> Run<'a> {
    /// Takes the steps of the method for listed features from now on, if it can and does not yet.
    pub(super) fn turn_to_listed(&mut self) -> bool {
        let Some(x) = self.reserve.take() else { return false };
        self.listed = Some((x, None));
        (self.given, self.rounding, self.local_features) = (false, 0.0, 0);
        self.record.reset();
        true
    }

    /// Whether steps in alpha alone have gone on for longer than usual, or will. They will if the loss has a kink and the ends of the
    /// domain are far: one barrier for both is then a bad one for each.
    pub(super) fn takes_long(&self) -> bool {
        let usual = if self.barrier.is_there() { USUAL_ITERATIONS } else { USUAL_ITERATIONS_SMOOTH };
        self.record.has_stalled()
            || (self.iteration >= usual && self.plain > GAP_NEAR_END)
            || (self.problem.loss().kink() > 0.0 && self.ray_room > DISTANT_ENDS)
    }

    /// As [`step`](Self::step), where features are listed and few.
    pub(super) fn step_listed(&mut self, tolerance: f64) {
        let Some((x, method)) = self.listed.take() else { return };
        let mut method = method.unwrap_or_else(|| self.begin_listed(x));
        if self.is_spent(&method, tolerance) {
            if self.has_met_rounding(tolerance) || !method.turn_to_alpha() {
                return self.leave_listed(tolerance);
            }
            self.still = 0;
        }
        // The least gap that the pairs leave open, in the units of one sample.
        let share = if self.polishes > 0 { 0.0 } else { LEAST_OPEN };
        let least = share * tolerance * self.size() / self.problem.largest_gamma();
        self.point.copy_from_slice(method.step(self.problem, &self.samples, least));
        self.keep_inside();
        self.listed = Some((x, Some(method)));
        self.role = PointRole::Step;
        if self.leads_nowhere() {
            self.leave_listed(tolerance);
        } else {
            // This method does not come back to the expansion of the iterate, whose memory the next one takes.
            self.there = std::mem::take(&mut self.here);
        }
    }

    /// The method at its start: one that was given, with its weights unless they are wild, or one of its own. Steps of a loss without
    /// barrier lower the primal value, so that predictions must be those of the weights: a start whose weights are wild is no start for them.
    fn begin_listed(&mut self, x: &'a FeatureMatrix<'a>) -> ListedMethod<'a> {
        let tame = self.given && self.certificate.relative_gap() <= GAP_OF_TAME_WEIGHTS;
        self.given &= tame || self.barrier.is_there();
        self.warm = self.given.then_some(x);
        let mut method = ListedMethod::new(self.problem, x, &self.samples, self.inner(), self.given);
        if tame {
            method.begin_at_weights();
        }
        method
    }

    /// Whether rounding makes the gap of the iterate, or would by its effect on the dual vector.
    fn has_met_rounding(&mut self, tolerance: f64) -> bool {
        let hessian = self.take_hessian(tolerance);
        self.model.put_back(hessian);
        tolerance > 0.0 && self.is_noisy(self.certificate.gap)
    }

    /// Ends where the tolerance was reached or rounding makes the gap; elsewhere goes on from the best iterate by steps in alpha alone.
    fn leave_listed(&mut self, tolerance: f64) {
        if self.has_reached() {
            self.status = Some(Status::Converged);
            return;
        }
        if self.has_met_rounding(tolerance) {
            self.status = Some(Status::Rounding);
            return;
        }
        if let Some(x) = self.warm.take() {
            // From a start of its own it may go farther.
            self.listed = Some((x, None));
            (self.given, self.still) = (false, 0);
            self.record.reset();
            return self.step_listed(tolerance);
        }
        let best = self.record.best_alpha();
        self.start_again();
        self.ask_for_given(&best);
        self.given = self.role == PointRole::Given;
    }

    /// Where the method for listed features begins: at a start that was given, or well inside the domain with the predictions of a
    /// constant, which are not wild.
    fn inner(&self) -> (Vec<f64>, Vec<f64>) {
        if self.given {
            return (self.alpha.clone(), self.t.clone());
        }
        let ray = self.ray();
        let room = self.room(&vec![0.0; ray.len()], &ray);
        let largest =
            |of: &dyn Fn(&SampleTerm<'a>) -> f64| self.samples.iter().map(of).fold(0.0, |a: f64, b| a.max(b.abs()));
        let share = if room.is_finite() {
            // Between the middle of the domain and the minimum on the ray, which can be millions of times closer to zero.
            (0.5 * room).min((0.5 * room * self.ray_length).sqrt())
        } else {
            // Where the domain has no end, dual variables as large as targets.
            let sizes = largest(&|sample| ray[sample.i] / sample.gamma);
            if sizes > 0.0 { largest(&|sample| sample.term.target()) / sizes } else { 0.0 }
        };
        let t = vec![self.problem.centred_zero_intercept(); ray.len()];
        (ray.iter().map(|a| share * a).collect(), t)
    }

    /// Whether the method has solved its equations, and the gap does not fall any more. Before, it need not fall.
    fn is_spent(&mut self, method: &ListedMethod<'_>, tolerance: f64) -> bool {
        self.solved = method.is_solved(&self.samples, OPEN_SHARE_AT_END * tolerance * self.size());
        if !self.solved {
            self.still = 0;
        }
        self.still > STILL_AT_END
    }
}
