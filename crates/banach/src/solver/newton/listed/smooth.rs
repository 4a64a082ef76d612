//! The step of a loss without ends or kinks: Newton's on the primal.

use super::{ENOUGH_REST, ListedMethod, MOST_SAMPLES, SHORTEST_SHARE, SampleLines};
use crate::{
    DualProblem,
    numeric::{CHUNK, largest},
    solver::newton::run::SampleTerm,
};

impl ListedMethod<'_> {
    /// Newton's step on the primal, shortened until the primal value falls. The dual vector is the one that the predictions ask
    /// for, with the best intercept, so that it stays inside its domain.
    pub(super) fn step_smooth(&mut self, problem: &DualProblem<'_>, samples: &[SampleTerm<'_>]) {
        let is_parabola = problem.loss().curvature().is_some();
        let SampleLines { answers, right } = self.linear_smooth(problem, samples);
        let system = match self.normal.take() {
            Some(normal) => (answers, normal),
            None => self.normal_of(answers),
        };
        let from = self.curve.w.clone();
        // Most dual vectors far from the solution are replaced by the one that the predictions ask for, and need not be refined before.
        let at_once = is_parabola || self.in_alpha || self.alpha.len() <= MOST_SAMPLES;
        let (found, weights) = if at_once {
            (self.solve_first(samples, &system, &right, &[]), None)
        } else {
            let (alpha, weights) = self.settle_weights(&system.0, &system.1, &right);
            (self.moved(samples, &system.0, &right, &[], alpha, ENOUGH_REST), Some(weights))
        };
        drop(right);
        let between = |share: f64, from: f64, to: f64| from + share * (to - from);
        let primal = |share: f64| {
            let loss = problem.loss_sum_between(&self.t, &found.t, share);
            let norm =
                from.iter().zip(&self.curve.w).map(|(from, to)| between(share, *from, *to).abs().powf(self.curve.p()));
            loss + norm.sum::<f64>() / self.curve.p()
        };
        let distance = samples.iter().map(|sample| (found.t[sample.i] - self.t[sample.i]).abs()).fold(0.0, f64::max);
        self.moved = distance / largest(&found.t);
        let mut share = 1.0;
        // A parabola is its own model.
        if !is_parabola || self.curve.p() < 2.0 {
            let here = primal(0.0);
            while primal(share) > here * (1.0 + 1e-12) && share > SHORTEST_SHARE {
                share *= 0.5;
            }
        }
        self.go(share, &found);
        drop(found);
        if share < 1.0 {
            self.curve.place(from.iter().zip(&self.curve.w).map(|(from, to)| between(share, *from, *to)).collect());
        }
        if !is_parabola {
            let b = problem.centred_intercept(&self.t);
            self.t.iter_mut().for_each(|t| *t += b);
            // Close to the solution the end of the step has more digits of `X' alpha = u`.
            if share < 1.0 || !self.is_near_answers(problem, samples) {
                answers_of(problem, samples, &self.t, |sample, s, _| self.alpha[sample.i] = sample.gamma * s);
            } else if let Some(weights) = weights {
                let mut alpha = std::mem::take(&mut self.alpha);
                self.refine(&system.0, &system.1, &weights, &mut alpha);
                self.alpha = alpha;
            }
        }
        self.normal = is_parabola.then_some(system.1);
    }

    /// The equations of the samples. The dual variable of a smooth loss follows from the prediction, and a parabola is the same everywhere.
    fn linear_smooth(&self, problem: &DualProblem<'_>, samples: &[SampleTerm<'_>]) -> SampleLines {
        let mut lines = SampleLines::new(self.alpha.len());
        answers_of(problem, samples, &self.t, |SampleTerm { i, gamma, .. }, s, curvature| {
            lines.answers[*i] = gamma / curvature;
            lines.right[*i] = self.t[*i] + curvature * (s - self.alpha[*i] / gamma);
        });
        lines
    }

    /// Whether the dual vector is close to the one that the predictions ask for.
    fn is_near_answers(&self, problem: &DualProblem<'_>, samples: &[SampleTerm<'_>]) -> bool {
        let mut near = true;
        answers_of(problem, samples, &self.t, |sample, s, _| {
            near &= sample.term.is_near(self.alpha[sample.i] / sample.gamma, s);
        });
        near
    }
}

/// Hands every sample of a smooth loss to a visitor, with the dual variable that its prediction asks for and the curvature of the conjugate there.
pub(in crate::solver::newton) fn answers_of(
    problem: &DualProblem<'_>,
    samples: &[SampleTerm<'_>],
    t: &[f64],
    mut visit: impl FnMut(&SampleTerm<'_>, f64, f64),
) {
    let Some(slices) = problem.loss().slices() else {
        return samples.iter().for_each(|sample| {
            let (s, curvature) = sample.term.answer(t[sample.i]);
            visit(sample, s, curvature);
        });
    };
    let [mut y, mut at, mut s, mut curvatures] = [[0.0; CHUNK]; 4];
    for samples in samples.chunks(CHUNK) {
        let n = samples.len();
        for (k, sample) in samples.iter().enumerate() {
            (y[k], at[k]) = (sample.term.target(), t[sample.i]);
        }
        slices.answers(&y[..n], &at[..n], &mut s[..n], &mut curvatures[..n]);
        samples.iter().zip(&s).zip(&curvatures).for_each(|((sample, s), curvature)| visit(sample, *s, *curvature));
    }
}
