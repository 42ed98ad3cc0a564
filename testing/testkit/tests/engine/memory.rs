//! The memory limit holds: whatever several large operators of one statement do together, the reserved memory stays
//! below the limit, and the process takes not much more from the system.

use mayfly_engine::{DatabaseOptions, Session};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt, Watchdog};
use mayfly_testkit::groups::Groups;
use mayfly_testkit::process::{again, anonymous_memory};

/// The limit of all memory together.
const LIMIT: u64 = 8 << 20;

/// Number of rows of the table: about three times the limit.
const N_ROWS: u32 = 150_000;

/// Statements with several large operators each, below their names.
const STATEMENTS: &str = "\
a join of joins under GROUP BY and ORDER BY
  SELECT COUNT(*), SUM(n), BIT_XOR(CRC32(k)) FROM (SELECT a.c AS k, COUNT(*) AS n FROM t AS a JOIN t AS b ON a.c = b.c JOIN t AS d ON b.i = d.i GROUP BY k ORDER BY n, k LIMIT 100000) AS x
several common table expressions and set operations
  WITH w AS (SELECT i, c FROM t), v AS (SELECT DISTINCT c FROM w) SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT c FROM v UNION SELECT CONCAT(c, '+') FROM w UNION ALL (SELECT x.c FROM w AS x JOIN w AS y ON x.i = y.i EXCEPT SELECT c FROM v WHERE c < '8')) AS u
DISTINCT of groups, sorted
  SELECT COUNT(*), MIN(n), MAX(n) FROM (SELECT DISTINCT n, c FROM (SELECT c, f, COUNT(*) AS n FROM t GROUP BY c, f) AS g ORDER BY c DESC LIMIT 140000) AS d
distinct and ordered aggregates
  SELECT i % 10 AS k, COUNT(DISTINCT c), COUNT(DISTINCT f, i), CRC32(GROUP_CONCAT(LEFT(c, 8) ORDER BY f)) FROM t GROUP BY k ORDER BY k
many groups of aggregates with large states
  SELECT COUNT(*), SUM(LENGTH(g)), BIT_XOR(CRC32(m)) FROM (SELECT i DIV 3 AS k, GROUP_CONCAT(f) AS g, MAX(f) AS m, JSON_ARRAYAGG(i) AS j FROM t GROUP BY k) AS d
subqueries that keep their rows
  SELECT COUNT(*) FROM t AS a WHERE a.c IN (SELECT c FROM t WHERE i % 2) AND a.f NOT IN (SELECT f FROM t WHERE i % 3 = 0) AND EXISTS (SELECT 1 FROM t AS b WHERE b.i = a.i + 1)
a recursion
  WITH RECURSIVE r (n, c) AS (SELECT 1, CAST('' AS CHAR(200)) UNION ALL SELECT n + 1, REPEAT(CHAR(65 + n % 26), 200) FROM r WHERE n < 20000) SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM r
long values
  SELECT COUNT(*), SUM(LENGTH(b)), BIT_XOR(CRC32(b)) FROM (SELECT DISTINCT i, b FROM long_values ORDER BY b) AS d
";

fn statements() -> Vec<(&'static str, &'static str)> {
    let groups = Groups::read(STATEMENTS);
    groups.iter().map(|(name, sql)| (name, sql[0])).collect()
}

fn limited(threads: usize) -> impl FnOnce(&mut DatabaseOptions) {
    move |options| {
        options.threads = threads;
        options.memory_limit = Some(LIMIT);
        options.parallel_rows_min = 1000;
    }
}

fn fill(session: &mut Session) {
    session.must("SET SESSION cte_max_recursion_depth = 1000000");
    session.must("SET SESSION group_concat_max_len = 1000000");
    session.must("CREATE TABLE t (i INT, c VARCHAR(40), f TEXT)");
    let fill = format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {N_ROWS}) \
         SELECT n, SHA1(n), CONCAT(SHA2(n, 384), n) FROM r"
    );
    session.must(&fill);
    session.must("CREATE TABLE long_values (i INT, b LONGTEXT)");
    for n in 0..12 {
        let insert = format!(
            "INSERT INTO long_values SELECT i, REPEAT(c, 500 + i) FROM t WHERE i % 12 = {n} AND i < 400"
        );
        session.must(&insert);
    }
}

fn peaks_stay_below_the_limit(threads: usize) {
    let _watchdog = Watchdog::new();
    let expected = {
        let (_fixture, mut session) = Fixture::with_session();
        fill(&mut session);
        statements()
            .iter()
            .map(|(_, sql)| session.must(sql))
            .collect::<Vec<_>>()
    };
    let fixture = Fixture::open(limited(threads));
    let mut session = fixture.session();
    fill(&mut session);
    let mut wrong = Vec::new();
    let mut check = |what: &str| {
        let peak = fixture.database.memory_peak();
        eprintln!("{what}: {} KiB", peak >> 10);
        if peak > LIMIT {
            wrong.push(format!("{what}: {peak} bytes"));
        }
        fixture.database.reset_peaks();
    };
    check("filling the tables");
    for ((name, sql), expected) in statements().iter().zip(&expected) {
        assert_eq!(&session.must(sql), expected, "{name}");
        check(name);
    }
    assert!(wrong.is_empty(), "above {LIMIT} bytes: {wrong:#?}");
}

