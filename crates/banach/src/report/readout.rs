//! What matters to a model, and what it predicts along what matters: numbers for tables and pictures, with the names of variables.

use serde::Serialize;

use super::{VariableShare, name};
use crate::{
    Error, FeatureMatrix, Memory, Target,
    data::ColumnUnits,
    fit::{AutoModel, LEAST_PAIR_SHARE, SparseModel, VariableRanges, pairs_of_terms, term_shares, variables_of_terms},
    loss::Targets,
    model::PairShares,
};

/// Variables of which pairs are told, and the most of which effects are.
const PAIRED: usize = 10;
const EFFECTS: usize = 6;
/// Values of a variable on the curve of its effect.
const POINTS: usize = 20;
/// A variable that acts with another at this share of its own, or more, is also shown where that other is small and large.
const TOGETHER: f64 = 0.1;
/// Pairs whose surfaces are told, the least share of one, and its values of each variable.
const SURFACES: usize = 3;
const LEAST_SURFACE: f64 = 0.01;
const SIDE: usize = 15;
/// Samples that are told with the pictures.
const SAMPLES: usize = 300;

/// What matters to a model: variables, pairs of them, and what is predicted along the leading ones.
#[derive(Debug, Clone, Serialize)]
pub struct Readout {
    /// How much every variable matters, the largest share first; those of equal shares in their order.
    pub relevance: Vec<VariableShare>,
    /// How much pairs of the ten leading variables matter, the largest share first; those without a share are left out.
    pub pairs: Vec<PairShare>,
    /// What is predicted.
    pub quantity: Quantity,
    /// What is predicted along each of the six leading variables, all others at their centres.
    pub effects: Vec<EffectCurve>,
    /// What is predicted over each of the three leading pairs, all others at their centres.
    pub surfaces: Vec<EffectSurface>,
    /// Samples at the same variables; `None` where the samples are not at hand.
    pub samples: Option<ShownSamples>,
}

/// What predictions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The target.
    Number,
    /// The probability of a class.
    Probability,
    /// The value of the function of a class, for losses without probabilities.
    Decision,
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
    /// One curve of numbers, or one for every class.
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

/// Predictions over two variables.
#[derive(Debug, Clone, Serialize)]
pub struct EffectSurface {
    /// The name of one variable.
    pub first: String,
    /// The name of the other.
    pub second: String,
    /// The share of what involves both.
    pub share: f64,
    /// The values of the first.
    pub first_values: Vec<f64>,
    /// The values of the second.
    pub second_values: Vec<f64>,
    /// What is predicted: all values of the first with the first value of the second, then with its second value, and so on.
    pub surfaces: Vec<ClassCurve>,
}

/// What is predicted at every value.
#[derive(Debug, Clone, Serialize)]
pub struct ClassCurve {
    /// The class that it is of; `None` of numbers.
    pub class: Option<String>,
    /// The predictions.
    pub predictions: Vec<f64>,
}

/// Samples as they were measured, at the variables of the pictures: all, or 300 at equal distances in the data.
#[derive(Debug, Clone, Serialize)]
pub struct ShownSamples {
    /// Their places among the rows that were fitted, from 1.
    pub rows: Vec<usize>,
    /// Their targets: numbers, or places in the list of classes from 0.
    pub targets: Vec<f64>,
    /// For every variable of a picture its values.
    pub variables: Vec<SampleValues>,
}

/// One variable of samples.
#[derive(Debug, Clone, Serialize)]
pub struct SampleValues {
    /// Its name.
    pub variable: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// A model as its readout sees it. Columns are in the units that the model takes.
pub(super) struct Reading<'a> {
    /// How much every variable matters.
    pub shares: Vec<f64>,
    /// How much pairs of some variables matter.
    pub pairs: &'a dyn Fn(&[usize]) -> Result<PairShares, Error>,
    /// Where the samples lie.
    pub ranges: &'a VariableRanges,
    /// What is predicted at points: those of all points for the first class, then for the second, and so on.
    pub predict: &'a dyn Fn(&FeatureMatrix<'_>) -> Result<Vec<f64>, Error>,
    /// What that is,
    pub quantity: Quantity,
    /// and the classes that it is of.
    pub classes: Vec<Option<String>>,
    /// The names of variables.
    pub name: &'a dyn Fn(usize) -> String,
    /// What columns stand for.
    pub units: Option<ColumnUnits<'a>>,
    /// The samples and their targets, as [`ShownSamples`] has them.
    pub samples: Option<(&'a FeatureMatrix<'a>, Vec<f64>)>,
}

