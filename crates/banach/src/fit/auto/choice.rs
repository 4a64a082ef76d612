//! Which contenders make the model.

use serde::{Deserialize, Serialize};

use super::{
    Auto, AutoModel,
    contender::{Blueprint, Contender, ContenderScore, Recipe},
    learning_set::LearningSet,
    mixing::mixture,
    model::{AutoMember, AutoRecord, DenseMember, ExpectedLoss, MemberKind},
    ranges::VariableRanges,
    relevance::term_shares,
    scoring::Scoring,
};
use crate::{
    Error, Fit, Spec, Target, Unobserved,
    error::{Parameter, names},
    fit::{Assessment, Residuals, assessment::MUCH_WORSE},
    solver::Mean,
};

/// Members of a mixture with less weight are left out of it.
const LEAST_WEIGHT: f64 = 0.03;

/// A loss that is at most this share of that of the constant is none: what is left of targets without noise by the tolerance of a fit.
pub(super) const EXACT: f64 = 1e-8;

/// What the model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A constant: nothing predicts held-out samples better.
    Constant,
    /// The few terms that evidence names.
    Terms,
    /// The contender that predicts held-out samples best.
    One,
    /// A mixture of several.
    Mixture,
}

names! {
    Verdict, Parameter::Status, "constant, terms, one or mixture";
    Constant "constant", Terms "terms", One "one", Mixture "mixture"
}

/// The choice among contenders, of which the first is the constant.
pub(super) struct Choosing<'c, 'a> {
    pub set: &'c LearningSet<'a>,
    pub contenders: Vec<Contender>,
    pub left_out: Vec<(Recipe, String)>,
}

/// What the rule says: the weight of every contender, and the loss that evidence claims where that has decided.
pub(super) struct Ruling {
    pub verdict: Verdict,
    pub weights: Vec<f64>,
    claimed: Option<f64>,
}

/// What was chosen, and what it predicts of held-out samples.
struct Chosen {
    ruling: Ruling,
    predictions: Option<Vec<f64>>,
    loss: ExpectedLoss,
    assessment: Option<Assessment>,
}

impl Choosing<'_, '_> {
    /// The model of the contenders that are chosen, fitted to all samples.
    pub(super) fn model(self, auto: &Auto) -> Result<AutoModel, Error> {
        let Chosen { ruling: Ruling { verdict, weights, .. }, predictions, loss, assessment } = self.chosen();
        let set = self.set;
        let standing = |(contender, weight): (&Contender, &f64)| ContenderScore {
            recipe: contender.recipe.clone(),
            loss: self.losses(contender).map(|losses| set.scoring.mean(&losses)).or(contender.behind),
            claimed: contender.claimed,
            accuracy: contender.predictions.as_ref().and_then(|found| set.scoring.accuracy(found)),
            weight: *weight,
            seconds: contender.seconds,
        };
        let standings = self.contenders.iter().zip(&weights).map(standing).collect();
        let members = self.contenders.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let members = members.map(|(contender, weight)| self.member(contender, *weight)).collect::<Result<_, _>>()?;
        let terms = self.contenders.iter().filter_map(|contender| match &contender.blueprint {
            Blueprint::Terms(model) => Some((contender, model)),
            _ => None,
        });
        let claimed = |contender: &Contender| contender.claimed.unwrap_or(f64::INFINITY);
        let terms = terms.min_by(|a, b| claimed(a.0).total_cmp(&claimed(b.0))).map(|(contender, model)| {
            let known = contender.predictions.as_ref().filter(|_| set.covers_all());
            (**model).clone().with_residuals(known.and_then(|predictions| self.residuals(predictions)))
        });
        let constant_loss = set.scoring.mean(&self.losses(&self.contenders[0]).unwrap_or_default()).value;
        let known = predictions.as_ref().filter(|_| set.covers_all());
        let residuals = known.and_then(|predictions| self.residuals(predictions));
        let record = AutoRecord {
            auto: auto.clone(),
            task: set.task.clone(),
            samples: set.x.samples(),
            variables: set.x.features(),
            verdict,
            loss,
            constant_loss,
            accuracy: predictions.as_ref().and_then(|found| set.scoring.accuracy(found)),
            // Folds forward in time leave samples that no model has predicted without them.
            held_out: predictions.filter(|_| set.covers_all()),
            residuals,
            standings,
            left_out: self.left_out,
            terms,
            assessment,
        };
        let ranges = VariableRanges::new(set.x, &set.all().weights, &set.all().units);
        AutoModel::new(record, members, ranges)
    }

