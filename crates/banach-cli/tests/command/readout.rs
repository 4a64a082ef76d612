//! What is read out of chosen models: explanations, pairs, effects, and the error of the equation that is offered.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text, json, printed};

/// A file of this test's own.
fn path(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readout");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name).to_str().expect("a plain path").to_owned()
}

/// Rows of four columns without a pattern, and a target of them.
fn table(name: &str, target: impl Fn(&[f64]) -> String) -> String {
    let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    let mut contents = "age,dose,salt,time,y\n".to_owned();
    for row in 0..60 {
        let x: Vec<f64> = (0..4).map(|column| 5.0 + 2.0 * jumble(4 * row + column + 1)).collect();
        let numbers: Vec<String> = x.iter().map(ToString::to_string).collect();
        writeln!(contents, "{},{}", numbers.join(","), target(&x)).expect("a string");
    }
    let path = path(name);
    std::fs::write(&path, contents).expect("written");
    path
}

/// Whether the parts of every explanation add up to the value beside it.
fn adds_up(predicted: &Value) {
    let (explanations, outputs) = (&predicted["explanations"], &predicted["outputs"]);
    let explanations = explanations.as_array().expect("a list");
    assert_eq!(explanations.len(), outputs.as_array().expect("a list").len());
    for (at, explanation) in explanations.iter().enumerate() {
        let rows = explanation["rows"].as_array().expect("rows");
        for (row, reasons) in rows.iter().enumerate() {
            let named = reasons["contributions"].as_array().expect("a list");
            assert!(named.len() <= 3);
            let added: f64 = named.iter().map(|one| one["value"].as_f64().expect("a number")).sum();
            let others = reasons["others"].as_f64().expect("a number");
            let sum = explanation["constant"].as_f64().expect("a number") + added + others;
            let value = outputs[at]["values"][row].as_f64().expect("a number");
            assert!((sum - value).abs() < 1e-9 * (1.0 + value.abs()), "{at} {row}: {sum} {value}");
        }
    }
}

#[test]
fn a_chosen_model_tells_what_its_predictions_are_made_of() {
    let noise = |x: &[f64]| 0.1 * (1e4 * x[3]).sin();
    let wave = |x: &[f64]| ((1.5 * x[0]).sin() + 0.3 * (x[1] - 5.0) * (x[2] - 5.0) + noise(x)).to_string();
    let (data, model, page) = (table("wave.csv", wave), path("wave.banach"), path("wave.html"));
    let fitted = json(&["fit", &data, "--target", "y", "-o", &model, "--report", &page]);
    let verdict = fitted["choice"]["verdict"].as_str().expect("a word").to_owned();
    assert!(verdict == "one" || verdict == "mixture", "{verdict}");
    let (first, second) = (&fitted["pairs"][0]["first"], &fitted["pairs"][0]["second"]);
    assert_eq!((first.as_str(), second.as_str()), (Some("dose"), Some("salt")));
    let effects = fitted["effects"].as_array().expect("a list");
    let of = |name: &str| effects.iter().find(|effect| effect["variable"] == name).expect("it matters");
    assert_eq!(of("age")["values"].as_array().map(Vec::len), Some(20));
    assert_eq!(of("age")["curves"][0]["predictions"].as_array().map(Vec::len), Some(20));
    assert_eq!(of("dose")["partner"]["variable"], "salt");
    let html = std::fs::read_to_string(&page).expect("a page");
    for expected in ["What variables do", "What age does", "<b>dose</b>", "salt at its mean"] {
        assert!(html.contains(expected), "{expected}");
    }

    let predicted = json(&["predict", &model, &data, "--explain"]);
    adds_up(&predicted);
    let explanation = &predicted["explanations"][0];
    assert!(explanation["complete"].is_null() && explanation["unlisted"].is_null());
    assert!(explanation["rows"][0]["contributions"][0]["variables"].is_array());
    let csv = printed(&["predict", &model, &data, "--explain"]);
    assert!(csv.starts_with("prediction,because\n") && csv.contains("dose with salt"), "{csv}");

    let features = json(&["features", &model]);
    for part in ["relevance", "pairs", "effects", "terms", "terms_standing"] {
        assert_eq!(features[part], fitted[part], "{part}");
    }
    assert!(printed(&["features", &model]).contains("What matters together"));
}

#[test]
fn the_equation_has_its_own_error_beside_that_of_the_model() {
    let noise = |x: &[f64]| (1e4 * x[3]).sin();
    let terms = |x: &[f64]| (x[0] * x[1] - 2.0 * x[2] + 0.3 * noise(x)).to_string();
    let (data, model, page) = (table("terms.csv", terms), path("terms.banach"), path("terms.html"));
    let asked = ["fit", &data, "--target", "y", "--effort", "quick", "-o", &model, "--report", &page];
    let (fitted, said) = (json(&asked), printed(&asked));
    let standing = &fitted["terms_standing"];
    assert!(standing["claimed"].is_number() && standing["model"] == fitted["error"], "{standing}");
    let sentence = "of the squared error of a constant";
    let own = said.lines().find(|line| line.starts_with("These terms") && line.contains(sentence)).expect("a sentence");
    let html = std::fs::read_to_string(&page).expect("a page");
    for text in [printed(&["info", &model]), printed(&["features", &model]), html] {
        assert!(text.contains(own) && text.contains("y = "), "{text}");
    }
    let info = json(&["info", &model]);
    assert_eq!((&info["terms"], &info["terms_standing"]), (&fitted["terms"], standing));
    let predicted = json(&["predict", &model, &data, "--explain"]);
    adds_up(&predicted);
    if fitted["choice"]["verdict"] == "terms" {
        assert!(predicted["explanations"][0]["rows"][0]["contributions"][0]["monomial"].is_string());
    }
}

#[test]
fn classes_are_explained_by_their_odds() {
    let class = |x: &[f64]| {
        let value = x[0] + 0.5 * (1e4 * x[3]).sin();
        if value < 4.2 {
            "low"
        } else if value < 5.8 {
            "middle"
        } else {
            "high"
        }
        .to_owned()
    };
    let (data, model, page) = (table("classes.csv", class), path("classes.banach"), path("classes.html"));
    let fitted = json(&["fit", &data, "--target", "y", "--effort", "quick", "-o", &model, "--report", &page]);
    let curves = fitted["effects"][0]["curves"].as_array().expect("a list");
    let classes: Vec<&str> = curves.iter().map(|curve| curve["class"].as_str().expect("a class")).collect();
    assert_eq!(classes, ["high", "low", "middle"]);
    let probability = |at: usize| curves.iter().map(move |curve| curve["predictions"][at].as_f64().expect("a number"));
    assert!((probability(7).sum::<f64>() - 1.0).abs() < 1e-9);
    adds_up(&json(&["predict", &model, &data, "--explain"]));
    let run = banach(&["predict", &model, &data, "--explain", "--proba"]);
    assert!(
        text(&run.stdout).starts_with("prediction,probability_high,probability_low,probability_middle,because_high,")
    );
    assert!(std::fs::read_to_string(&page).expect("a page").contains("class=\"swatch c2\""));
}
