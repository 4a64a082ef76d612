//! Standard output.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::args::Experiment;

/// Writes to standard output; a closed pipe is an error value, not a panic.
pub(crate) fn out(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(stdout.flush()?)
}

pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Prints a result in the form that was asked for.
pub(crate) fn result(experiment: &Experiment, value: &impl Serialize, text: impl Fn() -> String) -> anyhow::Result<()> {
    out(&if experiment.json { json(value)? } else { text() })
}
