//! Small files that can be read, of every kind that a reader knows.

use std::{
    io::{Cursor, Write as _},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, UInt16Array, UInt64Array, types::Int32Type,
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions},
};
use banach::{
    Account, FeatureMatrix, Fit, Memory, Route, Spec, Unobserved, kernel::KernelSpec, loss::LossSpec,
    sparse::SparseSpec,
};
use banach_io::{Encoding, Label, Observed, SavedModel, SavedSparse, Standardization};
use parquet::{
    basic::{Compression, Encoding as Pages, GzipLevel, ZstdLevel},
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type as ParquetInt32, Int64Type},
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        writer::SerializedFileWriter,
    },
    schema::{parser::parse_message_type, types::ColumnPath},
};

/// Text, plain and packed.
pub fn csv() -> Vec<Vec<u8>> {
    let texts = [
        "y,a,b\n1,2,3\n4,5,6\n7,8,9.5\n",
        "\u{feff}y,a\r\n1,2\r\n3,4\r\n",
        "y\ta\tb\n1\t2\tu\n4\t5\tv\n6\t\tu\n",
        "\"y\",\"a, \"\"b\"\"\",c\r\n1,\"2\",u\r\n\r\n3,\"4\n\",v\r\n-1e-3,NA,u\r\n",
        "y,color,n\nyes,red,1\nno,blue,\n yes ,red,+.5e2\nno,?,-0\n",
        "1,2,3\n4,5,6\n",
        "y,a\r1,2\r3,4\r",
        "y,a\n1,1e308\n2,-1e308\n3,1e-320\n4,none\n",
    ];
    let plain = texts.iter().map(|text| text.as_bytes().to_vec());
    let packed =
        [gzip(texts[0].as_bytes()), [gzip(b"y,a\n1"), gzip(b",2\n3,4\n")].concat(), gzip(&b"1,2\n".repeat(5000))];
    plain.chain(packed).collect()
}

