//! Files as people have them: what is read, what is said of it, and what is refused with advice.

mod workbook;

use banach_io::{Dataset, Decimal, Error, Impute, ModelColumns, Request, Unknown};

use self::workbook::{Cell, Sheet, workbook};

fn read(text: impl AsRef<[u8]>) -> Result<Dataset, Error> {
    Request::new("y").read_from(text.as_ref(), "data.csv")
}

fn refusal(text: impl AsRef<[u8]>) -> String {
    read(text).expect_err("refused").to_string()
}

/// The columns of a table, one after the other, and the target.
fn numbers(data: &Dataset) -> (Vec<Vec<f64>>, Vec<f64>) {
    let columns = (0..data.table.names().len()).map(|column| data.table.column(column)).collect();
    (columns, data.target.numbers().expect("numbers").to_vec())
}

#[test]
fn separators_and_decimals_are_found_out() {
    let expected = (vec![vec![1.5, 2.0], vec![1234.5, -0.25]], vec![10.0, 20.5]);
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (text, delimiter, decimal) in [
        (b"a,b,y\n1.5,1234.5,10\n2,-0.25,20.5\n".to_vec(), b',', Decimal::Point),
        (b"a;b;y\n1,5;1234,5;10\n2;-0,25;20,5\n".to_vec(), b';', Decimal::Comma),
        (b"a;b;y\r\n1,5;1.234,5;10,0\r\n2;-0,25;20,5\r\n".to_vec(), b';', Decimal::Comma),
        (b"a\tb\ty\n1.5\t1,234.5\t10\n2\t-0.25\t20.5\n".to_vec(), b'\t', Decimal::Point),
        (b"a|b|y\n1.5|1'234.5|10\n2|-0.25|20.5\n".to_vec(), b'|', Decimal::Point),
        (b"\xef\xbb\xbfa;b;y\n1.5;1 234.5;10\n2;-.25;20.5\n".to_vec(), b';', Decimal::Point),
        (b"a,b,y\n1.5,\"1,234.5\",10\n2,-0.25,20.5\n".to_vec(), b',', Decimal::Point),
        (b"a,b,y\n\"1,5\",\"1234,5\",10\n2,\"-0,25\",\"20,5\"\n".to_vec(), b',', Decimal::Comma),
        (b"a;b;y\n1,5;$1.234,5;10\n2;-$0,25;20,5\n".to_vec(), b';', Decimal::Comma),
        (utf16("\u{feff}a\tb\ty\r\n1,5\t1.234,5\t10\r\n2\t-0,25\t20,5\r\n"), b'\t', Decimal::Comma),
        // Rows and columns of delimiters, as spreadsheets leave them behind.
        (b"a;b;y;;\n1,5;1234,5;10;;\n2;-0,25;20,5;;\n;;;;\n;;;;\n".to_vec(), b';', Decimal::Comma),
    ] {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let data = read(&text).unwrap_or_else(|error| panic!("{shown:?}: {error}"));
        assert_eq!(numbers(&data), expected, "{shown:?}");
        let dialect = data.dialect.expect("a text");
        assert_eq!((dialect.delimiter, dialect.decimal), (delimiter, decimal), "{shown:?}");
    }
}

#[test]
fn a_number_that_may_be_two_is_refused_until_somebody_says_which() {
    let text = "a;y\n1,234;1\n5,678;2\n";
    let message = refusal(text);
    assert!(message.contains("decimal comma if it is 1.234, or decimal point if it is 1234"), "{message}");
    for (decimal, values) in [(Decimal::Comma, [1.234, 5.678]), (Decimal::Point, [1234.0, 5678.0])] {
        let request = Request { decimal: Some(decimal), ..Request::new("y") };
        let data = request.read_from(text.as_bytes(), "data.csv").expect("said");
        assert_eq!(data.table.column(0), values);
    }
    // What the first lines do not tell, later ones say with a line.
    let late = format!("a;y\n{}2,5;1\n", "1;2\n".repeat(40_000));
    assert!(
        refusal(late).contains("line 40002, column \"a\": \"2,5\" is not a number; say decimal comma if it is 2.5")
    );
}

