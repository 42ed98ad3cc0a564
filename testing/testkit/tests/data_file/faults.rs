//! Every n-th write or sync of the data file or its log fails, for every n: the statement or COMMIT fails with MySQL's
//! error, everything is as before, no committed work is lost, and the process continues: the statement succeeds as soon
//! as the disk works again.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_engine::{Database, DatabaseOptions, Session};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{DataDirectory, SessionExt, Watchdog};
use mayfly_testkit::groups::Groups;

use crate::calls::{Fault, arm, calls, disarm, syncs};

const BEFORE: &[&str] = &[
    "CREATE DATABASE work",
    "USE work",
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, s VARCHAR(100), KEY (v), UNIQUE KEY (s))",
    "INSERT INTO t WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 900) \
     SELECT i, i % 10, CONCAT('row ', i) FROM r",
    "CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "INSERT INTO numbered (v) VALUES (1), (2)",
    "CREATE TABLE bare (id INT, s VARCHAR(100))",
];

/// The statements, each with the statement that reverts it below.
const STATEMENTS: &str = "\
INSERT INTO t VALUES (1000, 1, 'new')
  DELETE FROM t WHERE id = 1000
INSERT INTO numbered (v) VALUES (5)
  DO 0
INSERT INTO bare SELECT id, s FROM t
  DELETE FROM bare
# So much that the blocks are not logged: a checkpoint brings them to disk.
CREATE TABLE u (KEY (k)) AS SELECT a.id k, REPEAT(MD5(a.id * 1000 + b.id), 3) s FROM t a JOIN t b ON b.id <= 40
  DROP TABLE u
UPDATE t SET v = v + 1, s = CONCAT(s, '.')
  UPDATE t SET v = v - 1, s = LEFT(s, LENGTH(s) - 1)
REPLACE INTO t VALUES (5, 50, 'five')
  REPLACE INTO t VALUES (5, 5, 'row 5')
BEGIN; DELETE FROM t WHERE id > 900; INSERT INTO t VALUES (901, 1, '901'); UPDATE t SET v = 7 WHERE id = 7; INSERT INTO bare VALUES (1, 'a'); COMMIT
  DELETE FROM t WHERE id = 901; DELETE FROM bare
DELETE FROM t WHERE id BETWEEN 100 AND 700
  INSERT INTO t WITH RECURSIVE r (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM r WHERE i < 700) SELECT i, i % 10, CONCAT('row ', i) FROM r
CREATE TABLE u (i INT PRIMARY KEY, j INT, KEY (j))
  DROP TABLE u
CREATE TABLE u (KEY (v)) AS SELECT id, v FROM t
  DROP TABLE u
ALTER TABLE t ADD COLUMN d INT DEFAULT 5
  ALTER TABLE t DROP COLUMN d
CREATE INDEX sv ON t (s, v)
  DROP INDEX sv ON t
ALTER TABLE t COMMENT 'other'
  ALTER TABLE t COMMENT ''
RENAME TABLE t TO u
  RENAME TABLE u TO t
TRUNCATE TABLE numbered
  INSERT INTO numbered (id, v) VALUES (1, 1), (2, 2)
CREATE VIEW seen AS SELECT * FROM t
  DROP VIEW seen
CREATE DATABASE other
  DROP DATABASE other
DROP TABLE bare
  CREATE TABLE bare (id INT, s VARCHAR(100))
";

/// A write buffer of 0 bytes, so that every commit writes to the file.
const NO_BUFFER: u64 = 0;
const BUFFER: u64 = 1 << 20;

fn open(directory: &Path, write_buffer: u64) -> Arc<Database> {
    let mut options = DatabaseOptions::new();
    options.threads = 1;
    let write_buffer = ("write_buffer_size".to_owned(), write_buffer.to_string());
    options.variables.push(write_buffer);
    options.datadir = Some(directory.join("data"));
    options.tmpdir = directory.join("tmp");
    Database::open(options).unwrap()
}

/// All definitions and rows.
fn look(session: &mut Session) -> Vec<String> {
    let mut seen = session.must("SHOW DATABASES");
    for table in session.must("SHOW TABLES FROM work") {
        let mut shown = session.must(&format!("SHOW CREATE TABLE work.{table}"));
        if let Some(place) = shown[0].find(" AUTO_INCREMENT=") {
            // A number that was taken is not given back.
            shown[0].truncate(place);
        }
        seen.extend(shown);
        seen.extend(session.must(&format!("SELECT * FROM work.{table} ORDER BY 1, 2")));
    }
    seen
}

fn assert_same(seen: &[String], before: &[String], place: &str) {
    let gone: Vec<_> = before.iter().filter(|line| !seen.contains(line)).collect();
    let come: Vec<_> = seen.iter().filter(|line| !before.contains(line)).collect();
    let is_same = gone.is_empty() && come.is_empty() && seen.len() == before.len();
    assert!(is_same, "{place}: {gone:?} became {come:?}");
}

