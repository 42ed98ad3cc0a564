//! Faults at random moments of statements of every kind: the right answer, or a clear error, soon, and never another count.
//!
//! `MAYFLY_SEED` chooses the faults, `MAYFLY_CLUSTER_FAULTS` says how many, and `MAYFLY_CLUSTER_PROGRAM` names a program of another
//! build.

use std::thread;
use std::time::{Duration, Instant};

use mayfly_client::Client;

use crate::fixture::{Processes, connect, execute, load_big, rows, send};

/// Statements with all kinds of exchanges, of one to five stages.
const STATEMENTS: &[&str] = &[
    "SELECT COUNT(*), SUM(n) FROM (SELECT c, COUNT(*) n FROM big GROUP BY c) g",
    "SELECT COUNT(*) FROM (SELECT DISTINCT c FROM big) d",
    "SELECT COUNT(DISTINCT c), COUNT(DISTINCT i) FROM big",
    "SELECT COUNT(*), SUM(a.i), SUM(LENGTH(b.c)) FROM big a JOIN big b ON a.c = b.c",
    "SELECT COUNT(*), SUM(b.i) FROM big a LEFT JOIN big b ON a.c = b.c AND b.i > 50000",
    "SELECT i % 10 d, COUNT(*), SUM(i) FROM big GROUP BY d WITH ROLLUP",
    "SELECT COUNT(*), SUM(r) FROM (SELECT RANK() OVER (PARTITION BY i % 1000 ORDER BY c) r FROM big) w",
    "SELECT COUNT(*) FROM (SELECT c FROM big UNION SELECT CONCAT(c, 'x') FROM big WHERE i < 1000) u",
    "SELECT COUNT(*) FROM big WHERE i IN (SELECT MAX(i) FROM big GROUP BY i % 500)",
    "SELECT c, i FROM big ORDER BY c, i LIMIT 7",
];

/// What happens.
#[derive(Debug, Clone, Copy)]
enum Fault {
    ExecutorIsKilled,
    ExecutorStandsStill,
    CoordinatorIsKilled,
    DiskIsFull,
}

const FAULTS: [Fault; 4] = [
    Fault::ExecutorIsKilled,
    Fault::ExecutorStandsStill,
    Fault::CoordinatorIsKilled,
    Fault::DiskIsFull,
];

/// The time within which a fault has to show.
const SOON: Duration = Duration::from_secs(10);

/// A number from the environment.
fn number(name: &str, other: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(other, |text| text.parse().expect("a number"))
}

/// The next of a sequence of numbers below `below` (splitmix64).
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) % below as u64) as usize
}

/// Connects, and waits until the table is loaded.
fn ready(cluster: &Processes) -> Client {
    let mut client = connect(cluster.port());
    execute(
        &mut client,
        &["USE faults", "SET use_secondary_engine = FORCED"],
    );
    let waited = Instant::now();
    while let Err((_, text)) = rows(&mut client, STATEMENTS[0]) {
        assert!(
            waited.elapsed() < 6 * SOON,
            "the cluster does not come back: {text}"
        );
        thread::sleep(Duration::from_millis(100));
    }
    client
}

#[test]
fn faults_at_random_moments_are_told() {
    let (mut state, count) = (number("MAYFLY_SEED", 1), number("MAYFLY_CLUSTER_FAULTS", 4));
    println!("MAYFLY_SEED={state} MAYFLY_CLUSTER_FAULTS={count}");
    let mut cluster = Processes::start(3);
    let mut client = connect(cluster.port());
    load_big(&mut client);
    execute(&mut client, &["SET use_secondary_engine = OFF"]);
    let expected = STATEMENTS
        .iter()
        .map(|sql| rows(&mut client, sql).expect("rows"));
    let expected: Vec<_> = expected.collect();
    let mut client = ready(&cluster);
    let mut usual = vec![None; STATEMENTS.len()];
    let mut told = [0; 2];
    for run in 0..count {
        // The first ones are of each kind.
        let fault = match FAULTS.get(run as usize) {
            Some(fault) => *fault,
            None => FAULTS[random(&mut state, FAULTS.len())],
        };
        let chosen = random(&mut state, STATEMENTS.len());
        let sql = STATEMENTS[chosen];
        let alone = *usual[chosen].get_or_insert_with(|| {
            let start = Instant::now();
            assert_eq!(
                rows(&mut client, sql),
                Ok(expected[chosen].clone()),
                "{sql}"
            );
            start.elapsed()
        });
        let at = alone * random(&mut state, 100) as u32 / 100;
        let executor = random(&mut state, 3);
        if matches!(fault, Fault::DiskIsFull) {
            cluster.fill_disk(executor);
        }
        let (process, signal) = match fault {
            Fault::CoordinatorIsKilled => (cluster.coordinator(), "KILL"),
            Fault::ExecutorStandsStill => (cluster.executor(executor), "STOP"),
            _ => (cluster.executor(executor), "KILL"),
        };
        let strikes = !matches!(fault, Fault::DiskIsFull);
        let striker = thread::spawn(move || {
            thread::sleep(at);
            if strikes {
                send(process, signal);
            }
        });
        let start = Instant::now();
        let found = rows(&mut client, sql);
        let took = start.elapsed();
        striker.join().expect("a fault");
        let what = format!("{fault:?} of {executor} at {at:?} of {alone:?}: {sql}");
        let shown = found.as_ref().map_or_else(
            |(code, text)| format!("{code} {text}"),
            |_| "rows".to_owned(),
        );
        println!("{run}: {what}: {shown} after {took:?}");
        match found {
            Ok(found) => assert_eq!(found, expected[chosen], "{what}"),
            Err((code, text)) => match fault {
                Fault::CoordinatorIsKilled => {
                    assert!([2006, 2013].contains(&code), "{what}: {code} {text}")
                }
                Fault::DiskIsFull => {
                    assert!(
                        [3, 1021, 1114, 3889].contains(&code),
                        "{what}: {code} {text}"
                    )
                }
                _ => assert!(
                    code == 3889 && text.contains("executor"),
                    "{what}: {code} {text}"
                ),
            },
        }
        told[usize::from(shown == "rows")] += 1;
        assert!(took < SOON + 2 * alone, "{what}: {took:?}");
        match fault {
            Fault::CoordinatorIsKilled => cluster.restart_coordinator(),
            _ => cluster.replace(executor),
        }
        client = ready(&cluster);
    }
    println!("{} errors, {} results", told[0], told[1]);
}
