//! The Lasso on monomials that are written out, in a process of its own.

use std::{io::Write, path::Path};

use banach::synthetic::Sample;
use serde::{Deserialize, Serialize};

use super::super::process::{Process, python};
use crate::Error;

/// The program. It travels inside the binary, so that an installed one has it too.
const PROGRAM: &str = include_str!("../../../peers/lasso.py");

/// The versions of its packages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Versions {
    /// numpy.
    pub numpy: String,
    /// scikit-learn.
    pub scikit_learn: String,
    /// celer.
    pub celer: String,
}

/// What it has found, at its best alpha in hindsight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lasso {
    /// Seconds to write out and standardise the monomials, and from there to the best alpha.
    pub seconds: f64,
    /// Of those, the seconds to write out and standardise the monomials.
    pub expansion_seconds: f64,
    /// Seconds of the whole path, from which the best alpha was chosen.
    pub path_seconds: f64,
    /// True monomials among as many largest coefficients.
    pub found: usize,
    /// Coefficients that are not 0.
    pub nonzeros: usize,
    /// The best alpha as a part of the smallest at which all coefficients are 0.
    pub alpha: f64,
    /// The most memory of its process.
    pub peak_bytes: u64,
}

/// Asks for one draw of the data.
pub(super) fn ask(interpreter: &Path, sample: &Sample, rounds: usize) -> Result<(Versions, Lasso), Error> {
    let mut process = Process::start(python(interpreter, PROGRAM))?;
    let versions = process.send_data(&sample.columns, &sample.targets)?;
    let truth: Vec<String> = sample.truth.iter().map(|(feature, _)| feature.to_string()).collect();
    let lasso = process.ask(|to| writeln!(to, "lasso {rounds} {}", truth.join(" ")))?;
    Ok((versions, lasso))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_answers_with_the_fields_that_are_read() {
        let fields = ["numpy", "scikit_learn", "celer", "seconds", "expansion_seconds", "path_seconds", "found"];
        for field in fields.into_iter().chain(["nonzeros", "alpha", "peak_bytes"]) {
            assert!(PROGRAM.contains(&format!("\"{field}\": ")), "{field}");
        }
    }
}
