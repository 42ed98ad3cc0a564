//! Power cuts before and after every single sync of a fixed sequence of steps, also with one of the syncs failing, for
//! each of them. Acknowledged work is there, and no work is there in part.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use mayfly_engine::Database;
use mayfly_testkit::fixture::{DataDirectory, SessionExt, Watchdog};
use mayfly_trials::{Draw, Random, first_seed};

use crate::calls::{Fault, Where, arm_for, calls, disarm};
use crate::disk::{self, Loss, Snapshot, directory};
use crate::faults::alone;
use crate::power_cuts::{ONE_THREAD, try_open};

/// The steps: `REOPEN`, or a statement.
const STEPS: [&str; 15] = [
    "CREATE DATABASE work",
    "CREATE TABLE work.t (i INT PRIMARY KEY, s VARCHAR(200), KEY (s))",
    "INSERT INTO work.t VALUES (1, 'a'), (2, 'b')",
    // More than the log holds of a load.
    "CREATE TABLE work.l AS WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 900) \
     SELECT i, CONCAT(i, REPEAT('x', 3000)) s FROM r",
    "UPDATE work.t SET s = CONCAT(s, 'x')",
    "INSERT INTO work.t SELECT i + 10, LEFT(s, 100) FROM work.l WHERE i < 200",
    REOPEN,
    "DELETE FROM work.t WHERE i % 3 = 0",
    "ALTER TABLE work.t ADD COLUMN n INT DEFAULT 7",
    "CREATE TABLE work.m (i INT PRIMARY KEY, s TEXT) AS SELECT i, s FROM work.l",
    "DROP TABLE work.l",
    "RENAME TABLE work.t TO work.u",
    "UPDATE work.m SET s = i WHERE i % 100 = 0",
    REOPEN,
    "INSERT INTO work.u (i, s) VALUES (5000, 'last')",
];

const REOPEN: &str = "reopen";

/// All definitions and rows.
fn look(database: &Arc<Database>) -> Vec<String> {
    let mut session = database.session();
    let mut seen = Vec::new();
    for table in ["t", "u", "l", "m"] {
        let shown = [
            format!("SHOW CREATE TABLE work.{table}"),
            format!("SELECT COUNT(*), SUM(i), SUM(CRC32(s)) FROM work.{table}"),
        ];
        for sql in shown {
            match session.rows(&sql) {
                Ok(rows) => seen.extend(rows),
                Err(error) => seen.push(error.errno().to_string()),
            }
        }
    }
    seen
}

/// Runs the next step; returns whether it succeeded.
fn step(database: &mut Option<Arc<Database>>, root: &Path, step: &str) -> bool {
    for _ in 0..4 {
        if step == REOPEN || database.is_none() {
            *database = None;
            *database = try_open(root, ONE_THREAD).ok();
        }
        let Some(opened) = database else {
            continue;
        };
        if step == REOPEN {
            return true;
        }
        match opened.session().rows(step) {
            Ok(_) => return true,
            Err(error) => assert!(
                [1021, 1024, 1026].contains(&error.errno()),
                "{step}: {error}"
            ),
        }
    }
    false
}

/// Runs all steps, with the n-th sync failing if it is one: the snapshots at syncs.
fn run(root: &Path, failing: u64, seed: u64) -> (Vec<Snapshot>, u64) {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root).unwrap();
    let begun = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicU64::new(0));
    let asked = (Arc::clone(&done), Arc::clone(&begun));
    let ask = move || vec![asked.0.load(SeqCst), asked.1.load(SeqCst)];
    disk::watch(root, seed, usize::MAX, Box::new(ask));
    arm_for(Fault::DeviceError, Where::Syncs, failing, 1);
    let mut database = None;
    for (place, wanted) in (1..).zip(STEPS) {
        begun.store(place, SeqCst);
        if !step(&mut database, root, wanted) {
            break;
        }
        done.store(place, SeqCst);
    }
    drop(database);
    let calls = calls();
    disarm();
    let (mut snapshots, ..) = disk::stop();
    snapshots.retain(|snapshot| snapshot.name.contains(" a sync of "));
    (snapshots, calls)
}

#[test]
fn nothing_is_lost_when_the_power_is_cut_at_any_sync() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let seed = first_seed("every_sync");
    let mut random = Random(seed);
    let directories = ["every-root", "every-copy"].map(directory);
    let [root, copy] = directories.each_ref().map(DataDirectory::path);
    let mut database = None;
    let mut looks = Vec::new();
    for wanted in [REOPEN].iter().chain(&STEPS) {
        assert!(step(&mut database, root, wanted), "{wanted}");
        looks.extend(database.as_ref().map(look));
    }
    drop(database);
    let mut cuts = 0;
    let mut verify = |snapshot: &Snapshot, failing: u64, loss: Loss| {
        snapshot.cut_with(root, copy, loss, &mut random);
        cuts += 1;
        let [done, begun] = snapshot.acknowledged[..] else {
            unreachable!("it was asked for both")
        };
        let here = format!(
            "MAYFLY_SEED={seed}, sync {failing} fails, {}, {loss:?}, {done} of {begun} steps done",
            snapshot.name
        );
        let opened = try_open(copy, ONE_THREAD);
        let database = opened.unwrap_or_else(|error| panic!("{here}: {error}"));
        let checked = database.check();
        checked.unwrap_or_else(|error| panic!("{here}: {error}"));
        let seen = look(&database);
        let mut wanted = done..=begun;
        assert!(
            wanted.any(|place| looks[usize::try_from(place).unwrap()] == seen),
            "{here}: {seen:#?}"
        );
    };
    let (snapshots, syncs) = run(root, 0, seed);
    for snapshot in &snapshots {
        verify(snapshot, 0, Loss::All);
        verify(snapshot, 0, Loss::Some);
    }
    let of_data = |snapshot: &&Snapshot| {
        snapshot.name.contains("after a sync of") && snapshot.name.contains("data.mdb")
    };
    let checkpoints = snapshots.iter().filter(of_data).count();
    assert!(checkpoints > 6, "{checkpoints} syncs of the data file");
    let drawn = Draw::of_seed(seed).numbers_from(1);
    for failing in drawn.take_while(|failing| *failing <= syncs) {
        let (snapshots, _) = run(root, failing, seed);
        // Until the failing sync, everything is unchanged.
        let after = usize::try_from(failing).unwrap() * 2 - 1;
        // Synced work is on disk until the next sync, before which more was acknowledged.
        let before = snapshots.iter().enumerate().skip(after);
        let before = before.filter(|(_, snapshot)| snapshot.name.starts_with("before"));
        for (place, snapshot) in before {
            let loss = if place % 4 < 2 { Loss::All } else { Loss::Some };
            verify(snapshot, failing, loss);
        }
    }
    println!("{cuts} power cuts at {syncs} syncs");
}

/// Each step changes the visible state.
#[test]
fn no_two_steps_look_the_same() {
    let _alone = alone();
    let directory = directory("every-look");
    let root = directory.path();
    let mut database = Some(try_open(root, ONE_THREAD).unwrap());
    let mut before = Vec::new();
    for wanted in STEPS.iter().filter(|step| **step != REOPEN).skip(1) {
        if before.is_empty() {
            database.as_ref().unwrap().session().must(STEPS[0]);
        }
        assert!(step(&mut database, root, wanted));
        let seen = look(database.as_ref().unwrap());
        assert_ne!(seen, before, "{wanted}");
        before = seen;
    }
}