impl Readout {
    /// Of a chosen model, with these names of the variables and of the classes, in order. Samples are those that it was fitted to.
    pub fn of_auto(
        model: &AutoModel,
        names: &[impl AsRef<str>],
        classes: &[impl AsRef<str>],
        samples: Option<(&FeatureMatrix<'_>, &Target<'_>)>,
        memory: Memory,
    ) -> Result<Self, Error> {
        let numbers = classes.is_empty();
        let classes = classes.iter().map(|class| Some(class.as_ref().to_owned()));
        Reading {
            shares: model.relevance(memory)?,
            pairs: &|variables| model.pair_relevance(variables, memory),
            ranges: model.ranges(),
            predict: &|x| model.predictions(x),
            quantity: if numbers { Quantity::Number } else { Quantity::Probability },
            classes: classes.chain(numbers.then_some(None)).collect(),
            name: &|variable| name(names, variable),
            units: None,
            samples: samples.map(|(x, target)| (x, shown_targets(target))),
        }
        .readout()
    }

    /// Of few terms that were found in these samples.
    pub fn of_terms(
        model: &SparseModel,
        names: &[impl AsRef<str>],
        classes: &[impl AsRef<str>],
        (x, target, sample_weight): (&FeatureMatrix<'_>, &Target<'_>, Option<&[f64]>),
    ) -> Result<Self, Error> {
        let weights = sample_weight.map_or_else(|| vec![1.0; x.samples()], <[f64]>::to_vec);
        let shares = term_shares(model, x, &weights)?;
        let pairs = |variables: &[usize]| {
            let mut variables = variables.to_vec();
            variables.sort_unstable();
            Ok(PairShares::new(variables.clone(), pairs_of_terms(&shares, &variables), 0.0))
        };
        let likely = model.loss().targets() == Targets::Signs && model.loss().build()?.probability(1.0, 0.0).is_some();
        Reading {
            shares: variables_of_terms(&shares, x.features()),
            pairs: &pairs,
            ranges: &VariableRanges::of(x, &weights),
            predict: &|x| if likely { model.probabilities(x) } else { model.decisions(x) },
            quantity: Quantity::of(!classes.is_empty(), likely),
            classes: predicted_classes(classes, likely, model.functions().len()),
            name: &|variable| name(names, variable),
            units: None,
            samples: Some((x, shown_targets(target))),
        }
        .readout()
    }
}

impl Quantity {
    /// Of numbers or classes, with probabilities or without.
    pub(super) fn of(classes: bool, likely: bool) -> Self {
        match (classes, likely) {
            (false, _) => Self::Number,
            (true, true) => Self::Probability,
            (true, false) => Self::Decision,
        }
    }
}

/// What predictions are of: every class if they are probabilities, and otherwise the class of every function.
pub(super) fn predicted_classes(classes: &[impl AsRef<str>], likely: bool, functions: usize) -> Vec<Option<String>> {
    let first = usize::from(!likely && functions == 1 && classes.len() == 2);
    let named = classes.iter().skip(first).map(|class| Some(class.as_ref().to_owned()));
    if classes.is_empty() { vec![None; functions] } else { named.collect() }
}

/// The numbers, of several the first, or the places of the classes.
fn shown_targets(target: &Target<'_>) -> Vec<f64> {
    match target {
        Target::Numbers(outputs) => outputs.first().map_or_else(Vec::new, |y| y.to_vec()),
        Target::Labels(labels) => {
            let mut classes = labels.to_vec();
            classes.sort_unstable();
            classes.dedup();
            labels.iter().map(|label| classes.partition_point(|class| class < label) as f64).collect()
        }
    }
}

