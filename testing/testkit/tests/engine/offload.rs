//! Statements on a secondary engine in this process: what a transport may do to rows, failures, EXPLAIN, and jobs as
//! bytes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_engine::{Session, codes};
use mayfly_offload::Job;
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_testkit::secondary::MemoryEngine;
use mayfly_trials::Random;

/// Statements of every kind of exchange.
const QUERIES: &[&str] = &[
    "SELECT c, COUNT(*), SUM(n), AVG(d) FROM t GROUP BY c",
    "SELECT n, COUNT(DISTINCT c) FROM t GROUP BY n",
    "SELECT COUNT(DISTINCT n), SUM(f) FROM t",
    "SELECT COUNT(DISTINCT n) FROM t",
    "SELECT t.c, COUNT(*) FROM t JOIN u ON t.n = u.n GROUP BY t.c",
    "SELECT id, (SELECT MAX(n) FROM u) FROM t WHERE n IN (SELECT n FROM u)",
    "SELECT DISTINCT c FROM t",
    "SELECT n FROM t UNION SELECT n FROM u",
    "SELECT n FROM t INTERSECT SELECT n FROM u",
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY n ORDER BY id) FROM t",
    "SELECT id, SUM(n + (SELECT MIN(n) FROM u)) OVER (PARTITION BY n) FROM t",
    "SELECT id FROM t ORDER BY id DESC LIMIT 5",
    "SELECT c, n, COUNT(*) FROM t GROUP BY c, n WITH ROLLUP",
    "SELECT MAX(FROM_UNIXTIME(n)), COUNT(*) FROM t WHERE n < UNIX_TIMESTAMP()",
    "SELECT COUNT(*), DATABASE(), @@sql_mode FROM t WHERE n < @most OR c = CONCAT(DATABASE(), @most)",
];

fn open() -> (Fixture, Arc<MemoryEngine>) {
    let fixture = Fixture::open(|options| options.batch_size = 64);
    let engine = MemoryEngine::new(100);
    let plugged = fixture
        .database
        .set_secondary_engine(Some(Arc::clone(&engine) as _));
    plugged.expect("an engine is plugged in");
    (fixture, engine)
}

/// A session with two tables that are loaded.
fn session(fixture: &Fixture) -> Session {
    let mut session = fixture.session();
    session.must_all([
        "SET cte_max_recursion_depth = 10000, secondary_engine_cost_threshold = 0",
        "SET @most = 20",
        "CREATE DATABASE cluster_test",
        "USE cluster_test",
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, c VARCHAR(10), d DECIMAL(50, 20), f DOUBLE, \
         KEY (n)) SECONDARY_ENGINE = CLUSTER",
        "CREATE TABLE u (n INT PRIMARY KEY, s TEXT) SECONDARY_ENGINE = CLUSTER",
        "INSERT INTO t WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 900) \
         SELECT i, IF(i % 13 = 0, NULL, i % 40), CONCAT(IF(i % 2, 'a', 'A'), i % 7), i / 7, i / 3 FROM r",
        "INSERT INTO u SELECT DISTINCT n, REPEAT('x', n) FROM t WHERE n < 30",
        "ALTER TABLE t SECONDARY_LOAD",
        "ALTER TABLE u SECONDARY_LOAD",
    ]);
    session
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

/// Rows of a query without the engine. Of a group's text only the letters are the same everywhere.
fn local(session: &mut Session, query: &str) -> Vec<String> {
    session.must("SET use_secondary_engine = OFF");
    let rows = session.must(query);
    session.must("SET use_secondary_engine = FORCED");
    normal(rows)
}

fn normal(rows: Vec<String>) -> Vec<String> {
    sorted(rows.iter().map(|row| row.to_lowercase()).collect())
}

#[test]
fn statements_give_the_rows_that_they_give_here() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    for query in QUERIES {
        let expected = local(&mut session, query);
        assert_eq!(normal(session.must(query)), expected, "{query}");
        assert_eq!(engine.cluster.take_jobs().len(), 1, "{query} runs as a job");
    }
    session.must("SET use_secondary_engine = ON, secondary_engine_cost_threshold = 1e9");
    session.must(QUERIES[0]);
    assert_eq!(
        engine.cluster.take_jobs().len(),
        0,
        "a cheap statement stays here"
    );
}

/// What goes wrong with the batches of a run.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Lose,
    Repeat,
    LoseAll,
    RepeatAll,
    CutLast,
}