cases! { peaks_stay_below_the_limit:
    peaks_stay_below_the_limit_on_one_thread(1);
    peaks_stay_below_the_limit_on_several_threads(4);
}

/// The peak of [`anonymous_memory`], sampled every millisecond.
#[cfg(target_os = "linux")]
fn anonymous_peak(work: impl FnOnce()) -> u64 {
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                most = most.max(anonymous_memory());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            most
        });
        work();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        watch.join().expect("it only looks").max(anonymous_memory())
    })
}

const CHILD: &str = "MAYFLY_TEST_RESIDENT";

/// Child process of the next test, which alone tests nothing.
#[cfg(target_os = "linux")]
#[test]
fn resident_child() {
    let Ok(which) = std::env::var(CHILD) else {
        return;
    };
    let peak = anonymous_peak(|| {
        let fixture = Fixture::open(limited(2));
        let mut session = fixture.session();
        if which == "nothing" {
            session.must("SELECT 1");
        } else {
            fill(&mut session);
            for (_, sql) in statements() {
                session.must(sql);
                eprintln!("{} KiB after {sql}", anonymous_memory() >> 10);
            }
        }
    });
    println!("resident: {peak}");
}

#[cfg(target_os = "linux")]
fn resident_of_child(which: &str) -> u64 {
    let child = again("memory::resident_child")
        .env(CHILD, which)
        .output()
        .expect("it can be started");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{output}{errors}");
    eprintln!("{errors}");
    let number = output
        .lines()
        .find_map(|line| line.strip_prefix("resident: "));
    number
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or_else(|| panic!("{output}{errors}"))
}

/// Batches in flight, plans, and the slack of the allocator and the pool are not reserved: they may take twice the
/// limit, not a multiple of the data.
#[cfg(target_os = "linux")]
#[test]
fn the_process_takes_little_more_than_the_limit() {
    let (nothing, all) = (resident_of_child("nothing"), resident_of_child("all"));
    let taken = all - nothing;
    eprintln!("{} KiB taken", taken >> 10);
    assert!(taken <= 3 * LIMIT, "{taken} bytes with a limit of {LIMIT}");
}

/// With `tmp_overflow_policy = queue` statements wait for memory rather than fail, however many sessions run one.
#[test]
fn sessions_that_queue_for_memory_all_finish() {
    const SESSIONS: usize = 64;
    const ROWS: u64 = 1_000_000;
    const LIMIT_OF_ALL: u64 = 64 << 20;
    let _watchdog = Watchdog::new();
    let directory = DataDirectory::new("memory-queue");
    let database = directory
        .open_with(|options| options.memory_limit = Some(LIMIT_OF_ALL))
        .expect("it opens");
    let mut session = database.session();
    session.must("SET GLOBAL tmp_overflow_policy = queue");
    session.must("SET SESSION cte_max_recursion_depth = 1000000");
    session.must("CREATE TABLE gtest (i INT, c CHAR(50)) DEFAULT CHARSET = latin1");
    session.must(&format!(
        "INSERT INTO gtest WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) \
         SELECT CRC32(n) % 100000, SHA1(n) FROM r"
    ));
    database.reset_peaks();
    let sql = "SELECT COUNT(*), SUM(cnt) FROM (SELECT COUNT(*) AS cnt, c FROM test.gtest GROUP BY c ORDER BY NULL) AS g";
    std::thread::scope(|scope| {
        for _ in 0..SESSIONS {
            scope.spawn(|| assert_eq!(database.session().must(sql), [format!("{ROWS}\t{ROWS}")]));
        }
    });
    let peak = database.memory_peak();
    assert!(peak <= LIMIT_OF_ALL, "{peak} bytes");
    let waits = session
        .must("SHOW GLOBAL STATUS LIKE 'Tmp_queue_waits'")
        .remove(0);
    let waits: u64 = waits
        .rsplit('\t')
        .next()
        .and_then(|text| text.parse().ok())
        .expect("a number");
    assert!(waits > 0, "nothing had to wait");
}

