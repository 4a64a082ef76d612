//! From arguments to results.

use crate::{
    args::{Arguments, Command},
    demo::demo,
    fit::fit,
    manual::{completions, man},
    path::path,
    program::start_threads,
    saved::{export, features, info, predict},
};

/// `command` is what was typed.
pub(crate) fn run(Arguments { command: what, common }: Arguments, command: &str) -> anyhow::Result<u8> {
    start_threads(common.threads)?;
    match what {
        Command::Fit(what) => return fit(&what, &common, command),
        Command::Path(what) => return path(&what, &common, command),
        Command::Demo(what) => return demo(&what, &common),
        Command::Predict(what) => predict(&what, &common)?,
        Command::Features(what) => features(&what, &common)?,
        Command::Export(what) => export(&what, &common)?,
        Command::Info(what) => info(&what, &common)?,
        Command::Completions(what) => completions(&what)?,
        Command::Man(what) => man(&what, &common)?,
    }
    Ok(0)
}