#[test]
fn rows_that_a_transport_loses_or_repeats_are_an_error() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    let damages = [
        Damage::Lose,
        Damage::Repeat,
        Damage::LoseAll,
        Damage::RepeatAll,
        Damage::CutLast,
    ];
    let (mut seen, mut random) = (0, Random(7));
    for query in QUERIES {
        let expected = local(&mut session, query);
        let _ = engine.cluster.take_jobs();
        session.must(query);
        let job = Job::decode(&engine.cluster.take_jobs()[0]).expect("a job");
        for fragment in 0..job.fragments.len() {
            for damage in damages {
                let partition = random.below(job.runs(fragment, 3));
                engine
                    .cluster
                    .set_transport(Some(Box::new(move |at, run, batches| {
                        if (at, run) == (fragment, partition) {
                            spoil(damage, batches);
                        }
                        Ok(())
                    })));
                let found = session.rows(query);
                engine.cluster.set_transport(None);
                match found {
                    Err(error) => {
                        // A row that comes twice may be an error before the notes tell of it.
                        let is_known = [3889, 1242].contains(&error.errno());
                        assert!(is_known, "{query}, {fragment}, {damage:?}: {error}");
                        seen += 1;
                    }
                    Ok(rows) => {
                        // Rows that nobody reads may be lost.
                        assert_eq!(normal(rows), expected, "{query}, {fragment}, {damage:?}");
                    }
                }
            }
        }
    }
    assert!(seen > 100, "{seen} damages were seen");
}

fn spoil(damage: Damage, batches: &mut Vec<mayfly_engine::Batch>) {
    match damage {
        Damage::Lose => {
            batches.remove(0);
        }
        Damage::Repeat => batches.insert(0, batches[0].clone()),
        Damage::LoseAll => batches.clear(),
        Damage::RepeatAll => batches.extend(batches.clone()),
        Damage::CutLast => {
            let last = batches.pop().expect("the notes");
            batches.push(last.slice(0, last.row_count() - 1));
        }
    }
}

#[test]
fn batches_may_come_in_any_order() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    for query in QUERIES {
        let expected = local(&mut session, query);
        engine.cluster.set_transport(Some(Box::new(|_, _, batches| {
            batches.reverse();
            Ok(())
        })));
        let found = normal(session.must(query));
        engine.cluster.set_transport(None);
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn a_job_that_fails_is_tried_once_more() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    let expected = local(&mut session, QUERIES[0]);
    for failures in [1, 2] {
        let left = Arc::new(AtomicUsize::new(failures));
        engine.cluster.set_transport(Some(Box::new(move |_, _, _| {
            let fails =
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            match fails {
                Ok(_) => Err(codes::ER_SECONDARY_ENGINE.with(&[&"executor 2 is gone"])),
                Err(_) => Ok(()),
            }
        })));
        match session.rows(QUERIES[0]) {
            Ok(rows) => assert_eq!((normal(rows), failures), (expected.clone(), 1)),
            Err(error) => assert_eq!((error.errno(), failures), (3889, 2)),
        }
    }
}

#[test]
fn errors_and_warnings_of_the_workers_are_the_statements() {
    let (fixture, _engine) = open();
    let mut session = session(&fixture);
    session.must("SET use_secondary_engine = FORCED");
    for (query, errno) in [
        ("SELECT SUM(n) FROM t WHERE id = (SELECT n FROM u)", 1242),
        ("SELECT SUM(9223372036854775807 + n) FROM t", 1690),
        ("SELECT c, EXP(id) * 1e308 FROM t", 1690),
    ] {
        let error = session.rows(query).expect_err("an error");
        assert_eq!(error.errno(), errno, "{query}: {error}");
        session.must("SET use_secondary_engine = OFF");
        let here = session.rows(query).expect_err("an error");
        session.must("SET use_secondary_engine = FORCED");
        assert_eq!(error.sqlstate(), here.sqlstate());
    }
    let query = "SELECT SUM(c + 0), MAX(n DIV 0) FROM t";
    let warnings = |session: &mut Session| {
        session.must(query);
        let count = session.must("SELECT @@warning_count");
        (count, sorted(session.must("SHOW WARNINGS")))
    };
    let there = warnings(&mut session);
    session.must("SET use_secondary_engine = OFF");
    let here = warnings(&mut session);
    assert_eq!(there.0, here.0);
    assert_eq!(there.1.len(), here.1.len());
    let kinds = |rows: &[String]| {
        let kinds = rows
            .iter()
            .map(|row| row.split('\t').nth(1).unwrap_or_default().to_owned());
        kinds.collect::<std::collections::BTreeSet<_>>()
    };
    assert!(
        kinds(&there.1).is_subset(&kinds(&here.1)),
        "{there:?} {here:?}"
    );
}

