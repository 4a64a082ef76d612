//! The verdict on unseen rows, and which rows are held out.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text, json, printed};

/// A file of this test's own.
fn path(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("verdict");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name).to_str().expect("a plain path").to_owned()
}

/// Numbers without a pattern, about normal.
fn noise(at: usize) -> f64 {
    let uniform = |k: usize| {
        let mut z = (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..6).map(|k| uniform(6 * at + k) - 0.5).sum::<f64>() * 1.4
}

/// A column by its name, and its field in a row with this noise.
type FurtherColumn<'c> = (&'c str, &'c dyn Fn(usize, &[f64]) -> String);

/// A table of noise in columns x1, x2, ..., and further columns by their names, made of the row and its noise.
fn table(name: &str, rows: usize, columns: usize, further: &[FurtherColumn<'_>]) -> String {
    let mut header: Vec<String> = (1..=columns).map(|at| format!("x{at}")).collect();
    header.extend(further.iter().map(|(name, _)| (*name).to_owned()));
    let mut contents = header.join(",") + "\n";
    for row in 0..rows {
        let x: Vec<f64> = (0..columns).map(|column| noise(row * columns + column)).collect();
        let mut fields: Vec<String> = x.iter().map(ToString::to_string).collect();
        fields.extend(further.iter().map(|(_, value)| value(row, &x)));
        writeln!(contents, "{}", fields.join(",")).expect("a string");
    }
    let path = path(name);
    std::fs::write(&path, contents).expect("written");
    path
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

const ONE: [&str; 4] = ["--p", "2", "--gamma", "1"];

#[test]
fn noise_is_no_discovery_in_any_way_of_fitting() {
    let data = table("noise.csv", 20, 40, &[("y", &|row, _| noise(9_000_000 + row).to_string())]);
    for way in [&["--effort", "quick"][..], &["--p", "1.1"], &["--sparse"]] {
        let said = printed(&[&["fit", &data, "--target", "y"], way].concat());
        assert!(said.starts_with("verdict: no better than a constant on unseen rows"), "{way:?}: {said}");
        assert!(said.lines().take(5).any(|line| line.contains("Do not read the tables")), "{way:?}: {said}");
    }
    let page = path("noise.html");
    let found = json(&["fit", &data, "--target", "y", "--effort", "quick", "--report", &page]);
    assert_eq!(found["assessment"]["better"], false);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("no better than a constant on unseen rows"));
}

#[test]
fn a_signal_is_found_and_its_scores_are_pooled_over_folds() {
    let signal = |row: usize, x: &[f64]| (3.0 * x[0] - 2.0 * x[1] + noise(1_000_000 + row)).to_string();
    let data = table("signal.csv", 60, 6, &[("y", &signal)]);
    let found = json(&["fit", &data, "--target", "y", "--p", "1.2", "--permutations", "19"]);
    let (assessment, held_out) = (&found["assessment"], &found["validation"]["held_out"]["samples"]);
    assert_eq!(
        (&assessment["better"], &assessment["how"], &assessment["rows"]),
        (&true.into(), &"5 folds".into(), &60.into())
    );
    let rows = held_out.as_array().expect("rows");
    let errors = rows.iter().map(|row| (number(&row["targets"][0]) - number(&row["predictions"][0])).powi(2));
    let rmse = (errors.sum::<f64>() / 60.0).sqrt();
    let scores = &assessment["numbers"][0];
    assert!((number(&scores["rmse"]) - rmse).abs() < 1e-9 * rmse, "{scores}");
    let q2 = 1.0 - (rmse / number(&scores["constant_rmse"])).powi(2);
    assert!((number(&scores["q2"]) - q2).abs() < 1e-9 && q2 > 0.6, "{scores}");
    let taken = found["validation"]["chosen"].as_u64().expect("a place") as usize;
    let score = &found["validation"]["candidates"][taken]["score"];
    assert!((number(&score["mean"]) - q2).abs() < 1e-9 && score["standard_error"].is_null(), "{score}");
    assert_eq!(assessment["permutations"], serde_json::json!({"permutations": 19, "as_good": 0}));
    assert!(number(&assessment["chance"]) < 0.01);
    // Leaders at other gammas are told, and the solver's error only on request.
    assert_eq!(found["functions"][0]["leaders"].as_array().map(Vec::len), Some(2));
    let plain = printed(&["fit", &data, "--target", "y", "--p", "1.2"]);
    assert!(plain.contains("Other gammas, other leaders") && plain.contains("only stability tells"), "{plain}");
    assert!(!plain.contains("solver error") && !plain.to_lowercase().contains("proven"), "{plain}");
    let explained = printed(&["fit", &data, "--target", "y", "--p", "1.2", "--explain"]);
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(explained.contains("solver error") && explained.contains("says nothing of chance"), "{explained}");
}

#[test]
fn classes_have_a_confusion_table_and_a_test_of_their_own() {
    let class =
        |row: usize, x: &[f64]| if 2.0 * x[0] + noise(2_000_000 + row) > 0.7 { "ill" } else { "well" }.to_owned();
    let data = table("classes.csv", 80, 3, &[("type", &class)]);
    let contents = std::fs::read_to_string(&data).expect("the table");
    let (header, rows) = contents.split_once('\n').expect("a header");
    let lines: Vec<&str> = rows.lines().collect();
    let (train, test) = (path("train.csv"), path("test.csv"));
    for (file, lines) in [(&train, &lines[..50]), (&test, &lines[50..])] {
        std::fs::write(file, format!("{header}\n{}\n", lines.join("\n"))).expect("written");
    }
    let fit = |more: &[&str]| json(&[&["fit", &train, "--target", "type", "--test", &test], more].concat());
    for way in [&["--effort", "quick"][..], &ONE, &["--sparse"]] {
        let found = fit(way);
        for (part, rows) in [("assessment", 50), ("test", 30)] {
            let classes = &found[part]["classes"];
            assert_eq!(classes["labels"], serde_json::json!(["ill", "well"]), "{way:?}");
            let counts =
                classes["confusion"].as_array().expect("rows").iter().flat_map(|row| row.as_array().expect("counts"));
            let counts: Vec<f64> = counts.map(number).collect();
            assert_eq!((counts.iter().sum::<f64>(), &found[part]["rows"]), (f64::from(rows), &rows.into()), "{way:?}");
            let accuracy = (counts[0] + counts[3]) / f64::from(rows);
            assert!((number(&classes["accuracy"]) - accuracy).abs() < 1e-9, "{way:?} {classes}");
            assert!(number(&classes["auc"]) > 0.7 && number(&classes["balanced_accuracy"]) > 0.55, "{way:?} {classes}");
        }
        assert!(found["test"]["how"].as_str().is_some_and(|how| how.contains("test.csv")));
    }
    let balanced = &fit(&[&ONE[..], &["--class-weight", "balanced"]].concat())["assessment"]["classes"];
    let plain = &fit(&ONE)["assessment"]["classes"];
    assert!(number(&balanced["confusion"][0][0]) >= number(&plain["confusion"][0][0]), "{plain} {balanced}");
    let refused = banach(&["fit", &data, "--target", "x1", "--class-weight", "balanced"]);
    assert!(text(&refused.stderr).contains("--class-weight"), "{}", text(&refused.stderr));
}

#[test]
fn groups_and_time_are_never_on_both_sides() {
    // Four rows of each patient are almost twins; nothing tells one patient from another.
    let patient = |row: usize| row / 4;
    let twin = |row: usize, _: &[f64]| (noise(3_000_000 + patient(row)) + 0.01 * noise(row)).to_string();
    let level = |row: usize, _: &[f64]| noise(4_000_000 + patient(row)).to_string();
    let name = |row: usize, _: &[f64]| format!("patient {}", patient(row) % 12);
    let day = |row: usize, _: &[f64]| format!("2024-{:02}-{:02}", 1 + row / 28, 1 + row % 28);
    let weight = |row: usize, _: &[f64]| if row == 0 { "0".to_owned() } else { "2.5".to_owned() };
    let further: [FurtherColumn<'_>; 5] =
        [("twin", &twin), ("patient", &name), ("day", &day), ("heavy", &weight), ("y", &level)];
    let data = table("groups.csv", 48, 0, &further[..]);
    let smooth = ["--kernel", "exp", "--p", "2", "--scale", "10", "--normalize-kernel", "--gamma", "10"];
    let drop = |columns: &str| ["--drop".to_owned(), columns.to_owned()];
    let fit = |columns: &str, more: &[&str]| {
        let drop = drop(columns);
        json(&[&["fit", &data, "--target", "y", &drop[0], &drop[1]], &smooth[..], more].concat())["assessment"].clone()
    };
    let leaky = fit("patient,day,heavy", &[]);
    let honest = fit("day,heavy", &["--groups", "patient"]);
    assert_eq!((&leaky["better"], &honest["better"]), (&true.into(), &false.into()), "{leaky} {honest}");
    assert_eq!(honest["how"], "5 folds of whole groups");
    let forward = fit("patient,heavy", &["--time", "day", "--cv", "3"]);
    assert_eq!((&forward["how"], &forward["rows"]), (&"3 folds forward in time".into(), &36.into()));
    // Twenty blocks of time can be shifted in 19 ways.
    let shifted = fit("patient,heavy", &["--time", "day", "--cv", "3", "--permutations", "30"]);
    assert_eq!(shifted["permutations"]["permutations"], 19, "{shifted}");
    let weighted = fit("patient,day", &["--weights", "heavy"]);
    assert_eq!((&weighted["rows"], &weighted["better"]), (&47.into(), &true.into()));
    let repeated = fit("patient,day,heavy", &["--repeats", "3"]);
    assert_eq!((&repeated["how"], &repeated["rows"]), (&"5 folds, dealt 3 times".into(), &48.into()));
    assert_eq!(fit("patient,day,heavy", &["--leave-one-out"])["how"], "each row left out");
    // The automatic choice and few terms hold out the same groups.
    for (way, how) in
        [(&["--effort", "quick"][..], "10 folds of whole groups"), (&["--sparse"], "5 folds of whole groups")]
    {
        let asked = [&["fit", &data, "--target", "y", "--drop", "day,heavy", "--groups", "patient"][..], way].concat();
        let found = json(&asked);
        assert_eq!(found["assessment"]["how"], how, "{way:?}");
        assert_eq!(found["data"]["variables"].as_array().map(Vec::len), Some(1));
    }
    for (wrong, expected) in [
        (&["--groups", "nobody"][..], "nobody"),
        (&["--weights", "patient"], "weights are numbers"),
        (&["--time", "day", "--cv", "60"], "different times"),
    ] {
        let run = banach(&[&["fit", &data, "--target", "y", "--gamma", "1", "--drop", "twin,day"], wrong].concat());
        assert!(run.status.code() == Some(2) && text(&run.stderr).contains(expected), "{}", text(&run.stderr));
    }
}

#[test]
fn gammas_are_listed_and_several_targets_have_a_model_each() {
    let signal = |row: usize, x: &[f64]| (x[0] + 0.3 * noise(5_000_000 + row)).to_string();
    let other = |row: usize, x: &[f64]| (x[1] - x[2] + 0.3 * noise(6_000_000 + row)).to_string();
    let data = table("targets.csv", 40, 3, &[("a", &signal), ("b", &other)]);
    let gammas = |asked: &str| {
        let found = json(&["fit", &data, "--target", "a", "--gamma", asked]);
        let candidates = found["validation"]["candidates"].as_array().expect("a search").clone();
        candidates.iter().map(|one| number(&one["gamma"])).collect::<Vec<f64>>()
    };
    assert_eq!(gammas("10,0.1,1"), [0.1, 1.0, 10.0]);
    let range = gammas("0.01..100:5");
    assert!(range.len() == 5 && (range[2] - 1.0).abs() < 1e-12, "{range:?}");
    assert!(text(&banach(&["fit", &data, "--target", "a", "--gamma", "1..0"]).stderr).contains("0.01..100"));
    let model = path("targets.banach");
    let found = json(&["fit", &data, "--target", "a,b", "--gamma", "10", "-o", &model]);
    let targets: Vec<&Value> = found.as_array().expect("a list").iter().map(|one| &one["data"]["target"]).collect();
    assert_eq!(targets, ["a", "b"]);
    assert!(found[0]["data"]["variables"].as_array().expect("variables").iter().all(|one| one["name"] != "b"));
    assert!(json(&["info", &path("targets-b.banach")]).is_object());
}

/// Whatever tells rows apart is no target: it may be any text, and its rows keep their classes.
#[test]
fn groups_may_be_any_text_and_times_must_have_an_order() {
    let class = |row: usize, _: &[f64]| ["1", "2", "x"][row % 3].to_owned();
    let patient = |row: usize, _: &[f64]| format!("patient {row}");
    let (day, clock) =
        (|row: usize, _: &[f64]| format!("{:02}.01.2024", row % 28 + 1), |_: usize, _: &[f64]| "9:05".to_owned());
    let columns: [FurtherColumn<'_>; 4] = [("kind", &class), ("patient", &patient), ("day", &day), ("clock", &clock)];
    let data = table("apart.csv", 1100, 2, &columns);
    let fit = ["fit", &data, "--target", "kind", "--drop", "day,clock,patient"];
    let found = json(&[&fit[..], &ONE, &["--groups", "patient"]].concat());
    assert_eq!(
        (&found["assessment"]["rows"], &found["data"]["variables"].as_array().map(Vec::len)),
        (&1100.into(), &Some(2))
    );
    for (column, value) in [("day", "01.01.2024"), ("clock", "9:05")] {
        let run = banach(&[&fit[..], &ONE, &["--time", column]].concat());
        let said = text(&run.stderr);
        assert!(run.status.code() == Some(2) && said.contains(value) && said.contains("2024-05-31"), "{said}");
    }
}

#[test]
fn progress_is_for_terminals_only() {
    let line = |row: usize, x: &[f64]| (x[0] + noise(6_000_000 + row)).to_string();
    let data = table("progress.csv", 20, 2, &[("y", &line)]);
    for way in [&["--effort", "quick"][..], &ONE, &["--sparse"]] {
        let run = banach(&[&["fit", &data, "--target", "y", "--permutations", "2", "--json"], way].concat());
        let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        assert_eq!(found["assessment"]["permutations"]["permutations"], 2, "{way:?}");
        assert!(!text(&run.stderr).contains("shuffled"), "{way:?}: {}", text(&run.stderr));
    }
}

#[test]
fn what_would_be_ignored_is_refused() {
    let line = |row: usize, x: &[f64]| (x[0] + noise(5_000_000 + row)).to_string();
    let data = table("ignored.csv", 30, 3, &[("\"dose, mg/l\"", &line), ("a b", &line), ("a_b", &line)]);
    let model = path("ignored.banach");
    for (more, said) in [
        (&["--target", "a b", "--hierarchy", "strong"][..], "--hierarchy strong"),
        (&["--target", "a b", "--theta", "0.5"], "paper"),
        (&["--target", "a b", "--effort", "quick", "--sparse"], "--sparse leaves nothing to it"),
        (&["--target", "a b", "--effort", "normal", "--model", "lp"], "--model lp leaves nothing to it"),
        (&["--target", "a b", "--effort", "quick", "--p", "1.1"], "--p leaves nothing to it"),
        (&["--target", "a b", "--max-seconds", "9", "--sparse"], "--max-seconds 9: it says how much"),
        (&["--target", "a b", "--model", "auto", "--sparse"], "--sparse is a model of its own"),
        (&["--target", "a b", "--gamma", "1..2:99999999999999"], "2 to 1000 values"),
        (&["--target", "a b", "--repeats", "0"], "a whole number > 0"),
        (&["--target", "a b", "--sparse", "--groups", "x1", "--cv", "40"], "folds"),
        (&["--target", "a b,a_b", "--gamma", "1", "-o", &model], "one file"),
    ] {
        let run = banach(&[&["fit", &data], more].concat());
        let message = text(&run.stderr);
        assert!(run.status.code() == Some(2) && message.contains(said), "{more:?}: {message}");
    }
    // A comma in the name of a column parts nothing.
    let found = json(&[&["fit", &data, "--target", "dose, mg/l"], &ONE[..]].concat());
    assert_eq!(found["data"]["target"], "dose, mg/l");
}