#[test]
fn money_and_per_cent_are_numbers_of_one_kind_in_a_column() {
    let data = read("price,rate,y\n\"$1,200\",12 %,1\n$80.50,3.5%,2\n,NA,3\n".replace(",NA,3\n", "-$7,0 %,3\n"))
        .expect("valid");
    assert_eq!(numbers(&data).0, [vec![1200.0, 80.5, -7.0], vec![0.12, 0.035, 0.0]]);
    let units: Vec<(&str, &str)> = data.units.iter().map(|unit| (&unit.column[..], &unit.unit[..])).collect();
    assert_eq!(units, [("price", "$"), ("rate", "%")]);
    let target = read("a,y\n1,5 %\n2,10 %\n").expect("valid");
    assert_eq!(target.target.numbers(), Some(&[0.05, 0.1][..]));
    assert!(refusal("a,y\n$5,1\n€5,2\n").contains("line 3, column \"a\": some values are in $ and others in €"));
    assert!(refusal("a,y\n5 %,1\n5,2\n").contains("some values are in % and others without a sign"));
    // Labels stay labels where that was asked for.
    let request = Request { categorical: vec!["a".into()], ..Request::new("y") };
    let labels = request.read_from("a,y\n5 %,1\n10 %,2\n20 %,3\n".as_bytes(), "data.csv").expect("valid");
    assert_eq!(labels.encodings[0].labels, ["10 %", "20 %", "5 %"]);
}

#[test]
fn nameless_and_equal_names_are_told_apart_by_their_numbers() {
    let text = ",dose,dose,y\n7,1,2,3\n8,2,4,5\n9,4,1,6\n";
    let data = read(text).expect("valid");
    assert_eq!(data.table.names(), ["x1", "dose", "dose.1"]);
    let renamed: Vec<(usize, &str, &str)> =
        data.renamed.iter().map(|one| (one.column, &one.before[..], &one.name[..])).collect();
    assert_eq!(renamed, [(1, "", "x1"), (3, "dose", "dose.1")]);
    let ask = |target: &str, drop: &str| {
        let request = Request { drop: vec![drop.to_owned()], ..Request::new(target) };
        request.read_from(text.as_bytes(), "data.csv")
    };
    assert_eq!(ask("3", "1").expect("by number").table.names(), ["dose", "y"]);
    let message = ask("dose", "").expect_err("which?").to_string();
    assert!(message.contains("columns 2 and 3 are both named \"dose\"") && message.contains("target 3"), "{message}");
    assert_eq!(ask("y", "dose").expect("both").table.names(), ["x1"]);
    // The names of new samples are the same.
    let model = ModelColumns { names: vec!["dose.1".into()], ..ModelColumns::default() };
    let new = Request::of_model(model).read_from(text.as_bytes(), "new.csv").expect("there");
    assert_eq!(new.table.column(0), [2.0, 4.0, 1.0]);
    // A name that is taken is not given again.
    let taken = read("x2,,a,a.1,a,y\n1,2,3,4,5,6\n2,3,4,5,6,8\n").expect("valid");
    assert_eq!(taken.table.names(), ["x2", "x2.1", "a", "a.1", "a.1.1"]);
}

