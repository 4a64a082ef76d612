//! From arguments to results.

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

/// `command` is what was typed.
pub(crate) fn run(Arguments { command: what, common }: Arguments, command: &str) -> anyhow::Result<u8> {
    if let Some(threads) = common.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        pool.build_global().context("starting the threads")?;
    }
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
