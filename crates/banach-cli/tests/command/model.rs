//! `banach fit -o`, `banach predict`, `banach features` and `banach info`.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{banach, invocation::text, json, one_line, printed};

/// What a run says that must end with this exit code.
fn refused(code: i32, arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert_eq!(run.status.code(), Some(code), "{arguments:?}: {}", text(&run.stderr));
    assert_eq!(text(&run.stdout), "");
    text(&run.stderr)
}

fn path(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("model");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name).to_str().expect("a plain path").to_owned()
}

fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = path(name);
    std::fs::write(&path, contents).expect("written");
    path
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn uniform(k: usize) -> f64 {
    ((k * k) as f64 * 0.618_033_988).fract()
}

/// The rows of a trial: an interaction of age and dose, a constant column, an identifier, and a group by the size of the effect.
fn rows(groups: usize) -> Vec<[String; 7]> {
    let row = |i: usize| {
        let [age, dose] = [20.0 + 60.0 * uniform(3 * i + 1), 10.0 * uniform(5 * i + 2)];
        let pulse = 1e6 + uniform(7 * i + 3);
        let effect = 12.0 + 0.05 * (age - 50.0) * (dose - 5.0) + (pulse - 1e6);
        let group = ((effect - 4.0) / 16.0 * groups as f64).clamp(0.0, groups as f64 - 1.0).floor();
        [
            format!("p{i}"),
            format!("{age:.3}"),
            format!("{dose:.3}"),
            "7".to_owned(),
            format!("{pulse:.6}"),
            format!("{effect:.4}"),
            format!("g\"{group}"),
        ]
    };
    (0..60).map(row).collect()
}

/// Some columns, by their places, in any order.
fn csv(rows: &[[String; 7]], columns: &[usize]) -> String {
    const NAMES: [&str; 7] = ["id", "age", "dose", "same", "pulse", "effect", "group"];
    let mut text = columns.iter().map(|&column| NAMES[column]).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        let fields: Vec<String> =
            columns.iter().map(|&column| format!("\"{}\"", row[column].replace('"', "\"\""))).collect();
        writeln!(text, "{}", fields.join(",")).expect("a string");
    }
    text
}

/// A model of the effect, of degree 2, and where it is.
fn trial(name: &str) -> (String, Value) {
    let (data, model) =
        (file(&format!("{name}.csv"), csv(&rows(2), &[0, 1, 2, 3, 4, 5])), path(&format!("{name}.banach")));
    let arguments =
        ["fit", &data, "--target", "effect", "--drop", "id", "--kernel", "poly", "--degree", "1..2", "--gamma"];
    let fitted = json(&[&arguments[..], &["100", "--p", "1.1", "--top", "4", "--relevance", "-o", &model]].concat());
    assert_eq!(fitted["saved"], Value::from(&model[..]));
    (model, fitted)
}

#[test]
fn what_was_fitted_predicts_new_samples_in_any_order_of_columns() {
    let (model, _) = trial("order");
    let all = rows(2);
    let data = file("order-again.csv", csv(&all, &[0, 1, 2, 3, 4, 5]));
    let predicted = printed(&["predict", &model, &data, "--quiet"]);
    let values: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().expect("a number")).collect();
    assert_eq!((predicted.lines().next(), values.len()), (Some("prediction"), 60));
    for (row, value) in all.iter().zip(&values) {
        let effect: f64 = row[5].parse().expect("a number");
        assert!((effect - value).abs() < 1.5, "{effect} {value}");
    }
    // Without the target and with other columns, in another order.
    let data = file("order-other.csv", csv(&all[..1], &[4, 2, 6, 1]));
    let run = banach(&["predict", &model, &data]);
    assert_eq!(text(&run.stdout), predicted.lines().take(2).map(|line| line.to_owned() + "\n").collect::<String>());
    assert_eq!(text(&run.stderr), "note: columns that the model does not use: \"group\"\n");
    let object = json(&["predict", &model, &data, "--quiet"]);
    assert_eq!(numbers(&object["outputs"][0]["values"]), values[..1]);
    assert_eq!((&object["ignored"], &object["labels"]), (&serde_json::json!(["group"]), &Value::Null));
    assert_eq!((&object["task"], &object["target"]), (&"regression".into(), &"effect".into()));
    let out = path("order-out.csv");
    let run = banach(&["predict", &model, &data, "-o", &out, "-q"]);
    assert_eq!((run.status.code(), text(&run.stdout), text(&run.stderr)), (Some(0), String::new(), String::new()));
    assert_eq!(std::fs::read_to_string(&out).expect("written").lines().count(), 2);
}

