//! What `banach fit` prints: the JSON object, key by key (docs/command-line.md explains them).

use banach::report::Report;
use banach_io::{Encoding, Fill, Genotypes, Standardization};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Fitted {
    pub version: &'static str,
    /// What makes it again.
    pub command: String,
    pub data: Data,
    #[serde(flatten)]
    pub report: Report,
    /// The model file, if one was asked for.
    pub saved: Option<String>,
    /// The model file of the equation, if one was asked for.
    pub saved_equation: Option<String>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What every route would cost, where it was asked for.
    #[serde(skip)]
    pub explained: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Data {
    pub file: String,
    pub rows: usize,
    /// Columns of the file.
    pub columns: usize,
    pub target: String,
    /// `regression` or `classification`.
    pub task: &'static str,
    pub classes: Option<Vec<Class>>,
    /// The columns that the model is made of, with what was done to them.
    pub variables: Vec<Variable>,
    pub standardized: bool,
    /// Whether they have mean 0 then; sparse tables do not.
    pub centred: bool,
    pub sparse: bool,
    /// What was filled in for missing values.
    pub imputed: Vec<Fill>,
    /// Rows with missing values that were left out.
    pub dropped: usize,
    /// Which samples and variants of genotypes were left out.
    pub genotypes: Option<Genotypes>,
    /// Columns of labels.
    pub categorical: Vec<Encoding>,
    /// Constant columns, which were left out.
    pub constant: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Class {
    pub label: String,
    pub rows: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct Variable {
    pub name: String,
    /// 0 and 1 for columns that are taken as they are.
    pub mean: f64,
    pub deviation: f64,
}

impl Variable {
    /// All variables, with what was done to their columns, if anything was.
    pub(crate) fn all(names: &[String], done: Option<&Standardization>) -> Vec<Self> {
        let variable = |(at, name): (usize, &String)| Self {
            name: name.clone(),
            mean: done.map_or(0.0, |done| done.means[at]),
            deviation: done.map_or(1.0, |done| done.deviations[at]),
        };
        names.iter().enumerate().map(variable).collect()
    }
}
