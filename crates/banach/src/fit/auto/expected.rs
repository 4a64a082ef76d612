//! How long what is tried is expected to take.

use super::{
    contender::Recipe,
    gamma_search::{FINALISTS, LEAST_LEFT_OUT, TOGETHER},
    learning_set::LearningSet,
    plan::{MOST_EXPONENTIAL, PlannedRecipe, SECONDS_OF_CLASSES, SECONDS_OF_NUMBERS, SECONDS_OF_RANK},
    validation::TOLERANCE,
};
use crate::{
    Error, Fit, Spec,
    fit::planned_fits::predicted_here,
    form::{Prediction, Rates},
};

/// Gammas for each parameter, about.
const GAMMAS: f64 = 14.0;
/// Gammas around the one that is best without each sample.
const GAMMAS_NEAR: f64 = 6.0;
/// Evaluations of a marginal likelihood and its gradient for the lengths of one lane, and operations of the gradient for each pair of samples
/// and variable.
const LIKELIHOODS: f64 = 150.0;
const OPERATIONS_OF_GRADIENT: f64 = 20.0;
/// Seconds of a search for few terms, besides those for every monomial.
const SECONDS_OF_TERMS: f64 = 0.03;

/// What all that is tried is expected to take here.
pub(super) fn expected(tried: &[PlannedRecipe], set: &LearningSet<'_>) -> Prediction {
    predicted_here(|rates| {
        let seconds = tried.iter().map(|step| seconds(&step.recipe, set, rates).unwrap_or(0.0));
        Prediction::of_seconds(seconds.sum())
    })
}

/// The seconds that one recipe is expected to take.
fn seconds(recipe: &Recipe, set: &LearningSet<'_>, rates: &Rates) -> Result<f64, Error> {
    let (n, d) = (set.x.samples() as f64, set.all().units.columns().len());
    let (lanes, functions) = (set.lanes.len() as f64, set.task.functions() as f64);
    Ok(match recipe {
        Recipe::Constant => 0.0,
        Recipe::Gauss { ranks: true } => {
            seconds(&Recipe::Gauss { ranks: false }, set, rates)? + lanes * n * d as f64 * SECONDS_OF_RANK
        }
        Recipe::Lengths { .. } => {
            let gradient = OPERATIONS_OF_GRADIENT * n * n * d.min(MOST_EXPONENTIAL) as f64 / rates.product;
            // The inverse takes three times as much as the factor.
            lanes * LIKELIHOODS * (4.0 * rates.factorisation(n, 1.0) + gradient)
        }
        Recipe::Terms { degree } => {
            let monomials = if *degree == 1 { d as f64 } else { d as f64 * (d as f64 + 3.0) / 2.0 };
            let rate = if set.scoring.numbers().is_some() { SECONDS_OF_NUMBERS } else { SECONDS_OF_CLASSES };
            lanes * functions * (SECONDS_OF_TERMS + rate * n * monomials)
        }
        Recipe::Linear { .. } | Recipe::Products { .. } | Recipe::Relevance { .. } | Recipe::Gauss { .. } => {
            let options = recipe.options(set)?;
            let spec = options.first().ok_or(Error::Empty { what: "what is tried" })?;
            let x = set.seen_by(spec.p)?.last().expect("there is a lane of all samples");
            // Every lane has units of its own, and so a form of its own.
            let fit = Fit::within(&Spec { tolerance: TOLERANCE, ..spec.clone() }, set.account.clone())?;
            let few = fit.planned(x, set.task.functions(), TOGETHER)?.prediction(rates);
            let gammas = |count: f64| few.setup + count / TOGETHER as f64 * (few.seconds - few.setup);
            let options = options.len() as f64;
            if let Recipe::Relevance { round: rounds @ 1.., .. } = recipe {
                // All sizes in the first round, and then a size and its neighbours.
                return Ok(lanes * (options + options.min(3.0) * (*rounds as f64 + 1.0)) * gammas(GAMMAS));
            }
            if spec.p < LEAST_LEFT_OUT || !set.folds.is_exchangeable() {
                return Ok(lanes * options * gammas(GAMMAS));
            }
            // The best without each sample, of which the folds choose one.
            let left_out = gammas(GAMMAS) + GAMMAS * functions * 4.0 * rates.factorisation(n, 1.0);
            options * left_out + lanes * options.min(FINALISTS as f64) * gammas(GAMMAS_NEAR)
        }
    })
}
