//! What is done to new samples before a model sees them, as it was learned when the model was fitted.

use serde::{Deserialize, Serialize};

use super::Flaw;
use crate::{Impute, Standardization, Table, Unknown, Values};

/// What a model does about missing values and about labels that it has not met, unless told otherwise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Preparation {
    /// What was done about missing values; nothing if they were refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impute: Option<Impute>,
    /// What to fill in, for every variable; the means of the scaling if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fills: Option<Vec<f64>>,
    /// What to do about labels that it has not met.
    #[serde(skip_serializing_if = "is_usual")]
    pub unknown: Unknown,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_usual(unknown: &Unknown) -> bool {
    *unknown == Unknown::default()
}

impl Preparation {
    /// What a table tells, which may be scaled: medians if these were filled in, else means, unless those of the scaling say it. Zeros of
    /// sparse tables are no missing values.
    pub fn learned(table: &Table, done: Option<&Standardization>, impute: Option<Impute>, unknown: Unknown) -> Self {
        let how = if impute == Some(Impute::Median) { Impute::Median } else { Impute::Mean };
        let told = how == Impute::Mean && done.is_some_and(|done| done.centred);
        let raw = |(at, fill): (usize, f64)| done.map_or(fill, |done| fill * done.deviations[at] + done.means[at]);
        let fills = match table.values() {
            Values::Dense(values) if !told => {
                let columns = values.chunks(table.rows().max(1)).map(|column| how.value(&mut column.to_vec()));
                columns.enumerate().map(|(at, fill)| Some(raw((at, fill?)))).collect()
            }
            _ => None,
        };
        Self { impute, fills, unknown }
    }

    /// Whether there is nothing to say.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What fills in missing values of new samples without being asked for.
    pub fn usual(&self) -> Option<Impute> {
        self.impute.filter(|how| *how != Impute::Drop)
    }

    pub(super) fn check(&self, variables: usize) -> Result<(), Flaw> {
        let Some(fills) = &self.fills else { return Ok(()) };
        if fills.len() != variables {
            return Err(Flaw::part("preparation", format!("{} values instead of {variables}", fills.len())));
        }
        match fills.iter().find(|fill| !fill.is_finite()) {
            Some(fill) => Err(Flaw::part("preparation", format!("{fill} is not a finite number"))),
            None => Ok(()),
        }
    }
}
