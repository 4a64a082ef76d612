//! The `banach` program.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    banach_start::run(|| banach_cli::main(env::args_os()))
}
