//! Dumps made by mysqldump and mariadb-dump, loaded by the program, which must then give the answers of the servers.
//! `tests/dumps/make` makes them again.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn dumps() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dumps")
}

fn mayfly(datadir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.arg("--datadir").arg(datadir);
    command.args(["-N", "--format", "tsv"]);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn assert_success(output: &Output, what: &str) {
    assert!(output.status.success(), "{what}: {}", text(&output.stderr));
    // Warnings about parts of dumps that Mayfly ignores: variables, partitions, values for generated columns, and bits
    // in a dump of another character set.
    const TOLD: [&str; 5] = [
        "WARNING 1235 ",
        "WARNING 1618 ",
        "WARNING 1906 ",
        "WARNING 1264 ",
        "  and ",
    ];
    let shown = text(&output.stderr);
    let is_told = |line: &&str| TOLD.iter().any(|told| line.starts_with(told));
    let others = shown.lines().filter(|line| !is_told(line));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new(), "{what}");
}

/// The questions that name none of `absent`, and their answers.
fn questions(server: &str, absent: &[&str]) -> (String, String) {
    let expected = std::fs::read_to_string(dumps().join(format!("{server}.expected"))).unwrap();
    let mut queries = "SET time_zone = '+00:00';\nUSE dump_world;\n".to_owned();
    let mut answers = String::new();
    for block in expected.split("# SELECT ").skip(1) {
        let (query, answer) = block.split_once('\n').unwrap();
        if !absent.iter().any(|name| query.contains(name)) {
            queries.push_str(&format!("SELECT {query}\n"));
            answers.push_str(answer);
        }
    }
    (queries, answers)
}

fn loads(server: &str, options: &str, absent: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let dump = dumps().join(format!("{server}.{options}.sql"));
    let (queries, answers) = questions(server, absent);
    let script = directory.path().join("queries.sql");
    std::fs::write(&script, queries).unwrap();
    // In one process, because tables of MEMORY end with it.
    let loaded = mayfly(&directory.path().join("data"))
        .args([&dump, &script])
        .output()
        .unwrap();
    assert_success(&loaded, &dump.display().to_string());
    let got = text(&loaded.stdout);
    for (got, expected) in got.lines().zip(answers.lines()) {
        assert_eq!(got, expected, "{}", dump.display());
    }
    assert_eq!(got.lines().count(), answers.lines().count());
}

#[test]
fn mysqldump() {
    for options in ["default", "plain", "hex", "replace", "ignore", "gtid"] {
        loads("mysql", options, &[]);
    }
}

#[test]
fn mariadb_dump() {
    for options in ["default", "plain", "hex", "replace", "ignore"] {
        loads("mariadb", options, &[]);
    }
}

#[test]
fn a_dump_in_another_character_set() {
    let absent = ["texts", "a_view", "weird table", "documents"];
    loads("mariadb", "latin1", &absent);
}

#[test]
fn through_a_pipe_and_twice() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let dump = File::open(dumps().join("mysql.default.sql")).unwrap();
        let loaded = mayfly(directory.path()).stdin(dump).output().unwrap();
        assert_success(&loaded, "standard input");
    }
    let count = mayfly(directory.path())
        .args(["-e", "SELECT COUNT(*) FROM dump_world.numbers"])
        .output()
        .unwrap();
    assert_eq!(text(&count.stdout), "4\n");
}

#[test]
fn a_statement_that_fails_is_named_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("wrong.sql");
    let rows = "(1),".repeat(100);
    let wrong = format!(
        "-- a comment\nCREATE TABLE t (a INT);\n\nINSERT INTO\n  nosuch VALUES {rows}(1);\n\
         INSERT INTO t VALUES (7);\n"
    );
    std::fs::write(&script, wrong).unwrap();
    let run = |options: &[&str]| {
        let mut command = mayfly(&directory.path().join("data"));
        let file = File::open(&script).unwrap();
        command.args(options).stdin(Stdio::from(file));
        command.output().unwrap()
    };
    let stopped = run(&[]);
    assert_eq!(stopped.status.code(), Some(1));
    let message = text(&stopped.stderr);
    let expected = "ERROR 1146 (42S02) at line 4: Table 'test.nosuch' doesn't exist\n  in: INSERT INTO nosuch VALUES (1),(1)";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.ends_with("…\n") && message.len() < 400, "{message}");
    // CREATE TABLE fails now too; the statements after both still run.
    let forced = run(&["--force"]);
    assert_eq!(forced.status.code(), Some(1));
    assert_eq!(text(&forced.stderr).matches("ERROR").count(), 2);
    let rows = mayfly(&directory.path().join("data"))
        .args(["-e", "SELECT * FROM t"])
        .output()
        .unwrap();
    assert_eq!(text(&rows.stdout), "7\n");
}
