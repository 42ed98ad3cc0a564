//! Odd files: what writers and users really produce. Each is read right, or refused with the reason and its place; none loses
//! rows. The files are those of `tests/odd/files`, made by `tests/odd/make.py`, and large ones made here.
//!
//! `tests/odd/expected.txt` has for each file what `SELECT * FROM 'file'` gives: the types, the rows or the error, and the
//! warnings. `MAYFLY_ODD_COMPLETE=1` writes it anew, for a judge of each change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Files;

/// Most rows that are shown of a file.
const ROWS_MAX: usize = 8;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd")
}

/// The files up to a size, with their names.
pub(crate) fn files(most: usize) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder().join("files")).expect("is there");
    let files = entries.map(|entry| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        (name, fs::read(entry.path()).expect("reads"))
    });
    let mut files: Vec<_> = files.filter(|(_, content)| content.len() <= most).collect();
    files.sort();
    files
}

/// What a file gives, in lines.
fn read(files: &Files, name: &str) -> String {
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    let mut text = String::new();
    let call = format!("'@/{name}'");
    match run(&format!("SELECT * FROM {call}")) {
        Err(error) => text.push_str(&error),
        Ok(rows) => {
            let types = run(&format!("DROP TABLE IF EXISTS seen; CREATE TABLE seen SELECT * FROM {call} LIMIT 0"))
                .and_then(|_| run("SELECT GROUP_CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE ORDER BY ORDINAL_POSITION SEPARATOR ', ') FROM information_schema.columns WHERE TABLE_NAME = 'seen'"));
            let types = types.unwrap_or_else(|error| vec![error]);
            let _ = writeln!(text, "{}", types.join(" "));
            let _ = write!(text, "{} rows", rows.len());
            for row in rows.iter().take(ROWS_MAX) {
                let _ = write!(text, "\n{row:?}");
            }
            let counted = run(&format!("SELECT COUNT(*) FROM {call}")).expect("counts");
            assert_eq!(counted, [rows.len().to_string()], "{name}");
        }
    }
    let again = run(&format!("SELECT * FROM {call}"));
    if again.is_ok() {
        for warning in run("SHOW WARNINGS").expect("shows") {
            let path = files.path(name).display().to_string();
            let _ = write!(text, "\n{}", warning.replace(&path, &format!("@/{name}")));
        }
    }
    text
}

/// The texts of a file of expectations, by the names of files.
fn sections(text: &str) -> BTreeMap<String, String> {
    let sections = text
        .split("\n== ")
        .map(|section| section.trim_start_matches("== "));
    let sections = sections.filter_map(|section| section.trim_end().split_once('\n'));
    sections
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

#[test]
fn odd_files_are_read_right_or_refused_with_the_reason() {
    let files = Files::new();
    let mut found = BTreeMap::new();
    for (name, content) in self::files(usize::MAX) {
        files.write(&name, content);
        let text = read(&files, &name);
        found.insert(name, text);
    }
    let path = folder().join("expected.txt");
    if std::env::var_os("MAYFLY_ODD_COMPLETE").is_some() {
        let sections = found
            .iter()
            .map(|(name, text)| format!("== {name}\n{text}\n"));
        fs::write(&path, sections.collect::<Vec<_>>().join("\n")).expect("writes");
        return;
    }
    let expected = sections(&fs::read_to_string(&path).expect("reads"));
    for (name, text) in &found {
        let known = expected.get(name).map(String::as_str);
        assert_eq!(known, Some(text.as_str()), "{name}");
    }
    assert_eq!(found.len(), expected.len());
}

/// Files that are too large to keep here.
#[test]
fn large_odd_files() {
    let files = Files::new();
    let line = "x".repeat(10 << 20);
    files.write("long_field.csv", format!("a,b\n1,{line}\n2,y\n"));
    let read = files.rows("SELECT a, LENGTH(b) FROM '@/long_field.csv' AS t");
    assert_eq!(read, [format!("1|{}", line.len()), "2|1".to_owned()]);
    files.write("long_line.csv", "x".repeat((64 << 20) + (2 << 20)));
    let error = files.error("SELECT * FROM '@/long_line.csv'");
    assert!(
        error.starts_with("1105 file '@/long_line.csv': line 1: a row of more than"),
        "{error}"
    );
    let row = |value: usize| {
        (0..10_000)
            .map(|at| (at + value).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    files.write("columns.csv", format!("{}\n{}\n", row(0), row(1)));
    let error = files.error("SELECT * FROM '@/columns.csv'");
    assert!(error.contains("more than 4096 columns"), "{error}");
    // A type comes from all rows.
    let mut late: String = (0..24_000).map(|number| format!("{number}\n")).collect();
    late += "2.5\n";
    files.write("late_fraction.csv", format!("a\n{late}"));
    let read = files.rows("SELECT COUNT(*), MAX(a), SUM(a = 2.5) FROM '@/late_fraction.csv' AS t");
    assert_eq!(read, ["24001|23999.0|1"]);
    // A quote that is closed a thousand lines later is one value.
    let lines = "line\n".repeat(1000);
    files.write("late_quote.csv", format!("a,b\n1,\"{lines}\"\n2,y\n"));
    let read = files.rows("SELECT a, LENGTH(b) FROM '@/late_quote.csv' AS t");
    assert_eq!(read, ["1|5000", "2|1"]);
}
