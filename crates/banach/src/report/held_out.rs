//! What the folds say of the samples that they held out: predictions, and for classes how well they tell them apart.

use serde::Serialize;

use crate::{Error, Loss, Target, fit::Task, solver::CrossValidation};

/// At the gamma that was taken, samples seen by models without them: once for every fold that holds a sample out. Weights of samples
/// do not count here.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOut {
    /// By their rows.
    pub samples: Vec<HeldOutRow>,
    /// For classes, one entry for every function.
    pub classes: Vec<Separation>,
}

/// One sample.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOutRow {
    /// Its row in the data, from 1.
    pub row: usize,
    /// The target of every function: a number, or 1 and -1 for its class and others.
    pub targets: Vec<f64>,
    /// The prediction of every function: a number of the kind of its target, or its decision.
    pub predictions: Vec<f64>,
}

/// How well one class is told from the others.
#[derive(Debug, Clone, Serialize)]
pub struct Separation {
    /// The receiver operating characteristic: shares of false and of true positives, from the strictest threshold on.
    pub roc: Vec<(f64, f64)>,
    /// The area under it.
    pub auc: f64,
    /// For losses that tell probabilities.
    pub calibration: Vec<CalibrationBin>,
}

/// Samples with about the same predicted probability.
#[derive(Debug, Clone, Serialize)]
pub struct CalibrationBin {
    /// The mean of the predicted probabilities.
    pub predicted: f64,
    /// The share that has the class.
    pub observed: f64,
    /// How many samples they are.
    pub samples: usize,
}

/// Bins of a calibration.
const BINS: usize = 10;

impl HeldOut {
    /// Every sample, seen by the models without it, for one gamma.
    pub(super) fn new(
        validated: &[CrossValidation],
        gamma: usize,
        target: &Target<'_>,
        loss: &dyn Loss,
    ) -> Result<Self, Error> {
        let folds = &validated[0].folds;
        let (task, targets) = target.outputs(folds.samples(), loss.targets(), None)?;
        let mut samples = Vec::new();
        for (fold, held_out) in folds.held_out().iter().enumerate() {
            for (at, &sample) in held_out.iter().enumerate() {
                samples.push(HeldOutRow {
                    row: sample + 1,
                    targets: targets.iter().map(|y| y[sample]).collect(),
                    predictions: validated
                        .iter()
                        .map(|one| loss.response(one.fits[gamma][fold].predictions[at]))
                        .collect(),
                });
            }
        }
        samples.sort_by_key(|sample| sample.row);
        let separation = |function: usize| {
            let scored: Vec<(f64, bool)> = samples
                .iter()
                .map(|sample: &HeldOutRow| (sample.predictions[function], sample.targets[function] > 0.0))
                .collect();
            Separation::new(scored, |decision| loss.probability(1.0, decision))
        };
        let functions = if matches!(task, Task::Classes(_)) { 0..targets.len() } else { 0..0 };
        let classes = functions.map(separation).collect();
        Ok(Self { samples, classes })
    }
}

impl Separation {
    /// From decisions, and whether each sample has the class.
    fn new(mut scored: Vec<(f64, bool)>, probability: impl Fn(f64) -> Option<f64>) -> Self {
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let positive = scored.iter().filter(|(_, own)| *own).count();
        let negative = scored.len() - positive;
        let share = |count: usize, all: usize| if all == 0 { 0.0 } else { count as f64 / all as f64 };
        let (mut hits, mut alarms) = (0, 0);
        let mut roc = vec![(0.0, 0.0)];
        // Samples with the same decision pass a threshold together.
        for tie in scored.chunk_by(|a, b| a.0 == b.0) {
            hits += tie.iter().filter(|(_, own)| *own).count();
            alarms += tie.iter().filter(|(_, own)| !own).count();
            roc.push((share(alarms, negative), share(hits, positive)));
        }
        let auc = roc.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 0.5 * (pair[0].1 + pair[1].1)).sum();
        Self { roc, auc, calibration: calibration(&scored, probability) }
    }
}

/// Samples by their predicted probability in bins of equal size.
fn calibration(scored: &[(f64, bool)], probability: impl Fn(f64) -> Option<f64>) -> Vec<CalibrationBin> {
    let known: Option<Vec<(f64, bool)>> =
        scored.iter().rev().map(|&(decision, own)| probability(decision).map(|p| (p, own))).collect();
    let known = known.unwrap_or_default();
    let size = known.len().div_ceil(BINS).max(1);
    let bin = |bin: &[(f64, bool)]| CalibrationBin {
        predicted: bin.iter().map(|(p, _)| p).sum::<f64>() / bin.len() as f64,
        observed: bin.iter().filter(|(_, own)| *own).count() as f64 / bin.len() as f64,
        samples: bin.len(),
    };
    known.chunks(size).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_those_of_the_definition() {
        let scored = vec![(0.9, true), (0.4, false), (0.8, true), (0.4, true), (0.1, false)];
        let separation = Separation::new(scored.clone(), |_| None);
        // The share of pairs in the right order, a tie counting a half.
        let pairs = scored.iter().filter(|one| one.1).flat_map(|own| {
            scored.iter().filter(|other| !other.1).map(|other| match own.0.total_cmp(&other.0) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            })
        });
        let pairs: Vec<f64> = pairs.collect();
        assert!((separation.auc - pairs.iter().sum::<f64>() / pairs.len() as f64).abs() < 1e-12);
        assert_eq!((separation.roc[0], separation.roc.last()), ((0.0, 0.0), Some(&(1.0, 1.0))));
        assert!(separation.calibration.is_empty());
    }

    #[test]
    fn bins_hold_every_sample_once() {
        let scored: Vec<(f64, bool)> = (0..37).map(|i| (f64::from(i) / 36.0, i > 18)).collect();
        let bins = Separation::new(scored, Some).calibration;
        assert_eq!(bins.iter().map(|bin| bin.samples).sum::<usize>(), 37);
        assert!(bins.is_sorted_by(|a, b| a.predicted < b.predicted) && bins.len() <= BINS);
        assert_eq!((bins[0].observed, bins[bins.len() - 1].observed), (0.0, 1.0));
    }
}
