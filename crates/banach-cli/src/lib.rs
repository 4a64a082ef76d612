//! The `banach` command: parse, run, print. A library, so that the Python package has the same command.
//!
//! Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 not
//! converged, 2 wrong input.

mod args;
mod bench;
mod demo;
mod files;
mod fit;
mod manual;
mod path;
mod print;
mod progress;
mod reading;
mod report;
mod reproduce;
mod run;
mod saved;
mod visible;

use std::{borrow::Cow, ffi::OsString};

use clap::Parser;

use self::visible::visible;

/// Runs the command with these arguments, the first of which is the name of the program, and returns its exit code.
pub fn main<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = args::Arguments::try_parse_from(&arguments).map_err(anyhow::Error::from);
    let done = parsed.and_then(|parsed| run::run(parsed, &typed(&arguments)));
    done.unwrap_or_else(|error| report(&error))
}

/// The arguments as they can be typed into a shell.
fn typed(arguments: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    let quoted = |argument: &OsString| {
        let text = argument.to_string_lossy();
        let bare = !text.is_empty() && text.chars().all(plain);
        if bare { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    // The program itself may have been called by any path.
    let words = ["banach".to_owned()].into_iter().chain(arguments.iter().skip(1).map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

/// What went wrong and why; a cause that a message already ends with is not said twice.
fn message(error: &anyhow::Error) -> String {
    let add = |said: String, cause: String| if said.ends_with(&cause) { said } else { format!("{said}: {cause}") };
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), add)
}

/// Says what went wrong and picks the exit code.
fn report(error: &anyhow::Error) -> u8 {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return explain_usage(usage);
    }
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader has seen enough.
        return 0;
    }
    print::message(format_args!("error: {}", message(error)));
    match error.downcast_ref::<banach_experiments::Error>() {
        Some(banach_experiments::Error::NoReference { .. } | banach_experiments::Error::Stopped) => 1,
        _ => 2,
    }
}

/// The help that was asked for, or what is wrong with the arguments, which may hold anything.
fn explain_usage(usage: &clap::Error) -> u8 {
    let text = usage.render().to_string();
    if usage.use_stderr() && matches!(visible(&text), Cow::Owned(_)) {
        print::message(text.trim_end());
    } else if let Err(error) = usage.print() {
        return report(&error.into());
    }
    u8::try_from(usage.exit_code()).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_can_be_typed_again() {
        let arguments =
            ["/usr/bin/banach", "fit", "my data.csv", "--p", "4/3", "--drop", "it's", ""].map(OsString::from);
        assert_eq!(typed(&arguments), "banach fit 'my data.csv' --p 4/3 --drop 'it'\\''s' ''");
    }
}
