//! A statement is killed from another thread: it gives error 1317 soon, whatever it is doing, and the session
//! continues.

use std::time::{Duration, Instant};

use mayfly_testkit::cases;
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

/// Statements that would take hours.
const ENDLESS: &[&str] = &[
    "SELECT COUNT(*) FROM t AS a, t AS b, t AS c, t AS d, t AS e",
    "SELECT COUNT(*) FROM t AS a, t AS b, t AS c, t AS d WHERE a.i + b.i + c.i = d.i * 7",
    "SELECT a.i, COUNT(*) FROM t AS a, t AS b, t AS c, t AS d, t AS e GROUP BY a.i",
    "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.one = b.one JOIN t AS c ON b.one = c.one \
     JOIN t AS d ON c.one = d.one JOIN t AS e ON d.one = e.one",
    "SELECT COUNT(*) FROM t WHERE (SELECT COUNT(*) FROM t AS a, t AS b, t AS c WHERE a.i + b.i + c.i <> t.i) > 0",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
    "SELECT SLEEP(1000)",
];

/// Greatest time of a statement after it was killed; generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn kill_each(batch_size: usize) {
    let fixture = Fixture::open(|options| options.batch_size = batch_size);
    let mut session = fixture.session();
    session.must("SET SESSION cte_max_recursion_depth = 4294967295");
    session.must("CREATE TABLE t (i INT, one INT)");
    session.must("INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 1000) \
         SELECT n, 1 FROM r");
    for sql in ENDLESS {
        let handle = session.kill_handle();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            handle.kill();
            Instant::now()
        });
        let outcome = session.rows(sql);
        let killed = killer.join().expect("the killer does not panic");
        let late = killed.elapsed();
        // An interrupted SLEEP returns 1 when the statement does nothing else.
        match outcome {
            Err(error) => {
                assert!(!sql.contains("SLEEP"), "{sql}: {error}");
                assert_eq!(error.errno(), 1317, "{sql}: {error}");
            }
            Ok(rows) => {
                assert!(sql.contains("SLEEP"), "{sql} ended by itself: {rows:?}");
                assert_eq!(rows, ["1"]);
            }
        }
        assert!(late < PATIENCE, "{sql} went on for {late:?}");
        assert_eq!(
            session.must("SELECT COUNT(*) FROM t"),
            ["1000"],
            "after {sql}"
        );
    }
}

/// KILL TEMPORARY TABLE ends another session's table, whatever its engine: its rows and their memory are freed, and the
/// next statement that uses it gets the error.
#[test]
fn a_table_of_create_temporary_table_is_ended_by_its_number() {
    let fixture = Fixture::open(|_| {});
    let mut session = fixture.session();
    let mut root = fixture.session();
    // Ids of tables differ from ids of temporary tables.
    session.must_all(["CREATE TABLE one (i INT)", "CREATE TABLE two (i INT)"]);
    session.must("CREATE TABLE shared (i INT) ENGINE = MEMORY");
    for engine in ["InnoDB", "MEMORY", "MyISAM"] {
        session.must(&format!(
            "CREATE TEMPORARY TABLE own (i INT, KEY (i)) ENGINE = {engine}"
        ));
        session.must("INSERT INTO own VALUES (1), (2)");
        let shown = root.must(
            "SELECT ID FROM information_schema.TEMP_TABLES WHERE NAME = 'test.own' AND `ROWS` = 2",
        );
        let [id] = shown.as_slice() else {
            panic!("{engine}: {shown:?}");
        };
        let own = session.must("SHOW TEMPORARY TABLES");
        assert!(own[0].starts_with(&format!("{id}\t")), "{engine}: {own:?}");
        root.must(&format!("KILL TEMPORARY TABLE {id}"));
        let error = session.rows("SELECT * FROM own").unwrap_err();
        assert_eq!(error.errno(), 1317, "{engine}: {error}");
        assert_eq!(root.must("SELECT MEMORY_BYTES, DISK_BYTES FROM information_schema.TEMP_TABLES WHERE NAME = 'test.own'"), ["0\t0"], "{engine}");
        session.must("DROP TEMPORARY TABLE own");
        assert_eq!(
            root.errno(&format!("KILL TEMPORARY TABLE {id}")),
            1109,
            "{engine}"
        );
    }
    // A table visible to all sessions is not a temporary one.
    session.must("INSERT INTO shared VALUES (1)");
    for id in 0..100 {
        assert_eq!(
            root.errno(&format!("KILL TEMPORARY TABLE {id}")),
            1109,
            "{id}"
        );
    }
    assert_eq!(session.must("SELECT COUNT(*) FROM shared"), ["1"]);
    session.must("DROP TABLE one, two, shared");
}

cases! { kill_each:
    a_killed_statement_ends_soon(8192);
    a_killed_statement_ends_soon_in_small_batches(3);
}

#[test]
fn a_kill_between_statements_is_forgotten() {
    let (_fixture, mut session) = Fixture::with_session();
    session.kill_handle().kill();
    assert_eq!(session.must("SELECT 1"), ["1"]);
}

/// Statement of a session, and one that waits for it in a second session.
const WAITING: &[&str] = &[
    "UPDATE t SET one = 2 WHERE i = 1 | UPDATE t SET one = 3 WHERE i = 1",
    "UPDATE t SET one = 2 WHERE i = 1 | SELECT * FROM t WHERE i = 1 FOR UPDATE",
    "INSERT INTO t VALUES (7, 7) | INSERT INTO t VALUES (7, 8)",
    "SELECT COUNT(*) FROM t | DROP TABLE t",
    "SELECT COUNT(*) FROM t | ALTER TABLE t ADD COLUMN c INT",
    "SELECT COUNT(*) FROM t | LOCK TABLES t WRITE",
];

#[test]
fn a_wait_for_a_lock_is_killed() {
    let (fixture, mut holder) = Fixture::with_session();
    holder.must("CREATE TABLE t (i INT PRIMARY KEY, one INT)");
    holder.must("INSERT INTO t VALUES (1, 1), (2, 1)");
    for statements in WAITING {
        let (holds, waits) = statements.split_once(" | ").expect("two statements");
        holder.must("BEGIN");
        holder.must(holds);
        let mut session = fixture.session();
        let handle = session.kill_handle();
        let waiter = std::thread::spawn(move || {
            let outcome = session.rows(waits);
            (outcome, Instant::now(), session)
        });
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waiter.is_finished(), "{waits} does not wait");
        let killed = Instant::now();
        handle.kill();
        let (outcome, ended, mut session) = waiter.join().expect("it does not panic");
        let error = outcome.expect_err(waits);
        assert_eq!(error.errno(), 1317, "{waits}: {error}");
        assert!(ended - killed < PATIENCE, "{waits}");
        holder.must("ROLLBACK");
        // The session holds no lock that would block this.
        session.must("UPDATE t SET one = one + 1 WHERE i = 1");
    }
}
