//! What holds for every command, and the documentation of all.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    banach,
    invocation::{folder, read, text},
};

#[test]
fn wrong_input_ends_with_2_and_says_what_is_allowed() {
    for (arguments, expected) in [
        (&["fit", "data.csv", "--target", "y", "--threads", "0"][..], "1..=1024"),
        (&["man", "--out", "/dev/null/x"], "cannot make the folder"),
        (&["completions", "tcsh"], "bash"),
        (&["reproduce", "table1"], "unrecognized subcommand"),
        (&[], "Usage"),
    ] {
        let run = banach(arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
        assert!(text(&run.stderr).contains(expected), "{arguments:?}: {}", text(&run.stderr));
    }
}

#[test]
fn shells_and_manuals_know_every_command() {
    let out = folder("man");
    let run = banach(&["man", "--out", out.to_str().expect("a plain path"), "--quiet"]);
    assert_eq!((run.status.code(), text(&run.stderr)), (Some(0), String::new()));
    let commands = ["fit", "path", "predict", "features", "info", "demo", "completions", "man"];
    let manual = text(&banach(&["man"]).stdout);
    for command in commands {
        assert!(manual.contains(&format!("banach\\-{command}(1)")), "{command} is not in\n{manual}");
        let page = read(&out, &format!("banach-{command}.1"));
        assert!(page.contains(".SH") && page.contains("memory\\-limit"), "{page}");
    }
    assert!(read(&out, "banach-fit.1").contains("Examples:"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&banach(&["completions", shell]).stdout);
        assert!(commands.iter().all(|command| script.contains(command)) && script.contains("kernel"), "{shell}");
    }
}

/// No placeholder is left in the documentation, and every relative link leads somewhere.
#[test]
fn documentation_is_complete() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| root.join(page)).to_vec();
    for folder in ["docs", "docs/adr"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the folder exists");
        pages.extend(
            entries.map(|entry| entry.expect("readable").path()).filter(|path| path.extension() == Some("md".as_ref())),
        );
    }
    let mut links = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("the page exists");
        assert!(!text.contains("_HERE"), "{} has a placeholder", page.display());
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            // Where it leads within a page is checked when the book is built.
            let file = link.split('#').next().expect("split gives at least one part");
            assert!(page.parent().expect("a file").join(file).exists(), "{}: {link} does not exist", page.display());
            links += 1;
        }
    }
    assert!(links >= 10, "found only {links} links");
}

/// The lines on file formats do what they say, one after another, in a folder that has the examples.
#[cfg(unix)]
#[test]
fn documented_files_are_read() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let here = folder("file-formats");
    std::fs::create_dir_all(here.join("examples")).expect("a folder");
    for file in ["trial.csv", "cohort.bed", "cohort.bim", "cohort.fam", "cohort.tsv"] {
        std::fs::copy(root.join("examples").join(file), here.join("examples").join(file)).expect("copied");
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_banach")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").expect("there is a path"));
    let page = std::fs::read_to_string(root.join("docs/file-formats.md")).expect("the page exists");
    let consoles = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().expect("a part"));
    let mut commands = 0;
    for line in consoles.flat_map(str::lines) {
        let run = Command::new("sh").args(["-c", line]).current_dir(&here).env("PATH", &path).output();
        let run = run.expect("there is a shell");
        assert!(run.status.success() && run.stdout.len() > 100, "{line}: {}", text(&run.stderr));
        commands += 1;
    }
    assert!(commands >= 5, "found only {commands} commands");
}

#[test]
fn a_cause_is_said_once() {
    let run = banach(&["fit", "no-such-file.csv", "--target", "y"]);
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(text(&run.stderr).matches("No such file").count(), 1, "{}", text(&run.stderr));
}

#[test]
fn files_that_are_read_are_not_written_over() {
    let here = folder("own-files");
    std::fs::create_dir_all(&here).expect("a folder");
    let name = |file: &str| here.join(file).to_str().expect("a plain path").to_owned();
    let (data, model, other) = (name("data.csv"), name("data.banach"), name("./data.csv"));
    std::fs::write(&data, "a;y\n1;2\n2;3\n4;4\n").expect("written");
    let fit = |output: &str| banach(&["fit", &data, "--delimiter", ";", "--target", "y", "--gamma", "1", "-o", output]);
    assert!(fit(&model).status.success());
    for run in [
        fit(&other),
        banach(&["predict", &model, &data, "--delimiter", ";", "-o", &data]),
        banach(&["predict", &model, &data, "--delimiter", ";", "-o", &model]),
    ] {
        assert_eq!(run.status.code(), Some(2));
        assert!(text(&run.stderr).contains("name another"), "{}", text(&run.stderr));
    }
    assert!(read(&here, "data.csv").starts_with("a;y"));
    let run = banach(&["fit", &data, "--target", "y", "--delimiter", ","]);
    assert!(text(&run.stderr).contains("--delimiter"), "{}", text(&run.stderr));
}
