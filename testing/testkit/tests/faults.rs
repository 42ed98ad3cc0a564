//! The n-th call on temporary files fails, for every n: the statement ends with a clear error or
//! with the right rows, everything else lives on, and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::Session;
use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_testkit::fixture::{Fixture, Watchdog, must, quiet_panics, rows};
use mayfly_testkit::workload::{self, N_ROWS, OVERFLOW, STATEMENTS, Statement};

/// Every one of the first so many calls fails in turn …
const EVERY_CALL_UP_TO: u64 = 200;
/// … and so many of the later ones.
const LATER_CALLS: u64 = 50;

fn open(io: Arc<dyn IoBackend>, threads: usize) -> Fixture {
    Fixture::open(|options| {
        options.temp_io = io;
        // With one thread the n-th call is the same call in every run.
        options.threads = threads;
        options.parallel_rows_min = 1;
    })
}

/// The numbers of the calls that are to fail, of so many.
fn struck(calls: u64) -> impl Iterator<Item = u64> {
    let later = calls.saturating_sub(EVERY_CALL_UP_TO);
    let step = (later / LATER_CALLS).max(1);
    let first = 1..=calls.min(EVERY_CALL_UP_TO);
    first.chain((EVERY_CALL_UP_TO + 1..=calls).step_by(usize::try_from(step).unwrap_or(1)))
}

/// A database with the tables of the workload, and another session with a table of its own.
struct World {
    fixture: Fixture,
    session: Session,
    bystander: Session,
    /// What the tables hold.
    memory: u64,
    /// Those of base tables, under `tmpdir`.
    files: usize,
}

impl World {
    fn new(io: Arc<dyn IoBackend>, threads: usize) -> Self {
        let fixture = open(io, threads);
        let mut bystander = fixture.database.session();
        must(&mut bystander, "CREATE TEMPORARY TABLE mine (i INT)");
        must(&mut bystander, "INSERT INTO mine VALUES (1), (2)");
        let mut session = fixture.database.session();
        workload::fill(&mut session);
        must(&mut session, OVERFLOW);
        let memory = fixture.database.memory_used();
        fixture.database.trim();
        Self {
            files: files(&fixture),
            fixture,
            session,
            bystander,
            memory,
        }
    }

    /// What the failed statement left, which is nothing.
    fn check(&mut self, here: &str) {
        let database = &self.fixture.database;
        assert_eq!(database.memory_used(), self.memory, "{here}: memory");
        assert_eq!(database.temp_space_used(), 0, "{here}: temporary space");
        assert_eq!(database.temporary_table_count(), 1, "{here}: tables");
        // Files that only wait for reuse.
        database.trim();
        assert_eq!(files(&self.fixture), self.files, "{here}: files");
        assert_eq!(
            must(&mut self.bystander, "SELECT SUM(i) FROM mine"),
            ["3"],
            "{here}"
        );
        assert_eq!(
            must(&mut self.session, "SELECT COUNT(*) FROM t"),
            [N_ROWS.to_string()],
            "{here}"
        );
    }

    fn finish(mut self) {
        workload::empty(&mut self.session);
        drop((self.session, self.bystander));
        self.fixture.finish();
    }
}

/// How many entries `tmpdir` has.
fn files(fixture: &Fixture) -> usize {
    let entries = std::fs::read_dir(fixture.tmpdir());
    entries.expect("it is there").count()
}

fn overflowing() -> impl Iterator<Item = &'static Statement> {
    STATEMENTS.iter().filter(|statement| statement.overflows)
}

