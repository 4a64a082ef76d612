//! What held-out samples say, and what was chosen by them.

use serde::Serialize;

use super::{HeldOut, Note};
use crate::{
    Error, Loss, Target,
    fit::{Assessment, Candidate, Searched, Tried},
    solver::{Choice, Metric},
};

/// The candidates, and which was taken.
#[derive(Debug, Clone, Serialize)]
pub struct Validation {
    /// How many parts of the samples were held out, one after the other.
    pub folds: usize,
    /// What scores are.
    pub metric: Metric,
    /// How one candidate was taken.
    pub rule: ChoiceRule,
    /// The combinations of p and kernel that were tried, where there are several.
    pub searched: Vec<Combination>,
    /// Every gamma of the combination that was taken.
    pub candidates: Vec<Candidate>,
    /// The index of the one that was taken; none if nothing was finished.
    pub chosen: Option<usize>,
    /// Fits of each candidate.
    pub fits: usize,
    /// Whether the best gamma is the first or last of several.
    pub at_end: bool,
    /// The samples that were held out, at the gamma that was taken.
    pub held_out: Option<HeldOut>,
    /// How well it predicts them, against a constant.
    #[serde(skip)]
    pub assessment: Option<Assessment>,
    /// What the reader should know.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

/// How one of the candidates was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceRule {
    /// The smallest loss.
    Best,
    /// The simplest within one standard error of it.
    OneStandardError,
    /// There was only one.
    Given,
}

/// One combination of p and kernel.
#[derive(Debug, Clone, Serialize)]
pub struct Combination {
    /// The exponent of the norm.
    pub p: f64,
    /// The kernel.
    pub kernel: String,
    /// Its best gamma.
    pub best: Option<Candidate>,
    /// Whether it was taken.
    pub chosen: bool,
}

impl Validation {
    /// What a search found that fitted this loss to these targets.
    pub fn new(
        found: &Searched,
        choice: Choice,
        target: &Target<'_>,
        loss: &dyn Loss,
        sample_weight: Option<&[f64]>,
    ) -> Result<Self, Error> {
        let (at, chosen) = found.chosen.map_or((0, None), |(option, candidate)| (option, Some(candidate)));
        let tried = &found.tried[at];
        let combination = |(place, tried): (usize, &Tried)| Combination {
            p: tried.option.spec.p,
            kernel: tried.option.spec.kernel.to_string(),
            best: tried.best().map(|best| tried.candidates[best]),
            chosen: found.chosen.is_some_and(|(option, _)| option == place),
        };
        let several = found.tried.len() > 1;
        Ok(Self {
            folds: found.folds.count(),
            metric: found.metric,
            rule: match (tried.candidates.len(), choice) {
                (1, _) => ChoiceRule::Given,
                (_, Choice::OneStandardError) => ChoiceRule::OneStandardError,
                (_, Choice::Best) => ChoiceRule::Best,
            },
            searched: if several { found.tried.iter().enumerate().map(combination).collect() } else { Vec::new() },
            candidates: tried.candidates.clone(),
            chosen,
            fits: found.folds.count() * tried.functions.len(),
            at_end: found.best_is_at_end(),
            held_out: chosen.map(|gamma| HeldOut::new(&tried.functions, gamma, target, loss)).transpose()?,
            assessment: found.assessment(target, loss, sample_weight)?,
            notes: notes(found),
        })
    }

    /// The gamma that was taken.
    pub fn taken(&self) -> Option<&Candidate> {
        self.chosen.map(|chosen| &self.candidates[chosen])
    }
}

fn notes(found: &Searched) -> Vec<Note> {
    let (failed, fits) = found.unconverged();
    let mut notes = Vec::new();
    if found.chosen.is_none() {
        notes.push(Note::NothingValidated);
    } else if found.interrupted() {
        notes.push(Note::SearchInterrupted);
    } else if failed > 0 {
        notes.push(Note::SearchUnconverged { failed, fits });
    }
    notes.extend(found.left_out.iter().map(|(option, error)| Note::LeftOut {
        p: option.spec.p,
        kernel: option.spec.kernel.to_string(),
        error: error.clone(),
    }));
    if found.best_is_at_end() && !found.interrupted() {
        notes.push(Note::BestAtEnd);
    }
    notes
}
