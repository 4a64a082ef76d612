//! A run of a program and what it leaves, for the tests of `banach` and of `banach-lab`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A run without a terminal and without input.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

/// A folder of this test's own, which is not there yet.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

pub(crate) fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("written")
}

/// Whoever has read enough may close the pipe.
pub(crate) fn assert_a_closed_pipe_is_fine(program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    drop(child.stdout.take());
    let run = child.wait_with_output().expect("it ends");
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(text(&run.stderr), "");
}
