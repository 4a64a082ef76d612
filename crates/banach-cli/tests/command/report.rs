//! `--report` of `banach fit` and `banach path`: the page says what the JSON object says, needs nothing else, and renders in a browser.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::path::TRIAL;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The page and the JSON object of one run.
fn report(command: &str, name: &str, data: &str, arguments: &[&str]) -> (PathBuf, Value) {
    let page = folder().join(format!("{name}.html"));
    let run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args([command, data, "--json", "--quiet", "--report"])
        .arg(&page)
        .args(arguments)
        .output()
        .expect("the binary runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    (page, serde_json::from_slice(&run.stdout).expect("JSON"))
}

/// Three classes that two of five variables tell apart.
fn classes() -> String {
    let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    let row = |i: usize| {
        let x: Vec<f64> = (0..5).map(|j| jumble(5 * i + j + 1)).collect();
        let class = if x[1] > 0.2 { "<high>" } else { ["low & slow", "\"low\""][usize::from(x[3] > 0.0)] };
        let numbers: Vec<String> = x.iter().map(ToString::to_string).collect();
        format!("{},\"{}\"", numbers.join(","), class.replace('"', "\"\""))
    };
    let path = folder().join("classes.csv");
    let rows: Vec<String> = (0..90).map(row).collect();
    fs::write(&path, format!("a,b,<i>c</i>,d,e,y\n{}\n", rows.join("\n"))).expect("written");
    path.to_string_lossy().into_owned()
}

/// Every number that a page shows: its place in the JSON object, and its value.
fn numbers(page: &str) -> Vec<(String, f64)> {
    let attribute = |text: &str, name: &str| {
        let begin = text.find(&format!("{name}=\"")).expect("an attribute") + name.len() + 2;
        text[begin..].split('"').next().expect("its end").to_owned()
    };
    let one = |tag: &str| {
        let value = attribute(tag, " value");
        (attribute(tag, "data-path"), value.parse().unwrap_or_else(|_| panic!("{value} is no number")))
    };
    page.split("<data ").skip(1).map(|tag| one(&format!(" {}", tag.split('>').next().expect("its end")))).collect()
}

fn assert_says_what_the_object_says(page: &str, object: &Value) {
    let numbers = numbers(page);
    assert!(numbers.len() > 20, "{}", numbers.len());
    for (path, shown) in numbers {
        let pointer = format!("/{}", path.replace('.', "/"));
        let known = object.pointer(&pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is not there"));
        // The object is read to the last digit but one.
        assert!((known - shown).abs() <= 1e-15 * known.abs(), "{path}: {known} {shown}");
    }
}

/// A browser, if there is one. Where it must be tested, the variable `BANACH_BROWSER` names it.
fn browser() -> Option<PathBuf> {
    let named = env::var_os("BANACH_BROWSER").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from);
    let runs =
        |program: &PathBuf| Command::new(program).arg("--version").output().is_ok_and(|run| run.status.success());
    assert!(named.as_ref().is_none_or(&runs), "BANACH_BROWSER = {named:?} does not run");
    named.into_iter().chain(usual).find(runs)
}

/// What a browser makes of a page, and what it complains about.
fn rendered(browser: &Path, page: &Path) -> (String, String) {
    let profile = folder().join(format!("{}.profile", page.file_stem().expect("a name").to_string_lossy()));
    let picture = page.with_extension("png");
    let run = |what: &[&str]| {
        let url = format!("file://{}", page.display());
        let run = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1200,2400"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(what)
            .arg(url)
            .output()
            .expect("the browser runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        (String::from_utf8_lossy(&run.stdout).into_owned(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let (dom, messages) = run(&["--dump-dom"]);
    run(&[&format!("--screenshot={}", picture.display())]);
    assert!(fs::metadata(&picture).is_ok_and(|file| file.len() > 20_000), "an empty picture");
    (dom, messages.lines().filter(|line| line.contains("CONSOLE")).collect())
}

fn check(page: &Path, object: &Value) -> String {
    let text = fs::read_to_string(page).expect("the page");
    assert_says_what_the_object_says(&text, object);
    // Nothing is fetched, and no name is markup.
    for foreign in ["http://", "https://", "<script", "@import", "src=", "url("] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    assert!(!text.contains("{{") && !text.contains("{%") && !text.contains("NaN"));
    if let Some(browser) = browser() {
        let (dom, complaints) = rendered(&browser, page);
        assert_eq!(complaints, "", "{}", page.display());
        assert_says_what_the_object_says(&dom, object);
    }
    text
}

#[test]
fn a_page_on_numbers_says_what_the_object_says() {
    let arguments = ["--target", "effect", "--kernel", "poly", "--degree", "1..2", "--p", "1.05", "--select", "4"];
    let (page, object) = report("fit", "numbers", TRIAL, &arguments);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 3, "predictions, gammas, convergence");
    assert!(text.contains(object["functions"][0]["selection"]["equation"].as_str().expect("an equation")));
    assert_eq!(text.matches("class=\"dot\"").count(), 60, "every sample was held out once");
    assert!(text.contains("--report") && text.contains("banach fit "));
}

#[test]
fn a_page_on_few_terms_has_the_verdict_and_the_curves() {
    let terms = ["--target", "effect", "--kernel", "poly", "--degree", "1..2", "--sparse"];
    let (page, object) = report("fit", "sparse", TRIAL, &terms);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 2, "evidence, unexplained");
    let function = &object["functions"][0];
    assert!(text.contains(function["equation"].as_str().expect("an equation")), "{text}");
    assert!(text.contains("2 terms of 44 monomials explain 98.54 %") && text.contains("taken: 2"), "{text}");
    assert!(text.contains("age stands for age - 49.28") && text.contains("every step to one monomial more"), "{text}");
    let points = text.matches("class=\"point").count();
    assert_eq!(points, 2 * function["sizes"].as_array().expect("a list").len(), "every size is drawn");
    let (page, object) = report("fit", "sparse-classes", &classes(), &["--target", "y", "--sparse"]);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 6, "two for every class");
    assert!(text.contains("&lt;high&gt;") && text.contains("low &amp; slow") && !text.contains("<i>c</i>"), "{text}");
}

