//! What is tried, in which order, and what of it cannot be afforded.

use super::{Effort, contender::Recipe, learning_set::LearningSet};
use crate::{
    Error, Exponent, FeatureMatrix, Fit, Route, Search, Spec,
    error::Parameter,
    fit::{KernelSpace, search::exponential_degrees},
    kernel::{KernelName, MonomialScale},
};

/// The most variables of which products of every degree are made.
pub(super) const MOST_EXPONENTIAL: usize = 50;
/// The most [variables of all functions](exact_zeros) for which p = 1 costs about a second.
const MOST_EXACT_ZEROS: f64 = 2e4;
/// A function that tells classes costs as much as so many of numbers at p = 1.
const COST_OF_CLASSES: f64 = 4.0;
/// Operations of a factorisation in a second.
const FACTOR_RATE: f64 = 30e9;
/// Seconds of a search for few terms, and those for every entry of the matrix of all monomials, of numbers and of classes: measured at
/// 90 x 211,575 and 100 x 282,000.
const SECONDS_OF_SEARCH: f64 = 0.2;
pub(super) const SECONDS_OF_NUMBERS: f64 = 2e-8;
pub(super) const SECONDS_OF_CLASSES: f64 = 3e-7;
/// Seconds of the rank of a value.
pub(super) const SECONDS_OF_RANK: f64 = 3e-8;
/// Gammas for each parameter, about.
const GAMMAS: f64 = 12.0;

/// A recipe, and the seconds that it may take: those of fits that are hard. By these it is tried or left out, and by these it counts in what
/// is done; what it is expected to take is less ([`expected`](super::expected::expected)).
#[derive(Debug)]
pub(super) struct PlannedRecipe {
    pub recipe: Recipe,
    pub seconds: f64,
}

/// What is tried, and what is not, with the reason.
#[derive(Debug)]
pub(super) struct AutoPlan {
    pub tried: Vec<PlannedRecipe>,
    pub left_out: Vec<(Recipe, String)>,
}

impl Effort {
    /// The seconds that a recipe may be predicted to take.
    fn seconds(self) -> f64 {
        match self {
            Self::Quick => 3.0,
            Self::Normal => 30.0,
            Self::Thorough => 1000.0,
        }
    }

    /// The most monomials among which few terms are looked for.
    fn most_monomials(self) -> f64 {
        match self {
            Self::Quick => 3e4,
            Self::Normal => 2e6,
            Self::Thorough => 1e8,
        }
    }

    /// The recipes, the ones that others build on first.
    fn recipes(self) -> Vec<Recipe> {
        let linear = [2.0, 4.0 / 3.0, 1.1, 1.02].map(|p| Recipe::Linear { p });
        let products = |p: f64| Recipe::Products { p, monomials: MonomialScale::Raw };
        let standardized = |p: f64| Recipe::Products { p, monomials: MonomialScale::Standardized };
        let mut recipes = linear.to_vec();
        if self != Self::Quick {
            recipes.push(Recipe::Linear { p: 1.0 });
        }
        recipes.push(Recipe::Gauss { ranks: false });
        if self != Self::Quick {
            recipes.push(Recipe::Gauss { ranks: true });
            recipes.extend([false, true].map(|ranks| Recipe::Lengths { ranks }));
            recipes.push(Recipe::Relevance { p: 4.0 / 3.0, round: 0 });
            recipes.push(Recipe::Relevance { p: 1.1, round: 3 });
            recipes.extend([products(1.1), standardized(1.1)]);
        }
        if self == Self::Thorough {
            recipes.extend([products(4.0 / 3.0), products(1.02), standardized(1.02)]);
        }
        recipes.extend([1, 2].map(|degree| Recipe::Terms { degree }));
        recipes
    }
}

/// What is tried with this effort, or by whoever has more seconds than it would spend on a recipe.
pub(super) fn planned(effort: Effort, given: Option<f64>, set: &LearningSet<'_>) -> AutoPlan {
    let most = given.map_or(effort.seconds(), |given| effort.seconds().max(given));
    let mut plan = AutoPlan { tried: Vec::new(), left_out: Vec::new() };
    if set.lanes.iter().any(|lane| lane.units.columns().is_empty()) {
        return plan;
    }
    for recipe in effort.recipes() {
        match seconds(&recipe, effort, set) {
            Ok(seconds) if seconds <= most => plan.tried.push(PlannedRecipe { recipe, seconds }),
            Ok(seconds) => plan.left_out.push((recipe, format!("it would take about {seconds:.0} s"))),
            Err(error) => plan.left_out.push((recipe, error.to_string())),
        }
    }
    plan
}

