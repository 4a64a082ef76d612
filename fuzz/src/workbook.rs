//! Small workbooks.

use std::io::{Cursor, Write as _};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

const PLAIN: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>y</t></is></c><c r=\"B1\" t=\"s\"><v>0</v></c></row>\
                     <row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2.5</v></c></row>\
                     <row r=\"3\"><c r=\"A3\"><v>4</v></c><c r=\"B3\"><v>-1e-3</v></c></row>";

const MESSY: &str = "<row r=\"2\"><c r=\"A2\" t=\"str\"><v>y</v></c><c r=\"B2\" t=\"s\"><v>1</v></c><c r=\"D2\" t=\"s\"><v>1</v></c></row>\
                     <row r=\"3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\" t=\"s\"><v>2</v></c><c r=\"D3\" t=\"b\"><v>1</v></c></row>\
                     <row r=\"4\"><c r=\"A4\"><v>2</v></c><c r=\"B4\" t=\"s\"><v>0</v></c><c r=\"D4\" t=\"e\"><v>#DIV/0!</v></c></row>\
                     <row r=\"9\"><c r=\"A9\"><v>3</v></c><c r=\"B9\" t=\"s\"><v>0</v></c><c r=\"D9\" t=\"b\"><v>0</v></c></row>";

const DATES: &str =
    "<row><c><v>1</v></c><c s=\"1\"><v>45322.5</v></c></row><row><c><v>2</v></c><c s=\"1\"><v>0.25</v></c></row>";

/// Workbooks with shared texts, dates, errors, gaps and merged cells.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let merged = "<mergeCells><mergeCell ref=\"B3:B4\"/></mergeCells>";
    vec![
        workbook(PLAIN, "", CompressionMethod::Stored),
        workbook(PLAIN, "", CompressionMethod::Deflated),
        workbook(MESSY, merged, CompressionMethod::Stored),
        workbook(DATES, "", CompressionMethod::Stored),
    ]
}

fn workbook(rows: &str, behind: &str, packing: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(packing);
    for (name, text) in [
        ("_rels/.rels", "<Relationships><Relationship Id=\"a\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>".to_owned()),
        ("xl/workbook.xml", "<workbook xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>".to_owned()),
        ("xl/_rels/workbook.xml.rels", "<Relationships><Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>".to_owned()),
        ("xl/sharedStrings.xml", "<sst><si><t>a</t></si><si><t>b</t></si><si><r><t>u</t></r><r><t> v</t></r></si><si><t>12 %</t></si></sst>".to_owned()),
        ("xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>".to_owned()),
        ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData>{behind}</worksheet>")),
    ] {
        archive.start_file(name, options).expect("a part");
        archive.write_all(text.as_bytes()).expect("written");
    }
    archive.finish().expect("written").into_inner()
}
