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
};
use crate::{
    Error, Fit, Spec, Target, Unobserved,
    error::{Parameter, names},
    fit::{Assessment, Residuals},
    solver::Mean,
};

/// Members of a mixture with less weight are left out of it.
const LEAST_WEIGHT: f64 = 0.03;

/// A loss that is at most this share of that of the constant is none: what is left of targets without noise by the tolerance of a fit.
const EXACT: f64 = 1e-8;

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

/// What was chosen: the weight of every contender, and the loss that is to be expected.
struct Chosen {
    verdict: Verdict,
    weights: Vec<f64>,
    loss: ExpectedLoss,
    assessment: Option<Assessment>,
}

impl Choosing<'_, '_> {
    /// The model of the contenders that are chosen, fitted to all samples.
    pub(super) fn model(self, auto: &Auto) -> Result<AutoModel, Error> {
        let Chosen { verdict, weights, loss, assessment } = self.chosen();
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
        let predictions = self.mixed(&weights);
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

    /// The rule.
    fn chosen(&self) -> Chosen {
        let scoring = &self.set.scoring;
        let losses: Vec<Option<Vec<f64>>> = self.contenders.iter().map(|contender| self.losses(contender)).collect();
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
        let only = |at: usize| (0..means.len()).map(|other| f64::from(u8::from(other == at))).collect::<Vec<f64>>();
        let claimed = |at: usize| self.contenders[at].claimed.unwrap_or(f64::INFINITY);
        let terms = (0..means.len()).fold(0, |best, at| if claimed(at) < claimed(best) { at } else { best });
        let evidence = claimed(terms) < value(0);
        // Where both are exact, the terms can be read.
        if claimed(terms) < value(best).max(EXACT * value(0)) {
            let loss = ExpectedLoss::Claimed(claimed(terms));
            let assessment = self.assessed(&losses, terms, None, evidence);
            return Chosen { verdict: Verdict::Terms, weights: only(terms), loss, assessment };
        }
        let weights = self.mixture_weights();
        if let (Some(mixed), Some(of_best)) = (self.mixed(&weights), &losses[best]) {
            let of_mixture = scoring.losses(&mixed);
            let gains: Vec<f64> = of_best.iter().zip(&of_mixture).map(|(best, mixed)| best - mixed).collect();
            let gain = scoring.mean(&gains);
            if gain.value > gain.standard_error {
                let loss = ExpectedLoss::HeldOut(scoring.mean(&of_mixture));
                let assessment = self.assessed(&losses, best, Some(&mixed), evidence);
                if assessment.as_ref().is_some_and(|found| found.better) {
                    return Chosen { verdict: Verdict::Mixture, weights, loss, assessment };
                }
            }
        }
        // What is no better than the constant by more than the best of so many would be by chance is no discovery.
        let second = (2..means.len()).fold(1, |best, at| if value(at) < value(best) { at } else { best });
        let assessment = self.assessed(&losses, if best == 0 { second } else { best }, None, evidence);
        let best = if assessment.as_ref().is_some_and(|found| found.better) { best } else { 0 };
        let verdict = match &self.contenders[best].blueprint {
            Blueprint::Constant => Verdict::Constant,
            Blueprint::Terms(_) => Verdict::Terms,
            Blueprint::Dense { .. } => Verdict::One,
        };
        let loss = means[best].expect("the constant has a loss, and the best is no worse");
        Chosen { verdict, weights: only(best), loss: ExpectedLoss::HeldOut(loss), assessment }
    }

    /// The weights of the best mixture of all contenders that have predicted held-out samples.
    fn mixture_weights(&self) -> Vec<f64> {
        let known: Vec<&[f64]> =
            self.contenders.iter().filter_map(|contender| contender.predictions.as_deref()).collect();
        let mut found = mixture(&self.set.scoring, &known);
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
                let fit = Fit::new(&spec)?.with_account(set.account.clone());
                let x = units.apply(set.x)?;
                let model = fit.run(&x, set.target, set.sample_weight, &mut Unobserved)?;
                MemberKind::Dense(Box::new(DenseMember { units: units.clone(), spec, x, model }))
            }
        };
        Ok(AutoMember { recipe: contender.recipe.clone(), weight, kind })
    }
}
