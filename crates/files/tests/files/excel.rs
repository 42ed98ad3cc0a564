//! Workbooks: types of cells, options, limits. The workbooks are made here, part by part.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::Files;

/// An archive of parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).expect("begins a part");
        writer.write_all(content).expect("writes a part");
    }
    writer.finish().expect("ends").into_inner()
}

/// A workbook of Excel, with sheets of rows in SpreadsheetML. The styles 1 to 4 are a date, a date with a time, a time and
/// an interval.
fn xlsx(is_1904: bool, sheets: &[(&str, &str)]) -> Vec<u8> {
    let (mut list, mut relations) = (String::new(), String::new());
    let mut parts = Vec::new();
    for (at, (name, rows)) in sheets.iter().enumerate() {
        let _ = write!(
            list,
            r#"<sheet name="{name}" sheetId="{0}" r:id="r{0}"/>"#,
            at + 1
        );
        let _ = write!(
            relations,
            r#"<Relationship Id="r{0}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{0}.xml"/>"#,
            at + 1
        );
        parts.push((
            format!("xl/worksheets/sheet{}.xml", at + 1),
            format!(
                r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
            ),
        ));
    }
    let part = |name: &str, content: &str| (name.to_owned(), content.to_owned());
    parts.extend([
        part("[Content_Types].xml", r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#),
        part("xl/workbook.xml", &format!(
            r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr date1904="{}"/><sheets>{list}</sheets></workbook>"#,
            u8::from(is_1904)
        )),
        part("xl/_rels/workbook.xml.rels", &format!(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>"#
        )),
        part(
            "_rels/.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
        ),
        part("xl/styles.xml", r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="1"><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="20"/><xf numFmtId="164"/></cellXfs></styleSheet>"#),
        part("xl/sharedStrings.xml", r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>shared</t></si><si><r><t>a</t></r><r><t xml:space="preserve"> b</t></r></si></sst>"#),
    ]);
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, content)| (&**name, content.as_bytes()))
        .collect();
    archive(&parts)
}

/// Rows of cells, each with its place: `n` a number, `s` a shared string, `t` a text, `b` a truth value, `e` an error, a digit
/// a number with that style.
fn rows(rows: &[&[(&str, &str, &str)]]) -> String {
    let mut xml = String::new();
    for (at, cells) in rows.iter().enumerate() {
        let _ = write!(xml, r#"<row r="{}">"#, at + 1);
        for (place, kind, value) in *cells {
            let _ = match *kind {
                "n" => write!(xml, r#"<c r="{place}"><v>{value}</v></c>"#),
                "t" => write!(
                    xml,
                    r#"<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>"#
                ),
                kind @ ("s" | "b" | "e") => {
                    write!(xml, r#"<c r="{place}" t="{kind}"><v>{value}</v></c>"#)
                }
                style => write!(xml, r#"<c r="{place}" s="{style}"><v>{value}</v></c>"#),
            };
        }
        xml += "</row>";
    }
    xml
}

/// A workbook of OpenDocument with a sheet of rows.
fn ods(rows: &str) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    archive(&[
        (
            "mimetype",
            b"application/vnd.oasis.opendocument.spreadsheet",
        ),
        (
            "META-INF/manifest.xml",
            br#"<manifest:manifest xmlns:manifest="m"/>"#,
        ),
        ("content.xml", content.as_bytes()),
    ])
}

/// A record of a binary workbook.
fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = match kind {
        kind if kind < 128 => vec![kind as u8],
        kind => vec![kind as u8 | 0x80, (kind >> 7) as u8],
    };
    let mut length = content.len();
    while length >= 128 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(content);
    bytes
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut bytes = (units.len() as u32).to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes
}

/// A binary workbook with a sheet of two rows.
fn xlsb() -> Vec<u8> {
    let cell = |column: u32, content: &[u8]| {
        let mut bytes = column.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(content);
        bytes
    };
    let row = |at: u32| record(0, &[&at.to_le_bytes()[..], &[0; 13]].concat());
    let bundle = [&[0; 4][..], &1_u32.to_le_bytes(), &wide("r1"), &wide("S")].concat();
    let workbook = [
        record(0x99, &[0; 8]),
        record(0x8F, &[]),
        record(0x9C, &bundle),
        record(0x90, &[]),
        record(0x84, &[]),
    ]
    .concat();
    let sheet = [
        record(0x81, &[]),
        record(0x94, &[0; 16]),
        record(0x91, &[]),
        row(0),
        record(6, &cell(0, &wide("name"))),
        record(6, &cell(1, &wide("amount"))),
        row(1),
        record(6, &cell(0, &wide("é"))),
        record(5, &cell(1, &1.5_f64.to_le_bytes())),
        record(0x92, &[]),
        record(0x82, &[]),
    ]
    .concat();
    let relations = br#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.bin"/></Relationships>"#;
    archive(&[
        ("xl/workbook.bin", &workbook),
        ("xl/_rels/workbook.bin.rels", relations),
        ("xl/worksheets/sheet1.bin", &sheet),
    ])
}

/// Workbooks that the test of damaged files changes.
pub(crate) fn originals() -> Vec<(&'static str, Vec<u8>)> {
    let sheet = rows(&[
        &[("A1", "t", "a"), ("B1", "s", "0"), ("C1", "t", "c")],
        &[("A2", "n", "1"), ("B2", "t", "x"), ("C2", "1", "45000.5")],
        &[("A3", "n", "2.5"), ("B3", "e", "#N/A"), ("C3", "4", "1.25")],
    ]);
    let ods_rows = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="float" office:value="1.5"/></table:table-row>"#;
    vec![
        ("f.xlsx", xlsx(false, &[("One", &sheet), ("Two", &sheet)])),
        ("f.xlsb", xlsb()),
        ("f.ods", ods(ods_rows)),
    ]
}

#[test]
fn types_of_cells() {
    let files = Files::new();
    let sheet = rows(&[
        &[
            ("A1", "t", "whole"),
            ("B1", "t", "number"),
            ("C1", "s", "0"),
            ("D1", "t", "day"),
            ("E1", "t", "at"),
            ("F1", "t", "clock"),
            ("G1", "t", "hours"),
            ("H1", "t", "flag"),
            ("I1", "t", "mixed"),
            ("J1", "t", "failed"),
            ("K1", "t", "formula"),
        ],
        &[
            ("A2", "n", "1"),
            ("B2", "n", "0.1"),
            ("C2", "s", "1"),
            ("D2", "1", "45943"),
            ("E2", "2", "45943"),
            ("F2", "3", "0.25"),
            ("G2", "4", "1.260416666666667"),
            ("H2", "b", "1"),
            ("I2", "n", "2.5"),
            ("J2", "n", "7"),
            ("K2", "n", "1"),
        ],
        &[],
        &[
            ("A4", "n", "-9007199254740992"),
            ("B4", "n", "1e100"),
            ("C4", "t", "&lt;&#233;&gt;"),
            ("D4", "1", "1"),
            ("E4", "2", "45943.541"),
            ("F4", "3", "0"),
            ("G4", "4", "-0.5"),
            ("H4", "b", "0"),
            ("I4", "1", "45943"),
            ("J4", "e", "#DIV/0!"),
            ("K4", "t", ""),
        ],
    ]);
    files.write("a.xlsx", xlsx(false, &[("S", &sheet)]));
    assert_eq!(
        files.rows("DESCRIBE '@/a.xlsx'"),
        [
            "whole|bigint|YES||NULL|",
            "number|double|YES||NULL|",
            "shared|varchar(32)|YES||NULL|",
            "day|date|YES||NULL|",
            "at|datetime(3)|YES||NULL|",
            "clock|time|YES||NULL|",
            "hours|time|YES||NULL|",
            "flag|tinyint(1)|YES||NULL|",
            "mixed|varchar(32)|YES||NULL|",
            "failed|bigint|YES||NULL|",
            "formula|bigint|YES||NULL|",
        ]
    );
    let mut session = files.database.session();
    assert_eq!(
        files
            .run(&mut session, "SELECT * FROM '@/a.xlsx'")
            .expect("reads"),
        [
            "1|0.1|a b|2025-10-13|2025-10-13 00:00:00.000|06:00:00|30:15:00|1|2.5|7|1",
            "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
            "-9007199254740992|1e100|<é>|1900-01-01|2025-10-13 12:59:02.400|00:00:00|-12:00:00|0|2025-10-13|NULL|NULL",
        ]
    );
    assert_eq!(
        files.run(&mut session, "SHOW WARNINGS").expect("shows"),
        [format!(
            "Warning|1105|file '{}': column 'failed', cell J4: #DIV/0! is NULL",
            files.path("a.xlsx").display()
        )]
    );
    // The columns of a plan are those of the sheet, whatever is asked of it.
    assert_eq!(
        files.rows(
            "SELECT COUNT(*), SUM(whole > 0), MAX(day) FROM '@/a.xlsx' WHERE flag IS NOT NULL"
        ),
        ["2|1|2025-10-13"]
    );
    let dates = rows(&[
        &[("A1", "1", "1")],
        &[("A2", "1", "44481.5")],
        &[("A3", "3", "0.25")],
    ]);
    files.write("b.xlsx", xlsx(true, &[("S", &dates)]));
    assert_eq!(
        files.rows("SELECT * FROM read_xlsx('@/b.xlsx') AS b(d)"),
        ["1904-01-02", "2025-10-13 12:00:00", "06:00:00"]
    );
}

#[test]
fn options() {
    let files = Files::new();
    let first = rows(&[
        &[],
        &[("B2", "t", "k"), ("C2", "t", "v"), ("D2", "t", "w")],
        &[("B3", "n", "1"), ("C3", "t", "x"), ("D3", "n", "10")],
        &[("B4", "n", "2"), ("C4", "t", "y")],
        &[("B5", "t", "sum"), ("D5", "n", "30")],
    ]);
    let second = rows(&[&[("A1", "n", "7"), ("B1", "n", "8")]]);
    files.write(
        "a.xlsx",
        xlsx(false, &[("First one", &first), ("Second", &second)]),
    );
    for (call, expected) in [
        ("", vec!["1|x|10", "2|y|NULL", "sum|NULL|30"]),
        (
            ", sheet => 'First one'",
            vec!["1|x|10", "2|y|NULL", "sum|NULL|30"],
        ),
        (", sheet => 2", vec!["7|8"]),
        (", sheet => 'SECOND', header => false", vec!["7|8"]),
        (", sheet => 'Second', header => true", vec![]),
        (", `range` => 'B2:C4'", vec!["1|x", "2|y"]),
        (", `range` => 'C3:D3'", vec!["x|10"]),
        (", `range` => 'C3'", vec!["x|10", "y|NULL", "NULL|30"]),
        (
            ", `range` => '3:4', header => false",
            vec!["1|x|10", "2|y|NULL"],
        ),
        (
            ", `range` => 'C:E', header => false",
            vec!["v|w|NULL", "x|10|NULL", "y|NULL|NULL", "NULL|30|NULL"],
        ),
        (
            ", `range` => 'B2:D4', all_text => true",
            vec!["1|x|10", "2|y|NULL"],
        ),
        (", filename => true, sheet => 2", vec!["7|8|@/a.xlsx"]),
    ] {
        let sql = format!("SELECT * FROM read_excel('@/a.xlsx'{call}) e");
        let directory = files.path("").display().to_string();
        let read: Vec<String> = files
            .rows(&sql)
            .iter()
            .map(|row| row.replace(directory.trim_end_matches('/'), "@"))
            .collect();
        assert_eq!(read, expected, "{sql}");
    }
    assert_eq!(
        files.rows("DESCRIBE read_excel('@/a.xlsx', `range` => 'B2:D4', all_text => true)"),
        [
            "k|varchar(32)|NO||NULL|",
            "v|varchar(32)|NO||NULL|",
            "w|varchar(32)|YES||NULL|"
        ]
    );
    for (call, error) in [
        (
            "sheet => 'Third'",
            "1105 file '@/a.xlsx': it has no such sheet; its sheets are 'First one', 'Second'",
        ),
        (
            "sheet => 3",
            "1105 file '@/a.xlsx': it has no such sheet; its sheets are 'First one', 'Second'",
        ),
        (
            "sheet => 0",
            "1210 Incorrect arguments to read_excel: option 'sheet' takes a name or a number from 1 on",
        ),
        (
            "`range` => 'B2-C3'",
            "1210 Incorrect arguments to read_excel: 'B2-C3' is no range of cells like B2:D100",
        ),
        (
            "`range` => 'X100'",
            "1105 file '@/a.xlsx': its sheet has no cell",
        ),
        (
            "heder => true",
            "1210 Incorrect arguments to read_excel: there is no option 'heder'; did you mean 'header'?",
        ),
    ] {
        let sql = format!("SELECT * FROM read_excel('@/a.xlsx', {call}) e");
        assert_eq!(files.error(&sql), error, "{sql}");
    }
    // Sheets of several files have the same columns, whose types are those of all rows.
    let names: &[(&str, &str, &str)] = &[("A1", "t", "k"), ("B1", "t", "w")];
    for (name, values) in [("b", ["3", "0.5"]), ("c", ["4", "1"])] {
        let sheet = rows(&[names, &[("A2", "n", values[0]), ("B2", "n", values[1])]]);
        files.write(&format!("{name}.xlsx"), xlsx(false, &[("S", &sheet)]));
    }
    assert_eq!(
        files.rows("SELECT k, w FROM read_excel('@/c.xlsx', '@/b.xlsx') e ORDER BY k"),
        ["3|0.5", "4|1"]
    );
    assert_eq!(
        files.error("SELECT * FROM read_excel('@/b.xlsx', '@/a.xlsx') e"),
        "1105 file '@/a.xlsx': it has other columns than '@/b.xlsx'"
    );
}

#[test]
fn other_workbooks() {
    let files = Files::new();
    files.write("a.xlsb", xlsb());
    assert_eq!(files.rows("SELECT name, amount FROM '@/a.xlsb'"), ["é|1.5"]);
    let cell = |kind: &str, value: &str, text: &str| {
        format!(
            r#"<table:table-cell office:value-type="{kind}" {value}><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let sheet = [
        row(&["a", "b", "c", "d", "e"].map(|name| cell("string", "", name))),
        row(&[
            cell("float", r#"office:value="1.5""#, "1,5"),
            cell("date", r#"office:date-value="2026-01-31""#, "31.1.26"),
            cell("time", r#"office:time-value="PT30H15M00S""#, "30:15"),
            cell("boolean", r#"office:boolean-value="true""#, "WAHR"),
            cell("string", "", "x<text:s text:c=\"2\"/>y</text:p><text:p>z"),
        ]),
        format!(r#"<table:table-row table:number-rows-repeated="2">{}</table:table-row>"#, cell("float", r#"office:value="2" table:number-columns-repeated="1""#, "2")),
        r#"<table:table-row table:number-rows-repeated="1048571"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>"#.to_owned(),
    ];
    files.write("a.ods", ods(&sheet.concat()));
    assert_eq!(
        files.rows("SELECT * FROM '@/a.ods'"),
        [
            "1.5|2026-01-31|30:15:00|1|x  y\nz",
            "2|NULL|NULL|NULL|NULL",
            "2|NULL|NULL|NULL|NULL"
        ]
    );
    files.write("none", xlsb());
    assert_eq!(files.rows("SELECT name FROM '@/none'"), ["é"]);
}

/// The content of an OpenDocument that ends within an element.
#[test]
fn content_that_ends_early() {
    let files = Files::new();
    let content = "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\"><table:table table:name=\"S\"><table:table-row>";
    let parts: [(&str, &[u8]); 2] = [
        (
            "mimetype",
            b"application/vnd.oasis.opendocument.spreadsheet",
        ),
        ("content.xml", content.as_bytes()),
    ];
    files.write("a.ods", archive(&parts));
    assert_eq!(
        files.error("SELECT * FROM '@/a.ods'"),
        "1105 file '@/a.ods': its content ends early"
    );
}

/// Workbooks that say little and hold much end at a limit, with its name.
#[test]
fn limits() {
    let files = Files::with(|options| options.memory_limit = Some(64 << 20));
    let mut session = files.database.session();
    let blank = " ".repeat(80 << 20);
    let text = format!(r#"<row r="1"><c r="A1" t="inlineStr"><is><t>{blank}</t></is></c></row>"#);
    files.write("text.xlsx", xlsx(false, &[("S", &text)]));
    let cell = r#"<table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>text</text:p></table:table-cell>"#;
    files.write(
        "cells.ods",
        ods(&format!(
            r#"<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>"#
        )),
    );
    let spaces = r#"<table:table-cell office:value-type="string"><text:p><text:s text:c="4000000000"/></text:p></table:table-cell>"#;
    files.write(
        "spaces.ods",
        ods(&format!("<table:table-row>{spaces}</table:table-row>")),
    );
    let mut far = String::new();
    for row in 1..=200_000 {
        let _ = write!(
            far,
            r#"<row r="{row}"><c r="A{row}"><v>{row}</v></c><c r="B{row}"><v>{row}</v></c></row>"#
        );
    }
    files.write("many.xlsx", xlsx(false, &[("S", &far)]));
    for name in ["text.xlsx", "cells.ods", "spaces.ods"] {
        let error = files.run(&mut session, &format!("SELECT * FROM '@/{name}'"));
        let error = error.expect_err(name);
        assert!(
            error.starts_with("3170 ") && error.contains("raise "),
            "{name}: {error}"
        );
    }
    assert_eq!(
        files
            .run(
                &mut session,
                "SELECT COUNT(*), SUM(column1) FROM '@/many.xlsx'"
            )
            .expect("reads"),
        ["200000|20000100000"]
    );
    // Two cells, far from each other.
    let wide = rows(&[&[("A1", "n", "1"), ("XFD1", "n", "1")]]);
    files.write("wide.xlsx", xlsx(false, &[("S", &wide)]));
    assert_eq!(
        files
            .run(&mut session, "SELECT * FROM '@/wide.xlsx'")
            .expect_err("is too wide"),
        "1105 file '@/wide.xlsx': its sheet has more than 4096 columns"
    );
    drop(session);
}
