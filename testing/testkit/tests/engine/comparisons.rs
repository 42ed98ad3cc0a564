//! Every type compared with every other: as in MySQL, whose answers are in `comparisons.txt`, and with the same result
//! in every plan: an expression of each row, a hash join, a nested loop, an index, a semijoin, a list, constants and
//! parameters.
//!
//! `MAYFLY_MYSQL_SOCKET=… MAYFLY_COMPARISONS_COMPLETE=1` writes `comparisons.txt` again.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Write;

use mayfly_engine::Session;
use mayfly_testkit::client::{Answer, Client};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_testkit::groups::Groups;
use mayfly_testkit::server::{Flavour, socket};

/// Name and column type of each table, and values that are hostile to comparisons.
fn types() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let lists = Groups::read(include_str!("comparisons_types.txt"));
    let types = lists.iter().map(|(head, values)| {
        let (name, ty) = head.split_once(' ').expect("a name and a type");
        (name, ty, values.to_vec())
    });
    types.collect()
}

/// Comparisons of each pair of values.
const OPERATORS: &[(&str, &str)] = &[
    ("=", "a.v = b.v"),
    ("<", "a.v < b.v"),
    (">=", "a.v >= b.v"),
    ("<=>", "a.v <=> b.v"),
    ("IN", "a.v IN (b.v, b.v)"),
    ("BETWEEN", "a.v BETWEEN b.v AND b.v"),
    ("CASE", "CASE a.v WHEN b.v THEN 1 ELSE 0 END"),
    ("NULLIF", "NULLIF(a.v, b.v) IS NULL"),
];

/// Pairs that MySQL compares by special rules: the types on both sides, the operators, and the reason why they are left
/// out.
const DIFFERENT: &str = "\
tinyint_ bigint_ | ubigint_ | IN CASE | signed and unsigned numbers are compared by their bits
year_ | date_ datetime_ timestamp_ | < >= | a year is a date without month and day
date_ time_ datetime_ timestamp_ binary_ varbinary_ blob_ bit_ | json_ | = < >= <=> IN BETWEEN CASE NULLIF | a date or bytes in a document are no text
time_ | date_ datetime_ timestamp_ char_ bin_ varchar_ latin1_ binary_ varbinary_ text_ blob_ enum_ set_ | IN CASE | all operands are times where one is";

const EXPECTED: &str = include_str!("comparisons.txt");

fn is_different(left: &str, right: &str, operator: &str) -> bool {
    let has = |names: &str, name: &str| names.split(' ').any(|known| known == name);
    DIFFERENT.lines().any(|line| {
        let parts: Vec<&str> = line.split(" | ").collect();
        let (a, b, operators) = (parts[0], parts[1], parts[2]);
        has(operators, operator) && (has(a, left) && has(b, right) || has(a, right) && has(b, left))
    })
}

/// Statements that create each table, once without and once with an index on its values; documents have none.
fn tables() -> Vec<String> {
    let mut statements = vec![
        "SET sql_mode = 'NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'".to_owned(),
        "SET group_concat_max_len = 1000000".to_owned(),
    ];
    for (name, ty, values) in types() {
        let rows: Vec<String> = (1..)
            .zip(values)
            .map(|(id, value)| format!("({id}, {value})"))
            .collect();
        let key = match ty {
            "JSON" => None,
            "TEXT" | "BLOB" => Some(", KEY v (v(10))"),
            _ => Some(", KEY v (v)"),
        };
        for (suffix, key) in [("", Some("")), ("k", key)] {
            let Some(key) = key else { continue };
            statements.push(format!(
                "CREATE TABLE {name}{suffix} (id INT PRIMARY KEY, v {ty}{key})"
            ));
            statements.push(format!(
                "INSERT INTO {name}{suffix} VALUES {}, (99, NULL)",
                rows.join(", ")
            ));
        }
    }
    statements
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = || types().into_iter().map(|(name, ..)| name);
    names().flat_map(move |a| names().map(move |b| (a, b)))
}

/// The table with an index, and the hint to use it; a table of documents has none.
fn keyed(table: &str) -> (String, &'static str) {
    match table {
        "json_" => (table.to_owned(), ""),
        _ => (format!("{table}k"), "FORCE INDEX (v)"),
    }
}

