//! Trees and rewritten statements in MySQL's words, for statements that MySQL plans in the same way.
//!
//! `mysql.txt` holds statements, each followed by the output of MySQL 9.7 without costs and rows, which depend on the
//! engine. With `MAYFLY_EXPLAIN_COMPLETE` it is written again from the server of `MAYFLY_MYSQL_SOCKET`.

use std::path::{Path, PathBuf};

use mayfly_testkit::client::{Answer, Client};
use mayfly_testkit::fixture::{Fixture, SessionExt};

const SETUP: &[&str] = &[
    "DROP DATABASE IF EXISTS explain_words",
    "CREATE DATABASE explain_words",
    "USE explain_words",
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(10), c INT, KEY (a))",
    "CREATE TABLE u (id INT PRIMARY KEY, a INT, c INT, KEY ac (a, c))",
    "CREATE TABLE g (i INT, c CHAR(50))",
    "INSERT INTO t WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 1000)
     SELECT n, n % 100, CONCAT('b', n % 10), n % 7 FROM s",
    "INSERT INTO u SELECT id, a, c FROM t WHERE id <= 50",
    "INSERT INTO g SELECT id, CONCAT('x', a) FROM t",
    "CREATE VIEW v AS SELECT c, COUNT(*) n FROM t GROUP BY c",
    "CREATE VIEW w AS SELECT id, c FROM t WHERE c > 2",
    "ANALYZE TABLE t, u, g",
];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/explain/mysql.txt")
}

/// A tree without the parts that depend on the engine: costs, rows, and text in brackets.
fn words(tree: &str) -> String {
    let mut text = String::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let mut line = line.to_owned();
        for (from, to) in [("  (cost=", ")"), (" [", "]")] {
            if let Some(at) = line.find(from) {
                let end = line[at..]
                    .find(to)
                    .map_or(line.len(), |end| at + end + to.len());
                line.replace_range(at..end, "");
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The statements of the file: a letter for what is compared, and the statement; with the expected output.
fn cases(text: &str) -> Vec<(String, String)> {
    let mut cases: Vec<(String, String)> = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        match (line.strip_prefix("    "), cases.last_mut()) {
            (Some(expected), Some((_, all))) => {
                all.push_str(expected);
                all.push('\n');
            }
            _ => cases.push((line.to_owned(), String::new())),
        }
    }
    cases
}

/// The statement to run for a case.
fn questions(case: &str) -> (bool, String) {
    let (what, sql) = case
        .split_once(": ")
        .expect("what is asked, and a statement");
    match what {
        "tree" => (true, format!("EXPLAIN FORMAT=TREE {sql}")),
        "note" => (false, format!("EXPLAIN FORMAT=TRADITIONAL {sql}")),
        other => panic!("{other}"),
    }
}

#[test]
fn trees_and_notes_are_in_mysqls_words() {
    let text = std::fs::read_to_string(path()).expect("readable");
    if std::env::var_os("MAYFLY_EXPLAIN_COMPLETE").is_some() {
        return complete(&text);
    }
    let (_fixture, mut session) = Fixture::with_session();
    for sql in SETUP {
        session.must(sql);
    }
    // MySQL leaves correlated subqueries as they are unless told otherwise.
    session.must("SET optimizer_switch = 'subquery_unnesting=off'");
    let mut wrong = Vec::new();
    for (case, expected) in cases(&text) {
        let (is_tree, sql) = questions(&case);
        let found = match crate::explain::text(&mut session, &sql) {
            Err(error) => error.to_string(),
            Ok(text) if is_tree => words(&text.unwrap_or_default()),
            Ok(_) => {
                let results = session
                    .execute("SHOW WARNINGS")
                    .expect("it lists conditions");
                let notes = results.last().map(|result| result.rows_text());
                let note = |row: Vec<Option<String>>| match row.as_slice() {
                    [_, Some(number), Some(text)] if number == "1003" => Some(format!("{text}\n")),
                    _ => None,
                };
                notes.into_iter().flatten().filter_map(note).collect()
            }
        };
        if found != expected {
            wrong.push(format!("{case}\n--- MySQL\n{expected}--- Mayfly\n{found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Writes MySQL's output.
fn complete(text: &str) {
    let socket = std::env::var_os("MAYFLY_MYSQL_SOCKET").expect("MAYFLY_MYSQL_SOCKET");
    let mut client = Client::connect(Path::new(&socket), "root").expect("a server");
    for sql in SETUP {
        client.query(sql).expect("the tables are made");
    }
    let mut ask = |sql: &str| -> Vec<Vec<String>> {
        match client.query(sql).expect(sql) {
            Answer::Done(_) => Vec::new(),
            Answer::Rows { rows, .. } => {
                let cell = |cell: &Option<Vec<u8>>| {
                    let bytes = cell.as_deref().unwrap_or(b"NULL");
                    String::from_utf8_lossy(bytes).into_owned()
                };
                rows.iter()
                    .map(|row| row.iter().map(cell).collect())
                    .collect()
            }
        }
    };
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        out.push_str(line);
        out.push('\n');
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (is_tree, sql) = questions(line);
        let rows = ask(&sql);
        let expected = if is_tree {
            words(&rows[0][0])
        } else {
            let notes = ask("SHOW WARNINGS");
            let notes = notes.iter().filter(|note| note[1] == "1003");
            notes.map(|note| format!("{}\n", note[2])).collect()
        };
        for line in expected.lines() {
            out.push_str(&format!("    {line}\n"));
        }
    }
    ask("DROP DATABASE explain_words");
    std::fs::write(path(), out).expect("writable");
}
