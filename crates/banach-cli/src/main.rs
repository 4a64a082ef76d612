//! The `banach` program.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    if banach_start::stdout_was_closed() {
        eprintln!("error: standard output is closed; send it to a file, or to /dev/null");
        return ExitCode::from(2);
    }
    ExitCode::from(banach_cli::main(env::args_os()))
}
