//! How much variables and degrees matter, with the names of variables.

use std::fmt::{self, Write};

use serde::Serialize;

use super::{
    bars::{share_text, write_bars},
    name,
};
use crate::{error::counted, model::Relevance};

/// Shares below it are shown as 0.0000.
const SHOWN: f64 = 5e-5;

/// Shares of `||w||_p^p`.
#[derive(Debug, Clone, Serialize)]
pub struct RelevanceTable {
    /// Of the monomials that involve a variable, by decreasing share.
    pub variables: Vec<VariableShare>,
    /// Of the monomials of a degree.
    pub degrees: Vec<DegreeShare>,
    /// Of the higher degrees that are not listed.
    pub rest: f64,
    /// How far rounding may have moved a share.
    pub error: f64,
}

/// One variable.
#[derive(Debug, Clone, Serialize)]
pub struct VariableShare {
    /// Its name.
    pub variable: String,
    /// The share of the monomials that involve it.
    pub share: f64,
}

/// One degree.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DegreeShare {
    /// The degree.
    pub degree: usize,
    /// The share of its monomials.
    pub share: f64,
}

impl RelevanceTable {
    /// With these names for the variables. Those without one are numbered.
    pub fn new(relevance: &Relevance, names: &[impl AsRef<str>]) -> Self {
        let variable = |&j: &usize| VariableShare { variable: name(names, j), share: relevance.variables()[j] };
        let degree = |&(degree, share): &(usize, f64)| DegreeShare { degree, share };
        Self {
            variables: relevance.ranking().iter().map(variable).collect(),
            degrees: relevance.degrees().iter().map(degree).collect(),
            rest: relevance.rest(),
            error: relevance.error(),
        }
    }

    /// So many variables, and the degrees, as a table with bars. `shown` makes a name fit for it.
    pub fn text(&self, rows: usize, shown: impl Fn(&str) -> String) -> String {
        fmt::from_fn(|f| self.write(f, rows, &shown)).to_string()
    }

    fn write(&self, f: &mut dyn Write, rows: usize, shown: &dyn Fn(&str) -> String) -> fmt::Result {
        writeln!(f, "share of ||w||_p^p on the monomials that involve a variable")?;
        let (first, others) = self.variables.split_at(rows.min(self.variables.len()));
        write_bars(f, &first.iter().map(|one| (shown(&one.variable), one.share)).collect::<Vec<_>>())?;
        if let Some(next) = others.first() {
            writeln!(
                f,
                "  {}, each at most {}",
                counted(others.len(), "other", "others"),
                share_text(next.share).trim_start()
            )?;
        }
        writeln!(f, "by degree")?;
        let mut degrees: Vec<_> = self.degrees.iter().map(|one| (one.degree.to_string(), one.share)).collect();
        // High degrees that round to nothing need no line each.
        let last = degrees.iter().rposition(|(_, share)| *share >= SHOWN).map_or(degrees.len().min(1), |last| last + 1);
        let left: f64 = degrees.drain(last..).map(|(_, share)| share).sum::<f64>() + self.rest;
        write_bars(f, &degrees)?;
        if left > 0.0 {
            writeln!(f, "  higher  {}", share_text(left).trim_start())?;
        }
        if self.error > SHOWN {
            writeln!(f, "rounding may have moved these shares by {:.1e}", self.error)?;
        }
        Ok(())
    }
}
