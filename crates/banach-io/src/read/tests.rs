//! Files as they come.

use std::{fmt::Write as _, io::Write as _};

use super::*;
use crate::{At, FirstText, Values};

fn read(text: impl AsRef<[u8]>) -> Result<Dataset, Error> {
    Request::new("y").read_from(text.as_ref(), "data.csv")
}

/// The message for a file that cannot be used.
fn refusal(text: impl AsRef<[u8]>) -> String {
    read(text).expect_err("refused").to_string()
}

#[test]
fn a_plain_file_is_columns_and_a_target() {
    let data = read("a,y,b\n1,2,3\n4,5,6\n7,8,9\n").expect("valid");
    assert_eq!((data.columns, data.table.rows()), (3, 3));
    assert_eq!(data.table.names(), ["a", "b"]);
    assert_eq!(data.table.values(), &Values::Dense(vec![1.0, 4.0, 7.0, 3.0, 6.0, 9.0]));
    assert_eq!(data.target.numbers(), Some(&[2.0, 5.0, 8.0][..]));
    assert_eq!((data.target.name(), &data.file[..]), ("y", "data.csv"));
}

#[test]
fn what_spreadsheets_write_is_read() {
    let expected = read("a b,y\n1,2\n3,4\n").expect("valid");
    for text in [
        "\u{feff}a b,y\n1,2\n3,4\n",         // a byte order mark
        "a b,y\r\n1,2\r\n3,4\r\n",           // lines of Windows
        "a b,y\n1,2\n3,4",                   // no end of the last line
        "\"a b\",\"y\"\n\"1\",2\n3,\"4\"\n", // quotes
        " a b , y \n 1 , 2 \n 3 , 4 \n",     // spaces
        "a b,y\n\n1,2\n\n\n3,4\n\n",         // empty lines
        "a b,y\n+1,2\n3e0,4\n",              // other ways to write numbers
    ] {
        assert_eq!(read(text).expect("valid"), expected, "{text:?}");
    }
    let tabs = Request::new("y").read_from("a b\ty\n1\t2\n3\t4\n".as_bytes(), "data.TSV").expect("valid");
    assert_eq!((tabs.table, tabs.target), (expected.table.clone(), expected.target.clone()));
    let request = Request { delimiter: Some(b';'), ..Request::new("y") };
    let semicolons = request.read_from("a b;y\n1;2\n3;4\n".as_bytes(), "data.csv").expect("valid");
    assert_eq!((semicolons.table, semicolons.target), (expected.table.clone(), expected.target));
    let named = read("\"a, \"\"b\"\"\",y\n1,2\n3,4\n").expect("valid");
    assert_eq!(named.table.names(), ["a, \"b\""]);
}

#[test]
fn too_little_is_refused() {
    for text in ["", "\n\n", "\u{feff}"] {
        assert!(matches!(read(text), Err(Error::Empty { .. })), "{text:?}: {:?}", read(text));
    }
    assert!(refusal("a,y\n").contains("no row"));
    assert!(refusal("a,y\r\n\r\n").contains("no row"));
    assert!(refusal("a,y\n1,2").contains("one row"));
    assert!(refusal("y\n1\n2\n").contains("(delimiter)"));
    let request = Request { delimiter: Some(b','), ..Request::new("y") };
    let message = request.read_from("a;b;y\n1;2;3\n".as_bytes(), "data.csv").expect_err("refused").to_string();
    assert!(message.contains("a;b;y"), "the columns are listed");
}

#[test]
fn a_first_line_of_numbers_names_nothing() {
    assert!(refusal("1.5,2,3\n4,5,6\n").contains("add a line of names"));
}

