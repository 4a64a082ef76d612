//! `banach path`.

use serde_json::Value;

use super::{banach, invocation::text};

pub(crate) const TRIAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/trial.csv");
pub(crate) const QUADRATIC: [&str; 6] = ["--kernel", "poly", "--degree", "1..2", "--p", "1.05"];

fn path(arguments: &[&str]) -> String {
    let run = banach(&[&["path", TRIAL, "--target", "effect"], &QUADRATIC[..], arguments].concat());
    assert!(run.status.success(), "{}", text(&run.stderr));
    text(&run.stdout)
}

fn object(arguments: &[&str]) -> Value {
    serde_json::from_str(&path(&[arguments, &["--json"]].concat())).expect("JSON and nothing else")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// At every gamma the path is the fit for that gamma.
#[test]
fn a_path_is_made_of_fits() {
    let found = object(&["--gamma", "0.05,0.5,5", "--top", "4"]);
    assert_eq!(found["gammas"], serde_json::json!([0.05, 0.5, 5.0]));
    let function = &found["functions"][0];
    for (at, gamma) in ["0.05", "0.5", "5"].iter().enumerate() {
        let fit = [&["fit", TRIAL, "--target", "effect", "--json", "--gamma", gamma, "--top", "44"], &QUADRATIC[..]];
        let fit: Value = serde_json::from_slice(&banach(&fit.concat()).stdout).expect("JSON");
        let (known, own) = (&fit["functions"][0], &function["fits"][at]);
        let (dual, known_dual) = (number(&own["certificate"]["dual"]), number(&known["certificate"]["dual"]));
        assert!((dual - known_dual).abs() <= 2e-8 * known_dual.abs(), "{dual} {known_dual}");
        for growth in function["monomials"].as_array().expect("a list") {
            let listed = known["top"]["monomials"].as_array().expect("a list");
            let entry = listed.iter().find(|entry| entry["monomial"] == growth["monomial"]);
            // Weights that vanish are not listed.
            let expected = entry.map_or(0.0, |entry| number(&entry["coefficient"]));
            let coefficient = number(&growth["coefficients"][at]);
            assert!((coefficient - expected).abs() < 1e-3, "{gamma} {growth} {expected}");
        }
    }
    let norms: Vec<f64> = function["fits"].as_array().expect("fits").iter().map(|fit| number(&fit["norm"])).collect();
    assert!(norms.is_sorted(), "the larger gamma, the larger the model: {norms:?}");
    assert_eq!(function["monomials"][0]["monomial"], "age * dose");
}

#[test]
fn held_out_scores_are_those_of_the_fit() {
    let found = object(&["--cv", "5"]);
    let fit = banach(&[&["fit", TRIAL, "--target", "effect", "--json"], &QUADRATIC[..]].concat());
    let fit: Value = serde_json::from_slice(&fit.stdout).expect("JSON");
    assert_eq!(found["validation"]["candidates"], fit["validation"]["candidates"]);
    let page = path(&["--cv", "5"]);
    let best = page.lines().filter(|line| line.starts_with("│ >")).collect::<Vec<_>>();
    // A table that is too wide goes on below, with the same row marked.
    let gammas: std::collections::HashSet<&str> = best.iter().filter_map(|line| line.split('┆').nth(1)).collect();
    assert_eq!(gammas.len(), 1, "{page}");
    assert!(best[0].contains("0.4086") && page.contains("age * dose") && page.contains("gamma = 0.007"), "{page}");
}

#[test]
fn what_cannot_be_done_is_said() {
    for (arguments, expected) in [
        (&["path", TRIAL, "--target", "effect", "--gamma", "-1"][..], "gamma"),
        (&["path", TRIAL, "--target", "effect", "--gammas", "0"], "gammas"),
        (&["path", TRIAL, "--target", "effect", "--gammas", "3", "--gamma", "1"], "cannot be used"),
        (&["path", TRIAL, "--target", "nothing"], "nothing"),
        (&["path", TRIAL, "--target", "effect", "--memory-limit", "1kB"], "memory"),
    ] {
        let run = banach(arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", text(&run.stdout));
        assert!(text(&run.stderr).contains(expected), "{arguments:?}: {}", text(&run.stderr));
    }
    let run =
        banach(&["path", TRIAL, "--target", "effect", "--loss", "absolute", "--max-iterations", "1", "--gammas", "3"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stdout).contains("NOT CONVERGED"), "{}", text(&run.stdout));
}

#[test]
fn the_guide_lists_every_key() {
    fn collect(value: &Value, keys: &mut Vec<String>) {
        match value {
            Value::Object(entries) => entries.iter().for_each(|(key, value)| {
                keys.push(key.clone());
                collect(value, keys);
            }),
            Value::Array(values) => values.iter().for_each(|value| collect(value, keys)),
            _ => {}
        }
    }
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");
    let guide = std::fs::read_to_string(guide).expect("the page exists");
    let mut keys = Vec::new();
    collect(&object(&["--cv", "3", "--gammas", "3"]), &mut keys);
    assert!(keys.iter().all(|key| guide.contains(&format!("`{key}`"))), "{keys:?}");
}
