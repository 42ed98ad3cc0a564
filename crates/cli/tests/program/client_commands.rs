//! Commands of the client in scripts, pipes and `-e`, and their output besides results.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn mayfly(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.current_dir(directory);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a script through a pipe.
fn piped(directory: &Path, options: &[&str], script: &str) -> Output {
    let mut command = mayfly(directory);
    command.args(options).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(script.as_bytes()).unwrap();
    drop(input);
    running.wait_with_output().unwrap()
}

#[test]
fn use_and_source_and_exit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(
        path.join("inner file.sql"),
        "SELECT DATABASE() d;\nuse `b``c`\n",
    )
    .unwrap();
    let script = "CREATE DATABASE a;\nCREATE DATABASE `b``c`;\nuse a\nsource inner file.sql\n\
                  SELECT DATABASE() e;\nexit\nSELECT 'never';\n";
    let expected = "d\na\ne\nb`c\n";
    let output = piped(path, &[], script);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        (expected.to_owned(), String::new())
    );
    std::fs::write(path.join("outer.sql"), script).unwrap();
    let output = mayfly(path).arg("outer.sql").output().unwrap();
    assert_eq!(text(&output.stdout), expected);
    let output = mayfly(path)
        .args(["-e", "\\. outer.sql", "-e", "SELECT 'never'"])
        .output();
    assert_eq!(text(&output.unwrap().stdout), expected);
}

#[test]
fn a_file_that_names_itself_or_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("loop.sql"), "SELECT 1;\nsource loop.sql\n").unwrap();
    let output = mayfly(path).arg("loop.sql").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("at most 32 files"),
        "{output:?}"
    );
    let output = piped(path, &[], "source nosuch.sql\nSELECT 'never';\n");
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(1), "")
    );
    assert!(text(&output.stderr).contains("nosuch.sql: "), "{output:?}");
    let output = piped(path, &["--force"], "source nosuch.sql\nSELECT 'on';\n");
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(1), "on\non\n")
    );
    let output = piped(path, &[], "SELECT 1;\nuse nosuch\n");
    assert!(
        text(&output.stderr).contains("ERROR 1049 (42000) at line 2: Unknown database 'nosuch'"),
        "{output:?}"
    );
}

#[test]
fn a_line_for_each_column() {
    let directory = tempfile::tempdir().unwrap();
    let stars = "*".repeat(27);
    let expected = format!("{stars} 1. row {stars}\na: 1\nb\n2\n");
    let script = "SELECT 1 a\\G\nSELECT 2 b\\g";
    let output = mayfly(directory.path())
        .args(["-e", script])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(text(&piped(directory.path(), &[], script).stdout), expected);
    // Programs get the requested format.
    let output = piped(directory.path(), &["--format", "csv"], "SELECT 1 a\\G");
    assert_eq!(text(&output.stdout), "a\n1\n");
}

#[test]
fn warnings_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let script = "SET sql_mode = '';\nCREATE TABLE t (a TINYINT);\nDROP TABLE IF EXISTS nosuch;\n\
                  INSERT INTO t VALUES (1000), (1);\nSHOW WARNINGS;\nSELECT 'x' + 1 s;\n";
    let output = piped(directory.path(), &[], script);
    assert!(output.status.success());
    let warning = "Out of range value for column 'a' at row 1";
    assert_eq!(
        text(&output.stdout),
        format!("Level\tCode\tMessage\nWarning\t1264\t{warning}\ns\n1\n")
    );
    assert_eq!(
        text(&output.stderr),
        format!(
            "WARNING 1264 (22003) at line 4: {warning}\n\
             WARNING 1292 (22007) at line 6: Truncated incorrect DOUBLE value: 'x'\n"
        )
    );
}

#[test]
fn what_is_left_out_is_summed_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let script = "CREATE TABLE t (a INT);\n\
                  DELIMITER ;;\n\
                  /*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER one BEFORE INSERT ON t FOR EACH ROW SET @a = 1 */;;\n\
                  CREATE TRIGGER two BEFORE INSERT ON t FOR EACH ROW SET @a = 1;;\n\
                  DELIMITER ;\n\
                  CREATE TABLE s (p POINT, SPATIAL KEY (p));\n\
                  INSERT INTO s VALUES (1);\n\
                  INSERT INTO t VALUES (1);\nSELECT COUNT(*) c FROM t;\n";
    std::fs::write(path.join("dump.sql"), script).unwrap();
    let output = mayfly(path).args(["--force", "dump.sql"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "c\n1\n");
    let last = "mayfly: dump.sql: left out: 1 table, 2 triggers, 1 statement INSERT";
    assert_eq!(
        text(&output.stderr).lines().last(),
        Some(last),
        "{output:?}"
    );
    assert_eq!(text(&output.stderr).matches("ERROR ").count(), 4);
    let output = mayfly(path).arg("dump.sql").output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(1), "")
    );
    let stopped = text(&output.stderr);
    let hint = "  --force goes on without what is not there yet";
    assert_eq!(stopped.lines().last(), Some(hint), "{output:?}");
}

#[test]
fn a_command_that_is_nearly_right_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let output = mayfly(directory.path())
        .args(["advice", "slow.log"])
        .output()
        .unwrap();
    let expected = "mayfly: advice: no such file; did you mean the command `mayfly advise`?\n";
    assert_eq!(
        (output.status.code(), text(&output.stderr).as_str()),
        (Some(1), expected)
    );
}
