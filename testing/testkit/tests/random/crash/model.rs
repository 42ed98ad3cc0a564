//! The writers of the crash test: their statements, and a model of the results.
//!
//! A writer's n-th transaction is a function of the writer and of n alone, so that a checker of the file can compute
//! its content.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use mayfly_engine::Session;
use mayfly_testkit::fixture::SessionExt;
use mayfly_trials::Random;

/// Number of writing sessions.
pub(crate) const WRITERS: u64 = 4;

/// Interval of transactions that also count in a row that all writers share.
const SHARED_EVERY: u64 = 4;

/// Interval of transactions after which a writer also adds rows by a statement outside transactions.
pub(crate) const JOURNAL_EVERY: u64 = 2;

/// Number of rows that such a statement adds.
pub(crate) const JOURNAL_ROWS: u64 = 3;

/// The tables that the writers share.
pub(crate) const TABLES: &[&str] = &[
    "CREATE DATABASE work",
    "CREATE TABLE work.t (id BIGINT PRIMARY KEY, w INT NOT NULL, v BIGINT NOT NULL, u BIGINT NOT NULL, \
     s VARCHAR(300) NOT NULL, KEY of_v (v), UNIQUE KEY of_u (u), KEY of_w (w, v))",
    "CREATE TABLE work.copies (w INT NOT NULL, n BIGINT NOT NULL, id BIGINT NOT NULL, \
     v BIGINT NOT NULL, KEY (w, n))",
    "CREATE TABLE work.progress (w INT PRIMARY KEY, n BIGINT NOT NULL)",
    "CREATE TABLE work.shared (id INT PRIMARY KEY, n BIGINT NOT NULL)",
    "CREATE TABLE work.journal (id BIGINT AUTO_INCREMENT PRIMARY KEY, w INT NOT NULL, \
     n BIGINT NOT NULL, part INT NOT NULL, UNIQUE KEY (w, n, part))",
    "CREATE TABLE work.numbers (id BIGINT AUTO_INCREMENT PRIMARY KEY, w INT NOT NULL)",
    "INSERT INTO work.shared VALUES (1, 0)",
    "INSERT INTO work.progress VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
];

/// A change by a writer.
enum Change {
    Insert(Vec<u64>),
    Replace(Vec<u64>),
    Upsert(Vec<u64>),
    Update { modulus: u64, rest: u64, add: i64 },
    Delete { modulus: u64, rest: u64 },
    Copy { modulus: u64, rest: u64 },
    Fill { rows: u64 },
    Forget,
}

/// Rows of one writer in the tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Model {
    writer: u64,
    /// Number of its transactions.
    pub(crate) n: u64,
    /// Rows by id.
    rows: BTreeMap<u64, (i64, String)>,
    /// (transaction, id, value) of each copy, in no order.
    copies: Vec<(u64, u64, i64)>,
}

/// A transaction: its statements, and those of a rolled back one before it.
pub(crate) struct Transaction {
    pub(crate) undone: Vec<String>,
    pub(crate) statements: Vec<String>,
}

impl Model {
    pub(crate) fn new(writer: u64) -> Self {
        Self {
            writer,
            ..Self::default()
        }
    }

    pub(crate) fn writer(&self) -> u64 {
        self.writer
    }

    /// The n-th id of the writer.
    fn id(&self, n: u64) -> u64 {
        self.writer * 1_000_000_000 + n
    }

    fn change(&self, random: &mut Random, n: u64) -> Change {
        let first = n * 8;
        let some = |random: &mut Random| -> Vec<u64> {
            let near = first.saturating_sub(200);
            let ids = (0..=random.below_u64(5)).map(|_| near + random.below_u64(200));
            ids.map(|id| self.id(id)).collect()
        };
        let modulus = 3 + random.below_u64(9);
        let rest = random.below_u64(modulus);
        match random.below_u64(16) {
            0..=4 => {
                let rows = 1 + random.below_u64(8);
                Change::Insert((first..first + rows).map(|id| self.id(id)).collect())
            }
            5 | 6 => Change::Replace(some(random)),
            7 | 8 => Change::Upsert(some(random)),
            9 | 10 => Change::Update {
                modulus,
                rest,
                add: random.below_u64(2000).cast_signed() - 1000,
            },
            11 | 12 => Change::Delete { modulus, rest },
            13 => Change::Copy { modulus, rest },
            14 => Change::Fill {
                rows: 1 + random.below_u64(1500),
            },
            _ => Change::Forget,
        }
    }

