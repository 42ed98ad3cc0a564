//! Workers are shared by all statements of a database, at most the configured number: large statements share them, and
//! a statement that waits for a slow client leaves them to others.

use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt, Watchdog};

const THREADS: usize = 3;
const ROWS: u32 = 60_000;

/// Many groups, a large join, ordered rows, and an unordered result.
const STATEMENTS: [&str; 4] = [
    "SELECT COUNT(*), SUM(n) FROM (SELECT COUNT(*) AS n, c FROM t GROUP BY c) AS g",
    "SELECT COUNT(*), SUM(a.i) FROM t AS a JOIN t AS b ON a.c = b.c",
    "SELECT i, c FROM t ORDER BY c, i",
    "SELECT i, c FROM t WHERE i % 3 = 0",
];

fn fixture() -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.threads = THREADS;
        options.parallel_rows_min = 100;
        options.batch_size = 256;
    });
    let mut session = fixture.session();
    session.must("SET SESSION cte_max_recursion_depth = 1000000");
    session.must("CREATE TABLE t (i INT, c CHAR(40))");
    session.must(&format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) \
         SELECT n, SHA1(n) FROM r"
    ));
    (fixture, session)
}

fn status(database: &std::sync::Arc<Database>, name: &str) -> u64 {
    let shown = database
        .session()
        .value(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    let value = shown.rsplit('\t').next();
    value.and_then(|text| text.parse().ok()).expect("a number")
}

fn sorted(mut rows: Vec<String>, sql: &str) -> Vec<String> {
    if !sql.contains("ORDER BY") {
        rows.sort_unstable();
    }
    rows
}

#[test]
fn statements_at_once_share_the_workers() {
    let _watchdog = Watchdog::new();
    let (fixture, mut session) = fixture();
    let database = &fixture.database;
    let expected = STATEMENTS.map(|sql| sorted(session.must(sql), sql));
    let refused = status(database, "Workers_refused");
    assert_eq!(refused, 0, "one statement has all workers");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(status(database, "Workers_busy"));
            }
            most
        });
        let runs: Vec<_> = (0..8)
            .map(|first| {
                let expected = &expected;
                scope.spawn(move || {
                    let mut session = database.session();
                    for number in first..first + 12 {
                        let sql = STATEMENTS[number % 4];
                        assert_eq!(
                            sorted(session.must(sql), sql),
                            expected[number % 4],
                            "{sql}"
                        );
                    }
                })
            })
            .collect();
        for run in runs {
            run.join().expect("its results are right");
        }
        done.store(true, Ordering::Relaxed);
        let most = watch.join().expect("it reads the status");
        // A worker that continues after a wait may exceed the number for a moment; they wait in one of the statements.
        assert!(
            most < 2 * THREADS as u64,
            "{most} workers were busy at once"
        );
    });
    assert!(status(database, "Workers_refused") > 0);
    assert_eq!(status(database, "Workers_busy"), 0);
}

#[test]
fn a_client_that_does_not_read_holds_no_worker() {
    let _watchdog = Watchdog::new();
    let (fixture, mut session) = fixture();
    let database = &fixture.database;
    for sql in [STATEMENTS[2], STATEMENTS[3]] {
        let mut slow = database.session();
        let mut stream = slow.query(sql).expect("it runs");
        let first = stream.next_batch().expect("it reads").expect("a row");
        let mut rows = first.row_count();
        // The workers read ahead as far as they may.
        while status(database, "Workers_busy") > 0 {
            std::thread::yield_now();
        }
        let refused = status(database, "Workers_refused");
        session.must(STATEMENTS[0]);
        assert_eq!(status(database, "Workers_refused"), refused);
        while let Some(batch) = stream.next_batch().expect("it reads") {
            rows += batch.row_count();
        }
        let expected = session.must(sql).len();
        assert_eq!(rows, expected, "{sql}");
        drop(stream);
        assert_eq!(status(database, "Workers_busy"), 0);
        // A result that is not read to its end releases its workers.
        let mut left = slow.query(sql).expect("it runs");
        assert!(left.next_batch().expect("it reads").is_some());
        drop(left);
        assert_eq!(status(database, "Workers_busy"), 0);
    }
}

/// Reads back the copied rows, in the order in which they were stored.
fn copied(session: &mut Session, columns: &str, copy: &str) -> Vec<String> {
    session.must("DROP TABLE IF EXISTS copied");
    if !columns.is_empty() {
        session.must(&format!("CREATE TABLE copied {columns}"));
    }
    session.must(copy);
    session.must("SELECT i, c FROM copied")
}

#[test]
fn workers_copy_rows_unless_something_depends_on_their_order() {
    const SOURCE: &str = "SELECT i, c FROM t WHERE i % 3 = 0";
    /// Number of tries; in at least one a worker is faster than the session.
    const TRIES: usize = 200;
    let _watchdog = Watchdog::new();
    let (_fixture, mut session) = fixture();
    let in_order = session.must("SELECT i, c FROM t WHERE i % 3 = 0 ORDER BY i");

    for (columns, copy) in [
        ("", format!("CREATE TABLE copied AS {SOURCE}")),
        ("", format!("CREATE TEMPORARY TABLE copied AS {SOURCE}")),
        (
            "(i INT, c CHAR(40), KEY (i))",
            format!("INSERT INTO copied {SOURCE}"),
        ),
    ] {
        let mut is_shared = false;
        for _ in 0..TRIES {
            let mut rows = copied(&mut session, columns, &copy);
            is_shared = rows != in_order;
            rows.sort_unstable_by_key(|row| row.split('\t').next().map(|i| i.parse::<u32>().ok()));
            assert_eq!(rows, in_order, "{copy}");
            if is_shared {
                break;
            }
        }
        assert!(is_shared, "workers help {copy}");
    }

    let numbered = "(n INT AUTO_INCREMENT PRIMARY KEY, i INT, c CHAR(40))";
    for (columns, copy) in [
        (numbered, format!("INSERT INTO copied (i, c) {SOURCE}")),
        (
            "(i INT UNIQUE, c CHAR(40))",
            format!("INSERT INTO copied {SOURCE}"),
        ),
        (
            "(i INT, c CHAR(40))",
            format!("INSERT IGNORE INTO copied {SOURCE}"),
        ),
        (
            "(i INT, c CHAR(40))",
            format!("REPLACE INTO copied {SOURCE}"),
        ),
        (
            "",
            format!("CREATE TABLE copied (n INT AUTO_INCREMENT PRIMARY KEY) AS {SOURCE}"),
        ),
        ("", format!("CREATE TABLE copied REPLACE AS {SOURCE}")),
        ("", format!("CREATE TABLE copied AS {SOURCE} ORDER BY i")),
    ] {
        for _ in 0..5 {
            assert_eq!(copied(&mut session, columns, &copy), in_order, "{copy}");
        }
    }

    // A statement's query does not read the rows that it adds.
    session.must(&format!("CREATE OR REPLACE TABLE copied AS {SOURCE}"));
    session.must("INSERT INTO copied SELECT i + 1, c FROM copied WHERE i % 3 = 0");
    let sums = session.must("SELECT COUNT(*), SUM(i % 3) FROM copied");
    assert_eq!(sums, [format!("{}\t{}", 2 * ROWS / 3, ROWS / 3)]);
}
