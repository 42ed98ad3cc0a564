//! Runs the statements of `bench/**/*.benchmark` on Mayfly.
//!
//! `worker` reads one JSON object per line (`{"sql": …, "rows_max": …, "timeout_s": …}`) and answers each with its
//! time, its first rows and its error; `bench-compare` alternates between it and the rivals' workers. `latency` times
//! small statements in process, from text to result, `points` statements by a primary key, and `planning` plans that
//! are never run; `temporary-kinds` times the kinds of temporary tables beside what a user would have without them,
//! `temporary-tables` (with the feature `sqlite`) times temporary tables by key compared with SQLite's,
//! and `durable-inserts` autocommit inserts into `--directory`, each of which is synced.

#[cfg(feature = "sqlite")]
mod durable_inserts;
mod planning;
mod temporary_kinds;
#[cfg(feature = "sqlite")]
mod temporary_tables;

use std::io::{BufRead, Write};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use mayfly_engine::{
    Database, DatabaseOptions, Error, Session, SqlType, StatementResult, TypeKind,
};
use serde_json::{Value, json};

/// Greatest number of rows of a result that a worker reports, for the comparison with the rivals' results.
const REPORTED_ROWS_MAX: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let number =
        |name: &str, usual: u64| option(name).and_then(|n| n.parse().ok()).unwrap_or(usual);
    let memory_limit = option("--memory-limit").and_then(|bytes| bytes.parse().ok());
    let threads = option("--threads").and_then(|count| count.parse().ok());
    let database = open(memory_limit, threads, option("--datadir"));
    match arguments.first().map(String::as_str) {
        Some("worker") => worker(&database),
        Some("latency") => latency(&database),
        Some("points") => points(&database),
        Some("planning") => planning::all(&mut bench_session(&database), &ARTICLE_1),
        Some("temporary-kinds") => temporary_kinds::compare(number("--rows", 1_000_000) as usize),
        #[cfg(feature = "sqlite")]
        Some("temporary-tables") => {
            let rows = number("--rows", 1_000_000).cast_signed();
            temporary_tables::compare(rows, number("--rounds", 3) as usize);
        }
        #[cfg(feature = "sqlite")]
        Some("durable-inserts") => {
            let directory = option("--directory").unwrap_or_else(|| "durable-inserts".to_owned());
            let rounds = number("--rounds", 3) as usize;
            durable_inserts::compare(directory.as_ref(), number("--seconds", 5), rounds);
        }
        _ => eprintln!(
            "usage: mayfly-bench worker|latency|points|planning|temporary-kinds|temporary-tables|durable-inserts [--memory-limit BYTES] [--threads N] [--datadir DIRECTORY]"
        ),
    }
}

fn open(
    memory_limit: Option<u64>,
    threads: Option<usize>,
    datadir: Option<String>,
) -> Arc<Database> {
    let mut options = DatabaseOptions::new();
    options.memory_limit = memory_limit;
    options.datadir = datadir.map(Into::into);
    if let Some(count) = threads {
        options.threads = count;
    }
    Database::open(options).expect("the database opens")
}

/// A session in the benchmarks' database.
fn bench_session(database: &Arc<Database>) -> Session {
    let mut session = database.session();
    let statements = "CREATE DATABASE IF NOT EXISTS bench; USE bench";
    session.execute(statements).expect("the database opens");
    session
}

fn worker(database: &Arc<Database>) {
    let mut session = bench_session(database);
    let stdin = std::io::stdin();
    for line in stdin.lock().lines() {
        let Ok(line) = line else { break };
        let request: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        let sql = request["sql"].as_str().unwrap_or_default();
        let rows_max = request["rows_max"].as_u64();
        let rows_max = rows_max.map_or(REPORTED_ROWS_MAX, |rows| rows as usize);
        let timeout = request["timeout_s"].as_f64().map(Duration::from_secs_f64);
        println!("{}", answer(&mut session, sql, rows_max, timeout));
        let _ = std::io::stdout().flush();
    }
}

fn answer(session: &mut Session, sql: &str, rows_max: usize, timeout: Option<Duration>) -> Value {
    let start = Instant::now();
    let results = match timeout {
        Some(timeout) => within(session, sql, timeout),
        None => session.execute(sql),
    };
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    match results {
        Ok(results) => {
            let last = results.last();
            let row_count = last.map_or(0, |result| result.row_count());
            let rows: Vec<Vec<Option<String>>> = last
                .map(|result| {
                    (0..row_count.min(rows_max))
                        .map(|row| result.row_text(row))
                        .collect()
                })
                .unwrap_or_default();
            json!({ "ms": milliseconds, "row_count": row_count, "rows": rows })
        }
        Err(error) => json!({ "ms": milliseconds, "error": error.to_string() }),
    }
}

/// Runs a statement, and kills it if it takes longer.
fn within(
    session: &mut Session,
    sql: &str,
    timeout: Duration,
) -> Result<Vec<StatementResult>, Error> {
    let handle = session.kill_handle();
    let (ended, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waits.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout) {
                handle.kill();
            }
        });
        let results = session.execute(sql);
        drop(ended);
        results
    })
}

/// Article 1's table and statement: a derived table with a correlated subquery, over four rows.
const ARTICLE_1: [&str; 3] = [
    "CREATE TABLE login2 (user_id int unsigned NOT NULL AUTO_INCREMENT, \
     user_name varchar(50) DEFAULT NULL, user_email varchar(2000) DEFAULT NULL, \
     created datetime DEFAULT NULL, PRIMARY KEY (user_id))",
    "INSERT INTO login2 VALUES (100002, 'a', 'a@example.org', '2011-01-11 17:16:45'), \
     (100003, 'b', 'b@example.org', '2011-01-11 17:16:45'), \
     (100004, 'c', 'c@example.org', '2011-01-11 17:16:46'), \
     (100005, 'd', 'd@example.org', '2011-01-11 17:16:46')",
    "select * from (select user_id, created, (select user_email from login2 b where \
     b.user_id = a.user_id) as mail from login2 a where a.user_id IN (100005, 100002, 100004, \
     100003)) as a order by created",
];

