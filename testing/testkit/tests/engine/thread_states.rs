//! A running statement as other sessions see it: its stage, which is read at each of its checks for a kill, and at its
//! waits; and its time of waiting for locks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mayfly_engine::{Checkpoint, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt, Watchdog};

/// Greatest time of something immediate, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checkpoint that reads the state of a session at each check of any other statement.
#[derive(Debug, Default)]
struct Watcher {
    session: Mutex<Option<(Session, u64)>>,
    seen: Mutex<BTreeSet<String>>,
}

impl Checkpoint for Watcher {
    fn reached(&self) {
        // The reading statement has checks, too.
        let Ok(mut watching) = self.session.try_lock() else {
            return;
        };
        if let Some((session, watched)) = &mut *watching {
            let states = session.must(&state_of(*watched));
            self.seen.lock().expect("no panic").extend(states);
        }
    }
}

fn state_of(session: u64) -> String {
    format!("SELECT state FROM information_schema.processlist WHERE id = {session}")
}

#[test]
fn a_statement_shows_what_it_is_busy_with() {
    let _watchdog = Watchdog::new();
    let watcher = Arc::new(Watcher::default());
    let fixture = Fixture::open(|options| {
        options.threads = 1;
        options.batch_size = 100;
        options.checkpoint = Some(watcher.clone());
    });
    let mut session = fixture.session();
    session.must("CREATE DATABASE states");
    session.must("USE states");
    session.must("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(40), c INT)");
    session.must(
        "INSERT INTO t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999) \
         SELECT i, CONCAT('value number ', i), i % 7 FROM n",
    );
    let asking = (fixture.session(), session.id());
    *watcher.session.lock().expect("no panic") = Some(asking);
    for (sql, expected) in [
        ("SELECT b, COUNT(*) FROM t GROUP BY b", "Creating tmp table"),
        ("SELECT DISTINCT b FROM t", "Creating tmp table"),
        (
            "SELECT /*+ SET_VAR(tmp_table_size = 1024) */ b, COUNT(*) FROM t GROUP BY b",
            "Copying to tmp table on disk",
        ),
        ("SELECT * FROM t ORDER BY b", "Sorting result"),
        ("SELECT SUM(c) FROM t", "executing"),
        ("SELECT SLEEP(0.01)", "User sleep"),
        ("INSERT INTO t SELECT a + 10000, b, c FROM t", "update"),
        ("UPDATE t SET c = c + 1 WHERE b LIKE '%9%'", "updating"),
        ("DELETE FROM t WHERE a > 10000", "updating"),
        (
            "ALTER TABLE t MODIFY c BIGINT, ALGORITHM = COPY",
            "copy to tmp table",
        ),
    ] {
        watcher.seen.lock().expect("no panic").clear();
        session.must(sql);
        let seen = watcher.seen.lock().expect("no panic").clone();
        assert!(seen.contains(expected), "{sql}: {seen:?}");
    }
    session.must("DROP DATABASE states");
    // An idle session has no state. The watcher is dropped before the database is checked.
    let asking = watcher.session.lock().expect("no panic").take();
    let (mut asking, _) = asking.expect("it was set");
    let idle = format!(
        "SELECT LENGTH(state) FROM information_schema.processlist WHERE id = {}",
        session.id()
    );
    assert_eq!(asking.must(&idle), ["0"]);
}

/// Runs a statement in a thread until another session sees it in a state, then calls `release` to unblock it.
fn waits(
    fixture: &Fixture,
    mut waiting: Session,
    sql: &'static str,
    state: &str,
    release: impl FnOnce(),
) -> Session {
    let mut watcher = fixture.session();
    let id = waiting.id();
    let thread = std::thread::spawn(move || {
        waiting.must(sql);
        waiting
    });
    let begun = Instant::now();
    while watcher.must(&state_of(id)) != [state] {
        assert!(begun.elapsed() < PATIENCE, "{sql} is not in {state}");
        std::thread::sleep(Duration::from_millis(1));
    }
    release();
    thread.join().expect("the statement ends")
}

