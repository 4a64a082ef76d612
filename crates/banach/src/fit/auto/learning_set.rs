//! The samples of an automatic choice, and which of them every fit sees.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::{check_task, scoring::Scoring};
use crate::{
    Account, Error, FeatureMatrix, Target,
    data::ColumnScaling,
    error::{Parameter, Remedy},
    fit::Task,
    loss::LossSpec,
    memory::Taken,
    solver::Folds,
};

/// The samples, the folds, and the lanes: one fit without each fold, and last one of all samples.
#[derive(Debug)]
pub(super) struct LearningSet<'a> {
    pub x: &'a FeatureMatrix<'a>,
    pub target: &'a Target<'a>,
    pub task: Task,
    pub loss: LossSpec,
    pub sample_weight: Option<&'a [f64]>,
    pub account: &'a Account,
    pub folds: Folds,
    pub lanes: Vec<Lane>,
    pub scoring: Scoring,
    in_units: OnceLock<Result<Vec<FeatureMatrix<'static>>, Error>>,
    rotated: OnceLock<Result<Vec<FeatureMatrix<'static>>, Error>>,
    _taken: Taken,
}

/// What one fit sees.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// The samples that it does not see, as the only fold; none for the fit of all samples.
    pub fold: Option<Folds>,
    /// The weights, 0 for samples that it does not see.
    pub weights: Vec<f64>,
    /// The units of the columns by the samples that it sees.
    pub units: ColumnScaling,
}

impl<'a> LearningSet<'a> {
    pub(super) fn new(
        x: &'a FeatureMatrix<'a>,
        target: &'a Target<'a>,
        sample_weight: Option<&'a [f64]>,
        account: &'a Account,
        folds: Folds,
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
        let lane = |fold: Option<Folds>| {
            let mut weights = all.clone();
            fold.iter().flat_map(|fold| &fold.absent()[0]).for_each(|&i| weights[i] = 0.0);
            Lane { fold, units: ColumnScaling::standard(x, Some(&weights)), weights }
        };
        Error::check_length("folds", folds.samples(), n)?;
        let held_out: usize = folds.held_out().iter().map(Vec::len).sum();
        let mut once = folds.held_out().concat();
        once.sort_unstable();
        once.dedup();
        let allowed =
            "folds that hold out every sample at most once, to choose a model; repeated ones are for one model";
        Parameter::Folds.check(&folds, once.len() == held_out, allowed)?;
        let bytes = (folds.count() as u64 + 1).saturating_mul(bytes(x));
        let taken = account.take(bytes).map_err(|short| {
            short.error(
                "the samples in the units of every fold",
                &[Remedy::Do("fit a model of your own choice, which needs no folds of its own")],
            )
        })?;
        let lanes = folds.each().into_iter().map(Some).chain([None]).map(lane).collect();
        // Samples that are never held out have no part in scores.
        let scoring = Scoring::new(target, &task, &all).among(&once);
        if let Some([first, others @ ..]) = scoring.numbers()
            && others.iter().all(|other| other == first)
        {
            return Err(Error::Parameter {
                parameter: Parameter::Target,
                got: format!("the value {first} at every sample"),
                allowed: "targets that differ: there is nothing to predict",
            });
        }
        if let (Some(y), false) = (scoring.numbers(), scoring.variance().is_normal())
            && let Some(other) = y.iter().find(|other| **other != y[0])
        {
            return Err(Error::Parameter {
                parameter: Parameter::Target,
                got: format!("values such as {:e} and {other:e}", y[0]),
                allowed: "numbers whose squares are in range; multiply y by a number that brings its values near 1; the model is the same",
            });
        }
        let (in_units, rotated) = (OnceLock::new(), OnceLock::new());
        Ok(Self {
            x,
            target,
            task,
            loss,
            sample_weight,
            account,
            folds,
            lanes,
            scoring,
            in_units,
            rotated,
            _taken: taken,
        })
    }

    /// Whether every sample is held out.
    pub(super) fn covers_all(&self) -> bool {
        self.folds.held_out().iter().map(Vec::len).sum::<usize>() == self.x.samples()
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
    pub(super) fn units(&self) -> Vec<ColumnScaling> {
        self.lanes.iter().map(|lane| lane.units.clone()).collect()
    }

    /// The samples in the units of every lane.
    pub(super) fn in_units(&self) -> Result<&[FeatureMatrix<'static>], Error> {
        let apply = || self.lanes.par_iter().map(|lane| lane.units.apply(self.x)).collect();
        self.in_units.get_or_init(apply).as_deref().map_err(Clone::clone)
    }

    /// The same as fits with the exponent p may see them: where p = 2 sees products of samples only, with no more variables than that needs.
    pub(super) fn seen_by(&self, p: f64) -> Result<&[FeatureMatrix<'static>], Error> {
        let in_units = self.in_units()?;
        if p != 2.0 || self.x.features() < WIDE * self.x.samples() {
            return Ok(in_units);
        }
        let rotate = || in_units.par_iter().map(FeatureMatrix::rotated).collect();
        self.rotated.get_or_init(rotate).as_deref().map_err(Clone::clone)
    }
}

/// So many times as many variables as samples are worth a rotation.
const WIDE: usize = 2;

/// What a copy of samples takes: a number for every entry, and the place of each that is stored alone.
fn bytes(x: &FeatureMatrix<'_>) -> u64 {
    x.stored() as u64 * if x.is_sparse() { 16 } else { 8 }
}