#[test]
fn a_bad_value_is_named_with_its_line_and_column() {
    for (text, expected) in [
        ("a,y\n1,2\n,3\n", "line 3, column \"a\": the value is missing (\"\")"),
        ("a,y\n1,2\nNA,3\n", "line 3, column \"a\": the value is missing (\"NA\")"),
        ("a,y\n1,2\nNone,3\n", "the value is missing (\"None\"); impute mean or median fills missing values in"),
        ("a,y\n1,2\nnan,3\n", "the value is missing (\"nan\")"),
        ("a,y\n1,2\n3,\n", "line 3, column \"y\": the value is missing"),
        ("a,y\n1,2\ninf,3\n", "line 3, column \"a\": inf is not a finite number"),
        ("a,y\n1e400,2\n", "line 2, column \"a\": 1e400 is not a finite number"),
        ("a,y\n1,-1e400\n", "line 2, column \"y\": -1e400 is not a finite number"),
        ("a,y\n1,\n,2\n", "line 2, column \"y\": the value is missing (\"\"), the first of 2 in 2 columns"),
        ("a,y\n?,1\nNA,2\n-,4\n3,3\n", "line 2, column \"a\": the value is missing (\"?\") and so are 2 others"),
        ("a,id,y\n1,5,1\n1,x7,2\n", "line 3, column \"id\": \"x7\" is not a number"),
        ("a,city,id,y\n1,Rome,x7,2\n1,3,4,5\n", "drop \"city,id\""),
        ("a,id,y\n1,x7,2\n1,x8,3\n1,x9,3\n", "column \"id\": the text (\"x7\", ...) is different in every row"),
        ("a,y\r\n1,2\r\n3,4\r\nx,5\r\n", "line 4, column \"a\""),
        ("a,y\n1,2\n\n\nx,4\n", "line 5, column \"a\""),
        ("a,y\n\"1\n\",2\nx,4\n", "line 4, column \"a\""),
        ("a,y\n1,2\n\"1\n\",2\nx,4\n", "line 5, column \"a\""),
        ("\na,y\r\n1,2\r\n\r\n\"3\",4\r\nx,5\r\n", "line 6, column \"a\""),
        ("\u{feff}a,y\nx,2\n3,4\n", "line 2, column \"a\""),
    ] {
        assert!(refusal(text).contains(expected), "{text:?}: {}", refusal(text));
    }
    let dropped = Request { drop: vec!["city,id".into()], ..Request::new("y") };
    let data = dropped.read_from("a,city,id,y\n1,Rome,x7,2\n3,Oslo,,4\n".as_bytes(), "data.csv").expect("valid");
    assert_eq!((data.table.names(), data.columns), (&["a".to_owned()][..], 4));
}

#[test]
fn ragged_rows_are_named() {
    assert!(refusal("a,b,y\n1,2,3\n1,2\n").contains("line 3: 2 fields, and the first line has 3"));
    assert!(refusal("a,y\n1,2\n1,2,3\n").contains("line 3: 3 fields"));
    // A quote that is never closed swallows the rest.
    assert!(matches!(read("a,y\n1,2\n\"3,4\n5,6\n"), Err(Error::Damaged { .. })));
}

#[test]
fn bytes_that_are_not_text_are_named() {
    assert!(refusal(b"a,\xe4,y\n1,2,3\n").contains("line 1, column 2: the text is not UTF-8"));
    assert!(refusal(b"a,y\n1,2\n\xff,3\n").contains("line 3, column \"a\": the text is not UTF-8"));
    assert!(refusal(b"a,y\n1,2\n3,m\xfcde\n").contains("line 3, column \"y\": the text is not UTF-8"));
    // Half a character of UTF-16.
    let utf16: Vec<u8> = "\u{feff}a,y\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&utf16[..utf16.len() - 1]).is_err());
    assert!(refusal([b"a,y\n1,2\n".as_slice(), &[0; 4]].concat()).contains("line 3"));
}

#[test]
fn a_huge_field_makes_a_short_message() {
    let message = refusal(format!("a,y\n1,2\n{},2\n", "z".repeat(5_000_000)));
    assert!(message.len() < 400 && message.contains("zzz..."), "{message}");
    let message = refusal(format!("a,y\n{}1e999,2\n", "9".repeat(1_000_000)));
    assert!(message.len() < 400 && message.contains("not a finite number"), "{message}");
}

