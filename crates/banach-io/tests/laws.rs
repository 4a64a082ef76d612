//! One table is one dataset, in whatever format it was written; and no bytes make a reader fall over.

#[expect(dead_code, reason = "other tests take more of it")]
mod workbook;

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions},
};
use banach_io::{Dataset, Error, Format, Impute, Request};
use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DoubleType},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use proptest::prelude::*;

use self::workbook::{Cell, Sheet, workbook};

/// A table: columns `x1`, `x2`, ... and `y` of numbers, and perhaps `word` of text; `None` is missing.
#[derive(Debug, Clone)]
struct Plain {
    numbers: Vec<Vec<Option<f64>>>,
    words: Option<Vec<&'static str>>,
}

impl Plain {
    fn rows(&self) -> usize {
        self.numbers[0].len()
    }

    fn names(&self) -> Vec<String> {
        (1..self.numbers.len()).map(|number| format!("x{number}")).chain(["y".to_owned()]).collect()
    }

    fn csv(&self, delimiter: char) -> Vec<u8> {
        let mut names = self.names();
        names.extend(self.words.iter().map(|_| "word".to_owned()));
        let mut text = names.join(&delimiter.to_string()) + "\n";
        for row in 0..self.rows() {
            let number = |column: &Vec<Option<f64>>| column[row].map_or("NA".to_owned(), |x| format!("{x:?}"));
            let mut fields: Vec<String> = self.numbers.iter().map(number).collect();
            fields.extend(self.words.iter().map(|words| words[row].to_owned()));
            writeln!(text, "{}", fields.join(&delimiter.to_string())).expect("a string");
        }
        text.into_bytes()
    }

    fn parquet(&self, compression: Compression) -> Vec<u8> {
        let mut schema = "message table {".to_owned();
        self.names().iter().for_each(|name| write!(schema, " OPTIONAL DOUBLE {name};").expect("a string"));
        self.words.iter().for_each(|_| schema += " REQUIRED BYTE_ARRAY word (STRING);");
        let schema = Arc::new(parse_message_type(&(schema + " }")).expect("a schema"));
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
        // Two groups of rows.
        for rows in [0..self.rows() / 2, self.rows() / 2..self.rows()] {
            let mut group = writer.next_row_group().expect("a group");
            for column in &self.numbers {
                let levels: Vec<i16> = column[rows.clone()].iter().map(|x| i16::from(x.is_some())).collect();
                let values: Vec<f64> = column[rows.clone()].iter().copied().flatten().collect();
                let mut chunk = group.next_column().expect("valid").expect("a column");
                chunk.typed::<DoubleType>().write_batch(&values, Some(&levels), None).expect("written");
                chunk.close().expect("closed");
            }
            if let Some(words) = &self.words {
                let values: Vec<ByteArray> = words[rows.clone()].iter().map(|word| ByteArray::from(*word)).collect();
                let mut chunk = group.next_column().expect("valid").expect("a column");
                chunk.typed::<ByteArrayType>().write_batch(&values, None, None).expect("written");
                chunk.close().expect("closed");
            }
            group.close().expect("closed");
        }
        writer.into_inner().expect("written")
    }

    fn arrow(&self, compression: Option<CompressionType>) -> Vec<u8> {
        let mut columns: Vec<(String, ArrayRef, bool)> = Vec::new();
        for (name, column) in self.names().into_iter().zip(&self.numbers) {
            columns.push((name, Arc::new(Float64Array::from(column.clone())), true));
        }
        if let Some(words) = &self.words {
            columns.push(("word".to_owned(), Arc::new(StringArray::from(words.clone())), false));
        }
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("a batch");
        let options = IpcWriteOptions::default().try_with_compression(compression).expect("known");
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
        let half = self.rows() / 2;
        writer.write(&batch.slice(0, half)).expect("written");
        writer.write(&batch.slice(half, self.rows() - half)).expect("written");
        writer.into_inner().expect("written")
    }

