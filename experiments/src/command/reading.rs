//! The speed of reading a wide CSV file, against counting its lines and against what Python users would take.

use std::{
    fmt::Write as _,
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, ensure};
use banach_io::Request;
use serde::Serialize;

use crate::{
    bench::this_program,
    report::{Cell, ResultTable},
};

/// The speed to reach, in MB/s.
const TARGET: f64 = 150.0;

/// What a peer prints: the seconds that it took.
const PEERS: [(&str, &str); 2] = [
    (
        "pandas",
        "import sys, time, pandas; t = time.perf_counter(); pandas.read_csv(sys.argv[1]); print(time.perf_counter() - t)",
    ),
    (
        "polars",
        "import sys, time, polars; t = time.perf_counter(); polars.read_csv(sys.argv[1], infer_schema_length=10); print(time.perf_counter() - t)",
    ),
];

#[derive(Debug, Serialize)]
pub(crate) struct Reading {
    rows: usize,
    columns: usize,
    threads: usize,
    rounds: usize,
    files: Vec<FileSpeed>,
    fit: Fitting,
}

/// A whole `banach fit` of a file against reading it.
#[derive(Debug, Serialize)]
struct Fitting {
    rows: usize,
    columns: usize,
    bytes: u64,
    reading_seconds: f64,
    fit_seconds: f64,
}

/// The ratio not to exceed.
const FIT_TARGET: f64 = 10.0;

#[derive(Debug, Serialize)]
struct FileSpeed {
    numbers: &'static str,
    bytes: u64,
    seconds: f64,
    /// Seconds of `wc -l`, which only counts lines.
    wc: Option<f64>,
    peers: Vec<(&'static str, Option<f64>)>,
}

impl FileSpeed {
    fn speed(&self) -> f64 {
        1e-6 * self.bytes as f64 / self.seconds
    }
}

impl Reading {
    pub(crate) fn run(quick: bool, rounds: usize, python: Option<&Path>) -> anyhow::Result<Self> {
        let (rows, columns) = (200, if quick { 2_000 } else { 100_000 });
        let folder = std::env::temp_dir().join(format!("banach-reading-{}", std::process::id()));
        std::fs::create_dir_all(&folder).context("making a folder for the files")?;
        let measured = [("all digits", None), ("4 decimals", Some(4))].map(|(numbers, decimals)| {
            let path = folder.join("wide.csv");
            let bytes = write(&path, rows, columns, decimals)?;
            measure(&path, bytes, numbers, (rows, columns), rounds, python)
        });
        let fit = fitting(&folder.join("fit.csv"), (rows, if quick { 500 } else { 20_000 }), rounds);
        std::fs::remove_dir_all(&folder).context("removing the files")?;
        let files = measured.into_iter().collect::<anyhow::Result<_>>()?;
        Ok(Self { rows, columns, threads: rayon::current_num_threads(), rounds, files, fit: fit? })
    }

    pub(crate) fn tables(&self) -> [ResultTable; 2] {
        [self.reading(), self.fit.table(self.rounds)]
    }

    fn reading(&self) -> ResultTable {
        let seconds = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.2} s"));
        let row = |file: &FileSpeed| {
            let mut row = vec![
                file.numbers.to_owned(),
                format!("{:.0} MB", 1e-6 * file.bytes as f64),
                format!("{:.2} s", file.seconds),
                format!("{:.0} MB/s", file.speed()),
                if file.speed() >= TARGET { "reached".to_owned() } else { "missed".to_owned() },
                seconds(file.wc),
                file.wc.map_or("-".to_owned(), |wc| format!("{:.1}", file.seconds / wc)),
            ];
            for (_, peer) in &file.peers {
                row.push(seconds(*peer));
                row.push(peer.map_or("-".to_owned(), |peer| format!("{:.1}", peer / file.seconds)));
            }
            row.into_iter().map(Cell::from).collect()
        };
        let mut header =
            ["numbers", "file", "banach", "speed", "150 MB/s", "wc -l", "times wc"].map(str::to_owned).to_vec();
        for (peer, _) in self.files.iter().flat_map(|file| &file.peers).take(PEERS.len()) {
            header.extend([(*peer).to_owned(), "times as fast".to_owned()]);
        }
        ResultTable {
            title: "Reading CSV".to_owned(),
            setting: format!(
                "{} x {} numbers in a file that is in memory; {} threads, best of {} rounds.",
                self.rows, self.columns, self.threads, self.rounds
            ),
            header,
            rows: self.files.iter().map(row).collect(),
            notes: vec!["Every number is that of Rust's standard library, to the bit.".to_owned()],
        }
    }
}

