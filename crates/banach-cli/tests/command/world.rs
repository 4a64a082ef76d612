//! Files as people have them, from the first look to a prediction: what is found out is said, and what was learned is done again.

use std::{fmt::Write as _, fs, path::PathBuf};

use serde_json::Value;

use super::{banach, invocation::text, json, printed};

fn file(name: &str, contents: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("world");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, contents).expect("written");
    path.to_str().expect("a plain path").to_owned()
}

fn refused(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", text(&run.stderr));
    text(&run.stderr)
}

fn notes(object: &Value) -> String {
    object["notes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|note| note.as_str().expect("text"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn uniform(k: usize) -> f64 {
    2.0 * ((k * k) as f64 * 0.618_033_988).fract() - 1.0
}

/// Samples of a function of three columns, the last of which has labels: dose, share and color.
fn sample(k: usize) -> (f64, f64, &'static str, f64) {
    let (dose, share, color) = (uniform(3 * k + 1), uniform(5 * k + 2), ["red", "green", "blue"][k % 3]);
    let effect = 3.0 * dose + f64::from(u8::from(color == "red")) + 0.5 * uniform(7 * k + 3);
    (dose, share, color, effect)
}

/// A table as half of the world writes it.
fn german(rows: std::ops::Range<usize>) -> String {
    let mut table = "Nr;Dosis;Anteil;Farbe;Wirkung;\n".to_owned();
    for k in rows {
        let (dose, share, color, effect) = sample(k);
        let line = format!("p{k};{dose:.4};{:.2} %;{color};{effect:.4};", 100.0 * share);
        writeln!(table, "{}", line.replace('.', ",")).expect("a string");
    }
    table + ";;;;;\n"
}

const LP: [&str; 2] = ["--model", "lp"];

#[test]
fn a_table_with_semicolons_commas_and_per_cent_goes_all_the_way() {
    let data = file("german.csv", &german(0..60));
    let model = file("german.banach", "");
    let fit = [&["fit", &data, "--target", "Wirkung", "--drop", "Nr", "-o", &model], &LP[..]].concat();
    let fitted = json(&fit);
    let said = notes(&fitted);
    assert!(!said.contains("x6"), "an empty column is not spoken of: {said}");
    for note in ["';' between fields (--delimiter)", "decimal commas (--decimal)", "12 % is 0.12"] {
        assert!(said.contains(note), "{note} is missing in\n{said}");
    }
    let names: Vec<&str> = fitted["data"]["variables"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["name"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["Dosis", "Anteil", "Farbe=blue", "Farbe=green", "Farbe=red"]);
    // New rows in another dialect, with what tells them apart and an interval.
    let mut new = "Nr,Farbe,Anteil,Dosis\n".to_owned();
    for k in 100..160 {
        let (dose, share, color, _) = sample(k);
        writeln!(new, "p{k},{color},{share},{dose}").expect("a string");
    }
    let new = file("english.csv", &new);
    let predicted = printed(&["predict", &model, &new, "--id", "Nr", "--interval", "0.9", "-q"]);
    let mut lines = predicted.lines();
    assert_eq!(lines.next(), Some("Nr,prediction,lower,upper"));
    let mut inside = 0;
    for (k, line) in (100..160).zip(lines) {
        let fields: Vec<&str> = line.split(',').collect();
        let [prediction, lower, upper] = [1, 2, 3].map(|at| fields[at].parse::<f64>().expect("a number"));
        assert!(fields[0] == format!("p{k}") && lower < prediction && prediction < upper, "{line}");
        inside += usize::from((lower..upper).contains(&sample(k).3));
    }
    assert!((48..=60).contains(&inside), "{inside} of 60 lie in an interval for 90 %");
    let object = json(&["predict", &model, &new, "--id", "Nr", "--interval", "0.9", "-q"]);
    assert_eq!((&object["ids"][0], &object["intervals"][0]["coverage"]), (&"p100".into(), &0.9.into()));
    assert!(
        refused(&["predict", &model, &new, "--interval", "0.99"])
            .contains("--interval = 0.99; allowed: at most n/(n + 1)")
    );
    assert!(refused(&["predict", &model, &new, "--interval", "2"]).contains("a number > 0 and < 1"));
    assert!(refused(&["predict", &model, &new, "--id", "Dosis"]).contains("leave --id out"));
}

#[test]
fn models_without_held_out_rows_have_no_intervals_and_say_what_to_do() {
    let data = file("intervals.csv", &german(0..40));
    let fit = |more: &[&str], model: &str| {
        printed(&[&["fit", &data, "--target", "Wirkung", "--drop", "Nr", "-o", model], more].concat())
    };
    let model = file("given.banach", "");
    fit(&["--gamma", "1"], &model);
    let message = refused(&["predict", &model, &data, "--interval", "0.8"]);
    assert!(message.contains("no sample was held out") && message.contains("--cv 5"), "{message}");
    // The equation of a model was found on all rows.
    let equation = file("equation.banach", "");
    fit(&["--gamma", "1", "--select", "3", "--save-equation", &equation], &model);
    let message = refused(&["predict", &equation, &data, "--interval", "0.8"]);
    assert!(message.contains("by evidence on all samples") && message.contains("banach fit"), "{message}");
    // The verdict of few terms holds rows out.
    fit(&["--sparse"], &model);
    assert!(printed(&["predict", &model, &data, "--interval", "0.8", "-q"]).starts_with("prediction,lower,upper\n"));
    fit(&["--gamma", "1", "--cv", "4"], &model);
    assert!(printed(&["predict", &model, &data, "--interval", "0.8", "-q"]).starts_with("prediction,lower,upper\n"));
    let two = german(0..40).replace("Wirkung", "zahl").replace("Farbe", "Wirkung");
    let classes = file("classes.csv", &two);
    printed(&["fit", &classes, "--target", "Wirkung", "--drop", "Nr", "--gamma", "1", "--cv", "4", "-o", &model]);
    assert!(refused(&["predict", &model, &classes, "--interval", "0.8"]).contains("predicts classes"));
    let message = refused(&["predict", &model, &classes, "--interval", "0.8"]);
    assert!(message.contains("classes") && message.contains("--proba") && !message.contains("banach fit"), "{message}");
    let counts =
        file("counts.csv", &(0..40).fold("x,y\n".to_owned(), |all, row| format!("{all}{row},{}\n", row * row % 7)));
    printed(&["fit", &counts, "--target", "y", "--loss", "poisson", "--gamma", "1", "--cv", "4", "-o", &model]);
    let message = refused(&["predict", &model, &counts, "--interval", "0.8"]);
    assert!(message.contains("quantile loss") && !message.contains("banach fit"), "{message}");
    // One of a thing is not many.
    let said = printed(&["fit", &counts, "--target", "y", "--gamma", "1", "-q"]);
    assert!(
        said.contains("40 rows, 2 columns") && said.contains("; 1 variable,") && said.contains(", 1 monomial of"),
        "{said}"
    );
}

/// What a refusal of `--interval` says to do instead works, and is said by every kind of model.
#[test]
fn advice_for_want_of_an_interval_helps() {
    let rows = |row: usize| (uniform(row + 1), uniform(row + 900));
    let mut table = "x,z,count,root,kind\n".to_owned();
    for row in 0..60 {
        let (x, z) = rows(row);
        let count = (4.0 * (1.0 + x) * (1.0 + z)).round();
        let kind = if x + 0.2 * z > 0.5 { "high" } else { "low" };
        writeln!(table, "{x},{z},{count},{},{kind}", count.sqrt()).expect("a string");
    }
    let (data, model) = (file("advice.csv", &table), file("advice.banach", ""));
    let fit = |target: &str, more: &[&str]| {
        let others: Vec<&str> = ["count", "root", "kind"].into_iter().filter(|name| *name != target).collect();
        let others = others.join(",");
        printed(&[&["fit", &data, "--target", target, "--drop", &others, "-o", &model, "-q"], more].concat());
    };
    let asked = ["predict", &model, &data, "--interval", "0.8"];
    for way in [&["--effort", "quick"][..], &["--sparse"], &["--gamma", "1"]] {
        fit("kind", way);
        let message = refused(&asked);
        assert!(message.contains("--proba") && !message.contains("banach fit"), "{way:?}: {message}");
        let probabilities = printed(&["predict", &model, &data, "--proba", "-q"]);
        assert!(probabilities.lines().next().is_some_and(|line| line.contains("high")), "{way:?}: {probabilities}");
    }
    fit("count", &["--loss", "poisson", "--gamma", "1"]);
    let message = refused(&asked);
    assert!(message.contains("0.05 and at 0.95") && message.contains("square roots"), "{message}");
    let bounds = ["0.05", "0.95"].map(|tau| {
        fit("count", &["--loss", "quantile", "--tau", tau, "--gamma", "10"]);
        let predicted = printed(&["predict", &model, &data, "-q"]);
        predicted.lines().skip(1).map(|line| line.parse::<f64>().expect("a number")).sum::<f64>()
    });
    assert!(bounds[0] < bounds[1], "{bounds:?}");
    fit("root", &["--gamma", "1", "--cv", "4"]);
    assert!(printed(&[&asked[..], &["-q"]].concat()).starts_with("prediction,lower,upper\n"));
}

#[test]
fn what_was_learned_of_gaps_and_labels_is_done_to_new_rows() {
    let gaps = german(0..40).replacen(&format!("{:.4}", sample(3).0).replace('.', ","), "", 1);
    let data = file("gaps.csv", &gaps);
    let new = file("new.csv", "Nr;Farbe;Anteil;Dosis\na;red;1 %;0,5\nb;violet;2 %;\n");
    for kind in [&LP[..], &["--sparse"], &["--effort", "quick"]] {
        let model = file("gaps.banach", "");
        let fit = ["fit", &data, "--target", "Wirkung", "--drop", "Nr", "--impute", "median", "-o", &model];
        printed(&[&fit[..], kind].concat());
        let message = banach(&["predict", &model, &new]);
        // The label is refused unless told otherwise; the gap is filled in as it was.
        assert!(
            message.status.success() || text(&message.stderr).contains("--unknown ignore"),
            "{}",
            text(&message.stderr)
        );
        let run = banach(&["predict", &model, &new, "--unknown", "ignore", "--json"]);
        assert!(run.status.success(), "{kind:?}: {}", text(&run.stderr));
        let object: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        assert_eq!(object["imputed"][0]["column"], "Dosis", "{kind:?}");
        let unknown = object["unknown"].as_array().expect("a list");
        assert!(unknown.is_empty() || unknown[0]["labels"][0] == "violet", "{kind:?}: {object}");
        printed(&[&fit[..], kind, &["--unknown", "ignore"]].concat());
        printed(&["predict", &model, &new, "-q"]);
    }
}

#[test]
fn whole_numbers_rare_classes_and_many_labels_are_pointed_out() {
    let mut table = "x,city,y,kind\n".to_owned();
    for k in 0..120 {
        let kind = if k == 7 { "rare" } else { ["a", "b"][k % 2] };
        writeln!(table, "{},c{},{},{kind}", uniform(k + 1), k % 110, k % 4).expect("a string");
    }
    let data = file("notes.csv", &table);
    let fitted = json(&[&["fit", &data, "--target", "y", "--drop", "kind", "--gamma", "1"], &LP[..]].concat());
    let said = notes(&fitted);
    assert!(said.contains("4 different whole numbers") && said.contains("--loss logistic"), "{said}");
    assert!(said.contains("column \"city\" has 110 labels"), "{said}");
    let rare = ["fit", &data, "--target", "kind", "--drop", "city", "--gamma", "1"];
    assert!(refused(&rare).contains("--drop-rare-classes"));
    let fitted = json(&[&rare[..], &["--drop-rare-classes"]].concat());
    assert!(notes(&fitted).contains("\"rare\"") && fitted["data"]["rows"] == 119, "{}", notes(&fitted));
    assert_eq!(fitted["data"]["classes"].as_array().expect("a list").len(), 2);
    // Of numbers nothing is rare.
    let numbers = json(&["fit", &data, "--target", "x", "--drop", "city,kind", "--gamma", "1", "--drop-rare-classes"]);
    assert_eq!(numbers["data"]["rows"], 120);
}

#[test]
fn dates_and_columns_of_one_name_are_refused_with_flags() {
    let dates = file("dates.csv", "day;y\n31.01.2024;1\n01.02.2024;2\n31.01.2024;3\n");
    let message = refused(&["fit", &dates, "--target", "y"]);
    assert!(message.contains("column \"day\"") && message.contains("--drop \"day\""), "{message}");
    let twice = file("twice.csv", "a,a,\n1,2,3\n2,1,4\n3,5,5\n4,4,1\n");
    assert!(refused(&["fit", &twice, "--target", "a"]).contains("--target 1 or --target 2"));
    let fitted = json(&["fit", &twice, "--target", "3", "--gamma", "1"]);
    assert!(notes(&fitted).contains("column 3 has no name and is called \"x3\""), "{}", notes(&fitted));
    assert_eq!(fitted["data"]["target"], "x3");
}
