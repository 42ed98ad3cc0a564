//! A statement is killed, or panics, at each moment at which it asks whether it was killed: in
//! memory and on disk, on one thread and on several, in large and in small batches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_engine::{Checkpoint, KillHandle, Session};
use mayfly_memory::io::{Fault, FaultIo, SystemIo};
use mayfly_testkit::fixture::{Fixture, Watchdog, must, quiet_panics, rows};
use mayfly_testkit::workload::{self, N_ROWS, OVERFLOW, STATEMENTS, Statement};

/// Of a statement's checks, so many are struck.
const STRUCK: u64 = 150;

/// Counts checks, and does something at one of them.
#[derive(Debug, Default)]
struct Trap {
    reached: AtomicU64,
    due: AtomicU64,
    kill: OnceLock<KillHandle>,
    panics: bool,
}

impl Trap {
    /// Counts from now on, and snaps at the `due`-th check; 0 for never.
    fn arm(&self, due: u64) {
        self.due.store(due, Ordering::SeqCst);
        self.reached.store(0, Ordering::SeqCst);
    }

    fn reached(&self) -> u64 {
        self.reached.load(Ordering::SeqCst)
    }
}

impl Checkpoint for Trap {
    fn reached(&self) {
        let number = self.reached.fetch_add(1, Ordering::SeqCst) + 1;
        if number != self.due.load(Ordering::SeqCst) {
            return;
        }
        if self.panics {
            panic!("an injected bug");
        }
        self.kill.get().expect("set at the start").kill();
    }
}

#[derive(Debug, Clone, Copy)]
struct Way {
    threads: usize,
    batch_size: usize,
    overflow: bool,
}

const WAYS: &[Way] = &[
    Way {
        threads: 1,
        batch_size: 8192,
        overflow: false,
    },
    Way {
        threads: 1,
        batch_size: 50,
        overflow: true,
    },
    Way {
        threads: 3,
        batch_size: 100,
        overflow: false,
    },
    Way {
        threads: 3,
        batch_size: 300,
        overflow: true,
    },
];

fn open(way: Way, change: impl FnOnce(&mut mayfly_engine::DatabaseOptions)) -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.threads = way.threads;
        options.batch_size = way.batch_size;
        options.parallel_rows_min = 1;
        change(options);
    });
    let mut session = fixture.database.session();
    workload::fill(&mut session);
    if way.overflow {
        must(&mut session, OVERFLOW);
    }
    (fixture, session)
}

fn every_check(way: Way, panics: bool) {
    let _watchdog = Watchdog::new();
    let trap = Arc::new(Trap {
        panics,
        ..Trap::default()
    });
    let (fixture, mut session) = open(way, |options| options.checkpoint = Some(trap.clone()));
    let _ = trap.kill.set(session.kill_handle());
    let memory = fixture.database.memory_used();
    let threads = way.threads as u64;
    for Statement { name, sql, .. } in STATEMENTS.iter() {
        trap.arm(0);
        let expected = must(&mut session, sql);
        let checks = trap.reached();
        assert!(checks > 0, "{name} never asks");
        let step = usize::try_from((checks / STRUCK).max(1)).unwrap_or(1);
        for check in (1..=checks).step_by(step) {
            let here = format!("{name} at check {check} of {checks}, {way:?}");
            trap.arm(check);
            let outcome = rows(&mut session, sql);
            let later = trap.reached().saturating_sub(check);
            let snapped = trap.reached() >= check;
            trap.arm(0);
            match outcome {
                Err(error) if panics => {
                    assert_eq!(error.errno(), 1105, "{here}: {error}");
                    assert!(error.message().contains("injected"), "{here}: {error}");
                }
                Err(error) => assert_eq!(error.errno(), 1317, "{here}: {error}"),
                Ok(rows) => {
                    // Threads may share the work so that there are fewer checks.
                    assert!(threads > 1 && !snapped, "{here} went unnoticed");
                    assert_eq!(rows, expected, "{here}");
                }
            }
            // Each worker ends at its next check, but for those that were on their way; the
            // reason is asked for once more where it is not known. After a panic the others go on
            // with the batch or the partition at hand.
            let most = if panics { u64::MAX } else { 4 * threads };
            assert!(later <= most, "{here}: {later} checks after the kill");
            let database = &fixture.database;
            assert_eq!(database.memory_used(), memory, "{here}: memory");
            assert_eq!(database.temp_space_used(), 0, "{here}: temporary space");
            assert_eq!(database.temporary_table_count(), 0, "{here}: tables");
        }
        assert_eq!(must(&mut session, sql), expected, "{name} again");
    }
    assert_eq!(
        must(&mut session, "SELECT COUNT(*) FROM t"),
        [N_ROWS.to_string()]
    );
    workload::empty(&mut session);
    drop(session);
    fixture.finish();
}

