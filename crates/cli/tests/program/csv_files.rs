//! CSV files as tables: every row is there, or an error names the line; names, types and NULLs are those of the file.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::process::{Command, Output};

fn open(name: &str, content: &[u8], sql: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    std::fs::write(&file, content).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.arg(&file).args(["-e", sql]).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The result of a statement on a CSV file with this content.
fn read(name: &str, content: &str, sql: &str) -> String {
    let output = open(name, content.as_bytes(), sql);
    assert!(output.status.success(), "{content:?}: {output:?}");
    assert_eq!(text(&output.stderr), "", "{content:?}");
    text(&output.stdout)
}

/// The rows of a file, without the names of its columns.
fn rows(content: &str) -> Vec<String> {
    let rows = read("t.csv", content, "SELECT * FROM t");
    rows.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn no_row_is_lost_in_quotes() {
    assert_eq!(rows("a,b\n1,\"x\" \n2,y\n3,z\n"), ["1\tx", "2\ty", "3\tz"]);
    for (content, place) in [
        ("a,b\n1,\"x\n2,y\n3,z\n", "line 2: a quote is not closed"),
        (
            "a,b\n1,x\n2,\"y\" z\n",
            "line 3: text follows the quote that closes a field",
        ),
        (
            "a,b\n1,\"x\n2,\"y\"\n",
            "line 2: text follows the quote that closes a field",
        ),
        ("\"a,b\n1,2\n", "line 1: a quote is not closed"),
        ("a,b\n1,x\n2\n", "line 3: the row has 1 fields instead of 2"),
    ] {
        let output = open("t.csv", content.as_bytes(), "SELECT COUNT(*) FROM t");
        assert_eq!(output.status.code(), Some(1), "{content:?}: {output:?}");
        let message = text(&output.stderr);
        assert!(message.contains(place), "{content:?}: {message}");
    }
}

#[test]
fn ends_of_lines() {
    let expected = ["1\tx", "2\ty"];
    for content in [
        "a,b\n1,x\n2,y\n",
        "a,b\n1,x\n2,y",
        "a,b\r\n1,x\r\n2,y\r\n",
        "a,b\n1,x\r\n2,y\r\n",
        "a,b\r\n1,x\n2,y\n",
        "a,b\r1,x\r2,y\r",
        "a,b\r1,x\r2,y",
        "a,b\n1,x\n2,y\n\n",
        "\n\na,b\n\n1,x\n2,y\n\n\n",
    ] {
        assert_eq!(rows(content), expected, "{content:?}");
    }
    assert_eq!(rows("a,b\n1,x\n2,"), ["1\tx", "2\tNULL"]);
    assert_eq!(rows("a,b\r\n1,x\r\n2,"), ["1\tx", "2\tNULL"]);
    assert_eq!(rows("n\n1\n\n2\n"), ["1", "NULL", "2"]);
}

#[test]
fn headers() {
    let lines = |content: &str| -> Vec<String> {
        let shown = read("t.csv", content, "SELECT * FROM t");
        shown.lines().map(str::to_owned).collect()
    };
    assert_eq!(
        lines("\"a\nb\",amount\n1,2.50\n"),
        ["a b\tamount", "1\t2.50"]
    );
    assert_eq!(
        lines("id,id,,2024\n1,2,3,4\n"),
        ["id\tid_2\tcolumn3\t2024", "1\t2\t3\t4"]
    );
    let described = read("t.csv", "id,name\n", "SELECT COUNT(*) FROM t; DESCRIBE t");
    assert_eq!(
        described,
        "COUNT(*)\n0\nField\tType\tNull\tKey\tDefault\tExtra\nid\tvarchar(32)\tYES\t\tNULL\t\nname\tvarchar(32)\tYES\t\tNULL\t\n"
    );
}

#[test]
fn values_that_other_programs_write() {
    let content = "amount,paid,day\n\"1,234.50\",true,31/12/2023\n12.5,FALSE,01/02/2024\n,,\n";
    let sql = "SELECT SUM(amount), SUM(paid = TRUE), MAX(day), COUNT(amount), COUNT(paid) FROM t";
    let shown = read("t.csv", content, sql);
    assert_eq!(shown.lines().last(), Some("1247.00\t1\t2024-02-01\t2\t2"));
    // Columns that a program has padded.
    let padded = "id,v,d,t\n1, 5,2024-01-02 , a\n2, 10, 2024-01-03,b \n3,9\t,2024-01-01,c\n";
    let shown = read("t.csv", padded, "SELECT MAX(v), MAX(d), MIN(t) FROM t");
    assert_eq!(shown.lines().last(), Some("10\t2024-01-03\t a"));
    // Ambiguous values stay text, with a message.
    let unclear = open("t.csv", b"day,n\n03/04/2024,1\n", "SELECT day FROM t");
    assert_eq!(text(&unclear.stdout), "day\n03/04/2024\n");
    assert!(
        text(&unclear.stderr).contains("column 'day' is a text"),
        "{unclear:?}"
    );
    // A number computed from a text also gives a message.
    let computed = open("t.csv", b"n,m\n12 EUR,1\n", "SELECT SUM(n) s FROM t");
    assert_eq!(text(&computed.stdout), "s\n12\n");
    let warning = "WARNING 1292 (22007) at line 1: Truncated incorrect DOUBLE value: '12 EUR'\n";
    assert_eq!(text(&computed.stderr), warning);
}

#[test]
fn nothing_is_null_and_quotes_are_an_empty_text() {
    for content in [
        "a,b\n1,\n2,\"\"\n3,NULL\n4,\"NULL\"\n",
        "a,b\r\n1,\r\n2,\"\"\n3,NULL\n4,\"NULL\"",
    ] {
        let shown = read(
            "t.csv",
            content,
            "SELECT a, b IS NULL n, LENGTH(b) l FROM t",
        );
        assert_eq!(shown, "a\tn\tl\n1\t1\tNULL\n2\t0\t0\n3\t1\tNULL\n4\t0\t4\n");
    }
    assert_eq!(rows("a,b\n1,\n2,x\n"), ["1\tNULL", "2\tx"]);
    // Values written as CSV are read back as equal.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("t.csv");
    let mayfly = || Command::new(env!("CARGO_BIN_EXE_mayfly"));
    let query = "SELECT 1 a, NULL b, '' c, 'NULL' d UNION ALL SELECT 2, 'x', NULL, 'a \"b\", c'";
    let written = mayfly()
        .args(["--format", "csv", "-e", query])
        .output()
        .unwrap();
    std::fs::write(&file, &written.stdout).unwrap();
    let mut again = mayfly();
    again
        .arg(&file)
        .args(["--format", "csv", "-e", "SELECT * FROM t"]);
    assert_eq!(text(&again.output().unwrap().stdout), text(&written.stdout));
}

#[test]
fn texts_in_utf_16() {
    let content = "id,name\n1,é\n2,\u{1f98b}\n";
    for (mark, big_endian) in [
        ("", false),
        ("", true),
        ("\u{feff}", false),
        ("\u{feff}", true),
    ] {
        let marked = format!("{mark}{content}");
        let unit = |unit: u16| {
            if big_endian {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        };
        let bytes: Vec<u8> = marked.encode_utf16().flat_map(unit).collect();
        let output = open("t.csv", &bytes, "SELECT * FROM t");
        assert_eq!(
            text(&output.stdout),
            "id\tname\n1\té\n2\t\u{1f98b}\n",
            "{output:?}"
        );
    }
}

#[test]
fn other_formats_are_tables_and_never_run() {
    for (name, content) in [
        ("t.ndjson", "{\"id\": 7}\n"),
        ("t.json", "[{\"id\": 7}]"),
        ("it's.t.json", "[{\"id\": 7}]"),
    ] {
        let table = if name.starts_with("t.") {
            "t"
        } else {
            "`it's`"
        };
        let output = open(
            name,
            content.as_bytes(),
            &format!("SELECT id + 1 AS n FROM {table}"),
        );
        assert_eq!(text(&output.stdout), "n\n8\n", "{name}: {output:?}");
    }
    // Data are never run.
    for name in ["t.parquet", "t.json", "t.feather"] {
        let output = open(name, b"SELECT 1;", "SELECT 2");
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{name}");
    }
}

/// Directories and patterns are views of their files, standard input is a table.
#[test]
fn several_files_and_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir(path("sales")).unwrap();
    std::fs::write(path("sales/a.csv"), "n\n1\n").unwrap();
    std::fs::write(path("sales/b.csv"), "n\n2\n").unwrap();
    for input in ["sales", "sales/*.csv", "sales/[ab].csv"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
        let output = command
            .current_dir(directory.path())
            .args([input, "-N", "-e", "SELECT SUM(n) FROM sales"])
            .output()
            .unwrap();
        assert_eq!(text(&output.stdout), "3\n", "{input}: {output:?}");
    }
    for (content, expected) in [("a;b\n1;2\n", "1\t2\n"), ("{\"a\": 1, \"b\": 2}", "1\t2\n")] {
        std::fs::write(path("input"), content).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
        let output = command
            .stdin(std::fs::File::open(path("input")).unwrap())
            .args(["-", "-N", "-e", "SELECT a, b FROM stdin"])
            .output()
            .unwrap();
        assert_eq!(text(&output.stdout), expected, "{content}: {output:?}");
    }
}

#[test]
fn other_formats_are_refused_and_never_run() {
    assert_eq!(read("t.tsv", "a,b\tc\n1\t2\n", "SELECT c FROM t"), "c\n2\n");
    for (name, content) in [
        ("t.sql.gz", &b"SELECT 1;"[..]),
        ("t.xlsx", b"SELECT 1;"),
        ("t", b"\x1f\x8b\x08\0"),
    ] {
        let output = open(name, content, "SELECT 1");
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{name}");
        assert!(
            text(&output.stderr).contains("does not read yet"),
            "{name}: {output:?}"
        );
    }
    // Standard input has no name that tells its format.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("t");
    std::fs::write(&file, b"\x1f\x8b\x08;SELECT 1;").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.stdin(std::fs::File::open(&file).unwrap());
    let output = command.output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(1), "")
    );
    assert!(text(&output.stderr).contains("gzip"), "{output:?}");
}

#[test]
fn before_a_header_or_a_value() {
    for (content, sql, expected) in [
        (
            "id,name\n1,one\n2,two\n",
            "SELECT id FROM t WHERE name = 'two'",
            "id\n2\n",
        ),
        (
            "\"id\",\"name\"\n1,one\n",
            "SELECT id, name FROM t",
            "id\tname\n1\tone\n",
        ),
        ("1,2\n3,4\n", "SELECT SUM(column1) s FROM t", "s\n4\n"),
        (
            "\"a, b\",2\n\"c\",4\n",
            "SELECT HEX(column1) h FROM t",
            "h\n612C2062\n63\n",
        ),
    ] {
        assert_eq!(read("t.csv", &format!("\u{feff}{content}"), sql), expected);
    }
}

#[test]
fn before_a_statement() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("script.sql");
    std::fs::write(&file, "\u{feff}SELECT 1 AS one;").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "one\n1\n");
}
