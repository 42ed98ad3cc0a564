//! A secondary engine in this process: loads, what changes do to copies, definitions, kills, errors, restarts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_engine::{Database, Session};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{DataDirectory, Errno, Fixture, SessionExt, Watchdog};
use mayfly_testkit::secondary::MemoryEngine;

/// Longest wait for what happens in the background; generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const STATUS: &str = "SELECT LOAD_STATUS FROM performance_schema.rpd_tables NATURAL JOIN \
                      performance_schema.rpd_table_id WHERE NAME = 'test.t'";

/// [`STATUS`] where statements over tables are offloaded or fail.
const STATUS_OF_T: &str = "SELECT /*+ SET_VAR(use_secondary_engine = OFF) */ LOAD_STATUS FROM performance_schema.rpd_tables";

/// Plugs an engine with parts of `part_rows` rows into a database, without a refresh in the background.
fn plug(database: &Arc<Database>, part_rows: u64) -> Arc<MemoryEngine> {
    let engine = MemoryEngine::new(part_rows);
    let plugged = database.set_secondary_engine(Some(Arc::clone(&engine) as _));
    plugged.expect("an engine is plugged in");
    engine
}

fn fixture() -> (Fixture, Arc<MemoryEngine>) {
    let fixture = Fixture::open(|options| options.batch_size = 64);
    let engine = plug(&fixture.database, 100);
    fixture
        .session()
        .must("SET GLOBAL secondary_engine_refresh = 0");
    (fixture, engine)
}

/// Takes the engine out; it must not keep anything once its tables are gone.
fn unplug(fixture: &Fixture, engine: &MemoryEngine) {
    let unplugged = fixture.database.set_secondary_engine(None);
    unplugged.expect("an engine is taken out");
    assert_eq!(engine.parts().len(), 0, "parts are left");
}

/// Waits until `holds`.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A table of `rows` rows that names the engine.
fn table(session: &mut Session, rows: u32) {
    session.must(
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10), secret INT NOT SECONDARY) \
         SECONDARY_ENGINE = cluster",
    );
    session.must("SET cte_max_recursion_depth = 100000");
    session.must(&format!(
        "INSERT INTO t WITH RECURSIVE r AS (SELECT {rows} AS n UNION ALL SELECT n - 1 FROM r WHERE n > 1) \
         SELECT n, CONCAT('v', n), n FROM r"
    ));
}

fn expected(session: &mut Session) -> Vec<String> {
    session.must("SELECT id, v FROM t ORDER BY id")
}