/// Whether the last statement of a text in the session has waited for locks.
fn has_waited(session: &mut Session, sql: &str) -> bool {
    let text = sql.replace('\'', "''");
    let found = session.must(&format!(
        "SELECT MAX(LOCK_TIME) > 0 FROM performance_schema.events_statements_history \
         WHERE THREAD_ID = CONNECTION_ID() AND SQL_TEXT = '{text}'"
    ));
    found == ["1"]
}

#[test]
fn waits_for_locks_are_seen_and_timed() {
    let _watchdog = Watchdog::new();
    let (fixture, mut holder) = Fixture::with_session();
    holder.must("CREATE DATABASE waits");
    holder.must("USE waits");
    holder.must("CREATE TABLE t (a INT PRIMARY KEY, b INT)");
    holder.must("INSERT INTO t VALUES (1, 1), (2, 2)");
    let mut other = fixture.session();
    other.must("USE waits");

    let sql = "SELECT COUNT(*) FROM t";
    other.must(sql);
    assert!(!has_waited(&mut other, sql));
    holder.must("LOCK TABLES t WRITE");
    let mut other = waits(
        &fixture,
        other,
        sql,
        "Waiting for table metadata lock",
        || {
            holder.must("UNLOCK TABLES");
        },
    );
    assert!(has_waited(&mut other, sql));

    let status = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                  WHERE VARIABLE_NAME = 'Innodb_row_lock_waits'";
    assert_eq!(other.must(status), ["0"]);
    let sql = "UPDATE t SET b = b + 1 WHERE a = 1";
    holder.must("BEGIN");
    holder.must(sql);
    let mut other = waits(&fixture, other, sql, "Waiting for row lock", || {
        holder.must("COMMIT");
    });
    assert!(has_waited(&mut other, sql));
    assert_eq!(other.must(status), ["1"]);

    holder.must("SELECT GET_LOCK('x', 0)");
    let sql = "SELECT GET_LOCK('x', 60)";
    let mut other = waits(&fixture, other, sql, "User lock", || {
        holder.must("SELECT RELEASE_LOCK('x')");
    });
    other.must("SELECT RELEASE_ALL_LOCKS()");
    // Such a lock is neither one of tables nor of rows.
    assert!(!has_waited(&mut other, sql));
    holder.must("DROP DATABASE waits");
}

#[test]
fn a_profile_adds_up_to_its_statement() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("SET profiling = 1");
    session.must("SELECT SLEEP(0.02)");
    session.must("SELECT 1");
    let profiles = session.rows("SHOW PROFILES").expect("profiles");
    let texts: Vec<&str> = profiles
        .iter()
        .filter_map(|row| row.split('\t').nth(2))
        .collect();
    assert_eq!(texts, ["SELECT SLEEP(0.02)", "SELECT 1"], "{profiles:?}");
    let whole: f64 = profiles[0]
        .split('\t')
        .nth(1)
        .and_then(|it| it.parse().ok())
        .expect("a number");
    assert!(whole >= 0.02);
    // SHOW PROFILE itself has no profile.
    let stages = session.rows("SHOW PROFILE FOR QUERY 1").expect("a profile");
    let durations = stages
        .iter()
        .filter_map(|row| row.split('\t').nth(1)?.parse::<f64>().ok());
    let sum: f64 = durations.sum();
    assert!((sum - whole).abs() < 0.001, "{stages:?} are not {whole}");
    let longest = stages.iter().find(|row| row.starts_with("User sleep"));
    assert!(longest.is_some(), "{stages:?}");
    let last = session
        .rows("SHOW PROFILE")
        .expect("that of the last statement");
    assert!(
        last.len() > 4 && !last.iter().any(|row| row.starts_with("User sleep")),
        "{last:?}"
    );
    assert_eq!(
        session.rows("SHOW PROFILE LIMIT 2").expect("a part").len(),
        2
    );
    let cpu = session
        .rows("SHOW PROFILE CPU, PAGE FAULTS FOR QUERY 1")
        .expect("its usage");
    assert!(
        cpu.iter().all(|row| row.split('\t').count() == 6),
        "{cpu:?}"
    );
}
