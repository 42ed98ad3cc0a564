//! What concurrent transactions have seen of each other: sessions write and read the same keys, are killed
//! and roll back, and their recorded operations are searched for what each isolation level forbids
//! (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations", 2020).
//!
//! There are lists that values are appended to, registers with a version, and sets that rows are added to
//! and that are read by a range, so that the order of versions, and who has not seen whom, is in what was
//! read. `MAYFLY_HISTORIES_ROUNDS` is how many histories are made at each level, `MAYFLY_HISTORIES_SEED`
//! where it begins.

mod check;
mod record;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mayfly_engine::{KillHandle, Session};
use mayfly_testkit::fixture::{Fixture, must, rows};

use check::Level;
use record::{Random, Recorder, Transaction};

/// Keys of each kind.
const KEYS: usize = 4;

/// Transactions of each session.
const TRANSACTIONS: usize = 20;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn prepare(session: &mut Session) {
    must(
        session,
        "CREATE DATABASE histories; USE histories;
         CREATE TABLE list (k INT PRIMARY KEY, v TEXT);
         CREATE TABLE register (k INT PRIMARY KEY, n INT, v BIGINT);
         CREATE TABLE item (x BIGINT PRIMARY KEY, k INT, KEY (k));
         CREATE TABLE copied (t BIGINT, x BIGINT, KEY (t))",
    );
    for key in 0..KEYS {
        must(
            session,
            &format!(
                "INSERT INTO list VALUES ({key}, ''); INSERT INTO register VALUES ({key}, 0, 0)"
            ),
        );
    }
}

/// One history: what was done, and what was there at the end.
fn history(level: Level, seed: u64) -> Vec<Transaction> {
    let mut random = Random(seed);
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    prepare(&mut session);
    let sessions = 8 + random.below(25);
    let numbers = Arc::new(AtomicU64::new(1));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut handles: Vec<KillHandle> = Vec::new();
    let mut threads = Vec::new();
    for _ in 0..sessions {
        let mut session = fixture.database.session();
        handles.push(session.kill_handle());
        let (numbers, seed) = (Arc::clone(&numbers), random.next());
        threads.push(std::thread::spawn(move || {
            must(
                &mut session,
                "USE histories; SET innodb_lock_wait_timeout = 1",
            );
            must(
                &mut session,
                &format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql()),
            );
            let mut recorder = Recorder::new(session, level, Random(seed), KEYS);
            let work = (0..TRANSACTIONS).map(|_| {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                recorder.transaction(number)
            });
            work.collect::<Vec<Transaction>>()
        }));
    }
    // Statements are ended wherever they are, in a wait or a commit.
    let killer = {
        let (is_over, mut random) = (Arc::clone(&is_over), Random(random.next()));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1 + random.below(20) as u64));
                handles[random.below(handles.len())].kill();
            }
        })
    };
    let mut all: Vec<Transaction> = Vec::new();
    for thread in threads {
        all.extend(thread.join().expect("a session does not panic"));
    }
    is_over.store(true, Ordering::Relaxed);
    killer.join().expect("the killer ends");
    let mut last = Recorder::new(session, level, Random(0), KEYS);
    all.push(last.everything(numbers.fetch_add(1, Ordering::Relaxed)));
    drop(last);
    let mut session = fixture.database.session();
    must(&mut session, "DROP DATABASE histories");
    assert!(rows(&mut session, "SELECT 1").is_ok());
    drop(session);
    fixture.finish();
    all
}

fn histories(level: Level) {
    let rounds = setting("MAYFLY_HISTORIES_ROUNDS").unwrap_or(2);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let first = setting("MAYFLY_HISTORIES_SEED")
        .unwrap_or_else(|| clock.map_or(1, |time| time.as_nanos() as u64));
    for round in 0..rounds {
        let seed = first.wrapping_add(round);
        let history = history(level, seed);
        let committed = history.iter().filter(|it| it.is_committed()).count();
        let problems = check::problems(level, &history);
        assert!(
            problems.is_empty(),
            "{level:?}, MAYFLY_HISTORIES_SEED={seed}: {}",
            problems.join("\n")
        );
        assert!(
            committed * 10 > history.len(),
            "{level:?}, MAYFLY_HISTORIES_SEED={seed}: {committed} of {} transactions were committed",
            history.len()
        );
        println!(
            "{level:?}, seed {seed}: {committed} of {} committed",
            history.len()
        );
    }
}

#[test]
fn read_committed() {
    histories(Level::ReadCommitted);
}

#[test]
fn repeatable_read() {
    histories(Level::RepeatableRead);
}

#[test]
fn repeatable_read_with_locking_reads() {
    histories(Level::LockingReads);
}

#[test]
fn serializable() {
    histories(Level::Serializable);
}