#[test]
fn a_load_gives_the_columns_of_a_snapshot_in_parts_by_key() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    let parts = engine.parts();
    let sizes: Vec<_> = parts.iter().map(|part| part.rows().len()).collect();
    // Parts end behind the batch with their last row.
    assert_eq!(sizes, [128, 128, 44]);
    let names = parts[0].columns.iter().map(|column| column.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["id", "v"]);
    let versions: Vec<_> = parts.iter().map(|part| part.version).collect();
    assert!(versions.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(engine.rows("test.t"), expected(&mut session));
    let shown = session.must(
        "SELECT NROWS, LOAD_STATUS, LOAD_PROGRESS, SIZE_BYTES, PARTS, QUERY_COUNT, LAST_QUERIED, \
         LOAD_START_TIMESTAMP <= LOAD_END_TIMESTAMP, LAST_ERROR FROM performance_schema.rpd_tables",
    );
    assert_eq!(
        shown,
        ["300\tAVAIL_RPDGSTABSTATE\t100\t2400\t3\t0\tNULL\t1\tNULL"]
    );
    let options =
        session.must("SELECT CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_NAME = 't'");
    assert_eq!(
        options,
        ["SECONDARY_ENGINE=\"cluster\" SECONDARY_LOAD=\"1\""]
    );
    let counted =
        session.must("SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Secondary_engine_%load%'");
    assert_eq!(
        counted,
        [
            "Secondary_engine_bytes_loaded\t2400",
            "Secondary_engine_load_failures\t0",
            "Secondary_engine_loads\t1",
            "Secondary_engine_rows_loaded\t300"
        ]
    );
    session.must("ALTER TABLE t SECONDARY_UNLOAD");
    assert!(engine.parts().is_empty());
    assert!(
        session
            .must("SELECT * FROM performance_schema.rpd_tables")
            .is_empty()
    );
    session.must("ALTER TABLE t SECONDARY_UNLOAD");
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn empty_tables_and_tables_without_a_key_are_loaded() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    session.must("CREATE TABLE t (a INT) SECONDARY_ENGINE = CLUSTER");
    session.must("ALTER TABLE t SECONDARY_LOAD");
    assert_eq!(engine.parts().len(), 1);
    assert!(engine.rows("test.t").is_empty());
    session.must("INSERT INTO t VALUES (3), (1), (NULL)");
    session.must("ALTER TABLE t SECONDARY_LOAD");
    assert_eq!(engine.rows("test.t"), ["3", "1", "NULL"]);
    session.must("CREATE TABLE g (a INT, b INT AS (a + 1), c INT AS (a * 2) STORED, d TIMESTAMP) SECONDARY_ENGINE = CLUSTER");
    session.must("SET time_zone = '+02:00'");
    session.must("INSERT INTO g (a, d) VALUES (5, '2024-01-01 02:00:00')");
    session.must("ALTER TABLE g SECONDARY_LOAD");
    // TIMESTAMPs are in UTC.
    assert_eq!(engine.rows("test.g"), ["5\t6\t10\t2024-01-01 00:00:00"]);
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn a_change_makes_a_copy_stale_until_it_is_refreshed() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("CREATE TABLE other (a INT)");
    session.must("ALTER TABLE t SECONDARY_LOAD");
    session.must("INSERT INTO other VALUES (1)");
    assert_eq!(
        session.must(STATUS),
        ["AVAIL_RPDGSTABSTATE"],
        "another table has changed"
    );
    session.must("UPDATE t SET v = v WHERE id = 1");
    assert_eq!(
        session.must(STATUS),
        ["AVAIL_RPDGSTABSTATE"],
        "nothing has changed"
    );
    session.must("BEGIN");
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    assert_eq!(
        session.must(STATUS),
        ["AVAIL_RPDGSTABSTATE"],
        "nothing is committed"
    );
    session.must("ROLLBACK");
    assert_eq!(session.must(STATUS), ["AVAIL_RPDGSTABSTATE"]);
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    assert_eq!(session.must(STATUS), ["STALE_RPDGSTABSTATE"]);
    assert_eq!(engine.rows("test.t").len(), 300);
    session.must("SET GLOBAL secondary_engine_refresh = 5");
    wait_until("the refresh", || {
        session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
    });
    assert_eq!(engine.rows("test.t"), expected(&mut session));
    session.must("DELETE FROM t WHERE id % 2 = 0");
    session.must("INSERT INTO t VALUES (1000, 'new', 1), (0, 'first', 1)");
    wait_until("the refresh", || {
        session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
    });
    assert_eq!(engine.rows("test.t"), expected(&mut session));
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn a_refresh_reads_the_parts_that_have_changed() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    assert_eq!(engine.take_loaded().len(), 3);
    let mut refreshed = |change: &str, sizes: &[u64]| {
        session.must("SET GLOBAL secondary_engine_refresh = 0");
        session.must(change);
        session.must("SET GLOBAL secondary_engine_refresh = 5");
        wait_until("the refresh", || {
            session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
        });
        let loaded = engine.take_loaded();
        let loaded: Vec<u64> = loaded.into_iter().map(|(_, rows)| rows).collect();
        assert_eq!(loaded, sizes, "{change}");
        let mut rows = engine.rows("test.t");
        rows.sort_by_key(|row| row.split('\t').next().and_then(|id| id.parse::<i32>().ok()));
        assert_eq!(rows, expected(&mut session), "{change}");
    };
    // Parts are 1 to 128, 129 to 256, and from 257 on.
    refreshed("UPDATE t SET v = 'x' WHERE id = 5", &[128]);
    refreshed("UPDATE t SET v = 'x' WHERE id IN (129, 256)", &[128]);
    refreshed("INSERT INTO t VALUES (1000, 'last', 1)", &[45]);
    refreshed("INSERT INTO t VALUES (-1, 'first', 1)", &[128, 1]);
    // The small part behind is read with it.
    refreshed("DELETE FROM t WHERE id = 0 OR id = -1", &[128]);
    refreshed("DELETE FROM t WHERE id BETWEEN 129 AND 256", &[]);
    refreshed("INSERT INTO t VALUES (200, 'again', 1)", &[128, 1]);
    refreshed("DELETE FROM t", &[0]);
    refreshed("INSERT INTO t VALUES (7, 'again', 1)", &[1]);
    drop(session);
    unplug(&fixture, &engine);
}

