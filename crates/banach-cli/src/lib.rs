//! The `banach` command: parse, run, print. A library, so that the Python package has the same command.
//!
//! Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 not
//! converged, 2 wrong input.
//!
//! The public modules are what `banach-lab`, the program of the laboratory, is made of as well.

mod args;
mod demo;
pub mod files;
mod fit;
mod lines;
mod manual;
pub mod options;
mod path;
pub mod print;
pub mod program;
pub mod progress;
mod run;
mod saved;
pub mod table;
mod visible;
mod words;

use std::ffi::OsString;

use clap::Parser;

pub use self::demo::BLOOD_CELLS;

/// Runs the command with these arguments, the first of which is the name of the program, and returns its exit code.
pub fn main<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = args::Arguments::try_parse_from(&arguments).map_err(anyhow::Error::from);
    let done = parsed.and_then(|parsed| run::run(parsed, &typed(&arguments)));
    done.unwrap_or_else(|error| program::fail(&error, 2))
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
