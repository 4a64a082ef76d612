//! Reading takes at most 1.5 times the memory of the matrix, measured in a process of its own.

#![cfg(target_os = "linux")]

use std::{
    fmt::Write as _,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use banach_io::Request;

/// The most bytes for every byte of the matrix.
const RATIO: f64 = 1.5;

/// What the process and the blocks of text in it take in any case.
const BESIDE: f64 = 24e6;

/// The name of the variable that names the file to the process that reads it.
const FILE: &str = "BANACH_IO_MEMORY_TEST";

fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak of memory");
    1024.0 * line.split_whitespace().nth(1).and_then(|size| size.parse::<f64>().ok()).expect("a number")
}

/// Not a test: the process that reads.
#[test]
fn child() {
    let Ok(file) = std::env::var(FILE) else { return };
    let request = Request { target: (!file.contains("sparse")).then(|| "1".to_owned()), ..Request::default() };
    let data = request.read(Path::new(&file)).expect("valid");
    println!("measured {} {}", peak(), data.table.bytes());
}

fn check(file: &Path) {
    let test = std::env::current_exe().expect("this test");
    let run = Command::new(test).args(["child", "--exact", "--nocapture"]).env(FILE, file).output().expect("it runs");
    let text = String::from_utf8_lossy(&run.stdout);
    let at = text.find("measured ").unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&run.stderr)));
    let mut numbers = text[at..].split_whitespace().skip(1).map_while(|word| word.parse::<f64>().ok());
    let (peak, bytes) = (numbers.next().expect("the peak"), numbers.next().expect("the matrix"));
    println!("{}: {:.0} MB for a matrix of {:.0} MB", file.display(), 1e-6 * peak, 1e-6 * bytes);
    assert!(peak < RATIO * bytes + BESIDE, "{}: {peak} bytes for {bytes}", file.display());
    std::fs::remove_file(file).expect("removed");
}

fn file(name: &str) -> (PathBuf, BufWriter<std::fs::File>) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let opened = std::fs::File::create(&path).expect("created");
    (path, BufWriter::new(opened))
}

fn value(row: usize, column: usize) -> usize {
    (row * 7919 + column * 104_729) % 1000
}

#[test]
fn reading_text_takes_little_more_than_the_matrix() {
    for (name, rows, columns) in [("wide.csv", 200, 50_000), ("tall.csv", 100_000, 100)] {
        let (path, mut out) = file(name);
        let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        writeln!(out, "{}", names.join(",")).expect("written");
        for row in 0..rows {
            let mut line = String::new();
            (0..columns).for_each(|column| write!(line, "0.{:03},", value(row, column)).expect("a string"));
            writeln!(out, "{}", line.trim_end_matches(',')).expect("written");
        }
        drop(out);
        // Of a packed file the number of rows is not known before its end.
        let packed = path.with_extension("csv.gz");
        let mut gzip = flate2::write::GzEncoder::new(
            std::fs::File::create(&packed).expect("created"),
            flate2::Compression::fast(),
        );
        std::io::copy(&mut std::fs::File::open(&path).expect("opened"), &mut gzip).expect("packed");
        gzip.finish().expect("packed");
        check(&path);
        check(&packed);
    }
}

#[test]
fn reading_sparse_rows_takes_little_more_than_the_matrix() {
    let (path, mut out) = file("sparse.svm");
    for row in 0..50_000 {
        let mut line = (row % 2).to_string();
        (0..100).for_each(|entry| write!(line, " {}:0.5", 1 + entry * 1000 + value(row, entry)).expect("a string"));
        writeln!(out, "{line}").expect("written");
    }
    drop(out);
    check(&path);
}

#[test]
fn reading_an_array_takes_little_more_than_the_matrix() {
    let (path, mut out) = file("array.npy");
    let (rows, columns) = (200, 50_000);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    out.write_all(b"\x93NUMPY\x01\x00").expect("written");
    out.write_all(&(header.len() as u16).to_le_bytes()).expect("written");
    out.write_all(header.as_bytes()).expect("written");
    for row in 0..rows {
        (0..columns).for_each(|column| out.write_all(&(value(row, column) as f64).to_le_bytes()).expect("written"));
    }
    drop(out);
    check(&path);
}
