//! Files of people that one does not know: searches without end, names that command terminals, labels that
//! spreadsheets run, links to nothing, what killed runs have left.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use banach::{Certificate, FeatureMatrix, Route, Solution, Spec, Status, kernel::KernelSpec};
use banach_io::{Observed, SavedModel};
use serde_json::Value;

use super::{banach, invocation::text, json, one_line, printed};

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("strangers").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn uniform(k: usize) -> f64 {
    2.0 * ((k * k) as f64 * 0.618_033_988).fract() - 1.0
}

/// A table with these names, and labels or numbers in its last column.
fn table(path: &Path, names: &[&str], target: impl Fn(usize, f64) -> String) {
    let quoted = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
    let mut lines = vec![names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")];
    for row in 0..40 {
        let x: Vec<f64> = (1..names.len()).map(|column| uniform(7 * row + 13 * column + 1)).collect();
        let mut fields: Vec<String> = x.iter().map(|x| format!("{x:.5}")).collect();
        fields.push(quoted(&target(row, x[0])));
        lines.push(fields.join(","));
    }
    fs::write(path, lines.join("\n") + "\n").expect("written");
}

/// A file of 7 kB that asks for the largest of 1e24 monomials.
fn endless(folder: &Path) -> PathBuf {
    let (n, d) = (20, 30);
    let x = FeatureMatrix::from_columns(n, d, (0..n * d).map(|k| uniform(k + 1)).collect::<Vec<_>>()).expect("valid");
    let spec = Spec { kernel: KernelSpec::Exp { scale: 20.0, degrees: Some((0, 60)) }, ..Spec::default() };
    let solution = Solution {
        alpha: (0..n).map(|i| uniform(3 * i + 2)).collect(),
        omega: vec![0.5; n],
        intercept: 0.0,
        weights: None,
        certificate: Certificate { primal: 1.0, dual: 1.0, gap: 1e-9, distance: 0.1 },
        status: Status::Converged,
        iterations: 3,
        passes: 3,
    };
    let path = folder.join("endless.banach");
    let model = SavedModel::new(spec, x, Observed::Numbers(vec![vec![0.0; n]]));
    let found = SavedModel { route: Route::Gram, solutions: vec![solution], radii: vec![None], ..model };
    found.write(&path).expect("written");
    let bytes = fs::metadata(&path).expect("there").len();
    assert!((5_000..9_000).contains(&bytes), "{bytes} bytes");
    path
}

#[test]
fn a_search_without_end_stops_at_its_budget_and_says_what_is_known() {
    let folder = folder("endless");
    let path = endless(&folder);
    let model = plain(&path);
    // By the clock.
    let found = json(&["features", model, "--max-seconds", "0.5"]);
    let top = &found["functions"][0]["top"];
    assert_eq!((&top["complete"], &top["set_proven"]), (&Value::from(false), &Value::from(false)));
    assert!(found["notes"][0].as_str().expect("a note").contains("raise --max-seconds"), "{found}");
    // By the number of monomials: the same every time, and bounded by what is said of the others.
    let few = json(&["features", model, "--max-nodes", "2000", "--top", "3"]);
    assert_eq!(few, json(&["features", model, "--max-nodes", "2000", "--top", "3"]));
    let top = &few["functions"][0]["top"];
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!(number(&top["nodes"]) <= 2000.0 && top["monomials"].as_array().expect("a list").len() == 3);
    let more = json(&["features", model, "--max-nodes", "20000", "--top", "3"]);
    for entry in more["functions"][0]["top"]["monomials"].as_array().expect("a list") {
        let listed =
            top["monomials"].as_array().expect("a list").iter().any(|own| own["monomial"] == entry["monomial"]);
        assert!(listed || number(&entry["weight"]).abs() <= number(&top["unlisted"]), "{entry}");
    }
    let shown = one_line(&printed(&["features", model, "--max-nodes", "2000"]));
    for said in ["that they are its largest is not", "raise --max-nodes", "others may have weights up to"] {
        assert!(shown.contains(said), "{said} is missing in\n{shown}");
    }
    // What predictions are made of, and what the file is.
    let data = folder.join("new.csv");
    let names: Vec<String> = (1..=30).map(|variable| format!("x{variable}")).collect();
    let row: Vec<String> = (0..30).map(|k| format!("{:.3}", uniform(k + 5))).collect();
    fs::write(&data, format!("{}\n{}\n", names.join(","), row.join(","))).expect("written");
    let run = banach(&["predict", model, plain(&data), "--explain", "--max-nodes", "500", "--json"]);
    assert!(run.status.success() && text(&run.stderr).contains("raise --max-nodes"), "{}", text(&run.stderr));
    let predicted: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let explanation = &predicted["explanations"][0];
    assert!(explanation["complete"] == false && number(&explanation["unlisted"]) > 0.0, "{explanation}");
    assert!(printed(&["info", model, "--explain"]).contains("To fit it again"));
    for wrong in [["--max-nodes", "0"], ["--max-seconds", "0"], ["--max-seconds", "nan"]] {
        assert_eq!(banach(&[&["features", model], &wrong[..]].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

/// What must never be printed: controls of terminals and of the direction of text.
fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[test]
fn names_that_command_terminals_are_shown_and_not_obeyed() {
    let folder = folder("names");
    let evil = "dose\u{1b}]0;owned\u{7}\u{202e}\u{9b}2J\nfit:    converged";
    let data = folder.join("data\u{1b}[31m\u{202e}.csv");
    let label = |row: usize, x: f64| if x > 0.0 { "a\u{1b}[2J".to_owned() } else { format!("b\u{2066}{}", row % 2) };
    table(&data, &["age", evil, "kind\u{1b}c"], label);
    let model = folder.join("model\u{1b}[5m.banach");
    let (data, model) = (plain(&data), plain(&model));
    let fit = ["fit", data, "--target", "3", "--kernel", "poly", "--gamma", "1", "--relevance", "--stability", "2"];
    let fit = [&fit[..], &["--explain", "-o", model]].concat();
    let missing = format!("{data}.missing");
    for arguments in [
        &fit[..],
        &["features", model, "--relevance", "--explain"],
        &["info", model, "--explain"],
        &["path", data, "--target", "3", "--gammas", "2"],
        &["fit", data, "--target", "no\u{1b}[2Jne"],
        &["fit", data, "--target", evil],
        &["fit", &missing, "--target", "x"],
        &["info", data],
        &["predict", model, data, "-o", "\u{1b}/\u{1b}"],
        &["fit", data, "--loss", "\u{1b}[2J"],
        &["\u{1b}[2J"],
        &["fit", data, "--target", "3", "--gamma", "1", "--report", &format!("{data}.html")],
    ] {
        let run = banach(arguments);
        for shown in [text(&run.stdout), text(&run.stderr)] {
            assert!(!shown.contains(is_hidden), "{arguments:?}: {shown:?}");
            assert!(!shown.lines().any(|line| line == "fit:    converged"), "a name makes a line: {shown}");
        }
    }
    // JSON has them in its own notation.
    for arguments in [&fit[..], &["features", model, "--relevance"], &["info", model]] {
        let run = banach(&[arguments, &["--json"]].concat());
        assert!(!text(&run.stdout).contains(is_hidden));
        let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        assert!(found.to_string().contains("owned"), "the names are there: {found}");
    }
    let told = json(&["info", model]);
    assert_eq!(told["data"]["variables"][1]["name"], Value::from(evil));
    // Data are data.
    let predicted = printed(&["predict", model, data, "--quiet"]);
    assert!(predicted.contains("a\u{1b}[2J"), "{predicted:?}");
}

#[test]
fn labels_that_spreadsheets_would_run_are_quoted_unless_told_otherwise() {
    let folder = folder("labels");
    let (data, model) = (folder.join("data.csv"), folder.join("model.banach"));
    table(&data, &["age", "dose", "kind"], |_, x| if x > 0.0 { "=HYPERLINK(\"x\")" } else { "@b" }.to_owned());
    let (data, model) = (plain(&data), plain(&model));
    printed(&["fit", data, "--target", "kind", "--gamma", "100", "-o", model]);
    let safe = printed(&["predict", model, data, "--proba"]);
    let raw = printed(&["predict", model, data, "--proba", "--raw-labels"]);
    assert!(safe.contains("\n\"'=HYPERLINK(\"\"x\"\")\",") && safe.contains("\n'@b,"), "{safe}");
    assert!(raw.contains("\n\"=HYPERLINK(\"\"x\"\")\",") && raw.contains("\n@b,"), "{raw}");
    assert_eq!(json(&["predict", model, data])["labels"], json(&["predict", model, data, "--raw-labels"])["labels"]);
    // No field begins as a formula does, but for numbers.
    for field in printed(&["predict", model, data, "--explain"]).lines().filter_map(|line| line.split(',').next_back())
    {
        assert!(field.starts_with("constant") || field.starts_with("because"), "{field}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_written_through() {
    use std::os::unix::fs::symlink;
    let folder = folder("links");
    let data = folder.join("data.csv");
    table(&data, &["age", "dose", "effect"], |_, x| format!("{:.4}", 2.0 * x));
    let (model, page, out) = (folder.join("link.banach"), folder.join("link.html"), folder.join("link.csv"));
    fs::create_dir(folder.join("far")).expect("a folder");
    for (link, target) in [(&model, "far/m.banach"), (&page, "far/p.html"), (&out, "far/o.csv")] {
        symlink(target, link).expect("linked");
    }
    let data = plain(&data);
    printed(&["fit", data, "--target", "effect", "--gamma", "1", "-o", plain(&model), "--report", plain(&page)]);
    printed(&["predict", plain(&model), data, "-o", plain(&out)]);
    for (link, target) in [(&model, "far/m.banach"), (&page, "far/p.html"), (&out, "far/o.csv")] {
        assert!(fs::symlink_metadata(link).expect("there").is_symlink(), "the link stays");
        assert!(fs::metadata(folder.join(target)).expect("written").len() > 0);
    }
    let lost = folder.join("lost.csv");
    symlink("nowhere/o.csv", &lost).expect("linked");
    let run = banach(&["predict", plain(&model), data, "-o", plain(&lost)]);
    assert!(run.status.code() == Some(2) && text(&run.stderr).contains("there is no folder"), "{}", text(&run.stderr));
}

#[test]
fn what_killed_runs_left_goes_with_the_next_file_of_that_name() {
    let folder = folder("left");
    let (data, model, out) = (folder.join("data.csv"), folder.join("model.banach"), folder.join("out.csv"));
    table(&data, &["age", "dose", "effect"], |_, x| format!("{:.4}", 2.0 * x));
    let left =
        [".model.banach.banach-4194304999-0.tmp", ".out.csv.banach-4194304999-2.tmp"].map(|name| folder.join(name));
    let other = folder.join(".others.csv.banach-4194304999-0.tmp");
    left.iter().chain([&other]).for_each(|path| fs::write(path, "half").expect("written"));
    // What another run is writing is locked.
    let running = folder.join(".out.csv.banach-7-0.tmp");
    let writer = fs::File::create_new(&running).expect("created");
    writer.lock().expect("locked");
    printed(&["fit", plain(&data), "--target", "effect", "--gamma", "1", "-o", plain(&model)]);
    printed(&["predict", plain(&model), plain(&data), "-o", plain(&out)]);
    assert!(left.iter().all(|path| !path.exists()) && other.exists() && running.exists());
    drop(writer);
    printed(&["predict", plain(&model), plain(&data), "-o", plain(&out)]);
    assert!(!running.exists(), "its process is gone");
    assert_eq!(
        fs::read_dir(&folder).expect("a folder").count(),
        4,
        "the data, the model, the predictions, and another's"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = folder("full");
    let path = endless(&folder);
    for arguments in [&["info", plain(&path)][..], &["--help"], &["completions", "bash"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a device");
        let run = Command::new(env!("CARGO_BIN_EXE_banach")).args(arguments).stdout(full).output().expect("it runs");
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
        assert!(text(&run.stderr).contains("No space left"), "{arguments:?}: {}", text(&run.stderr));
    }
}

#[test]
fn a_fit_of_hours_says_so_before_it_starts() {
    let folder = folder("hours");
    let data = folder.join("data.csv");
    let names: Vec<String> = (0..60).map(|variable| format!("v{variable}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..]).chain(["effect"]).collect();
    table(&data, &names, |_, x| format!("{x:.4}"));
    let fit = ["fit", plain(&data), "--target", "effect", "--kernel", "poly", "--degree", "8", "--p", "1.1"];
    let mut run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args(fit)
        .args(["--gamma", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = String::new();
    BufReader::new(run.stderr.take().expect("piped")).read_line(&mut said).expect("text");
    run.kill().expect("it runs for hours");
    run.wait().expect("killed");
    assert!(said.contains("it is expected to take about") && said.contains("6.5e9 monomials"), "{said}");
    assert!(said.contains("--degree") && said.contains("a pass over"), "{said}");
}

#[test]
fn interactions_of_more_variables_than_columns_are_refused() {
    let folder = folder("columns");
    let data = folder.join("data.csv");
    table(&data, &["age", "dose", "pulse", "effect"], |_, x| format!("{x:.4}"));
    for degree in ["4", "1..4", "5..8"] {
        let run = banach(&["fit", plain(&data), "--target", "effect", "--kernel", "anova", "--degree", degree]);
        let said = text(&run.stderr);
        assert!(
            run.status.code() == Some(2) && said.contains("the number of columns = 3: lower --degree to 3"),
            "{degree}: {said}"
        );
    }
    printed(&["fit", plain(&data), "--target", "effect", "--kernel", "anova", "--degree", "1..3", "--gamma", "1"]);
}

/// What is printed into a closed standard output would be lost without a word; `/dev/null` was asked for.
#[cfg(unix)]
#[test]
fn a_closed_standard_output_is_an_error() {
    let run = |redirection: &str| {
        let script = format!("\"$0\" --version {redirection}");
        Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_banach")]).output().expect("sh runs")
    };
    let closed = run(">&-");
    assert_eq!(closed.status.code(), Some(2), "{}", text(&closed.stderr));
    assert!(text(&closed.stderr).contains("standard output is closed; send it to a file"), "{}", text(&closed.stderr));
    assert!(run("> /dev/null").status.success());
}
