//! Kept results under UNTIL CHANGED while eight sessions read and write: no statement reads a stale row, and none a row
//! that its snapshot does not have. `MAYFLY_CACHE_STEPS` is the number of statements of all sessions together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::Session;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt};
use mayfly_trials::{Random, first_seed, number};

const SESSIONS: u64 = 8;
const TABLES: usize = 3;

/// The rows of a table, by a kept result or not.
fn rows(session: &mut Session, table: &str, hint: &str) -> Vec<String> {
    session.must(&format!(
        "SELECT {hint}CONCAT(a, ' ', n) FROM {table} WHERE n >= 0 ORDER BY a"
    ))
}

const KEPT: &str = "/*+ RESULT_CACHE(UNTIL CHANGED) */ ";

/// The number of the first row, which grows with each change.
fn first(rows: &[String]) -> u64 {
    let number = rows.first().and_then(|row| row.split(' ').nth(1));
    number.map_or(0, |number| number.parse().unwrap())
}

fn work(session: &mut Session, seed: u64, steps: u64, committed: &[AtomicU64]) {
    let mut random = Random(seed);
    session.must("USE test");
    for _ in 0..steps {
        let at = random.below(TABLES);
        let table = ["base", "shared", "quiet"][at];
        match random.below(10) {
            0 => {
                // The lock of the row orders the changes.
                session.must("START TRANSACTION");
                session.must(&format!("UPDATE {table} SET n = n + 1 WHERE a = 1"));
                session.must(&format!("UPDATE {table} SET n = n + 1 WHERE a > 1"));
                let own = rows(session, table, KEPT);
                assert_eq!(own, rows(session, table, ""), "own changes of {table}");
                if random.one_in(4) {
                    session.must("ROLLBACK");
                    continue;
                }
                let now = first(&session.must(&format!(
                    "SELECT CONCAT(a, ' ', n) FROM {table} WHERE a = 1 FOR UPDATE"
                )));
                session.must("COMMIT");
                committed[at].fetch_max(now, Ordering::SeqCst);
            }
            1 | 2 => {
                session.must("START TRANSACTION WITH CONSISTENT SNAPSHOT");
                for _ in 0..3 {
                    let kept = rows(session, table, KEPT);
                    assert_eq!(kept, rows(session, table, ""), "snapshot of {table}");
                }
                session.must("COMMIT");
            }
            _ => {
                let least = committed[at].load(Ordering::SeqCst);
                let kept = rows(session, table, KEPT);
                assert!(first(&kept) >= least, "{table}: {kept:?} after {least}");
                // All rows are those of one commit.
                let numbers = kept.iter().map(|row| row.split(' ').nth(1).unwrap());
                let mut numbers: Vec<&str> = numbers.collect();
                numbers.dedup();
                assert_eq!(numbers.len(), 1, "{table}: {kept:?}");
            }
        }
    }
}

#[test]
fn kept_results_are_never_stale() {
    let steps = number("MAYFLY_CACHE_STEPS").unwrap_or(8000) / SESSIONS;
    let seed = first_seed("never_stale");
    let directory = DataDirectory::new("never-stale");
    let fixture = Fixture::open(|options| options.datadir = Some(directory.path().to_path_buf()));
    let mut definer = fixture.session();
    definer.must("USE test");
    definer.must("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    for (table, kind) in [("base", ""), ("shared", "SHARED TEMPORARY "), ("quiet", "")] {
        definer.must(&format!(
            "CREATE {kind}TABLE {table} (a INT PRIMARY KEY, n INT)"
        ));
        definer.must(&format!(
            "INSERT INTO {table} VALUES (1, 0), (2, 0), (3, 0), (4, 0)"
        ));
    }
    let committed: Arc<[AtomicU64]> = (0..TABLES).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (mut session, committed) = (fixture.session(), Arc::clone(&committed));
            scope.spawn(move || work(&mut session, seed ^ number << 32, steps, &committed));
        }
    });
    let hits = definer.must(
        "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = 'Result_cache_hits'",
    );
    assert_ne!(hits[0], "0", "no result was ever read");
    eprintln!("{} hits of kept results", hits[0]);
    definer.must("DROP TABLE base, shared, quiet");
    drop(definer);
}
