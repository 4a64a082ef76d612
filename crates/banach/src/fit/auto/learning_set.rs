//! The samples of an automatic choice, and which of them every fit sees.

use super::{check_task, scoring::Scoring};
use crate::{Account, Error, FeatureMatrix, Target, data::Units, fit::Task, loss::LossSpec, solver::Folds};

/// The samples, the folds, and the lanes: one fit without each fold, and last one of all samples.
#[derive(Debug)]
pub(super) struct LearningSet<'a> {
    pub x: &'a FeatureMatrix<'a>,
    pub target: &'a Target<'a>,
    pub task: Task,
    pub loss: LossSpec,
    pub sample_weight: Option<&'a [f64]>,
    pub account: &'a Account,
    pub lanes: Vec<Lane>,
    pub scoring: Scoring,
}

/// What one fit sees.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// The samples that it does not see, as the only fold; none for the fit of all samples.
    pub fold: Option<Folds>,
    /// The weights, 0 for samples that it does not see.
    pub weights: Vec<f64>,
    /// The columns by the samples that it sees.
    pub units: Units,
}

impl<'a> LearningSet<'a> {
    pub(super) fn new(
        x: &'a FeatureMatrix<'a>,
        target: &'a Target<'a>,
        sample_weight: Option<&'a [f64]>,
        account: &'a Account,
        seed: u64,
    ) -> Result<Self, Error> {
        let loss = match target {
            Target::Numbers(_) => LossSpec::Squared,
            Target::Labels(_) => LossSpec::Logistic,
        };
        let n = x.samples();
        let (task, outputs) = target.outputs(n, loss.targets(), sample_weight)?;
        check_task(&task)?;
        if let Some(weights) = sample_weight {
            Error::check_values("sample_weight", weights, "finite numbers >= 0", |w| {
                (0.0..f64::INFINITY).contains(&w)
            })?;
        }
        for y in &outputs {
            Error::check_values("y", y, "finite numbers up to 1e100 in magnitude", |y| y.abs() <= 1e100)?;
        }
        let all = sample_weight.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let lane = |held_out: &[usize]| -> Result<Lane, Error> {
            let mut weights = all.clone();
            held_out.iter().for_each(|&i| weights[i] = 0.0);
            let fold = if held_out.is_empty() { None } else { Some(Folds::new(n, vec![held_out.to_vec()])?) };
            Ok(Lane { fold, units: Units::standard(x, Some(&weights)), weights })
        };
        let folds = target.folds(n, None, seed)?;
        let mut lanes = folds.held_out().iter().map(|held_out| lane(held_out)).collect::<Result<Vec<_>, _>>()?;
        lanes.push(lane(&[])?);
        let scoring = Scoring::new(target, &task, &all);
        Ok(Self { x, target, task, loss, sample_weight, account, lanes, scoring })
    }

    /// The number of samples that count.
    pub(super) fn counted(&self) -> usize {
        self.all().weights.iter().filter(|weight| **weight > 0.0).count()
    }

    /// The fit of all samples.
    pub(super) fn all(&self) -> &Lane {
        self.lanes.last().expect("there is always one of all samples")
    }

    /// The units of every lane.
    pub(super) fn units(&self) -> Vec<Units> {
        self.lanes.iter().map(|lane| lane.units.clone()).collect()
    }
}
