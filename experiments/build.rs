//! Records the compiler's version for the page of results.

use std::{env, process::Command};

fn main() {
    let version = env::var_os("RUSTC").and_then(|compiler| Command::new(compiler).arg("--version").output().ok());
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=BANACH_RUSTC={}", version.as_deref().unwrap_or("rustc, version unknown").trim());
    println!("cargo::rerun-if-changed=build.rs");
}
