//! `--report` of `banach fit` and `banach path`: the page says what the JSON object says, needs nothing else, and renders in a browser.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{
    path::TRIAL,
    width::{LONG_TARGET, long_names},
};

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

/// Numbers that have nothing to do with each other.
fn noise() -> String {
    let mut state = 12_345_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let rows: Vec<String> =
        (0..60).map(|_| [number(), number(), number(), number()].map(|x| x.to_string()).join(",")).collect();
    let path = folder().join("noise.csv");
    fs::write(&path, format!("a,b,c,y\n{}\n", rows.join("\n"))).expect("written");
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
    assert!(numbers.len() > 2, "{}", numbers.len());
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

/// Loads a page into a frame of a width, and tells what leaves the window or a picture, and what the buttons of its first table with
/// numbers do. What may scroll may be wide.
const MEASURE: &str = include_str!("measure.js");

/// In a wide window and on a phone.
fn measured(browser: &Path, text: &str, page: &Path) -> Vec<Value> {
    let escaped = text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let harness = page.with_extension("measured.html");
    // The document of such a frame belongs to that around it, and so can be looked at.
    let frame = |width: usize| {
        format!("<iframe srcdoc=\"{escaped}\" style=\"width:{width}px;height:3000px;border:0\"></iframe>")
    };
    let measure = format!(
        "const results = []; document.querySelectorAll(\"iframe\").forEach(frame => frame.onload = () => {{{MEASURE}}});"
    );
    let body = format!(
        "<!DOCTYPE html><body>{}{}<pre id=\"result\"></pre><script>{measure}</script>",
        frame(1200),
        frame(390)
    );
    fs::write(&harness, body).expect("written");
    let run = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=10000",
            "--window-size=1400,3000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", page.with_extension("measured").display()))
        .arg(format!("file://{}", harness.display()))
        .output()
        .expect("the browser runs");
    let dom = String::from_utf8_lossy(&run.stdout).into_owned();
    let result =
        dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or_default();
    let result = result.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&result).unwrap_or_else(|error| panic!("{error}: {result:?} of {}", harness.display()))
}

/// How many pictures there are.
fn pictures(text: &str) -> usize {
    text.matches("<svg class=\"chart\"").count()
}

/// One of them, by the beginning of what is read of it.
fn picture<'t>(text: &'t str, title: &str) -> &'t str {
    let begin = text.find(&format!("aria-label=\"{title}")).unwrap_or_else(|| panic!("no picture of {title:?}"));
    text[begin..].split("</svg>").next().expect("its end")
}

/// The effects and surfaces of an object.
fn readout(object: &Value) -> (usize, usize) {
    let length = |key: &str| object["readout"][key].as_array().map_or(0, Vec::len);
    (length("effects"), length("surfaces"))
}

fn check(page: &Path, object: &Value) -> String {
    let text = fs::read_to_string(page).expect("the page");
    assert_says_what_the_object_says(&text, object);
    // Nothing is fetched, and no name is markup.
    for foreign in ["http://", "https://", "<script ", "@import", "src=", "url("] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    assert_eq!(text.matches("<script>").count(), 1, "what sorts and saves tables");
    assert!(!text.contains("{{") && !text.contains("{%") && !text.contains("NaN"));
    if let Some(browser) = browser() {
        let (dom, complaints) = rendered(&browser, page);
        assert_eq!(complaints, "", "{}", page.display());
        assert_says_what_the_object_says(&dom, object);
        for measured in measured(&browser, &text, page) {
            let at = format!("{} at {}", page.display(), measured["room"]);
            assert_eq!(measured["outside"].as_array().expect("a list"), &Vec::<Value>::new(), "{at}");
            assert_eq!(measured["width"], measured["room"], "{at} scrolls sideways");
            assert_eq!(measured["sorted"], true, "{at}: {measured}");
            let saved = measured["saved"].as_str().expect("a table as CSV");
            assert!(saved.lines().count() > 2 && saved.contains(','), "{at}: {saved}");
        }
    }
    text
}

