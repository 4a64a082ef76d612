//! `--memory-limit` holds for everything that the command allocates, measured in a process of its own; and where the operating
//! system has no more memory, the command says so and ends with an exit code.

#![cfg(target_os = "linux")]

use std::{
    fmt::Write as _,
    io::{BufWriter, Write as _},
    path::PathBuf,
    process::Command,
};

/// Limits, in MB.
const LIMITS: [u32; 3] = [60, 100, 300];

/// The most that a process may take beside `banach --help`, for every byte of its limit.
const RATIO: f64 = 1.1;

/// The variable that holds the arguments of the process that is measured, one line each.
const ARGUMENTS: &str = "BANACH_MEMORY_TEST";

/// The most memory that this process has held so far, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak of memory");
    1024e-6 * line.split_whitespace().nth(1).and_then(|size| size.parse::<f64>().ok()).expect("a number")
}

/// Not a test: the process that is measured. The command is a library.
#[test]
fn child() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let code = banach_cli::main(arguments.lines());
    println!("\nmeasured {} {code}", peak());
}

/// The peak in MB and the exit code of a command, and what it says.
fn measure(arguments: &[&str]) -> (f64, u8, String) {
    let test = std::env::current_exe().expect("this test");
    let lines = [&["banach"], arguments].concat().join("\n");
    let run =
        Command::new(test).args(["child", "--exact", "--nocapture"]).env(ARGUMENTS, lines).output().expect("it runs");
    let (text, said) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let at = text.rfind("\nmeasured ").unwrap_or_else(|| panic!("{arguments:?} did not end: {text}{said}"));
    let mut words = text[at..].split_whitespace().skip(1);
    let peak = words.next().and_then(|peak| peak.parse().ok()).expect("the peak");
    let code = words.next().and_then(|code| code.parse().ok()).expect("the exit code");
    (peak, code, said.into_owned())
}