#[test]
fn columns_are_found_by_name_then_by_number() {
    let text = "dose,effect,2\n1,2,3\n4,5,7\n";
    let target = |name: &str| Request::new(name).read_from(text.as_bytes(), "data.csv");
    assert_eq!(target("2").expect("valid").target.numbers(), Some(&[3.0, 7.0][..]), "a name before a number");
    assert_eq!(target("1").expect("valid").target.name(), "dose");
    for (name, expected) in [
        ("efect", "did you mean \"effect\"?"),
        ("Effect", "did you mean \"effect\"?"),
        ("4", "has no column \"4\" for target"),
        ("zzz", "its columns are \"dose\", \"effect\", \"2\""),
        ("", "its columns are"),
    ] {
        let message = target(name).expect_err("unknown").to_string();
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn features_are_chosen_and_dropped() {
    let text = "a,b,c,\"d,e\",y\n1,2,3,4,5\n6,7,8,9,0\n";
    let names = |features: &[&str], drop: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let request = Request { features: list(features), drop: list(drop), ..Request::new("y") };
        request.read_from(text.as_bytes(), "data.csv").map(|data| data.table.names().join(" "))
    };
    assert_eq!(names(&[], &[]).expect("valid"), "a b c d,e");
    assert_eq!(names(&["c,a"], &[]).expect("valid"), "a c");
    assert_eq!(names(&["c", "d,e"], &[]).expect("valid"), "c d,e");
    assert_eq!(names(&[], &["a, b", "d,e"]).expect("valid"), "c");
    assert_eq!(names(&["a", "b"], &["b"]).expect("valid"), "a");
    assert_eq!(names(&["[ab]", "d*"], &[]).expect("valid"), "a b d,e");
    assert_eq!(names(&["*"], &["?"]).expect("the target is no feature"), "d,e");
    assert!(names(&["g*"], &[]).expect_err("nothing matches").to_string().contains("no column \"g*\" for features"));
    assert_eq!(names(&[], &["y"]).expect("the target stays"), "a b c d,e");
    assert!(matches!(names(&["a,y"], &[]), Err(Error::TargetAsFeature { .. })));
    assert!(matches!(names(&[], &["a,b,c", "4"]), Err(Error::NoFeatures { .. })));
    assert!(names(&[], &["aa"]).expect_err("unknown").to_string().contains("for drop"));
    assert!(names(&["q"], &[]).expect_err("unknown").to_string().contains("for features"));
}

#[test]
fn targets_are_numbers_or_classes() {
    let target = |values: &[&str]| read(format!("a,y\n1,{}\n", values.join("\n1,"))).expect("valid").target;
    let text = target(&["yes", "no", " yes ", "none"]);
    assert_eq!((text.numbers(), text.first_text().map(|text| text.at)), (None, Some(At::Line(2))));
    let classes = text.classes().expect("few");
    assert_eq!((&classes.labels.join(" ")[..], &classes.rows[..]), ("no none yes", &[2, 0, 2, 1][..]));
    assert_eq!(classes.counts(), [1, 1, 2]);

    let numbers = target(&["10", "9", "1e1", "-0", "0.0"]);
    assert_eq!(numbers.numbers(), Some(&[10.0, 9.0, 10.0, 0.0, 0.0][..]));
    assert_eq!(numbers.classes().expect("few").labels, ["-0", "9", "10"]);
    assert_eq!(numbers.first_text(), None);

    let mixed = target(&["2", "b", "1"]);
    assert_eq!(mixed.classes().expect("few").labels, ["1", "2", "b"]);
    assert_eq!(mixed.first_text(), Some(&FirstText { at: At::Line(3), value: "b".into() }));
}

#[test]
fn very_many_labels_are_no_classes() {
    let numbers: Vec<String> = (0..1001).map(|i| i.to_string()).collect();
    let rows = |last: &str| format!("1,{}\n{last}", numbers.join("\n1,"));
    let numbers = read(format!("a,y\n{}", rows(""))).expect("valid");
    assert_eq!(numbers.target.numbers().map(<[f64]>::len), Some(1001));
    assert_eq!(numbers.target.classes(), None);
    let message = refusal(format!("a,y\n{}", rows("1,x\n")));
    assert!(message.contains("\"x\" in line 1003"), "{message}");
}

#[test]
fn memory_is_limited() {
    let request = Request { memory: 64, ..Request::new("y") };
    let endless = |line: &'static str| request.read_from(line.as_bytes().chain(io::repeat(b'1')), "data.csv");
    for start in ["", "a,y\n", "a,y\n\"1"] {
        assert!(matches!(endless(start), Err(Error::TooLarge { .. })), "{start:?}: {:?}", endless(start));
    }
    let message = request.read_from("a,y\n".as_bytes().chain(&b"1,2\n".repeat(9)[..]), "data.csv");
    assert!(matches!(message, Err(Error::TooLarge { at: At::Line(10), bytes: 72, .. })), "{message:?}");
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    for path in ["/nowhere/data.csv", env!("CARGO_MANIFEST_DIR")] {
        let message = Request::new("y").read(Path::new(path)).expect_err("unreadable").to_string();
        assert!(message.starts_with(&format!("cannot read {path}: ")), "{message}");
    }
}

#[test]
fn columns_without_names_are_numbered() {
    let request = Request { header: false, ..Request::new("2") };
    let data = request.read_from("1,2,3\n4,5,6\n".as_bytes(), "data.csv").expect("valid");
    assert_eq!((data.table.names().join(" "), data.target.name()), ("x1 x3".into(), "x2"));
    assert_eq!((data.table.column(1), data.target.numbers()), (vec![3.0, 6.0], Some(&[2.0, 5.0][..])));
    let request = Request { target: None, ..request };
    let message = request.read_from("1,2,3\n4,5,6\n".as_bytes(), "data.csv").expect_err("no target").to_string();
    assert!(message.contains("Name it with target; its columns are \"x1\""), "{message}");
}

#[test]
fn packed_files_are_unpacked_whatever_their_name() {
    let text = "a,y\n1,2\n3,4\n";
    let pack = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).expect("written");
        packed.finish().expect("written")
    };
    // Several packed files one after another are one, as gzip has it.
    for packed in [pack(text), [pack("a,y\n1"), pack(",2\n3,4\n")].concat()] {
        assert_eq!(read(&packed).expect("valid"), read(text).expect("valid"));
    }
    let packed = pack(text);
    let tabs = Request::new("y").read_from(&pack("a\ty\n1\t2\n3\t4\n")[..], "data.tsv.gz").expect("valid");
    assert_eq!(tabs.table, read(text).expect("valid").table);
    for cut in 2..packed.len() {
        assert!(refusal(&packed[..cut]).contains("the file is damaged, cut short or of another format"), "{cut}");
    }
    let mut wrong = packed.clone();
    wrong[packed.len() - 5] ^= 1;
    assert!(matches!(read(&wrong), Err(Error::Damaged { .. })), "the sum over all bytes");
}

