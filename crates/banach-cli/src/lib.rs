//! The `banach` command: parse, run, print. A library, so that the Python package has the same command.
//!
//! Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 not
//! converged, 2 wrong input.

mod args;
mod bench;
mod files;
mod fit;
mod print;
mod progress;
mod reading;
mod report;
mod reproduce;
mod run;

use std::ffi::OsString;

use clap::Parser;

/// Runs the command with these arguments, the first of which is the name of the program, and returns its exit code.
pub fn main<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let parsed = args::Arguments::try_parse_from(arguments);
    let done = parsed.map_err(anyhow::Error::from).and_then(run::run);
    done.unwrap_or_else(|error| report(&error))
}

/// Says what went wrong and picks the exit code.
fn report(error: &anyhow::Error) -> u8 {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Nothing can be said where the message itself cannot be written.
        let _ = usage.print();
        return u8::try_from(usage.exit_code()).unwrap_or(2);
    }
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader has seen enough.
        return 0;
    }
    eprintln!("error: {error:#}");
    match error.downcast_ref::<banach_experiments::Error>() {
        Some(banach_experiments::Error::NoReference { .. } | banach_experiments::Error::Stopped) => 1,
        _ => 2,
    }
}
