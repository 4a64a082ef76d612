//! From arguments to results.

use anyhow::Context;
use banach_experiments::bench::{self, Bench};

use crate::{
    args::{self, Arguments, Command},
    print,
    progress::Bar,
    report,
    reproduce::reproduce,
};

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    if let Some(threads) = arguments.threads {
        anyhow::ensure!((1..=1024).contains(&threads), "--threads {threads}; allowed: 1 to 1024");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting the threads")?;
    }
    match arguments.command {
        Command::Reproduce(what) => reproduce(what),
        Command::Bench(args::Bench { json, rounds }) => {
            let request = bench::Request { rounds: usize::from(rounds), ..bench::Request::default() };
            let bench = Bench::run(request, &mut Bar::new())?;
            print::out(&if json { print::json(&bench)? } else { report::bench(&bench).text() })
        }
    }
}
