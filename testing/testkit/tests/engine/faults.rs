//! The n-th call on temporary files fails, for every n: the statement ends with a clear error or with the right rows,
//! everything else continues, and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{Fixture, SessionExt, Watchdog, files_in, quiet_panics};
use mayfly_testkit::workload::{self, Events, N_ROWS, OVERFLOW, STATEMENTS, Struck};

/// Number of first calls each of which fails in turn.
const EVERY_CALL_UP_TO: u64 = 200;
/// Number of later calls that fail.
const LATER_CALLS: u64 = 50;

/// The numbers of the calls that are to fail, of `calls` calls.
fn chosen(calls: u64) -> impl Iterator<Item = u64> {
    let later = calls.saturating_sub(EVERY_CALL_UP_TO);
    let step = (later / LATER_CALLS).max(1);
    let first = 1..=calls.min(EVERY_CALL_UP_TO);
    first.chain((EVERY_CALL_UP_TO + 1..=calls).step_by(usize::try_from(step).unwrap_or(1)))
}

/// The calls on temporary files.
struct Calls<'f, F> {
    io: &'f FaultIo,
    fixture: &'f Fixture,
    arm: F,
}

impl<F: Fn(u64)> Events for Calls<'_, F> {
    fn arm(&self, number: u64) {
        // Files that are idle.
        self.fixture.database.trim();
        (self.arm)(number);
    }

    fn count(&self) -> u64 {
        self.io.calls()
    }
}

/// Runs each statement that overflows, with each of its calls struck in turn by `arm`; `judge` checks the result. It
/// leaves nothing behind, and another session with its own table continues.
fn strike_every_call(
    io: &Arc<FaultIo>,
    threads: usize,
    arm: impl Fn(u64),
    judge: impl Fn(&Fixture, &Struck<'_>),
) {
    let _watchdog = Watchdog::new();
    let fixture = Fixture::open(|options| {
        options.temp_io = Arc::clone(io) as Arc<dyn IoBackend>;
        // With one thread the n-th call is the same call in every run.
        options.threads = threads;
        options.parallel_rows_min = 1;
    });
    let database = &fixture.database;
    let mut bystander = fixture.session();
    bystander.must("CREATE TEMPORARY TABLE mine (i INT)");
    bystander.must("INSERT INTO mine VALUES (1), (2)");
    let mut session = fixture.session();
    workload::fill(&mut session);
    session.must(OVERFLOW);
    let memory = database.memory_used();
    database.trim();
    // Files of base tables.
    let files = files_in(fixture.tmpdir());
    let calls = Calls {
        io,
        fixture: &fixture,
        arm,
    };
    let overflowing = STATEMENTS.iter().filter(|statement| statement.overflows);
    workload::strike(
        &mut session,
        overflowing,
        &calls,
        |calls| {
            assert!(calls > 0, "a statement does not overflow");
            chosen(calls)
        },
        |session, struck| {
            judge(&fixture, &struck);
            let here = &struck.here;
            assert_eq!(database.memory_used(), memory, "{here}: memory");
            assert_eq!(database.temp_space_used(), 0, "{here}: temporary space");
            assert_eq!(database.temporary_table_count(), 1, "{here}: tables");
            database.trim();
            assert_eq!(files_in(fixture.tmpdir()), files, "{here}: files");
            let mine = bystander.must("SELECT SUM(i) FROM mine");
            assert_eq!(mine, ["3"], "{here}");
            let count = session.must("SELECT COUNT(*) FROM t");
            assert_eq!(count, [N_ROWS.to_string()], "{here}");
        },
    );
}

fn every_call(fault: Fault) {
    let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, 0));
    let arm = |call| io.arm(fault, call);
    strike_every_call(&io, 1, arm, |fixture, struck| {
        let here = format!("{}, {fault:?}", struck.here);
        match &struck.outcome {
            Ok(_) if !fault.is_harmless() => panic!("{here}: went unnoticed"),
            Ok(rows) => assert_eq!(rows, struck.expected, "{here}: a wrong result"),
            Err(error) => {
                let text = error.message();
                let path = fixture.tmpdir().to_string_lossy();
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
    });
}

cases! { every_call:
    a_full_disk_ends_the_statement_only(Fault::DiskFull);
    a_failing_device_ends_the_statement_only(Fault::DeviceError);
    a_file_that_cannot_be_made_ends_the_statement_only(Fault::OpenError);
    a_failing_read_ends_the_statement_only(Fault::ReadError);
    a_short_write_ends_the_statement_only(Fault::ShortWrite);
    a_corrupt_read_never_gives_a_wrong_result(Fault::CorruptRead);
    calls_that_move_less_than_asked_are_no_failure(Fault::ShortMove);
    signals_are_no_failure(Fault::Signal);
}

/// A bug in the middle of a temporary file's call, while its locks are held.
fn panic_in_every_call(threads: usize) {
    quiet_panics();
    let due = Arc::new(AtomicU64::new(0));
    let io = Arc::new(FaultIo::listening(Arc::new(SystemIo), {
        let due = Arc::clone(&due);
        move |call| {
            // Only once: the other workers must end by themselves.
            if due.load(Ordering::Relaxed) == call {
                panic!("an injected bug")
            }
        }
    }));
    let arm = |call| {
        io.arm(Fault::DeviceError, 0);
        due.store(call, Ordering::Relaxed);
    };
    strike_every_call(&io, threads, arm, |_, struck| {
        let here = format!("{}, a panic, {threads} threads", struck.here);
        match &struck.outcome {
            Err(error) => {
                assert_eq!(error.errno(), 1105, "{here}: {error}");
                let is_injected = error.message().contains("an injected bug");
                assert!(is_injected, "{here}: {error}");
            }
            // With several threads, the same statement may need fewer calls.
            Ok(rows) => {
                assert!(threads > 1, "{here}: went unnoticed");
                assert_eq!(rows, struck.expected, "{here}");
            }
        }
    });
}

cases! { panic_in_every_call:
    a_panic_ends_the_statement_only(1);
    a_panic_of_a_worker_ends_the_statement_only(3);
}
