//! What a chosen model does, with the names of variables.

use serde::Serialize;

use super::{VariableShare, name};
use crate::{Error, Memory, fit::AutoModel};

/// Variables of which pairs are told, and the most of which effects are.
const PAIRED: usize = 10;
const EFFECTS: usize = 6;
/// Values of a variable on the curve of its effect.
const POINTS: usize = 20;
/// Smaller shares of pairs are rounding.
const LEAST_SHARE: f64 = 1e-9;

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
        let pairs = model.pair_relevance(&leading, memory)?.ranking().into_iter();
        let pairs = pairs.filter(|(_, _, share)| *share > LEAST_SHARE);
        let effects = model.effects(&leading[..leading.len().min(EFFECTS)], POINTS)?;
        let curves = |predictions: &[f64], points: usize| {
            let classes = classes.iter().map(|class| Some(class.as_ref().to_owned())).chain([None]);
            let curve = |(values, class): (&[f64], _)| ClassCurve { class, predictions: values.to_vec() };
            predictions.chunks(points).zip(classes).map(curve).collect()
        };
        Ok(Self {
            pairs: pairs
                .map(|(i, j, share)| PairShare { first: name(names, i), second: name(names, j), share })
                .collect(),
            effects: effects
                .into_iter()
                .map(|effect| EffectCurve {
                    variable: name(names, effect.variable),
                    curves: curves(&effect.predictions, effect.grid.len()),
                    values: effect.grid,
                })
                .collect(),
            relevance: order
                .into_iter()
                .map(|j| VariableShare { variable: name(names, j), share: shares[j] })
                .collect(),
        })
    }
}