struct World {
    directory: DataDirectory,
    database: Arc<Database>,
    session: Session,
    write_buffer: u64,
}

impl World {
    fn new(name: &str, write_buffer: u64) -> Self {
        let directory = DataDirectory::new(&format!("data-file-{name}"));
        std::fs::create_dir_all(directory.path().join("tmp")).unwrap();
        let database = open(directory.path(), write_buffer);
        let mut session = database.session();
        session.must_all(BEFORE);
        Self {
            directory,
            database,
            session,
            write_buffer,
        }
    }

    fn attempt(&mut self, sql: &str) -> Result<(), mayfly_engine::Error> {
        let outcome = self.session.rows(sql).map(|_| ());
        // A failed COMMIT has ended the transaction.
        let open = self.session.rows("ROLLBACK");
        assert!(open.is_ok(), "{sql}: {open:?}");
        outcome
    }

    fn finish(self) {
        let Self {
            directory,
            database,
            mut session,
            write_buffer,
        } = self;
        let before = look(&mut session);
        drop(session);
        drop(database);
        let database = open(directory.path(), write_buffer);
        database.check().unwrap();
        assert_same(&look(&mut database.session()), &before, "after a restart");
    }
}

/// Lock that tests hold alone, since calls are counted for the whole process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock();
    alone.unwrap_or_else(PoisonError::into_inner)
}

fn every_call(fault: Fault) {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let mut world = World::new(&format!("{fault:?}"), NO_BUFFER);
    for (sql, undo) in Groups::read(STATEMENTS).iter() {
        let undo = undo[0];
        let mut before = look(&mut world.session);
        let mut call = 0;
        let mut injected = 0;
        loop {
            call += 1;
            arm(fault, call);
            let outcome = world.attempt(sql);
            let made = calls();
            let failed = disarm();
            let here = format!("{sql}: {fault:?} at call {call} of {made}");
            injected += failed;
            let Err(error) = outcome else {
                if made < call {
                    break;
                }
                // Another write may write the missing bytes of a short one, and a write that found the disk full is
                // repeated where the reserve may be used.
                let is_overcome = matches!(fault, Fault::ShortWrite | Fault::DiskFull);
                assert!(is_overcome, "{here}: went unnoticed");
                world.session.must(undo);
                before = look(&mut world.session);
                continue;
            };
            assert!(failed > 0, "{here}: {error}");
            assert!([1021, 1026].contains(&error.errno()), "{here}: {error}");
            assert_same(&look(&mut world.session), &before, &here);
            if call % 4 == 1 {
                let checked = world.database.check();
                assert!(checked.is_ok(), "{here}: {checked:?}");
            }
            if call % 4 == 3 {
                // The process continues.
                let again = world.attempt("INSERT INTO numbered (id, v) VALUES (99, 1)");
                assert!(again.is_ok(), "{here}: {again:?}");
                world.session.must("DELETE FROM numbered WHERE id = 99");
            }
        }
        assert!(injected > 0, "{sql} writes nothing");
        let after = look(&mut world.session);
        world.database.check().unwrap();
        world.session.must(undo);
        if undo != "DO 0" {
            assert_ne!(after, before, "{sql}");
        }
    }
    world.finish();
}