#[test]
fn text_becomes_columns_of_zeros_and_ones() {
    let text = "color,a,sex,y\nred,1,m,1\nblue,2,f,2\n red ,3,f,3\ngreen,4,m,4\n";
    let data = read(text).expect("valid");
    assert_eq!(data.table.names(), ["color=blue", "color=green", "color=red", "a", "sex=m"]);
    let expected = [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0], [1, 2, 3, 4], [1, 0, 0, 1]];
    assert_eq!(data.table.values(), &Values::Dense(expected.concat().into_iter().map(f64::from).collect()));
    let labels = |column: &Encoding| format!("{}: {}", column.column, column.labels.join(" "));
    assert_eq!(data.encodings.iter().map(labels).collect::<Vec<_>>(), ["color: blue green red", "sex: f m"]);
    assert!(refusal("c,c=u,y\nu,1,2\nv,1,2\nw,1,2\nu,2,2\n").contains("are both named \"c=u\""));

    let request = Request { categorical: vec!["zip".into()], ..Request::new("y") };
    let data = request.read_from("zip,y\n12,1\n7.0,2\n7,3\nx,4\n".as_bytes(), "data.csv").expect("valid");
    assert_eq!(data.table.names(), ["zip=12", "zip=7", "zip=x"]);
    let rows: Vec<String> = (0..1002).map(|row| format!("w{},{row}\n", row.max(1))).collect();
    assert!(refusal(format!("word,y\n{}", rows.concat())).contains("more than 1000 different texts"));
}

