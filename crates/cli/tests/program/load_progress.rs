//! The progress of a slow script: a bar on the terminal, which does not affect the results and is removed; and the line
//! of a failed statement. `script` provides the terminal.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const MAYFLY: &str = env!("CARGO_BIN_EXE_mayfly");

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a shell command on a terminal, and returns everything that the terminal received.
fn on_terminal(command: &str) -> Output {
    let mut script = Command::new("script");
    script.args(["-qec", command, "/dev/null"]);
    script.env("TERM", "xterm");
    script.stdin(Stdio::null()).output().unwrap()
}

/// Writes a script that runs long enough for a bar; returns its length in bytes.
fn slow_script(path: &Path) -> usize {
    let mut sql = "CREATE TABLE t (a INT);\n".to_owned();
    for number in 0..12 {
        let _ = write!(
            sql,
            "INSERT INTO t VALUES ({number});\nSELECT {number}, SLEEP(0.1);\n"
        );
    }
    sql.push_str("SELECT 'done', COUNT(*) FROM t;\n");
    fs::write(path, &sql).unwrap();
    sql.len()
}

#[test]
fn a_bar_shows_bytes_and_goes_away() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let length = slow_script(&directory.path().join("dump.sql"));
    let (data, dump, results) = (path("data"), path("dump.sql"), path("results"));
    let shown = on_terminal(&format!(
        "{MAYFLY} --datadir {data} -N < {dump} > {results}"
    ));
    let terminal = text(&shown.stdout);
    assert!(shown.status.success(), "{terminal}");
    let total = format!("/{length} B, ");
    assert!(terminal.contains(&total), "{total} in {terminal:?}");
    assert!(terminal.contains("/s, "), "{terminal:?}");
    assert!(terminal.contains(" left"), "{terminal:?}");
    // The line is erased at the end.
    let last = terminal.rsplit('\r').next().unwrap();
    assert_eq!(last.replace("\x1b[2K", "").trim(), "", "{terminal:?}");
    // The results are in their file, as without a terminal.
    let expected: String = (0..12).map(|number| format!("{number}\t0\n")).collect();
    let got = fs::read_to_string(results).unwrap();
    assert_eq!(got, expected + "done\t12\n");
}

/// A file that becomes a table has a bar of its rows.
#[test]
fn a_file_that_becomes_a_table_has_a_bar() {
    const ROWS: usize = 1_000_000;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    // The conversion of dates takes long enough.
    let moment = ",31/12/2023 10:00:00".repeat(4);
    let mut rows = "id,a,b,c,d\n".to_owned();
    for number in 0..ROWS {
        let _ = writeln!(rows, "{number}{moment}");
    }
    fs::write(path("big.csv"), rows).unwrap();
    let command = format!(
        "{MAYFLY} {} -N -e 'SELECT COUNT(*) FROM big' > {}",
        path("big.csv"),
        path("results")
    );
    let shown = on_terminal(&command);
    let terminal = text(&shown.stdout);
    assert!(shown.status.success(), "{terminal}");
    assert!(
        terminal.contains("big.csv ") && terminal.contains(" rows read"),
        "{terminal:?}"
    );
    assert_eq!(
        fs::read_to_string(path("results")).unwrap(),
        format!("{ROWS}\n")
    );
}

#[test]
fn a_script_that_is_short_shows_nothing_on_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("short.sql"), "CREATE TABLE t (a INT);\n").unwrap();
    let command = format!(
        "{MAYFLY} --datadir {} < {} > {}",
        path("data"),
        path("short.sql"),
        path("results")
    );
    let shown = on_terminal(&command);
    assert!(shown.status.success());
    assert_eq!(text(&shown.stdout), "");
    assert_eq!(fs::read_to_string(path("results")).unwrap(), "");
}