/// Sparse rows.
pub fn svmlight() -> Vec<Vec<u8>> {
    let texts = [
        "1 1:0.5 3:2\n-1 2:1e-3 # comment\n\n1 qid:4 1:-7 5:1\n",
        "a 0:1 7:2.5\nb 3:0\n",
        "1\n2\n3 1:1\n",
        "0.5 1:1e308 2:-1e308\r\n1.5 2:1 1:2\r\n",
        "1 1:1 9000:2\n2 5:1\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).chain([gzip(texts[0].as_bytes())]).collect()
}

/// Genotypes with their variants and samples, in one.
pub fn plink() -> Vec<Vec<u8>> {
    let bed = [0x6c, 0x1b, 0x01, 0b11_10_00_11, 0b10, 0b01_11_10_00, 0b11, 0b11_11_11_11, 0b11];
    let bim = "1 rs1 0 100 A G\n1\trs2\t0\t200\tA\tG\nX . 0 300 G A\n";
    let fam = "f1 s1 0 0 1 1.5\nf1 s2 0 0 2 -9\nf2 s3 0 0 0 2.5\nf2 s4 0 0 2 0\nf3 s1 0 0 1 -1\n";
    let cases = "a 1 0 0 1 1\na 2 0 0 1 2\na 3 0 0 1 0\na 4 0 0 1 2\na 5 0 0 1 1\n";
    let one = |bed: &[u8], bim: &str, fam: &str| {
        let ends = [bed.len(), bim.len()].map(|size| (size as u16).to_le_bytes()).concat();
        [&ends, bed, bim.as_bytes(), fam.as_bytes()].concat()
    };
    vec![
        one(&bed, bim, fam),
        one(&bed, bim, cases),
        one(&bed, &bim.replace("A\tG", "0\tG"), fam),
        one(&bed[..7], &bim[..32], &fam.replace('\n', "\r\n")),
    ]
}

/// Arrays of every type.
pub fn npy() -> Vec<Vec<u8>> {
    let floats: Vec<u8> = [1.0, 2.0, 3.0, 4.0, f64::NAN, 6.5].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
    let record: Vec<u8> = (0..3_u8).flat_map(|row| [&[row; 8][..], &text("ab", 3), &[row, 0, 0, 0]].concat()).collect();
    vec![
        array("'<f8'", "(2, 3)", false, &floats),
        array("'>f8'", "(3, 2)", true, &floats),
        array("'<f4'", "(4, 3)", true, &floats),
        array("'<i8'", "(6,)", false, &floats),
        array("'>i2'", "(12L, 2L)", false, &floats),
        array("'|b1'", "(3, 4)", false, &[0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0]),
        array("'|u1'", "(4, 3)", true, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        array("'<U2'", "(3, 2)", false, &["a", "1", "b", "2", "a", "1"].map(|word| text(word, 2)).concat()),
        array("'|S2'", "(3, 2)", false, b"a\x001\x00b\x002\x00ab1\x00"),
        array("[('y', '<f8'), ('c', '<U3'), ('n', '<i4')]", "(3,)", false, &record),
        gzip(&array("'<f8'", "(2, 3)", false, &floats)),
    ]
}

/// Archives, packed and not.
pub fn npz() -> Vec<Vec<u8>> {
    let numbers = |count: u8| (0..count).flat_map(|x| f64::from(x).to_le_bytes()).collect::<Vec<_>>();
    let x = array("'<f8'", "(3, 2)", false, &numbers(6));
    let y = array("'<f8'", "(3,)", false, &numbers(3));
    let names = array("'<U4'", "(2,)", false, &["age", "dose"].map(|name| text(name, 4)).concat());
    let words = array("'|S2'", "(3,)", false, b"a\0bba\0");
    let scalar = array("'<i8'", "()", false, &7_i64.to_le_bytes());
    let zeros = array("'|u1'", "(3, 4000)", false, &[0; 12_000]);
    vec![
        archive(&[("y", &y), ("X", &x)], false),
        archive(&[("y", &y), ("X", &x), ("names", &names), ("n", &scalar)], true),
        archive(&[("X", &x), ("y", &y), ("Z", &x), ("w", &words)], false),
        archive(&[("zeros", &zeros)], true),
    ]
}

/// Files of every type, encoding and way of packing.
pub fn parquet() -> Vec<Vec<u8>> {
    let packings = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let plain = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    let packed = packings.into_iter().enumerate().map(|(number, packing)| {
        let version = if number % 2 == 0 { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 };
        table(plain.clone().set_compression(packing).set_writer_version(version).build())
    });
    let encodings = [
        ("y", Pages::BYTE_STREAM_SPLIT),
        ("i", Pages::DELTA_BINARY_PACKED),
        ("b", Pages::RLE),
        ("l", Pages::PLAIN),
        ("w", Pages::DELTA_BYTE_ARRAY),
    ];
    let encoded = |version| {
        let start = plain.clone().set_dictionary_enabled(false).set_writer_version(version);
        encodings.iter().fold(start, |told, (name, pages)| told.set_column_encoding(ColumnPath::from(*name), *pages))
    };
    let lengths = encoded(WriterVersion::PARQUET_2_0)
        .set_column_encoding(ColumnPath::from("w"), Pages::DELTA_LENGTH_BYTE_ARRAY)
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    let with_statistics = WriterProperties::builder().set_data_page_row_count_limit(2).set_write_batch_size(2);
    let others = [encoded(WriterVersion::PARQUET_1_0), encoded(WriterVersion::PARQUET_2_0), lengths, with_statistics];
    packed.chain(others.into_iter().map(|told| table(told.build()))).collect()
}

/// A table in two groups of rows.
fn table(properties: WriterProperties) -> Vec<u8> {
    let schema = "message m { required double y; optional float f; required int32 i (INTEGER(32,false)); optional int64 l; \
                  required boolean b; optional binary w (STRING); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
    macro_rules! column {
        ($group:ident, $kind:ty, $values:expr, $levels:expr) => {
            let mut chunk = $group.next_column().expect("valid").expect("a column");
            chunk.typed::<$kind>().write_batch(&$values, $levels, None).expect("written");
            chunk.close().expect("closed");
        };
    }
    for first in [0.0, 4.0] {
        let mut group = writer.next_row_group().expect("a group");
        column!(group, DoubleType, [first, 1.5, -2.0, 1e300], None);
        column!(group, FloatType, [0.5, 1.5, 2.5], Some(&[1, 0, 1, 1]));
        column!(group, ParquetInt32, [7, 7, -1, 2], None);
        column!(group, Int64Type, [1 << 40, -3], Some(&[1, 0, 0, 1]));
        column!(group, BoolType, [true, false, false, true], None);
        let words = ["red", "redder", "red"].map(ByteArray::from);
        column!(group, ByteArrayType, words, Some(&[1, 1, 0, 1]));
        group.close().expect("closed");
    }
    writer.into_inner().expect("written")
}

/// Files of every type and way of packing.
pub fn arrow() -> Vec<Vec<u8>> {
    let words = ["red", "blue", "red", "a label of more than twelve bytes"];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("y", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.5), None, Some(-3.0)]))),
        ("f", Arc::new(Float32Array::from(vec![1.0, 2.5, 3.0, -3.0]))),
        ("i", Arc::new(Int8Array::from(vec![1, -2, 3, 4]))),
        ("l", Arc::new(Int64Array::from(vec![Some(1 << 40), None, Some(-3), Some(4)]))),
        ("u", Arc::new(UInt16Array::from(vec![1, 2, 3, 4]))),
        ("v", Arc::new(UInt64Array::from(vec![1, u64::MAX, 3, 4]))),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true, true]))),
        ("s", Arc::new(StringArray::from(words.to_vec()))),
        ("t", Arc::new(LargeStringArray::from(words.to_vec()))),
        ("w", Arc::new(StringViewArray::from(words.to_vec()))),
        ("d", Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>())),
    ];
    let few = RecordBatch::try_from_iter(columns[..2].to_vec()).expect("a batch");
    let texts = RecordBatch::try_from_iter([&columns[..1], &columns[6..]].concat()).expect("a batch");
    let all = RecordBatch::try_from_iter(columns).expect("a batch");
    let packed = [Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let written = |batch: &RecordBatch, packing| {
        let options = IpcWriteOptions::default().try_with_compression(packing).expect("known");
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
        writer.write(&batch.slice(0, 2)).expect("written");
        writer.write(&batch.slice(2, 2)).expect("written");
        writer.into_inner().expect("written")
    };
    let plain = [&few, &texts, &all].map(|batch| written(batch, None));
    plain
        .into_iter()
        .chain(packed.map(|packing| written(&few, packing)))
        .chain(packed.map(|packing| written(&all, packing)))
        .collect()
}