    /// All columns in one archive, each an array of its own.
    fn npz(&self) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        let mut member = |name: &str, bytes: Vec<u8>| {
            archive.start_file(format!("{name}.npy"), options).expect("a member");
            archive.write_all(&bytes).expect("written");
        };
        for (name, column) in self.names().iter().zip(&self.numbers) {
            let data: Vec<u8> = column.iter().flat_map(|x| x.unwrap_or(f64::NAN).to_le_bytes()).collect();
            member(name, array("<f8", &format!("({},)", self.rows()), &data));
        }
        if let Some(words) = &self.words {
            let characters = |word: &&str| word.chars().map(u32::from).chain([0; 8]).take(8).collect::<Vec<_>>();
            let data: Vec<u8> = words.iter().flat_map(characters).flat_map(u32::to_le_bytes).collect();
            member("word", array("<U8", &format!("({},)", self.rows()), &data));
        }
        archive.finish().expect("written").into_inner()
    }

    /// The matrix of all numbers, without names.
    fn npy(&self) -> Vec<u8> {
        let rows = (0..self.rows()).flat_map(|row| self.numbers.iter().map(move |column| column[row]));
        let data: Vec<u8> = rows.flat_map(|x| x.unwrap_or(f64::NAN).to_le_bytes()).collect();
        array("<f8", &format!("({}, {})", self.rows(), self.numbers.len()), &data)
    }

    fn xlsx(&self) -> Vec<u8> {
        let mut names: Vec<Cell> = self.names().iter().map(|name| Cell::text(name)).collect();
        names.extend(self.words.iter().map(|_| Cell::text("word")));
        let row = |row: usize| {
            let number = |column: &Vec<Option<f64>>| column[row].map_or(Cell::Error("#N/A"), Cell::Number);
            let words = self.words.iter().map(|words| Cell::text(words[row]));
            self.numbers.iter().map(number).chain(words).collect()
        };
        let rows = std::iter::once(names).chain((0..self.rows()).map(row)).collect();
        workbook(&[Sheet { name: "table", rows, ..Sheet::default() }])
    }

    /// With a comma before decimals, as half of the world writes.
    fn commas(&self) -> Vec<u8> {
        let text = String::from_utf8(self.csv(';')).expect("text");
        text.replace('.', ",").into_bytes()
    }

    fn svmlight(&self) -> Vec<u8> {
        let mut text = String::new();
        let (target, features) = self.numbers.split_last().expect("columns");
        for row in 0..self.rows() {
            write!(text, "{:?}", target[row].expect("no missing target")).expect("a string");
            for (at, column) in features.iter().enumerate() {
                write!(text, " {}:{:?}", at + 1, column[row].expect("nothing missing")).expect("a string");
            }
            text.push('\n');
        }
        text.into_bytes()
    }
}

/// An array as numpy.save writes it.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("written");
    packed.finish().expect("written")
}

/// The same table in every format that can hold it, by the name of a file.
fn written(plain: &Plain) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("data.csv", plain.csv(',')),
        ("data.tsv", plain.csv('\t')),
        ("data.csv.gz", gzip(&plain.csv(','))),
        ("semicolons.csv", plain.csv(';')),
        ("commas.csv", plain.commas()),
        ("data.xlsx", plain.xlsx()),
        ("data.parquet", plain.parquet(Compression::SNAPPY)),
        ("data.pq", plain.parquet(Compression::UNCOMPRESSED)),
        ("data.zstd.parquet", plain.parquet(Compression::ZSTD(parquet::basic::ZstdLevel::default()))),
        ("data.gzip.parquet", plain.parquet(Compression::GZIP(parquet::basic::GzipLevel::default()))),
        ("data.lz4.parquet", plain.parquet(Compression::LZ4_RAW)),
        ("data.arrow", plain.arrow(None)),
        ("data.feather", plain.arrow(Some(CompressionType::LZ4_FRAME))),
        ("data.ipc", plain.arrow(Some(CompressionType::ZSTD))),
        ("data.npz", plain.npz()),
    ]
}

/// What a dataset is, to the bit; not the name of its file, nor where in it something stood.
fn essence(data: &Dataset) -> String {
    let numbers = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let columns: Vec<_> = (0..data.table.names().len()).map(|column| numbers(&data.table.column(column))).collect();
    let (names, encodings, fills) = (data.table.names(), &data.encodings, &data.fills);
    let target = (data.target.name(), data.target.numbers().map(numbers), data.target.classes().map(|all| &all.rows));
    format!("{names:?} {columns:?} {target:?} {encodings:?} {fills:?} {} {}", data.columns, data.dropped)
}

/// Numbers of every size, and some that are often met.
fn number() -> impl Strategy<Value = f64> {
    let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
    prop_oneof![2 => any, 1 => -1e6..1e6, 1 => (-9_i32..10).prop_map(f64::from), 1 => Just(0.0)]
}

fn plain(missing: bool) -> impl Strategy<Value = Plain> {
    let word = prop::sample::select(vec!["red", "green", "blue", "a b"]);
    (2_usize..6, 2_usize..7)
        .prop_flat_map(move |(columns, rows)| {
            let cell =
                if missing { prop::option::weighted(0.8, number()).boxed() } else { number().prop_map(Some).boxed() };
            let numbers = prop::collection::vec(prop::collection::vec(cell, rows), columns);
            (numbers, prop::option::of(prop::collection::vec(word.clone(), rows)))
        })
        .prop_map(|(numbers, words)| Plain { numbers, words })
}

/// Reads bytes as some format. Text may be of any kind where no reader is named.
fn read(request: &Request, bytes: &[u8], file: &str) -> Result<Dataset, Error> {
    request.read_from(bytes, file)
}