    /// Makes the next transaction, and applies it to the model.
    pub(crate) fn step(&mut self) -> Transaction {
        let n = self.n + 1;
        let mut random = Random(self.writer << 32 | n);
        let undone = match random.below_u64(4) {
            0 => {
                let mut other = self.clone();
                (0..2)
                    .map(|_| {
                        let change = other.change(&mut random, n);
                        other.apply(&change, n)
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        let mut statements = Vec::new();
        for _ in 0..=random.below_u64(3) {
            let change = self.change(&mut random, n);
            if random.one_in(5) {
                let mut other = self.clone();
                statements.push("SAVEPOINT here".to_owned());
                statements.push(other.apply(&change, n));
                statements.push("ROLLBACK TO SAVEPOINT here".to_owned());
            } else {
                statements.push(self.apply(&change, n));
            }
        }
        if n.is_multiple_of(SHARED_EVERY) {
            statements.push("UPDATE shared SET n = n + 1 WHERE id = 1".to_owned());
        }
        let writer = self.writer;
        statements.push(format!("UPDATE progress SET n = {n} WHERE w = {writer}"));
        self.n = n;
        Transaction { undone, statements }
    }

    fn values(&self, ids: &[u64], n: u64) -> Vec<(u64, i64, String)> {
        let row = |(place, id): (usize, &u64)| {
            let v = (id.wrapping_mul(n + place as u64) % 10_000).cast_signed();
            let length = usize::try_from(id % 120).unwrap_or(0);
            (*id, v, format!("{n}-{place}{}", "x".repeat(length)))
        };
        ids.iter().enumerate().map(row).collect()
    }

    fn list(&self, rows: &[(u64, i64, String)]) -> String {
        let mut text = "(id, w, v, u, s) VALUES ".to_owned();
        for (place, (id, v, s)) in rows.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}({id}, {}, {v}, {id}, '{s}')", self.writer);
        }
        text
    }

    /// Applies a change; returns its statement.
    fn apply(&mut self, change: &Change, n: u64) -> String {
        let w = self.writer;
        let chosen = |modulus: u64, rest: u64| format!("w = {w} AND id % {modulus} = {rest}");
        match change {
            Change::Insert(ids) => {
                let rows = self.values(ids, n);
                // An earlier REPLACE may have inserted the row.
                let text = format!("INSERT IGNORE INTO t {}", self.list(&rows));
                for (id, v, s) in rows {
                    self.rows.entry(id).or_insert((v, s));
                }
                text
            }
            Change::Replace(ids) => {
                let rows = self.values(ids, n);
                let text = format!("REPLACE INTO t {}", self.list(&rows));
                for (id, v, s) in rows {
                    self.rows.insert(id, (v, s));
                }
                text
            }
            Change::Upsert(ids) => {
                let rows = self.values(ids, n);
                let list = self.list(&rows);
                for (id, v, s) in rows {
                    let there = self.rows.entry(id);
                    there.and_modify(|(v, _)| *v += 5).or_insert((v, s));
                }
                format!("INSERT INTO t {list} ON DUPLICATE KEY UPDATE v = t.v + 5")
            }
            Change::Update { modulus, rest, add } => {
                for (id, (v, s)) in &mut self.rows {
                    if id % modulus == *rest {
                        *v += add;
                        s.truncate(40);
                        let _ = write!(s, "+{n}");
                    }
                }
                let chosen = chosen(*modulus, *rest);
                format!(
                    "UPDATE t SET v = v + {add}, s = CONCAT(LEFT(s, 40), '+{n}') WHERE {chosen}"
                )
            }
            Change::Delete { modulus, rest } => {
                self.rows.retain(|id, _| id % modulus != *rest);
                format!("DELETE FROM t WHERE {}", chosen(*modulus, *rest))
            }
            Change::Copy { modulus, rest } => {
                let rows = self.rows.iter().filter(|(id, _)| *id % modulus == *rest);
                for (id, (v, _)) in rows {
                    self.copies.push((n, *id, *v));
                }
                let chosen = chosen(*modulus, *rest);
                format!("INSERT INTO copies SELECT {w}, {n}, id, v FROM t WHERE {chosen}")
            }
            Change::Fill { rows } => {
                for id in 1..=*rows {
                    self.copies.push((n, id, id.cast_signed() * 2));
                }
                format!(
                    "INSERT INTO copies WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r \
                     WHERE i < {rows}) SELECT {w}, {n}, i, i * 2 FROM r"
                )
            }
            Change::Forget => {
                let before = n.saturating_sub(3);
                self.copies.retain(|(of, _, _)| *of >= before);
                format!("DELETE FROM copies WHERE w = {w} AND n < {before}")
            }
        }
    }

    /// The result of `SELECT id, v, u, s FROM t WHERE w = … ORDER BY id`.
    pub(crate) fn shown_rows(&self) -> Vec<String> {
        let rows = self.rows.iter();
        rows.map(|(id, (v, s))| format!("{id}\t{v}\t{id}\t{s}"))
            .collect()
    }

    /// The result of `SELECT n, id, v FROM copies WHERE w = … ORDER BY n, id, v`.
    fn shown_copies(&self) -> Vec<String> {
        let mut copies = self.copies.clone();
        copies.sort_unstable();
        let copies = copies.iter();
        copies.map(|(n, id, v)| format!("{n}\t{id}\t{v}")).collect()
    }
}

/// Compares the tables with the models, which are advanced to the number of transactions there; `wanted` says how many
/// transactions a writer may have.
pub(crate) fn verify(
    session: &mut Session,
    models: &mut [Model],
    wanted: impl Fn(&Model) -> RangeInclusive<u64>,
) -> Result<(), String> {
    session.must("USE work");
    let mut shared = 0;
    for model in models {
        let w = model.writer;
        let done = session.value(&format!("SELECT n FROM progress WHERE w = {w}"));
        let done: u64 = done.parse().map_err(|_| "progress is no number")?;
        let wanted = wanted(model);
        if !wanted.contains(&done) {
            return Err(format!(
                "{done} transactions of writer {w} are there, not {wanted:?}"
            ));
        }
        while model.n < done {
            model.step();
        }
        shared += done / SHARED_EVERY;
        let rows = format!("SELECT id, v, u, s FROM t WHERE w = {w} ORDER BY id");
        let (what, rows) = (format!("t of writer {w}"), session.must(&rows));
        same(&what, &rows, &model.shown_rows())?;
        let copies = format!("SELECT n, id, v FROM copies WHERE w = {w} ORDER BY n, id, v");
        let (what, copies) = (format!("copies of writer {w}"), session.must(&copies));
        same(&what, &copies, &model.shown_copies())?;
    }
    let counted = session.must("SELECT n FROM shared");
    same("shared", &counted, &[shared.to_string()])
}

/// Compares rows with the expected ones.
pub(crate) fn same(what: &str, actual: &[String], expected: &[String]) -> Result<(), String> {
    if actual == expected {
        return Ok(());
    }
    let without = |rows: &[String], others: &[String]| -> Vec<String> {
        let rows = rows.iter().filter(|row| !others.contains(row));
        rows.cloned().collect()
    };
    let (missing, surplus) = (without(expected, actual), without(actual, expected));
    Err(format!(
        "{what}: missing {missing:?}, and not expected {surplus:?}"
    ))
}
