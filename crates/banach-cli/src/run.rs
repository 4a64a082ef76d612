//! From arguments to results.

use std::error::Error as _;

use anyhow::Context;

use crate::{
    args::{Arguments, Command},
    bench::bench,
    demo::demo,
    fit::fit,
    manual::{completions, man},
    path::path,
    reproduce::reproduce,
    saved::{features, info, predict},
};

/// Starts the threads, before memory is counted: their stacks take addresses.
fn start_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let number = threads.map_or_else(|| banach::memory::threads_within_limits(cores()), usize::from);
    // One for every core is rayon's own choice, which a variable may change.
    let number = if threads.is_none() && number == cores() { 0 } else { number };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number);
    match pool.build_global() {
        // Python may have started them; only a number that is asked for is then too late.
        Err(error) if threads.is_none() && error.source().is_none() => Ok(()),
        started => started.context("starting the threads; ask for fewer with --threads, or for more memory"),
    }
}

/// `command` is what was typed.
pub(crate) fn run(Arguments { command: what, common }: Arguments, command: &str) -> anyhow::Result<u8> {
    start_threads(common.threads)?;
    match what {
        Command::Fit(what) => return fit(&what, &common, command),
        Command::Path(what) => return path(&what, &common, command),
        Command::Demo(what) => return demo(&what, &common),
        Command::Predict(what) => predict(&what, &common)?,
        Command::Features(what) => features(&what, &common)?,
        Command::Info(what) => info(&what, &common)?,
        Command::Reproduce(what) => reproduce(what, &common)?,
        Command::Bench(what) => bench(what, &common)?,
        Command::Completions(what) => completions(&what)?,
        Command::Man(what) => man(&what, &common)?,
    }
    Ok(0)
}
