//! Counts with exposures, and tables with factors.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text, json, printed};

fn path(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("counts");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name).to_str().expect("a plain path").to_owned()
}

fn file(name: &str, contents: &str) -> String {
    std::fs::write(path(name), contents).expect("written");
    path(name)
}

fn refused(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", text(&run.stdout));
    text(&run.stderr)
}

/// Visits of patients: so many a day, for `days`, more with the dose, and in the color that is the drug.
fn visits(row: impl Fn(usize) -> Option<(f64, f64)>) -> String {
    let mut table = "visits,days,dose,age,color\n".to_owned();
    for i in 0..60_usize {
        let (dose, age) = ((i * i % 13) as f64 / 6.0 - 1.0, 20.0 + (i * 7 % 41) as f64);
        let color = ["red", "green", "blue"][i * i % 7 % 3];
        let days = 5.0 + (i * 11 % 50) as f64;
        let mean = days * (0.4 * dose + if color == "red" { 0.8 * dose } else { 0.0 } - 0.5).exp();
        let (visits, days) = row(i).unwrap_or((mean.round(), days));
        let _ = writeln!(table, "{visits},{days},{dose},{age},{color}");
    }
    table
}

#[test]
fn counts_over_exposures_are_fitted_saved_and_predicted() {
    let data = file("visits.csv", &visits(|_| None));
    let model = path("visits.banach");
    let asked = ["fit", &data, "--target", "visits", "--loss", "poisson", "--exposure", "days", "--kernel", "anova"];
    let found = json(&[&asked[..], &["--p", "1.1", "--cv", "4", "-o", &model]].concat());
    assert_eq!((&found["model"]["loss"], &found["status"]), (&Value::from("poisson"), &Value::from("converged")));
    assert_eq!(found["validation"]["metric"], "d2");
    assert!(found["leave_one_out"]["score"].as_f64().is_some_and(|score| score > 0.8), "{}", found["leave_one_out"]);
    let names: Vec<String> =
        found["data"]["variables"].as_array().expect("variables").iter().map(|one| one["name"].to_string()).collect();
    assert!(!names.iter().any(|name| name.contains("days")), "{names:?}");

    // What is predicted are counts of so many days, twice as many in twice the days.
    let counts = |data: &str| -> Vec<f64> {
        printed(&["predict", &model, data]).lines().skip(1).map(|line| line.parse().expect("a number")).collect()
    };
    let predicted = counts(&data);
    let table = visits(|_| None);
    let observed: Vec<f64> =
        table.lines().skip(1).map(|line| line.split(',').next().expect("visits").parse().expect("a number")).collect();
    let off: f64 =
        predicted.iter().zip(&observed).map(|(a, b)| (a - b).abs()).sum::<f64>() / observed.iter().sum::<f64>();
    assert!(off < 0.2, "{off}");
    let twice = visits(|i| {
        let mut fields = table.lines().nth(i + 1).expect("a row").split(',').map(|field| field.parse().unwrap_or(0.0));
        Some((fields.next()?, 2.0 * fields.next()?))
    });
    let doubled = counts(&file("twice.csv", &twice));
    assert!(predicted.iter().zip(&doubled).all(|(one, two)| (2.0 * one - two).abs() <= 1e-9 * two), "{doubled:?}");
    let log = text(&banach(&["predict", &model, &file("without.csv", "dose,age,color\n1,30,red\n")]).stderr);
    assert!(log.contains("days"), "{log}");
    let unknown = file("unknown.csv", "days,dose,age,color\n3,1,30,red\n,1,30,red\n");
    let said = refused(&["predict", &model, &unknown, "--impute", "mean"]);
    assert!(said.contains("line 3, column \"days\": the exposure is missing"), "{said}");
}

#[test]
fn counts_and_exposures_that_cannot_be_are_refused() {
    let fit =
        |data: &str, more: &[&str]| refused(&[&["fit", data, "--target", "visits", "--gamma", "1"][..], more].concat());
    let poisson = ["--loss", "poisson", "--exposure", "days"];
    let idle = file("idle.csv", &visits(|i| (i == 3).then_some((2.0, 0.0))));
    let said = fit(&idle, &poisson);
    assert!(said.contains("line 5, column \"days\": 0e0") && said.contains("leave out"), "{said}");
    let negative = file("negative.csv", &visits(|i| (i == 3).then_some((-2.0, 1.0))));
    let said = fit(&negative, &poisson);
    assert!(said.contains("column \"visits\": -2e0; allowed: counts"), "{said}");
    let plain = file("plain.csv", &visits(|_| None));
    let said = fit(&plain, &["--exposure", "days"]);
    assert!(said.contains("--loss poisson"), "{said}");
    let said = fit(&plain, &["--loss", "poisson", "--exposure", "color"]);
    assert!(said.contains("no such column of numbers"), "{said}");
    assert!(
        banach(&["fit", &plain, "--target", "visits", "--loss", "poisson", "--offset", "days", "--exposure", "days"])
            .status
            .code()
            .is_some_and(|code| code == 2)
    );
}

/// Labels of one column of text are not multiplied with each other, flags have no powers, and poly has degrees 1 to 2.
#[test]
fn products_that_cannot_exist_are_in_no_table() {
    let data = file("factors.csv", &visits(|_| None));
    let asked = ["fit", &data, "--target", "visits", "--kernel", "poly", "--gamma", "1", "--top", "100"];
    let found = json(&asked);
    // Six variables and 21 products, less three powers of labels and three products of two of them.
    assert_eq!(found["model"]["features"], 27.0 - 6.0);
    assert_eq!((&found["model"]["min_degree"], &found["model"]["max_degree"]), (&Value::from(1), &Value::from(2)));
    let top = found["functions"][0]["top"]["monomials"].as_array().map_or(0, Vec::len);
    let text = found["functions"][0]["top"].to_string();
    assert!(
        !text.contains("color=red * color") && !text.contains("color=blue * color=") && !text.contains("color=red^2")
    );
    assert!(top <= 21, "{top}");
    let refused = refused(&[&asked[..], &["--p", "4/3", "--route", "gram"]].concat());
    assert!(refused.contains("labels or two values"), "{refused}");
    // A product only with its factors.
    let strong = json(&[&asked[..], &["--select", "4", "--hierarchy", "strong"]].concat());
    let terms = strong["functions"][0]["selection"]["terms"].as_array().expect("terms").clone();
    let names: Vec<&str> = terms.iter().filter_map(|term| term["monomial"].as_str()).collect();
    for product in names.iter().filter(|name| name.contains(" * ")) {
        assert!(product.split(" * ").all(|factor| names.contains(&factor)), "{names:?}");
    }
}