/// Sessions change random rows while copies are refreshed, and another reads the secondary engine: what it reads is what a
/// local read of the same snapshot gives, and in the end the copy has all rows.
fn write_while_copies_are_refreshed(force_overflow: bool) {
    let _watchdog = Watchdog::new();
    let fixture = Fixture::open(|options| {
        options.batch_size = 64;
        options.force_overflow = force_overflow;
    });
    let engine = plug(&fixture.database, 100);
    let mut session = fixture.session();
    table(&mut session, 3000);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    session.must("SET GLOBAL secondary_engine_refresh = 1");
    let until = Instant::now() + Duration::from_secs(3);
    let sums = "SELECT COUNT(*), SUM(id), MIN(v), MAX(v) FROM t";
    let mut agreed = 0;
    std::thread::scope(|scope| {
        for writer in 0..3_u64 {
            let mut session = fixture.session();
            scope.spawn(move || {
                let mut state = writer + 1;
                let mut random = |below: u64| {
                    // A linear congruential generator (Knuth's MMIX).
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) % below
                };
                while Instant::now() < until {
                    let id = random(4000);
                    let change = match random(5) {
                        0 => format!("DELETE FROM t WHERE id = {id}"),
                        1 => format!("UPDATE t SET v = 'w{}' WHERE id = {id}", random(100)),
                        2 => format!("DELETE FROM t WHERE id BETWEEN {id} AND {}", id + 40),
                        _ => format!("INSERT IGNORE INTO t VALUES ({id}, 'n{}', 0)", random(100)),
                    };
                    // Deadlocks and refusals are none of the copy's business.
                    let _ = session.rows(&change);
                    std::thread::sleep(Duration::from_micros(random(3000)));
                }
            });
        }
        while Instant::now() < until {
            session.must("START TRANSACTION WITH CONSISTENT SNAPSHOT");
            session.must("SET use_secondary_engine = FORCED");
            let offloaded = session.rows(sums);
            session.must("SET use_secondary_engine = OFF");
            let local = session.must(sums);
            session.must("COMMIT");
            match offloaded {
                Ok(rows) => {
                    assert_eq!(rows, local);
                    agreed += 1;
                }
                Err(error) => assert_eq!(error.errno(), 3889, "{error}"),
            }
        }
    });
    assert!(agreed > 0, "no statement was offloaded");
    wait_until("the last refresh", || {
        session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
    });
    let mut rows = engine.rows("test.t");
    rows.sort_by_key(|row| row.split('\t').next().and_then(|id| id.parse::<i32>().ok()));
    assert_eq!(rows, expected(&mut session));
    drop(session);
    unplug(&fixture, &engine);
}

cases! {
    write_while_copies_are_refreshed:
    no_change_is_lost_while_sessions_write(false);
    no_change_is_lost_while_sessions_write_what_overflows(true);
}

#[test]
fn a_stale_copy_is_read_only_on_demand() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    session.must("SET secondary_engine_cost_threshold = 0");
    let count = "SELECT COUNT(*) FROM t WHERE v LIKE 'v%'";
    let executions = |session: &mut Session| {
        let shown = session.value("SHOW STATUS LIKE 'Secondary_engine_execution_count'");
        shown
            .rsplit('\t')
            .next()
            .and_then(|count| count.parse::<u32>().ok())
            .expect("a number")
    };
    assert_eq!(session.must(count), ["300"]);
    assert_eq!(executions(&mut session), 1);
    session.must("DELETE FROM t WHERE id = 1");
    assert_eq!(session.must(count), ["299"]);
    assert_eq!(executions(&mut session), 1, "the copy is stale");
    session.must("SET secondary_engine_read_stale = ON");
    assert_eq!(session.must(count), ["300"]);
    assert_eq!(executions(&mut session), 2);
    session.must("SET secondary_engine_read_stale = OFF");
    session.must("SET use_secondary_engine = FORCED");
    assert_eq!(session.must(count), ["299"]);
    assert_eq!(executions(&mut session), 3);
    assert_eq!(
        session.must(STATUS_OF_T),
        ["AVAIL_RPDGSTABSTATE"],
        "it is refreshed on demand"
    );
    session.must("BEGIN");
    session.must("DELETE FROM t WHERE id = 2");
    assert_eq!(
        session.errno(count),
        3889,
        "the transaction has changed the table"
    );
    session.must("ROLLBACK");
    engine.fail_after(Some(10));
    session.must("DELETE FROM t WHERE id = 3");
    assert_eq!(session.errno(count), 3889, "the refresh fails");
    session.must("SET use_secondary_engine = ON");
    assert_eq!(session.must(count), ["298"]);
    engine.fail_after(None);
    session.must("ALTER TABLE t SECONDARY_UNLOAD");
    session.must("SET use_secondary_engine = FORCED");
    let error = session.execute(count).expect_err("there is no copy");
    let text = "Secondary engine operation failed. Reason: \"table test.t is not loaded\".";
    assert_eq!(error.message(), text);
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn rows_that_change_during_a_load_are_refreshed() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    let mut other = fixture.session();
    table(&mut session, 300);
    let before = expected(&mut session);
    engine.hold(true);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| session.must("ALTER TABLE t SECONDARY_LOAD"));
        engine.wait_for_load();
        let state =
            other.must("SELECT STATE FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER%'");
        assert_eq!(state, ["loading into secondary engine"]);
        assert_eq!(other.must(STATUS), ["LOADING_RPDGSTABSTATE"]);
        other.must("UPDATE t SET v = 'late' WHERE id = 300");
        engine.hold(false);
        load.join().expect("the load ends");
    });
    assert_eq!(
        engine.rows("test.t"),
        before,
        "the rows are those of the snapshot"
    );
    assert_eq!(session.must(STATUS), ["STALE_RPDGSTABSTATE"]);
    session.must("SET GLOBAL secondary_engine_refresh = 5");
    wait_until("the refresh", || {
        session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
    });
    assert_eq!(engine.rows("test.t"), expected(&mut session));
    drop((session, other));
    unplug(&fixture, &engine);
}

