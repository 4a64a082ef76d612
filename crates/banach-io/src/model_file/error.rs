//! What can be wrong with a model file.

use std::io;

use banach::error::{Parameter, Plain, Words};
use thiserror::Error;

/// A model file that cannot be read or written: which, and why.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file cannot be opened or read to its end.
    #[error("cannot read the model {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the model {file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The model would take more memory than is allowed.
    #[error("{}", too_large(file, *needed, *allowed, &Plain))]
    TooLarge {
        /// The file.
        file: String,
        /// Bytes that reading it takes.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// The file holds no model, or one that is damaged.
    #[error("{file}: {flaw}")]
    Invalid {
        /// The file.
        file: String,
        /// Why.
        flaw: Flaw,
    },
}

impl ModelFileError {
    /// Which file, and why, in the words of a door. What stands in a file is named as the file names it.
    pub fn render(&self, words: &dyn Words) -> String {
        match self {
            Self::TooLarge { file, needed, allowed } => too_large(file, *needed, *allowed, words),
            other => other.to_string(),
        }
    }
}

fn too_large(file: &str, needed: u64, allowed: u64, words: &dyn Words) -> String {
    let limit = words.name(Parameter::MemoryLimit);
    format!("the model {file} needs {needed} bytes of memory, and {allowed} are allowed; raise {limit}")
}

/// Why bytes are no model, or a model cannot be written.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Flaw {
    /// Another kind of file.
    #[error("no model file of banach: {0}")]
    NotAModel(String),
    /// Fewer bytes than the header speaks of.
    #[error("the model file is cut short: {got} bytes of {expected}; copy it again")]
    Truncated {
        /// The bytes at hand.
        got: u64,
        /// The bytes that the header speaks of, as far as they are known.
        expected: u64,
    },
    /// A file of a later program.
    #[error(
        "the model file has version {found} of the format, and this program reads up to {known}; take a newer banach"
    )]
    Version {
        /// Its version.
        found: u64,
        /// The latest that can be read.
        known: u64,
    },
    /// Bytes that have changed.
    #[error("the model file is damaged: its checksum is not that of its contents; copy it again")]
    Checksum,
    /// A model of another kind.
    #[error("the model file has a model of few terms, and another kind was asked for")]
    Kind,
    /// A header that does not describe a model.
    #[error("the header of the model file is wrong: {0}")]
    Header(String),
    /// A part that does not fit the others.
    #[error("the model has a wrong part {part:?}: {problem}")]
    Part {
        /// Its name.
        part: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A parameter or a number out of range.
    #[error("the model has a wrong value: {0}")]
    Value(#[from] banach::Error),
}

impl Flaw {
    pub(super) fn part(part: &'static str, problem: impl Into<String>) -> Self {
        Self::Part { part, problem: problem.into() }
    }
}
