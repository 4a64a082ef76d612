//! Reading takes at most 1.5 times the memory of the matrix, and no more than its limit or a refusal, measured in a process of its own.

#![cfg(target_os = "linux")]

use std::{
    fmt::Write as _,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use arrow_array::{Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use banach_io::Request;
use parquet::{
    basic::Compression,
    data_type::DoubleType,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

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

/// The name of the variable that holds its limit in bytes.
const LIMIT: &str = "BANACH_IO_MEMORY_LIMIT";

/// Not a test: the process that reads. It says its peak, and the bytes of the matrix or 0 if it was refused.
#[test]
fn child() {
    let Ok(file) = std::env::var(FILE) else { return };
    let memory = std::env::var(LIMIT).map_or(u64::MAX, |limit| limit.parse().expect("a number"));
    let target = (!file.contains("sparse")).then(|| "1".to_owned());
    let bytes = match (Request { target, memory, ..Request::default() }).read(Path::new(&file)) {
        Ok(data) => data.table.bytes(),
        Err(_) if memory < u64::MAX => 0,
        Err(error) => panic!("{error}"),
    };
    println!("measured {} {bytes}", peak());
}

/// The peak and the bytes of the matrix.
fn measure(file: &Path, limit: u64) -> (f64, f64) {
    let test = std::env::current_exe().expect("this test");
    let mut run = Command::new(test);
    run.args(["child", "--exact", "--nocapture"]).env(FILE, file).env(LIMIT, limit.to_string());
    let run = run.output().expect("it runs");
    let text = String::from_utf8_lossy(&run.stdout);
    let at = text.find("measured ").unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&run.stderr)));
    let mut numbers = text[at..].split_whitespace().skip(1).map_while(|word| word.parse::<f64>().ok());
    (numbers.next().expect("the peak"), numbers.next().expect("the matrix"))
}

/// Every limit, in MB, holds; from `runs` MB on nothing is refused.
#[track_caller]
fn check_limits(file: &Path, runs: u64) {
    let (base, _) = measure(Path::new("/nowhere/data.csv"), 1);
    for limit in [20, 60, 100, 300] {
        let (peak, bytes) = measure(file, limit * 1_000_000);
        let (taken, name) = (1e-6 * (peak - base), file.file_name().unwrap_or_default().display());
        println!("| {name} | {limit} | {taken:.1} | {} |", if bytes == 0.0 { "refused" } else { "read" });
        assert!(taken < 1.1 * limit as f64 + PROGRAM, "{name}: {taken:.1} MB under {limit} MB, {bytes} bytes");
        assert!(bytes > 0.0 || limit < runs, "{name} is refused under {limit} MB");
    }
}

/// What the code that reads takes itself, in MB; the command counts it.
const PROGRAM: f64 = 3.0;

fn check(file: &Path) {
    let (peak, bytes) = measure(file, u64::MAX);
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

/// So many rows and columns of numbers in every format, packed and not.
#[test]
fn every_format_stays_within_its_limit() {
    let (rows, columns) = (4000, 1000);
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let cell = |row: usize, column: usize| value(row, column) as f64 + 0.5;

    let mut files = Vec::new();
    for (name, quote) in [("limits.csv", ""), ("limits-quoted.csv", "\"")] {
        let (path, mut out) = file(name);
        writeln!(out, "{}", names.join(",")).expect("written");
        for row in 0..rows {
            let cells: Vec<String> =
                (0..columns).map(|column| format!("{quote}{}{quote}", cell(row, column))).collect();
            writeln!(out, "{}", cells.join(",")).expect("written");
        }
        files.push(path);
    }

    let (path, mut out) = file("limits-sparse.svm");
    for row in 0..rows {
        let mut line = (row % 2).to_string();
        (0..columns).for_each(|column| write!(line, " {}:{}", column + 1, cell(row, column)).expect("a string"));
        writeln!(out, "{line}").expect("written");
    }
    drop(out);
    files.push(path);

    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    (0..rows).for_each(|row| array.extend((0..columns).flat_map(|column| cell(row, column).to_le_bytes())));
    let (path, mut out) = file("limits.npy");
    out.write_all(&array).expect("written");
    drop(out);
    files.push(path);
    let (path, out) = file("limits.npz");
    let mut archive = zip::ZipWriter::new(out);
    let packed = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("x.npy", packed).expect("started");
    archive.write_all(&array).expect("written");
    archive.finish().expect("written");
    files.push(path);

    let column = |column: usize| (0..rows).map(|row| cell(row, column)).collect::<Vec<f64>>();
    let arrays = (0..columns).map(|at| (names[at].clone(), Arc::new(Float64Array::from(column(at))) as _));
    let batch = RecordBatch::try_from_iter(arrays).expect("a batch");
    let (path, out) = file("limits.arrow");
    let mut writer = FileWriter::try_new(out, &batch.schema()).expect("a writer");
    (0..4).for_each(|part| writer.write(&batch.slice(part * rows / 4, rows / 4)).expect("written"));
    writer.finish().expect("written");
    files.push(path);

    let fields: Vec<String> = names.iter().map(|name| format!("required double {name};")).collect();
    let schema = Arc::new(parse_message_type(&format!("message m {{ {} }}", fields.join(" "))).expect("valid"));
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let (path, out) = file("limits.parquet");
    let mut writer = SerializedFileWriter::new(out, schema, properties).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for at in 0..columns {
        let mut chunk = group.next_column().expect("valid").expect("a column");
        chunk.typed::<DoubleType>().write_batch(&column(at), None, None).expect("written");
        chunk.close().expect("closed");
    }
    group.close().expect("closed");
    writer.close().expect("written");
    files.push(path);

    for path in files {
        // Sparse entries take twice as much, and three times while they are placed; a batch of Arrow is a quarter of the table; a
        // stream of bytes that are read in any order is kept.
        let name = path.display().to_string();
        let sparse = name.contains("sparse");
        check_limits(&path, if sparse { 300 } else { 60 });
        let packed = PathBuf::from(format!("{name}.gz"));
        let out = std::fs::File::create(&packed).expect("created");
        let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
        std::io::copy(&mut std::fs::File::open(&path).expect("opened"), &mut gzip).expect("packed");
        gzip.finish().expect("packed");
        check_limits(&packed, if sparse { 300 } else { 100 });
        std::fs::remove_file(packed).expect("removed");
        std::fs::remove_file(path).expect("removed");
    }
}

/// A header of a target and so many columns.
fn names(columns: usize) -> String {
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    format!("y,{}", names.join(","))
}

/// A table of labels, one of missing values, and one of names.
#[test]
fn labels_names_and_missing_values_stay_within_the_limit() {
    let (path, mut out) = file("limits-labels.csv");
    writeln!(out, "y,a,b,c,d").expect("written");
    for row in 0..200_000 {
        writeln!(out, "{row},l{},m{},{},\"k {}\"", row % 40, row % 7, row % 3, row % 11).expect("written");
    }
    drop(out);
    check_limits(&path, 300);
    let (path, mut out) = file("limits-empty.csv");
    writeln!(out, "{}", names(100)).expect("written");
    (0..20_000).for_each(|row| writeln!(out, "{row}{}", ",".repeat(100)).expect("written"));
    drop(out);
    // Refused for its missing values, if not before.
    check_limits(&path, u64::MAX);
    let (path, mut out) = file("limits-names.csv");
    writeln!(out, "{}", names(300_000)).expect("written");
    (0..3).for_each(|row| writeln!(out, "{row}{}", ",1".repeat(300_000)).expect("written"));
    drop(out);
    check_limits(&path, 300);
}