#[test]
fn missing_values_are_filled_in_or_their_rows_left_out() {
    let text = "a,c,y\n1,u,1\n,v,2\n4,u,3\n10,?,4\n-,w,5\n7,w,\n";
    let with = |impute| Request { impute: Some(impute), ..Request::new("y") }.read_from(text.as_bytes(), "data.csv");
    let data = with(Impute::Mean).expect("valid");
    assert_eq!(data.table.names(), ["a", "c=u", "c=v", "c=w"]);
    assert_eq!((data.dropped, data.target.numbers()), (1, Some(&[1.0, 2.0, 3.0, 4.0, 5.0][..])));
    assert_eq!(data.table.column(0), [1.0, 5.0, 4.0, 10.0, 5.0], "the mean of the rows that are left");
    assert_eq!(data.table.column(1), [1.0, 0.0, 1.0, 0.5, 0.0]);
    assert_eq!(data.fills[0], Fill { column: "a".into(), value: 5.0, count: 2 });
    let data = with(Impute::Median).expect("valid");
    assert_eq!(data.table.column(0), [1.0, 4.0, 4.0, 10.0, 4.0]);
    let data = with(Impute::Drop).expect("valid");
    assert_eq!((data.dropped, data.fills.len(), data.target.numbers()), (4, 0, Some(&[1.0, 3.0][..])));
    assert_eq!((data.table.names(), data.table.column(0)), (&["a", "c=u"].map(String::from)[..], vec![1.0, 4.0]));
    let request = |impute| Request { impute: Some(impute), ..Request::new("y") };
    let refused = |impute, text: &str| request(impute).read_from(text.as_bytes(), "data.csv").expect_err("refused");
    assert!(matches!(refused(Impute::Mean, "a,b,y\n,1,1\nNA,2,2\n"), Error::AllMissing { .. }));
    assert!(matches!(refused(Impute::Drop, "a,b,y\n,1,1\n3,2,2\n"), Error::TooFewRows { found: 1, .. }));
    let classes = request(Impute::Drop).read_from("a,y\n1,u\n,v\n2,w\n3,u\n".as_bytes(), "data.csv").expect("valid");
    let classes = classes.target.classes().expect("few");
    assert_eq!((&classes.labels.join(" ")[..], &classes.rows[..]), ("u w", &[0, 1, 0][..]));
}

/// Blocks, quotes and pieces are no part of what is read.
#[test]
fn long_files_are_read_as_short_ones() {
    let mut text = String::from("a,word,y\n");
    for row in 0..400_000 {
        let word = ["x", "yy", "z"][row as usize % 3];
        writeln!(text, "{},{word},{}", f64::from(row) / 7.0, row % 10).expect("a string");
    }
    let data = read(&text).expect("valid");
    assert_eq!(data.table.rows(), 400_000);
    assert!(data.table.column(0).iter().enumerate().all(|(row, a)| *a == row as f64 / 7.0));
    assert!(data.table.column(2).iter().enumerate().all(|(row, is)| *is == f64::from(u8::from(row % 3 == 1))));
    assert_eq!(read(text.replace('\n', "\r\n")).expect("valid"), data);
    assert_eq!(read(text.replace("yy", "\"yy\"")).expect("valid"), data);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[399_999] = "abc,z,1";
    let message =
        Request::new("y").read_from(lines.join("\n").as_bytes(), "data.csv").map(|_| ()).expect_err("refused");
    let message = message.to_string();
    assert!(message.contains("line 400000, column \"a\": \"abc\""), "{message}");
}