#[test]
fn definitions_end_copies() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    for change in [
        "ALTER TABLE t ADD COLUMN w INT",
        "ALTER TABLE t COMMENT = 'x'",
        "ALTER TABLE t RENAME TO u",
        "RENAME TABLE t TO u",
        "TRUNCATE TABLE t",
        "CREATE INDEX i ON t (v)",
        "ALTER TABLE t SECONDARY_ENGINE = NULL",
        "CREATE OR REPLACE TABLE t (a INT) SECONDARY_ENGINE = CLUSTER",
        "DROP TABLE t",
        "DROP DATABASE test",
    ] {
        table(&mut session, 10);
        session.must("ALTER TABLE t SECONDARY_LOAD");
        assert_eq!(engine.rows("test.t").len(), 10);
        session.must(change);
        assert_eq!(engine.parts().len(), 0, "{change}");
        let shown = session.must("SELECT * FROM performance_schema.rpd_tables");
        assert!(shown.is_empty(), "{change}: {shown:?}");
        session.must("CREATE DATABASE IF NOT EXISTS test");
        session.must("DROP TABLE IF EXISTS test.t, test.u");
        session.must("USE test");
    }
    // What leaves the columns and the rows alone leaves the copy.
    table(&mut session, 10);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    session.must("ANALYZE TABLE t UPDATE HISTOGRAM ON v");
    session.must("OPTIMIZE TABLE t");
    session.must("ALTER TABLE t SECONDARY_LOAD");
    assert_eq!(session.must(STATUS), ["AVAIL_RPDGSTABSTATE"]);
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn a_killed_or_failed_load_leaves_the_table_as_it_was() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    engine.hold(true);
    let handle = session.kill_handle();
    std::thread::scope(|scope| {
        let load = scope.spawn(|| session.errno("ALTER TABLE t SECONDARY_LOAD"));
        engine.wait_for_load();
        handle.kill();
        assert_eq!(load.join().expect("the load ends"), 1317);
    });
    engine.hold(false);
    assert!(engine.parts().is_empty());
    assert!(
        session
            .must("SELECT * FROM performance_schema.rpd_tables")
            .is_empty()
    );
    engine.fail_after(Some(100));
    let error = session
        .execute("ALTER TABLE t SECONDARY_LOAD")
        .expect_err("it fails");
    let text = "Secondary engine operation failed. The memory is full after 128 rows.";
    assert_eq!((error.errno(), error.message()), (3889, text));
    assert!(engine.parts().is_empty());
    let options = "SELECT CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_NAME = 't'";
    assert!(session.value(options).ends_with("SECONDARY_LOAD=\"0\""));
    // The third part fails: the first two are removed.
    session.must("ALTER TABLE t COMMENT = 'x'");
    engine.fail_after(None);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    engine.fail_after(Some(100));
    assert_eq!(session.errno("ALTER TABLE t SECONDARY_LOAD"), 3889);
    assert_eq!(
        session.must(STATUS),
        ["STALE_RPDGSTABSTATE"],
        "the old copy stays"
    );
    assert_eq!(engine.rows("test.t").len(), 300);
    let shown = session.value("SELECT LAST_ERROR FROM performance_schema.rpd_tables");
    assert_eq!(shown, text);
    engine.fail_after(None);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    assert_eq!(session.must(STATUS), ["AVAIL_RPDGSTABSTATE"]);
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn a_definition_does_not_wait_for_a_refresh() {
    let _watchdog = Watchdog::new();
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    engine.hold(true);
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    session.must("SET GLOBAL secondary_engine_refresh = 5");
    engine.wait_for_load();
    session.must("ALTER TABLE t ADD COLUMN w INT");
    engine.hold(false);
    wait_until("the end of the refresh", || engine.parts().is_empty());
    assert!(
        session
            .must("SELECT * FROM performance_schema.rpd_tables")
            .is_empty()
    );
    drop(session);
    unplug(&fixture, &engine);
}