fn latency(database: &Arc<Database>) {
    let mut session = bench_session(database);
    for sql in &ARTICLE_1[..2] {
        session.execute(sql).expect("the tables are made");
    }
    for (name, sql) in [
        ("SELECT 1", "SELECT 1"),
        ("article 1, derived table", ARTICLE_1[2]),
        ("one row", "SELECT user_name FROM login2 WHERE user_id = 2"),
    ] {
        let known = median(&mut session, name, |_| sql.to_owned());
        let set = "SET GLOBAL statement_cache_size";
        session
            .execute(&format!("{set} = 0"))
            .expect("the cache is off");
        let parsed = median(&mut session, &format!("{name}, parsed and planned"), |_| {
            sql.to_owned()
        });
        session
            .execute(&format!("{set} = DEFAULT"))
            .expect("the cache is on");
        println!("  known by its text: {:.2} times as fast", parsed / known);
    }
    let other = |round: usize| format!("SELECT {round}");
    median(&mut session, "SELECT n, another n each time", other);
    points(database);
}

/// Statements on rows by their primary key.
fn points(database: &Arc<Database>) {
    let mut session = bench_session(database);
    point_reads(&mut session);
    point_changes(&mut session);
}

/// The median time of a statement, in microseconds.
fn median(session: &mut Session, name: &str, sql: impl Fn(usize) -> String) -> f64 {
    let mut times: Vec<f64> = (0..20_000)
        .map(|round| {
            let sql = sql(round);
            let start = Instant::now();
            let results = session.execute(&sql).expect("the statement runs");
            assert!(!results.is_empty(), "a SELECT gives a result");
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{name}: median {:.2} µs, 99 % {:.2} µs",
        times[10_000], times[19_800]
    );
    times[10_000]
}

/// Reads rows by their primary key through a prepared statement; the table is durable with `--datadir`.
fn point_reads(session: &mut Session) {
    const ROWS: i64 = 100_000;
    const READS: i64 = 2_000_000;
    for sql in [
        "CREATE TABLE points (id INT PRIMARY KEY, v VARCHAR(40) NOT NULL)",
        "SET cte_max_recursion_depth = 1000000",
        &format!(
            "INSERT INTO points WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
             WHERE i < {ROWS}) SELECT i, CONCAT('payload of row ', LPAD(i, 12, '0')) FROM n"
        ),
    ] {
        session.execute(sql).expect("the table is made");
    }
    let statement = session.prepare("SELECT v FROM points WHERE id = ?");
    let statement = statement.expect("the statement is right");
    let mut read = |id: i64| {
        let value = mayfly_engine::Value::Int(id);
        let values = [(value, SqlType::integer(TypeKind::BigInt))];
        let stream = session.execute_prepared(&statement, &values);
        let mut stream = stream.expect("the statement runs");
        assert!(stream.next_row().expect("reads").is_some(), "a row");
    };
    (0..1000).for_each(|number| read(1 + number * 31 % ROWS));
    let start = Instant::now();
    (0..READS).for_each(|number| read(1 + number * 7919 % ROWS));
    let each = start.elapsed().as_secs_f64() * 1e6 / READS as f64;
    println!("row by primary key, prepared: {each:.2} µs");
}

/// Updates and inserts rows by their primary key through prepared statements, in transactions of a thousand and each
/// alone; the table is durable with `--datadir`.
fn point_changes(session: &mut Session) {
    const ROWS: i64 = 20_000;
    const IN_TRANSACTION: i64 = 1000;
    let int = |number: i64| {
        (
            mayfly_engine::Value::Int(number),
            SqlType::integer(TypeKind::BigInt),
        )
    };
    let update = session.prepare("UPDATE points SET v = ? WHERE id = ?");
    let update = update.expect("the statement is right");
    let insert = session.prepare("INSERT INTO points (id, v) VALUES (?, ?)");
    let insert = insert.expect("the statement is right");
    let mut next = 1_000_000;
    for (name, in_transactions) in [("in transactions", true), ("each alone", false)] {
        for (kind, adds) in [("UPDATE", false), ("INSERT", true)] {
            let start = Instant::now();
            for number in 0..ROWS {
                if in_transactions && number % IN_TRANSACTION == 0 {
                    session.execute("BEGIN").expect("begins");
                }
                let text = format!("changed {number} for {name}");
                let length = u32::try_from(text.len()).expect("it is short");
                let text = (
                    mayfly_engine::Value::from(text.as_str()),
                    SqlType::varchar(length, session.connection_collation()),
                );
                let (statement, values) = if adds {
                    next += 1;
                    (&insert, [int(next), text])
                } else {
                    (&update, [text, int(1 + number * 7919 % 100_000)])
                };
                let done = session.execute_prepared(statement, &values);
                let changed = done.expect("the statement runs").finish().affected_rows;
                assert_eq!(changed, 1, "a row");
                if in_transactions && (number + 1) % IN_TRANSACTION == 0 {
                    session.execute("COMMIT").expect("commits");
                }
            }
            let each = start.elapsed().as_secs_f64() * 1e6 / ROWS as f64;
            println!("{kind} by primary key, prepared, {name}: {each:.2} µs");
        }
    }
}