/// Commits while an old snapshot is read, although the file was closed as failed.
#[test]
fn readers_go_on_while_nothing_can_be_written() {
    let _alone = alone();
    let mut world = World::new("readers", NO_BUFFER);
    let mut reader = world.database.session();
    reader.must("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    world.session.must("INSERT INTO bare VALUES (1, 'a')");
    // The last write of a commit decides which state is the last one.
    let insert = "INSERT INTO bare VALUES (2, 'b')";
    arm(Fault::DeviceError, 0);
    world.session.must(insert);
    let last = calls();
    disarm();
    arm(Fault::DeviceError, last);
    let error = world.attempt(insert).unwrap_err();
    assert_eq!(disarm(), 1);
    assert_eq!(error.errno(), 1026);
    // The reader's snapshot is older, and keeps the file open.
    assert_eq!(reader.must("SELECT COUNT(*) FROM work.bare"), ["0"]);
    assert_eq!(world.session.must("SELECT COUNT(*) FROM bare"), ["2"]);
    let error = world.attempt(insert).unwrap_err();
    assert_eq!(error.errno(), 1026, "{error}");
    assert_eq!(world.session.must("SELECT COUNT(*) FROM bare"), ["2"]);
    assert_eq!(reader.must("SELECT COUNT(*) FROM work.bare"), ["0"]);
    reader.must("COMMIT");
    world.session.must(insert);
    assert_eq!(reader.must("SELECT COUNT(*) FROM work.bare"), ["3"]);
    drop(reader);
    world.finish();
}

/// Concurrent commits: log records behind a failing commit are not lost, the failed commit does not reappear, and a
/// file that was closed as failed is soon open again.
fn several_sessions(fault: Fault, write_buffer: u64) {
    const SESSIONS: u64 = 4;
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let mut world = World::new(&format!("several-{fault:?}"), write_buffer);
    world
        .session
        .must("CREATE TABLE kept (id INT PRIMARY KEY, s VARCHAR(100), KEY (s))");
    let (mut failed, mut acknowledged) = (0, 0);
    for round in 0..24 {
        let insert = |session: u64| {
            let mut own = world.database.session();
            own.must("USE work");
            let numbers = 0..30;
            let ids = numbers.map(|number| (round * SESSIONS + session) * 30 + number);
            let (kept, lost): (Vec<_>, Vec<_>) = ids.partition(|id| {
                let sql = format!("INSERT INTO kept VALUES ({id}, REPEAT(MD5({id}), 3))");
                own.rows(&sql).is_ok()
            });
            (kept.len(), lost.len())
        };
        arm(fault, 1 + round * 3);
        std::thread::scope(|scope| {
            let sessions = (0..SESSIONS).map(|session| scope.spawn(move || insert(session)));
            for session in sessions.collect::<Vec<_>>() {
                let (kept, lost) = session.join().unwrap();
                acknowledged += kept;
                failed += lost;
            }
        });
        disarm();
        let count = world.session.must("SELECT COUNT(*) FROM kept");
        assert_eq!(count, [acknowledged.to_string()], "round {round}");
        if round % 4 == 0 {
            // State that a process would find after a kill at this point.
            let copy = world.directory.path().join("copy");
            std::fs::create_dir_all(copy.join("data")).unwrap();
            for file in ["redo.log", "data.mdb"] {
                let (from, to) = (world.directory.path().join("data"), copy.join("data"));
                std::fs::copy(from.join(file), to.join(file)).unwrap();
            }
            std::fs::create_dir_all(copy.join("tmp")).unwrap();
            let database = open(&copy, write_buffer);
            database.check().unwrap();
            let seen = look(&mut database.session());
            assert_same(&seen, &look(&mut world.session), &format!("round {round}"));
            drop(database);
            std::fs::remove_dir_all(&copy).unwrap();
        }
    }
    // A failing commit affects only its group and commits in flight.
    let least = usize::from(fault != Fault::DiskFull);
    assert!((least..=240).contains(&failed), "{failed}");
    world.database.check().unwrap();
    world.finish();
}

#[test]
fn who_commits_beside_one_that_fails_is_not_lost() {
    for write_buffer in [NO_BUFFER, BUFFER] {
        several_sessions(Fault::DeviceError, write_buffer);
        several_sessions(Fault::DiskFull, write_buffer);
        several_sessions(Fault::LateError, write_buffer);
    }
}

/// Committed work in memory and in the log stays when it cannot be written to the file.
#[test]
fn what_is_in_memory_stays_when_it_cannot_be_written() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let faults = [Fault::DeviceError, Fault::DiskStaysFull, Fault::LateError];
    for (fault, backs_up) in faults
        .into_iter()
        .flat_map(|fault| [(fault, false), (fault, true)])
    {
        let mut world = World::new(&format!("buffer-{fault:?}-{backs_up}"), BUFFER);
        let copy = world.directory.path().join("copy");
        let mut call = 0;
        loop {
            call += 1;
            world.session.must_all([
                "INSERT INTO numbered (v) VALUES (7), (8)",
                "UPDATE t SET v = v + 1, s = CONCAT(s, '.') WHERE id % 100 = 3",
                "DELETE FROM numbered WHERE v = 7",
            ]);
            let used = "SHOW GLOBAL STATUS LIKE 'Write_buffer_used'";
            assert_ne!(world.session.must(used), ["Write_buffer_used\t0"]);
            let before = look(&mut world.session);
            arm(fault, call);
            // Size of the written data; as for a copy, the file first gets the data in memory.
            let outcome = if backs_up {
                world.database.backup(&copy)
            } else {
                world.attempt("UPDATE t SET v = v + 1, s = CONCAT(s, '.')")
            };
            let (made, failed) = (calls(), disarm());
            let _ = std::fs::remove_dir_all(&copy);
            let here = format!("{fault:?} at call {call} of {made}");
            match outcome {
                Err(error) => {
                    assert!(failed > 0, "{here}: {error}");
                    assert_same(&look(&mut world.session), &before, &here);
                    world.database.check().unwrap();
                }
                Ok(()) => {
                    assert!(made < call, "{here}: went unnoticed");
                    assert_eq!(world.session.must(used), ["Write_buffer_used\t0"]);
                    break;
                }
            }
        }
        assert!(call > 2, "{fault:?}: {call}");
        world.finish();
    }
}