/// Models of numbers and of classes, dense and sparse, by every route.
pub fn model() -> Vec<Vec<u8>> {
    let x = FeatureMatrix::from_columns(6, 3, (0..18).map(|k| f64::from(k * k % 11) / 5.0 - 1.0).collect::<Vec<_>>())
        .expect("valid");
    let (starts, rows) = (vec![0, 2, 3, 5], vec![0, 3, 2, 1, 5]);
    let sparse = FeatureMatrix::from_sparse_columns(6, 3, starts, rows, vec![1.0, -2.0, 0.5, 3.0, 1.0]).expect("valid");
    let y = [1.0, 2.0, -0.5, 0.0, 1.5, 3.0];
    let cubic = KernelSpec::Poly { degree: 3, scale: 0.7, coef0: 1.0, degrees: None };
    let exp = KernelSpec::Exp { scale: 0.1, degrees: None };
    let normal = KernelSpec::Normalized { kernel: Box::new(exp.clone()) };
    let mut files = Vec::new();
    for (x, kernel, route) in [
        (&x, KernelSpec::Linear, Route::Features),
        (&sparse, KernelSpec::Linear, Route::Features),
        (&x, KernelSpec::Anova { degrees: (1, 2) }, Route::Tiles),
        (&x, cubic, Route::Gram),
        (&x, normal, Route::Gram),
    ] {
        let spec = Spec { kernel, route: Some(route), ..Spec::default() };
        let fit = Fit::within(&spec, Account::new(Memory::limit(1 << 26))).expect("valid");
        let Ok(model) = fit.run(x, &(&y).into(), None, &mut Unobserved) else { continue };
        let saved = SavedModel::new(spec, x.view(), Observed::Numbers(vec![y.to_vec()])).with_model(&model);
        files.push(saved.to_bytes().expect("valid"));
    }
    let spec = Spec { loss: LossSpec::Logistic, ..Spec::default() };
    let classes = [0, 1, 2, 0, 1, 2];
    let model = spec.fit(&x, &classes).expect("a fit");
    let labels = ["u", "v", "w"].map(|label| Label::Text(label.to_owned())).to_vec();
    let rows = classes.iter().map(|class| *class as usize).collect();
    let mut saved = SavedModel::new(spec, x.view(), Observed::Classes { labels, rows }).with_model(&model);
    saved.names = Some(["a", "c=v", "n"].map(str::to_owned).to_vec());
    saved.encodings = vec![Encoding { column: "c".to_owned(), labels: vec!["u".to_owned(), "v".to_owned()] }];
    saved.weights = Some(vec![1.0; 6]);
    saved.standardization = Some(Standardization {
        means: vec![1.0, 0.5, 1e12],
        corrections: vec![0.0, 0.0, 1e-5],
        deviations: vec![1.0, 2.0, 1e-3],
        constant: vec!["same".to_owned()],
        centred: true,
    });
    files.push(saved.to_bytes().expect("valid"));
    files.extend(few_terms());
    files
}

