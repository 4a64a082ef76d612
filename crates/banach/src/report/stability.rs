//! What halves of the samples agree on, with the names of variables.

use crate::error::counted;
use std::fmt::{self, Write};

use serde::Serialize;

use super::{Factor, bars::shortened};
use crate::selection::{Stability, StabilityOptions, StableMonomial};

/// Characters of a bar that stands for all halves.
const BAR: f64 = 24.0;

/// How often each monomial is a term where only half of the samples are known.
#[derive(Debug, Clone, Serialize)]
pub struct StabilityTable {
    /// The most frequent first.
    pub monomials: Vec<MonomialFrequency>,
    /// How many of them reach the threshold.
    pub stable: usize,
    /// The searches.
    pub subsamples: usize,
    /// The mean number of terms that a search names.
    pub selected_per_fit: f64,
    /// A bound on how many of the stable ones are expected there by chance.
    pub expected_false: f64,
    /// A smaller bound, if the frequencies have one mode.
    #[serde(skip)]
    pub expected_false_unimodal: Option<f64>,
    /// Searches that ended without their proof and count all the same.
    #[serde(skip)]
    pub unproven: usize,
    /// What the halves were asked.
    #[serde(skip)]
    pub options: StabilityOptions,
}

/// One monomial.
#[derive(Debug, Clone, Serialize)]
pub struct MonomialFrequency {
    /// Its name.
    pub monomial: String,
    /// The same in parts.
    pub factors: Vec<Factor>,
    /// The share of the searches that name it.
    pub frequency: f64,
}

impl StabilityTable {
    /// With these names for the variables. Those without one are numbered.
    pub fn new(found: &Stability, names: &[impl AsRef<str>]) -> Self {
        let frequency = |entry: &StableMonomial| MonomialFrequency {
            monomial: entry.monomial.with_names(names),
            factors: Factor::all(&entry.monomial, names),
            frequency: entry.frequency,
        };
        Self {
            monomials: found.entries.iter().map(frequency).collect(),
            stable: found.stable().len(),
            subsamples: found.subsamples,
            selected_per_fit: found.selected_per_fit,
            expected_false: found.expected_false(),
            expected_false_unimodal: found.expected_false_unimodal(),
            unproven: found.unproven,
            options: found.options,
        }
    }

    /// So many monomials as a table with bars. `shown` makes a name fit for it.
    pub fn text(&self, rows: usize, shown: impl Fn(&str) -> String) -> String {
        fmt::from_fn(|f| self.write(f, rows, &shown)).to_string()
    }

    fn write(&self, f: &mut dyn Write, rows: usize, shown: &dyn Fn(&str) -> String) -> fmt::Result {
        let threshold = self.options.threshold;
        writeln!(
            f,
            "share of {} halves in which a monomial is named, {:.1} of each",
            self.subsamples, self.selected_per_fit
        )?;
        let first = self.monomials.iter().take(rows).map(|entry| (shortened(&shown(&entry.monomial)), entry.frequency));
        let first: Vec<(String, f64)> = first.collect();
        let width = first.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        for (at, (label, frequency)) in first.iter().enumerate() {
            let mark = if at < self.stable { '*' } else { ' ' };
            let bar = "#".repeat((BAR * frequency).round() as usize);
            let line = format!("{mark} {label:<width$}  {frequency:.3}  {bar}");
            writeln!(f, "{}", line.trim_end())?;
        }
        if self.monomials.len() > rows {
            writeln!(f, "  {}", counted(self.monomials.len() - rows, "other", "others"))?;
        }
        write!(f, "{} {threshold}", counted(self.stable, "reaches", "reach"))?;
        write!(f, "; of these at most {:.2e} are expected to be there by chance", self.expected_false)?;
        if let Some(bound) = self.expected_false_unimodal {
            write!(f, " ({bound:.2e} for unimodal distributions)")?;
        }
        writeln!(f)?;
        if self.unproven > 0 {
            writeln!(f, "{} searches ended without their proof", self.unproven)?;
        }
        Ok(())
    }
}