#[test]
fn the_stored_scaling_is_applied() {
    let (model, fitted) = trial("scaling");
    // At the means every standardised variable is 0 and f(x) is the constant.
    let means: Vec<String> = { fitted["data"]["variables"].as_array().expect("a list").iter() }
        .map(|variable| format!("{:?}", variable["mean"].as_f64().expect("a number")))
        .collect();
    let data = file("means.csv", format!("age,dose,pulse\n{}\n", means.join(",")));
    let object = json(&["predict", &model, &data]);
    let (value, constant) = (numbers(&object["outputs"][0]["values"])[0], &fitted["functions"][0]["intercept"]);
    assert!((value - constant.as_f64().expect("a number")).abs() < 1e-7, "{value} {constant}");
}

#[test]
fn features_are_those_of_the_fit() {
    let (model, fitted) = trial("features");
    let object = json(&["features", &model, "--top", "4", "--relevance"]);
    assert_eq!(object["functions"][0]["top"], fitted["functions"][0]["top"]);
    assert_eq!(object["functions"][0]["relevance"], fitted["functions"][0]["relevance"]);
    let page = printed(&["features", &model, "--top", "2", "--relevance"]);
    for expected in ["│ 1 ┆ age * dose", "Relevance", "by degree", "standardised variables"] {
        assert!(page.contains(expected), "{expected} is missing in\n{page}");
    }
    assert!(!printed(&["features", &model]).contains("Relevance"));
    // A linear model tells coefficients in original units.
    let (data, model) = (file("linear.csv", csv(&rows(2), &[1, 2, 4, 5])), path("linear.banach"));
    let fitted = json(&["fit", &data, "--target", "effect", "--gamma", "1", "-o", &model]);
    let object = json(&["features", &model, "--top", "10"]);
    assert_eq!(object["functions"][0]["top"], fitted["functions"][0]["top"]);
    assert!(object["functions"][0]["top"]["monomials"][0]["coefficient_original"].is_number());
}

#[test]
fn info_says_what_the_model_is() {
    let (model, fitted) = trial("info");
    let object = json(&["info", &model]);
    assert_eq!((&object["format"], &object["format_version"]), (&"banach-model".into(), &1.into()));
    assert_eq!((&object["spec"]["p"], &object["spec"]["gamma"]), (&1.1.into(), &100.0.into()));
    assert_eq!(object["spec"]["kernel"]["degrees"], serde_json::json!([1, 2]));
    assert_eq!(object["functions"][0]["certificate"], fitted["functions"][0]["certificate"]);
    assert_eq!(object["data"]["variables"], fitted["data"]["variables"]);
    assert_eq!(object["data"]["constant"], serde_json::json!(["same"]));
    assert_eq!(object["data"]["samples"], 60);
    let hash = object["provenance"]["data"].as_str().expect("text");
    assert_eq!((hash.len(), object["bytes"].as_u64()), (71, Some(std::fs::metadata(&model).expect("there").len())));
    assert!(object["provenance"]["source"].as_str().expect("text").ends_with("info.csv"));
    let page = one_line(&printed(&["info", &model]));
    for expected in ["banach-model version 1", "written by banach 0", "p = 1.1", "target \"effect\"", "converged", hash]
    {
        assert!(page.contains(expected), "{expected} is missing in\n{page}");
    }
    // The same data and options make the same file.
    let again = trial("info").0;
    assert_eq!(json(&["info", &again]), object);
}

