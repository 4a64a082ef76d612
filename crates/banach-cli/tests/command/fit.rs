//! `banach fit`.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    banach,
    invocation::text,
    one_line,
    path::{QUADRATIC, TRIAL},
};

/// What a run prints that must be done without complaint.
fn printed(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert!(run.status.success(), "{arguments:?}: {}", text(&run.stderr));
    assert_eq!(text(&run.stderr), "", "no terminal, no progress");
    text(&run.stdout)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).expect("JSON and nothing else")
}

/// A file of this test's own.
fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fit");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("written");
    path.to_str().expect("a plain path").to_owned()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Uniform numbers between two ends, the same on every machine.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self, from: f64, to: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (to - from) * (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The trial of the README: the effect has an interaction of age and dose, a part of the pulse, and noise.
fn trial() -> String {
    let mut uniform = Uniform(7);
    let mut csv = "age,dose,weight,height,pulse,iron,zinc,sleep,effect\n".to_owned();
    for _ in 0..60 {
        let [age, dose] = [uniform.next(20.0, 80.0).round(), (10.0 * uniform.next(0.0, 10.0)).round() / 10.0];
        let [weight, height] = [uniform.next(50.0, 100.0).round(), uniform.next(150.0, 200.0).round()];
        let [pulse, iron] = [uniform.next(50.0, 100.0).round(), uniform.next(0.5, 3.0)];
        let [zinc, sleep] = [uniform.next(0.5, 1.5), uniform.next(4.0, 9.0)];
        let noise = uniform.next(-0.5, 0.5);
        let effect = 12.0 + 0.05 * (age - 50.0) * (dose - 5.0) - 0.08 * (pulse - 75.0) + noise;
        let rest = format!("{weight},{height},{pulse},{iron:.2},{zinc:.2},{sleep:.1}");
        writeln!(csv, "{age},{dose},{rest},{effect:.2}").expect("a string");
    }
    csv
}

#[test]
fn kernels_are_searched_with_what_each_has() {
    let fit = ["fit", TRIAL, "--target", "effect", "--model", "lp", "--cv", "3", "--quiet"];
    let found = json(&[&fit[..], &["--kernel", "linear,poly,anova", "--degree", "1..2", "--gamma", "0.1,1"]].concat());
    let searched = found["validation"]["searched"].as_array().expect("combinations");
    let kernels: Vec<&str> = searched.iter().filter_map(|one| one["kernel"].as_str()).collect();
    assert_eq!(kernels.len(), 3, "{kernels:?}");
    assert!(kernels[0].contains("linear") && kernels[2].contains("ANOVA"), "{kernels:?}");
    let losses = || searched.iter().map(|one| one["best"]["loss"]["mean"].as_f64().expect("finished"));
    let chosen = searched.iter().position(|one| one["chosen"] == true).expect("one was taken");
    assert_eq!(losses().nth(chosen), losses().reduce(f64::min));
    for (more, said) in [
        (&["--kernel", "linear,poly", "--gamma", "1"][..], "--kernel linear,poly: several kernels are for a search"),
        (&["--kernel", "linear,poly", "--sparse"], "--kernel linear,poly: several kernels are for a search"),
        (&["--kernel", "linear,anova", "--coef0", "1"], "--coef0"),
        (&["--kernel", "linear,rbf"], "rbf"),
    ] {
        let run = banach(&[&fit[..2], &["--target", "effect"], more].concat());
        assert_eq!(run.status.code(), Some(2), "{more:?}");
        assert!(text(&run.stderr).contains(said), "{more:?}: {}", text(&run.stderr));
    }
    let path = banach(&["path", TRIAL, "--target", "effect", "--kernel", "linear,poly"]);
    assert_eq!(path.status.code(), Some(2), "{}", text(&path.stderr));
}

#[test]
fn columns_that_are_taken_as_they_are_have_their_scales_noted() {
    let row = |i: usize| format!("{},{},{}\n", i % 7, 1000 * (i * i % 11), i % 5);
    let table = file("units.csv", format!("grams,\"micro grams\",y\n{}", (0..30).map(row).collect::<String>()));
    let fit = ["fit", &table, "--target", "y", "--gamma", "1e-3", "--quiet", "--json"];
    let notes = |more: &[&str]| {
        let run = banach(&[&fit[..], more].concat());
        let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let notes =
            found["notes"].as_array().expect("a list").iter().filter_map(|note| note.as_str().map(str::to_owned));
        notes.filter(|note| note.contains("the scales of columns")).collect::<Vec<_>>()
    };
    assert!(notes(&[]).is_empty());
    let told = notes(&["--no-standardize"]);
    assert!(
        matches!(&told[..], [note] if note.contains("in \"grams\" and") && note.contains("in \"micro grams\"")),
        "{told:?}"
    );
    assert!(notes(&["--no-standardize", "--monomials", "unit"]).is_empty());
}

#[test]
fn the_planted_interaction_is_named_first() {
    let path = file("planted.csv", trial());
    let options = ["--top", "3", "--relevance", "--select", "4", "--stability", "2", "--explain"];
    let page = printed(&[&["fit", &path, "--target", "effect"], &QUADRATIC[..], &options].concat());
    for expected in [
        "60 rows, 9 columns; target \"effect\", a number; 8 variables",
        "p = 1.05",
        "44 monomials of degrees 1 to 2",
        "route:  features",
        "> features",
        "converged, relative duality gap",
        "R^2 0.9",
        "│ 1 ┆ age * dose",
        "│ 2 ┆ pulse",
        "The solver's error cannot change this list",
        "by degree",
        "* age * dose  1.000",
        "effect = ",
        "differences from means: age - ",
        "Equation: 2 terms of 44 monomials explain",
    ] {
        assert!(one_line(&page).contains(&one_line(expected)), "{expected} is missing in\n{page}");
    }
}

#[test]
fn json_says_what_the_text_says() {
    let path = file("json.csv", trial());
    let options = ["--top", "4", "--relevance", "--select", "4", "--stability", "2"];
    let arguments = [&["fit", &path, "--target", "effect"], &QUADRATIC[..], &options].concat();
    let (page, object) = (printed(&arguments), json(&arguments));
    let mut one = json(&[&arguments[..], &["--threads", "1"]].concat());
    one["command"] = object["command"].clone();
    assert_eq!(object, one, "threads do not matter");

    assert_eq!((&object["data"]["rows"], &object["data"]["task"]), (&60.into(), &"regression".into()));
    assert_eq!((&object["model"]["p"], &object["model"]["features"]), (&1.05.into(), &44.0.into()));
    assert_eq!((&object["status"], &object["route"]["chosen"]), (&"converged".into(), &"features".into()));
    let validation = &object["validation"];
    let chosen = &validation["candidates"][validation["chosen"].as_u64().expect("a number") as usize];
    assert_eq!(chosen["gamma"], object["model"]["gamma"]);
    assert!(validation["candidates"].as_array().expect("a list").len() >= 20);
    let score = chosen["score"]["mean"].as_f64().expect("a number");
    assert!(score > 0.9 && page.contains(&format!("R^2 {score:.4}")), "{score}\n{page}");

    let function = &object["functions"][0];
    let gap = function["certificate"]["relative_gap"].as_f64().expect("a number");
    assert!(gap <= 1e-8 && page.contains(&format!("relative duality gap {gap:.1e}")), "{gap}\n{page}");
    let top = function["top"]["monomials"].as_array().expect("a list");
    assert_eq!((top.len(), &top[0]["monomial"]), (4, &"age * dose".into()));
    assert_eq!(
        top[0]["factors"],
        serde_json::json!([{"variable": "age", "power": 1}, {"variable": "dose", "power": 1}])
    );
    for entry in top {
        let name = entry["monomial"].as_str().expect("text");
        assert!(page.contains(&format!("┆ {name}")), "{name} is missing in\n{page}");
        let weight = entry["weight"].as_f64().expect("a number");
        let interval = entry["solver_interval"].as_array().expect("a pair");
        assert!(interval[0].as_f64() <= Some(weight) && Some(weight) <= interval[1].as_f64());
    }
    assert_eq!(function["top"]["set_proven"], true);
    let relevance = function["relevance"]["variables"].as_array().expect("a list");
    assert_eq!(relevance.len(), 8);
    assert!(["age", "dose"].contains(&relevance[0]["variable"].as_str().expect("text")));
    let equation = function["selection"]["equation"].as_str().expect("text");
    assert!(page.contains(equation), "{equation}\n{page}");
    assert_eq!(function["selection"]["terms"][0]["monomial"], "age * dose");
    assert_eq!(function["stability"]["stable"], 2);
}

#[test]
fn a_linear_model_has_coefficients_in_original_units() {
    // y = 3 + 2 a - 0.5 b, up to the penalty.
    let mut uniform = Uniform(3);
    let mut csv = "a,b,c,y\n".to_owned();
    for _ in 0..30 {
        let [a, b, c] = [uniform.next(0.0, 10.0), uniform.next(100.0, 300.0), uniform.next(-1.0, 1.0)];
        writeln!(csv, "{a},{b},{c},{}", 3.0 + 2.0 * a - 0.5 * b).expect("a string");
    }
    let object = json(&["fit", &file("linear.csv", csv), "--target", "y", "--p", "1.1", "--gamma", "1e6"]);
    let (function, top) = (&object["functions"][0], &object["functions"][0]["top"]["monomials"]);
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-3 * expected.abs(), "{value} {expected}");
    };
    assert_eq!(top[0]["monomial"], "b");
    near(&top[0]["coefficient_original"], -0.5);
    near(&top[1]["coefficient_original"], 2.0);
    near(&function["intercept_original"], 3.0);
    assert_eq!(object["validation"], Value::Null);
}