#[test]
fn every_way_gives_the_same_rows() {
    let mut first = None;
    for way in WAYS {
        let (fixture, mut session) = open(*way, |_| {});
        let given: Vec<_> = STATEMENTS
            .iter()
            .map(|statement| (statement.name, must(&mut session, statement.sql)))
            .collect();
        workload::empty(&mut session);
        drop(session);
        fixture.finish();
        assert_eq!(
            &given,
            first.get_or_insert_with(|| given.clone()),
            "{way:?}"
        );
    }
}

#[test]
fn a_kill_at_any_check_ends_the_statement_in_memory() {
    every_check(WAYS[0], false);
}

#[test]
fn a_kill_at_any_check_ends_the_statement_on_disk() {
    every_check(WAYS[1], false);
}

#[test]
fn a_kill_at_any_check_ends_all_workers() {
    every_check(WAYS[2], false);
}

#[test]
fn a_kill_at_any_check_ends_all_workers_on_disk() {
    every_check(WAYS[3], false);
}

#[test]
fn a_panic_at_any_check_ends_the_statement() {
    quiet_panics();
    every_check(WAYS[0], true);
    every_check(WAYS[1], true);
}

#[test]
fn a_panic_at_any_check_ends_all_workers() {
    quiet_panics();
    every_check(WAYS[2], true);
    every_check(WAYS[3], true);
}

/// However long a pass over temporary files is, a kill ends it within a few calls.
#[test]
fn a_kill_at_any_call_on_temporary_files_ends_the_statement_soon() {
    for way in [WAYS[1], WAYS[3]] {
        let _watchdog = Watchdog::new();
        let due = Arc::new(AtomicU64::new(0));
        let handle: Arc<OnceLock<KillHandle>> = Arc::default();
        let io = Arc::new(FaultIo::listening(Arc::new(SystemIo), {
            let (due, handle) = (Arc::clone(&due), Arc::clone(&handle));
            move |call| {
                if due.load(Ordering::SeqCst) == call {
                    handle.get().expect("set at the start").kill();
                }
            }
        }));
        let (fixture, mut session) = open(way, |options| options.temp_io = io.clone());
        let _ = handle.set(session.kill_handle());
        for Statement { name, sql, .. } in STATEMENTS.iter().filter(|s| s.overflows) {
            io.arm(Fault::DeviceError, 0);
            let expected = must(&mut session, sql);
            let calls = io.calls();
            let step = usize::try_from((calls / STRUCK).max(1)).unwrap_or(1);
            for call in (1..=calls).step_by(step) {
                let here = format!("{name} at call {call} of {calls}, {way:?}");
                io.arm(Fault::DeviceError, 0);
                due.store(call, Ordering::SeqCst);
                let outcome = rows(&mut session, sql);
                due.store(0, Ordering::SeqCst);
                let later = io.calls().saturating_sub(call);
                match outcome {
                    Err(error) => assert_eq!(error.errno(), 1317, "{here}: {error}"),
                    // Nothing is asked between the last call and the last row.
                    Ok(rows) => assert_eq!(rows, expected, "{here}"),
                }
                let most = 4 * way.threads as u64;
                assert!(later <= most, "{here}: {later} calls after the kill");
                assert_eq!(fixture.database.temp_space_used(), 0, "{here}");
            }
        }
        workload::empty(&mut session);
        drop(session);
        fixture.finish();
    }
}
/// Who is first and how much each worker gets differs from run to run.
#[test]
fn every_run_of_workers_gives_the_same_rows() {
    for way in WAYS.iter().filter(|way| way.threads > 1) {
        let (_fixture, mut session) = open(*way, |_| {});
        for Statement { name, sql, .. } in STATEMENTS.iter() {
            let expected = must(&mut session, sql);
            for run in 1..=RUNS {
                assert_eq!(
                    must(&mut session, sql),
                    expected,
                    "{name}, run {run}, {way:?}"
                );
            }
        }
    }
}

/// Of each statement.
const RUNS: usize = 30;