#[test]
fn a_page_on_numbers_says_what_the_object_says() {
    let arguments = ["--target", "effect", "--kernel", "poly", "--degree", "1..2", "--p", "1.05", "--select", "4"];
    let (page, object) = report("fit", "numbers", TRIAL, &arguments);
    let text = check(&page, &object);
    let (effects, surfaces) = readout(&object);
    assert!(effects > 2 && surfaces > 0, "{effects} {surfaces}");
    assert_eq!(pictures(&text), 4 + effects + surfaces, "predictions, gammas, learning curve, convergence");
    assert!(text.contains(object["functions"][0]["selection"]["equation"].as_str().expect("an equation")));
    assert_eq!(
        text.matches("class=\"dot\"").count(),
        60 + 60 * effects,
        "every sample was held out once, and is on every curve"
    );
    assert_eq!(text.matches("class=\"sample ").count(), 60 * surfaces, "and on every surface");
    assert!(text.contains("class=\"heat\"") && text.contains("data-meaning="), "{text}");
    let points = object["learning_curve"]["points"].as_array().expect("a list");
    assert_eq!(
        points.iter().map(|point| point["samples"].as_f64().expect("a number")).collect::<Vec<_>>(),
        [12.0, 24.0, 36.0, 48.0]
    );
    let errors: Vec<f64> = points.iter().map(|point| point["error"].as_f64().expect("a number")).collect();
    assert!(errors[3] < errors[0] && errors[3] < 0.1, "{errors:?}");
    assert!(text.contains("--report") && text.contains("banach fit "));
}