impl Reading<'_> {
    /// All of it.
    pub(super) fn readout(&self) -> Result<Readout, Error> {
        let shares = &self.shares;
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let leading: Vec<usize> = order.iter().copied().filter(|&j| shares[j] > 0.0).take(PAIRED).collect();
        let mut pairs: Vec<(usize, usize, f64)> = (self.pairs)(&leading)?.ranking();
        pairs.retain(|(_, _, share)| *share > LEAST_PAIR_SHARE);
        let moved = &leading[..leading.len().min(EFFECTS)];
        let over: Vec<&(usize, usize, f64)> =
            pairs.iter().filter(|(_, _, share)| *share >= LEAST_SURFACE).take(SURFACES).collect();
        let mut pictured: Vec<usize> =
            moved.iter().copied().chain(over.iter().flat_map(|(first, second, _)| [*first, *second])).collect();
        pictured.sort_unstable();
        pictured.dedup();
        let pair = |&(first, second, share): &(usize, usize, f64)| PairShare {
            first: (self.name)(first),
            second: (self.name)(second),
            share,
        };
        let variable = |j: usize| VariableShare { variable: (self.name)(j), share: shares[j] };
        Ok(Readout {
            quantity: self.quantity,
            effects: moved.iter().map(|&variable| self.effect(variable, &pairs)).collect::<Result<_, _>>()?,
            surfaces: over.iter().map(|pair| self.surface(pair)).collect::<Result<_, _>>()?,
            samples: self.shown_samples(&pictured),
            pairs: pairs.iter().map(pair).collect(),
            relevance: order.into_iter().map(variable).collect(),
        })
    }

    /// Predictions with one variable at some values, some others at values of their own, and all others at their centres.
    fn along(&self, variable: usize, grid: &[f64], beside: Option<(usize, f64)>) -> Result<Vec<ClassCurve>, Error> {
        let column = beside.map(|(other, value)| (other, vec![value; grid.len()]));
        let moved: Vec<(usize, &[f64])> =
            [(variable, grid)].into_iter().chain(column.iter().map(|(other, values)| (*other, &values[..]))).collect();
        let predictions = (self.predict)(&self.ranges.moved(grid.len(), &moved)?)?;
        let curve = |(values, class): (&[f64], &Option<String>)| ClassCurve {
            class: class.clone(),
            predictions: values.to_vec(),
        };
        Ok(predictions.chunks(grid.len()).zip(&self.classes).map(curve).collect())
    }

    fn effect(&self, variable: usize, pairs: &[(usize, usize, f64)]) -> Result<EffectCurve, Error> {
        let grid = self.ranges.grid(variable, POINTS);
        Ok(EffectCurve {
            variable: (self.name)(variable),
            curves: self.along(variable, &grid, None)?,
            partner: self.partner(variable, &grid, pairs)?,
            values: self.measured(variable, grid),
        })
    }

    fn partner(
        &self,
        variable: usize,
        grid: &[f64],
        pairs: &[(usize, usize, f64)],
    ) -> Result<Option<EffectPartner>, Error> {
        let most = pairs.iter().find(|(first, second, _)| *first == variable || *second == variable);
        let most = most.filter(|(_, _, share)| *share >= TOGETHER * self.shares[variable]);
        let Some(other) = most.map(|(first, second, _)| if *first == variable { *second } else { *first }) else {
            return Ok(None);
        };
        let Some((low, high)) = self.ranges.low_and_high(other) else { return Ok(None) };
        let ends = self.measured(other, vec![low, high]);
        Ok(Some(EffectPartner {
            variable: (self.name)(other),
            low: ends[0],
            high: ends[1],
            at_low: self.along(variable, grid, Some((other, low)))?,
            at_high: self.along(variable, grid, Some((other, high)))?,
        }))
    }

    fn surface(&self, &(first, second, share): &(usize, usize, f64)) -> Result<EffectSurface, Error> {
        let [across, up] = [first, second].map(|variable| self.ranges.grid(variable, SIDE));
        let empty = |class: &Option<String>| ClassCurve { class: class.clone(), predictions: Vec::new() };
        let mut surfaces: Vec<ClassCurve> = self.classes.iter().map(empty).collect();
        // A row at a time: a point has all variables of the table.
        for &height in &up {
            let row = self.along(first, &across, Some((second, height)))?;
            surfaces.iter_mut().zip(row).for_each(|(all, row)| all.predictions.extend(row.predictions));
        }
        Ok(EffectSurface {
            first: (self.name)(first),
            second: (self.name)(second),
            share,
            first_values: self.measured(first, across),
            second_values: self.measured(second, up),
            surfaces,
        })
    }

    /// Values of a column as they were measured.
    fn measured(&self, variable: usize, mut values: Vec<f64>) -> Vec<f64> {
        if let Some(ColumnUnits { means, deviations }) = self.units {
            values.iter_mut().for_each(|value| *value = *value * deviations[variable] + means[variable]);
        }
        values
    }

    fn shown_samples(&self, variables: &[usize]) -> Option<ShownSamples> {
        let (x, targets) = self.samples.as_ref()?;
        let (all, count) = (x.samples(), x.samples().min(SAMPLES));
        let rows: Vec<usize> = (0..count).map(|at| at * all / count).collect();
        let mut column = vec![0.0; all];
        let mut values = |&variable: &usize| {
            x.column_into(variable, &mut column);
            let values = self.measured(variable, rows.iter().map(|&row| column[row]).collect());
            SampleValues { variable: (self.name)(variable), values }
        };
        Some(ShownSamples {
            variables: variables.iter().map(&mut values).collect(),
            targets: rows.iter().filter_map(|&row| targets.get(row).copied()).collect(),
            rows: rows.iter().map(|row| row + 1).collect(),
        })
    }
}
