//! The `banach` program.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    ExitCode::from(banach_cli::main(env::args_os()))
}
