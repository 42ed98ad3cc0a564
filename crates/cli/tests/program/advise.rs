//! `mayfly advise` as a program: its input, its output, and its exit codes.

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
        text(&output.stderr).contains("nothing ran in the time"),
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

#[test]
fn a_period_ends_where_it_is_said_to() {
    let log = std::fs::read(folder().join("logs/mysql-extra.log")).expect("it is there");
    let runs = |arguments: &[&str]| {
        let output = advise(
            &[&["-", "--format", "json"], arguments].concat(),
            Some(&log),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        (
            report["totals"]["runs"].as_u64(),
            report["totals"]["first"].as_i64(),
            report["totals"]["last"].as_i64(),
        )
    };
    let (all, first, last) = runs(&[]);
    let second = |time: Option<i64>| (time.expect("it is known") / 1_000_000).to_string();
    assert!(all > Some(10));
    assert_eq!(runs(&["--until", "2000-01-01"]).0, Some(0));
    assert_eq!(
        runs(&["--since", "2000-01-01", "--until", "2100-01-01"]).0,
        all
    );
    assert!(second(first) <= second(last));
    let output = advise(&["-", "--until", "tomorrow"], Some(&log));
    assert!(text(&output.stderr).contains("--until tomorrow: write"));
}

#[test]
fn two_logs_are_compared() {
    let earlier = ["--compare", "logs/mariadb-query-plan.log", "--limit", "5"];
    let output = advise(&[&LOG[..], &earlier].concat(), None);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        report.contains("Compared with logs/mariadb-query-plan.log:"),
        "{report}"
    );
    let output = advise(&[&LOG[..], &earlier, &["--format", "json"]].concat(), None);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let comparison = &report["comparison"];
    assert_eq!(comparison["statements"].as_array().map(Vec::len), Some(5));
    assert!(comparison["statements_left_out"].as_u64() > Some(50));
    // Each log has one run of the same statements, and of their setup.
    assert_eq!(
        (&comparison["before"]["runs"], &comparison["after"]["runs"]),
        (&80.into(), &82.into())
    );
}

#[test]
fn whose_statements_they_were_and_how_long_they_took() {
    let output = advise(&[&LOG[..], &["--format", "json"]].concat(), None);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["groups"]["users"][0]["name"], "root");
    assert_eq!(report["groups"]["hosts"][0]["name"], "localhost");
    assert_eq!(report["groups"]["schemas"][0]["name"], "shop");
    let percentiles = &report["totals"]["percentiles"];
    let [median, p95, p99] = ["median", "p95", "p99"].map(|name| percentiles[name].as_f64());
    assert!(
        median > Some(0.0) && median < p95 && p95 <= p99,
        "{percentiles}"
    );
}

/// What a log has beside statements, and statements that are none, are counted.
#[test]
fn what_could_not_be_read_is_told() {
    let entry = |statement: &str| {
        format!(
            "# User@Host: app[app] @ web1 []  Id: 12\n# Query_time: 0.25  Lock_time: 0 Rows_sent: 3  Rows_examined: 40\n{statement};\n"
        )
    };
    let log = [
        entry("SELECT 1"),
        "stray\n".to_owned(),
        entry("SELEC 2"),
        entry("SELEC 3"),
    ]
    .concat();
    let output = advise(&["-"], Some(log.as_bytes()));
    let report = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        report.contains("2 runs of 1 statement could not be read"),
        "{report}"
    );
    assert!(
        report.contains("-: left out: 0 entries without a statement, 1 line of no statement"),
        "{report}"
    );
    let output = advise(&["-", "--format", "json"], Some(log.as_bytes()));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["totals"]["unread_runs"], 2);
    assert_eq!(report["totals"]["unread_digests"], 1);
}
