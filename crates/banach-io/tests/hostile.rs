//! Small files that claim to be large: each is refused before memory is taken for what it claims. `fuzz/` looks for more.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
    sync::Arc,
};

use arrow_array::{Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use banach_io::{Dataset, Error, Request};
use parquet::{
    basic::{Compression, GzipLevel},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    file::{
        properties::{EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};

fn read(bytes: &[u8], file: &str, memory: u64) -> Result<Dataset, Error> {
    let target = (file != "data.svm").then(|| "1".to_owned());
    Request { target, memory, ..Request::default() }.read_from(bytes, file)
}

fn refusal(bytes: &[u8], file: &str, memory: u64) -> String {
    read(bytes, file, memory).expect_err("refused").to_string()
}

#[track_caller]
fn too_large(bytes: &[u8], file: &str, memory: u64) {
    let read = read(bytes, file, memory);
    assert!(matches!(read, Err(Error::TooLarge { .. })), "{read:?}");
}

/// A column of numbers and one of long texts.
fn parquet(length: usize, packing: Compression) -> Vec<u8> {
    let schema =
        Arc::new(parse_message_type("message m { required double y; required binary w (STRING); }").expect("valid"));
    let properties = WriterProperties::builder().set_compression(packing).set_dictionary_enabled(false);
    let properties = Arc::new(properties.set_statistics_enabled(EnabledStatistics::None).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let mut chunk = group.next_column().expect("valid").expect("a column");
    chunk.typed::<DoubleType>().write_batch(&[1.0, 2.0], None, None).expect("written");
    chunk.close().expect("closed");
    let mut chunk = group.next_column().expect("valid").expect("a column");
    let texts = [ByteArray::from(vec![b'a'; length]), ByteArray::from("b")];
    chunk.typed::<ByteArrayType>().write_batch(&texts, None, None).expect("written");
    chunk.close().expect("closed");
    group.close().expect("closed");
    writer.into_inner().expect("written")
}

/// Thrift's way to write a number.
fn varint(number: u64) -> Vec<u8> {
    let mut number = number << 1;
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn find(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).expect("there")
}

#[test]
fn pages_of_parquet_are_within_the_limit() {
    let bytes = parquet(1_000_000, Compression::SNAPPY);
    assert!(bytes.len() < 100_000 && read(&bytes, "data.parquet", 1 << 30).is_ok());
    too_large(&bytes, "data.parquet", 500_000);
}

#[test]
fn pages_of_parquet_are_no_larger_than_they_say() {
    let mut bytes = parquet(1_000_000, Compression::GZIP(GzipLevel::default()));
    // A page is in memory four times.
    let memory = 2_000_000;
    too_large(&bytes, "data.parquet", memory);
    // Two lengths of four bytes beside the texts.
    let (size, claimed) = (varint(1_000_009), varint(400_000));
    assert_eq!(size.len(), claimed.len());
    let at = find(&bytes, &size);
    bytes[at..at + size.len()].copy_from_slice(&claimed);
    assert!(refusal(&bytes, "data.parquet", memory).contains("larger than it says"));
}

#[test]
fn lengths_in_the_contents_of_parquet_are_checked() {
    // Two billion groups of rows, and a schema with as many columns.
    let groups = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
    let schema = [0x29, 0x1c, 0x48, 1, b'm', 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0];
    for contents in [&groups[..], &schema[..]] {
        let size = (contents.len() as u32).to_le_bytes();
        let bytes = [b"PAR1", contents, &size, b"PAR1"].concat();
        let message = refusal(&bytes, "data.parquet", 1 << 20);
        assert!(message.contains("claims more than there is"), "{message}");
    }
}

/// An array as numpy.save writes it.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn archive(name: &str, array: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file(format!("{name}.npy"), options).expect("a member");
    archive.write_all(array).expect("written");
    archive.finish().expect("written").into_inner()
}

#[test]
fn names_of_columns_count_in_arrays() {
    let zeros = vec![0; 5_000_000];
    too_large(&array("|u1", "(0, 5000000)", &zeros), "data.npy", 6_000_000);
    for (name, shape) in [("x", "(0, 5000000)"), ("names", "(5000000,)")] {
        let descr = if name == "x" { "|u1" } else { "|S1" };
        let bytes = archive(name, &array(descr, shape, &zeros));
        assert!(bytes.len() < 50_000);
        too_large(&bytes, "data.npz", 1 << 20);
    }
}

#[test]
fn nothing_in_an_archive_is_packed_into_more_than_the_archive() {
    let mut bytes = archive("x", &array("|u1", "(0, 4000000000)", &[]));
    let entry = find(&bytes, b"PK\x01\x02");
    bytes[entry + 20..entry + 28].fill(0xf0);
    let message = refusal(&bytes, "data.npz", 1 << 40);
    assert!(message.contains("larger than the file"), "{message}");
}

#[test]
fn names_of_columns_count_in_text() {
    let names: Vec<String> = (0..100_000).map(|column| format!("x{column}")).collect();
    let text = format!("{}\n", names.join(","));
    too_large(text.as_bytes(), "data.csv", 1 << 20);
    assert!(refusal(text.as_bytes(), "data.csv", 1 << 30).contains("no row"));
}

#[test]
fn rows_without_values_count_in_svmlight() {
    let mut text = String::new();
    (0..100_000).for_each(|row| writeln!(text, "{}", row % 7).expect("a string"));
    too_large(text.as_bytes(), "data.svm", 1 << 20);
}

#[test]
fn batches_of_arrow_do_not_lie_one_upon_another() {
    let numbers = Arc::new(Float64Array::from((0..500).map(f64::from).collect::<Vec<_>>()));
    let batch = RecordBatch::try_from_iter([("y", numbers.clone() as _), ("x", numbers as _)]).expect("a batch");
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("written");
    writer.write(&batch).expect("written");
    let mut bytes = writer.into_inner().expect("written");
    assert!(read(&bytes, "data.arrow", 1 << 20).is_ok());
    // In the contents every batch has its place, the length of its description and that of its body.
    let tail = bytes.len() - 10;
    let contents = tail - u32::from_le_bytes(bytes[tail..tail + 4].try_into().expect("four bytes")) as usize;
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let is_block = |at: &usize| {
        let (place, description, body) = (number(&bytes, at - 16), number(&bytes, at - 8), number(&bytes, *at));
        (8..9500).contains(&place) && (8..1000).contains(&description) && (8000..9000).contains(&body)
    };
    let places: Vec<usize> = (contents + 16..tail - 8).filter(is_block).collect();
    assert_eq!(places.len(), 2);
    for at in places {
        let rest = (bytes.len() as u64) - number(&bytes, at - 16) - number(&bytes, at - 8);
        bytes[at..at + 8].copy_from_slice(&rest.to_le_bytes());
    }
    let message = refusal(&bytes, "data.arrow", 1 << 20);
    assert!(message.contains("larger than the file"), "{message}");
}

/// What is left out of a table is in its batch all the same.
#[test]
fn whole_batches_of_arrow_are_within_the_limit() {
    let wide: Vec<(String, arrow_array::ArrayRef)> =
        (0..100).map(|at| (format!("c{at}"), Arc::new(Float64Array::from(vec![1.5; 2000])) as _)).collect();
    let batch = RecordBatch::try_from_iter(wide).expect("a batch");
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("written");
    let bytes = writer.into_inner().expect("written");
    let request = |memory| Request { features: vec!["c1".into()], memory, ..Request::new("c0") };
    assert!(request(1 << 22).read_from(&bytes[..], "data.arrow").is_ok());
    let read = request(1 << 20).read_from(&bytes[..], "data.arrow");
    assert!(matches!(read, Err(Error::TooLarge { .. })), "{read:?}");
}

#[test]
fn rows_without_columns_end() {
    let bytes = array("<f8", "(9223372036854775807, 0)", &[]);
    let read = Request::of_model(banach_io::ModelColumns::default()).read_from(&bytes[..], "data.npy");
    assert!(matches!(read, Err(Error::Damaged { .. })), "{read:?}");
}

#[test]
fn samples_of_zeros_are_samples() {
    let read = Request::of_model(banach_io::ModelColumns::default()).read_from(&b"0\n1\n"[..], "data.svm");
    assert_eq!(read.expect("two samples").table.rows(), 2);
}
