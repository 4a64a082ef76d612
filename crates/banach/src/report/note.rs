//! What the reader of a report should know.

use std::fmt;

use super::Part;
use crate::{
    Error,
    error::{Parameter, Plain, Words},
};

/// A remark on a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A search was ended early.
    SearchInterrupted,
    /// Fits of a search ended above their tolerance.
    SearchUnconverged {
        /// So many,
        failed: usize,
        /// of so many.
        fits: usize,
    },
    /// A combination could not be fitted to these data.
    LeftOut {
        /// Its exponent of the norm.
        p: f64,
        /// Its kernel.
        kernel: String,
        /// Why.
        error: Error,
    },
    /// The best gamma of a grid is its first or last.
    BestAtEnd,
    /// A search was ended before any gamma was finished.
    NothingValidated,
    /// A fit took the gamma in the middle of the grid, as none was validated.
    MiddleTaken,
    /// A part of the report could not be made.
    Missing(Part, Error),
    /// A part of the report was ended, or not begun.
    Ended(Part),
    /// No term can be named.
    NothingNamed,
    /// Searches of the stability ended without their proof.
    StabilityUnproven {
        /// So many,
        failed: usize,
        /// of so many.
        searches: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Plain))
    }
}

impl Note {
    /// The remark in the words of a door.
    pub fn render(&self, words: &dyn Words) -> String {
        // What is said of the parameter, not how it is given.
        let gamma = words.name(Parameter::Gamma).trim_start_matches("--");
        match self {
            Self::SearchInterrupted => {
                format!("the cross-validation was interrupted: {gamma} is the best of those that were finished")
            }
            Self::SearchUnconverged { failed, fits } => {
                format!("{failed} of the {fits} fits of the cross-validation did not converge")
            }
            Self::LeftOut { p, kernel, error } => {
                format!("left out of the search: p = {p}, {kernel}: {}", error.render(words))
            }
            Self::BestAtEnd => {
                let given = words.name(Parameter::Gamma);
                format!("the best {gamma} is at an end of the grid; a given {given} beyond it may be better")
            }
            Self::NothingValidated => format!("the cross-validation was interrupted before any {gamma} was finished"),
            Self::MiddleTaken => format!("{gamma} is the one in the middle of the grid, as none was validated"),
            Self::Missing(part, error) => format!("no {part}: {}", error.render(words)),
            Self::Ended(part) => format!("no {part}: interrupted"),
            Self::NothingNamed => {
                "nothing can be named at this number of rows, so the equation is a constant; the model predicts all the same"
                    .to_owned()
            }
            Self::StabilityUnproven { failed, searches } => {
                format!("{failed} of the {searches} searches of the stability ended without their proof")
            }
        }
    }
}