/// The seconds that a recipe may take, as far as can be told before.
fn seconds(recipe: &Recipe, effort: Effort, set: &LearningSet<'_>) -> Result<f64, Error> {
    let (n, d) = (set.x.samples() as f64, set.all().units.columns().len());
    let (lanes, functions) = (set.lanes.len() as f64, set.task.functions() as f64);
    let refused =
        |allowed: &'static str| Error::Parameter { parameter: Parameter::Columns, got: d.to_string(), allowed };
    match recipe {
        Recipe::Constant => Ok(0.0),
        Recipe::Linear { p: 1.0 } if effort != Effort::Thorough && exact_zeros(d, set) > MOST_EXACT_ZEROS => {
            Err(refused("fewer, for exact zeros with this effort; p = 1.02 is near"))
        }
        Recipe::Relevance { .. } if d > MOST_EXPONENTIAL => Err(refused("at most 50, for products of every degree")),
        Recipe::Gauss { ranks: true } | Recipe::Lengths { ranks: true } if !set.has_ranks() => {
            Err(refused("dense columns, one of them with more than two values, for ranks"))
        }
        Recipe::Gauss { ranks: true } => {
            let of_values = seconds(&Recipe::Gauss { ranks: false }, effort, set)?;
            Ok(of_values + lanes * n * d as f64 * SECONDS_OF_RANK)
        }
        Recipe::Lengths { .. } if functions > 1.0 => Err(Error::Parameter {
            parameter: Parameter::Target,
            got: format!("{functions} classes"),
            allowed: "numbers or two classes, for lengths",
        }),
        Recipe::Lengths { .. } => {
            Ok(lanes * 300.0 * (n.powi(3) / FACTOR_RATE + n * n * d.min(MOST_EXPONENTIAL) as f64 / 1e9))
        }
        Recipe::Terms { degree } => {
            let monomials = if *degree == 1 { d as f64 } else { d as f64 * (d as f64 + 3.0) / 2.0 };
            if monomials > effort.most_monomials() {
                return Err(refused("fewer, for terms of products with this effort"));
            }
            let rate = if set.scoring.numbers().is_some() { SECONDS_OF_NUMBERS } else { SECONDS_OF_CLASSES };
            Ok(lanes * functions * (SECONDS_OF_SEARCH + rate * n * monomials))
        }
        _ => {
            let options = recipe.options(set)?;
            let spec = options.first().ok_or(Error::Empty { what: "what is tried" })?;
            let seen = set.seen_by(spec.p)?;
            let x = seen.last().expect("there is a lane of all samples");
            let plan = Fit::within(spec, set.account.clone())?.plan(x, functions as usize)?;
            let steps = if spec.p == 2.0 && functions == 1.0 && set.scoring.numbers().is_some() { 1.0 } else { 8.0 };
            let listed = !matches!(plan.chosen(), Route::Gram | Route::Streamed);
            let side = plan.monomials().filter(|_| listed).map_or(n, |features| n.min(features));
            let factors = steps * n * side * side / 3.0 / FACTOR_RATE;
            let rounds = if let Recipe::Relevance { round, .. } = recipe { *round as f64 + 1.0 } else { 1.0 };
            let gammas = GAMMAS * options.len() as f64;
            Ok(rounds * lanes * (gammas * (functions * factors + plan.cost().total) + plan.cost().setup))
        }
    }
}

/// The variables of all functions, by what they cost at p = 1.
fn exact_zeros(d: usize, set: &LearningSet<'_>) -> f64 {
    let cost = if set.scoring.numbers().is_some() { 1.0 } else { COST_OF_CLASSES };
    cost * d as f64 * set.task.functions() as f64
}

/// The exp kernel with the scales that suit these samples.
pub(super) fn exponential_options(
    set: &LearningSet<'_>,
    x: &FeatureMatrix<'_>,
    spec: &Spec,
) -> Result<Vec<Spec>, Error> {
    let exponent = Exponent::new(spec.p)?;
    // At p = 2 a matrix of all pairs of samples has every degree.
    let degrees = exponential_degrees(exponent, spec.p == 2.0, x.features()).into_iter().collect();
    let kernel =
        KernelSpace::Named { name: KernelName::Exp, degrees, coef0: None, scales: Vec::new(), normalize: None };
    let search = Search { exponents: vec![spec.p], ..Search::new(kernel) };
    Ok(search.options(spec, x, set.sample_weight)?.into_iter().map(|option| option.spec).collect())
}