#[test]
fn a_model_finds_its_columns_by_name() {
    let request =
        Request::of_model(ModelColumns { names: vec!["b,c".to_owned(), "a".to_owned()], ..ModelColumns::default() });
    let data = request.read_from("id,a,\"b,c\",y\nk7,1,2,x\n".as_bytes(), "new.csv").expect("valid");
    assert_eq!(data.table.names(), ["a", "b,c"]);
    assert_eq!(data.table.values(), &Values::Dense(vec![1.0, 2.0]));
    assert_eq!(data.others, ["id", "y"]);
    let message =
        request.read_from("a,b,c\n1,2,3\n".as_bytes(), "new.csv").expect_err("a column is missing").to_string();
    assert_eq!(
        message,
        "new.csv lacks a column that the model is made of: \"b,c\"; the model does not know \"b\", \"c\""
    );
    let message = request.read_from("a,\"b,c\"\n".as_bytes(), "new.csv").expect_err("no row").to_string();
    assert!(message.contains("at least one sample is needed"), "{message}");
    let all = Request::of_model(ModelColumns::default()).read_from("a,b\n1,2\n".as_bytes(), "new.csv").expect("valid");
    assert_eq!(all.table.names(), ["a", "b"]);
}

#[test]
fn a_quote_that_is_never_closed_does_not_swallow_the_rest() {
    let refused = refusal("a,b,y\n1,u,2\n2,\"v,3\n3,w,4\n4,u,5\n");
    assert!(refused.contains("line 3") && refused.contains("never closed"), "{refused}");
    let refused = refusal("a,y\n1,\"3\n4,5\n");
    assert!(refused.contains("line 2") && refused.contains("never closed"), "{refused}");
    let data = read("a,b,y\n1,\"two\nlines\",2\n2,\"five \"\" inches\",3\n3,\"two\nlines\",1\n").expect("valid");
    assert_eq!(data.table.rows(), 3);
}

#[test]
fn labels_count_against_the_limit_and_zero_has_no_sign() {
    let rows: Vec<String> = (0..200).map(|row| format!("{}{},{row}", "long".repeat(100), row % 100)).collect();
    let request = Request { memory: 20_000, ..Request::new("y") };
    let refused =
        request.read_from(format!("a,y\n{}\n", rows.join("\n")).as_bytes(), "data.csv").expect_err("80 kB of labels");
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    let request = Request { categorical: vec!["a".into()], ..Request::new("y") };
    let data = request.read_from(&b"a,y\n-0,1\n0,2\n1,3\n"[..], "data.csv").expect("two labels");
    assert_eq!(data.table.names(), ["a=1"]);
}

#[test]
fn truth_values_are_the_same_however_they_are_spelt() {
    let data = Request::new("y").read_from(&b"a,y\nTrue,1\nfalse,2\nTRUE,3\nFalse,4\n"[..], "data.csv").expect("read");
    assert_eq!((data.table.names(), data.table.column(0)), (&["a=true".to_owned()][..], vec![1.0, 0.0, 1.0, 0.0]));
}

