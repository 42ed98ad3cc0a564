//! Temporary tables by key: create and drop, insert, update, read and delete through prepared statements, alternating
//! with SQLite's temporary tables in memory. Both run on this thread alone; the result is its processor time, which
//! does not depend on the load of the machine.

use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions, Prepared, Session, SqlType, TypeKind, Value};
use rusqlite::Connection;
use std::sync::Arc;

/// Orders of the keys.
const ORDERS: [&str; 3] = ["sorted", "reversed", "random"];
/// Number of times that a table is created and dropped.
const CREATIONS: u32 = 2000;
const CREATE: &str =
    "CREATE TEMPORARY TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, v VARCHAR(40) NOT NULL)";
const INDEX: &str = "CREATE INDEX by_k ON t (k)";
/// The table with its index in one statement, as in MySQL.
const CREATE_WITH_INDEX: &str = "CREATE TEMPORARY TABLE t (id INTEGER PRIMARY KEY, \
     k INTEGER NOT NULL, v VARCHAR(40) NOT NULL, INDEX by_k (k))";
const DROP: &str = "DROP TABLE t";
const INSERT: &str = "INSERT INTO t (id, k, v) VALUES (?, ?, ?)";
const UPDATE: &str = "UPDATE t SET v = ? WHERE id = ?";
const READ: &str = "SELECT v FROM t WHERE id = ?";
const DELETE: &str = "DELETE FROM t WHERE id = ?";

/// Timed operations.
const WORK: [&str; 5] = ["create and drop", "insert", "update", "read", "delete"];

trait Engine {
    fn create(&mut self);
    fn drop_table(&mut self);
    fn insert(&mut self, ids: &[i64]);
    fn update(&mut self, ids: &[i64]);
    fn read(&mut self, ids: &[i64]);
    fn delete(&mut self, ids: &[i64]);
}

struct Mayfly {
    session: Session,
    statements: [Arc<Prepared>; 4],
}

impl Mayfly {
    fn new() -> Self {
        let database = Database::open(DatabaseOptions::new()).expect("the database opens");
        let mut session = database.session();
        session.execute("USE test").expect("there is a database");
        session.execute(CREATE_WITH_INDEX).expect("a table");
        let mut prepare = |sql| session.prepare(sql).expect("the statement is right");
        let statements = [INSERT, UPDATE, READ, DELETE].map(&mut prepare);
        session.execute(DROP).expect("the table goes");
        Self {
            session,
            statements,
        }
    }

    /// Runs a statement that changes rows; returns how many.
    fn change(&mut self, statement: usize, values: &[(Value, SqlType)]) -> u64 {
        let statement = &self.statements[statement];
        let stream = self.session.execute_prepared(statement, values);
        stream.expect("the statement runs").result().affected_rows
    }
}

/// A parameter for the values of a statement's `?`, which are integers or texts.
fn integer() -> (Value, SqlType) {
    (Value::Null, SqlType::integer(TypeKind::BigInt))
}

fn text() -> (Value, SqlType) {
    (Value::Null, SqlType::varchar(40, Default::default()))
}

fn bytes(text: String) -> Value {
    Value::Bytes(text.into_bytes())
}

impl Engine for Mayfly {
    fn create(&mut self) {
        self.session.execute(CREATE_WITH_INDEX).expect("a table");
    }

    fn drop_table(&mut self) {
        self.session.execute(DROP).expect("the table goes");
    }

    fn insert(&mut self, ids: &[i64]) {
        let mut values = [integer(), integer(), text()];
        for id in ids {
            values[0].0 = Value::Int(*id);
            values[1].0 = Value::Int(secondary(*id));
            values[2].0 = bytes(payload(*id));
            assert_eq!(self.change(0, &values), 1);
        }
    }

    fn update(&mut self, ids: &[i64]) {
        let mut values = [text(), integer()];
        for id in ids {
            values[0].0 = bytes(payload(id + 1));
            values[1].0 = Value::Int(*id);
            assert_eq!(self.change(1, &values), 1);
        }
    }

    fn read(&mut self, ids: &[i64]) {
        let mut values = [integer()];
        for id in ids {
            let statement = &self.statements[2];
            values[0].0 = Value::Int(*id);
            let stream = self.session.execute_prepared(statement, &values);
            let mut stream = stream.expect("the statement runs");
            let row = stream.next_row().expect("rows come").expect("a row");
            assert!(matches!(&row[0], Value::Bytes(text) if !text.is_empty()));
        }
    }

    fn delete(&mut self, ids: &[i64]) {
        let mut values = [integer()];
        for id in ids {
            values[0].0 = Value::Int(*id);
            assert_eq!(self.change(3, &values), 1);
        }
    }
}

struct Sqlite(Connection);

impl Sqlite {
    fn new() -> Self {
        let connection = Connection::open_in_memory().expect("a database in memory");
        connection
            .execute_batch("PRAGMA temp_store = MEMORY")
            .expect("a setting");
        Self(connection)
    }

