//! `banach fit --sparse`.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text, json, one_line, printed};

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
    let run = banach(&[&asked[..], &["--explain"]].concat());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    for expected in [
        "sparse: 2 terms of 44 monomials explain 98.54 % of the variance",
        "search: every step to one monomial more, less or other raises the criterion",
        "verdict: better than a constant on unseen rows: RMSE",
        "The variables of the terms are differences from means: age - 49.28, ",
        "\neffect = 30.752 + 0.051557 * age * dose - 0.08509 * pulse - 0.2512 * age - 2.541 * dose\n",
    ] {
        assert!(said.contains(expected), "{expected} is missing in\n{said}");
    }
    let run = banach(&[&asked[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&text(&run.stdout)).expect("JSON and nothing else");
    let sparse = &found["functions"][0];
    let names: Vec<&str> =
        sparse["terms"].as_array().expect("terms").iter().filter_map(|term| term["monomial"].as_str()).collect();
    assert_eq!(names, ["age * dose", "pulse"]);
    assert!((sparse["terms"][0]["coefficient"].as_f64().expect("a number") - 0.05).abs() < 0.005);
    assert_eq!(sparse["dictionary"], 44.0);
    assert_eq!(sparse["certificate"]["kind"], "steps");
    assert!(sparse["certificate"]["exchange"].as_f64().is_some_and(|rise| rise > 0.0));
    let within = |term: &Value| {
        term["lower"].as_f64() < term["refit"].as_f64() && term["refit"].as_f64() < term["upper"].as_f64()
    };
    assert!(sparse["terms"].as_array().expect("terms").iter().all(within));
    assert_eq!(sparse["sizes"][0]["criterion"], 0.0);
    let one = banach(&[&asked[..], &["--max-terms", "1", "--json"]].concat());
    let found: Value = serde_json::from_str(&text(&one.stdout)).expect("JSON and nothing else");
    let sparse = &found["functions"][0];
    assert_eq!(sparse["terms"].as_array().map(Vec::len), Some(1));
    assert_eq!(sparse["certificate"]["addition"], Value::Null, "no more terms are allowed");
}

/// The value of an equation at a row, by the numbers that JSON tells of it.
fn written(equation: &Value, row: &dyn Fn(&str) -> f64) -> f64 {
    let number = |value: &Value| value.as_f64().expect("a number");
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let factor = |factor: &Value| {
        let name = factor["variable"].as_str().expect("a name");
        let stands = list(&equation["substitutions"]).into_iter().find(|one| one["variable"] == name);
        let x = row(name);
        let x = stands.map_or(x, |one| (x - number(&one["minus"])) / number(&one["over"]));
        x.powi(factor["power"].as_i64().expect("a power") as i32)
    };
    let term = |term: &Value| number(&term["coefficient"]) * list(&term["factors"]).iter().map(factor).product::<f64>();
    number(&equation["constant"]) + list(&equation["terms"]).iter().map(term).sum::<f64>()
}

/// Rows with two columns that are so many of their deviations from 0.
fn distant(ratio: f64) -> (String, Vec<[f64; 2]>) {
    let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    let rows: Vec<[f64; 2]> = (0..60).map(|i| [ratio + jumble(i + 1), 0.01 * (ratio + jumble(i + 61))]).collect();
    let line = |(i, [a, b]): (usize, &[f64; 2])| {
        let y = 7.0 + 3.0 * (a - ratio) * (100.0 * b - ratio) + (a - ratio) + 0.05 * jumble(i + 500);
        format!("{a},{b},{y}\n")
    };
    ("a-b,b,y\n".to_owned() + &rows.iter().enumerate().map(line).collect::<String>(), rows)
}

#[test]
fn equations_are_in_the_units_of_the_columns_and_are_what_is_predicted() {
    for (ratio, far) in [(3.0, false), (1e6, true)] {
        let (table, rows) = distant(ratio);
        let (data, model) = (file("distant.csv", &table), file("distant.banach", ""));
        let asked = ["fit", &data, "--target", "y", "--kernel", "poly", "--degree", "1..2", "--sparse", "-o", &model];
        let found = json(&asked);
        let function = &found["functions"][0];
        let lines = function["where"].as_array().expect("a list");
        assert_eq!(!lines.is_empty(), far, "{function}");
        let (said, info) = (printed(&asked), printed(&["info", &model]));
        let equation = function["equation"].as_str().expect("text");
        for text in [&said, &info] {
            assert!(text.contains(equation) && text.contains("\nwhere\n  `z_a-b` = `a-b` - 999999.9") == far, "{text}");
        }
        let predicted = printed(&["predict", &model, &data]);
        for (line, row) in predicted.lines().skip(1).zip(&rows) {
            let value = written(&function["written"], &|name| row[usize::from(name == "b")]);
            let expected = line.parse::<f64>().expect("a number");
            assert!((value - expected).abs() < 1e-9 * 20.0, "{ratio}: {value} {expected}");
        }
        // The code has the same numbers.
        let code: Value = serde_json::from_str(&printed(&["export", &model, "--as", "json"])).expect("JSON");
        let minus = &code["equations"][0]["terms"][0]["factors"][0]["minus"];
        assert_eq!(minus.as_f64().is_some_and(|minus| minus != 0.0), far, "{code}");
    }
}

/// An equation beside a model of many terms, or beside a chosen one, is a model itself.
#[test]
fn an_equation_is_saved_predicted_explained_and_exported() {
    let (trial, model, equation) = (root("examples/trial.csv"), file("many.banach", ""), file("few.banach", ""));
    let lp = ["--kernel", "poly", "--degree", "1..2", "--gamma", "1", "--select", "4", "-o", &model];
    for (asked, intervals) in [(&lp[..], false), (&["--effort", "quick"][..], true)] {
        let asked = [&["fit", &trial, "--target", "effect", "--save-equation", &equation], asked].concat();
        let found = json(&asked);
        assert_eq!(found["saved_equation"], equation);
        let told = if intervals { &found["terms"] } else { &found["functions"][0]["selection"] };
        let told = if intervals { &told[0] } else { told };
        let info = json(&["info", &equation]);
        let own = &info["functions"][0];
        assert_eq!((&own["equation"], &own["terms"]), (&told["equation"], &told["terms"]));
        assert!(printed(&asked).contains("saved:  the equation, "));
        let predicted = printed(&["predict", &equation, &trial]);
        let table = std::fs::read_to_string(&trial).expect("a file");
        let mut lines = table.lines();
        let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
        for (line, row) in predicted.lines().skip(1).zip(lines) {
            let row: Vec<&str> = row.split(',').collect();
            let field = |name: &str| header.iter().position(|own| *own == name).expect("a column");
            let value = written(&own["written"], &|name| row[field(name)].parse().expect("a number"));
            assert!((value - line.parse::<f64>().expect("a number")).abs() < 1e-9, "{value} {line}");
        }
        assert!(printed(&["predict", &equation, &trial, "--explain"]).contains("age * dose"));
        assert!(printed(&["export", &equation, "--as", "sql"]).contains("\"dose\""));
        assert!(printed(&["features", &equation]).contains("effect = "));
        let run = banach(&["predict", &equation, &trial, "--interval", "0.8"]);
        assert_eq!(run.status.success(), intervals, "{}", text(&run.stderr));
    }
    let refusals = [
        (&["--gamma", "1"][..], "add --select K"),
        (&["--sparse"], "--sparse"),
        (&["--gamma", "1", "--select", "2", "-o", &equation], "name the same file"),
    ];
    for (more, expected) in refusals {
        let said = refused(&[&["fit", &trial, "--target", "effect", "--save-equation", &equation], more].concat());
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn counts_have_no_evidence_and_the_message_says_what_to_do() {
    let rows: Vec<String> = (0..30).map(|i| format!("{},{}", i % 7, i % 5)).collect();
    let data = file("few-counts.csv", &format!("x,n\n{}\n", rows.join("\n")));
    let said = refused(&["fit", &data, "--target", "n", "--loss", "poisson", "--sparse"]);
    assert!(said.contains("for counts, fit a model with the poisson loss") && said.contains("square roots"), "{said}");
}

/// The model file: what is printed of the fit is printed of the file, and predictions are those of the equation.
#[test]
fn a_model_of_few_terms_is_kept_in_a_file() {
    let (trial, model) = (root("examples/trial.csv"), file("trial.banach", ""));
    let asked = ["fit", &trial, "--target", "effect", "--kernel", "poly", "--degree", "1..2", "--sparse"];
    let fitted = json(&[&asked[..], &["-o", &model]].concat());
    assert_eq!(fitted["saved"], model);
    for command in ["features", "info"] {
        let told = json(&[command, &model]);
        assert_eq!(told["functions"], fitted["functions"], "{command}");
    }
    let told = json(&["info", &model]);
    assert_eq!((&told["format_version"], &told["data"]["samples"]), (&2.into(), &60.into()));
    assert_eq!((&told["spec"], &told["data"]["target"]), (&fitted["spec"], &"effect".into()));
    let said = one_line(&printed(&["info", &model]));
    assert!(said.contains("which are not in the file") && said.contains("few terms by evidence"), "{said}");
    let (listed, page) = (printed(&["features", &model, "--relevance"]), printed(&asked));
    let table = page.split_once("\nTerms.").expect("a table").1;
    assert!(listed.contains(table.trim_end()) && listed.contains("no relevance"), "{listed}");

    // f(x) = b + sum of coefficients times products of x less the means.
    let function = &fitted["functions"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let mean = |name: &Value| {
        let centres = function["centres"].as_array().expect("a list");
        number(&centres.iter().find(|centre| centre["variable"] == *name).expect("centred")["mean"])
    };
    // Only the columns of the terms are needed, in any order.
    let some = file("some.csv", "pulse,color,dose,age\n70,red,3.5,61\n80,blue,1.25,40\n");
    let predicted = printed(&["predict", &model, &some]);
    let rows = [[("pulse", 70.0), ("dose", 3.5), ("age", 61.0)], [("pulse", 80.0), ("dose", 1.25), ("age", 40.0)]];
    for (line, row) in predicted.lines().skip(1).zip(rows) {
        let factor = |factor: &Value| {
            let name = factor["variable"].as_str().expect("text");
            row.iter().find(|(known, _)| *known == name).expect("a column").1 - mean(&factor["variable"])
        };
        let term = |term: &Value| {
            number(&term["coefficient"])
                * term["factors"].as_array().expect("a list").iter().map(factor).product::<f64>()
        };
        let terms: f64 = function["terms"].as_array().expect("terms").iter().map(term).sum();
        let (expected, got) = (number(&function["intercept"]) + terms, line.parse::<f64>().expect("a number"));
        assert!((expected - got).abs() < 1e-9, "{expected} {got}");
    }
    let explained = json(&["predict", &model, &some, "--explain"]);
    let parts = &explained["explanations"][0];
    for (row, line) in predicted.lines().skip(1).enumerate() {
        let contributions = parts["rows"][row]["contributions"].as_array().expect("a list");
        let sum: f64 = contributions.iter().map(|one| number(&one["value"])).sum();
        assert_eq!(parts["rows"][row]["others"], 0.0);
        assert!((number(&parts["constant"]) + sum - line.parse::<f64>().expect("a number")).abs() < 1e-9);
    }
    let said = refused(&["predict", &model, &file("missing.csv", "pulse,dose\n70,3.5\n")]);
    assert!(said.contains("age"), "{said}");
    let said = refused(&["predict", &model, &some, "--proba"]);
    assert!(said.contains("classes"), "{said}");
}

/// Three classes by two of four variables and a product.
fn kinds() -> String {
    let mut csv = "a,b,c,d,kind\n".to_owned();
    let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 4.0 - 2.0;
    for i in 0..150 {
        let [a, b, c, d] = [1, 2, 3, 4].map(|j| jumble(4 * i + j));
        let score = 2.0 * a + 1.5 * b * c + 0.7 * jumble(i + 5000);
        let kind = ["low", "<mid>", "high"][usize::from(score > -1.5) + usize::from(score > 1.5)];
        writeln!(csv, "{a},{b},{c},{d},{kind}").expect("a string takes all");
    }
    csv
}

#[test]
fn classes_are_told_apart_by_few_terms() {
    let (data, model) = (file("kinds.csv", &kinds()), file("kinds.banach", ""));
    let fit = ["fit", &data, "--target", "kind", "--kernel", "poly", "--degree", "1..2", "--sparse"];
    let fitted = json(&[&fit[..], &["-o", &model]].concat());
    let functions = fitted["functions"].as_array().expect("three");
    assert_eq!(
        functions.iter().map(|function| function["class"].as_str()).collect::<Vec<_>>(),
        [Some("<mid>"), Some("high"), Some("low")]
    );
    for function in &functions[1..] {
        let terms = function["terms"].as_array().expect("terms");
        let mut names: Vec<&str> = terms.iter().filter_map(|term| term["monomial"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b * c"], "{function}");
        assert!(function["equation"].as_str().is_some_and(|equation| equation.starts_with("decision = ")));
    }
    assert_eq!(json(&["features", &model])["functions"], fitted["functions"]);
    let predicted = printed(&["predict", &model, &data, "--proba"]);
    let rows: Vec<Vec<&str>> = predicted.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let truth = kinds();
    let right = truth.lines().skip(1).zip(&rows).filter(|(line, row)| line.ends_with(row[0])).count();
    assert!(right > 110, "{right} of 150");
    for row in rows {
        let sum: f64 = row[1..].iter().map(|number| number.parse::<f64>().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
    for penalty in ["l1", "mcp", "scad"] {
        let fitted = json(&[&fit[..], &["--loss", "logistic", "--penalty", penalty]].concat());
        for function in fitted["functions"].as_array().expect("three") {
            let certificate = &function["certificate"];
            let distance = if penalty == "l1" { &certificate["relative_gap"] } else { &certificate["violation"] };
            assert!(distance.as_f64().is_some_and(|distance| distance <= 1e-6), "{penalty} {certificate}");
            let names: Vec<&str> = function["terms"]
                .as_array()
                .expect("terms")
                .iter()
                .filter_map(|term| term["monomial"].as_str())
                .collect();
            let middle = function["class"] == "<mid>";
            assert!(middle || ["a", "b * c"].iter().all(|name| names.contains(name)), "{penalty} {function}");
        }
    }
    let said = refused(&[&fit[..], &["--penalty", "mcp", "--hierarchy", "weak"]].concat());
    assert!(said.contains("--hierarchy"), "{said}");
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
    let noise = file("noise.csv", &csv);
    let fit = ["fit", &noise, "--target", "y", "--kernel", "poly", "--degree", "1..2"];
    let model = file("noise.banach", "");
    for arguments in [&[&fit[..], &["--sparse", "-o", &model]].concat()[..], &["info", &model], &["features", &model]] {
        let said = printed(arguments);
        assert!(said.contains("nothing can be named at this number of rows"), "{said}");
    }
    // Its predictions are the mean, and need no column.
    let predicted = printed(&["predict", &model, &noise]);
    let mut values: Vec<&str> = predicted.lines().skip(1).collect();
    values.dedup();
    assert_eq!((values.len(), predicted.lines().count()), (1, 31));
    // Nor has a model with a penalty an equation.
    let said = printed(&[&fit[..], &["--gamma", "1", "--select", "3"]].concat());
    assert!(said.contains("note: nothing can be named at this number of rows") && !said.contains("Equation"), "{said}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let trial = root("examples/trial.csv");
    let sparse = ["fit", &trial, "--target", "effect", "--sparse"];
    for (more, expected) in [
        (&["--gamma", "1"][..], "--gamma"),
        (&["-o", &trial], "that is the file to be read"),
        (&["--penalty", "ridge"], "evidence, l1, mcp or scad"),
        (&["--hierarchy", "some"], "none, weak or strong"),
        (&["--p", "1.1"], "--p"),
        (&["--kernel", "exp"], "infinitely many"),
        (&["--max-terms", "0"], "--max-terms"),
        (&["--loss", "huber"], "--loss"),
        (&["--memory-limit", "4MB", "--kernel", "poly", "--degree", "1..6"], "memory"),
    ] {
        let said = refused(&[&sparse[..], more].concat());
        assert!(said.contains(expected), "{more:?}: {said}");
    }
    for alone in [["--max-terms", "3"], ["--penalty", "mcp"]] {
        assert!(refused(&[&["fit", &trial, "--target", "effect"][..], &alone].concat()).contains("--sparse"));
    }
}
