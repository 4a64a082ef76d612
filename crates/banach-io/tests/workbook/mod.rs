//! Workbooks as Excel writes them, as far as values go.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};

/// A cell.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Number(f64),
    Text(String),
    Truth(bool),
    Error(&'static str),
    /// Days since 1899-12-30, in a format of dates.
    Date(f64),
    Blank,
}

impl Cell {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Cells of texts, of which those that are numbers are so; an empty one is blank.
    pub(crate) fn row(texts: &[&str]) -> Vec<Self> {
        let cell = |text: &&str| match (text.parse(), *text) {
            (_, "") => Self::Blank,
            (Ok(number), _) => Self::Number(number),
            (Err(_), text) => Self::text(text),
        };
        texts.iter().map(cell).collect()
    }
}

/// A sheet: its name, whether it is hidden, its rows and the areas that are merged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    pub name: &'static str,
    pub hidden: bool,
    pub rows: Vec<Vec<Cell>>,
    pub merged: Vec<&'static str>,
}

fn column(mut number: usize) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'A' + (number % 26) as u8));
        if number < 26 {
            return name;
        }
        number = number / 26 - 1;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn sheet(sheet: &Sheet) -> String {
    let mut xml =
        String::from("<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>");
    for (row, cells) in sheet.rows.iter().enumerate() {
        write!(xml, "<row r=\"{}\">", row + 1).expect("a string");
        for (at, cell) in cells.iter().enumerate() {
            let place = format!("{}{}", column(at), row + 1);
            match cell {
                Cell::Number(value) => write!(xml, "<c r=\"{place}\"><v>{value:?}</v></c>"),
                Cell::Text(text) => {
                    write!(xml, "<c r=\"{place}\" t=\"inlineStr\"><is><t>{}</t></is></c>", escaped(text))
                }
                Cell::Truth(value) => write!(xml, "<c r=\"{place}\" t=\"b\"><v>{}</v></c>", u8::from(*value)),
                Cell::Error(error) => write!(xml, "<c r=\"{place}\" t=\"e\"><v>{error}</v></c>"),
                Cell::Date(days) => write!(xml, "<c r=\"{place}\" s=\"1\"><v>{days}</v></c>"),
                Cell::Blank => Ok(()),
            }
            .expect("a string");
        }
        xml += "</row>";
    }
    xml += "</sheetData>";
    if !sheet.merged.is_empty() {
        xml += "<mergeCells>";
        sheet.merged.iter().for_each(|area| write!(xml, "<mergeCell ref=\"{area}\"/>").expect("a string"));
        xml += "</mergeCells>";
    }
    xml + "</worksheet>"
}

/// The bytes of a workbook.
pub(crate) fn workbook(sheets: &[Sheet]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let mut part = |name: &str, text: &str| {
        archive.start_file(name, options).expect("a part");
        archive.write_all(text.as_bytes()).expect("written");
    };
    part("[Content_Types].xml", &format!("<Types xmlns=\"{PACKAGE}/content-types\"/>"));
    part(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" \
             Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    let (mut listed, mut relations) = (String::new(), String::new());
    for (at, one) in sheets.iter().enumerate() {
        let (id, state) = (at + 1, if one.hidden { " state=\"hidden\"" } else { "" });
        write!(listed, "<sheet name=\"{}\" sheetId=\"{id}\"{state} r:id=\"rId{id}\"/>", escaped(one.name))
            .expect("a string");
        write!(
            relations,
            "<Relationship Id=\"rId{id}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"
        )
        .expect("a string");
        part(&format!("xl/worksheets/sheet{id}.xml"), &sheet(one));
    }
    part(
        "xl/workbook.xml",
        &format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{listed}</sheets></workbook>"),
    );
    part(
        "xl/_rels/workbook.xml.rels",
        &format!(
            "<Relationships xmlns=\"{PACKAGE}/relationships\">{relations}<Relationship Id=\"rStyles\" Type=\"{OFFICE}/styles\" \
             Target=\"styles.xml\"/></Relationships>"
        ),
    );
    part(
        "xl/styles.xml",
        &format!(
            "<styleSheet xmlns=\"{MAIN}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
        ),
    );
    archive.finish().expect("written").into_inner()
}