#[test]
fn a_model_makes_its_variables_of_labels_again() {
    let training = Request { categorical: vec!["zip".into()], ..Request::new("y") };
    let training = training
        .read_from("color,a,sex,zip,y\nred,1,m,7,1\nblue,2,f,8,2\nred,3,f,9,3\n".as_bytes(), "data.csv")
        .expect("valid");
    let names = training.table.names().to_vec();
    assert_eq!(names.join(" "), "color=red a sex=m zip=7 zip=8 zip=9");
    let columns = ModelColumns { names, encodings: training.encodings.clone(), ..ModelColumns::default() };
    let read = |text: &str| Request::of_model(columns.clone()).read_from(text.as_bytes(), "new.csv");
    let data = read("zip,sex,a,color,id\n8.0,m,5, blue ,k\n").expect("one row");
    assert_eq!(data.table.names().join(" "), "zip=7 zip=8 zip=9 sex=m a color=red");
    assert_eq!(data.table.values(), &Values::Dense(vec![0.0, 1.0, 0.0, 1.0, 5.0, 0.0]));
    assert_eq!(data.others, ["id"]);
    let data = read("color=red,a,sex,zip\n1,2,f,9\n").expect("numbers made of the labels by somebody else");
    assert_eq!((data.table.column(0), data.table.column(2)), (vec![1.0], vec![0.0]));
    for (text, expected) in [
        (
            "color,a,sex,zip\nred,1,m,7\ngreen,1,m,7\n",
            "line 3, column \"color\": the model was fitted without the label \"green\"",
        ),
        ("color,a,sex,zip\nred,1,x,7\n", "line 2, column \"sex\": the model was fitted without the label \"x\""),
        ("color,a,sex,zip\n,1,m,7\n", "line 2, column \"color\": the value is missing"),
        (
            "color,a,sex,zip\nred,one,m,7\n",
            "line 2, column \"a\": \"one\" is not a number; the model was fitted to numbers",
        ),
        ("a,zip\n1,7\n", "new.csv lacks 2 columns that the model is made of: \"color\", \"sex\""),
    ] {
        let message = read(text).expect_err("refused").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn of_a_missing_label_only_what_a_model_uses_is_filled_in() {
    let columns = ModelColumns {
        names: vec!["a".into(), "color=red".into()],
        encodings: vec![Encoding {
            column: "color".into(),
            labels: ["blue", "green", "red"].map(str::to_owned).to_vec(),
        }],
        fills: Some(vec![7.0, 0.25]),
        ..ModelColumns::default()
    };
    let request = Request { impute: Some(Impute::Mean), ..Request::of_model(columns) };
    let data = request.read_from("a,color\n1,red\n2,\n,blue\n".as_bytes(), "new.csv").expect("filled in");
    assert_eq!(data.table.names().join(" "), "a color=blue color=green color=red");
    assert_eq!((data.table.column(0), data.table.column(3)), (vec![1.0, 2.0, 7.0], vec![1.0, 0.25, 0.0]));
    let filled: Vec<&str> = data.fills.iter().map(|fill| &fill.column[..]).collect();
    assert_eq!(filled, ["a", "color=red"]);
}

#[test]
fn an_exposure_is_never_filled_in() {
    let columns = ModelColumns {
        names: vec!["a".into(), "days".into()],
        fills: Some(vec![7.0]),
        exposure: Some("days".into()),
        ..ModelColumns::default()
    };
    for impute in [Some(Impute::Mean), None] {
        let request = Request { impute, ..Request::of_model(columns.clone()) };
        let refused =
            request.read_from("a,days\n1,2\n3,\n".as_bytes(), "new.csv").expect_err("no exposure").to_string();
        assert!(refused.contains("line 3, column \"days\": the exposure is missing"), "{refused}");
        assert!(!refused.contains("mean"), "{refused}");
    }
    let request = Request { impute: Some(Impute::Mean), ..Request::of_model(columns) };
    let data = request.read_from("a,days\n1,2\n,4\n".as_bytes(), "new.csv").expect("filled in");
    assert_eq!((data.table.column(0), data.table.column(1)), (vec![1.0, 7.0], vec![2.0, 4.0]));
}

#[test]
fn rows_beyond_counting_are_too_many() {
    for memory in [1 << 20, u64::MAX] {
        let request = Request { memory, ..Request::new("y") };
        let room = crate::room::Room::new("data", memory);
        for rows in [1 << 60, 1 << 61, usize::MAX] {
            let names = ["x", "y", "z"].map(str::to_owned).to_vec();
            let mut assembly = crate::assembly::Assembly::new("data", &request, &room, names).expect("valid");
            assert!(matches!(assembly.allocate(rows), Err(Error::TooLarge { .. })), "{rows}");
        }
    }
}