    /// How far predictions of held-out numbers are off, where the samples count.
    fn residuals(&self, predictions: &[f64]) -> Option<Residuals> {
        let Target::Numbers(outputs) = self.set.target else { return None };
        let (y, weights) = (outputs.first()?, &self.set.all().weights);
        let pairs = y.iter().zip(predictions).zip(weights).filter(|(_, weight)| **weight > 0.0);
        Residuals::of(&[pairs.map(|((y, prediction), _)| (*y, *prediction)).collect()])
    }

    fn losses(&self, contender: &Contender) -> Option<Vec<f64>> {
        contender.predictions.as_ref().map(|found| self.set.scoring.losses(found))
    }

    /// What the rule says of all held-out samples, unless a linear function or the constant predicts them better than what it says without
    /// each fold. Terms that evidence names need only not to be [much worse](MUCH_WORSE) than the constant.
    fn chosen(&self) -> Chosen {
        let scoring = &self.set.scoring;
        let value = |predictions: &[f64]| scoring.mean(&scoring.losses(predictions)).value;
        let own = |at: usize| self.contenders[at].predictions.as_deref().map_or(f64::INFINITY, value);
        let is_simple = |at: &usize| matches!(self.contenders[*at].recipe, Recipe::Constant | Recipe::Linear { .. });
        let simple = (0..self.contenders.len()).filter(is_simple).reduce(|a, b| if own(b) < own(a) { b } else { a });
        let simple = simple.expect("there is always a constant");
        let mut ruling = self.ruling(scoring);
        let mut predictions = self.without_each_fold(&ruling);
        // Terms that folds cannot see predict what a constant does; where the best is exact, differences are those of rounding.
        let most = if ruling.claimed.is_some() { MUCH_WORSE * own(0) } else { own(simple).max(EXACT * own(0)) };
        if predictions.as_ref().is_some_and(|found| value(found) > most) {
            ruling = self.only(simple);
            predictions = self.mixed(&ruling.weights);
        }
        let held_out = predictions.as_ref().map(|found| scoring.mean(&scoring.losses(found)));
        let loss = match (ruling.claimed, held_out) {
            (Some(claimed), _) => ExpectedLoss::Claimed(claimed),
            (None, Some(loss)) => ExpectedLoss::HeldOut(loss),
            (None, None) => ExpectedLoss::HeldOut(Mean { value: own(0), standard_error: 0.0 }),
        };
        let assessment = self.assessed(&ruling, predictions.as_deref());
        Chosen { ruling, predictions, loss, assessment }
    }

    /// What the rule predicts of every fold if it has seen the losses on the others alone: the choice itself learns from held-out samples, and
    /// is a little too good on those. The same as what was chosen predicts, where there are no other folds.
    fn without_each_fold(&self, ruling: &Ruling) -> Option<Vec<f64>> {
        let mut whole = self.mixed(&ruling.weights)?;
        let (set, n) = (self.set, self.set.x.samples());
        for fold in set.folds.held_out() {
            let mut absent = vec![false; n];
            fold.iter().for_each(|&i| absent[i] = true);
            let others: Vec<usize> = (0..n).filter(|&i| !absent[i] && set.scoring.weights()[i] > 0.0).collect();
            if others.len() < 2 {
                continue;
            }
            let found = self.mixed(&self.ruling(&set.scoring.among(&others)).weights)?;
            for (whole, found) in whole.chunks_mut(n).zip(found.chunks(n)) {
                fold.iter().for_each(|&i| whole[i] = found[i]);
            }
        }
        Some(whole)
    }

    /// One contender alone.
    fn only(&self, at: usize) -> Ruling {
        let verdict = match &self.contenders[at].blueprint {
            Blueprint::Constant => Verdict::Constant,
            Blueprint::Terms(_) => Verdict::Terms,
            Blueprint::Dense { .. } => Verdict::One,
        };
        let weights = (0..self.contenders.len()).map(|other| f64::from(u8::from(other == at))).collect();
        Ruling { verdict, weights, claimed: None }
    }

