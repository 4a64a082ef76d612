//! How well a model predicts samples that it has not seen, against a constant.

mod chance;
mod decided;
mod scores;
mod sentence;

use serde::{Deserialize, Serialize};

pub(crate) use decided::{Decided, Decisions, best_constants};
pub use scores::{ClassScores, NumberScores};
pub(crate) use scores::{Predicted, PredictedNumber};

use self::chance::chance;
use crate::solver::Mean;

/// A gain that chance alone would give more often is none.
const LEVEL: f64 = 0.05;
/// Terms that evidence names are not believed if they predict held-out samples with more than so many times the loss of the constant. Those
/// that are not found without a fold predict as it does.
pub(in crate::fit) const MUCH_WORSE: f64 = 1.1;

/// What predictions of samples come to that the models which made them had not seen. All sums are over all of these samples together, whatever
/// fold they were in, by their weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    /// Whether it predicts better than a constant, beyond what chance explains.
    pub better: bool,
    /// What was predicted by, where several were tried.
    pub candidate: Option<String>,
    /// How many were tried, of which this is one.
    pub candidates: usize,
    /// How samples were held out.
    pub how: String,
    /// So many different samples were predicted.
    pub rows: usize,
    /// The loss by which candidates are compared.
    pub loss_name: String,
    /// Its mean.
    pub loss: f64,
    /// Its mean for the constant that fits the samples best that were seen.
    pub constant_loss: f64,
    /// What the loss gains on that of the constant, as a share of it; its standard error is that over independent samples or groups.
    pub gain: Mean,
    /// How often the best of as many candidates would gain as much if there were nothing to find; `None` with fewer than five
    /// independent samples.
    pub chance: Option<f64>,
    /// Whether terms were named on all samples by evidence that knows how many could have been: that is no chance either.
    pub evidence: bool,
    /// For every number that is predicted.
    pub numbers: Vec<NumberScores>,
    /// For classes.
    pub classes: Option<ClassScores>,
    /// How shuffled targets did, if that was asked for.
    pub permutations: Option<PermutationCheck>,
    /// So many rows have a copy in another fold.
    #[serde(default)]
    pub copies: usize,
}

/// The same fit to targets in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermutationCheck {
    /// So many orders were tried.
    pub permutations: usize,
    /// With so many the loss was as small a share of that of a constant as with the targets as they are.
    pub as_good: usize,
}

impl PermutationCheck {
    /// Whether there are enough of them to say that something is no chance.
    pub fn can_decide(self) -> bool {
        1.0 / (1 + self.permutations) as f64 <= LEVEL
    }

    /// The share of all orders, that of the data among them, that do as well.
    pub fn chance(self) -> f64 {
        (1 + self.as_good) as f64 / (1 + self.permutations) as f64
    }
}

/// Predictions of samples that were not seen, one after another: a sample that is held out several times occurs as often.
#[derive(Debug)]
pub(crate) struct Unseen {
    /// How samples were held out.
    pub how: String,
    /// What every prediction belongs to: samples with one number are one witness.
    pub witnesses: Vec<usize>,
    /// The weights of the samples.
    pub weights: Vec<f64>,
    /// What the chosen candidate predicts.
    pub predicted: Predicted,
    /// The name of the loss.
    pub loss_name: &'static str,
    /// The loss of the constant.
    pub constant: Vec<f64>,
    /// The loss of every candidate.
    pub candidates: Vec<Vec<f64>>,
    /// The loss of whatever else the same samples have judged, such as other parameters of the candidates.
    pub looked_at: Vec<Vec<f64>>,
    /// Which was chosen, and its name where there are several.
    pub chosen: usize,
    pub candidate: Option<String>,
}

impl Unseen {
    /// What they come to.
    pub(crate) fn assessment(self) -> Assessment {
        let Self { how, witnesses, weights, predicted, loss_name, constant, candidates, looked_at, chosen, candidate } =
            self;
        let total: f64 = weights.iter().sum();
        let mean = |values: &[f64]| values.iter().zip(&weights).map(|(x, weight)| weight / total * x).sum::<f64>();
        let gains: Vec<Vec<f64>> =
            candidates.iter().chain(&looked_at).map(|losses| gains(&witnesses, &weights, &constant, losses)).collect();
        let (loss, constant_loss) = (mean(&candidates[chosen]), mean(&constant));
        let chance = chance(&gains, chosen);
        let mut assessment = Assessment {
            better: false,
            candidate,
            candidates: candidates.len(),
            how,
            rows: weights.iter().filter(|weight| **weight > 0.0).count(),
            loss_name: loss_name.to_owned(),
            loss,
            constant_loss,
            gain: share(&gains[chosen], total * constant_loss),
            chance,
            evidence: false,
            numbers: predicted.numbers(&weights),
            classes: predicted.classes(&weights),
            permutations: None,
            copies: 0,
        };
        assessment.decide();
        assessment
    }
}