/// The answers for all pairs of rows, NULL as N.
fn matrix(left: &str, right: &str, expression: &str) -> String {
    format!(
        "SELECT GROUP_CONCAT(IFNULL({expression}, 'N') ORDER BY a.id, b.id SEPARATOR '') FROM {left} a, {right} b"
    )
}

fn answer(session: &mut Session, sql: &str) -> String {
    match session.rows(sql) {
        Ok(rows) => rows.join(" "),
        Err(error) => format!("ERROR {}", error.errno()),
    }
}

#[test]
fn every_type_is_compared_with_every_other_as_mysql_does() {
    if std::env::var_os("MAYFLY_COMPARISONS_COMPLETE").is_some() {
        return complete();
    }
    over_tables(|session| {
        let expected: BTreeMap<&str, &str> = EXPECTED
            .lines()
            .filter_map(|line| line.split_once(": "))
            .collect();
        let mut wrong = Vec::new();
        for (left, right) in pairs() {
            for (operator, expression) in OPERATORS {
                if is_different(left, right, operator) {
                    continue;
                }
                let key = format!("{left} {operator} {right}");
                let found = answer(session, &matrix(left, right, expression));
                let wanted = expected.get(key.as_str()).copied().unwrap_or("missing");
                if found != wanted {
                    wrong.push(format!("{key}\n  MySQL  {wanted}\n  Mayfly {found}"));
                }
            }
        }
        wrong
    });
}

/// Writes MySQL's answers.
fn complete() {
    let socket = socket(Flavour::MySql).expect("MAYFLY_MYSQL_SOCKET names a server");
    let mut client = Client::connect(&socket, "root").unwrap();
    let mut ask = |sql: &str| match client.query(sql) {
        Ok(Answer::Rows { rows, .. }) => match rows.first().and_then(|row| row.first()) {
            Some(Some(value)) => String::from_utf8_lossy(value).into_owned(),
            _ => "NULL".to_owned(),
        },
        Ok(_) => String::new(),
        Err(error) => format!("ERROR {}", error.code),
    };
    for statement in [
        "SET NAMES utf8mb4",
        "CREATE DATABASE mayfly_comparisons",
        "USE mayfly_comparisons",
    ] {
        assert_eq!(ask(statement), "", "{statement}");
    }
    for statement in tables() {
        assert_eq!(ask(&statement), "", "{statement}");
    }
    let mut text = String::new();
    for (left, right) in pairs() {
        for (operator, expression) in OPERATORS {
            if !is_different(left, right, operator) {
                let answer = ask(&matrix(left, right, expression));
                writeln!(text, "{left} {operator} {right}: {answer}").unwrap();
            }
        }
    }
    ask("DROP DATABASE mayfly_comparisons");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/comparisons.txt");
    std::fs::write(path, text).unwrap();
}

/// Runs a test in a session over the tables; the test returns its failures.
fn over_tables(test: impl FnOnce(&mut Session) -> Vec<String>) {
    let (_fixture, mut session) = Fixture::with_session();
    for statement in tables() {
        session.rows(&statement).unwrap();
    }
    let wrong = test(&mut session);
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} differ:\n{}", wrong.join("\n"));
}

/// The answer of a statement that is prepared and executed twice; the differing answers otherwise.
fn prepared(session: &mut Session, sql: &str, using: &str) -> String {
    let prepare = format!(
        "PREPARE s FROM '{}'",
        sql.replace('\\', "\\\\").replace('\'', "\'\'")
    );
    if let Err(error) = session.rows(&prepare) {
        return format!("ERROR {}", error.errno());
    }
    let execute = format!("EXECUTE s{using}");
    let (first, second) = (answer(session, &execute), answer(session, &execute));
    if first == second {
        first
    } else {
        format!("{first}, then {second}")
    }
}

/// The queries and their answers, where these are not all equal. The last one also runs prepared.
fn disagreeing(session: &mut Session, queries: &[String]) -> Option<String> {
    let mut found: Vec<(&str, String)> = queries
        .iter()
        .map(|sql| (sql.as_str(), answer(session, sql)))
        .collect();
    if let Some(last) = queries.last() {
        found.push(("prepared", prepared(session, last, "")));
    }
    if found.iter().all(|(_, answer)| *answer == found[0].1) {
        return None;
    }
    let lines = found
        .iter()
        .map(|(sql, answer)| format!("  {answer}  {sql}\n"));
    Some(lines.collect())
}

