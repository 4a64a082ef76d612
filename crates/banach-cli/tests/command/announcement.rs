//! How long it will take is said before it starts, where that is long.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{banach, invocation::text, path::TRIAL};

/// A table whose products of degree 5 are hundreds of millions.
fn wide() -> String {
    let mut table = (0..60).map(|variable| format!("v{variable}")).collect::<Vec<_>>().join(",") + ",y\n";
    for row in 0..30 {
        let value = |column: usize| ((row * 61 + column + 1).pow(2) as f64 * 0.618_033_988).fract();
        let line = (0..61).map(|column| format!("{:.4}", value(column))).collect::<Vec<_>>().join(",");
        writeln!(table, "{line}").expect("a string");
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("announcement-wide.csv");
    fs::write(&path, table).expect("written");
    path.to_str().expect("a plain path").to_owned()
}

/// The first line on standard error of a command that is ended then.
fn first_words(arguments: &[&str]) -> String {
    let mut run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = String::new();
    BufReader::new(run.stderr.take().expect("piped")).read_line(&mut said).expect("text");
    // Were it done already, it would not have been long.
    assert!(run.try_wait().expect("a process").is_none(), "{arguments:?}: {said}");
    run.kill().expect("it runs");
    run.wait().expect("killed");
    said
}

#[test]
fn a_long_command_says_how_long_before_it_starts() {
    let data = wide();
    let kernel = ["--target", "y", "--kernel", "poly", "--degree", "8", "--p", "1.1"];
    for (command, more) in [
        ("fit", &["--explain"][..]),
        ("fit", &[]),
        ("fit", &["--gamma", "1", "--explain"]),
        ("fit", &["--cv", "3", "--permutations", "20"]),
        ("path", &["--gammas", "5"]),
        ("path", &["--gamma", "1", "--cv", "3", "--explain"]),
    ] {
        let said = first_words(&[&[command, &data], &kernel[..], more].concat());
        assert!(said.starts_with("note: it is expected to take about"), "{command} {more:?}: {said}");
        assert!(said.contains("6.5e9 monomials") && said.contains("--degree"), "{command} {more:?}: {said}");
    }
}

#[test]
fn a_short_one_says_nothing() {
    let lp = ["fit", TRIAL, "--target", "effect", "--gamma", "1"];
    let search = ["fit", TRIAL, "--target", "effect", "--p", "1.1", "--cv", "3"];
    let path = ["path", TRIAL, "--target", "effect", "--gammas", "3"];
    for arguments in [&lp[..], &search, &path] {
        for more in [&[][..], &["--explain"]] {
            let run = banach(&[arguments, more].concat());
            assert!(run.status.success(), "{arguments:?}");
            assert_eq!(text(&run.stderr), "", "{arguments:?} {more:?}");
        }
    }
}

#[test]
fn quiet_is_quiet() {
    let run = ["fit", TRIAL, "--target", "effect", "--effort", "quick", "--explain", "--quiet"];
    assert_eq!(text(&banach(&run).stderr), "");
}