#[test]
fn explain_shows_exchanges_and_reasons() {
    let (fixture, _engine) = open();
    let mut session = session(&fixture);
    let tree = |session: &mut Session, query: &str| {
        session
            .must(&format!("EXPLAIN FORMAT=TREE {query}"))
            .join("\n")
    };
    let shown = tree(
        &mut session,
        "SELECT c, COUNT(*) FROM t WHERE n > 3 GROUP BY c",
    );
    assert!(
        shown.contains("Table scan on t in secondary engine CLUSTER"),
        "{shown}"
    );
    assert!(
        shown.contains("Exchange: rows by the hash of their keys to 3 partitions"),
        "{shown}"
    );
    let table = session
        .must("EXPLAIN SELECT COUNT(*) FROM t JOIN u USING (n)")
        .join("\n");
    assert_eq!(
        table.matches("Using secondary engine CLUSTER").count(),
        2,
        "{table}"
    );
    let json = session
        .must("EXPLAIN FORMAT=JSON SELECT COUNT(*) FROM t")
        .join("\n");
    assert!(json.contains("\"secondary_engine\": \"CLUSTER\""), "{json}");
    for (query, reason) in [
        (
            "SELECT GROUP_CONCAT(c) FROM t",
            "GROUP_CONCAT() depends on the order of rows",
        ),
        (
            "SELECT (SELECT COUNT(*) FROM u WHERE u.n > t.n) FROM t",
            "a dependent subquery",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE n = RAND()",
            "rand() may differ from row to row",
        ),
        (
            "SELECT COUNT(*) FROM v",
            "You have not defined the secondary engine for at least one of the query tables [cluster_test.v]",
        ),
    ] {
        session.must("CREATE TABLE IF NOT EXISTS v (a INT)");
        session.must("SET use_secondary_engine = FORCED");
        let error = session.rows(query).expect_err("FORCED");
        assert_eq!(error.errno(), 3889);
        assert!(error.message().contains(reason), "{query}: {error}");
        session.must("SET use_secondary_engine = ON");
    }
    session.must("SET secondary_engine_cost_threshold = 100000");
    session.must("EXPLAIN SELECT COUNT(*) FROM t");
    let notes = session.must("SHOW WARNINGS").join("\n");
    assert!(
        notes.contains("is not above secondary_engine_cost_threshold, 100000"),
        "{notes}"
    );
}

#[test]
fn the_query_of_an_insert_is_offloaded() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    session.must_all([
        "CREATE TABLE sums (c VARCHAR(10), n BIGINT, s DECIMAL(60, 20), UNIQUE (c))",
        "SET use_secondary_engine = FORCED",
        "INSERT INTO sums SELECT c, COUNT(*), SUM(d) FROM t GROUP BY c",
    ]);
    assert_eq!(engine.cluster.take_jobs().len(), 1);
    let shown = session
        .must("EXPLAIN FORMAT=TREE INSERT INTO sums SELECT c, COUNT(*), SUM(d) FROM t GROUP BY c")
        .join("\n");
    assert!(shown.contains("in secondary engine CLUSTER"), "{shown}");
    let duplicates = "INSERT INTO sums SELECT c, 1, 2 FROM t ON DUPLICATE KEY UPDATE s = 0";
    let error = session.rows(duplicates).expect_err("FORCED");
    assert_eq!(error.errno(), 3889);
    assert!(
        error.message().contains("ON DUPLICATE KEY UPDATE"),
        "{error}"
    );
    let _ = engine.cluster.take_jobs();
    session.must("REPLACE INTO sums SELECT c, COUNT(*), 0 FROM t WHERE n IS NULL GROUP BY c");
    assert_eq!(engine.cluster.take_jobs().len(), 0, "as in MySQL");
    session.must("BEGIN");
    let error = session.rows("INSERT INTO sums SELECT CONCAT(c, 1), 1, 1 FROM t GROUP BY c");
    assert!(error.expect_err("FORCED").message().contains("stay locked"));
    session.must("COMMIT");
    // Errors of values and of keys are those of the statement, and nothing is left.
    for (query, errno) in [
        (
            "INSERT INTO sums SELECT c, COUNT(*), 1 FROM t GROUP BY c",
            1062,
        ),
        (
            "INSERT INTO sums SELECT REPEAT(c, 9), 1, 1 FROM t WHERE id = 8",
            1406,
        ),
    ] {
        let error = session.rows(query).expect_err("an error");
        assert_eq!(error.errno(), errno, "{query}: {error}");
    }
    session.must_all(["SET use_secondary_engine = OFF", "DELETE FROM sums"]);
    session.must("SET use_secondary_engine = FORCED");
    session.must("INSERT INTO sums SELECT c, COUNT(*), SUM(d) FROM t GROUP BY c");
    session.must("SET use_secondary_engine = OFF");
    let sums = session.must("SELECT LOWER(c), n, s FROM sums ORDER BY c");
    let expected = session.must("SELECT LOWER(c) c, COUNT(*), SUM(d) FROM t GROUP BY c ORDER BY c");
    assert_eq!(sums, expected);
}

