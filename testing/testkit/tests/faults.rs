//! The n-th call on temporary files fails, for every n: the statement ends with a clear error or
//! with the right rows, everything else lives on, and nothing is left behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_engine::Session;
use mayfly_memory::io::{Fault, FaultIo, IoBackend, IoFile, SystemIo};
use mayfly_testkit::fixture::{Fixture, must, rows};

/// About 200 KB, several times what one temporary table may hold here.
const N_ROWS: u32 = 3000;

/// Statements that overflow, one for each use of temporary tables.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "grouping",
        "SELECT COUNT(*), SUM(n), MIN(length(c)) FROM \
         (SELECT c, COUNT(*) AS n FROM t GROUP BY c) AS g",
    ),
    (
        "distinct",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT DISTINCT c, i FROM t) AS d",
    ),
    (
        "union",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT c FROM t UNION SELECT CONCAT(c, i) FROM t) AS u",
    ),
    (
        "sort",
        "SELECT i, c FROM t ORDER BY c DESC, i LIMIT 5 OFFSET 2500",
    ),
    (
        "join",
        "SELECT COUNT(*), BIT_XOR(CRC32(a.c)) FROM t AS a JOIN t AS b ON a.c = b.c",
    ),
    (
        "count distinct",
        "SELECT COUNT(DISTINCT c), COUNT(DISTINCT i) FROM t",
    ),
    (
        "common table expression",
        "WITH w AS (SELECT i, c FROM t) \
         SELECT COUNT(*), BIT_XOR(CRC32(CONCAT(x.c, y.c))) FROM w AS x JOIN w AS y ON x.i = y.i",
    ),
    (
        "recursion",
        "WITH RECURSIVE r (n, c) AS (SELECT 1, CAST(SHA1(1) AS CHAR(60)) UNION ALL \
         SELECT n + 1, CAST(SHA1(n + 1) AS CHAR(60)) FROM r WHERE n < 900) \
         SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM r",
    ),
];

/// How many of the possible calls fail in turn: enough to meet every kind of call early and late.
const N_FAULTS: u64 = 12;

fn open(io: Arc<dyn IoBackend>) -> Fixture {
    Fixture::open(|options| {
        options.temp_io = io;
        // One thread: the n-th call is the same call in every run.
        options.threads = 1;
    })
}

fn fill(session: &mut Session) {
    must(session, "SET SESSION cte_max_recursion_depth = 10000");
    must(session, "CREATE TABLE t (i INT UNSIGNED, c TEXT)");
    let insert = format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {N_ROWS}) \
         SELECT n, SHA1(n DIV 2) FROM r"
    );
    must(session, &insert);
    must(session, "SET SESSION tmp_table_size = 32768");
}

/// Calls made before and after the statement, and its rows, when nothing fails.
fn rehearse(sql: &str) -> (u64, u64, Vec<String>) {
    let io = Arc::new(FaultIo::new(Arc::new(SystemIo), Fault::DiskFull, 0));
    let fixture = open(io.clone());
    let mut session = fixture.database.session();
    fill(&mut session);
    let before = io.calls();
    let expected = must(&mut session, sql);
    let after = io.calls();
    must(&mut session, "DROP TABLE t");
    drop(session);
    fixture.finish();
    (before, after, expected)
}

fn run_with_fault(name: &str, sql: &str, fault: Fault, call: u64, expected: &[String]) -> bool {
    let here = format!("{name}, {fault:?} at call {call}");
    let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, call));
    let fixture = open(io);
    let mut bystander = fixture.database.session();
    must(&mut bystander, "CREATE TEMPORARY TABLE mine (i INT)");
    must(&mut bystander, "INSERT INTO mine VALUES (1), (2)");
    let mut session = fixture.database.session();
    fill(&mut session);

    let failed = match rows(&mut session, sql) {
        Ok(rows) => {
            assert_eq!(rows, expected, "{here}: a wrong result");
            false
        }
        Err(error) => {
            let named = error
                .message()
                .contains(&*fixture.tmpdir().to_string_lossy());
            assert!(named, "{here}: the error names no file: {error}");
            let kinds: &[u16] = match fault {
                Fault::DiskFull | Fault::ShortWrite => &[1021],
                // A corrupt read that is due at another kind of call is a failing device.
                Fault::DeviceError | Fault::CorruptRead => &[1024, 1026],
            };
            assert!(kinds.contains(&error.errno()), "{here}: {error}");
            true
        }
    };
    // The session, its tables and its neighbours live on.
    assert_eq!(
        must(&mut session, "SELECT COUNT(*) FROM t"),
        [N_ROWS.to_string()],
        "{here}"
    );
    assert_eq!(
        must(&mut bystander, "SELECT SUM(i) FROM mine"),
        ["3"],
        "{here}"
    );
    if fault != Fault::ShortWrite {
        assert_eq!(
            must(&mut session, sql),
            expected,
            "{here}: the same statement again"
        );
    }
    must(&mut session, "DROP TABLE t");
    drop((session, bystander));
    fixture.finish();
    failed
}

fn every_call(fault: Fault) {
    for (name, sql) in STATEMENTS {
        let (before, after, expected) = rehearse(sql);
        let calls = after - before;
        assert!(calls > 0, "{name} does not overflow");
        let step = (calls / N_FAULTS).max(1);
        let mut failures = 0;
        for call in (before + 1..=after).step_by(usize::try_from(step).unwrap_or(1)) {
            failures += u32::from(run_with_fault(name, sql, fault, call, &expected));
        }
        assert!(
            failures > 0,
            "{name}: no {fault:?} was noticed in {calls} calls"
        );
    }
}

#[test]
fn a_full_disk_ends_the_statement_only() {
    every_call(Fault::DiskFull);
}

#[test]
fn a_failing_device_ends_the_statement_only() {
    every_call(Fault::DeviceError);
}

#[test]
fn a_short_write_ends_the_statement_only() {
    every_call(Fault::ShortWrite);
}

#[test]
fn a_corrupt_read_never_gives_a_wrong_result() {
    every_call(Fault::CorruptRead);
}

/// Panics instead of writing: a bug in the middle of a statement.
#[derive(Debug)]
struct PanickingIo(SystemIo);

impl IoBackend for PanickingIo {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        panic!("a bug, making '{}'", path.display())
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        self.0.open_file(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.exists(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(path)
    }
}

#[test]
fn a_panic_ends_the_statement_only() {
    for threads in [1, 2] {
        let fixture = Fixture::open(|options| {
            options.temp_io = Arc::new(PanickingIo(SystemIo));
            options.threads = threads;
        });
        let mut session = fixture.database.session();
        fill(&mut session);
        for (name, sql) in STATEMENTS {
            let error = rows(&mut session, sql).expect_err(name);
            assert_eq!(error.errno(), 1105, "{name}: {error}");
            assert!(error.message().contains("a bug"), "{name}: {error}");
            assert_eq!(must(&mut session, "SELECT 1 + 1"), ["2"], "after {name}");
        }
        assert_eq!(
            must(&mut session, "SELECT COUNT(*) FROM t"),
            [N_ROWS.to_string()]
        );
        must(&mut session, "DROP TABLE t");
        drop(session);
        fixture.finish();
    }
}
