//! Recipes of several steps: rounds of relevance, lengths, few terms.

use super::{
    choice::EXACT,
    contender::{Blueprint, Contender, Recipe, products},
    gamma_search::Learned,
    learning_set::LearningSet,
    plan::exponential_options,
    validation::{Trial, Validated},
};
use crate::{
    Error, FeatureMatrix, Model, Spec, Target,
    data::ColumnScaling,
    fit::{LEAST_SAMPLES, Lengths, SparseModel, repetitions},
    solver::Mean,
    sparse::SparseSpec,
};

/// A variable with less than this share of the largest relevance is left out of the next round.
const LEAST_RELEVANCE: f64 = 1e-6;
/// The exponent that is tried with the scales of the last round.
const SMALLER_EXPONENT: f64 = 1.05;
/// Few terms that claim more than so many times the best held-out loss are not tried without each fold: they would have no part in a model.
const PROMISING: f64 = 3.0;
/// Few terms whose loss on so many fifths of the folds is more than [`PROMISING`] times that of the best contender are not tried without the
/// others.
const ENOUGH_FIFTHS: usize = 2;
/// The exponent of the linear function that names the variables that get a length.
const NAMING: f64 = 1.1;
/// The most variables that get a length.
const MOST_LENGTHS: usize = 50;

/// What few terms that are found without each fold come to.
enum HeldOutTerms {
    /// The predictions of all folds.
    All(Vec<f64>),
    /// The loss on the first folds, so much larger than that of others that the rest was left out.
    Behind(Mean),
}

impl Trial<'_, '_> {
    /// The exp kernel, and rounds in which every variable is scaled by the root of its relevance in the round before; the scales of the last
    /// round also with a smaller exponent. All lanes take a round together, each with the relevance that it has found itself; what they share
    /// is the choice of gamma and of the size of the kernel.
    pub(super) fn relevance_rounds(&mut self, p: f64, rounds: usize) -> Result<Vec<Contender>, Error> {
        let set = self.set();
        let (mut units, mut found, mut near) = (set.units(), Vec::new(), None);
        let mut lanes: Vec<FeatureMatrix<'_>> = set.in_units()?.iter().map(FeatureMatrix::view).collect();
        for round in 0..=rounds {
            let all = units.last().expect("a lane of all samples");
            let Some((validated, size)) = self.sizes_near(&lanes, all, p, near)? else { return Ok(found) };
            let spec = validated.spec.clone();
            found.push(validated.contender(Recipe::Relevance { p, round }));
            near = Some(size);
            if round == rounds {
                break;
            }
            for ((lane, units), x) in set.lanes.iter().zip(&mut units).zip(&mut lanes) {
                let Some(model) = self.lane_model(lane, x, &spec)? else { return Ok(found) };
                *units = units.scaled(&scales(&self.relevance(&model, x)?));
                *x = units.apply(set.x)?;
            }
            if units.iter().any(|units| units.columns().is_empty()) {
                return Ok(found);
            }
        }
        if rounds > 0
            && let Some(all) = units.last()
            && let Some((validated, _)) = self.sizes_near(&lanes, all, SMALLER_EXPONENT, near)?
        {
            found.push(validated.contender(Recipe::Relevance { p: SMALLER_EXPONENT, round: rounds }));
        }
        Ok(found)
    }

