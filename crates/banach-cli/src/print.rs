//! Standard output and standard error.

use std::{
    fmt,
    io::{self, IsTerminal as _, Write as _},
};

use serde::Serialize;

use crate::{
    lines::folded,
    options::Common,
    visible::{visible, visible_json},
};

/// Writes text to standard output.
pub(crate) fn out(text: &str) -> anyhow::Result<()> {
    write(&visible(text))
}

/// Writes data to standard output as they are. Only a terminal, which would obey what is in them, gets them made visible.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    if io::stdout().is_terminal() { out(text) } else { write(text) }
}

/// Writes to standard output; a closed pipe is an error value, not a panic.
fn write(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(stdout.flush()?)
}

/// Writes a line to standard error.
pub(crate) fn message(text: impl fmt::Display) {
    // Nothing can be said where the message itself cannot be written.
    let _ = writeln!(io::stderr(), "{}", visible(&text.to_string()));
}

/// A value as JSON, with characters that a terminal would obey in the notation of JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(visible_json(&serde_json::to_string_pretty(value)?).into_owned() + "\n")
}

/// Prints a result in the form that was asked for; `how` says how it comes about.
pub fn result(
    common: &Common,
    value: &impl Serialize,
    text: impl Fn() -> String,
    how: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    out(&match (common.json, common.explain) {
        (true, _) => json(value)?,
        (false, true) => folded(&format!("{}\n\n{}", text().trim_end(), how()?)),
        (false, false) => folded(&text()),
    })
}
