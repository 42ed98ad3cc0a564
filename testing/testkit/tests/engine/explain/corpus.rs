//! Every query and change of a fifth of the golden files, selected by seed, is explained in every format: none ends in
//! an internal error, and JSON output is valid JSON.

use mayfly_engine::{FileAccess, Session};
use mayfly_testkit::corpus;
use mayfly_testkit::fixture::Fixture;
use mayfly_trials::Draw;
use serde_json::Value as Json;

/// Prefix of a statement, and the version of FORMAT=JSON.
const FORMATS: &[(&str, u8)] = &[
    ("EXPLAIN FORMAT=TRADITIONAL", 1),
    ("EXPLAIN FORMAT=TREE", 1),
    ("EXPLAIN FORMAT=JSON", 1),
    ("EXPLAIN FORMAT=JSON", 2),
];

/// The statements of a golden file.
fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("statement ") || line.starts_with("query ") {
            let sql = lines
                .by_ref()
                .take_while(|line| !line.is_empty() && *line != "----");
            statements.push(sql.collect::<Vec<_>>().join("\n"));
        }
    }
    statements
}

fn is_explainable(sql: &str) -> bool {
    let first = sql.trim_start_matches('(').split_whitespace().next();
    let first = first.unwrap_or("").to_ascii_uppercase();
    let words = [
        "SELECT", "WITH", "TABLE", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE",
    ];
    words.contains(&first.as_str())
}

/// The one text that a statement returns; `None` after an error, which must not be an internal one.
fn text(session: &mut Session, sql: &str) -> Option<String> {
    match crate::explain::text(session, sql) {
        Ok(text) => text,
        Err(error) => {
            // 1105 is MySQL's number for a wrong XPath, too.
            assert!(
                !error.message().starts_with("internal error"),
                "{error}\n{sql}"
            );
            None
        }
    }
}

fn explain(session: &mut Session, sql: &str) -> usize {
    let mut explained = 0;
    for (prefix, version) in FORMATS {
        // With end markers a document is not valid JSON.
        let set = format!(
            "SET SESSION explain_json_format_version = {version}, SESSION end_markers_in_json = 0"
        );
        session.execute(&set).expect("a variable is set");
        let Some(text) = text(session, &format!("{prefix} {sql}")) else {
            continue;
        };
        explained += 1;
        if !prefix.ends_with("JSON") {
            continue;
        }
        let document: Json = match serde_json::from_str(&text) {
            Ok(document) => document,
            // The parser's own limit, not one of JSON's grammar.
            Err(error) if error.to_string().starts_with("recursion limit") => continue,
            Err(error) => panic!("{error}\n{sql}\n{text}"),
        };
        let member = if *version == 1 {
            "query_block"
        } else {
            "query_plan"
        };
        assert!(document[member].is_object(), "{sql}\n{text}");
    }
    explained
}

#[test]
fn every_statement_of_the_corpus_is_explained_in_every_format() {
    let mut explained = 0;
    let draw = Draw::of("explain");
    for (number, path) in (0..).zip(corpus::files("slt", "slt")) {
        // Large tables take long to fill.
        if !draw.has(number) || path.to_string_lossy().contains("spill") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a golden file is readable");
        let fixture = Fixture::open(|options| {
            options.file_access = FileAccess::Disabled;
            options.local_infile = false;
        });
        let mut session = fixture.session();
        for sql in statements(&text) {
            if is_explainable(&sql) {
                explained += explain(&mut session, &sql);
            }
            // Objects that it creates are used by the explained statements behind it.
            let _ = session.execute(&sql);
        }
        let _ = session.execute("SET GLOBAL read_only = DEFAULT, GLOBAL super_read_only = DEFAULT");
    }
    assert!(explained > 3000, "{explained}");
}
