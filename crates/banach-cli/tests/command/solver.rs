//! `--solver paper`: the algorithms of the paper and their parameters, in fits, paths and model files.

use std::{fmt::Write as _, path::PathBuf, process::Command};

/// A table of its own for every test.
fn table(name: &str) -> (String, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("solver");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut rows = "a,b,c,y\n".to_owned();
    for i in 0..30 {
        let [a, b, c] = [0.7, 1.9, 3.1].map(|step: f64| (step * f64::from(i)).sin());
        let _ = writeln!(rows, "{a},{b},{c},{}", 2.0 * a - b + 0.1 * (5.3 * f64::from(i)).cos());
    }
    let path = folder.join(format!("{name}.csv"));
    std::fs::write(&path, rows).expect("written");
    (path.display().to_string(), folder)
}

fn banach(arguments: &[&str]) -> (Option<i32>, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_banach")).args(arguments).arg("--quiet").output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (run.status.code(), text(run.stdout), text(run.stderr))
}

const PAPER: [&str; 8] = ["--target", "y", "--gamma", "5", "--tolerance", "1e-6", "--max-iterations", "20000"];

fn fitted(arguments: &[&str]) -> serde_json::Value {
    let (code, out, err) = banach(&[arguments, &["--json"]].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn every_algorithm_has_its_own_iterations_and_one_solution() {
    let (path, folder) = table("iterations");
    let fit = |options: &[&str]| {
        let object = fitted(&[&["fit", &path], &PAPER[..], options].concat());
        let function = &object["functions"][0];
        assert!(function["certificate"]["relative_gap"].as_f64().is_some_and(|gap| gap <= 1e-6), "{options:?}");
        (
            function["iterations"].as_u64().expect("a count"),
            function["certificate"]["primal"].as_f64().expect("a number"),
        )
    };
    let (_, expected) = fit(&[]);
    let mut counts: Vec<u64> = vec![];
    for options in [
        &["--solver", "paper"][..],
        &["--solver", "paper", "--theta", "0.9", "--delta", "0.2"],
        &["--solver", "paper", "--algorithm", "2.1"],
        &["--solver", "paper", "--algorithm", "2.1", "--lambda-bar", "0.01", "--rule", "restart"],
    ] {
        let (count, primal) = fit(options);
        assert!((primal - expected).abs() <= 2e-6 * expected, "{options:?}: {primal} {expected}");
        counts.push(count);
    }
    let distinct: std::collections::BTreeSet<u64> = counts.iter().copied().collect();
    assert_eq!(distinct.len(), counts.len(), "{counts:?}");

    let model = folder.join("model.banach").display().to_string();
    let options = ["--solver", "paper", "--algorithm", "2.1", "--theta", "0.9", "-o", &model];
    fitted(&[&["fit", &path], &PAPER[..], &options].concat());
    let (_, info, _) = banach(&["info", &model]);
    assert!(info.contains("solver paper (algorithm = 2.1, theta = 0.9)"), "{info}");
    let spec = &fitted(&["info", &model])["spec"]["solver"];
    assert_eq!(*spec, serde_json::json!({"name": "paper", "algorithm": "2.1", "theta": 0.9}));

    let along =
        ["path", &path, "--target", "y", "--gamma", "0.5,1,2", "--tolerance", "1e-6", "--max-iterations", "20000"];
    assert_eq!(fitted(&[&along[..], &["--solver", "paper", "--delta", "0.3"]].concat())["status"], "converged");
}

#[test]
fn what_a_solver_cannot_be_told_is_refused_before_the_data_are_read() {
    for (options, expected) in [
        (&["--delta", "0.5"][..], "option of the solver paper"),
        (&["--solver", "newton", "--algorithm", "2.1"], "option of the solver paper"),
        (&["--solver", "paper", "--delta", "2"], "--delta = 2; allowed"),
        (&["--solver", "paper", "--theta", "0"], "--theta = 0; allowed"),
        (&["--solver", "paper", "--lambda-bar", "-1"], "--lambda-bar = -1; allowed"),
        (&["--solver", "paper", "--algorithm", "2.2"], "2.1, for the squared loss"),
        (&["--solver", "paper", "--rule", "never"], "restart"),
        (&["--solver", "sgd"], "auto, newton or paper"),
    ] {
        let (code, _, err) = banach(&[&["fit", "/nowhere/data.csv"], &PAPER[..], options].concat());
        assert!(code == Some(2) && err.contains(expected), "{options:?}: {code:?} {err}");
    }
    let (path, _) = table("refused");
    for (options, expected) in
        [(&["--loss", "absolute"][..], "squared"), (&["--lambda-bar", "5"], "--lambda-bar = 5; allowed")]
    {
        let solver = ["--solver", "paper", "--algorithm", "2.1"];
        let (code, _, err) = banach(&[&["fit", &path], &PAPER[..], &solver, options].concat());
        assert!(code == Some(2) && err.contains(expected), "{options:?}: {code:?} {err}");
    }
}

#[test]
fn the_rule_of_the_paper_is_a_sentence_of_the_explanation() {
    let (path, _) = table("rule");
    // 9 monomials: 2 * 9^(1/3) = 4.2.
    let (_, page, err) =
        banach(&[&["fit", &path, "--explain", "--kernel", "poly", "--degree", "1..2"], &PAPER[..]].concat());
    assert!(page.contains("(21), n <= 2 card(K)^(1/3), does not hold: 30 > 4.2."), "{page}{err}");
    let (_, page, _) = banach(&[&["fit", &path, "--explain", "--p", "1.1"], &PAPER[..]].concat());
    assert!(!page.contains("(21)"), "{page}");
}