/// The exchanges that live, with what they hold.
const EXCHANGES: &str = "SELECT CAUSE, ENGINE, `ROWS`, EXCHANGED_BYTES > 0, EXECUTORS, PARTITIONS, MEMORY_BYTES \
    FROM information_schema.TEMP_TABLES WHERE PURPOSE = 'EXCHANGE' ORDER BY ID";

#[test]
fn exchanges_are_seen_while_a_job_runs_and_counted_at_its_end() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    session.must("SET use_secondary_engine = FORCED");
    let other = Arc::new(Mutex::new(fixture.session()));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (watcher, found) = (Arc::clone(&other), Arc::clone(&seen));
    engine
        .cluster
        .set_transport(Some(Box::new(move |fragment, partition, _| {
            if (fragment, partition) == (0, 1) {
                let mut watcher = watcher.lock().expect("a session");
                let mut found = found.lock().expect("rows");
                found.extend(watcher.must(EXCHANGES));
                found.extend(watcher.must(
                    "SELECT EXECUTION_ENGINE FROM performance_schema.threads ORDER BY THREAD_ID",
                ));
            }
            Ok(())
        })));
    // 41 groups in the first run of 300 rows or so, and in the second.
    session.must("SELECT n, COUNT(*) FROM t GROUP BY n");
    engine.cluster.set_transport(None);
    let found = seen.lock().expect("rows").clone();
    assert_eq!(
        found,
        [
            "rows by the hash of their keys to 3 partitions\tCLUSTER\t82\t1\t2\t3\t0",
            "rows to the server\tCLUSTER\t0\t0\t0\t1\t0",
            "SECONDARY",
            "PRIMARY",
        ]
    );
    let mut other = other.lock().expect("a session");
    assert_eq!(other.must(EXCHANGES), [""; 0]);
    let digests = "SELECT COUNT_SECONDARY, SUM_EXCHANGED_BYTES > 1000 \
        FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE '%GROUP BY `n`'";
    assert_eq!(other.must(digests), ["1\t1"]);
    let events = "SELECT EXECUTION_ENGINE, EXCHANGED_BYTES > 1000, COUNT(*) \
        FROM performance_schema.events_statements_history WHERE SQL_TEXT LIKE 'SELECT n%' GROUP BY 1, 2";
    session.must("SET use_secondary_engine = ON");
    assert_eq!(session.must(events), ["SECONDARY\t1\t1"]);
    let analyzed = session.must("EXPLAIN ANALYZE SELECT n, COUNT(*) FROM t GROUP BY n");
    let exchange = analyzed
        .iter()
        .flat_map(|text| text.lines())
        .find(|line| line.contains("Exchange: rows by the hash"));
    let exchange = exchange.expect("an exchange");
    assert!(exchange.contains("exchanged by 3 executors"), "{exchange}");
}

#[test]
fn bytes_that_are_no_job_are_an_error() {
    let (fixture, engine) = open();
    let mut session = session(&fixture);
    let mut random = Random(11);
    for query in QUERIES {
        session.must(query);
        let bytes = engine.cluster.take_jobs().remove(0);
        assert_eq!(
            Job::decode(&bytes)
                .expect("a job")
                .encode()
                .expect("the same"),
            bytes
        );
        for _ in 0..2000 {
            let mut changed = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(changed.len());
                match random.below(3) {
                    0 => changed[at] = random.below(256) as u8,
                    1 => changed.truncate(at + 1),
                    _ => changed.insert(at, random.below(256) as u8),
                }
            }
            // It ends, without a panic.
            let _ = Job::decode(&changed);
        }
    }
}