    fn each(&mut self, sql: &str, ids: &[i64], run: impl Fn(&mut rusqlite::Statement<'_>, i64)) {
        self.0.execute_batch("BEGIN").expect("a transaction");
        let mut statement = self.0.prepare(sql).expect("the statement is right");
        for id in ids {
            run(&mut statement, *id);
        }
        drop(statement);
        self.0.execute_batch("COMMIT").expect("it ends");
    }
}

impl Engine for Sqlite {
    fn create(&mut self) {
        self.0.execute_batch(CREATE).expect("a table");
        self.0.execute_batch(INDEX).expect("an index");
    }

    fn drop_table(&mut self) {
        self.0.execute_batch(DROP).expect("the table goes");
    }

    fn insert(&mut self, ids: &[i64]) {
        self.each(INSERT, ids, |statement, id| {
            let rows = statement.execute((id, secondary(id), payload(id)));
            assert_eq!(rows.expect("a row"), 1);
        });
    }

    fn update(&mut self, ids: &[i64]) {
        self.each(UPDATE, ids, |statement, id| {
            let rows = statement.execute((payload(id + 1), id));
            assert_eq!(rows.expect("a row"), 1);
        });
    }

    fn read(&mut self, ids: &[i64]) {
        self.each(READ, ids, |statement, id| {
            let mut rows = statement.query((id,)).expect("rows come");
            let row = rows.next().expect("a row").expect("a row");
            assert!(
                !row.get_ref(0)
                    .expect("a column")
                    .as_str()
                    .expect("text")
                    .is_empty()
            );
        });
    }

    fn delete(&mut self, ids: &[i64]) {
        self.each(DELETE, ids, |statement, id| {
            assert_eq!(statement.execute((id,)).expect("a row"), 1);
        });
    }
}

/// A number whose order differs from that of the ids.
fn secondary(id: i64) -> i64 {
    id.wrapping_mul(7919) % 1_000_003
}

fn payload(id: i64) -> String {
    format!("payload of row {id:012}")
}

fn keys(order: &str, rows: i64) -> Vec<i64> {
    let mut keys: Vec<i64> = (0..rows).collect();
    match order {
        "reversed" => keys.reverse(),
        "random" => {
            let mut state = 0x9E37_79B9_7F4A_7C15_u64;
            for last in (1..keys.len()).rev() {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                keys.swap(last, (state >> 33) as usize % (last + 1));
            }
        }
        _ => {}
    }
    keys
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat");
    let statistics = statistics.expect("Linux counts the time of threads");
    let nanoseconds = statistics.split(' ').next().map(str::parse);
    Duration::from_nanos(nanoseconds.expect("a number").expect("a number"))
}

/// Times of one operation of each kind in a round, for an engine.
fn round(engine: &mut dyn Engine, ids: &[i64]) -> [f64; 5] {
    let each = |elapsed: Duration, count: usize| elapsed.as_secs_f64() * 1e6 / count as f64;
    let start = processor_time();
    for _ in 0..CREATIONS {
        engine.create();
        engine.drop_table();
    }
    let create = each(processor_time() - start, CREATIONS as usize);
    engine.create();
    let mut timed = |work: fn(&mut dyn Engine, &[i64])| {
        let start = processor_time();
        work(engine, ids);
        each(processor_time() - start, ids.len())
    };
    let times = [
        create,
        timed(|engine, ids| engine.insert(ids)),
        timed(|engine, ids| engine.update(ids)),
        timed(|engine, ids| engine.read(ids)),
        timed(|engine, ids| engine.delete(ids)),
    ];
    engine.drop_table();
    times
}

/// Runs all operations and prints the medians in µs per operation.
pub(crate) fn compare(rows: i64, rounds: usize) {
    let mut engines: [(&str, Box<dyn Engine>); 2] = [
        ("mayfly", Box::new(Mayfly::new())),
        ("sqlite", Box::new(Sqlite::new())),
    ];
    for order in ORDERS {
        let ids = keys(order, rows);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (times, (_, engine)) in times.iter_mut().zip(&mut engines) {
                times.push(round(engine.as_mut(), &ids));
            }
        }
        println!("{order}, {rows} rows, µs an operation");
        let mut sums = [0.0; 2];
        for (work, name) in WORK.iter().enumerate() {
            let median = |engine: usize| {
                let mut times: Vec<f64> = times[engine].iter().map(|times| times[work]).collect();
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            };
            let (own, other) = (median(0), median(1));
            if work > 0 {
                sums[0] += own;
                sums[1] += other;
            }
            println!("  {name:16} {own:8.3} {other:8.3}  {:.2} x", own / other);
        }
        println!(
            "  {:16} {:8.3} {:8.3}  {:.2} x",
            "sum of rows",
            sums[0],
            sums[1],
            sums[0] / sums[1]
        );
    }
}
