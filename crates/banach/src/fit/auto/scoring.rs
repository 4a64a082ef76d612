//! How good predictions are: the squared error of numbers, the logarithmic loss of probabilities.

use crate::{
    Error, Loss, Target,
    fit::{Predicted, PredictedNumber, Task, probabilities},
    loss::Logistic,
    solver::Mean,
};

/// Probabilities below this count as this: one certain mistake is not the end.
const LEAST_PROBABILITY: f64 = 1e-6;

/// Targets and weights by which predictions are scored. Predictions are numbers, or probabilities of all classes: those of all samples for the
/// first class, then for the second, and so on.
#[derive(Debug)]
pub(super) struct Scoring {
    truth: Truth,
    weights: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Truth {
    Numbers(Vec<f64>),
    /// The place of the class of every sample among so many.
    Classes(Vec<usize>, usize),
}

impl Scoring {
    pub(super) fn new(target: &Target<'_>, task: &Task, weights: &[f64]) -> Self {
        let truth = match (target, task) {
            (Target::Labels(labels), Task::Classes(classes)) => {
                let place = |label: &i64| classes.binary_search(label).expect("the classes are those of the labels");
                Truth::Classes(labels.iter().map(place).collect(), classes.len())
            }
            (Target::Numbers(outputs), _) => Truth::Numbers(outputs[0].to_vec()),
            (Target::Labels(_), Task::Numbers(_)) => unreachable!("labels are classes"),
        };
        Self { truth, weights: weights.to_vec() }
    }

    /// As if these samples were the only ones.
    pub(super) fn among(&self, samples: &[usize]) -> Self {
        let mut weights = vec![0.0; self.weights.len()];
        samples.iter().for_each(|&i| weights[i] = self.weights[i]);
        Self { truth: self.truth.clone(), weights }
    }

    /// What decisions predict.
    pub(super) fn predictions(&self, decisions: Vec<f64>, points: usize) -> Result<Vec<f64>, Error> {
        match self.truth {
            Truth::Numbers(_) => Ok(decisions),
            Truth::Classes(..) => probabilities(&Logistic as &dyn Loss, &decisions, points),
        }
    }

    /// The predictions of a constant that has seen samples of these weights: their mean, or the shares of the classes.
    pub(super) fn constant(&self, weights: &[f64]) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        match &self.truth {
            Truth::Numbers(y) => vec![y.iter().zip(weights).map(|(y, weight)| weight / total * y).sum()],
            Truth::Classes(classes, count) => {
                let mut shares = vec![0.0; *count];
                classes.iter().zip(weights).for_each(|(&class, weight)| shares[class] += weight / total);
                shares
            }
        }
    }

    /// The loss of every sample.
    pub(super) fn losses(&self, predictions: &[f64]) -> Vec<f64> {
        match &self.truth {
            Truth::Numbers(y) => y.iter().zip(predictions).map(|(y, t)| (y - t).powi(2)).collect(),
            Truth::Classes(..) => self.likelihoods(predictions).map(|p| -p.max(LEAST_PROBABILITY).ln()).collect(),
        }
    }

    /// The probability of the class that every sample has.
    fn likelihoods<'s>(&'s self, predictions: &'s [f64]) -> impl Iterator<Item = f64> + 's {
        let Truth::Classes(classes, _) = &self.truth else { unreachable!("numbers have no probabilities") };
        classes.iter().enumerate().map(move |(i, class)| predictions[class * classes.len() + i])
    }

    /// The mean of numbers of samples, and its standard error.
    pub(super) fn mean(&self, of_samples: &[f64]) -> Mean {
        let total: f64 = self.weights.iter().sum();
        let value = of_samples.iter().zip(&self.weights).map(|(x, weight)| weight / total * x).sum::<f64>();
        let counted = self.weights.iter().filter(|weight| **weight > 0.0).count() as f64;
        let spread = |(x, weight): (&f64, &f64)| (weight / total * (x - value)).powi(2);
        let variance = of_samples.iter().zip(&self.weights).map(spread).sum::<f64>() * counted / (counted - 1.0);
        Mean { value, standard_error: variance.sqrt() }
    }

    /// The variance of numbers; of classes what a constant leaves.
    pub(super) fn variance(&self) -> f64 {
        let constant = self.constant(&self.weights);
        let n = self.weights.len();
        let predictions: Vec<f64> = constant.iter().flat_map(|value| std::iter::repeat_n(*value, n)).collect();
        self.mean(&self.losses(&predictions)).value
    }

    /// The share of samples whose class has the largest probability; `None` for numbers.
    pub(super) fn accuracy(&self, predictions: &[f64]) -> Option<Mean> {
        let Truth::Classes(classes, count) = &self.truth else { return None };
        let n = classes.len();
        let most_likely = |i: usize| {
            let larger = |best: usize, class: usize| {
                if predictions[class * n + i] > predictions[best * n + i] { class } else { best }
            };
            (1..*count).fold(0, larger)
        };
        let right: Vec<f64> = (0..n).map(|i| f64::from(most_likely(i) == classes[i])).collect();
        Some(self.mean(&right))
    }

    /// For each of several predictions a column by which mixtures are made: predictions themselves for numbers, else the probabilities of what
    /// was the case.
    pub(super) fn mixed_columns(&self, predictions: &[&[f64]]) -> Vec<Vec<f64>> {
        let column = |predictions: &&[f64]| match self.truth {
            Truth::Numbers(_) => predictions.to_vec(),
            Truth::Classes(..) => self.likelihoods(predictions).map(|p| p.max(LEAST_PROBABILITY)).collect(),
        };
        predictions.iter().map(column).collect()
    }

    /// What is predicted of some samples, by a model and by a constant.
    pub(super) fn predicted(
        &self,
        predictions: &[f64],
        constant: &[f64],
        samples: &[usize],
        labels: Vec<String>,
    ) -> Predicted {
        let n = self.weights.len();
        let among = |values: &[f64]| samples.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        match &self.truth {
            Truth::Numbers(y) => Predicted::Numbers(vec![PredictedNumber {
                y: among(y),
                t: among(predictions),
                constant: among(constant),
            }]),
            Truth::Classes(classes, count) => {
                let share = |class: usize, i: usize| constant[class * n + i];
                let largest = |i: &usize| {
                    (1..*count).fold(0, |best, class| if share(class, *i) > share(best, *i) { class } else { best })
                };
                Predicted::Classes {
                    labels,
                    truth: samples.iter().map(|&i| classes[i]).collect(),
                    scores: predictions.chunks(n).map(among).collect(),
                    constant: samples.iter().map(largest).collect(),
                }
            }
        }
    }

    /// The numbers that are predicted; `None` for classes.
    pub(super) fn numbers(&self) -> Option<&[f64]> {
        match &self.truth {
            Truth::Numbers(y) => Some(y),
            Truth::Classes(..) => None,
        }
    }

    /// The place of the class of every sample, as a number; none for numbers.
    pub(super) fn class_numbers(&self) -> Vec<f64> {
        match &self.truth {
            Truth::Numbers(_) => Vec::new(),
            Truth::Classes(classes, _) => classes.iter().map(|class| *class as f64).collect(),
        }
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }
}
