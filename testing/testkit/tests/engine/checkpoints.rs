//! A statement is killed, or panics, at each check for a kill: in memory and on disk, on one thread
//! and on several, in large and in small batches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_engine::{Checkpoint, KillHandle, Session};
use mayfly_memory::io::{Fault, FaultIo, SystemIo};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{Fixture, SessionExt, Watchdog, quiet_panics};
use mayfly_testkit::workload::{self, Events, N_ROWS, OVERFLOW, STATEMENTS, Statement};

/// Number of events struck per statement.
const STRUCK: u64 = 150;

/// The numbers of the struck events, of `count` events.
fn chosen(count: u64) -> impl Iterator<Item = u64> {
    let step = usize::try_from((count / STRUCK).max(1)).unwrap_or(1);
    (1..=count).step_by(step)
}

/// Checkpoint that counts checks, and acts at one of them.
#[derive(Debug, Default)]
struct Trap {
    reached: AtomicU64,
    due: AtomicU64,
    kill: OnceLock<KillHandle>,
    panics: bool,
}

impl Events for Trap {
    fn arm(&self, due: u64) {
        self.due.store(due, Ordering::SeqCst);
        self.reached.store(0, Ordering::SeqCst);
    }

    fn count(&self) -> u64 {
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
        // Checks that other threads reached before the kill do not count as after it.
        self.reached.store(number, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone, Copy)]
struct Way {
    threads: usize,
    batch_size: usize,
    overflow: bool,
}

const fn way(threads: usize, batch_size: usize, overflow: bool) -> Way {
    Way {
        threads,
        batch_size,
        overflow,
    }
}

const WAYS: &[Way] = &[
    way(1, 8192, false),
    way(1, 50, true),
    way(3, 100, false),
    way(3, 300, true),
];

fn open(way: Way, change: impl FnOnce(&mut mayfly_engine::DatabaseOptions)) -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.threads = way.threads;
        options.batch_size = way.batch_size;
        options.parallel_rows_min = 1;
        change(options);
    });
    let mut session = fixture.session();
    workload::fill(&mut session);
    if way.overflow {
        session.must(OVERFLOW);
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
    workload::strike(
        &mut session,
        STATEMENTS.iter(),
        &*trap,
        |count| {
            assert!(count > 0, "a statement never asks, {way:?}");
            chosen(count)
        },
        |_, struck| {
            let here = format!("{}, {way:?}", struck.here);
            match &struck.outcome {
                Err(error) if panics => {
                    assert_eq!(error.errno(), 1105, "{here}: {error}");
                    assert!(error.message().contains("injected"), "{here}: {error}");
                }
                Err(error) => assert_eq!(error.errno(), 1317, "{here}: {error}"),
                Ok(rows) => {
                    // Threads may share the work so that there are fewer checks.
                    let snapped = struck.later.is_some();
                    assert!(threads > 1 && !snapped, "{here} went unnoticed");
                    assert_eq!(rows, struck.expected, "{here}");
                }
            }
            // Each worker ends at its next check, except for checks in progress; the reason is read once more where it
            // is not known. After a panic the others finish the current batch or partition.
            let most = if panics { u64::MAX } else { 4 * threads };
            let later = struck.later.unwrap_or(0);
            assert!(later <= most, "{here}: {later} checks after the kill");
            let database = &fixture.database;
            assert_eq!(database.memory_used(), memory, "{here}: memory");
            assert_eq!(database.temp_space_used(), 0, "{here}: temporary space");
            assert_eq!(database.temporary_table_count(), 0, "{here}: tables");
        },
    );
    assert_eq!(session.must("SELECT COUNT(*) FROM t"), [N_ROWS.to_string()]);
}

#[test]
fn every_way_gives_the_same_rows() {
    let mut first = None;
    for way in WAYS {
        let (_fixture, mut session) = open(*way, |_| {});
        let given: Vec<_> = STATEMENTS
            .iter()
            .map(|statement| (statement.name, session.must(statement.sql)))
            .collect();
        assert_eq!(
            &given,
            first.get_or_insert_with(|| given.clone()),
            "{way:?}"
        );
    }
}

cases! { every_check:
    a_kill_at_any_check_ends_the_statement_in_memory(WAYS[0], false);
    a_kill_at_any_check_ends_the_statement_on_disk(WAYS[1], false);
    a_kill_at_any_check_ends_all_workers(WAYS[2], false);
    a_kill_at_any_check_ends_all_workers_on_disk(WAYS[3], false);
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

/// Backend of temporary files that kills the statement at one of the calls.
struct Calls {
    io: Arc<FaultIo>,
    strike: Arc<Strike>,
}

/// The struck call.
#[derive(Default)]
struct Strike {
    due: AtomicU64,
    /// The number of the last call.
    last: AtomicU64,
    /// Number of calls that other threads made between the struck one and the kill: on a busy machine, any number.
    between: AtomicU64,
    kill: OnceLock<KillHandle>,
}

impl Strike {
    fn called(&self, call: u64) {
        self.last.fetch_max(call, Ordering::SeqCst);
        if self.due.load(Ordering::SeqCst) == call {
            self.kill.get().expect("set at the start").kill();
            let between = self.last.load(Ordering::SeqCst) - call;
            self.between.store(between, Ordering::SeqCst);
        }
    }
}

impl Events for Calls {
    fn arm(&self, number: u64) {
        self.io.arm(Fault::DeviceError, 0);
        self.strike.last.store(0, Ordering::SeqCst);
        self.strike.between.store(0, Ordering::SeqCst);
        self.strike.due.store(number, Ordering::SeqCst);
    }

    fn count(&self) -> u64 {
        self.io.calls() - self.strike.between.load(Ordering::SeqCst)
    }
}

/// However long a pass over temporary files is, a kill ends it within a few calls.
#[test]
fn a_kill_at_any_call_on_temporary_files_ends_the_statement_soon() {
    for way in [WAYS[1], WAYS[3]] {
        let _watchdog = Watchdog::new();
        let strike = Arc::<Strike>::default();
        let io = Arc::new(FaultIo::listening(Arc::new(SystemIo), {
            let strike = Arc::clone(&strike);
            move |call| strike.called(call)
        }));
        let (fixture, mut session) = open(way, |options| options.temp_io = io.clone());
        let _ = strike.kill.set(session.kill_handle());
        let overflowing = STATEMENTS.iter().filter(|it| it.overflows);
        let calls = Calls { io, strike };
        workload::strike(&mut session, overflowing, &calls, chosen, |_, struck| {
            let here = format!("{}, {way:?}", struck.here);
            match &struck.outcome {
                Err(error) => assert_eq!(error.errno(), 1317, "{here}: {error}"),
                // There is no check between the last call and the last row.
                Ok(rows) => assert_eq!(rows, struck.expected, "{here}"),
            }
            let later = struck.later.unwrap_or(0);
            let most = 4 * way.threads as u64;
            assert!(later <= most, "{here}: {later} calls after the kill");
            assert_eq!(fixture.database.temp_space_used(), 0, "{here}");
        });
    }
}

/// The order of workers and the share of each differ from run to run.
#[test]
fn every_run_of_workers_gives_the_same_rows() {
    for way in WAYS.iter().filter(|way| way.threads > 1) {
        let (_fixture, mut session) = open(*way, |_| {});
        for Statement { name, sql, .. } in STATEMENTS.iter() {
            let expected = session.must(sql);
            for run in 1..=RUNS {
                assert_eq!(session.must(sql), expected, "{name}, run {run}, {way:?}");
            }
        }
    }
}

/// Number of runs of each statement.
const RUNS: usize = 30;
