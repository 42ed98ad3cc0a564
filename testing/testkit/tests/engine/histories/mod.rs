//! Histories of concurrent transactions: sessions write and read the same keys; statements, sessions and the whole
//! process are killed, transactions roll back; and the recorded operations are searched for violations of each
//! isolation level (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations", 2020).
//!
//! There are lists that values are appended to, registers with a version, and sets that rows are added to and that are
//! read by a range, so that the values read show the order of versions, and which transactions have not seen each
//! other.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod check;
mod events;
mod process;
mod record;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mayfly_engine::Database;
use mayfly_testkit::cases;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt};
use mayfly_trials::{Random, Trials};
use serde::{Deserialize, Serialize};

use check::Level;
use events::{Event, transactions};
use record::{Handles, Recorder, Transaction};

/// Number of keys of each kind.
const KEYS: usize = 4;

/// Number of transactions of each session.
const TRANSACTIONS: usize = 20;

fn prepare(database: &Arc<Database>) {
    let mut session = database.session();
    session.must(
        "CREATE DATABASE histories; USE histories;
         CREATE TABLE list (k INT PRIMARY KEY, v TEXT);
         CREATE TABLE register (k INT PRIMARY KEY, n INT, v BIGINT);
         CREATE TABLE item (x BIGINT PRIMARY KEY, k INT, KEY (k));
         CREATE TABLE copied (t BIGINT, x BIGINT, KEY (t))",
    );
    for key in 0..KEYS {
        session.must(&format!(
            "INSERT INTO list VALUES ({key}, ''); INSERT INTO register VALUES ({key}, 0, 0)"
        ));
    }
}

/// Work of the sessions of one process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Work {
    level: Level,
    seed: u64,
    sessions: usize,
    /// Number of transactions of each session.
    transactions: usize,
    /// The number of the first transaction.
    first: u64,
}

/// Runs sessions concurrently; their events go to `record`. Returns the first unused transaction number.
fn work(
    database: &Arc<Database>,
    work: Work,
    record: impl Fn(u64, Event) + Clone + Send + 'static,
) -> u64 {
    let mut random = Random(work.seed);
    let numbers = Arc::new(AtomicU64::new(work.first));
    let is_over = Arc::new(AtomicBool::new(false));
    let handles: Handles = Arc::default();
    let mut threads = Vec::new();
    for place in 0..work.sessions {
        let (numbers, seed) = (Arc::clone(&numbers), random.next_number());
        let mut recorder = Recorder::new(
            database,
            (&handles, place),
            work.level,
            (Random(seed), KEYS),
            Box::new(record.clone()),
        );
        threads.push(std::thread::spawn(move || {
            for _ in 0..work.transactions {
                recorder.transaction(numbers.fetch_add(1, Ordering::Relaxed));
            }
        }));
    }
    // Statements and sessions are ended at any point, in a wait or a commit.
    let killer = {
        let (is_over, mut random) = (Arc::clone(&is_over), Random(random.next_number()));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1 + random.below(20) as u64));
                let handles = handles.lock().unwrap_or_else(PoisonError::into_inner);
                let handle = &handles[random.below(handles.len())];
                match random.below(4) {
                    0 => handle.close(),
                    _ => handle.kill(),
                }
            }
        })
    };
    for thread in threads {
        thread.join().expect("a session does not panic");
    }
    is_over.store(true, Ordering::Relaxed);
    killer.join().expect("the killer ends");
    numbers.load(Ordering::Relaxed)
}

/// One history: the transactions, and the values at the end; and the number of killed processes.
fn history(level: Level, seed: u64) -> (Vec<Transaction>, usize) {
    let mut random = Random(seed);
    let directory = DataDirectory::new(&format!("histories-{level:?}"));
    prepare(&directory.open());
    let (sessions, kills) = (8 + random.below(25), random.below(3));
    let mut work_of = |first| Work {
        level,
        seed: random.next_number(),
        sessions,
        transactions: TRANSACTIONS,
        first,
    };
    let mut events: Vec<(u64, Event)> = Vec::new();
    let mut first = 1;
    for _ in 0..kills {
        let work = work_of(first);
        events.extend(process::run_and_kill(directory.path(), work));
        let last = events.iter().map(|(number, _)| *number).max().unwrap_or(0);
        first = first.max(last + 1);
    }
    let last = work_of(first);
    events.extend(to_the_end(directory.path(), last));
    (transactions(events), kills)
}

/// Works in this process, and reads the values at the end.
fn to_the_end(directory: &Path, of: Work) -> Vec<(u64, Event)> {
    let fixture = Fixture::open(|options| options.datadir = Some(directory.to_owned()));
    let database = &fixture.database;
    let events: Arc<Mutex<Vec<(u64, Event)>>> = Arc::default();
    let recorded = Arc::clone(&events);
    let record = move |number, event| {
        let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.push((number, event));
    };
    let number = work(database, of, record.clone());
    let handles = Handles::default();
    // Its snapshot must include the latest changes.
    let mut last = Recorder::new(
        database,
        (&handles, 0),
        Level::ReadCommitted,
        (Random(0), KEYS),
        Box::new(record),
    );
    last.everything(number);
    drop((last, handles));
    database.check().expect("the data directory is in order");
    let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *events)
}

fn histories(level: Level) {
    for seed in Trials::of(&format!("histories, {level:?}")) {
        let (history, kills) = history(level, seed);
        let committed = history.iter().filter(|it| it.is_committed()).count();
        let problems = check::problems(level, &history);
        assert!(
            problems.is_empty(),
            "{level:?}, MAYFLY_SEED={seed}: {}",
            problems.join("\n")
        );
        assert!(
            committed * 10 > history.len(),
            "{level:?}, MAYFLY_SEED={seed}: {committed} of {} transactions were committed",
            history.len()
        );
        println!(
            "{level:?}, seed {seed}: {committed} of {} committed, {kills} processes killed",
            history.len()
        );
    }
}

cases! { histories:
    read_uncommitted(Level::ReadUncommitted);
    read_committed(Level::ReadCommitted);
    repeatable_read(Level::RepeatableRead);
    repeatable_read_with_locking_reads(Level::LockingReads);
    serializable(Level::Serializable);
}
