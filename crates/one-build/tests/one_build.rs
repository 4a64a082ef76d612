//! The commands of the Makefile build every dependency with the same features, so that it is built once.

use std::{collections::BTreeSet, process::Command};

/// The packages that cargo would build, each with its features.
fn built(selection: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--prefix", "none", "--format", "{p} [{f}]"]).args(selection.split(' '));
    let tree = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).expect("text");
    lines.lines().map(|line| line.trim_end_matches(" (*)").replace(" (proc-macro)", "")).collect()
}

#[test]
fn every_command_builds_dependencies_with_the_same_features() {
    let everything = built("--workspace --edges normal,build,dev");
    let commands = [
        ("make test-rust", "--workspace --exclude banach-py --edges normal,build,dev"),
        ("make install", "--package banach-py --edges normal,build"),
        ("make demo", "--package banach-cli --package banach-lab --edges normal,build"),
    ];
    for (command, selection) in commands {
        let own = built(selection);
        let alone: Vec<&String> = own.difference(&everything).collect();
        assert!(own.len() > 100 && alone.is_empty(), "{command} builds with fewer features than the others: {alone:?}");
    }
}