/// The kind of an error, where its words say where in a format something stands.
fn kind(error: &Error) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_table_is_one_dataset_in_every_format(plain in plain(true), impute in prop::sample::select(vec![None, Some(Impute::Mean), Some(Impute::Median), Some(Impute::Drop)])) {
        let request = Request { impute, categorical: vec!["word".into()], ..Request::new("y") };
        let request = if plain.words.is_some() { request } else { Request { categorical: Vec::new(), ..request } };
        let files = written(&plain);
        let expected = read(&request, &files[0].1, files[0].0);
        for (file, bytes) in &files {
            let found = read(&request, bytes, file);
            match (&expected, &found) {
                (Ok(expected), Ok(found)) => prop_assert_eq!(essence(expected), essence(found), "{}", file),
                (Err(expected), Err(found)) => prop_assert_eq!(kind(expected), kind(found), "{}: {} {}", file, expected, found),
                _ => prop_assert!(false, "{}: {:?} and {:?}", file, expected, found),
            }
        }
    }

    #[test]
    fn formats_without_names_hold_the_same_numbers(plain in plain(false)) {
        let plain = Plain { words: None, ..plain };
        let last = plain.numbers.len().to_string();
        let csv = read(&Request::new("y"), &plain.csv(','), "data.csv").expect("valid");
        let array = read(&Request::new(last.clone()), &plain.npy(), "data.npy").expect("valid");
        let headless = plain.csv(',');
        let start = headless.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
        let request = Request { header: false, ..Request::new(last) };
        let headless = read(&request, &headless[start..], "data.csv").expect("valid");
        prop_assert_eq!(essence(&array), essence(&headless));
        prop_assert_eq!(array.table, csv.table.clone());
        prop_assert_eq!(array.target.numbers(), csv.target.numbers());
        let sparse = read(&Request::default(), &plain.svmlight(), "data.svm").expect("valid");
        prop_assert!(sparse.table.is_sparse());
        prop_assert_eq!(sparse.target, csv.target);
        prop_assert_eq!(sparse.table.names(), csv.table.names());
        for column in 0..csv.table.names().len() {
            prop_assert_eq!(sparse.table.column(column), csv.table.column(column));
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard_library(text in prop_oneof![
        "[-+]?[0-9]{0,25}(\\.[0-9]{0,25})?([eE][-+]?[0-9]{1,3})?",
        "[-+]?[0-9]\\.[0-9]{15,40}([eE][-+]?[0-9]{1,3})?",
        any::<f64>().prop_map(|x| format!("{x:e}")),
        any::<f32>().prop_map(|x| x.to_string()),
    ]) {
        let data = read(&Request::new("y"), format!("a,y\n{text},1\n0,2\n").as_bytes(), "data.csv");
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                prop_assert_eq!(data.expect("a number").table.column(0)[0].to_bits(), number.to_bits());
            }
            _ => prop_assert!(data.is_err(), "{:?}", text),
        }
    }

    #[test]
    fn no_bytes_make_a_reader_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..400), header: bool) {
        for format in Format::ALL {
            let marks: [&[u8]; 4] = [b"", b"PAR1", b"\x93NUMPY\x01\x00", b"1 1:2\n"];
            for mark in marks {
                let request = Request { format: Some(format), header, memory: 1 << 24, ..Request::new("1") };
                let _ = read(&request, &[mark, &bytes].concat(), "data");
            }
        }
    }

    #[test]
    fn text_of_any_kind_makes_no_reader_fall_over(text in "[-0-9a\",;:#.\r\n\t ]{0,200}", header: bool) {
        for format in [Format::Csv, Format::Tsv, Format::Svmlight] {
            for target in [Some("1".to_owned()), None] {
                let request = Request { format: Some(format), header, target, memory: 1 << 24, ..Request::default() };
                let _ = read(&request, text.as_bytes(), "data");
            }
        }
    }

    #[test]
    fn no_damage_makes_a_reader_fall_over(plain in plain(true), at in any::<prop::sample::Index>(), byte: u8, length in 1_usize..9) {
        let mut files = written(&plain);
        files.push(("data.npy", plain.npy()));
        for (file, bytes) in files {
            let request = Request { impute: Some(Impute::Drop), memory: 1 << 24, ..Request::new("1") };
            let at = at.index(bytes.len());
            let _ = read(&request, &bytes[..at], file);
            let mut changed = bytes.clone();
            let end = (at + length).min(changed.len());
            changed[at..end].fill(byte);
            let _ = read(&request, &changed, file);
        }
    }
}

/// A file is not opened a second time, and one that cannot go back is read all the same.
#[test]
fn files_and_streams_are_read_alike() {
    let numbers = vec![vec![Some(1.0), Some(2.5), Some(-3.0)], vec![Some(0.0), Some(1.0), Some(2.0)]];
    let plain = Plain { numbers, words: None };
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (file, bytes) in written(&plain) {
        let path = folder.join(file);
        std::fs::write(&path, &bytes).expect("written");
        let (from_file, from_stream) = (Request::new("y").read(&path), read(&Request::new("y"), &bytes, file));
        assert_eq!(essence(&from_file.expect("valid")), essence(&from_stream.expect("valid")), "{file}");
        // Without a telling name the first bytes tell.
        assert!(read(&Request::new("y"), &bytes, "standard input").is_ok(), "{file}");
    }
}
