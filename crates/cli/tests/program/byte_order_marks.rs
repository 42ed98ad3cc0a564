//! Files that begin with a byte order mark: it is no part of the first column's name, value or statement.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

/// What the statement finds in a CSV file of this content.
fn read(name: &str, content: &str, sql: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    std::fs::write(&file, content).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .arg(&file)
        .args(["-e", sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
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