/// A request that can never be met names the limit, its value and the setting.
#[test]
fn a_limit_that_is_too_small_is_named() {
    let fixture = Fixture::open(|options| options.memory_limit = Some(1 << 20));
    let mut session = fixture.session();
    for sql in [
        "SELECT LENGTH(GROUP_CONCAT(c)) FROM (SELECT REPEAT('x', 3000000) AS c UNION ALL SELECT REPEAT('y', 3000000)) AS d",
        "SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT('x', 100000))) FROM (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL \
         SELECT n + 1 FROM r WHERE n < 100) SELECT n FROM r) AS d",
    ] {
        session.must("SET SESSION group_concat_max_len = 100000000");
        match session.rows(sql) {
            Ok(rows) => eprintln!("{sql}: {rows:?}, {}", fixture.database.memory_peak()),
            Err(error) => {
                assert!(
                    [1114, 1041, 3170].contains(&error.errno()),
                    "{sql}: {error}"
                );
                assert!(error.message().contains("memory_limit"), "{sql}: {error}");
                assert!(error.message().contains("1048576"), "{sql}: {error}");
            }
        }
    }
}

/// The values of COUNT(DISTINCT …) and similar calls are in partitions, each with a table beside that of the call:
/// users see one for each call.
#[test]
fn a_call_that_needs_whole_groups_is_one_temporary_table() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.session();
    for sql in [
        "SET cte_max_recursion_depth = 100000",
        "CREATE TABLE t (a INT, b INT, c INT)",
        "INSERT INTO t WITH RECURSIVE n AS (SELECT 0 n UNION ALL SELECT n + 1 FROM n WHERE n < 49999) \
         SELECT n % 500, n, n % 77 FROM n",
    ] {
        session.must(sql);
    }
    for (size, on_disk) in [(16 << 20, false), (16 << 10, true)] {
        session.must(&format!("SET tmp_table_size = {size}"));
        for (sql, tables) in [
            ("SELECT a, COUNT(DISTINCT b), SUM(c) FROM t GROUP BY a", 2),
            (
                "SELECT a, COUNT(DISTINCT b), SUM(DISTINCT c), MAX(b) FROM t GROUP BY a",
                3,
            ),
            (
                "SELECT a, GROUP_CONCAT(DISTINCT c ORDER BY c) FROM t GROUP BY a",
                2,
            ),
        ] {
            session.must("FLUSH STATUS");
            assert_eq!(session.must(sql).len(), 500);
            let counted = session.must("SHOW SESSION STATUS LIKE 'Created_tmp%tables'");
            let on_disk = if on_disk { tables } else { 0 };
            let expected = [
                format!("Created_tmp_disk_tables\t{on_disk}"),
                format!("Created_tmp_tables\t{tables}"),
            ];
            assert_eq!(counted, expected, "{sql}");
        }
    }
}

/// Memory that one session keeps between statements (user variables, prepared statements, named locks) leaves memory to
/// the others, and so does that of all sessions together.
#[test]
fn what_sessions_keep_leaves_memory_to_transactions() {
    const ALL: u64 = 32 << 20;
    let fixture = Fixture::open(|options| options.memory_limit = Some(ALL));
    let mut worker = fixture.session();
    worker.must("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200), KEY (v))");
    worker.must("SET SESSION cte_max_recursion_depth = 100000");
    let mut hoarders: Vec<_> = (0..6).map(|_| fixture.session()).collect();
    let mut refusals = Vec::new();
    for (place, hoarder) in hoarders.iter_mut().enumerate() {
        let fill = |hoarder: &mut mayfly_engine::Session, make: &dyn Fn(usize) -> String| {
            (0..100_000).find_map(|number| hoarder.execute(&make(number)).err())
        };
        let text = |number| format!("SET @v{number} = REPEAT('x', 400000)");
        refusals.push(fill(hoarder, &text).expect("there is a limit"));
        let list = "1,".repeat(5000);
        let prepare = |number| format!("PREPARE s{number} FROM 'SELECT {list}1'");
        refusals.push(fill(hoarder, &prepare).expect("there is a limit"));
        let lock = |number| format!("DO GET_LOCK('{number} of {place}', 0)");
        refusals.push(fill(hoarder, &lock).expect("there is a limit"));
    }
    for error in &refusals {
        assert_eq!(error.errno(), 3170, "{error}");
        let text = error.message();
        assert!(
            text.contains("memory_limit = 33554432 bytes of memory, of which what"),
            "{text}"
        );
        assert!(text.contains("or free user variables"), "{text}");
    }
    // The first one has a share, and the others the rest of the limit of all.
    assert!(
        refusals[0]
            .message()
            .contains("what one session keeps may have 4194304"),
        "{}",
        refusals[0].message()
    );
    // Small and large changes continue as before.
    worker.must(
        "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 30000) \
         SELECT n, CONCAT(REPEAT('x', 150), n) FROM r",
    );
    worker.must("UPDATE t SET v = CONCAT('y', v) WHERE id % 2 = 0");
    worker.must("BEGIN; DELETE FROM t WHERE id < 20000; INSERT INTO t VALUES (1, 'a'); COMMIT");
    assert_eq!(worker.must("SELECT COUNT(*) FROM t"), ["10002"]);
    // Freed memory can be used again.
    hoarders[0].must("SET @v0 = NULL, @v1 = NULL");
    hoarders[0].must("SET @v0 = REPEAT('x', 400000)");
    worker.must("DROP TABLE t");
}