#[test]
fn dates_are_named_with_what_to_do() {
    for text in [
        "day,y\n2024-01-31,1\n2024-02-01,2\n2024-02-02,3\n",
        "day;y\n31.01.2024;1,5\n31.01.2024;2\n01.02.2024;3\n",
        "day,y\n01/31/2024 10:30,1\n02/01/2024 11:00,2\n",
    ] {
        let message = refusal(text);
        assert!(message.contains("column \"day\": dates and times") && message.contains("drop \"day\""), "{message}");
    }
    let many: Vec<String> = (0..1200).map(|k| format!("{:04}-01-{:02},{k}\n", 1900 + k / 28, 1 + k % 28)).collect();
    assert!(matches!(read(format!("day,y\n{}", many.concat())), Err(Error::Dates { .. })));
    let request = Request { categorical: vec!["day".into()], ..Request::new("y") };
    assert!(request.read_from("day,y\n2024-01-31,1\n2024-02-01,2\n".as_bytes(), "data.csv").is_ok());
}

/// What a workbook holds.
fn opened(sheets: &[Sheet], request: &Request) -> Result<Dataset, Error> {
    request.read_from(&workbook(sheets)[..], "data.xlsx")
}

#[test]
fn workbooks_are_read_as_they_look() {
    let mut rows = vec![Vec::new(), Cell::row(&["", "a", "color", "flag", "y"])];
    for (a, color, flag, y) in [(1.5, "red", true, 1.0), (2.5, "", false, 2.0), (3.0, "blue", true, 4.0)] {
        rows.push(vec![
            Cell::Blank,
            Cell::Number(a),
            if color.is_empty() { Cell::Blank } else { Cell::text(color) },
            Cell::Truth(flag),
            // Numbers that were typed as text.
            Cell::Text(format!(" {y}")),
        ]);
    }
    rows.extend([Vec::new(), vec![Cell::Blank, Cell::text(" ")], Vec::new()]);
    // The color of row 3 is merged with that of row 4.
    let sheet = Sheet { name: "data", rows, merged: vec!["C3:C4"], ..Sheet::default() };
    let hidden = Sheet { name: "old", hidden: true, rows: vec![Cell::row(&["z"])], ..Sheet::default() };
    let other = Sheet {
        name: "other",
        rows: vec![Cell::row(&["a", "y"]), Cell::row(&["1", "2"]), Cell::row(&["3", "5"])],
        ..Sheet::default()
    };
    let sheets = [hidden, sheet, other];
    let data = opened(&sheets, &Request::new("y")).expect("valid");
    assert_eq!(data.table.names(), ["a", "color=red", "flag=true"]);
    assert_eq!(numbers(&data).0, [vec![1.5, 2.5, 3.0], vec![1.0, 1.0, 0.0], vec![1.0, 0.0, 1.0]]);
    assert_eq!((data.target.numbers(), data.sheet.as_deref()), (Some(&[1.0, 2.0, 4.0][..]), Some("data")));
    assert_eq!(data.at(2).to_string(), "row 5");
    for sheet in ["other", "3"] {
        let request = Request { sheet: Some(sheet.to_owned()), ..Request::new("y") };
        assert_eq!(opened(&sheets, &request).expect("there").table.column(0), [1.0, 3.0]);
    }
    let none = Request { sheet: Some("none".to_owned()), ..Request::new("y") };
    let message = opened(&sheets, &none).expect_err("not there").to_string();
    assert!(message.contains("its sheets are \"old\", \"data\", \"other\""), "{message}");
}

