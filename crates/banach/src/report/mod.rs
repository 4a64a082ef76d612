//! The result as data: what JSON objects, tables and pages are made from, whoever asks.
//!
//! A [`Report`] holds numbers, names, equations and enums. Enums become words when they are printed; [`Note::render`] spells parameters
//! in the words of a door.

mod bars;
mod describe;
mod held_out;
mod leaders;
mod leave_one_out;
mod note;
mod readout;
mod relevance;
mod sparse;
mod stability;
mod summary;
#[cfg(test)]
mod tests;
mod top;
mod validation;

pub use describe::{ColumnNames, Described, Part, Tables, Watch};
pub use held_out::{CalibrationBin, HeldOut, HeldOutRow, Separation};
pub use leaders::Leaders;
pub use leave_one_out::LeaveOneOut;
pub use note::Note;
pub use readout::{
    ClassCurve, EffectCurve, EffectPartner, EffectSurface, PairShare, Quantity, Readout, SampleValues, ShownSamples,
};
pub use relevance::{DegreeShare, RelevanceTable, VariableShare};
pub use sparse::{
    AlternativeEntry, Centre, SparseEntry, SparseFunctionReport, SparseTable, SubstitutedVariable, WrittenTable,
    WrittenTerm,
};
pub use stability::{MonomialFrequency, StabilityTable};
pub use summary::{CertificateValues, ModelSummary, RouteCost, RouteSummary};
pub use top::{RANKINGS, TopEntry, TopTable};
pub use validation::{ChoiceRule, Combination, Validation};

use serde::Serialize;

use crate::{
    Status,
    fit::{Assessment, LearningCurve, SelectedEquation},
    kernel::Monomial,
};

/// A fitted model, and all that was asked about it.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What was fitted.
    pub model: ModelSummary,
    /// The route to the data, and what the others would have cost.
    pub route: RouteSummary,
    /// How well it predicts samples that were not seen, against a constant; none if no sample was held out.
    pub assessment: Option<Assessment>,
    /// The same for the samples of a test of their own, if there is one.
    pub test: Option<Assessment>,
    /// What held-out samples say, if any were.
    pub validation: Option<Validation>,
    /// What samples say that are left out one at a time, without another fit; none for p below 1.1 or more than 2000 samples.
    pub leave_one_out: Option<LeaveOneOut>,
    /// How the fit ended; of several functions, the end that is farthest from convergence.
    pub status: Status,
    /// One for every output or class.
    pub functions: Vec<FunctionReport>,
    /// What matters to all functions together and what is predicted along it, if asked for.
    pub readout: Option<Readout>,
    /// How the error falls with the number of samples, if asked for.
    pub learning_curve: Option<LearningCurve>,
    /// The equations of all functions as a model, if they were asked for.
    #[serde(skip)]
    pub selected: Option<SelectedEquation>,
    /// What the reader should know.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

/// One fitted function: of a number, of two classes, or of one class against the others.
#[derive(Debug, Clone, Serialize)]
pub struct FunctionReport {
    /// The class that it is positive for.
    pub class: Option<String>,
    /// How its fit ended.
    pub status: Status,
    /// How far it can be from the optimum.
    pub certificate: CertificateValues,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Passes over the data.
    pub passes: usize,
    /// The relative gap during the fit.
    pub history: Vec<GapAfter>,
    /// The constant.
    pub intercept: f64,
    /// The constant for the variables in their own units, where the model is linear in them.
    pub intercept_original: Option<f64>,
    /// The largest monomials, if asked for.
    pub top: Option<TopTable>,
    /// Those that lead at smaller and at larger gammas, where gamma was chosen.
    pub leaders: Vec<Leaders>,
    /// How much every variable matters, if asked for.
    pub relevance: Option<RelevanceTable>,
    /// The few terms that can be named, if asked for: an equation of the variables as they were measured.
    pub selection: Option<SparseTable>,
    /// What halves of the samples agree on, if asked for.
    pub stability: Option<StabilityTable>,
}

/// The relative gap after so many passes over the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GapAfter {
    /// Passes so far.
    pub passes: usize,
    /// The relative duality gap then.
    pub relative_gap: f64,
}

/// A variable of a monomial, and its exponent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Factor {
    /// The name of the variable.
    pub variable: String,
    /// Its exponent.
    pub power: usize,
}

impl Factor {
    /// The factors of a monomial. Variables without a name are numbered.
    pub fn all(monomial: &Monomial, names: &[impl AsRef<str>]) -> Vec<Self> {
        let factor = |&(variable, power): &(usize, usize)| Self { variable: name(names, variable), power };
        monomial.factors().iter().map(factor).collect()
    }
}

/// The name of a variable, or its number.
fn name(names: &[impl AsRef<str>], variable: usize) -> String {
    names.get(variable).map_or_else(|| format!("x{variable}"), |name| name.as_ref().to_owned())
}
