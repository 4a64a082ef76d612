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
    workers::checkpoint,
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
    ranked: OnceLock<Result<RankedLanes, Error>>,
    _taken: Taken,
}

/// The samples by the ranks of their values, as fits with p = 2 may see them.
#[derive(Debug)]
pub(super) struct RankedLanes {
    /// Those of every lane, by the ranks among the samples that it sees.
    pub lanes: Vec<FeatureMatrix<'static>>,
    /// The units of the fit of all samples.
    pub all: ColumnScaling,
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
            if weights.iter().all(|weight| *weight == 0.0) {
                return Err(Error::NoWeight { samples: n, largest: 0.0, gamma: 1.0 });
            }
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
        let (in_units, rotated, ranked) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
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
            ranked,
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
        if p != 2.0 || !self.is_wide() {
            return Ok(in_units);
        }
        let rotate = || in_units.par_iter().map(FeatureMatrix::rotated).collect();
        self.rotated.get_or_init(rotate).as_deref().map_err(Clone::clone)
    }

    /// The samples that count and have a copy in another fold, with the same values and target: what is said of them has been seen. None, where
    /// no variable has many values: samples with few values each are alike by chance.
    pub(super) fn copies(&self) -> usize {
        let n = self.x.samples();
        let (mut keys, mut values, mut many) = (vec![0_u64; n], vec![0.0; n], false);
        let mut take_in = |values: &[f64]| {
            keys.iter_mut().zip(values).for_each(|(key, value)| {
                // Zeros of both signs are equal.
                *key = (key.rotate_left(5) ^ (value + 0.0).to_bits()).wrapping_mul(MIXER);
            });
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted.dedup();
            many |= sorted.len() * MANY_VALUES >= n;
        };
        match self.scoring.numbers() {
            Some(y) => take_in(y),
            None => take_in(&self.scoring.class_numbers()),
        }
        for &column in self.all().units.columns() {
            self.x.column_into(column, &mut values);
            take_in(&values);
        }
        let mut fold_of = vec![usize::MAX; n];
        for (fold, held_out) in self.folds.held_out().iter().enumerate() {
            held_out.iter().for_each(|&i| fold_of[i] = fold);
        }
        let counted = (0..n).filter(|&i| self.scoring.weights()[i] > 0.0 && many);
        let mut order: Vec<(u64, usize)> = counted.map(|i| (keys[i], fold_of[i])).collect();
        order.sort_unstable();
        let apart = |alike: &&[(u64, usize)]| alike.iter().any(|(_, fold)| *fold != alike[0].1);
        order.chunk_by(|a, b| a.0 == b.0).filter(apart).map(<[_]>::len).sum()
    }

    /// Whether ranks differ from values: a dense column has three values or more at the samples that count.
    pub(super) fn has_ranks(&self) -> bool {
        let (mut values, weights) = (vec![0.0; self.x.samples()], &self.all().weights);
        let mut has_three = |&column: &usize| {
            self.x.column_into(column, &mut values);
            let mut counted = values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(value, _)| value);
            let first = counted.next();
            let second = counted.find(|value| Some(*value) != first);
            counted.any(|value| Some(value) != first && Some(value) != second)
        };
        !self.x.is_sparse() && self.all().units.columns().iter().any(&mut has_three)
    }

    /// The samples by the ranks of their values.
    pub(super) fn ranked(&self) -> Result<&RankedLanes, Error> {
        let rank = || {
            let whole = bytes(self.x);
            let advice = &[Remedy::Do("a mixture can do without them")];
            let take =
                |bytes: u64| self.account.take(bytes).map_err(|short| short.error("the ranks of all samples", advice));
            let of_lane = if self.is_wide() { 8 * (self.x.samples() as u64).pow(2) } else { whole };
            let taken = take(of_lane.saturating_mul(self.lanes.len() as u64).saturating_add(OF_RANKS * whole))?;
            // One lane after another, as each has all ranks at hand.
            let _at_hand = take((OF_RANKS + 1) * whole)?;
            let ranked = |lane: &Lane| -> Result<_, Error> {
                checkpoint();
                let units = lane.units.ranked(self.x, &lane.weights);
                let x = units.apply(self.x)?;
                Ok((if self.is_wide() { x.rotated()? } else { x }, units))
            };
            let (all, folds) = self.lanes.split_last().expect("there is a lane of all samples");
            let mut lanes = folds.iter().map(|lane| Ok(ranked(lane)?.0)).collect::<Result<Vec<_>, Error>>()?;
            let (x, all) = ranked(all)?;
            lanes.push(x);
            Ok(RankedLanes { lanes, all, _taken: taken })
        };
        self.ranked.get_or_init(rank).as_ref().map_err(Clone::clone)
    }

    /// Whether products of samples are worth a rotation.
    fn is_wide(&self) -> bool {
        self.x.features() >= WIDE * self.x.samples()
    }
}

/// A variable has many values if there is one for so many samples.
const MANY_VALUES: usize = 4;
/// An odd number whose bits look random.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The knots of the ranks take so many times the bytes of the samples, at most.
const OF_RANKS: u64 = 2;

/// So many times as many variables as samples are worth a rotation.
const WIDE: usize = 2;

/// What a copy of samples takes: a number for every entry, and the place of each that is stored alone.
fn bytes(x: &FeatureMatrix<'_>) -> u64 {
    x.stored() as u64 * if x.is_sparse() { 16 } else { 8 }
}
