//! The `banach` command: parse, run, print.
//!
//! Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 not
//! converged, 2 wrong input.

mod args;
mod bench;
mod files;
mod fit;
mod print;
mod progress;
mod report;
mod reproduce;
mod run;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match run::run(arguments) {
        Ok(code) => code,
        Err(error) => report(&error),
    }
}

/// Says what went wrong and picks the exit code.
fn report(error: &anyhow::Error) -> ExitCode {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader has seen enough.
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {error:#}");
    match error.downcast_ref::<banach_experiments::Error>() {
        Some(banach_experiments::Error::NoReference { .. } | banach_experiments::Error::Stopped) => ExitCode::from(1),
        _ => ExitCode::from(2),
    }
}