/// Models of few terms, with and without one.
fn few_terms() -> [Vec<u8>; 2] {
    let x: Vec<f64> = (0..60).map(|k| f64::from(k * k % 31) / 7.0).collect();
    let x = FeatureMatrix::from_columns(20, 3, x).expect("valid");
    let product = |i: usize| (x_at(i) - 2.0) * (x_at(20 + i) - 2.0);
    let spec = SparseSpec { kernel: KernelSpec::Anova { degrees: (1, 2) }, ..SparseSpec::default() };
    let account = Account::new(Memory::limit(1 << 26));
    let saved = |y: Vec<f64>| {
        let model = spec.model(&x, &(&y).into(), None, &account).expect("works");
        let mut saved = SavedSparse::new(spec.clone(), model, (20, 3));
        saved.names = Some(["a", "b", "c"].map(str::to_owned).to_vec());
        saved.target = Some("y".to_owned());
        saved.to_bytes().expect("valid")
    };
    [saved((0..20).map(product).collect()), saved((0..20).map(|i| f64::from(i * i % 7)).collect())]
}

fn x_at(k: usize) -> f64 {
    (k * k % 31) as f64 / 7.0
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("written");
    packed.finish().expect("written")
}

/// An array as numpy.save writes it.
fn array(descr: &str, shape: &str, by_columns: bool, data: &[u8]) -> Vec<u8> {
    let order = if by_columns { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// A text of so many characters in an array.
fn text(word: &str, characters: usize) -> Vec<u8> {
    word.chars().map(u32::from).chain([0; 8]).take(characters).flat_map(u32::to_le_bytes).collect()
}

fn archive(members: &[(&str, &Vec<u8>)], packed: bool) -> Vec<u8> {
    let method = if packed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(format!("{name}.npy"), options).expect("a member");
        archive.write_all(bytes).expect("written");
    }
    archive.finish().expect("written").into_inner()
}
