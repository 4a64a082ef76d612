//! Whole invocations of the `banach` command, one file for what is asked of it.

mod all_commands;
mod announcement;
mod counts;
mod fit;
mod invocation;
mod model;
mod path;
mod plink;
mod readout;
mod report;
mod solver;
mod sparse;
mod strangers;
mod verdict;
mod width;
mod world;

use std::process::Output;

use serde_json::Value;

use self::invocation::text;

/// A run without a terminal and without input.
fn banach(arguments: &[&str]) -> Output {
    invocation::run(env!("CARGO_BIN_EXE_banach"), arguments)
}

/// What a run prints that must be done.
fn printed(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert!(run.status.success(), "{arguments:?}: {}", text(&run.stderr));
    text(&run.stdout)
}

/// A page in one line, so that sentences can be found wherever their lines end.
fn one_line(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).expect("JSON and nothing else")
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for arguments in
        [&["completions", "bash"][..], &["fit", path::TRIAL, "--target", "effect", "--gamma", "1", "--json"]]
    {
        invocation::assert_a_closed_pipe_is_fine(env!("CARGO_BIN_EXE_banach"), arguments);
    }
}