#[test]
fn labels_may_be_text_numbers_or_more_than_two() {
    let mut uniform = Uniform(5);
    let mut csv = "a,b,answer,sign,kind,constant\n".to_owned();
    for _ in 0..60 {
        let [a, b] = [uniform.next(-1.0, 1.0), uniform.next(-1.0, 1.0)];
        let (answer, sign) = if a * b > 0.0 { ("yes", 7) } else { ("no", 3) };
        let kind = if a > 0.3 {
            "high"
        } else if a < -0.3 {
            "low"
        } else {
            "middle"
        };
        writeln!(csv, "{a},{b},{answer},{sign},{kind},1.5").expect("a string");
    }
    let path = file("labels.csv", csv);
    for (target, others, class) in [("answer", "sign,kind", "yes"), ("sign", "answer,kind", "7")] {
        let object = json(&["fit", &path, "--target", target, "--drop", others, "--kernel", "anova"]);
        assert_eq!((&object["data"]["task"], &object["model"]["loss"]), (&"classification".into(), &"logistic".into()));
        assert_eq!(
            (&object["functions"][0]["class"], &object["data"]["constant"][0]),
            (&class.into(), &"constant".into())
        );
        assert_eq!(object["functions"][0]["top"]["monomials"][0]["monomial"], "a * b");
        assert!(object["functions"][0]["top"]["monomials"][0]["weight"].as_f64() > Some(0.0));
        assert_eq!(object["validation"]["metric"], "accuracy");
    }
    let arguments = ["fit", &path, "--target", "kind", "--drop", "sign,answer", "--loss", "hinge", "--kernel", "poly"];
    // Where lines fold depends on the folder.
    let page = one_line(&printed(&[&arguments[..], &["--degree", "1-2", "--cv", "4", "--top", "1"]].concat()));
    for expected in
        ["3 classes: \"high\"", "Largest monomials of class \"low\"", "score: accuracy ", "are left out: \"constant\""]
    {
        assert!(page.contains(expected), "{expected} is missing in\n{page}");
    }
    // Two numbers are numbers where that is asked for.
    let object = json(&["fit", &path, "--target", "sign", "--drop", "answer,kind", "--loss", "huber", "--gamma", "1"]);
    assert_eq!(object["data"]["task"], "regression");
}