#[test]
fn every_way_to_join_gives_the_same_pairs() {
    over_tables(|session| {
        let mut wrong = Vec::new();
        for (a, b) in pairs() {
            let ((ak, force_a), (bk, force_b)) = (keyed(a), keyed(b));
            let pairs = "SELECT GROUP_CONCAT(CONCAT(a.id, ':', b.id) ORDER BY a.id, b.id) FROM";
            let joins = [
                // A nested loop, a hash join, an expression of each row.
                format!("{pairs} {a} a JOIN {b} b ON NOT (NOT a.v = b.v)"),
                format!("{pairs} {a} a JOIN {b} b ON a.v = b.v"),
                format!("{pairs} {a} a, {b} b WHERE IF(a.v = b.v, 1, 0)"),
                format!("{pairs} {a} a JOIN {b} b ON a.v = b.v OR a.id + b.id < 0"),
                format!("{pairs} {a} a STRAIGHT_JOIN {bk} b {force_b} ON a.v = b.v"),
                format!("{pairs} {b} b STRAIGHT_JOIN {ak} a {force_a} ON a.v = b.v"),
                format!("{pairs} {a} a LEFT JOIN {b} b ON a.v = b.v WHERE b.id > 0"),
            ];
            wrong.extend(disagreeing(session, &joins));
            let some = format!("SELECT GROUP_CONCAT(a.id ORDER BY a.id) FROM {a} a WHERE");
            let semijoins = [
                format!("{some} EXISTS (SELECT 1 FROM {b} b WHERE NOT (NOT a.v = b.v))"),
                format!("{some} EXISTS (SELECT 1 FROM {b} b WHERE a.v = b.v)"),
                format!("{some} a.v IN (SELECT v FROM {b})"),
                format!("{some} a.v IN (SELECT v FROM {bk})"),
                format!("{some} a.v = ANY (SELECT v FROM {b})"),
            ];
            wrong.extend(disagreeing(session, &semijoins));
        }
        wrong
    });
}

#[test]
fn every_way_to_compare_with_a_constant_finds_the_same_rows() {
    over_tables(|session| {
        let mut wrong = Vec::new();
        let constants = Groups::read(include_str!("comparisons_constants.txt"));
        for (table, ..) in types() {
            let (keyed, force) = keyed(table);
            let found = "SELECT GROUP_CONCAT(id ORDER BY id) FROM";
            for constant in constants.items("constants") {
                for operator in ["=", "<", ">=", "<=>"] {
                    let condition = format!("v {operator} {constant}");
                    let queries = [
                        format!("{found} {table} WHERE {condition}"),
                        format!("{found} {table} WHERE IF({condition}, 1, 0)"),
                        format!("{found} {table} WHERE NOT (NOT ({condition}))"),
                        format!("{found} {keyed} {force} WHERE {condition}"),
                    ];
                    wrong.extend(disagreeing(session, &queries));
                }
                for condition in [
                    format!("v IN ({constant})"),
                    format!("v IN ({constant}, {constant})"),
                    format!("v BETWEEN {constant} AND {constant}"),
                ] {
                    let queries = [
                        format!("{found} {table} WHERE {condition}"),
                        format!("{found} {table} WHERE IF({condition}, 1, 0)"),
                        format!("{found} {keyed} {force} WHERE {condition}"),
                    ];
                    wrong.extend(disagreeing(session, &queries));
                }
            }
        }
        wrong
    });
}

/// Group keys are equal exactly when values are.
#[test]
fn values_are_grouped_by_what_is_equal() {
    over_tables(|session| {
        let mut wrong = Vec::new();
        for (table, ..) in types() {
            let least = format!(
                "SELECT GROUP_CONCAT((SELECT MIN(b.id) FROM {table} b WHERE NOT (NOT b.v <=> a.v)) ORDER BY a.id) FROM {table} a"
            );
            let groups = format!(
                "SELECT GROUP_CONCAT(g.least ORDER BY a.id) FROM {table} a JOIN \
                 (SELECT MIN(id) AS least, GROUP_CONCAT(id) AS ids FROM {table} GROUP BY v) g ON FIND_IN_SET(a.id, g.ids)"
            );
            wrong.extend(disagreeing(session, &[least, groups]));
            let count = format!("SELECT COUNT(DISTINCT v) + 1 FROM {table}");
            let groups = format!("SELECT COUNT(*) FROM (SELECT DISTINCT v FROM {table}) d");
            wrong.extend(disagreeing(session, &[count, groups]));
        }
        wrong
    });
}
