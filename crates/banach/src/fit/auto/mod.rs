//! The automatic choice: everything that can be afforded is tried, and held-out samples decide.

mod assessed;
mod choice;
mod contender;
mod effects;
mod expected;
mod explanation;
mod gamma_search;
mod learning_set;
mod mixing;
mod model;
mod plan;
mod ranges;
#[cfg(test)]
mod readout_laws;
mod relevance;
mod rounds;
mod scoring;
#[cfg(test)]
mod tests;
mod validation;

use std::{ops::ControlFlow, time::Instant};

use serde::{Deserialize, Serialize};

pub use choice::Verdict;
pub use contender::{ContenderScore, Recipe, products};
pub use effects::AutoEffect;
pub use explanation::{AutoExplanation, ContributionSource, PartialContribution};
pub use model::{AutoMember, AutoModel, AutoRecord, DenseMember, ExpectedLoss, MemberKind, TermsStanding};
pub use ranges::VariableRanges;
pub(crate) use relevance::{LEAST_PAIR_SHARE, pairs_of_terms, term_shares, variables_of_terms};

use self::{
    choice::Choosing, contender::Contender, expected::expected, learning_set::LearningSet, model::INTERRUPTED,
    plan::planned, validation::Trial,
};
use super::{HoldOut, Target, Task};
use crate::{
    Account, Error, FeatureMatrix,
    error::{Parameter, names},
    form::Prediction,
    solver::Folds,
};

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Linear functions, Gauss's kernel and few terms of the variables.
    Quick,
    /// Also ranks, products, lengths and relevance of every variable, as far as they cost seconds.
    #[default]
    Normal,
    /// Also what costs minutes, and finer grids.
    Thorough,
}

names! {
    Effort, Parameter::Effort, "quick, normal or thorough";
    Quick "quick", Normal "normal", Thorough "thorough"
}

/// The automatic choice of a model.
///
/// Contenders of very different kinds are fitted to the samples outside of folds: linear functions with dense and with sparse weights,
/// Gauss's kernel with one length and with a length for every variable, of values and of ranks, products of variables, and the few terms that evidence names. Whatever
/// a contender learns (units of the columns, lengths, relevance, terms) it learns again without each fold. Then
///
/// - the few terms are the model where their evidence claims a smaller error than the best of the others has on held-out samples;
/// - else a mixture with weights that minimise the held-out error, where that gains more than its standard error over the best one;
/// - else the best one. A constant is one of them: where nothing is better, the model says so.
///
/// ```
/// use banach::{Account, FeatureMatrix, Memory, Target, fit::Auto};
///
/// // A wave of one variable, and one that does not matter.
/// let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
/// let x: Vec<f64> = (0..60 * 2).map(|k| jumble(k + 1)).collect();
/// let y: Vec<f64> = (0..60).map(|i| (4.0 * x[i]).sin()).collect();
/// let (x, y) = (FeatureMatrix::from_columns(60, 2, x)?, Target::from(&y));
///
/// let model = Auto::default().fit(&x, &y, None, &Account::new(Memory::available()))?;
/// assert!(model.record().error() < 0.1, "{model}");
/// println!("{model}");
/// # Ok::<(), banach::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auto {
    /// How much is tried.
    pub effort: Effort,
    /// No contender is begun after this many seconds; then the model depends on the speed of the machine. One that is predicted to take longer
    /// than its effort allows is tried if these allow it.
    pub seconds: Option<f64>,
    /// What deals the samples to the folds.
    pub seed: u64,
}

/// Where an automatic choice stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoProgress<'a> {
    /// What is tried now.
    pub recipe: &'a Recipe,
    /// The share of the work that is done, by its predicted cost.
    pub done: f64,
    /// What everything is expected to take.
    pub expected: &'a Prediction,
}

/// Watches an automatic choice and may end it.
pub type WatchAuto<'w> = dyn FnMut(AutoProgress<'_>) -> ControlFlow<()> + 'w;

impl Auto {
    /// The model of the targets, with optional weights of samples, within the memory of an account.
    pub fn fit(
        &self,
        x: &FeatureMatrix<'_>,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        account: &Account,
    ) -> Result<AutoModel, Error> {
        self.run(x, target, sample_weight, None, account, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`fit`](Self::fit), watched, with folds of the caller's, each of whose samples is held out at most once. When it is ended, the
    /// contenders that are finished have been all.
    pub fn run(
        &self,
        x: &FeatureMatrix<'_>,
        target: &Target<'_>,
        sample_weight: Option<&[f64]>,
        folds: Option<&Folds>,
        account: &Account,
        watch: &mut WatchAuto<'_>,
    ) -> Result<AutoModel, Error> {
        let (begun, limit) = (Instant::now(), self.limit()?);
        let set = LearningSet::new(x, target, sample_weight, account, self.folds(x, target, folds)?)?;
        let plan = planned(self.effort, self.seconds, &set);
        let whole: f64 = plan.tried.iter().map(|step| step.seconds).sum();
        let expected = expected(&plan.tried, &set).within(limit);
        let (mut contenders, mut left_out, mut done) = (vec![Contender::constant(&set)], plan.left_out, 0.0);
        for step in &plan.tried {
            if begun.elapsed().as_secs_f64() > limit {
                left_out.push((step.recipe.clone(), format!("the limit of {limit} s was reached")));
                continue;
            }
            let mut watched = |share: f64| {
                let done = (done + share * step.seconds) / whole;
                watch(AutoProgress { recipe: &step.recipe, done, expected: &expected })
            };
            // Whoever watches is told what is tried, and how long everything takes, before it begins.
            if watched(0.0).is_break() {
                left_out.push((step.recipe.clone(), INTERRUPTED.to_owned()));
                break;
            }
            let mut trial = Trial::new(&set, self.effort, &mut watched);
            let started = Instant::now();
            match step.recipe.contenders(&mut trial, &contenders) {
                Ok(found) => {
                    let seconds = started.elapsed().as_secs_f64() / found.len() as f64;
                    contenders.extend(found.into_iter().map(|contender| Contender { seconds, ..contender }));
                }
                Err(error) => left_out.push((step.recipe.clone(), error.to_string())),
            }
            if trial.is_ended() {
                left_out.push((step.recipe.clone(), INTERRUPTED.to_owned()));
                break;
            }
            done += step.seconds;
        }
        Choosing { set: &set, contenders, left_out }.model(self)
    }

    fn limit(&self) -> Result<f64, Error> {
        let limit = self.seconds.unwrap_or(f64::INFINITY);
        Parameter::Seconds.check(limit, limit > 0.0, "a number > 0")?;
        Ok(limit)
    }

    /// The folds that were given, or those of the choice itself.
    fn folds(&self, x: &FeatureMatrix<'_>, target: &Target<'_>, given: Option<&Folds>) -> Result<Folds, Error> {
        let usual = HoldOut { among_many: true, seed: self.seed, ..HoldOut::default() };
        given.map_or_else(|| usual.folds(target, x.samples()), |folds| Ok(folds.clone()))
    }
}

/// Whether an automatic choice can be made: one number, or classes.
fn check_task(task: &Task) -> Result<(), Error> {
    match task {
        Task::Numbers(outputs) if *outputs != 1 => Err(Error::Parameter {
            parameter: Parameter::Target,
            got: format!("{outputs} outputs"),
            allowed: "one number for every sample, or classes; fit a model to each output",
        }),
        _ => Ok(()),
    }
}