#[test]
fn classes_come_back_as_they_were_written() {
    for groups in [2, 3] {
        let (all, model) = (rows(groups), path(&format!("groups{groups}.banach")));
        let data = file(&format!("groups{groups}.csv"), csv(&all, &[1, 2, 4, 6]));
        printed(&[
            "fit", &data, "--target", "group", "--kernel", "poly", "--degree", "1..2", "--gamma", "50", "-o", &model,
        ]);
        let page = printed(&["predict", &model, &data, "--proba"]);
        let header: Vec<String> = (0..groups).map(|group| format!("\"probability_g\"\"{group}\"")).collect();
        assert_eq!(page.lines().next(), Some(&*format!("prediction,{}", header.join(","))));
        let object = json(&["predict", &model, &data, "--proba"]);
        let labels = object["labels"].as_array().expect("a list");
        let right = labels.iter().zip(&all).filter(|(label, row)| label.as_str() == Some(&row[6])).count();
        assert!(right > 50, "{right} of 60");
        let probabilities: Vec<Vec<f64>> =
            object["probabilities"].as_array().expect("a list").iter().map(|of| numbers(&of["values"])).collect();
        for row in 0..60 {
            let sum: f64 = probabilities.iter().map(|of| of[row]).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(object["outputs"].as_array().expect("a list").len(), if groups == 2 { 1 } else { 3 });
    }
    // Labels that are numbers.
    let data = file("numbers.csv", "x,y\n1,0\n2,0\n3,1\n4,1\n");
    let model = path("numbers.banach");
    printed(&["fit", &data, "--target", "y", "--gamma", "100", "--loss", "hinge", "-o", &model]);
    assert_eq!(printed(&["predict", &model, &data]), "prediction\n0\n0\n1\n1\n");
    let message = refused(2, &["predict", &model, &data, "--proba"]);
    assert!(
        message.contains("--proba is for models with the logistic loss, and this one has the hinge loss"),
        "{message}"
    );
}

/// A prediction is the sum of its parts, and the parts are those of the monomials that the fit names.
#[test]
fn explained_predictions_add_up() {
    let (model, fitted) = trial("explain");
    let data = file("explain-again.csv", csv(&rows(2), &[1, 2, 3, 4]));
    let object = json(&["predict", &model, &data, "--explain"]);
    let (values, told) = (numbers(&object["outputs"][0]["values"]), &object["explanations"][0]);
    let constant = told["constant"].as_f64().expect("a number");
    assert!((constant - fitted["functions"][0]["intercept"].as_f64().expect("a number")).abs() < 1e-12);
    let first = fitted["functions"][0]["top"]["monomials"][0]["monomial"].as_str().expect("a name");
    let mut named = 0;
    for (row, value) in told["rows"].as_array().expect("rows").iter().zip(&values) {
        let parts = row["contributions"].as_array().expect("a list");
        let sum: f64 = parts.iter().map(|part| part["value"].as_f64().expect("a number")).sum();
        let others = row["others"].as_f64().expect("a number");
        assert!((constant + sum + others - value).abs() < 1e-9, "{row}");
        assert!(others.abs() <= 0.5 * (value - constant).abs().max(1.0), "the named ones are most of it: {row}");
        named += usize::from(parts.iter().any(|part| part["monomial"] == first));
    }
    assert!(named > 50, "{named}");
    let table = printed(&["predict", &model, &data, "--explain"]);
    assert_eq!(table.lines().next(), Some("prediction,because"));
    let line = table.lines().nth(1).expect("a row");
    assert!(line.contains("constant ") && line.contains(first) && line.ends_with(" others"), "{line}");

    let normalised = path("explain-normalised.banach");
    let trained = file("explain-trained.csv", csv(&rows(2), &[1, 2, 3, 4, 5]));
    let options = ["--kernel", "exp", "--normalize-kernel", "--gamma", "1", "-q", "-o", &normalised];
    printed(&[&["fit", &trained, "--target", "effect"], &options[..]].concat());
    assert!(refused(2, &["predict", &normalised, &data, "--explain"]).contains("banach features"));
    let classes = path("explain-classes.banach");
    let trained = file("explain-classes.csv", csv(&rows(3), &[1, 2, 4, 6]));
    printed(&["fit", &trained, "--target", "group", "--gamma", "1", "-q", "-o", &classes]);
    let table = printed(&["predict", &classes, &trained, "--explain", "-q"]);
    assert!(table.starts_with("prediction,\"because_g\"\"0\",\"because_g\"\"1\",\"because_g\"\"2\"\n"), "{table}");
}

/// A missing value is refused, or is the mean of the samples that the model was fitted to.
#[test]
fn missing_values_are_filled_in_with_the_means_of_the_training_data() {
    let (model, fitted) = trial("fill");
    let variable = fitted["data"]["variables"].as_array().expect("a list").iter().find(|of| of["name"] == "dose");
    let mean = variable.expect("a variable")["mean"].as_f64().expect("a number");
    let gap = file("fill-gap.csv", "age,pulse,dose\n50,1000000.5,NA\n30,1000000.1,2\n");
    let full = file("fill-full.csv", format!("age,pulse,dose\n50,1000000.5,{mean:?}\n30,1000000.1,2\n"));
    assert!(refused(2, &["predict", &model, &gap]).contains("--impute mean"));
    let run = banach(&["predict", &model, &gap, "--impute", "mean"]);
    assert_eq!(text(&run.stdout), printed(&["predict", &model, &full]));
    assert!(text(&run.stderr).contains("filled in: 1, in 1 of the variables"), "{}", text(&run.stderr));
    assert_eq!(json(&["predict", &model, &gap, "--impute", "mean", "-q"])["imputed"][0]["column"], "dose");
    let plain = path("fill-plain.banach");
    let data = file("fill-plain.csv", csv(&rows(2), &[1, 2, 5]));
    printed(&["fit", &data, "--target", "effect", "--gamma", "1", "--no-standardize", "-q", "-o", &plain]);
    assert!(refused(2, &["predict", &plain, &gap]).contains("--impute mean"));
    printed(&["predict", &plain, &gap, "--impute", "mean", "-q"]);
    // The means of labels are their shares, also where a file has none of them.
    let labelled = path("fill-labels.banach");
    let data = file("fill-labels.csv", "color,a,y\nred,1,1\nblue,2,2\nred,3,3\ngreen,4,1\n");
    printed(&["fit", &data, "--target", "y", "--gamma", "1", "-q", "-o", &labelled]);
    let new = file("fill-no-label.csv", "color,a\n,2.5\n");
    let same = file("fill-shares.csv", "color=blue,color=green,color=red,a\n0.25,0.25,0.5,2.5\n");
    let filled = printed(&["predict", &labelled, &new, "--impute", "mean", "-q"]);
    assert_eq!(filled, printed(&["predict", &labelled, &same, "-q"]));
}

#[test]
fn outputs_do_not_replace_one_another_or_devices() {
    let data = file("outputs.csv", csv(&rows(2), &[1, 2, 5]));
    let both = path("outputs.both");
    let fit = ["fit", &data, "--target", "effect", "--gamma", "1", "-q", "-o"];
    assert!(refused(2, &[&fit[..], &[&both, "--report", &both]].concat()).contains("same file"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        printed(&[&fit[..], &["/dev/null"]].concat());
        assert!(std::fs::metadata("/dev/null").expect("a device").file_type().is_char_device());
    }
}

#[test]
fn a_model_larger_than_the_memory_is_refused() {
    let (model, _) = trial("memory");
    assert!(refused(2, &["info", &model, "--memory-limit", "100"]).contains("--memory-limit"));
}

#[test]
fn models_say_how_they_were_found_when_asked() {
    let (model, _) = trial("how");
    let told = printed(&["features", &model, "--explain"]);
    assert!(told.contains("monomials were looked at, no larger one was left out"), "{told}");
    assert!(printed(&["info", &model, "--explain"]).contains("> features"));
}

/// The keys of the JSON objects are those that the guide lists.
#[test]
fn the_guide_lists_every_key() {
    fn collect<'v>(value: &'v Value, keys: &mut Vec<&'v str>) {
        match value {
            Value::Object(entries) => entries.iter().for_each(|(key, value)| {
                keys.push(key);
                collect(value, keys);
            }),
            Value::Array(values) => values.iter().for_each(|value| collect(value, keys)),
            _ => {}
        }
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = |name: &str| std::fs::read_to_string(root.join(name)).expect("the page exists");
    let guide = page("command-line.md") + &page("model-file.md");
    let (model, _) = trial("keys");
    let data = path("keys.csv");
    let arguments: [&[&str]; 3] =
        [&["predict", &model, &data, "-q", "--explain"], &["features", &model, "--relevance"], &["info", &model]];
    for arguments in arguments {
        let (object, mut keys) = (json(arguments), Vec::new());
        collect(&object, &mut keys);
        for key in keys {
            assert!(guide.contains(&format!("`{key}`")), "{key} of {} is not explained", arguments[0]);
        }
    }
}

#[test]
fn standard_input_is_data() {
    let (model, _) = trial("stdin");
    let mut run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args(["predict", &model, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    run.stdin.take().expect("piped").write_all(b"age,dose,pulse\n30,5,1000000.5\n").expect("written");
    let output = run.wait_with_output().expect("done");
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(0), 2));
}

#[test]
fn wrong_files_are_named_with_the_reason() {
    let (model, _) = trial("wrong");
    let data = file("wrong-columns.csv", "age,Dose,pulse,weight\n1,2,3,4\n");
    let message = refused(2, &["predict", &model, &data]);
    assert!(message.contains("lacks a column that the model is made of: \"dose\""), "{message}");
    assert!(message.contains("the model does not know \"Dose\", \"weight\""), "{message}");
    let message = refused(2, &["predict", &model, &file("wrong-text.csv", "age,dose,pulse\n1,x,3\n")]);
    assert!(message.contains("\"x\" is not a number"), "{message}");
    let message = refused(2, &["predict", &model, &file("no-row.csv", "age,dose,pulse\n")]);
    assert!(message.contains("at least one sample is needed"), "{message}");
    let message = refused(2, &["predict", &model, &file("regression.csv", "age,dose,pulse\n1,2,3\n"), "--proba"]);
    assert!(message.contains("predicts a number"), "{message}");

    let bytes = std::fs::read(&model).expect("there");
    let mut changed = bytes.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    for command in ["info", "features"] {
        let message = refused(2, &[command, &data]);
        assert!(message.contains("wrong-columns.csv: no model file of banach"), "{message}");
        let message = refused(2, &[command, &file("short.banach", &bytes[..bytes.len() / 2])]);
        assert!(message.contains("short.banach") && message.contains("cut short"), "{message}");
        let message = refused(2, &[command, &file("changed.banach", &changed)]);
        assert!(message.contains("damaged"), "{message}");
        assert!(refused(2, &[command, &path("nowhere.banach")]).contains("cannot read the model"));
    }
    let train = path("wrong.csv");
    let fit = ["fit", &train, "--target", "effect", "--drop", "id", "--gamma", "1", "-o"];
    let message = refused(2, &[&fit[..], &[&path("no/folder/x.banach")]].concat());
    assert!(message.contains("there is no folder"), "{message}");
    let folder = Path::new(&model).parent().expect("a folder").to_str().expect("plain").to_owned();
    assert!(refused(2, &[&fit[..], &[&folder]].concat()).contains("it is a folder"));
}

#[test]
fn a_model_that_did_not_converge_is_kept_and_says_so() {
    let (data, model) = (file("limit.csv", csv(&rows(2), &[1, 2, 4, 5])), path("limit.banach"));
    let fit = [
        "fit",
        &data,
        "--target",
        "effect",
        "--gamma",
        "1000",
        "--loss",
        "absolute",
        "--max-iterations",
        "1",
        "-o",
        &model,
    ];
    assert_eq!(banach(&fit).status.code(), Some(1));
    assert_eq!(json(&["info", &model])["functions"][0]["status"], "iteration_limit");
    assert!(printed(&["info", &model]).contains("NOT CONVERGED"));
    assert_eq!(printed(&["predict", &model, &data]).lines().count(), 61);
}

#[test]
fn labels_become_the_variables_that_they_were() {
    let words = ["red", "green", "blue"];
    let row = |i: usize| {
        let (word, a) = (i * i % 7 % 3, uniform(i));
        format!("{},{a:.4},{:.4}\n", words[word], a + [0.0, 2.0, -1.0][word])
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    let (data, model) = (file("labels.csv", format!("color,a,y\n{}", rows.concat())), path("labels.banach"));
    let fitted = json(&["fit", &data, "--target", "y", "--gamma", "1000", "-o", &model]);
    assert_eq!(fitted["data"]["variables"].as_array().map(Vec::len), Some(4));
    let predicted = printed(&["predict", &model, &data, "--quiet"]);
    for (row, value) in rows.iter().zip(predicted.lines().skip(1)) {
        let y: f64 = row.trim().rsplit(',').next().expect("a field").parse().expect("a number");
        assert!((y - value.parse::<f64>().expect("a number")).abs() < 0.1, "{row} {value}");
    }
    // Other columns, in another order, and not every label.
    let fields: Vec<&str> = rows[0].split(',').collect();
    let one = file("labels-one.tsv", format!("a\tcolor\n{}\t{}\n", fields[1], fields[0]));
    assert_eq!(printed(&["predict", &model, &one]).lines().nth(1), predicted.lines().nth(1));
    let other = file("labels-other.csv", "a,color\n1,pink\n");
    let message = refused(2, &["predict", &model, &other]);
    assert!(message.contains("column \"color\": the model was fitted without the label \"pink\""), "{message}");
    let message = refused(2, &["predict", &model, &file("labels-none.csv", "a\n1\n")]);
    assert!(message.contains("lacks a column that the model is made of: \"color\""), "{message}");
    let told = json(&["info", &model]);
    assert_eq!(told["data"]["categorical"][0]["labels"], serde_json::json!(["blue", "green", "red"]));
}

#[test]
fn a_sparse_model_stays_sparse_and_is_scaled() {
    for first in [0, 1] {
        let value = |i: usize, j: usize| if (i + j).is_multiple_of(3) { 1.0 + uniform(11 * i + j) } else { 0.0 };
        let sparse = |i: usize| {
            let entries: Vec<String> =
                (0..5).filter(|j| value(i, *j) != 0.0).map(|j| format!("{}:{}", j + first, value(i, j))).collect();
            format!("{} {}\n", 3.0 * value(i, 0) - value(i, 4), entries.join(" "))
        };
        let rows: Vec<String> = (0..40).map(sparse).collect();
        let (data, model) =
            (file(&format!("sparse{first}.svm"), rows.concat()), path(&format!("sparse{first}.banach")));
        json(&["fit", &data, "--gamma", "1000", "-o", &model]);
        let told = json(&["info", &model]);
        assert_eq!((&told["data"]["sparse"], &told["data"]["centred"]), (&true.into(), &false.into()));
        assert!(printed(&["info", &model]).contains("each with standard deviation 1"));
        assert!(printed(&["features", &model]).contains("x/deviation"));
        let predicted = printed(&["predict", &model, &data]);
        for (row, line) in rows.iter().zip(predicted.lines().skip(1)) {
            let y: f64 = row.split(' ').next().expect("a word").parse().expect("a number");
            assert!((y - line.parse::<f64>().expect("a number")).abs() < 0.1, "{row} {line}");
        }
        // The second row alone has none of some columns, and neither has a table that is not sparse.
        let one = file(&format!("sparse-one{first}.svm"), &rows[1]);
        assert_eq!(printed(&["predict", &model, &one]).lines().nth(1), predicted.lines().nth(2));
        let dense = (0..5).map(|j| value(1, j).to_string()).collect::<Vec<_>>().join(",");
        let dense = file(&format!("sparse-dense{first}.csv"), format!("{dense}\n"));
        let again = printed(&["predict", &model, &dense, "--no-header"]);
        let number = |line: Option<&str>| line.expect("a line").parse::<f64>().expect("a number");
        assert!((number(again.lines().nth(1)) - number(predicted.lines().nth(2))).abs() < 1e-12);
    }
}

#[test]
fn new_samples_come_in_other_formats() {
    let rows: Vec<[f64; 3]> = (0..30).map(|i| [uniform(i), uniform(7 * i + 1), 0.0]).collect();
    let rows: Vec<[f64; 3]> = rows.into_iter().map(|[a, b, _]| [a, b, a - 2.0 * b]).collect();
    let line = |row: &[f64; 3]| format!("{},{},{}\n", row[0], row[1], row[2]);
    let lines = rows.iter().map(line).collect::<String>();
    let (data, model) = (file("formats.csv", &lines), path("formats.banach"));
    json(&["fit", &data, "--no-header", "--target", "3", "--gamma", "1000", "-o", &model]);
    let expected = printed(&["predict", &model, &data, "--no-header", "--quiet"]);
    // An array with the two columns of the model and no target.
    let mut header = "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 2), }".to_owned();
    header += &" ".repeat(128 - 11 - header.len());
    header.push('\n');
    let mut bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    bytes.extend(rows.iter().flat_map(|row| row[..2].iter().flat_map(|value| value.to_le_bytes())));
    assert_eq!(printed(&["predict", &model, &file("formats.npy", &bytes)]), expected);
    let renamed = file("formats.dat", &bytes);
    assert_eq!(printed(&["predict", &model, &renamed, "--format", "npy"]), expected);
    let entries = |row: &[f64; 3]| format!("0 1:{} 2:{}\n", row[0], row[1]);
    let sparse = file("formats.svm", rows.iter().map(entries).collect::<String>());
    assert_eq!(printed(&["predict", &model, &sparse, "--quiet"]), expected);
}