#[test]
fn without_a_terminal_there_is_no_bar() {
    let directory = tempfile::tempdir().unwrap();
    let dump = directory.path().join("dump.sql");
    slow_script(&dump);
    let mut command = Command::new(MAYFLY);
    command.arg("--datadir").arg(directory.path().join("data"));
    let run = command.stdin(File::open(dump).unwrap()).output().unwrap();
    assert!(run.status.success());
    assert_eq!(text(&run.stderr), "");
}

/// The error of a script whose bar is on the terminal stands on lines of its own.
#[test]
fn an_error_stands_beside_no_bar() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let sql = "SELECT SLEEP(0.8);\nDO 1;\nSELECT SLEEP(0.3);\n\nINSERT INTO\n nosuch VALUES (1);\n";
    fs::write(path("wrong.sql"), sql).unwrap();
    let command = format!(
        "{MAYFLY} --datadir {} < {} > {}",
        path("data"),
        path("wrong.sql"),
        path("results")
    );
    let shown = on_terminal(&command);
    assert_eq!(shown.status.code(), Some(1));
    let terminal = text(&shown.stdout);
    assert!(terminal.contains(" B, "), "{terminal:?}");
    let error = "ERROR 1146 (42S02) at line 5: Table 'test.nosuch' doesn't exist\r\n  in: INSERT INTO nosuch VALUES (1)\r\n";
    let (before, behind) = terminal.split_once(error).unwrap();
    let line = before.rsplit(['\r', '\n']).next().unwrap();
    assert_eq!(line.replace("\x1b[2K", ""), "", "{terminal:?}");
    let last = behind.rsplit('\r').next().unwrap();
    assert_eq!(last.replace("\x1b[2K", "").trim(), "", "{terminal:?}");
}

#[test]
fn the_line_of_a_statement_that_fails() {
    let directory = tempfile::tempdir().unwrap();
    // Each script, the line at which its second statement fails, and how it begins there.
    for (script, line, begins) in [
        (
            "SELECT 1;\nSELECT\n  2,\n  nosuch;\n",
            2,
            "SELECT 2, nosuch",
        ),
        (
            "SELECT ';\n;';\n\n-- a; comment\n/* of\nlines; */ SELECT nosuch;",
            6,
            "SELECT nosuch",
        ),
        (
            "DELIMITER //\nSELECT 1;\nSELECT 2//\nSELECT 3\n//\nSELECT nosuch//\nDELIMITER ;\nSELECT 4;\n",
            6,
            "SELECT nosuch",
        ),
        (
            "DELIMITER $$\nSELECT 1 $$\n\nSELECT\n nosuch $$\nDELIMITER ;\n",
            4,
            "SELECT nosuch",
        ),
        (
            "/*!40101 SET @a = 1 */;\n/*!40101 SET\n  @b = 2 */;\n\n/*!50001 SELECT\n nosuch */;\n",
            5,
            "/*!50001 SELECT nosuch */",
        ),
        (
            "/*M!100100 SELECT nosuch */;\n/*!99999 SELECT nosuch */;\n/*!80000\nSELECT nosuch */;\n",
            3,
            "/*!80000 SELECT nosuch */",
        ),
        (
            "INSERT INTO nosuch VALUES\n(1),\n(2);\nSELECT 1;\n",
            1,
            "INSERT INTO nosuch VALUES (1), (2)",
        ),
        (
            "\r\nSELECT 1;\r\n\r\nSELECT nosuch;\r\n",
            4,
            "SELECT nosuch",
        ),
    ] {
        let path = directory.path().join("wrong.sql");
        fs::write(&path, script).unwrap();
        let mut command = Command::new(MAYFLY);
        command.stdin(File::open(&path).unwrap());
        let run = command.output().unwrap();
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{script:?}: {message}");
        assert!(
            message.starts_with("ERROR ") && message.contains(&format!(" at line {line}: ")),
            "{script:?}: {message}"
        );
        let shown = format!("\n  in: {begins}\n");
        assert!(message.ends_with(&shown), "{script:?}: {message}");
    }
}
