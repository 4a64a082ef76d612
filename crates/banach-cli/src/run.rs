//! From arguments to results.

use anyhow::Context;

use crate::{
    args::{Arguments, Command},
    bench::bench,
    fit::fit,
    reproduce::reproduce,
    saved::{features, info, predict},
};

/// `command` is what was typed.
pub(crate) fn run(arguments: Arguments, command: &str) -> anyhow::Result<u8> {
    if let Some(threads) = arguments.threads {
        anyhow::ensure!((1..=1024).contains(&threads), "--threads {threads}; allowed: 1 to 1024");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting the threads")?;
    }
    match arguments.command {
        Command::Fit(what) => return fit(&what, command),
        Command::Predict(what) => predict(&what)?,
        Command::Features(what) => features(&what)?,
        Command::Info(what) => info(&what)?,
        Command::Reproduce(what) => reproduce(what)?,
        Command::Bench(what) => bench(what)?,
    }
    Ok(0)
}
