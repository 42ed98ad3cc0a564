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