/// Statements that free space may use the reserve for a full disk, and so may opening.
#[test]
fn rows_and_tables_are_removed_and_a_directory_is_opened_on_a_full_disk() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    for write_buffer in [NO_BUFFER, BUFFER] {
        let mut world = World::new(&format!("reserve-{write_buffer}"), write_buffer);
        world.session.must("CREATE VIEW seen AS SELECT * FROM t");
        for sql in [
            "DELETE FROM t WHERE id BETWEEN 100 AND 700",
            "DELETE FROM t WHERE id = 5",
            "BEGIN; DELETE FROM t WHERE id = 6; DELETE FROM numbered WHERE id = 1; COMMIT",
            "TRUNCATE TABLE numbered",
            "DROP VIEW seen",
            "DROP TABLE bare",
        ] {
            let before = look(&mut world.session);
            arm(Fault::DiskFullToReserve, 1);
            for adds in [
                "INSERT INTO numbered (id, v) VALUES (90, 5)",
                "UPDATE t SET v = v + 1",
                "CREATE TABLE more (i INT)",
            ] {
                let error = world.attempt(adds).unwrap_err();
                assert_eq!(error.errno(), 1021, "{adds}: {error}");
            }
            let outcome = world.attempt(sql);
            assert!(disarm() > 3, "{sql}");
            assert!(outcome.is_ok(), "{sql}: {outcome:?}");
            assert_ne!(look(&mut world.session), before, "{sql}");
        }
        world.session.must("INSERT INTO numbered (v) VALUES (1)");
        let before = look(&mut world.session);
        let World {
            directory,
            database,
            session,
            ..
        } = world;
        drop(session);
        drop(database);
        arm(Fault::DiskFullToReserve, 1);
        let database = open(directory.path(), write_buffer);
        let mut session = database.session();
        assert_eq!(look(&mut session), before);
        database.check().unwrap();
        session.must("DROP TABLE work.t");
        assert!(disarm() > 0);
        // Without a reserve, too.
        drop(session);
        drop(database);
        std::fs::remove_file(directory.path().join("data/reserve")).unwrap();
        let mut session = open(directory.path(), write_buffer).session();
        assert_eq!(session.must("SHOW TABLES FROM work"), ["numbered"]);
    }
}

/// Number of syncs during `work`, and its duration.
fn syncs_of(work: impl FnOnce()) -> (u64, Duration) {
    arm(Fault::DiskFull, 0);
    let begun = Instant::now();
    work();
    let took = begun.elapsed();
    let made = syncs();
    disarm();
    (made, took)
}

/// Greatest time to wait for a background sync.
const PATIENCE: Duration = Duration::from_secs(60);

/// `innodb_flush_log_at_trx_commit`
#[test]
fn commits_are_synced_as_the_setting_says() {
    let _alone = alone();
    let mut world = World::new("flush", BUFFER);
    let session = &mut world.session;
    // A little more than the time after which the log is synced in the background.
    let idle = || syncs_of(|| std::thread::sleep(Duration::from_millis(1200))).0;
    for setting in [1, 0, 2, 1] {
        session.must(&format!(
            "SET GLOBAL innodb_flush_log_at_trx_commit = {setting}"
        ));
        let (made, took) = syncs_of(|| {
            for _ in 0..30 {
                session.must("INSERT INTO bare VALUES (1, 'a')");
            }
            session.must(
                "BEGIN; INSERT INTO bare VALUES (2, 'b'); DELETE FROM bare WHERE id = 1; COMMIT",
            );
            session.must("BEGIN; DELETE FROM bare; ROLLBACK");
            session.must("SELECT COUNT(*) FROM bare");
            session.must("CREATE TEMPORARY TABLE own SELECT * FROM t");
            session.must("DROP TEMPORARY TABLE own");
        });
        if setting == 1 {
            assert_eq!(made, 31, "each commit");
            assert_eq!(idle(), 0, "everything was synced");
            continue;
        }
        assert!(made <= 1 + took.as_secs(), "{setting}: {made} in {took:?}");
        let (later, _) = syncs_of(|| {
            let begun = Instant::now();
            while made + syncs() == 0 && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(made + later >= 1, "{setting}: about a second later");
        assert!(
            idle() + later <= 1,
            "{setting}: there was nothing more to sync"
        );
        assert_eq!(idle(), 0, "{setting}: nothing was committed");
    }
    world.finish();
}

cases! { every_call:
    a_full_disk_ends_the_statement_only(Fault::DiskFull);
    a_disk_that_stays_full_ends_the_statement_only(Fault::DiskStaysFull);
    a_short_write_ends_the_statement_only(Fault::ShortWrite);
    a_failing_device_ends_the_statement_only(Fault::DeviceError);
    an_error_after_the_write_ends_the_statement_only(Fault::LateError);
}
