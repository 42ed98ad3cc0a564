//! Amounts of work: what a statement does beyond its size is counted, not timed, so that a cliff that comes back fails a
//! test on every machine.
//!
//! A statement runs twice, the second time with twice the rows. Its points at which it may end, and its calls on
//! temporary files, may become somewhat more than twice as many; a statement that reads all of its rows again for each
//! of them makes them four times as many. Where the numbers are known, they are compared with those.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::{
    Batch, Checkpoint, ProvidedColumn, ProvidedRows, Result, ScanRequest, Session, SqlType,
    TableProvider, TermShape, TermSupport,
};
use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt};

/// Largest factor by which the work grows with twice the rows.
const FACTOR_MAX: u64 = 3;

/// Checkpoint that counts the points at which a statement may end.
#[derive(Debug, Default)]
struct Points(AtomicU64);

impl Checkpoint for Points {
    fn reached(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A database of one thread whose work is counted.
struct World {
    points: Arc<Points>,
    io: Arc<FaultIo>,
    fixture: Fixture,
}

/// Work of a statement.
#[derive(Debug, Clone, Copy)]
struct Work {
    points: u64,
    calls: u64,
}

impl World {
    fn new(memory_limit: Option<u64>) -> Self {
        let points = Arc::new(Points::default());
        let io = Arc::new(FaultIo::new(Arc::new(SystemIo), Fault::DeviceError, 0));
        let fixture = Fixture::open(|options| {
            options.threads = 1;
            options.memory_limit = memory_limit;
            options.checkpoint = Some(Arc::clone(&points) as Arc<dyn Checkpoint>);
            options.temp_io = Arc::clone(&io) as Arc<dyn IoBackend>;
        });
        Self {
            points,
            io,
            fixture,
        }
    }

    fn session(&self) -> Session {
        let mut session = self.fixture.session();
        session.must("SET cte_max_recursion_depth = 1000000");
        session
    }

    /// The work of a statement, and its only value.
    fn measure(&self, session: &mut Session, sql: &str) -> (Work, String) {
        self.points.0.store(0, Ordering::Relaxed);
        self.io.arm(Fault::DeviceError, 0);
        let value = session.value(sql);
        let work = Work {
            points: self.points.0.load(Ordering::Relaxed),
            calls: self.io.calls(),
        };
        (work, value)
    }

    /// Runs a statement for `n` and for twice as many rows.
    fn grows_with_its_rows(&self, session: &mut Session, n: u64, sql: impl Fn(u64) -> String) {
        let (one, _) = self.measure(session, &sql(n));
        let (two, _) = self.measure(session, &sql(2 * n));
        let is_proportional = |one: u64, two: u64| two <= one.max(100) * FACTOR_MAX;
        assert!(
            is_proportional(one.points, two.points) && is_proportional(one.calls, two.calls),
            "{one:?} became {two:?}: {}",
            sql(n)
        );
    }
}

/// A table of `n` rows with numbers and a text.
fn fill(session: &mut Session, table: &str, n: u64) {
    session.must(&format!(
        "CREATE TABLE {table} (a INT, b INT, c VARCHAR(60))"
    ));
    session.must(&format!(
        "INSERT INTO {table} WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {n}) \
         SELECT n, n, REPEAT('x', 50) FROM r"
    ));
}

/// Number of rows that scans of tables have given in a session so far.
fn rows_scanned(session: &mut Session) -> u64 {
    let row = session.value("SHOW SESSION STATUS LIKE 'Handler_read_rnd_next'");
    let number = row.split_whitespace().next_back();
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number: {row}"))
}

#[test]
fn distinct_rows_of_a_recursion_are_not_read_in_each_round() {
    let world = World::new(None);
    let mut session = world.session();
    session.must("SET tmp_table_size = 65536");
    world.grows_with_its_rows(&mut session, 1500, |n| {
        format!(
            "WITH RECURSIVE s AS (SELECT 1 n, CAST(REPEAT('p', 200) AS CHAR(200)) pad \
             UNION SELECT n MOD {n} + 1, pad FROM s) SELECT COUNT(*) FROM s"
        )
    });
}

/// What stands beside the recursive table is read once, whether or not its hash table fits in memory.
fn is_read_once(step: &str) {
    const ROWS: u64 = 4000;
    let world = World::new(None);
    let mut session = world.session();
    fill(&mut session, "t", ROWS);
    let rounds = |n: u64| {
        format!("WITH RECURSIVE r AS (SELECT 1 n UNION ALL {step} n < {n}) SELECT COUNT(*) FROM r")
    };
    let expected = session.value(&rounds(200));
    assert_eq!(expected, "200", "{step}");
    for size in [1024, 65536, 1 << 20] {
        session.must(&format!("SET tmp_table_size = {size}"));
        let before = rows_scanned(&mut session);
        assert_eq!(session.value(&rounds(200)), expected, "{step}");
        let scanned = rows_scanned(&mut session) - before;
        assert!(scanned < 2 * ROWS, "{step}: {scanned} rows at {size} bytes");
        world.grows_with_its_rows(&mut session, 300, rounds);
    }
}

cases! { is_read_once:
    a_derived_table_beside_a_recursion_is_made_once(
        "SELECT n + 1 FROM r JOIN (SELECT b, COUNT(*) k FROM t GROUP BY b) g ON g.b = r.n WHERE"
    );
    a_table_beside_a_recursion_is_read_once("SELECT n + 1 FROM r JOIN t ON t.b = r.n WHERE");
    an_outer_join_beside_a_recursion_is_read_once(
        "SELECT n + 1 FROM r LEFT JOIN t ON t.b = r.n AND t.c > '' WHERE"
    );
    a_list_of_a_subquery_in_a_recursion_is_read_once(
        "SELECT n + 1 FROM r WHERE n IN (SELECT a FROM t) AND"
    );
    an_absent_list_of_a_subquery_in_a_recursion_is_read_once(
        "SELECT n + 1 FROM r WHERE n + 100000 NOT IN (SELECT a FROM t WHERE a IS NOT NULL) AND"
    );
    a_test_for_existence_in_a_recursion_is_read_once(
        "SELECT n + 1 FROM r WHERE EXISTS (SELECT 1 FROM t WHERE t.b = r.n) AND"
    );
}

#[test]
fn a_round_of_one_row_is_no_batch() {
    const ROUNDS: u64 = 20_000;
    let world = World::new(None);
    let mut session = world.session();
    let sql = format!(
        "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < {ROUNDS}) SELECT COUNT(*) FROM r"
    );
    let (work, rows) = world.measure(&mut session, &sql);
    assert_eq!(rows, ROUNDS.to_string());
    // The operators of a batch ask several times.
    assert!(work.points < ROUNDS * 3 / 2, "{work:?}");
}

#[test]
fn temporary_tables_with_keys_read_each_page_a_few_times() {
    let world = World::new(None);
    let mut session = world.session();
    fill(&mut session, "t", 4000);
    let mut calls = [Vec::new(), Vec::new()];
    for n in [1000, 2000] {
        session.must("SET tmp_table_size = 1024");
        session.must("CREATE TEMPORARY TABLE k (a INT PRIMARY KEY, b INT, c VARCHAR(60), KEY (b))");
        let statements = [
            format!("INSERT INTO k SELECT a, b, c FROM t WHERE a <= {n} ORDER BY c, a DESC"),
            format!("SELECT COUNT(k.c) FROM t JOIN k ON k.b = t.a WHERE t.a <= {n}"),
        ];
        for (calls, sql) in calls.iter_mut().zip(statements) {
            world.io.arm(Fault::DeviceError, 0);
            session.must(&sql);
            calls.push(world.io.calls());
        }
        session.must("DROP TEMPORARY TABLE k");
    }
    for calls in calls {
        assert!(calls[1] <= calls[0].max(100) * FACTOR_MAX, "{calls:?}");
    }
}

/// Statements that keep all their rows for a while end in memory that holds a fraction of them.
#[test]
fn a_small_limit_of_memory_is_enough_for_rows_that_are_kept() {
    for limit in [2 << 20, 4 << 20] {
        let world = World::new(Some(limit));
        let mut session = world.session();
        session.must(
            "CREATE TABLE source (a INT, b VARCHAR(600)) AS WITH RECURSIVE r (n) AS \
             (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) \
             SELECT n a, CONCAT(REPEAT('x', 500), n) b FROM r",
        );
        session.must("CREATE TABLE target (a INT PRIMARY KEY, b VARCHAR(600))");
        session.must(
            "INSERT INTO target SELECT a, b FROM source ORDER BY b ON DUPLICATE KEY UPDATE b = VALUES(b)",
        );
        session.must("CREATE TABLE copied AS SELECT a, LEFT(b, 255) b FROM source WHERE a <= 6000");
        session.must("INSERT INTO copied SELECT a, LEFT(b, 255) FROM source WHERE a <= 6000");
        session.must("ALTER TABLE source ADD KEY (b(100))");
        assert_eq!(session.value("SELECT COUNT(*) FROM target"), "20000");
        assert_eq!(session.value("SELECT COUNT(*) FROM copied"), "12000");
        session.must("CREATE INDEX z ON source (a)");
        session.must("DROP TABLE source, target, copied");
    }
}

#[test]
fn a_commit_reads_its_changes_once() {
    let mut calls = Vec::new();
    for n in [4000, 8000] {
        let directory = DataDirectory::new("mayfly-work-of-a-commit");
        let io = Arc::new(FaultIo::new(Arc::new(SystemIo), Fault::DeviceError, 0));
        let database = directory.open_with(|options| {
            options.threads = 1;
            options.memory_limit = Some(4 << 20);
            options.temp_io = Arc::clone(&io) as Arc<dyn IoBackend>;
        });
        let mut session = database.expect("a new directory").session();
        session.must("SET cte_max_recursion_depth = 1000000");
        session.must("CREATE TABLE test.t (a INT PRIMARY KEY, b VARCHAR(300))");
        session.must("BEGIN");
        session.must(&format!(
            "INSERT INTO test.t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {n}) \
             SELECT n * 7919 MOD 1000003, REPEAT('x', 290) FROM r"
        ));
        io.arm(Fault::DeviceError, 0);
        session.must("COMMIT");
        calls.push(io.calls());
    }
    assert!(calls[1] <= calls[0].max(100) * FACTOR_MAX, "{calls:?}");
}

/// A table that counts how often a statement that names it is planned.
#[derive(Debug)]
struct Counted(Arc<AtomicU64>);

impl TableProvider for Counted {
    fn columns(&self) -> Vec<ProvidedColumn> {
        vec![ProvidedColumn {
            name: "a".to_owned(),
            ty: SqlType::bigint(),
            nullable: true,
        }]
    }

    fn term(&self, _term: &TermShape) -> TermSupport {
        self.0.fetch_add(1, Ordering::Relaxed);
        TermSupport::Inexact
    }

    fn scan(&self, _request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        Ok(Box::new(NoRows))
    }
}

struct NoRows;

impl ProvidedRows for NoRows {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(None)
    }
}

#[test]
fn columns_of_one_table_plan_no_other_view() {
    const VIEWS: u64 = 20;
    let planned = Arc::new(AtomicU64::new(0));
    let (fixture, mut session) = Fixture::with_session();
    session.must("CREATE DATABASE views");
    let table: Arc<dyn TableProvider> = Arc::new(Counted(Arc::clone(&planned)));
    fixture
        .database
        .register_table("views", "counted", &table)
        .expect("a new name");
    session.must("USE views");
    for number in 0..VIEWS {
        session.must(&format!("CREATE TABLE t{number} (a INT)"));
        session.must(&format!(
            "CREATE VIEW v{number} AS SELECT a + {number} AS a FROM counted WHERE a = {number}"
        ));
    }
    let mut count = |sql: &str| {
        planned.store(0, Ordering::Relaxed);
        session.must(sql);
        planned.load(Ordering::Relaxed)
    };
    assert!(count("SELECT * FROM v3") > 0, "planning is counted");
    for sql in [
        "DESCRIBE t3",
        "SHOW COLUMNS FROM t3",
        "SHOW TABLE STATUS LIKE 't3'",
        "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'views' AND TABLE_NAME = 't3'",
        "SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'views' AND TABLE_NAME = 't3'",
        "SHOW TABLES",
        "SHOW FULL TABLES",
        "SHOW CREATE TABLE t3",
        "SHOW INDEX FROM t3",
    ] {
        assert_eq!(count(sql), 0, "{sql}");
    }
    for sql in ["DESCRIBE v3", "SHOW COLUMNS FROM v3"] {
        let planned = count(sql);
        assert!((1..VIEWS / 2).contains(&planned), "{sql}: {planned}");
    }
    assert!(
        count("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME LIKE 'v%'")
            >= VIEWS
    );
}

#[test]
fn the_first_row_of_each_group_is_not_looked_for_group_by_group() {
    let world = World::new(None);
    let mut session = world.session();
    fill(&mut session, "t", 8000);
    session.must("UPDATE t SET b = a DIV 2");
    let sql = |n: u64| {
        format!(
            "SELECT COUNT(v) FROM (SELECT (SELECT c FROM t y WHERE y.b = x.b AND y.a <= {n} ORDER BY y.a DESC LIMIT 1) v \
             FROM t x WHERE x.a <= {n}) d"
        )
    };
    let before = rows_scanned(&mut session);
    session.must(&sql(8000));
    let scanned = rows_scanned(&mut session) - before;
    assert!(scanned <= 3 * 8000, "{scanned} rows");
    world.grows_with_its_rows(&mut session, 2000, sql);
}

#[test]
fn geometries_and_vectors_take_the_work_of_their_bytes() {
    const ROWS: u64 = 40_000;
    let world = World::new(None);
    let mut session = world.session();
    session.must("CREATE TABLE t (id INT, p POINT, b VARBINARY(25), v VECTOR(6), w VARBINARY(24))");
    session.must(&format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) \
         SELECT n, POINT(n MOD 8000, n MOD 7), CAST(POINT(n MOD 8000, n MOD 7) AS BINARY), NULL, NULL FROM r"
    ));
    session.must(
        "UPDATE t SET v = STRING_TO_VECTOR(CONCAT('[', id MOD 8000, ',', id MOD 7, ',3,4,5,6]'))",
    );
    session.must("UPDATE t SET w = v");
    let statements = [
        "SELECT CONCAT(COUNT(*), ' ', SUM(n), ' ', SUM(m)) FROM (SELECT COUNT(*) n, MAX(id) m FROM t GROUP BY $) d",
        "SELECT SUM(CRC32($)) FROM (SELECT DISTINCT $ FROM t) d",
        "SELECT CONCAT(SUM(CRC32($)), ' ', SUM(id)) FROM (SELECT $, id FROM t ORDER BY $, id LIMIT 30000) d",
        "SELECT SUM(a.id - b.id) FROM t a JOIN t b ON a.$ = b.$ WHERE a.id <= 2000",
        "SELECT SUM(CRC32($)) FROM (SELECT $ FROM t UNION SELECT $ FROM t WHERE id < 9000) d",
    ];
    for limit in [u64::MAX, 1 << 20, 1 << 16, 1024] {
        session.must(&format!("SET tmp_table_size = {limit}"));
        for (sql, (column, bytes)) in statements
            .iter()
            .flat_map(|sql| [(sql, ("p", "b")), (sql, ("v", "w"))])
        {
            let (of_type, value) = world.measure(&mut session, &sql.replace('$', column));
            let (of_bytes, expected) = world.measure(&mut session, &sql.replace('$', bytes));
            assert_eq!(value, expected, "{sql} of {column} at {limit} bytes");
            let is_close = |one: u64, other: u64| 2 * one <= 3 * other.max(100);
            assert!(
                is_close(of_type.points, of_bytes.points)
                    && is_close(of_type.calls, of_bytes.calls),
                "{of_type:?} beside {of_bytes:?} of bytes: {sql} of {column} at {limit} bytes"
            );
        }
    }
}
