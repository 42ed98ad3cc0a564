//! `mayfly what-if` runs queries, and changes nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::process::{Command, Output};

fn mayfly(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command.args(arguments).output().unwrap()
}

#[test]
fn a_statement_that_changes_rows_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let made = mayfly(&[
        "--datadir",
        data,
        "-e",
        "CREATE TABLE t (i INT); INSERT INTO t VALUES (1), (2)",
    ]);
    assert!(made.status.success(), "{made:?}");
    for statement in [
        "delete from t",
        "INSERT INTO t VALUES (3)",
        "SELECT 1; DROP TABLE t",
        "CREATE TABLE u SELECT * FROM t",
        "SET @x = 1",
    ] {
        let tried = mayfly(&["what-if", "--datadir", data, "-q", statement]);
        assert!(!tried.status.success(), "{statement}");
        let said = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert!(said.contains("only a query can be tried"), "{said}");
    }
    let wrong = mayfly(&["what-if", "--datadir", data, "-q", "SELEC 1"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("1064"));
    let left = mayfly(&["--datadir", data, "-N", "-e", "SELECT COUNT(*) FROM t"]);
    assert_eq!(left.stdout, b"2\n");
}

#[test]
fn rows_that_change_from_run_to_run_are_no_comparison() {
    for statement in ["SELECT NOW(6)", "SELECT UUID()"] {
        let tried = mayfly(&["what-if", "-q", statement]);
        assert!(!tried.status.success(), "{statement}");
        let said = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert!(
            said.contains("two runs of the statement gave other rows"),
            "{said}"
        );
        assert!(tried.stdout.is_empty(), "{tried:?}");
    }
}

/// MEMORY holds no TEXT: what the case is called says where its table was.
#[test]
fn a_table_on_disk_is_not_said_to_be_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("t.sql");
    std::fs::write(
        &script,
        "CREATE TABLE t (a TEXT, b INT); INSERT INTO t VALUES ('x', 1), ('y', 2);",
    )
    .unwrap();
    let script = script.to_str().unwrap();
    let output = |statement: &str| {
        let tried = mayfly(&["what-if", "--runs", "1", "-q", statement, script]);
        assert!(tried.status.success(), "{tried:?}");
        String::from_utf8_lossy(&tried.stdout).into_owned()
    };
    let said = output("SELECT a, COUNT(*) FROM t GROUP BY a");
    assert!(said.contains("MEMORY, no limit: MyISAM on disk"), "{said}");
    let here = said
        .split("Internal temporary tables of other servers")
        .next();
    assert!(
        !here.unwrap_or_default().contains("MEMORY, in memory"),
        "{said}"
    );
    assert!(
        said.contains("The statement gave the same rows in every case."),
        "{said}"
    );
    assert!(output("SELECT b, COUNT(*) FROM t GROUP BY b").contains("MEMORY, in memory"));
}
