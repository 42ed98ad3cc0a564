//! Autocommit inserts, each synced to disk before it is acknowledged: in one session and in several, compared with
//! SQLite in WAL mode with synchronous = FULL.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mayfly_engine::{Database, DatabaseOptions, SqlType, TypeKind, Value};
use rusqlite::Connection;

const CREATE: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, v VARCHAR(40) NOT NULL)";
const INSERT: &str = "INSERT INTO t (id, k, v) VALUES (?, ?, ?)";

/// Rows per second of `sessions` concurrent inserting sessions.
fn mayfly(directory: &Path, sessions: u64, time: Duration) -> f64 {
    let mut options = DatabaseOptions::new();
    options.datadir = Some(directory.join("mayfly"));
    let database = Database::open(options).expect("the database opens");
    let mut session = database.session();
    session.execute("USE test").expect("there is a database");
    session.execute("DROP TABLE IF EXISTS t").expect("it goes");
    session.execute(CREATE).expect("a table");
    let next = Arc::new(AtomicU64::new(1));
    let start = Instant::now();
    let threads: Vec<_> = (0..sessions)
        .map(|_| {
            let (database, next) = (Arc::clone(&database), Arc::clone(&next));
            std::thread::spawn(move || {
                let mut session = database.session();
                session.execute("USE test").expect("there is a database");
                let insert = session.prepare(INSERT).expect("the statement is right");
                while start.elapsed() < time {
                    let id = next.fetch_add(1, Ordering::Relaxed).cast_signed();
                    let integer = |value| (Value::Int(value), SqlType::integer(TypeKind::BigInt));
                    let text = format!("the text of row {id}").into_bytes();
                    let text = (Value::Bytes(text), SqlType::varchar(40, Default::default()));
                    let values = [integer(id), integer(id % 1000), text];
                    let stream = session.execute_prepared(&insert, &values);
                    let rows = stream.expect("the row is new").result().affected_rows;
                    assert_eq!(rows, 1);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it does not panic");
    }
    let rows = next.load(Ordering::Relaxed) - 1;
    rows as f64 / start.elapsed().as_secs_f64()
}

/// Rows per second of one SQLite connection.
fn sqlite(directory: &Path, time: Duration) -> f64 {
    let path: PathBuf = directory.join("sqlite.db");
    let _ = std::fs::remove_file(&path);
    let connection = Connection::open(&path).expect("it opens");
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        .expect("settings");
    connection.execute_batch(CREATE).expect("a table");
    let mut insert = connection.prepare(INSERT).expect("the statement is right");
    let start = Instant::now();
    let mut id = 0_i64;
    while start.elapsed() < time {
        id += 1;
        let text = format!("the text of row {id}");
        insert
            .execute((id, id % 1000, text))
            .expect("the row is new");
    }
    id as f64 / start.elapsed().as_secs_f64()
}

/// Alternates between both, so that both see the same state of the disk; prints the rates and their ratios.
pub(crate) fn compare(directory: &Path, seconds: u64, rounds: usize) {
    let time = Duration::from_secs(seconds);
    std::fs::create_dir_all(directory).expect("a directory");
    println!("rows a second, in {}", directory.display());
    println!("round\tSQLite\tMayfly\tMayfly, 16 sessions");
    let mut sums = [0.0; 3];
    for round in 1..=rounds {
        let rates = [
            sqlite(directory, time),
            mayfly(directory, 1, time),
            mayfly(directory, 16, time),
        ];
        println!("{round}\t{:.0}\t{:.0}\t{:.0}", rates[0], rates[1], rates[2]);
        for (sum, rate) in sums.iter_mut().zip(rates) {
            *sum += rate;
        }
    }
    println!(
        "a row of one session takes {:.2} times SQLite's time; 16 sessions have {:.2} times its rate",
        sums[0] / sums[1],
        sums[2] / sums[0]
    );
}
