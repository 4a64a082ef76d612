//! `banach fit --sparse`.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text};

fn root(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    path.to_str().expect("a plain path").to_owned()
}

/// A file of this test's own.
fn file(name: &str, contents: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sparse");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("written");
    path.to_str().expect("a plain path").to_owned()
}

/// What a run must refuse, and why.
fn refused(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", text(&run.stdout));
    text(&run.stderr)
}

#[test]
fn the_trial_is_explained_by_the_terms_that_it_was_made_of() {
    let trial = root("examples/trial.csv");
    let asked = ["fit", &trial, "--target", "effect", "--kernel", "poly", "--degree", "1..2", "--sparse"];
    let run = banach(&asked);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    for expected in [
        "sparse: 2 terms of 44 monomials explain 98.54 % of the variance",
        "proof:  every step to one monomial more, less or other raises the criterion",
        "effect = 12.29 + 0.05156 * age * dose - 0.08509 * pulse\nwhere\n  age stands for age - 49.28\n",
    ] {
        assert!(said.contains(expected), "{expected} is missing in\n{said}");
    }
    let run = banach(&[&asked[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&text(&run.stdout)).expect("JSON and nothing else");
    let sparse = &found["sparse"];
    let names: Vec<&str> =
        sparse["terms"].as_array().expect("terms").iter().filter_map(|term| term["monomial"].as_str()).collect();
    assert_eq!(names, ["age * dose", "pulse"]);
    assert!((sparse["terms"][0]["coefficient"].as_f64().expect("a number") - 0.05).abs() < 0.005);
    assert_eq!(sparse["dictionary"], 44.0);
    assert!(sparse["certificate"]["exchange"].as_f64().is_some_and(|rise| rise > 0.0));
    assert_eq!(sparse["sizes"][0]["criterion"], 0.0);
    let one = banach(&[&asked[..], &["--max-terms", "1", "--json"]].concat());
    let found: Value = serde_json::from_str(&text(&one.stdout)).expect("JSON and nothing else");
    assert_eq!(found["sparse"]["terms"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["sparse"]["certificate"]["addition"], Value::Null, "no more terms are allowed");
}

#[test]
fn nothing_is_named_where_nothing_is() {
    // SplitMix64: neighbouring numbers must not depend on each other.
    let mut state = 3_u64;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f64
    };
    let mut csv = "a,b,c,y\n".to_owned();
    for _ in 0..30 {
        writeln!(csv, "{},{},{},{}", next(), next(), next(), next()).expect("a string takes all");
    }
    let run =
        banach(&["fit", &file("noise.csv", &csv), "--target", "y", "--kernel", "poly", "--degree", "1..2", "--sparse"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(text(&run.stdout).contains("nothing can be named at this number of rows"), "{}", text(&run.stdout));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let trial = root("examples/trial.csv");
    let sparse = ["fit", &trial, "--target", "effect", "--sparse"];
    for (more, expected) in [
        (&["--gamma", "1"][..], "--gamma"),
        (&["-o", "model.banach"], "--output"),
        (&["--p", "1.1"], "--p"),
        (&["--kernel", "exp"], "infinitely many"),
        (&["--max-terms", "0"], "--max-terms"),
        (&["--loss", "huber"], "least squares"),
        (&["--memory-limit", "4MB", "--kernel", "poly", "--degree", "1..6"], "memory"),
    ] {
        let said = refused(&[&sparse[..], more].concat());
        assert!(said.contains(expected), "{more:?}: {said}");
    }
    assert!(refused(&["fit", &trial, "--target", "effect", "--max-terms", "3"]).contains("--sparse"));
    let classes = file("classes.csv", "a,y\n1,no\n2,yes\n3,no\n4,yes\n5,yes\n");
    assert!(refused(&["fit", &classes, "--target", "y", "--sparse"]).contains("classes"));
}