#[test]
fn errors_and_dates_in_cells_are_named() {
    let sheet = |cell: Cell| {
        let rows = vec![
            Cell::row(&["a", "b", "y"]),
            Cell::row(&["1", "2", "3"]),
            vec![cell, Cell::Number(2.0), Cell::Number(5.0)],
        ];
        Sheet { name: "s", rows, ..Sheet::default() }
    };
    let refused = |cell: Cell| opened(&[sheet(cell)], &Request::new("y")).expect_err("refused").to_string();
    assert!(refused(Cell::Error("#DIV/0!")).contains("row 3, column \"a\": the value is missing (\"#DIV/0!\")"));
    assert!(refused(Cell::text("1,5")).contains("say decimal comma if it is 1.5"));
    assert!(refused(Cell::Date(45322.0)).contains("\"2024-01-31\" is not a number"));
    let all = Sheet {
        name: "s",
        rows: vec![
            Cell::row(&["day", "y"]),
            vec![Cell::Date(45322.0), Cell::Number(1.0)],
            vec![Cell::Date(45323.5), Cell::Number(2.0)],
        ],
        ..Sheet::default()
    };
    let message = opened(&[all], &Request::new("y")).expect_err("refused").to_string();
    assert!(message.contains("column \"day\": dates and times (\"2024-01-31\""), "{message}");
    let imputed = Request { impute: Some(Impute::Mean), ..Request::new("y") };
    assert_eq!(opened(&[sheet(Cell::Error("#N/A"))], &imputed).expect("filled").table.column(0), [1.0, 1.0]);
    let headless = Sheet {
        name: "s",
        rows: vec![Cell::row(&["3", "1", "2", "7"]), Cell::row(&["4", "5", "6", "8"])],
        ..Sheet::default()
    };
    assert!(
        matches!(opened(&[headless], &Request::new("y")), Err(Error::NoHeader { first, .. }) if first == "3"),
        "the first cell is named"
    );
    let empty = Sheet { name: "s", ..Sheet::default() };
    assert!(matches!(opened(&[empty], &Request::new("y")), Err(Error::Empty { .. })));
    let old = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat();
    assert!(
        Request::new("y").read_from(&old[..], "old.xls").expect_err("refused").to_string().contains("save it as .xlsx")
    );
}

#[test]
fn what_a_model_has_learned_is_done_to_new_samples() {
    let encodings =
        vec![banach_io::Encoding { column: "c".into(), labels: ["u", "v", "w"].map(str::to_owned).to_vec() }];
    let names = ["c=u", "c=v", "c=w", "a"].map(str::to_owned).to_vec();
    let model = |unknown| ModelColumns {
        names: names.clone(),
        encodings: encodings.clone(),
        fills: Some(vec![0.5, 0.25, 0.25, 7.0]),
        unknown,
        ..ModelColumns::default()
    };
    let text = "id,a,c\ns1,1,u\ns2,,z\ns3,3,\n";
    let ask = |unknown, impute| {
        let request = Request { id: Some("id".into()), impute, ..Request::of_model(model(unknown)) };
        request.read_from(text.as_bytes(), "new.csv")
    };
    let data = ask(Unknown::Ignore, Some(Impute::Mean)).expect("learned");
    assert_eq!(data.ids.as_deref(), Some(&["s1", "s2", "s3"].map(str::to_owned)[..]));
    assert_eq!(data.table.column(0), [1.0, 7.0, 3.0]);
    assert_eq!(data.table.names(), ["a", "c=u", "c=v", "c=w"]);
    assert_eq!((data.table.column(1), data.table.column(2)), (vec![1.0, 0.5, 0.5], vec![0.0, 0.25, 0.25]));
    assert_eq!((&data.unknown[0].labels[..], &data.unknown[0].rows[..]), (&["z".to_owned()][..], &[1][..]));
    let message = ask(Unknown::Error, Some(Impute::Mean)).expect_err("refused").to_string();
    assert!(message.contains("line 3, column \"c\"") && message.contains("unknown ignore"), "{message}");
    assert!(ask(Unknown::Ignore, None).expect_err("refused").to_string().contains("the value is missing"));
    let id = Request { id: Some("a".into()), ..Request::of_model(model(Unknown::Error)) };
    assert!(
        id.read_from(text.as_bytes(), "new.csv").expect_err("refused").to_string().contains("the model is made of it")
    );
}

#[test]
fn quoted_lines_are_one_record() {
    let data = read("note,a,y\n\"first\nsecond\",1,2\n\"x;y\",3,4\n\"first\nsecond\",5,7\n").expect("valid");
    assert_eq!(data.encodings[0].labels, ["first\nsecond", "x;y"]);
    assert_eq!(data.table.column(1), [1.0, 3.0, 5.0]);
}