/// Reads and fits in turn: gamma by cross-validation with 5 folds over 20 values, and the table of the largest.
fn fitting(path: &PathBuf, (rows, columns): (usize, usize), rounds: usize) -> anyhow::Result<Fitting> {
    let bytes = write(path, rows, columns, Some(4))?;
    let program = this_program()?;
    let (mut reading_seconds, mut fit_seconds) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let start = Instant::now();
        Request::new("1").read(path)?;
        reading_seconds = reading_seconds.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let run =
            Command::new(&program).args(["banach", "fit"]).arg(path).args(["--target", "1", "--quiet"]).output()?;
        fit_seconds = fit_seconds.min(start.elapsed().as_secs_f64());
        ensure!(run.status.success(), "banach fit: {}", String::from_utf8_lossy(&run.stderr));
    }
    Ok(Fitting { rows, columns, bytes, reading_seconds, fit_seconds })
}

impl Fitting {
    fn table(&self, rounds: usize) -> ResultTable {
        let ratio = self.fit_seconds / self.reading_seconds;
        let row = [
            format!("{} x {}", self.rows, self.columns),
            format!("{:.0} MB", 1e-6 * self.bytes as f64),
            format!("{:.3} s", self.reading_seconds),
            format!("{:.3} s", self.fit_seconds),
            format!("{ratio:.1}"),
            if ratio < FIT_TARGET { "reached" } else { "missed" }.to_owned(),
        ];
        ResultTable {
            title: "Fitting against reading".to_owned(),
            setting: format!(
                "`banach fit`, linear, 5 folds and 20 gammas, a process of its own; best of {rounds} rounds."
            ),
            header: ["table", "file", "reading it", "banach fit", "ratio", "under 10"].map(str::to_owned).into(),
            rows: vec![row.into_iter().map(Cell::from).collect()],
            notes: vec!["The fit includes starting the program and reading the file.".to_owned()],
        }
    }
}

/// Writes a table of numbers; says how many bytes. The first column is the sum of the three next ones and noise, the others
/// are uniform between -1 and 1.
fn write(path: &PathBuf, rows: usize, columns: usize, decimals: Option<usize>) -> anyhow::Result<u64> {
    let mut out = BufWriter::new(File::create(path).with_context(|| format!("writing {}", path.display()))?);
    let names: Vec<String> = (0..columns).map(|column| format!("v{column}")).collect();
    writeln!(out, "{}", names.join(","))?;
    let (mut state, mut line) = (1_u64, String::new());
    for _ in 0..rows {
        line.clear();
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let signal = [uniform(), uniform(), uniform()];
        for column in 0..columns {
            let number = match column {
                0 => signal.iter().sum::<f64>() + 0.1 * uniform(),
                1..=3 => signal[column - 1],
                _ => uniform(),
            };
            line.push_str(if column == 0 { "" } else { "," });
            match decimals {
                Some(decimals) => write!(line, "{number:.decimals$}")?,
                None => write!(line, "{number}")?,
            }
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    Ok(std::fs::metadata(path)?.len())
}

fn measure(
    path: &Path,
    bytes: u64,
    numbers: &'static str,
    (rows, columns): (usize, usize),
    rounds: usize,
    python: Option<&Path>,
) -> anyhow::Result<FileSpeed> {
    let best = |best: Option<f64>, new: Option<f64>| best.into_iter().chain(new).reduce(f64::min);
    let (mut ours, mut wc, mut peers) = (None, None, PEERS.map(|(name, _)| (name, None)));
    for _ in 0..rounds {
        let start = Instant::now();
        let data = Request::new("1").read(path)?;
        ours = best(ours, Some(start.elapsed().as_secs_f64()));
        ensure!((data.table.rows(), data.table.names().len()) == (rows, columns - 1), "the file was not read in full");
        drop(data);
        let start = Instant::now();
        let counted = Command::new("wc").arg("-l").arg(path).stdout(Stdio::null()).stderr(Stdio::null()).status();
        wc = best(wc, counted.is_ok_and(|end| end.success()).then(|| start.elapsed().as_secs_f64()));
        for (peer, (_, script)) in peers.iter_mut().zip(PEERS).filter(|_| python.is_some()) {
            let run = Command::new(python.unwrap_or(Path::new("python3"))).args(["-c", script]).arg(path).output()?;
            peer.1 = best(peer.1, String::from_utf8_lossy(&run.stdout).trim().parse().ok());
        }
    }
    let peers = if python.is_some() { peers.to_vec() } else { Vec::new() };
    Ok(FileSpeed { numbers, bytes, seconds: ours.unwrap_or(f64::NAN), wc, peers })
}