#[test]
fn an_engine_is_taken_out_during_a_refresh() {
    let _watchdog = Watchdog::new();
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    table(&mut session, 300);
    session.must("ALTER TABLE t SECONDARY_LOAD");
    engine.hold(true);
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    session.must("SET GLOBAL secondary_engine_refresh = 5");
    engine.wait_for_load();
    unplug(&fixture, &engine);
    let warned = session.must("ALTER TABLE t SECONDARY_LOAD; SHOW WARNINGS");
    assert_eq!(warned, ["Warning\t1286\tUnknown storage engine 'cluster'"]);
}

#[test]
fn loaded_tables_are_loaded_again_after_a_restart() {
    let directory = DataDirectory::new("secondary-engine");
    let database = directory.open();
    let engine = plug(&database, 100);
    let mut session = database.session();
    table(&mut session, 300);
    session.must_all([
        "CREATE TABLE unloaded LIKE t",
        "CREATE TABLE dropped LIKE t",
        "CREATE TABLE altered LIKE t",
    ]);
    for table in ["t", "unloaded", "dropped", "altered"] {
        session.must(&format!("ALTER TABLE {table} SECONDARY_LOAD"));
    }
    session.must("ALTER TABLE unloaded SECONDARY_UNLOAD");
    session.must("DROP TABLE dropped");
    session.must("ALTER TABLE altered COMMENT = 'x'");
    session.must("UPDATE t SET v = 'x' WHERE id = 1");
    drop(session);
    drop(database);
    wait_until("the end of the process's parts", || {
        engine.parts().is_empty()
    });
    let database = directory.open();
    let mut session = database.session();
    let definition = session.value("SHOW CREATE TABLE t");
    assert!(
        definition.contains("`secret` int NOT SECONDARY DEFAULT NULL"),
        "{definition}"
    );
    assert!(session.must(STATUS).is_empty(), "no engine is plugged in");
    let engine = MemoryEngine::new(100);
    engine.hold(true);
    let plugged = database.set_secondary_engine(Some(Arc::clone(&engine) as _));
    plugged.expect("an engine is plugged in");
    engine.wait_for_load();
    engine.hold(false);
    wait_until("the load", || {
        session.must(STATUS) == ["AVAIL_RPDGSTABSTATE"]
    });
    assert_eq!(engine.rows("test.t"), expected(&mut session));
    let names = session.must("SELECT TABLE_NAME FROM performance_schema.rpd_table_id");
    assert_eq!(names, ["t"]);
}

#[test]
fn a_load_needs_columns_partitions_and_locks_as_elsewhere() {
    let (fixture, engine) = fixture();
    let mut session = fixture.session();
    session.must("CREATE TABLE t (a INT) SECONDARY_ENGINE = CLUSTER");
    session.must("CREATE TABLE p (a INT) SECONDARY_ENGINE = CLUSTER PARTITION BY HASH (a)");
    assert_eq!(
        session.errno("ALTER TABLE t SECONDARY_LOAD PARTITION (p0)"),
        1505
    );
    assert_eq!(
        session.errno("ALTER TABLE p SECONDARY_LOAD PARTITION (p0)"),
        1235
    );
    session.must("ALTER TABLE p SECONDARY_LOAD");
    session.must("CREATE TABLE n (a INT NOT SECONDARY) SECONDARY_ENGINE = CLUSTER");
    assert_eq!(session.errno("ALTER TABLE n SECONDARY_LOAD"), 3889);
    session.must("LOCK TABLES p READ");
    assert_eq!(session.errno("ALTER TABLE t SECONDARY_LOAD"), 1100);
    session.must("UNLOCK TABLES");
    let members = session.must("SHOW CLUSTER");
    assert_eq!(
        members,
        ["memory\texecutor\t127.0.0.1:1\tAVAILABLE\t2\t0\t0\t1048576\t0"]
    );
    drop(session);
    unplug(&fixture, &engine);
    assert!(fixture.session().must("SHOW CLUSTER").is_empty());
}