    /// The best of the sizes of the exp kernel, or of a size and its neighbours, and the place of that size. `None` if it was ended.
    fn sizes_near(
        &mut self,
        lanes: &[FeatureMatrix<'_>],
        units: &ColumnScaling,
        p: f64,
        near: Option<usize>,
    ) -> Result<Option<(Validated, usize)>, Error> {
        let set = self.set();
        let usual = Spec { p, loss: set.loss, ..Spec::default() };
        let options = exponential_options(set, lanes.last().expect("a lane of all samples"), &usual)?;
        // The first round has learned nothing from targets.
        let learned_from = if near.is_none() { Learned::FromColumns } else { Learned::FromTargets };
        let first = near.map_or(0, |near| near.saturating_sub(1));
        let last = near.map_or(options.len(), |near| (near + 2).min(options.len()));
        let Some(validated) = self.validate(lanes, units, &options[first..last], learned_from)? else {
            return Ok(None);
        };
        let place = options.iter().position(|option| option.kernel == validated.spec.kernel).unwrap_or(first);
        Ok(Some((validated, place)))
    }

    /// How much every variable matters, all functions together.
    fn relevance(&self, model: &Model, x: &FeatureMatrix<'_>) -> Result<Vec<f64>, Error> {
        let mut sum = vec![0.0; x.features()];
        for function in 0..model.solutions().len() {
            let relevance = model.function(function, x)?.relevance(self.set().account.left())?;
            sum.iter_mut().zip(relevance.variables()).for_each(|(sum, share)| *sum += share);
        }
        Ok(sum)
    }

    /// Gauss's kernel with a length for every variable, by the marginal likelihood of numbers; two classes count as -1 and 1. Of many
    /// variables only those have a length that matter most to a linear function of their values.
    pub(super) fn lengths(&mut self, ranks: bool, before: &[Contender]) -> Result<Vec<Contender>, Error> {
        let set = self.set();
        let linear = before.iter().find_map(|contender| match (&contender.recipe, &contender.blueprint) {
            (Recipe::Linear { p: NAMING }, Blueprint::Dense { spec, .. }) => Some(spec.clone()),
            _ => None,
        });
        let (_, outputs) = set.target.outputs(set.x.samples(), set.loss.targets(), set.sample_weight)?;
        let (mut units, mut learned) = (set.units(), None);
        for (at, ((lane, units), x)) in set.lanes.iter().zip(&mut units).zip(set.in_units()?).enumerate() {
            let mut start = Vec::new();
            if let Some(spec) = &linear {
                let Some(model) = self.lane_model(lane, x, spec)? else { return Ok(Vec::new()) };
                let shares = leading(&self.relevance(&model, x)?, MOST_LENGTHS);
                *units =
                    units.scaled(&shares.iter().map(|share| f64::from(u8::from(*share > 0.0))).collect::<Vec<_>>());
                start = shares.into_iter().filter(|share| *share > 0.0).map(f64::sqrt).collect();
            }
            if ranks {
                *units = units.ranked(set.x, &lane.weights);
            }
            let seen: Vec<usize> = (0..set.x.samples()).filter(|&i| lane.weights[i] > 0.0).collect();
            let x = units.apply(set.x)?.select_samples(&seen)?;
            let y: Vec<f64> = seen.iter().map(|&i| outputs[0][i]).collect();
            let starts = if start.is_empty() { Vec::new() } else { vec![start] };
            let lengths = Lengths::learn(&x, &y, &starts)?;
            *units = units.scaled(&lengths.scales);
            learned = Some(Spec { loss: set.loss, ..lengths.spec() });
            if units.columns().is_empty() || !self.reach((at + 1) as f64 / set.lanes.len() as f64) {
                return Ok(Vec::new());
            }
        }
        let lanes = units.iter().map(|units| units.apply(set.x)).collect::<Result<Vec<_>, _>>()?;
        let (all, options) = (units.last().expect("a lane of all samples"), learned.as_slice());
        let found = self.validate(&lanes, all, options, Learned::FromTargets)?;
        Ok(found.map(|found| found.contender(Recipe::Lengths { ranks })).into_iter().collect())
    }

    /// Few terms, by all samples; and without each fold where their evidence alone does not decide.
    pub(super) fn terms(&mut self, degree: usize, before: &[Contender]) -> Result<Vec<Contender>, Error> {
        let set = self.set();
        let spec = SparseSpec { kernel: products(degree)?, loss: set.loss, ..SparseSpec::default() };
        let weights = set.sample_weight.and_then(repetitions);
        let model = spec.model(set.x, set.target, weights.as_deref(), set.account)?;
        if model.functions().iter().all(|function| function.terms().is_empty()) {
            return Ok(Vec::new());
        }
        // Evidence takes samples for independent ones.
        let believed = set.counted() >= LEAST_SAMPLES && set.folds.is_exchangeable();
        let claimed = if believed { self.claimed(&model) } else { None };
        let claimed = match (claimed, clipped(set)) {
            // Where nothing is named without a few extreme targets, nothing is claimed.
            (Some(claimed), Some(y)) => {
                let model = spec.model(set.x, &Target::from(&y), weights.as_deref(), set.account)?;
                model.functions().iter().any(|function| !function.terms().is_empty()).then_some(claimed)
            }
            (claimed, _) => claimed,
        };
        let held_out = |contender: &Contender| {
            contender.predictions.as_ref().map(|found| set.scoring.mean(&set.scoring.losses(found)).value)
        };
        let best = before.iter().filter_map(held_out).fold(f64::INFINITY, f64::min);
        let simpler = before.iter().filter_map(|contender| contender.claimed).fold(f64::INFINITY, f64::min);
        // Where evidence decides against the terms or for simpler ones, nothing is held out.
        let promising = PROMISING * best.max(EXACT * set.scoring.variance());
        let decided = claimed.is_some_and(|claimed| claimed > promising || claimed >= simpler);
        // Where it decides for them, all folds are told, however far behind.
        let wins = claimed.is_some_and(|claimed| claimed < best);
        let rival = before
            .iter()
            .filter(|_| !wins)
            .filter(|rival| held_out(rival) == Some(best))
            .find_map(|rival| rival.predictions.clone());
        let held_out = if decided { None } else { self.terms_without_folds(&spec, rival.as_deref())? };
        let (predictions, behind) = match held_out {
            Some(HeldOutTerms::All(predictions)) => (Some(predictions), None),
            Some(HeldOutTerms::Behind(loss)) => (None, Some(loss)),
            None => (None, None),
        };
        let blueprint = Blueprint::Terms(Box::new(model));
        Ok(vec![Contender {
            recipe: Recipe::Terms { degree },
            blueprint,
            predictions,
            looked_at: Vec::new(),
            claimed,
            behind,
            seconds: 0.0,
        }])
    }

    /// What the terms that are found without each fold predict of it, until they are far behind a rival. `None` if it was ended.
    fn terms_without_folds(&mut self, spec: &SparseSpec, rival: Option<&[f64]>) -> Result<Option<HeldOutTerms>, Error> {
        let (set, n) = (self.set(), self.set().x.samples());
        let mut decisions = vec![0.0; set.task.functions() * n];
        let mut seen = Vec::new();
        for (at, lane) in set.lanes.iter().enumerate() {
            let Some(fold) = &lane.fold else { continue };
            // Samples that are not seen have no part in the mean of the weights.
            let weights = repetitions(&lane.weights);
            let seen_weights = weights.as_deref().or(Some(&lane.weights));
            let values = spec.model(set.x, set.target, seen_weights, set.account)?.decisions(set.x)?;
            for &i in &fold.held_out()[0] {
                (0..set.task.functions()).for_each(|function| decisions[function * n + i] = values[function * n + i]);
            }
            seen.extend_from_slice(&fold.held_out()[0]);
            if at + 1 == (ENOUGH_FIFTHS * set.folds.count()).div_ceil(5)
                && let Some(rival) = rival
            {
                let scoring = set.scoring.among(&seen);
                let own = scoring.mean(&scoring.losses(&scoring.predictions(decisions.clone(), n)?));
                if own.value > PROMISING * scoring.mean(&scoring.losses(rival)).value {
                    return Ok(Some(HeldOutTerms::Behind(own)));
                }
            }
            if !self.reach((at + 1) as f64 / set.lanes.len() as f64) {
                return Ok(None);
            }
        }
        Ok(Some(HeldOutTerms::All(set.scoring.predictions(decisions, n)?)))
    }

    /// The loss that the evidence of one function claims; nothing for several, each of which tells one class from the rest. For numbers
    /// `exp(crit/n)` is the share of the variance that a model would leave to have the same likelihood without a price; for classes the criterion
    /// is added to what a constant leaves.
    fn claimed(&self, model: &SparseModel) -> Option<f64> {
        let [function] = model.functions() else { return None };
        let set = self.set();
        let per_sample = function.criterion() / set.counted() as f64;
        let variance = set.scoring.variance();
        Some(match set.scoring.numbers() {
            Some(_) => variance * per_sample.exp(),
            None => variance + per_sample / 2.0,
        })
    }
}

/// Robust deviations from the median beyond which a target is extreme.
const EXTREME: f64 = 4.0;
/// The deviation of normal numbers, in units of the median of their distances from their median.
const DEVIATION_OF_NORMAL: f64 = 1.4826;

/// Numbers whose extremes are moved to where extremes begin, by the median and the median distance from it; `None` for classes, and where
/// there are none.
///
/// Evidence takes noise for normal. One target that is a thousand times as large as all others is explained by any column that is large there,
/// and that is no evidence for the column.
fn clipped(set: &LearningSet<'_>) -> Option<Vec<f64>> {
    let (y, weights) = (set.scoring.numbers()?, &set.all().weights);
    let median = |mut values: Vec<f64>| {
        let middle = values.len() / 2;
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let counted = || y.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(y, _)| *y);
    let centre = median(counted().collect());
    let reach = EXTREME * DEVIATION_OF_NORMAL * median(counted().map(|y| (y - centre).abs()).collect());
    counted()
        .any(|y| (y - centre).abs() > reach)
        .then(|| y.iter().map(|y| y.clamp(centre - reach, centre + reach)).collect())
}

/// The root of every share, with mean square 1; 0 for variables that hardly matter.
fn scales(relevance: &[f64]) -> Vec<f64> {
    let largest = relevance.iter().copied().fold(0.0, f64::max);
    let kept = |share: f64| if largest > 0.0 && share >= LEAST_RELEVANCE * largest { share } else { 0.0 };
    let sum: f64 = relevance.iter().map(|share| kept(*share)).sum();
    let count = relevance.iter().filter(|share| kept(**share) > 0.0).count() as f64;
    relevance.iter().map(|share| (kept(*share) * count / sum).sqrt()).collect()
}

/// The largest shares, at most so many, as parts of the largest of them; 0 for all others.
fn leading(shares: &[f64], most: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    let largest = order.first().map_or(0.0, |&first| shares[first]);
    let mut kept = vec![0.0; shares.len()];
    for &at in order.iter().take(most) {
        // The least is still a start.
        kept[at] = if largest > 0.0 { (shares[at] / largest).max(LEAST_RELEVANCE) } else { 1.0 };
    }
    kept
}
