//! Standard output.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::args::Common;

/// Writes to standard output; a closed pipe is an error value, not a panic.
pub(crate) fn out(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    // Names come from files: what a terminal would obey is shown as a mark.
    let tame = stdout.is_terminal() && text.chars().any(commands_terminal);
    let text = &if tame { text.replace(commands_terminal, "\u{fffd}") } else { text.to_owned() };
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(stdout.flush()?)
}

fn commands_terminal(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Prints a result in the form that was asked for; `how` says how it comes about.
pub(crate) fn result(
    common: &Common,
    value: &impl Serialize,
    text: impl Fn() -> String,
    how: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    out(&match (common.json, common.explain) {
        (true, _) => json(value)?,
        (false, true) => format!("{}\n\n{}", text().trim_end(), how()?),
        (false, false) => text(),
    })
}
