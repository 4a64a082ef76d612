//! How well samples are predicted that were left out one at a time.

use serde::Serialize;

use super::Described;
use crate::{
    DualProblem, Status,
    fit::Task,
    solver::{Metric, leave_one_out_all, score},
};

/// The score of every sample as the model without it predicts it ([`leave_one_out`](crate::solver::leave_one_out)), with the same p, kernel and gamma. Where those
/// were chosen by the same samples, it is a little better than the model is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LeaveOneOut {
    /// What the score is.
    pub metric: Metric,
    /// R^2, of several numbers their mean; or the share of samples whose class is predicted.
    pub score: f64,
    /// Whether it is that of fits without each sample: for p = 2 and the squared loss. It is approximate otherwise.
    pub exact: bool,
}

/// Below this p the approximation can be far off (docs/solvers.md).
const LEAST_P: f64 = 1.1;
/// For more samples it is not worth its time: their folds say the same.
const MOST_SAMPLES: usize = 2000;

impl Described<'_> {
    /// Whether the score is worth its time and can be trusted.
    pub(super) fn can_leave_out(&self) -> bool {
        let p = self.fit.exponent().p();
        self.x.samples() <= MOST_SAMPLES && p >= LEAST_P && self.model.status() == Status::Converged
    }

    /// The score; `None` where it is not defined.
    pub(super) fn leave_one_out(&self) -> Option<LeaveOneOut> {
        let (memory, solutions) = (self.fit.account().left(), self.model.solutions());
        let each = leave_one_out_all(self.problems, &solutions.iter().collect::<Vec<_>>(), memory);
        let predictions: Vec<Vec<f64>> = each.into_iter().collect::<Option<_>>()?;
        let metric = Metric::of(self.fit.loss().targets());
        let score = match self.model.task() {
            Task::Classes(classes) if classes.len() > 2 => accuracy(self.problems, &predictions),
            _ => mean_score(self.problems, &predictions),
        };
        let exact = self.fit.exponent().p() == 2.0 && self.fit.loss().curvature().is_some();
        Some(LeaveOneOut { metric, score: score?, exact })
    }
}

/// The mean over the functions.
fn mean_score(problems: &[DualProblem<'_>], predictions: &[Vec<f64>]) -> Option<f64> {
    let samples: Vec<usize> = (0..problems[0].samples()).collect();
    let scores = problems.iter().zip(predictions).map(|(problem, predicted)| score(problem, &samples, predicted));
    Some(scores.sum::<Option<f64>>()? / problems.len() as f64)
}

/// How often the largest of several functions is that of the class.
fn accuracy(problems: &[DualProblem<'_>], predictions: &[Vec<f64>]) -> Option<f64> {
    let weights = problems[0].sample_weights();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let (mut right, mut total) = (0.0, 0.0);
    for (i, weight) in weights.iter().map(|weight| weight / largest).enumerate() {
        let larger =
            |best: usize, class: usize| if predictions[class][i] > predictions[best][i] { class } else { best };
        let predicted = (1..problems.len()).fold(0, larger);
        right += if problems[predicted].targets()[i] > 0.0 { weight } else { 0.0 };
        total += weight;
    }
    (total > 0.0).then(|| right / total)
}
