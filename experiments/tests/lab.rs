//! Whole invocations of the `banach-lab` binary.

#[path = "../../crates/banach-cli/tests/command/invocation.rs"]
mod invocation;

use std::{path::PathBuf, process::Output};

use self::invocation::{folder, read, text};

fn lab(arguments: &[&str]) -> Output {
    invocation::run(env!("CARGO_BIN_EXE_banach-lab"), arguments)
}

#[test]
fn table1_prints_the_papers_numbers_beside_ours() {
    let out = folder("table1");
    let run = lab(&[
        "reproduce",
        "table1",
        "--quick",
        "--repeats",
        "2",
        "--no-baselines",
        "--out",
        out.to_str().expect("a plain path"),
    ]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    for expected in [
        "12(5)",
        "258(55)",
        "p = 4/3",
        "p = 1.05",
        "2 seeds",
        "do not apply",
        "chosen to come near",
        "never says what its brackets are",
        "difference",
    ] {
        assert!(table.contains(expected), "{expected} is missing in\n{table}");
    }
    assert!(read(&out, "table1.md").contains("| dual GD + linesearch"));
    let json: serde_json::Value = serde_json::from_str(&read(&out, "table1.json")).expect("JSON");
    assert_eq!(json["cells"].as_array().expect("a list").len(), 4);
    assert_eq!(std::fs::read_dir(&out).expect("a folder").count(), 2, "no unfinished file is left");
}

/// FISTA alone, on every seed, with both momenta.
#[test]
fn the_momentum_of_fista_is_an_option() {
    let fista = ["reproduce", "table1", "--quick", "--fista", "--repeats", "2", "--momentum"];
    let run = lab(&[&fista[..], &["2.5", "--json"]].concat());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    assert_eq!(json["request"]["settings"]["momentum"], 2.5);
    let cells = json["cells"].as_array().expect("a list");
    for algorithm in ["fista", "fista_momentum"] {
        let found: Vec<_> = cells.iter().filter(|cell| cell["algorithm"] == algorithm).collect();
        assert_eq!(found.len(), 2, "{algorithm}");
        assert!(
            found.iter().all(|cell| cell["outcomes"].as_array().is_some_and(|runs| runs.len() == 2)),
            "{algorithm}"
        );
    }
    let table = text(&lab(&[&fista[..], &["2.5"]].concat()).stdout);
    for expected in ["(k-1)/(k+a), a = 2.5", "found by search", "range", "not run"] {
        assert!(table.contains(expected), "{expected} is missing in\n{table}");
    }
    let refused = lab(&[&fista[..], &["1.5"]].concat());
    assert!(!refused.status.success() && text(&refused.stderr).contains("a = 1.5"), "{}", text(&refused.stderr));
}

#[test]
fn json_goes_to_standard_output_and_depends_on_the_seed_alone() {
    for table in ["table1", "table2"] {
        let run = |seed: &str, threads: &str| {
            let options = ["--quick", "--json", "--repeats", "1", "--seed", seed, "--threads", threads];
            let run = lab(&[&["reproduce", table], &options[..]].concat());
            assert!(run.status.success(), "{}", text(&run.stderr));
            let mut json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
            assert!(forget(&mut json, &["seconds", "threads"]) > 0);
            json
        };
        let one_thread = run("7", "1");
        assert_eq!(one_thread, run("7", "3"));
        assert_ne!(one_thread, run("8", "1"));
    }
}

/// Removes what is measured by the clock or depends on the machine, and says how often it was there.
fn forget(json: &mut serde_json::Value, keys: &[&str]) -> usize {
    match json {
        serde_json::Value::Object(entries) => {
            let before = entries.len();
            entries.retain(|key, _| !keys.contains(&key.as_str()));
            before - entries.len() + entries.values_mut().map(|value| forget(value, keys)).sum::<usize>()
        }
        serde_json::Value::Array(values) => values.iter_mut().map(|value| forget(value, keys)).sum(),
        _ => 0,
    }
}

#[test]
fn figure1_writes_both_panels() {
    let out = folder("figure1");
    let run = lab(&["reproduce", "figure1", "--quick", "--repeats", "1", "--out", out.to_str().expect("a plain path")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    for panel in ["figure1-left", "figure1-right"] {
        let svg = read(&out, &format!("{panel}.svg"));
        assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        let png = std::fs::read(out.join(format!("{panel}.png"))).expect("written");
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5_000);
    }
    let json: serde_json::Value = serde_json::from_str(&read(&out, "figure1.json")).expect("JSON");
    assert_eq!(json["estimate"].as_array().expect("a list").len(), 1500);
    assert_eq!(json["curves"].as_array().expect("a list").len(), 4);
}

#[test]
fn table2_prints_the_papers_numbers_beside_ours() {
    let out = folder("table2");
    let run = lab(&["reproduce", "table2", "--quick", "--repeats", "2", "--out", out.to_str().expect("a plain path")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    for expected in [
        "2.73",
        "2.49",
        "9.87",
        "(with K)",
        "(K streamed)",
        "feature matrix",
        "2 seeds",
        "do not apply",
        "chosen to come near",
        "drawn as in Table 1",
    ] {
        assert!(table.contains(expected), "{expected} is missing in\n{table}");
    }
    assert!(read(&out, "table2.md").contains("\n| dual GD + linesearch (without K) "));
    let json: serde_json::Value = serde_json::from_str(&read(&out, "table2.json")).expect("JSON");
    for row in json["rows"].as_array().expect("a list") {
        assert_eq!(row["seconds"].as_array().expect("a list").len(), 2, "{row}");
    }
}

#[test]
fn all_is_one_page_of_every_table_and_figure() {
    let out = folder("all");
    let run =
        lab(&["reproduce", "all", "--quick", "--json", "--repeats", "1", "--out", out.to_str().expect("a plain path")]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let (html, markdown) = (read(&out, "reproduction.html"), read(&out, "reproduction.md"));
    for name in ["table1", "figure1", "table2"] {
        let written: serde_json::Value = serde_json::from_str(&read(&out, &format!("{name}.json"))).expect("JSON");
        assert_eq!(json[name], written);
    }
    for title in ["Agreement with the paper", "Conditions", "Table 1", "Figure 1", "Table 2"] {
        assert!(html.contains(&format!("<h2>{title}</h2>")), "{title} is missing in the page");
        assert!(markdown.contains(&format!("\n## {title}\n")), "{title} is missing in\n{markdown}");
    }
    for expected in ["12(5)", "258(55)", "9.87", "do not apply", env!("CARGO_PKG_VERSION"), "rustc "] {
        assert!(html.contains(expected) && markdown.contains(expected), "{expected} is missing");
    }
    assert_eq!(html.matches("<svg ").count(), 2);
    for picture in ["figure1-left", "figure1-right"] {
        let svg = read(&out, &format!("{picture}.svg"));
        assert!(svg.contains("viewBox"), "{picture} cannot be scaled");
        assert!(html.contains(svg.trim()), "{picture} is not in the page");
        assert!(markdown.contains(&format!("({picture}.png)")) && out.join(format!("{picture}.png")).exists());
    }
    assert!(!html.contains("{{") && !html.contains("{%"), "something was not filled in");
    assert!(!html.contains("src=") && !html.contains("<link") && !html.contains("<script"), "the page is one file");
    assert_balanced(&html);
}

/// Every tag that is opened is closed, in order.
fn assert_balanced(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1) {
        let inside = tag.split('>').next().expect("split gives at least one part");
        if inside.starts_with('!') || inside.ends_with('/') {
            continue;
        }
        let name = inside.split_whitespace().next().expect("a tag has a name");
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "<{inside}> after <{open:?}>"),
            None if name == "meta" => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn the_grid_counts_evaluations_of_every_loss() {
    let run = lab(&["bench", "grid", "--quick"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    let losses = table.lines().filter(|line| line.contains("normal 20 x 200, features")).count();
    assert_eq!(losses, 9, "{table}");
    for expected in ["p = 1.05", "p = 1.01", "epsilon_insensitive", "Gram", "AR(1)", "cells are within", "Worst: "] {
        assert!(table.contains(expected), "{expected} is missing in\n{table}");
    }
}

#[test]
fn folds_abreast_are_timed_against_one_after_another() {
    let run = lab(&["bench", "lockstep", "--quick", "--rounds", "1", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let paces = json["paces"].as_array().expect("a list");
    assert_eq!(paces.len(), 2);
    assert!(paces.iter().all(|pace| pace["figure"]["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0)), "{paces:?}");
    let table = text(&lab(&["bench", "lockstep", "--quick", "--rounds", "1"]).stdout);
    assert!(table.contains("3 folds, 4 gammas") && table.contains(">= 3"), "{table}");
}

#[test]
fn fits_are_timed_against_their_limit_and_on_two_threads() {
    let run = lab(&["bench", "fits", "--quick", "--rounds", "2", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let figures = json["figures"].as_array().expect("a list");
    assert_eq!(figures.len(), 4);
    // Figures are those of the printed times, each a limit and then two threads. What they are depends on the load of the machine.
    for (at, figure) in figures.iter().enumerate() {
        let number = |place: &str| figure.pointer(place).and_then(serde_json::Value::as_f64).expect("a number");
        let quotient = number("/ours/seconds") / number("/other/seconds");
        let expected = if at % 2 == 0 { quotient } else { 1.0 / quotient };
        assert!(quotient > 0.0 && (number("/ratio") / expected - 1.0).abs() < 1e-12, "{figure}");
    }
    let table = text(&lab(&["bench", "fits", "--quick", "--rounds", "1"]).stdout);
    assert!(table.contains("two threads against one") && table.contains("<= 2"), "{table}");
}

#[test]
fn the_search_counts_the_monomials_it_looks_at() {
    let run = lab(&["bench", "search", "--quick", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let cells = json["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 12);
    let runs = cells.iter().flat_map(|cell| cell["runs"].as_array().expect("a list"));
    assert!({ runs }.all(|run| run["complete"] == true && run["nodes"].as_u64().is_some_and(|nodes| nodes > 0)));
    let table = text(&lab(&["bench", "search", "--quick"]).stdout);
    assert!(table.contains("n = 20, d = 6") && table.matches("reached").count() == 12, "{table}");
}

#[test]
fn planted_supports_are_found_with_their_proofs() {
    let run = lab(&["bench", "supports", "--quick", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let cells = json["cells"].as_array().expect("a list");
    let runs: Vec<_> = cells.iter().flat_map(|cell| cell["runs"].as_array().expect("a list")).collect();
    assert_eq!(runs.len(), 12);
    assert!(
        runs.iter().all(|run| run["proven"] == true && run["named"] == run["truth"] && run["false_terms"] == 0),
        "{json}"
    );
    // The truth, nothing false and proven in three rows; for noise, which has no truth, nothing named as well.
    let table = text(&lab(&["bench", "supports", "--quick"]).stdout);
    assert!(table.matches("3 of 3").count() == 13, "{table}");
    let one = text(&lab(&["bench", "supports", "--quick", "--only", "cubic", "--seed", "7"]).stdout).replace('\n', " ");
    assert!(
        one.contains("seeds from 7 to at most 9") && one.contains("degree 3") && !one.contains("degree 2"),
        "{one}"
    );
    let unknown = lab(&["bench", "supports", "--quick", "--only", "nothing"]);
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("linear, quadratic, cubic, noise"));
}

#[test]
fn tiles_are_timed_against_matrix_products() {
    let run = lab(&["bench", "tiles", "--quick", "--rounds", "1", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    assert_eq!((json["figures"].as_array().map(Vec::len), json["fits"].as_array().map(Vec::len)), (Some(6), Some(4)));
    let table = text(&lab(&["bench", "tiles", "--quick", "--rounds", "1"]).stdout);
    assert!(table.contains("standardized monomials") && table.contains(">= 0.5"), "{table}");
}

#[test]
fn interactions_are_measured_in_processes_of_their_own() {
    let run = lab(&["bench", "interactions", "--quick", "--json"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    assert!(json["routes"]["tiles"]["converged"] == true && json["routes"]["features"]["converged"] == true);
    assert_eq!(json["large"][0]["done"]["converged"], true);
    let table = text(&lab(&["bench", "interactions", "--quick"]).stdout);
    for expected in ["2 of 2", ">= 20", "3 of 3 true first", "matrix product"] {
        assert!(table.contains(expected), "{expected} is missing in\n{table}");
    }
}

#[test]
fn wrong_input_ends_with_2_and_says_what_is_allowed() {
    for (arguments, expected) in [
        (&["reproduce", "table9"][..], "table1"),
        (&["reproduce", "table1", "--repeats", "0"], "1..=1000"),
        (&["reproduce", "table1", "--seed", "x"], "invalid digit"),
        (&["bench", "--threads", "0"], "1..=1024"),
        (&["reproduce", "figure1", "--quick", "--out", "/dev/null/x"], "cannot make the folder"),
        (&["bench", "solvers"], "unrecognized subcommand"),
        (&["bench", "--rounds", "3", "grid"], "cannot be used with"),
        (&["reproduce", "table1", "--memory-limit", "1GB"], "--quick"),
        (&["bench", "--memory-limit", "1GB"], "--quick"),
        (&[], "Usage"),
    ] {
        let run = lab(arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
        assert!(text(&run.stderr).contains(expected), "{arguments:?}: {}", text(&run.stderr));
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let short = ["reproduce", "table1", "--quick", "--no-baselines", "--repeats", "1"];
    invocation::assert_a_closed_pipe_is_fine(env!("CARGO_BIN_EXE_banach-lab"), &short);
}

#[test]
fn how_a_result_comes_about_is_said_when_asked() {
    let short = ["reproduce", "table1", "--quick", "--no-baselines", "--repeats", "1", "--quiet"];
    let run = lab(&[&short[..], &["--explain"]].concat());
    assert!(text(&run.stdout).contains("How: Algorithm 2.1"), "{}", text(&run.stdout));
    assert!(!text(&lab(&short).stdout).contains("How:"));
}

/// Every line in a console block of the documentation that calls one of the two programs is accepted by it.
#[test]
fn documented_commands_exist() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut commands = [0, 0];
    let pages = ["README.md", "docs/index.md", "docs/command-line.md", "docs/file-formats.md", "docs/reproduction.md"];
    let from = ["docs/auto.md", "docs/from-glmnet.md", "docs/from-random-forests.md"];
    for page in pages.into_iter().chain(["docs/benchmarks.md", "docs/solvers.md"]).chain(from) {
        let page = std::fs::read_to_string(root.join(page)).expect("the page exists");
        let consoles = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().expect("a part"));
        for line in consoles.flat_map(str::lines) {
            let command = line.split('#').next().expect("split gives at least one part");
            let mut words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            // The laboratory has the other program in it.
            let program = match words[0] {
                "banach" => 0,
                "banach-lab" => 1,
                _ => continue,
            };
            words.drain(..program);
            let run = lab(&words);
            assert!(run.status.success(), "{line}: {}", text(&run.stderr));
            commands[program] += 1;
        }
    }
    assert!(commands.into_iter().all(|found| found >= 5), "found only {commands:?} commands");
}
