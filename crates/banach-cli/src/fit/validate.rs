//! What held-out samples say, and what was chosen by them.

use banach::{
    fit::{Candidate, Searched, Tried},
    solver::{Choice, Metric},
};
use serde::Serialize;

use super::{held_out::HeldOut, input::Input};
use crate::words;

/// The candidates, and which was taken.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Validation {
    pub folds: usize,
    pub metric: Metric,
    /// `best`, `one_standard_error` or `given`.
    pub rule: Rule,
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
    #[serde(skip)]
    unconverged: (usize, usize),
    #[serde(skip)]
    left_out: Vec<String>,
}

/// How the choice was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    Best,
    OneStandardError,
    Given,
}

/// One combination of p and kernel.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Combination {
    pub p: f64,
    pub kernel: String,
    /// Its best gamma.
    pub best: Option<Candidate>,
    pub chosen: bool,
}

impl Validation {
    /// What a search found.
    pub(crate) fn new(found: &Searched, input: &Input, choice: Choice) -> Result<Self, banach::Error> {
        let (at, chosen) = found.chosen.map_or((0, None), |(option, candidate)| (option, Some(candidate)));
        let tried = &found.tried[at];
        let combination = |(place, tried): (usize, &Tried)| Combination {
            p: tried.option.spec.p,
            kernel: tried.option.spec.kernel.to_string(),
            best: tried.best().map(|best| tried.candidates[best]),
            chosen: found.chosen.is_some_and(|(option, _)| option == place),
        };
        let several = found.tried.len() > 1;
        let held_out = |chosen| HeldOut::new(&tried.functions, chosen, &input.goal);
        Ok(Self {
            folds: found.folds.count(),
            metric: found.metric,
            rule: match (tried.candidates.len(), choice) {
                (1, _) => Rule::Given,
                (_, Choice::OneStandardError) => Rule::OneStandardError,
                (_, Choice::Best) => Rule::Best,
            },
            searched: if several { found.tried.iter().enumerate().map(combination).collect() } else { Vec::new() },
            candidates: tried.candidates.clone(),
            chosen,
            fits: found.folds.count() * tried.functions.len(),
            at_end: found.best_is_at_end(),
            held_out: chosen.map(held_out).transpose()?,
            unconverged: found.unconverged(),
            left_out: found
                .left_out
                .iter()
                .map(|(option, error)| {
                    format!("p = {}, {}: {}", option.spec.p, option.spec.kernel, words::message(error))
                })
                .collect(),
        })
    }

    /// What is known of the gamma that was taken.
    pub(crate) fn taken(&self) -> Option<&Candidate> {
        self.chosen.map(|chosen| &self.candidates[chosen])
    }

    /// What the reader should know.
    pub(crate) fn notes(&self, interrupted: bool) -> Vec<String> {
        let (failed, all) = self.unconverged;
        let mut notes = Vec::new();
        if interrupted {
            notes
                .push("the cross-validation was interrupted: gamma is the best of those that were finished".to_owned());
        } else if failed > 0 {
            notes.push(format!("{failed} of the {all} fits of the cross-validation did not converge"));
        }
        notes.extend(self.left_out.iter().map(|left_out| format!("left out of the search: {left_out}")));
        if self.at_end && !interrupted {
            notes.push("the best gamma is at an end of the grid; a given --gamma beyond it may be better".to_owned());
        }
        notes
    }
}