#[test]
fn a_page_on_classes_has_curves_for_each_and_escapes_their_names() {
    let (page, object) = report("fit", "classes", &classes(), &["--target", "y", "--p", "1.2", "--top", "3"]);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 4, "characteristic, calibration, gammas, convergence");
    assert!(text.contains("&lt;high&gt;") && text.contains("low &amp; slow") && !text.contains("<i>c</i>"), "{text}");
    for class in object["validation"]["held_out"]["classes"].as_array().expect("three") {
        assert!(class["auc"].as_f64().expect("a number") > 0.8, "{class}");
    }
}

#[test]
fn a_page_without_folds_says_so() {
    let (page, object) = report("fit", "given", TRIAL, &["--target", "effect", "--gamma", "1"]);
    let text = check(&page, &object);
    assert!(text.contains("no sample was held out"), "{text}");
}

#[test]
fn a_page_on_a_path_draws_every_monomial_that_it_follows() {
    let arguments = ["--target", "effect", "--p", "1.1", "--cv", "4", "--gammas", "7", "--top", "3"];
    let (page, object) = report("path", "path", TRIAL, &arguments);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 2, "held-out loss, coefficients");
    assert_eq!((text.matches("<polyline").count(), text.matches("class=\"swatch").count()), (4, 3));
    let (page, object) = report("path", "path-classes", &classes(), &["--target", "y", "--p", "1.2", "--gammas", "3"]);
    let text = check(&page, &object);
    assert_eq!(text.matches("<svg").count(), 3, "one for every class");
    assert!(text.contains("&lt;high&gt;") && !text.contains("<i>c</i>"), "{text}");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args(["fit", TRIAL, "--target", "effect", "--quiet", "--report", "/no/such/folder/page.html"])
        .output()
        .expect("the binary runs");
    assert_eq!(run.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&run.stderr).contains("/no/such/folder"),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