/// Runs a command under every limit. From `runs` MB on it must not be refused.
#[track_caller]
fn check(name: &str, arguments: &[&str], runs: u32) {
    let (base, _, _) = measure(&["--help"]);
    for limit in LIMITS {
        let size = format!("{limit}MB");
        let (peak, code, said) = measure(&[arguments, &["--quiet", "--memory-limit", &size]].concat());
        let taken = peak - base;
        println!("| {name} | {limit} | {taken:.1} | {} |", if code == 2 { "refused" } else { "ran" });
        assert!(taken < RATIO * f64::from(limit), "{name}: {taken:.1} MB under {size}, exit code {code}: {said}");
        assert!(code <= 2, "{name}: {code} {said}");
        assert!(code < 2 || limit < runs, "{name} is refused under {size}: {said}");
        assert!(
            code < 2 || said.starts_with("error: ") && said.contains("memory") || said.contains(" are allowed"),
            "{said}"
        );
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{name}"))
}

fn create(name: &str) -> (String, BufWriter<std::fs::File>) {
    let path = path(name);
    let file = std::fs::File::create(&path).expect("created");
    (path.display().to_string(), BufWriter::new(file))
}

/// A number between -1 and 1 that looks random (splitmix64).
fn value(row: usize, column: usize) -> f64 {
    let mut mixed = ((row as u64) << 32 | column as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// A table of numbers whose target `y` is a number, or a class if there are some.
fn table(name: &str, rows: usize, columns: usize, classes: Option<&[&str]>) -> String {
    let (path, mut out) = create(name);
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    writeln!(out, "y,{}", names.join(",")).expect("written");
    for row in 0..rows {
        let x = |column: usize| value(row, column);
        let mut line = match classes {
            Some(classes) => classes[row % classes.len()].to_owned(),
            None => format!("{:.4}", x(0) - x(1) * x(2) + 0.3 * value(row, columns + 7)),
        };
        (0..columns).for_each(|column| write!(line, ",{:.4}", x(column)).expect("a string"));
        writeln!(out, "{line}").expect("written");
    }
    path
}

#[test]
fn fits_searches_and_paths_of_a_wide_table() {
    let wide = table("wide.csv", 100, 50_000, None);
    let fit = ["fit", &wide, "--target", "y", "--p", "1.1"];
    check("fit, 100 x 50,000", &[&fit[..], &["--gamma", "1"]].concat(), 300);
    check("fit, 100 x 50,000, no monomials", &[&fit[..], &["--gamma", "1", "--top", "0"]].concat(), 100);
    check("fit --cv 5, 100 x 50,000", &[&fit[..], &["--model", "lp", "--cv", "5", "--top", "0"]].concat(), 100);
    check("path, 100 x 50,000", &["path", &wide, "--target", "y", "--p", "1.1", "--gammas", "5"], 300);
    let (wide, report) = (table("less-wide.csv", 100, 10_000, None), path("wide.html").display().to_string());
    let fit = ["fit", &wide, "--target", "y", "--p", "1.1", "--gamma", "1", "--report", &report];
    check("fit --report, 100 x 10,000", &fit, 60);
}

#[test]
fn relevance_stability_and_reports() {
    let classes = table("classes.csv", 90, 2000, Some(&["a", "b", "c"]));
    let report = path("report.html").display().to_string();
    let fit = ["fit", &classes, "--target", "y"];
    let told = ["--gamma", "1", "--relevance", "--report", &report];
    check("fit --relevance --report, 3 classes, 90 x 2,000", &[&fit[..], &told].concat(), 60);
    check("fit --cv 5, 3 classes, 90 x 2,000", &[&fit[..], &["--model", "lp", "--cv", "5"]].concat(), 60);
    // A hundred searches: fewer columns are enough.
    let halves = self::table("halves.csv", 100, 60, None);
    let fit = ["fit", &halves, "--target", "y", "--kernel", "anova", "--gamma", "1"];
    let told = ["--stability", "10", "--report", &report];
    check("fit --kernel anova --stability 10 --report, 100 x 60", &[&fit[..], &told].concat(), 60);
    let table = table("interactions.csv", 100, 300, None);
    let fit = ["fit", &table, "--target", "y", "--kernel", "anova", "--gamma", "1"];
    let told = ["--select", "5", "--relevance"];
    check("fit --kernel anova --select 5 --relevance, 100 x 300", &[&fit[..], &told].concat(), 60);
}

#[test]
fn gram_tensors() {
    let table = table("few.csv", 100, 10, None);
    let fit = ["fit", &table, "--target", "y", "--kernel", "exp", "--gamma", "0.01", "--top", "0"];
    check("fit --kernel exp, 100 x 10", &fit, 60);
    check("fit --kernel exp --route streamed, 100 x 10", &[&fit[..], &["--route", "streamed"]].concat(), 60);
    check("fit --kernel exp --relevance, 100 x 10", &[&fit[..], &["--relevance"]].concat(), 60);
}

#[test]
fn models_and_predictions() {
    let table = table("train.csv", 120, 400, None);
    let kernels: [(&str, &[&str]); 3] = [
        ("linear", &[]),
        ("anova", &["--kernel", "anova"]),
        ("exp", &["--kernel", "exp", "--scale", "0.001", "--max-iterations", "2"]),
    ];
    for (kernel, told) in kernels {
        let model = path(&format!("{kernel}.banach")).display().to_string();
        let fit = ["fit", &table, "--target", "y", "--gamma", "0.01", "--top", "0", "--quiet", "-o", &model];
        let fitted = Command::new(env!("CARGO_BIN_EXE_banach")).args(fit).args(told).output().expect("it runs");
        assert!(fitted.status.code() < Some(2), "{fitted:?}");
        check(&format!("predict, {kernel}, 120 x 400"), &["predict", &model, &table], 60);
        check(&format!("info, {kernel}, 120 x 400"), &["info", &model], 60);
    }
    let model = path("anova.banach").display().to_string();
    check("features --relevance, anova, 120 x 400", &["features", &model, "--relevance"], 60);
    check("predict --explain, anova, 120 x 400", &["predict", &model, &table, "--explain"], 60);
}

#[test]
fn many_rows_to_predict() {
    let few = table("tall-train.csv", 60, 20, None);
    let model = path("tall.banach").display().to_string();
    let fit = ["fit", &few, "--target", "y", "--gamma", "0.01", "--quiet", "-o", &model];
    let fitted = Command::new(env!("CARGO_BIN_EXE_banach")).args(fit).output().expect("it runs");
    assert!(fitted.status.code() < Some(2), "{fitted:?}");
    let tall = table("tall.csv", 150_000, 20, None);
    check("predict, 150,000 x 20", &["predict", &model, &tall], 300);
    check("predict --json, 150,000 x 20", &["predict", &model, &tall, "--json"], 300);
}

/// Files that are made to take much memory.
#[test]
fn hostile_files() {
    let (long, mut out) = create("long-header.csv");
    let part = vec![b'a'; 1 << 20];
    (0..400).for_each(|_| out.write_all(&part).expect("written"));
    writeln!(out, ",y\n1,2\n3,4").expect("written");
    drop(out);
    check("one header of 400 MB", &["fit", &long, "--target", "y", "--gamma", "1"], u32::MAX);
    std::fs::remove_file(long).expect("removed");

    let (many, mut out) = create("many-names.csv");
    let names: Vec<String> = (0..1_500_000).map(|column| format!("c{column}")).collect();
    writeln!(out, "{}", names.join(",")).expect("written");
    drop(names);
    (0..2).for_each(|_| writeln!(out, "1{}", ",1".repeat(1_499_999)).expect("written"));
    drop(out);
    check("1,500,000 names", &["fit", &many, "--target", "c0", "--gamma", "1"], u32::MAX);

    let (model, mut out) = create("long-header.banach");
    let names = "\\\"a\\\",".repeat(5_000_000);
    let header = format!("{{\"__metadata__\":{{\"banach\":\"{{\\\"names\\\":[{names}\\\"b\\\"]}}\"}}}}");
    out.write_all(&(header.len() as u64).to_le_bytes()).expect("written");
    out.write_all(header.as_bytes()).expect("written");
    drop((out, header, names));
    check("a model with a header of 30 MB", &["info", &model], u32::MAX);
}

/// A limit on addresses (`ulimit -v`) is found out before memory is missing: no command ends in the middle of an allocation.
#[test]
fn limits_of_the_operating_system_end_in_an_exit_code() {
    let few = table("limited.csv", 60, 30, None);
    let wide = table("limited-wide.csv", 60, 20_000, None);
    let model = path("limited.banach").display().to_string();
    let report = path("limited.html").display().to_string();
    let exp = ["--kernel", "exp", "--scale", "0.01", "--max-iterations", "2", "--top", "0"];
    let fitted = Command::new(env!("CARGO_BIN_EXE_banach"))
        .args(["fit", &few, "--target", "y", "--gamma", "0.01", "--quiet", "-o", &model])
        .args(exp)
        .output()
        .expect("it runs");
    assert!(fitted.status.code() < Some(2), "{fitted:?}");
    let fit = ["fit", &few, "--target", "y"];
    let commands: [&[&str]; 12] = [
        &["--help"],
        &["fit", &few, "--target", "y", "--gamma", "1"],
        &["fit", &few, "--target", "y"],
        &["fit", &wide, "--target", "y", "--gamma", "1"],
        &["fit", &wide, "--target", "y", "--cv", "5"],
        &["path", &wide, "--target", "y", "--gammas", "5"],
        &[&fit[..], &["--gamma", "0.01"], &exp].concat(),
        &[&fit[..], &["--gamma", "1", "--kernel", "anova", "--stability", "5", "--report", &report]].concat(),
        &[&fit[..], &["--gamma", "1", "--kernel", "anova", "--relevance", "--json"]].concat(),
        &["predict", &model, &few],
        &["info", &model, "--explain"],
        &["features", &model, "--relevance", "--top", "0"],
    ];
    let mut done = 0;
    for kilobytes in [150_000, 250_000, 350_000, 400_000, 550_000, 700_000, 1_500_000, 4_000_000] {
        for command in commands {
            let limited = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
            let run = Command::new("sh").args(["-c", &limited, env!("CARGO_BIN_EXE_banach")]).args(command).output();
            let run = run.expect("a shell");
            let said = String::from_utf8_lossy(&run.stderr);
            let ended = matches!(run.status.code(), Some(0..=2));
            assert!(ended, "{command:?} under {kilobytes} kB: {:?} {said}", run.status);
            for wrong in ["memory allocation of", "panicked", "backtrace"] {
                assert!(!said.contains(wrong), "{command:?} under {kilobytes} kB: {said}");
            }
            done += usize::from(run.status.code() < Some(2));
        }
    }
    // Not everything is refused: --help always works, and with 4 GB everything does.
    assert!(done >= 8 + commands.len() - 1, "{done}");
}
