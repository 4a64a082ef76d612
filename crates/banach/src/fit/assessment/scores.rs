//! Scores of predictions, beside those of a constant.

use serde::{Deserialize, Serialize};

/// How well one number is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberScores {
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The same for a constant, the mean of the samples that were seen.
    pub constant_rmse: f64,
    /// `1 - sum (y - t)^2 / sum (y - constant)^2` over all samples together; below 0 for what is worse than the constant.
    pub q2: f64,
}

/// How well classes are predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassScores {
    /// The classes.
    pub labels: Vec<String>,
    /// The share of samples whose class is predicted.
    pub accuracy: f64,
    /// The same for whoever always says the largest class of the samples that were seen.
    pub largest_class: f64,
    /// The mean over the classes of the share of its samples that are predicted.
    pub balanced_accuracy: f64,
    /// The area under the receiver operating characteristic: how often, of two samples of different classes, the right one scores higher. Of
    /// more than two classes, the mean of each against all others.
    pub auc: f64,
    /// How many samples of a class (row) were predicted to be of a class (column).
    pub confusion: Vec<Vec<usize>>,
}

/// What was predicted, and what was the case.
#[derive(Debug)]
pub(crate) enum Predicted {
    /// Numbers.
    Numbers(Vec<PredictedNumber>),
    /// Classes.
    Classes {
        /// The classes.
        labels: Vec<String>,
        /// The place of the class of every sample.
        truth: Vec<usize>,
        /// For every class a score of every sample: the class with the largest is predicted, the first of equal ones.
        scores: Vec<Vec<f64>>,
        /// The class that a constant predicts.
        constant: Vec<usize>,
    },
}

/// One number of every sample.
#[derive(Debug)]
pub(crate) struct PredictedNumber {
    pub y: Vec<f64>,
    pub t: Vec<f64>,
    /// What a constant predicts.
    pub constant: Vec<f64>,
}

impl Predicted {
    pub(super) fn numbers(&self, weights: &[f64]) -> Vec<NumberScores> {
        let Self::Numbers(outputs) = self else { return Vec::new() };
        let scores = |PredictedNumber { y, t, constant }: &PredictedNumber| {
            let (rmse, constant_rmse) = (rmse(y, t, weights), rmse(y, constant, weights));
            let q2 = if constant_rmse > 0.0 { 1.0 - (rmse / constant_rmse).powi(2) } else { 0.0 };
            NumberScores { rmse, constant_rmse, q2 }
        };
        outputs.iter().map(scores).collect()
    }

    pub(super) fn classes(&self, weights: &[f64]) -> Option<ClassScores> {
        let Self::Classes { labels, truth, scores, constant } = self else { return None };
        let count = labels.len();
        let larger =
            |i: usize, best: usize, class: usize| if scores[class][i] > scores[best][i] { class } else { best };
        let predicted: Vec<usize> =
            (0..truth.len()).map(|i| (1..count).fold(0, |best, class| larger(i, best, class))).collect();
        let weight_of = |counted: &dyn Fn(usize) -> bool| -> f64 {
            let counted = weights.iter().enumerate().filter(|(i, _)| counted(*i)).map(|(_, weight)| weight);
            // A sum of nothing is -0.
            counted.sum::<f64>() + 0.0
        };
        let total = weight_of(&|_| true);
        let mut confusion = vec![vec![0; count]; count];
        for (i, weight) in weights.iter().enumerate() {
            confusion[truth[i]][predicted[i]] += usize::from(*weight > 0.0);
        }
        let recalls: Vec<f64> = (0..count)
            .filter_map(|class| {
                let all = weight_of(&|i| truth[i] == class);
                (all > 0.0).then(|| weight_of(&|i| truth[i] == class && predicted[i] == class) / all)
            })
            .collect();
        let told = if count == 2 { 1..2 } else { 0..count };
        let areas: Vec<f64> = told.filter_map(|class| area(&scores[class], |i| truth[i] == class, weights)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        Some(ClassScores {
            labels: labels.clone(),
            accuracy: weight_of(&|i| predicted[i] == truth[i]) / total,
            largest_class: weight_of(&|i| constant[i] == truth[i]) / total,
            balanced_accuracy: mean(&recalls),
            auc: if areas.is_empty() { 0.5 } else { mean(&areas) },
            confusion,
        })
    }
}

/// Relative to the largest error, whose square may be out of range.
fn rmse(y: &[f64], t: &[f64], weights: &[f64]) -> f64 {
    let counted = || y.iter().zip(t).zip(weights).filter(|(_, weight)| **weight > 0.0);
    let size = counted().map(|((y, t), _)| (y - t).abs()).fold(0.0, f64::max);
    if size == 0.0 {
        return 0.0;
    }
    let total: f64 = weights.iter().sum();
    size * counted().map(|((y, t), weight)| weight / total * ((y - t) / size).powi(2)).sum::<f64>().sqrt()
}

/// The share of pairs, one sample of the class and one of the others, in which the first scores higher; ties count a half. `None` if there is
/// no pair.
fn area(scores: &[f64], own: impl Fn(usize) -> bool, weights: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut below, mut pairs, mut positive) = (0.0, 0.0, 0.0);
    for tie in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let of = |wanted: bool| tie.iter().filter(|&&i| own(i) == wanted).map(|&i| weights[i]).sum::<f64>();
        let (with, without) = (of(true), of(false));
        pairs += with * (below + 0.5 * without);
        positive += with;
        below += without;
    }
    (positive > 0.0 && below > 0.0).then(|| pairs / (positive * below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_scored_by_definition() {
        let (truth, scores) = (vec![0, 0, 0, 1, 1, 0], vec![0.1, 0.4, 0.6, 0.6, 0.9, 0.2]);
        let predicted = Predicted::Classes {
            labels: vec!["no".to_owned(), "yes".to_owned()],
            truth: truth.clone(),
            scores: vec![scores.iter().map(|p| 1.0 - p).collect(), scores.clone()],
            constant: vec![0; 6],
        };
        let weights = [1.0, 2.0, 1.0, 1.0, 3.0, 0.0];
        let found = predicted.classes(&weights).expect("classes");
        assert_eq!(found.confusion, [[2, 1], [0, 2]]);
        assert!((found.accuracy - 7.0 / 8.0).abs() < 1e-12 && (found.largest_class - 0.5).abs() < 1e-12);
        assert!((found.balanced_accuracy - 0.5 * (0.75 + 1.0)).abs() < 1e-12);
        let mut pairs = (0.0, 0.0);
        for i in (0..6).filter(|&i| truth[i] == 1) {
            for j in (0..6).filter(|&j| truth[j] == 0) {
                let won = match scores[i].total_cmp(&scores[j]) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
                pairs = (pairs.0 + weights[i] * weights[j] * won, pairs.1 + weights[i] * weights[j]);
            }
        }
        assert!((found.auc - pairs.0 / pairs.1).abs() < 1e-12, "{found:?}");
    }
}