/// The weighted gain of every witness.
fn gains(witnesses: &[usize], weights: &[f64], constant: &[f64], losses: &[f64]) -> Vec<f64> {
    let mut of = std::collections::BTreeMap::<usize, f64>::new();
    for (((witness, weight), constant), loss) in witnesses.iter().zip(weights).zip(constant).zip(losses) {
        if *weight > 0.0 {
            *of.entry(*witness).or_default() += weight * (constant - loss);
        }
    }
    of.into_values().collect()
}

/// The sum of gains as a share of a whole, and the standard error of that.
fn share(gains: &[f64], whole: f64) -> Mean {
    let count = gains.len() as f64;
    let value: f64 = gains.iter().map(|gain| gain / whole).sum();
    let spread: f64 = gains.iter().map(|gain| (gain / whole - value / count).powi(2)).sum();
    // Where nothing can be gained, or one witness tells nothing of others.
    let known = |x: f64| if x.is_finite() { x } else { 0.0 };
    Mean { value: known(value), standard_error: known((spread * count / (count - 1.0)).sqrt()) }
}

impl Assessment {
    /// The share of the loss of the constant that is left.
    pub fn error(&self) -> f64 {
        self.loss / self.constant_loss
    }

    /// With what became of shuffled targets.
    #[must_use]
    pub fn with_permutations(mut self, check: PermutationCheck) -> Self {
        self.permutations = Some(check);
        self.decide();
        self
    }

    /// With names for the classes, in their order.
    #[must_use]
    pub fn with_labels(mut self, labels: &[String]) -> Self {
        if let Some(classes) = &mut self.classes
            && classes.labels.len() == labels.len()
        {
            classes.labels = labels.to_vec();
        }
        self
    }

    /// With whether evidence on all samples names terms.
    #[must_use]
    pub(in crate::fit) fn with_evidence(mut self, evidence: bool) -> Self {
        self.evidence = evidence;
        self.decide();
        self
    }

    /// With how many rows have a copy in another fold.
    #[must_use]
    pub(in crate::fit) fn with_copies(self, copies: usize) -> Self {
        Self { copies, ..self }
    }

    fn decide(&mut self) {
        let rare = |chance: f64| chance <= LEVEL;
        let gains = self.loss < self.constant_loss && self.chance.is_some_and(rare);
        // Evidence takes noise for normal, and is not believed against samples that speak against it.
        let named = self.evidence && self.loss <= MUCH_WORSE * self.constant_loss;
        let no_shuffles = |check: PermutationCheck| !check.can_decide() || rare(check.chance());
        self.better = (gains || named) && self.permutations.is_none_or(no_shuffles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unseen(y: &[f64], t: &[f64], witnesses: Vec<usize>) -> Assessment {
        let n = y.len();
        let constant = vec![0.0; n];
        let squares = |t: &[f64]| y.iter().zip(t).map(|(y, t)| (y - t).powi(2)).collect::<Vec<f64>>();
        Unseen {
            how: "5 folds".to_owned(),
            witnesses,
            weights: vec![1.0; n],
            predicted: Predicted::Numbers(vec![PredictedNumber {
                y: y.to_vec(),
                t: t.to_vec(),
                constant: constant.clone(),
            }]),
            loss_name: "squared",
            constant: squares(&constant),
            candidates: vec![squares(t)],
            looked_at: Vec::new(),
            chosen: 0,
            candidate: None,
        }
        .assessment()
    }

    #[test]
    fn numbers_are_pooled_and_compared_with_a_constant() {
        let y = [1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 1.5, -1.5];
        let t: Vec<f64> = y.iter().map(|y| 0.5 * y).collect();
        let found = unseen(&y, &t, (0..8).collect());
        let [scores] = &found.numbers[..] else { panic!("{found:?}") };
        assert!((scores.q2 - 0.75).abs() < 1e-12 && (scores.rmse / scores.constant_rmse - 0.5).abs() < 1e-12);
        assert!((found.gain.value - 0.75).abs() < 1e-12 && (found.error() - 0.25).abs() < 1e-12);
        assert!(found.better && found.sentence().contains("Q2 0.75"), "{}", found.sentence());
        // Two witnesses are not enough, however many rows they have.
        let grouped = unseen(&y, &t, vec![0, 0, 0, 0, 1, 1, 1, 1]);
        assert!(!grouped.better && grouped.chance.is_none() && grouped.sentence().contains("no better"));
        // What shuffled targets do as well is no discovery.
        let few = found.clone().with_permutations(PermutationCheck { permutations: 10, as_good: 0 });
        assert!(few.better && few.lines().iter().any(|line| line.contains("cannot decide")), "{few:?}");
        let shuffled = found.with_permutations(PermutationCheck { permutations: 19, as_good: 3 });
        assert!(!shuffled.better && shuffled.lines().iter().any(|line| line.contains("3 of 19")), "{shuffled:?}");
    }
}
