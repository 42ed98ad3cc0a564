//! A temporary table that fits into memory opens, writes and syncs no file: from CREATE to DROP the process makes no
//! system call on a file. `strace -f` counts them, around this test in a separate process.
//!
//! Where `strace` is missing or may not trace, the test fails, unless `MAYFLY_WITHOUT_STRACE` is set; `./test` installs
//! it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::SessionExt;

/// Files that do not exist: lookups of them mark positions in the trace.
const BEGIN: &str = "/mayfly-trace-begins";
const END: &str = "/mayfly-trace-ends";

/// Says that the machine has no usable `strace`.
const WITHOUT_STRACE: &str = "MAYFLY_WITHOUT_STRACE";

const STATEMENTS: &[&str] = &[
    "CREATE TEMPORARY TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT, name VARCHAR(100), \
     body TEXT, made TIMESTAMP DEFAULT CURRENT_TIMESTAMP, twice INT AS (n * 2), UNIQUE KEY (n))",
    "CREATE INDEX by_name ON t (name)",
    "INSERT INTO t (n, name, body) WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r \
     WHERE i < 900) SELECT i, CONCAT('name ', i % 50), REPEAT('long text ', i % 30) FROM r",
    "INSERT INTO t (n, name) VALUES (1001, 'one'), (1002, 'two')",
    "INSERT INTO t (n, name) VALUES (1001, 'again') ON DUPLICATE KEY UPDATE name = 'once more'",
    "REPLACE INTO t (n, name) VALUES (1002, 'replaced')",
    "UPDATE t SET name = CONCAT(name, '!'), body = UPPER(body) WHERE n % 3 = 0",
    "UPDATE t SET n = n + 5000 WHERE id = 17",
    "DELETE FROM t WHERE n % 7 = 0",
    "SELECT * FROM t WHERE id = 5",
    "SELECT name, COUNT(*), MAX(body) FROM t GROUP BY name ORDER BY 2 DESC, 1",
    "SELECT COUNT(DISTINCT a.name) FROM t a JOIN t b ON a.n = b.n + 1 WHERE b.name > 'name 2'",
    "BEGIN",
    "DELETE FROM t WHERE id < 100",
    "SAVEPOINT s",
    "UPDATE t SET body = 'gone'",
    "ROLLBACK TO s",
    "ROLLBACK",
    "ALTER TABLE t ADD COLUMN more INT DEFAULT 7, ADD KEY (made)",
    "CREATE TEMPORARY TABLE u ENGINE=MEMORY SELECT id, n, name FROM t",
    "DELETE FROM u WHERE n > 100",
    "TRUNCATE TABLE t",
    "DROP TEMPORARY TABLE u",
    "DROP TEMPORARY TABLE t",
];

/// Work under `strace`: everything runs once before the marks, so that one-time work of the process (its allocator's
/// arenas, time zones) is done.
#[test]
#[ignore = "runs under strace, started by the test below"]
fn traced() {
    let Some(directory) = std::env::var_os("MAYFLY_TRACED") else {
        return;
    };
    let directory = PathBuf::from(directory);
    for datadir in [None, Some(directory.join("data"))] {
        let mut options = DatabaseOptions::new();
        options.threads = 1;
        options.tmpdir.clone_from(&directory);
        options.datadir = datadir;
        let database = Database::open(options).unwrap();
        let mut session = database.session();
        let mut run = || {
            STATEMENTS
                .iter()
                .for_each(|statement| drop(session.must(statement)))
        };
        run();
        let _ = Path::new(BEGIN).exists();
        run();
        let _ = Path::new(END).exists();
    }
}

/// The calls on files, without those on the kernel's own files, which an allocator reads once, and without later calls
/// on their descriptors.
fn calls_on_files(calls: &[&str]) -> Vec<String> {
    let mut kernels: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for call in calls {
        let is_kernels = call.contains("\"/proc/") || call.contains("\"/sys/");
        let opened = call.rsplit_once(" = ").map(|(_, number)| number.trim());
        if is_kernels {
            kernels.extend(opened.filter(|number| number.parse::<u32>().is_ok()));
            continue;
        }
        // The thread id precedes the call.
        let name = call
            .split_once(' ')
            .map_or(*call, |(_, name)| name.trim_start());
        let uses = |descriptor: &&&str| {
            let (read, close) = (
                format!("read({descriptor},"),
                format!("close({descriptor})"),
            );
            name.starts_with(&read) || name.starts_with(&close)
        };
        if let Some(descriptor) = kernels.iter().find(uses).copied() {
            if name.starts_with("close(") {
                kernels.retain(|kernels| *kernels != descriptor);
            }
        } else if !call.contains("MAP_ANONYMOUS") {
            found.push((*call).to_owned());
        }
    }
    found
}

#[test]
fn a_temporary_table_that_fits_touches_no_file() {
    if std::env::var_os(WITHOUT_STRACE).is_some() {
        eprintln!("SKIPPED, as {WITHOUT_STRACE} says");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=%file,%desc", "-o"])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "system_calls::traced",
            "--test-threads=1",
        ])
        .env("MAYFLY_TRACED", directory.path())
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!("strace: {error}; install it, or set {WITHOUT_STRACE} to skip this test")
    });
    let trace = std::fs::read_to_string(&trace).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        trace.contains(BEGIN),
        "strace may not trace here, which {WITHOUT_STRACE} accepts: {said}"
    );
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{answer}\n{said}");
    let mut parts = 0;
    let mut rest = trace.as_str();
    while let Some((_, after)) = rest.split_once(BEGIN) {
        let (part, after) = after.split_once(END).unwrap();
        // The first and the last call are the marks.
        let mut calls: Vec<&str> = part.lines().skip(1).collect();
        calls.pop();
        let calls = calls_on_files(&calls);
        assert!(calls.is_empty(), "{}", calls.join("\n"));
        rest = after;
        parts += 1;
    }
    assert_eq!(parts, 2, "{trace}");
}