#[test]
fn standard_input_and_infinite_kernels() {
    let arguments =
        ["fit", "-", "--target", "effect", "--kernel", "exp", "--scale", "0.1", "--gamma", "10", "--select", "2"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args([&arguments[..], &["--json"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(trial().as_bytes()).expect("it reads");
    let run = child.wait_with_output().expect("it ends");
    let object: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!((&object["data"]["file"], &object["model"]["features"]), (&"standard input".into(), &Value::Null));
    assert_eq!(object["functions"][0]["top"]["monomials"][0]["monomial"], "age * dose");
    assert_eq!(object["functions"][0]["selection"], Value::Null);
    let notes = object["notes"].to_string();
    assert!(notes.contains("no equation: --kernel") && notes.contains("highest degree"), "{notes}");
}

#[test]
fn monomials_can_have_one_size() {
    let path = file("sizes.csv", trial());
    for size in ["unit", "standardized"] {
        let arguments =
            [&["fit", &path, "--target", "effect", "--monomials", size, "--gamma", "1"], &QUADRATIC[..]].concat();
        let object = json(&arguments);
        assert_eq!((&object["model"]["monomials"], &object["status"]), (&size.into(), &"converged".into()));
        assert_eq!(object["functions"][0]["top"]["monomials"][0]["monomial"], "age * dose", "{size}");
    }
}

#[test]
fn what_does_not_converge_is_printed_and_ends_with_1() {
    let path = file("limit.csv", trial());
    let run =
        banach(&["fit", &path, "--target", "effect", "--gamma", "10", "--loss", "absolute", "--max-iterations", "1"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let page = text(&run.stdout);
    assert!(page.contains("NOT CONVERGED (the limit on iterations") && page.contains("Largest monomials"), "{page}");
}

/// Two rows of numbers are two numbers, and no two classes of a row each.
#[test]
fn two_rows_are_numbers() {
    let page = printed(&["fit", &file("two.csv", "a,b,y\n1,2,3\n2,5,4.5\n"), "--target", "y", "--gamma", "1"]);
    let page = one_line(&page);
    assert!(page.contains("a number") && page.contains("squared loss"), "{page}");
}

#[test]
fn wrong_input_ends_with_2_and_one_sentence() {
    let good = file("good.csv", trial());
    let missing = file("missing.csv", "a,b,y\n1,2,3\n4,,6\n");
    let words = file("words.csv", "a,id,y\n1,x1,3\n4,x2,6\n5,x3,7\n");
    let constant = file("constant.csv", "a,y\n1,3\n4,3\n5,3\n");
    let fixed = file("fixed.csv", "a,y\n1,3\n1,4\n1,5\n");
    let labels = file("labels2.csv", "a,y\n1,u\n4,v\n5,u\n");
    // The first rows have a line between them; the others are told by their lines, whatever rows were left out.
    let large = file("large.csv", "a,b,y\n1,2,3\n\n2,3,4\n2,5e250,4.5\n3,1,1\n4,2,3\n5,5,5\n");
    let far = file("far.csv", "a,b,y\n1,,3\n2,3,4\n2,5,1e210\n3,1,1\n4,2,3\n5,5,5\n");
    let small = file("small.csv", "a,b,y\n1,2,3e-200\n2,3,4e-200\n2,5,1e-200\n3,1,1e-200\n4,2,3e-200\n5,5,5e-200\n");
    for (arguments, expected) in [
        (vec!["/nowhere.csv", "--target", "y"], "cannot read /nowhere.csv"),
        (vec![&good[..]], "--target"),
        (vec![&good, "--target", "efect"], "did you mean \"effect\"?"),
        (vec![&good, "--target", "effect", "--drop", "puls"], "did you mean \"pulse\"?"),
        (vec![&good, "--target", "effect", "--features", "age,effect"], "also asked for by --features"),
        (vec![&good, "--target", "effect", "--p", "0.9"], "1 <= p <= 2"),
        (vec![&good, "--target", "effect", "--gamma", "0"], "--gamma = 0"),
        (vec![&good, "--target", "effect", "--cv", "61"], "--cv = 61; allowed: a whole number from 2 to 60"),
        (vec![&good, "--target", "effect", "--degree", "2"], "--degree = 2; allowed: 1 for the kernel linear"),
        (vec![&good, "--target", "effect", "--kernel", "poly", "--degree", "2..1"], "begins with the lower degree"),
        (
            vec![&good, "--target", "effect", "--kernel", "exp", "--coef0", "1"],
            "--coef0 = 1; allowed: no value, but for the kernel poly",
        ),
        (vec![&good, "--target", "effect", "--kernel", "exp", "--p", "1.05", "--gamma", "1"], "no route can be taken"),
        (vec![&good, "--target", "effect", "--kernel", "exp", "--scale", "50", "--gamma", "1"], "lower --scale to "),
        (vec![&good, "--target", "effect", "--epsilon", "1"], "--epsilon belongs to another loss"),
        (vec![&good, "--target", "effect", "--loss", "hinge"], "in one row only"),
        (vec![&good, "--target", "effect", "--memory-limit", "2XB"], "a size such as 2GB"),
        (vec![&good, "--target", "effect", "--memory-limit", "1kB"], "allowed: more than 3145728"),
        (vec![&good, "--target", "effect", "--delimiter", ";"], "has no column"),
        (vec![&good, "--target", "effect", "--monomials", "big"], "raw, unit or standardized"),
        (vec![&missing, "--target", "y"], "line 3, column \"b\": the value is missing"),
        (vec![&words, "--target", "y"], "--drop \"id\""),
        (vec![&words, "--target", "id", "--loss", "squared"], "the squared loss needs numbers"),
        (vec![&constant, "--target", "y"], "is 3 in all 3 rows"),
        (vec![&fixed, "--target", "y"], "every column beside the target is constant"),
        (vec![&labels, "--target", "y"], "the label \"v\" in one row only"),
        (vec![&large, "--target", "y", "--no-standardize"], "large.csv, line 5, column \"b\": 5e250; entries must be"),
        (
            vec![&far, "--target", "y", "--impute", "drop"],
            "far.csv, line 4, column \"y\": 1e210; allowed: finite numbers",
        ),
        (vec![&small, "--target", "y"], "multiply y by a number that brings its values near 1; the model"),
        (
            vec![&good, "--target", "effect", "--kernel", "exp", "--monomials", "unit", "--gamma", "1"],
            "cut its degrees (--degree), or take --route gram, which lists no features (q = 2, 4, 6 or 8, and --monomials raw)",
        ),
    ] {
        let run = banach(&[&["fit"], &arguments[..]].concat());
        let error = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(!error.contains("panicked") && !error.contains("backtrace"), "{arguments:?}: {error}");
        assert_eq!(text(&run.stdout), "", "{arguments:?}");
    }
}

/// Ctrl-C ends a long run with what there is.
#[cfg(unix)]
#[test]
fn an_interrupt_prints_the_best_iterate_and_ends_with_1() {
    let mut uniform = Uniform(11);
    let (rows, columns) = (150, 60);
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    let mut csv = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        (0..columns).for_each(|_| write!(csv, "{:.4},", uniform.next(-1.0, 1.0)).expect("a string"));
        writeln!(csv, "{:.4}", uniform.next(-1.0, 1.0)).expect("a string");
    }
    let path = file("long.csv", csv);
    // Leave-one-out over all gammas takes minutes. How soon it has begun depends on the machine.
    for wait in [400, 1000, 3000, 9000] {
        let child = Command::new(env!("CARGO_BIN_EXE_banach"))
            .args(["fit", &path, "--target", "y", "--kernel", "poly", "--degree", "3", "--p", "1.05", "--cv", "150"])
            .args(["--top", "2"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(kill.success(), "it was still running");
        let run = child.wait_with_output().expect("it ends");
        let page = text(&run.stdout);
        // Before the work has begun, an interrupt ends the program at once.
        if run.status.code() == Some(1) {
            for expected in ["INTERRUPTED", "relative duality gap", "Largest monomials"] {
                assert!(page.contains(expected), "{expected} is missing in\n{page}");
            }
            return;
        }
        assert!(matches!(run.status.code(), None | Some(130)), "{:?} {}", run.status, text(&run.stderr));
    }
    panic!("it never began");
}

/// A search for the largest of very many monomials can be ended, and costs nothing but itself.
#[cfg(unix)]
#[test]
fn an_interrupt_of_a_table_keeps_the_fit() {
    for wait in [1500, 4000, 9000] {
        let child = Command::new(env!("CARGO_BIN_EXE_banach"))
            .args(["fit", &file("table.csv", trial()), "--target", "effect", "--gamma", "1"])
            .args(["--kernel", "poly", "--degree", "30"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        let run = child.wait_with_output().expect("it ends");
        let page = text(&run.stdout);
        if page.contains("no table of monomials: interrupted") {
            assert_eq!(run.status.code(), Some(1));
            assert!(page.contains("relative duality gap"), "{page}");
            return;
        }
    }
    panic!("the search was never interrupted");
}

/// The README's command prints what the README says; numbers that depend on the last digits are left out.
#[test]
fn the_readme_shows_what_is_printed() {
    assert_eq!(std::fs::read_to_string(root().join("examples/trial.csv")).expect("the file exists"), trial());
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the page exists");
    let (_, rest) = readme.split_once("banach fit examples/trial.csv").expect("the command");
    let (options, rest) = rest.split_once('\n').expect("a line");
    let (_, rest) = rest.split_once("```text\n").expect("its output");
    let (shown, _) = rest.split_once("\n```").expect("its end");
    let run = Command::new(env!("CARGO_BIN_EXE_banach"))
        .current_dir(root())
        .args(["fit", "examples/trial.csv"])
        .args(options.split_whitespace())
        .output()
        .expect("the binary runs");
    assert_eq!(without_last_digits(shown), without_last_digits(&text(&run.stdout)), "\n{}", text(&run.stdout));
}

fn without_last_digits(page: &str) -> Vec<Vec<&str>> {
    let fixed = |word: &&str| !(word.contains("e-") && word.trim_end_matches([',', ';']).parse::<f64>().is_ok());
    // What a route would cost depends on the machine.
    let lines = page.lines().filter(|line| !line.starts_with("route:"));
    lines.map(|line| line.split_whitespace().filter(fixed).collect()).collect()
}

/// The keys of the JSON object are those that the guide lists.
#[test]
fn the_guide_lists_every_key() {
    let guide = std::fs::read_to_string(root().join("docs/command-line.md")).expect("the page exists");
    let path = file("keys.csv", trial());
    let options = ["--relevance", "--select", "2", "--stability", "2"];
    let object = json(&[&["fit", &path, "--target", "effect"], &QUADRATIC[..], &options].concat());
    let mut keys = Vec::new();
    collect_keys(&object, &mut keys);
    assert!(keys.len() > 50);
    for key in keys {
        assert!(guide.contains(&format!("`{key}`")), "{key} is not explained");
    }
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            keys.push(key.clone());
            collect_keys(value, keys);
        }),
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

/// The example file, as `trial` makes it: run with `--ignored` after a change.
#[test]
#[ignore = "writes a file of the project"]
fn write_the_example() {
    let path: &Path = &root().join("examples");
    std::fs::create_dir_all(path).expect("a folder");
    std::fs::write(path.join("trial.csv"), trial()).expect("written");
}

#[test]
fn text_and_missing_values_are_dealt_with_and_noted() {
    let mut rows = "color,size,id,y\n".to_owned();
    let mut uniform = Uniform(3);
    for row in 0..40 {
        let size = uniform.next(0.0, 1.0);
        let color = ["red", "green", "blue"][row % 3];
        let shown = if row == 7 { "NA".to_owned() } else { format!("{size:.3}") };
        let y = 3.0 * f64::from(u8::from(color == "red")) + size;
        writeln!(rows, "{color},{shown},r{row},{y:.3}").expect("a string");
    }
    let path = file("colors.csv", &rows);
    let options = ["fit", &path, "--target", "y", "--drop", "i?", "--impute", "median", "--gamma", "10"];
    let object = json(&options);
    let names: Vec<&str> = object["data"]["variables"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|each| each["name"].as_str())
        .collect();
    assert_eq!(names, ["color=blue", "color=green", "color=red", "size"]);
    assert_eq!(
        (&object["data"]["imputed"][0]["column"], &object["data"]["imputed"][0]["rows"]),
        (&"size".into(), &1.into())
    );
    assert_eq!(object["data"]["categorical"][0]["labels"], serde_json::json!(["blue", "green", "red"]));
    let page = printed(&options);
    for expected in ["color=red", "missing values that were filled in: 1", "columns of labels"] {
        assert!(page.contains(expected), "{expected} is missing in\n{page}");
    }
    let dropped = json(&["fit", &path, "--target", "4", "--features", "s*", "--impute", "drop", "--gamma", "10"]);
    assert_eq!((&dropped["data"]["rows"], &dropped["data"]["dropped"]), (&39.into(), &1.into()));
    let headless = file("headless.csv", "1,2\n2,4.5\n3,6\n4,8\n");
    let object = json(&["fit", &headless, "--no-header", "--target", "2", "--gamma", "10"]);
    assert_eq!((&object["data"]["rows"], &object["data"]["variables"][0]["name"]), (&4.into(), &"x1".into()));
}

#[test]
fn a_sparse_file_is_fitted_and_not_centred() {
    let mut uniform = Uniform(5);
    let (mut sparse, mut dense) = (String::new(), "x1,x2,x3,y\n".to_owned());
    for row in 0..30 {
        let x = [uniform.next(-1.0, 1.0), uniform.next(-1.0, 1.0), uniform.next(-1.0, 1.0)];
        let x: Vec<f64> = (0..3).map(|at| if (row + at) % 2 == 0 { x[at] } else { 0.0 }).collect();
        let y = 2.0 * x[1] + 1.0;
        writeln!(dense, "{},{},{},{y}", x[0], x[1], x[2]).expect("a string");
        let entries: Vec<String> =
            (0..3).filter(|&at| x[at] != 0.0).map(|at| format!("{}:{}", at + 1, x[at])).collect();
        writeln!(sparse, "{y} {}", entries.join(" ")).expect("a string");
    }
    let (sparse, dense) = (file("rows.svm", sparse), file("rows.csv", dense));
    let object = json(&["fit", &sparse, "--gamma", "100"]);
    assert_eq!((&object["data"]["sparse"], &object["data"]["centred"]), (&true.into(), &false.into()));
    assert_eq!(object["functions"][0]["top"]["monomials"][0]["monomial"], "x2");
    assert!(printed(&["fit", &sparse, "--gamma", "100"]).contains("the table is sparse"));
    // With a constant in the model it does not matter whether columns are centred.
    let weights = |object: &Value| -> Vec<f64> {
        let top = object["functions"][0]["top"]["monomials"].as_array().expect("a list").clone();
        top.iter().filter_map(|entry| entry["weight"].as_f64()).collect()
    };
    let centred = json(&["fit", &dense, "--target", "y", "--gamma", "100"]);
    for (a, b) in weights(&object).iter().zip(weights(&centred)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// Of the exponential kernel p and the scale are searched, and what was tried is told.
#[test]
fn the_exponential_kernel_is_searched() {
    let data = file("search.csv", trial());
    let run = banach(&["fit", &data, "--target", "effect", "--kernel", "exp", "--explain", "--quiet"]);
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(said.contains("the best of 12 combinations") && said.contains("\nSearch. Loss on held-out"), "{said}");
    let run = banach(&["fit", &data, "--target", "effect", "--kernel", "exp", "--json", "--quiet"]);
    let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let searched = found["validation"]["searched"].as_array().expect("a list");
    let chosen: Vec<&Value> = searched.iter().filter(|one| one["chosen"] == true).collect();
    assert_eq!((searched.len(), chosen.len()), (12, 1));
    assert_eq!((&chosen[0]["p"], &chosen[0]["kernel"]), (&found["model"]["p"], &found["model"]["kernel"]));
    let loss = |one: &Value| one["best"]["loss"]["mean"].as_f64().expect("a number");
    assert!(searched.iter().all(|one| loss(chosen[0]) <= loss(one)));
}