fn every_call(fault: Fault) {
    let _watchdog = Watchdog::new();
    let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, 0));
    let mut world = World::new(io.clone(), 1);
    for Statement { name, sql, .. } in overflowing() {
        world.fixture.database.trim();
        io.arm(fault, 0);
        let expected = must(&mut world.session, sql);
        let calls = io.calls();
        assert!(calls > 0, "{name} does not overflow");
        for call in struck(calls) {
            let here = format!("{name}, {fault:?} at call {call} of {calls}");
            world.fixture.database.trim();
            io.arm(fault, call);
            let outcome = rows(&mut world.session, sql);
            io.arm(fault, 0);
            match outcome {
                Ok(_) if !fault.is_harmless() => panic!("{here}: went unnoticed"),
                Ok(rows) => assert_eq!(rows, expected, "{here}: a wrong result"),
                Err(error) => {
                    let text = error.message();
                    let path = world.fixture.tmpdir().to_string_lossy();
                    assert!(text.contains(&*path), "{here}: no file is named: {error}");
                    assert!(text.contains(" bytes"), "{here}: no bytes: {error}");
                    let kinds: &[u16] = match fault {
                        Fault::DiskFull | Fault::ShortWrite => &[1021],
                        Fault::ReadError | Fault::CorruptRead => &[1024],
                        Fault::OpenError => &[1026],
                        Fault::DeviceError => &[1024, 1026],
                        Fault::ShortMove | Fault::Signal => &[],
                    };
                    assert!(kinds.contains(&error.errno()), "{here}: {error}");
                }
            }
            world.check(&here);
        }
        assert_eq!(must(&mut world.session, sql), expected, "{name} again");
    }
    world.finish();
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
fn a_file_that_cannot_be_made_ends_the_statement_only() {
    every_call(Fault::OpenError);
}

#[test]
fn a_failing_read_ends_the_statement_only() {
    every_call(Fault::ReadError);
}

#[test]
fn a_short_write_ends_the_statement_only() {
    every_call(Fault::ShortWrite);
}

#[test]
fn a_corrupt_read_never_gives_a_wrong_result() {
    every_call(Fault::CorruptRead);
}

#[test]
fn calls_that_move_less_than_asked_are_no_failure() {
    every_call(Fault::ShortMove);
}

#[test]
fn signals_are_no_failure() {
    every_call(Fault::Signal);
}

/// A bug in the middle of a temporary file's call, with the locks held that are held there.
fn panic_in_every_call(threads: usize) {
    let _watchdog = Watchdog::new();
    quiet_panics();
    let due = Arc::new(AtomicU64::new(0));
    let io = Arc::new(FaultIo::listening(Arc::new(SystemIo), {
        let due = Arc::clone(&due);
        move |call| {
            // Once: the other workers must end by themselves.
            if due.load(Ordering::Relaxed) == call {
                panic!("an injected bug")
            }
        }
    }));
    let mut world = World::new(io.clone(), threads);
    for Statement { name, sql, .. } in overflowing() {
        world.fixture.database.trim();
        io.arm(Fault::DeviceError, 0);
        let expected = must(&mut world.session, sql);
        let calls = io.calls();
        for call in struck(calls) {
            let here = format!("{name}, a panic at call {call} of {calls}, {threads} threads");
            world.fixture.database.trim();
            io.arm(Fault::DeviceError, 0);
            due.store(call, Ordering::Relaxed);
            let outcome = rows(&mut world.session, sql);
            due.store(0, Ordering::Relaxed);
            match outcome {
                Err(error) => {
                    assert_eq!(error.errno(), 1105, "{here}: {error}");
                    assert!(
                        error.message().contains("an injected bug"),
                        "{here}: {error}"
                    );
                }
                // With threads, the same statement may need fewer calls.
                Ok(rows) => {
                    assert!(threads > 1, "{here}: went unnoticed");
                    assert_eq!(rows, expected, "{here}");
                }
            }
            world.check(&here);
        }
        assert_eq!(must(&mut world.session, sql), expected, "{name} again");
    }
    world.finish();
}

#[test]
fn a_panic_ends_the_statement_only() {
    panic_in_every_call(1);
}

#[test]
fn a_panic_of_a_worker_ends_the_statement_only() {
    panic_in_every_call(3);
}
