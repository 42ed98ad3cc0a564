//! `mayfly advise` as a program: what it reads, what it writes, and how it ends.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/advise")
}

fn advise(arguments: &[&str], input: Option<&[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.arg("advise").args(arguments).current_dir(folder());
    command
        .env_remove("MYSQL_PWD")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // A program that ends early does not read it.
    let _ = stdin.write_all(input.unwrap_or_default());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const LOG: [&str; 5] = [
    "logs/mariadb-full.log",
    "--schema",
    "schema.sql",
    "--schema-database",
    "shop",
];

#[test]
fn text_names_cause_and_change() {
    let output = advise(&LOG, None);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        report.contains("MariaDB 10.11.19; 7 tables and 2 views of the schema are known"),
        "{report}"
    );
    assert!(report.contains("(long_string)"), "{report}");
    assert!(
        report.contains("ALTER TABLE `shop`.`purchase` MODIFY `note` varchar(512) DEFAULT NULL;"),
        "{report}"
    );
    assert!(report.contains("SET GLOBAL tmp_table_size = "), "{report}");
}

#[test]
fn json_and_html_go_to_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    for (format, beginning) in [("json", "{"), ("html", "<!doctype html>")] {
        let file = directory.path().join(format);
        let name = file.display().to_string();
        let output = advise(
            &[
                &LOG[..],
                &["--format", format, "--output", &name, "--limit", "3"],
            ]
            .concat(),
            None,
        );
        assert!(
            output.status.success() && output.stdout.is_empty(),
            "{}",
            text(&output.stderr)
        );
        let report = std::fs::read_to_string(&file).expect("it is there");
        assert!(report.starts_with(beginning), "{report}");
        if format == "json" {
            let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
            assert_eq!(report["statements"].as_array().map(Vec::len), Some(3));
            assert!(report["statements_left_out"].as_u64() > Some(10));
        }
    }
}

#[test]
fn standard_input_and_a_time() {
    let log = std::fs::read(folder().join("logs/mysql-extra.log")).expect("it is there");
    let output = advise(&["-"], Some(&log));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("MySQL 9.7.4"));
    let output = advise(&["-", "--since", "2100-01-01"], Some(&log));
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("nothing ran since"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for (arguments, message) in [
        (vec![], "nothing to read"),
        (vec!["logs/no-such.log"], "logs/no-such.log: "),
        (vec!["schema.sql"], "schema.sql: no slow log"),
        (
            vec!["logs/mysql-extra.log", "--since", "yesterday"],
            "--since yesterday: write",
        ),
        (
            vec!["--connect", "mysql://ann:secret@db"],
            "a password on the command line",
        ),
        (
            vec!["--socket", "/nonexistent/socket", "--user", "ann"],
            "the server at /nonexistent/socket: ",
        ),
    ] {
        let output = advise(&arguments, None);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = text(&output.stderr);
        assert!(
            error.starts_with("mayfly: ") && error.contains(message),
            "{arguments:?}: {error}"
        );
        assert!(output.stdout.is_empty());
    }
}
