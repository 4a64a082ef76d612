//! The `banach-lab` program: the paper's experiments and the measurements, printed.
//!
//! Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 an experiment without a result, 2
//! wrong input.

mod args;
mod bench;
mod reading;
mod report;
mod reproduce;

use std::{env, process::ExitCode};

use banach_cli::program;
use clap::Parser;

use self::{
    args::{Arguments, Command},
    bench::bench,
    reproduce::reproduce,
};

fn main() -> ExitCode {
    banach_start::run(|| {
        let parsed = Arguments::try_parse_from(env::args_os()).map_err(anyhow::Error::from);
        parsed.and_then(run).unwrap_or_else(|error| program::fail(&error, code(&error)))
    })
}

fn run(Arguments { command, common }: Arguments) -> anyhow::Result<u8> {
    let start_threads = || program::start_threads(common.threads);
    match command {
        Command::Reproduce(what) => start_threads().and_then(|()| reproduce(what, &common))?,
        Command::Bench(what) => start_threads().and_then(|()| bench(what, &common))?,
        // It starts its threads itself.
        Command::Banach { arguments } => return Ok(banach_cli::main(["banach".into()].into_iter().chain(arguments))),
    }
    Ok(0)
}

/// An experiment that was asked for rightly, and has no result, is no wrong input.
fn code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<banach_lab::Error>() {
        Some(banach_lab::Error::NoReference { .. } | banach_lab::Error::Stopped) => 1,
        _ => 2,
    }
}
