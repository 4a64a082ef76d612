//! What is printed has room in a terminal of 80 columns: tables whatever the names, and help.

use std::{fs, path::Path, process::Command};

/// Eighty rows of sixty columns with long names, of which four matter.
pub(crate) fn long_names() -> String {
    let jumble = |k: usize| ((k * k) as f64 * 0.618_033_988).fract() * 2.0 - 1.0;
    let name = |j: usize| format!("a measurement of something with a long name that goes on and on, number {j}");
    let row = |i: usize| {
        let x: Vec<f64> = (0..60).map(|j| jumble(60 * i + j + 1)).collect();
        let y = 3.0 * x[3] * x[5] + 2.0 * x[7] - x[9] + 0.2 * jumble(i + 9000);
        x.iter().chain([&y]).map(|value| format!("{value:.5}")).collect::<Vec<_>>().join(",")
    };
    let names: Vec<String> = (0..60).map(|j| format!("\"{}\"", name(j))).collect();
    let rows: Vec<String> = (0..80).map(row).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long-names.csv");
    let header = format!("{},\"the target has a rather long name as well\"", names.join(","));
    fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).expect("written");
    path.to_string_lossy().into_owned()
}

pub(crate) const LONG_TARGET: &str = "the target has a rather long name as well";

fn printed(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_banach")).args(arguments).output().expect("the binary runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn tables_of_long_names_have_room() {
    let data = long_names();
    let plain = ["fit", &data, "--target", LONG_TARGET, "--quiet"];
    let more: [&[&str]; 2] = [
        &["--kernel", "poly", "--degree", "1..2", "--p", "1.1", "--gamma", "1", "--select", "4", "--relevance"],
        &["--sparse", "--kernel", "poly", "--degree", "1..2"],
    ];
    for arguments in more.map(|more| [&plain[..], more].concat()) {
        let text = printed(&arguments);
        let of_table = |line: &&str| line.starts_with(['│', '┌', '╞', '└', '├']) || line.trim_end().ends_with('#');
        let formula = |line: &&str| line.trim_start().starts_with(['`', '+', '-']) || line.contains(" = ");
        assert!(text.lines().filter(of_table).count() > 8, "{text}");
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80 && !formula(line)).collect();
        assert!(long.is_empty(), "{long:#?}\n{text}");
    }
}

#[test]
fn help_has_room() {
    for command in ["fit", "path", "predict", "features", "info", "demo"] {
        for help in ["-h", "--help"] {
            let text = printed(&[command, help]);
            let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{command} {help}: {long:#?}");
        }
    }
}
