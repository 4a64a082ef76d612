//! What a chosen model does, with the names of variables.

use serde::Serialize;

use super::{VariableShare, name};
use crate::{
    Error, Memory,
    fit::{AutoEffect, AutoModel, LEAST_PAIR_SHARE},
};

/// Variables of which pairs are told, and the most of which effects are.
const PAIRED: usize = 10;
const EFFECTS: usize = 6;
/// Values of a variable on the curve of its effect.
const POINTS: usize = 20;
/// A variable that acts with another at this share of its own, or more, is also shown where that other is small and large.
const TOGETHER: f64 = 0.1;

/// What matters to a chosen model: variables, pairs of them, and what the leading ones do.
#[derive(Debug, Clone, Serialize)]
pub struct AutoReadout {
    /// How much every variable matters, the largest share first; those of equal shares in their order.
    pub relevance: Vec<VariableShare>,
    /// How much pairs of the ten leading variables matter, the largest share first; those without a share are left out.
    pub pairs: Vec<PairShare>,
    /// What is predicted along each of the six leading variables, all others at their centres.
    pub effects: Vec<EffectCurve>,
}

/// Two variables.
#[derive(Debug, Clone, Serialize)]
pub struct PairShare {
    /// The name of one.
    pub first: String,
    /// The name of the other.
    pub second: String,
    /// The share of what involves both.
    pub share: f64,
}

/// Predictions along one variable.
#[derive(Debug, Clone, Serialize)]
pub struct EffectCurve {
    /// Its name.
    pub variable: String,
    /// Its values.
    pub values: Vec<f64>,
    /// One curve of numbers, or one of probabilities for every class.
    pub curves: Vec<ClassCurve>,
    /// The same where the variable that it acts with most is small and large, if there is one.
    pub partner: Option<EffectPartner>,
}

/// The variable that another acts with most.
#[derive(Debug, Clone, Serialize)]
pub struct EffectPartner {
    /// Its name.
    pub variable: String,
    /// A small value of it.
    pub low: f64,
    /// A large value of it.
    pub high: f64,
    /// The curves with the small one.
    pub at_low: Vec<ClassCurve>,
    /// The curves with the large one.
    pub at_high: Vec<ClassCurve>,
}

/// What is predicted at every value.
#[derive(Debug, Clone, Serialize)]
pub struct ClassCurve {
    /// The class whose probability it is; `None` of numbers.
    pub class: Option<String>,
    /// The predictions.
    pub predictions: Vec<f64>,
}

impl AutoReadout {
    /// With these names of the variables and of the classes, in order.
    pub fn new(
        model: &AutoModel,
        names: &[impl AsRef<str>],
        classes: &[impl AsRef<str>],
        memory: Memory,
    ) -> Result<Self, Error> {
        let shares = model.relevance(memory)?;
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let leading: Vec<usize> = order.iter().copied().filter(|&j| shares[j] > 0.0).take(PAIRED).collect();
        let pairs: Vec<(usize, usize, f64)> = model.pair_relevance(&leading, memory)?.ranking();
        let curves = |predictions: &[f64], points: usize| {
            let classes = classes.iter().map(|class| Some(class.as_ref().to_owned())).chain([None]);
            let curve = |(values, class): (&[f64], _)| ClassCurve { class, predictions: values.to_vec() };
            predictions.chunks(points).zip(classes).map(curve).collect::<Vec<_>>()
        };
        let partner = |effect: &AutoEffect| -> Result<Option<EffectPartner>, Error> {
            let j = effect.variable;
            let most = pairs.iter().find(|(first, second, _)| *first == j || *second == j);
            let most = most.filter(|(_, _, share)| *share >= TOGETHER * shares[j]);
            let Some(other) = most.map(|(first, second, _)| if *first == j { *second } else { *first }) else {
                return Ok(None);
            };
            let Some((low, high)) = model.ranges().low_and_high(other) else { return Ok(None) };
            let beside = |value: f64| -> Result<_, Error> {
                let predictions = model.effect_beside(j, &effect.grid, &[(other, value)])?;
                Ok(curves(&predictions, effect.grid.len()))
            };
            Ok(Some(EffectPartner {
                variable: name(names, other),
                low,
                high,
                at_low: beside(low)?,
                at_high: beside(high)?,
            }))
        };
        let effect = |effect: AutoEffect| -> Result<EffectCurve, Error> {
            Ok(EffectCurve {
                variable: name(names, effect.variable),
                partner: partner(&effect)?,
                curves: curves(&effect.predictions, effect.grid.len()),
                values: effect.grid,
            })
        };
        let effects = model.effects(&leading[..leading.len().min(EFFECTS)], POINTS)?;
        let effects = effects.into_iter().map(effect).collect::<Result<_, _>>()?;
        let shared = pairs.iter().filter(|(_, _, share)| *share > LEAST_PAIR_SHARE);
        let pair =
            |&(i, j, share): &(usize, usize, f64)| PairShare { first: name(names, i), second: name(names, j), share };
        let variable = |j: usize| VariableShare { variable: name(names, j), share: shares[j] };
        Ok(Self { pairs: shared.map(pair).collect(), effects, relevance: order.into_iter().map(variable).collect() })
    }
}