#[test]
fn a_page_on_few_terms_has_the_verdict_and_the_curves() {
    let terms = ["--target", "effect", "--kernel", "poly", "--degree", "1..2", "--sparse", "--learning-curve"];
    let (page, object) = report("fit", "sparse", TRIAL, &terms);
    let text = check(&page, &object);
    assert_eq!(readout(&object), (3, 1), "age, dose, pulse; age with dose");
    assert_eq!(pictures(&text), 3 + 3 + 1, "evidence, unexplained, learning curve");
    let function = &object["functions"][0];
    assert!(text.contains(function["equation"].as_str().expect("an equation")), "{text}");
    assert!(text.contains("2 terms of 44 monomials explain 98.54 %") && text.contains("taken: 2"), "{text}");
    assert!(
        text.contains("differences from means: age - 49.28") && text.contains("every step to one monomial more"),
        "{text}"
    );
    // Over age and dose, with the pulse at its mean, the product and the constant are left.
    let surface = &object["readout"]["surfaces"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let mean = |name: &str| {
        let centre = function["centres"].as_array().expect("a list").iter().find(|centre| centre["variable"] == name);
        number(&centre.expect("a centre")["mean"])
    };
    let product = function["terms"].as_array().expect("a list").iter().find(|term| term["monomial"] == "age * dose");
    let coefficient = number(&product.expect("a term")["coefficient"]);
    for (at, found) in surface["surfaces"][0]["predictions"].as_array().expect("a list").iter().enumerate() {
        let (age, dose) = (number(&surface["first_values"][at % 15]), number(&surface["second_values"][at / 15]));
        let expected = number(&function["intercept"]) + coefficient * (age - mean("age")) * (dose - mean("dose"));
        assert!((number(found) - expected).abs() < 1e-9, "{age} {dose}: {found} {expected}");
    }
    for title in ["Evidence of the best", "What the best equation"] {
        let points = picture(&text, title).matches("class=\"point").count();
        assert_eq!(points, function["sizes"].as_array().expect("a list").len(), "every size is drawn");
    }
    let (page, object) = report("fit", "sparse-classes", &classes(), &["--target", "y", "--sparse"]);
    let text = check(&page, &object);
    assert_eq!(pictures(&text), 6 + readout(&object).0, "two for every class");
    assert!(text.contains("&lt;high&gt;") && text.contains("low &amp; slow") && !text.contains("<i>c</i>"), "{text}");
}

#[test]
fn a_page_on_classes_has_curves_for_each_and_escapes_their_names() {
    let (page, object) = report("fit", "classes", &classes(), &["--target", "y", "--p", "1.2", "--top", "3"]);
    let text = check(&page, &object);
    assert_eq!(
        pictures(&text),
        5 + readout(&object).0,
        "characteristic, calibration, gammas, learning curve, convergence"
    );
    assert!(text.contains("&lt;high&gt;") && text.contains("low &amp; slow") && !text.contains("<i>c</i>"), "{text}");
    for class in object["validation"]["held_out"]["classes"].as_array().expect("three") {
        assert!(class["auc"].as_f64().expect("a number") > 0.8, "{class}");
    }
}

#[test]
fn a_page_on_a_chosen_model_has_every_contender_on_one_scale() {
    let (page, object) = report("fit", "auto", TRIAL, &["--target", "effect", "--effort", "quick"]);
    let text = check(&page, &object);
    let [standings, effects, surfaces] = [&object["choice"]["standings"], &object["effects"], &object["surfaces"]]
        .map(|list| list.as_array().expect("a list").len());
    assert_eq!(text.matches("<svg class=\"spread\"").count(), standings);
    assert!(effects > 2 && surfaces > 0, "{effects} {surfaces}");
    assert_eq!(pictures(&text), 1 + effects + surfaces, "predictions");
    let rows = object["samples"]["rows"].as_array().expect("a list").len();
    assert_eq!(picture(&text, "Predictions over age and dose").matches("class=\"sample ").count(), rows);
}

/// Names that are longer than a phone is wide, and a target that nothing predicts.
#[test]
fn long_names_and_nothing_found_have_room() {
    let data = long_names();
    let (page, object) = report(
        "fit",
        "long",
        &data,
        &["--target", LONG_TARGET, "--kernel", "poly", "--degree", "1..2", "--gamma", "1"],
    );
    check(&page, &object);
    assert_eq!(readout(&object).0, 6);
    let (page, object) = report("fit", "nothing", &noise(), &["--target", "y", "--effort", "quick"]);
    let text = check(&page, &object);
    assert_eq!(object["assessment"]["better"], false, "{}", object["assessment"]);
    assert!(text.contains("no better than"), "{text}");
    let (page, object) = report("fit", "nothing-sparse", &noise(), &["--target", "y", "--sparse"]);
    assert!(check(&page, &object).contains("nothing can be named"));
}

#[test]
fn a_page_without_folds_says_so() {
    let (page, object) = report("fit", "given", TRIAL, &["--target", "effect", "--gamma", "1"]);
    let text = check(&page, &object);
    assert!(text.contains("You gave gamma, so no other was tried"), "{text}");
    // Along a variable a linear model rises by its coefficient, in the units of the file.
    let numbers = |list: &Value| -> Vec<f64> { serde_json::from_value(list.clone()).expect("numbers") };
    let top = object["functions"][0]["top"]["monomials"].as_array().expect("a list");
    for effect in object["readout"]["effects"].as_array().expect("a list") {
        let (values, curve) = (numbers(&effect["values"]), numbers(&effect["curves"][0]["predictions"]));
        let own = top.iter().find(|entry| entry["monomial"] == effect["variable"]).expect("a row of the table");
        let slope = (curve[19] - curve[0]) / (values[19] - values[0]);
        let coefficient = own["coefficient_original"].as_f64().expect("a number");
        assert!((slope - coefficient).abs() <= 1e-9 * coefficient.abs(), "{effect}: {slope} {coefficient}");
    }
}

#[test]
fn a_page_on_a_path_draws_every_monomial_that_it_follows() {
    let arguments = ["--target", "effect", "--p", "1.1", "--cv", "4", "--gammas", "7", "--top", "3"];
    let (page, object) = report("path", "path", TRIAL, &arguments);
    let text = check(&page, &object);
    assert_eq!(pictures(&text), 2, "held-out loss, coefficients");
    assert_eq!((text.matches("<polyline").count(), text.matches("class=\"swatch").count()), (4, 3));
    let (page, object) = report("path", "path-classes", &classes(), &["--target", "y", "--p", "1.2", "--gammas", "3"]);
    let text = check(&page, &object);
    assert_eq!(pictures(&text), 3, "one for every class");
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