    /// The rule, by the losses on some samples.
    fn ruling(&self, scoring: &Scoring) -> Ruling {
        let losses: Vec<Option<Vec<f64>>> = self
            .contenders
            .iter()
            .map(|contender| contender.predictions.as_ref().map(|found| scoring.losses(found)))
            .collect();
        let means: Vec<Option<Mean>> =
            losses.iter().map(|found| found.as_ref().map(|found| scoring.mean(found))).collect();
        let value = |at: usize| means[at].map_or(f64::INFINITY, |mean| mean.value);
        // Of equal ones the first, which is the simplest.
        let best = (1..means.len()).fold(0, |best, at| if value(at) < value(best) { at } else { best });
        // Few terms win a tie: they can be read.
        let ties = |at: &usize| {
            let (Some(own), Some(of_best)) = (&losses[*at], &losses[best]) else { return false };
            let worse: Vec<f64> = own.iter().zip(of_best).map(|(own, best)| own - best).collect();
            let worse = scoring.mean(&worse);
            self.contenders[*at].recipe.is_terms() && worse.value <= worse.standard_error
        };
        let tied = (0..means.len()).filter(ties).reduce(|a, b| if value(b) < value(a) { b } else { a });
        let best = tied.unwrap_or(best);
        // Where both are exact, the terms can be read.
        let (terms, claimed) = self.claims();
        if claimed < value(best).max(EXACT * value(0)) {
            return Ruling { claimed: Some(claimed), ..self.only(terms) };
        }
        let weights = self.mixture_weights(scoring);
        if let (Some(mixed), Some(of_best)) = (self.mixed(&weights), &losses[best]) {
            let of_mixture = scoring.losses(&mixed);
            let gains: Vec<f64> = of_best.iter().zip(&of_mixture).map(|(best, mixed)| best - mixed).collect();
            let gain = scoring.mean(&gains);
            if gain.value > gain.standard_error {
                return Ruling { verdict: Verdict::Mixture, weights, claimed: None };
            }
        }
        self.only(best)
    }

    /// The terms whose evidence claims the least loss, and that loss.
    pub(super) fn claims(&self) -> (usize, f64) {
        let claimed = |at: usize| self.contenders[at].claimed.unwrap_or(f64::INFINITY);
        let terms = (0..self.contenders.len()).fold(0, |best, at| if claimed(at) < claimed(best) { at } else { best });
        (terms, claimed(terms))
    }

    /// The weights of the best mixture of all contenders that have predicted held-out samples.
    fn mixture_weights(&self, scoring: &Scoring) -> Vec<f64> {
        let known: Vec<&[f64]> =
            self.contenders.iter().filter_map(|contender| contender.predictions.as_deref()).collect();
        let mut found = mixture(scoring, &known);
        found.iter_mut().filter(|weight| **weight < LEAST_WEIGHT).for_each(|weight| *weight = 0.0);
        let sum: f64 = found.iter().sum();
        let mut found = found.into_iter();
        let weight = |contender: &Contender| match contender.predictions {
            Some(_) => found.next().unwrap_or(0.0) / sum,
            None => 0.0,
        };
        self.contenders.iter().map(weight).collect()
    }

    /// The held-out predictions of a mixture; `None` if one of its members has none.
    fn mixed(&self, weights: &[f64]) -> Option<Vec<f64>> {
        let mut sum: Option<Vec<f64>> = None;
        for (contender, weight) in self.contenders.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
            let predictions = contender.predictions.as_ref()?;
            let sum = sum.get_or_insert_with(|| vec![0.0; predictions.len()]);
            sum.iter_mut().zip(predictions).for_each(|(sum, prediction)| *sum += weight * prediction);
        }
        sum
    }

    fn member(&self, contender: &Contender, weight: f64) -> Result<AutoMember, Error> {
        let set = self.set;
        let kind = match &contender.blueprint {
            Blueprint::Constant => MemberKind::Constant(set.scoring.constant(&set.all().weights)),
            Blueprint::Terms(model) => {
                let shares = term_shares(model, set.x, &set.all().weights)?;
                MemberKind::Terms { shares, model: (**model).clone() }
            }
            Blueprint::Dense { units, spec } => {
                let spec = Spec { tolerance: Spec::default().tolerance, ..(**spec).clone() };
                let fit = Fit::within(&spec, set.account.clone())?;
                let x = units.apply(set.x)?;
                let model = fit.run(&x, set.target, set.sample_weight, &mut Unobserved)?;
                MemberKind::Dense(Box::new(DenseMember { units: units.clone(), spec, x, model }))
            }
        };
        Ok(AutoMember { recipe: contender.recipe.clone(), weight, kind })
    }
}
