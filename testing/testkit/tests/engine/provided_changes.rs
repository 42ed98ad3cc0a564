//! Changes of a table whose rows are outside of the engine, as a part of a session's transaction. The provider here is
//! a small store with transactions of its own; a durable table beside it tells whether both end alike.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_engine::{
    Batch, ColumnId, Error, Participant, ProvidedColumn, ProvidedRows, ProviderTransaction, Result,
    ScanRequest, SqlType, TableProvider, codes,
};
use mayfly_testkit::fixture::{Fixture, SessionExt};

/// Rows by their positions: a number each.
type Rows = BTreeMap<u64, i64>;

/// A number that a transaction does not promise to commit.
const REFUSED: i64 = 13;

/// The table `numbers (n BIGINT NOT NULL)`.
#[derive(Debug, Default, Clone)]
struct Numbers(Arc<Mutex<Rows>>);

impl TableProvider for Numbers {
    fn columns(&self) -> Vec<ProvidedColumn> {
        vec![ProvidedColumn {
            name: "n".to_owned(),
            ty: SqlType::bigint(),
            nullable: false,
        }]
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        Ok(Box::new(Scan(Some(batch(
            &self.0.lock().unwrap(),
            request,
        )))))
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn begin(&self) -> Result<Box<dyn ProviderTransaction>> {
        Ok(Box::new(Changing {
            versions: vec![self.0.lock().unwrap().clone()],
            store: self.clone(),
        }))
    }
}

fn batch(rows: &Rows, request: &ScanRequest<'_>) -> Batch {
    let column = |column: &ColumnId| -> ArrayRef {
        match *column {
            ColumnId::POSITION => {
                let positions = rows.keys().map(|position| position.to_be_bytes());
                Arc::new(BinaryViewArray::from_iter_values(positions))
            }
            _ => Arc::new(Int64Array::from_iter_values(rows.values().copied())),
        }
    };
    Batch::new(request.columns.iter().map(column).collect(), rows.len())
}

struct Scan(Option<Batch>);

impl ProvidedRows for Scan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(self.0.take())
    }
}

/// A transaction: a version of the rows before it, and one after each of its changes.
struct Changing {
    versions: Vec<Rows>,
    store: Numbers,
}

impl Changing {
    fn rows(&self) -> Rows {
        self.versions.last().cloned().unwrap_or_default()
    }
}

fn numbers(rows: &Batch) -> Vec<i64> {
    let array = &rows.columns()[0];
    let array = array.as_any().downcast_ref::<Int64Array>().unwrap();
    array.values().to_vec()
}

fn id(position: &[u8]) -> u64 {
    u64::from_be_bytes(position.try_into().unwrap())
}

impl Participant for Changing {
    fn savepoint(&mut self) -> u64 {
        self.versions.len() as u64 - 1
    }

    fn roll_back_to(&mut self, savepoint: u64) -> bool {
        self.versions
            .truncate(usize::try_from(savepoint).unwrap() + 1);
        false
    }

    fn prepare(&mut self) -> Result<()> {
        match self.rows().values().any(|number| *number == REFUSED) {
            true => Err(codes::ER_UNKNOWN_ERROR.with(&[&"13 is refused"])),
            false => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<()> {
        *self.store.0.lock().unwrap() = self.rows();
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        false
    }
}

impl ProviderTransaction for Changing {
    fn scan(&mut self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>> {
        Ok(Box::new(Scan(Some(batch(&self.rows(), request)))))
    }

    fn row(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        let row = self.rows().get(&id(position)).copied();
        let columns = |number| vec![Arc::new(Int64Array::from(vec![number])) as ArrayRef];
        Ok(row.map(|number| Batch::new(columns(number), 1)))
    }

    fn insert(&mut self, added: &Batch) -> Result<()> {
        let mut rows = self.rows();
        let next = rows.last_key_value().map_or(0, |(last, _)| last + 1);
        rows.extend((next..).zip(numbers(added)));
        self.versions.push(rows);
        Ok(())
    }

    fn update(&mut self, positions: &[&[u8]], changed: &Batch) -> Result<()> {
        let mut rows = self.rows();
        rows.extend(positions.iter().map(|it| id(it)).zip(numbers(changed)));
        self.versions.push(rows);
        Ok(())
    }

    fn delete(&mut self, positions: &[&[u8]]) -> Result<u64> {
        let mut rows = self.rows();
        let removed = positions.iter().filter(|it| rows.remove(&id(it)).is_some());
        let removed = removed.count() as u64;
        self.versions.push(rows);
        Ok(removed)
    }

    fn truncate(&mut self) -> Result<()> {
        self.versions.push(Rows::new());
        Ok(())
    }
}

/// A database with the table `numbers` of a provider and a durable table `beside`.
fn numbers_and_beside() -> (Fixture, mayfly_engine::Session, Numbers) {
    let (fixture, mut session) = Fixture::with_session();
    let store = Numbers::default();
    let provider: Arc<dyn TableProvider> = Arc::new(store.clone());
    let registered = fixture
        .database
        .register_table("test", "numbers", &provider);
    registered.expect("the name is free");
    session.must("USE test");
    session.must("CREATE TABLE beside (n INT)");
    (fixture, session, store)
}

fn committed(store: &Numbers) -> Vec<i64> {
    store.0.lock().unwrap().values().copied().collect()
}

#[test]
fn each_statement_is_a_transaction() {
    let (_fixture, mut session, store) = numbers_and_beside();
    session.must("INSERT INTO numbers VALUES (1), (2), (3)");
    session.must("INSERT INTO numbers SELECT n + 100 FROM numbers");
    assert_eq!(committed(&store), [1, 2, 3, 101, 102, 103]);
}

#[test]
fn changes_of_every_kind_are_seen_by_the_session_and_committed_together() {
    let (fixture, mut session, store) = numbers_and_beside();
    session.must("START TRANSACTION");
    session.must("INSERT INTO numbers VALUES (1), (2), (3), (4)");
    session.must("INSERT INTO beside VALUES (1)");
    session.must("UPDATE numbers SET n = n * 10 WHERE n > 2");
    session.must("DELETE FROM numbers WHERE n = 1");
    session.must("SAVEPOINT s");
    session.must("UPDATE numbers AS a JOIN beside AS b SET a.n = a.n + 1, b.n = 7 WHERE a.n = 2");
    assert_eq!(
        session.must("SELECT n FROM numbers ORDER BY n"),
        ["3", "30", "40"]
    );
    session.must("ROLLBACK TO s");
    assert_eq!(
        session.must("SELECT n FROM numbers ORDER BY n"),
        ["2", "30", "40"]
    );
    assert_eq!(session.must("SELECT n FROM beside"), ["1"]);
    assert_eq!(
        session.must("SELECT n FROM numbers WHERE n < 40 FOR UPDATE"),
        ["2", "30"]
    );
    let mut other = fixture.database.session();
    assert!(other.must("SELECT n FROM test.numbers").is_empty());
    session.must("COMMIT");
    assert_eq!(committed(&store), [2, 30, 40]);
    assert_eq!(other.must("SELECT SUM(n) FROM test.numbers"), ["72"]);
    session.must("TRUNCATE TABLE numbers");
    assert!(committed(&store).is_empty());
}

#[test]
fn a_failing_statement_leaves_nothing() {
    let (_fixture, mut session, store) = numbers_and_beside();
    session.must("START TRANSACTION");
    session.must("INSERT INTO numbers VALUES (1)");
    let failed = session.execute("INSERT INTO numbers SELECT 2 UNION ALL SELECT 'x'");
    assert_eq!(failed.expect_err("no number").errno(), 1366);
    let failed = session.execute("UPDATE numbers SET n = n + 9223372036854775807");
    assert_eq!(failed.expect_err("too large").errno(), 1690);
    session.must("COMMIT");
    assert_eq!(committed(&store), [1]);
    session.must("BEGIN");
    session.must("DELETE FROM numbers");
    session.must("ROLLBACK");
    assert_eq!(committed(&store), [1]);
}

#[test]
fn nothing_is_committed_when_the_provider_does_not_prepare() {
    let (_fixture, mut session, store) = numbers_and_beside();
    session.must("START TRANSACTION");
    session.must("INSERT INTO beside VALUES (1)");
    session.must(&format!("INSERT INTO numbers VALUES ({REFUSED})"));
    let failed: Error = session.execute("COMMIT").expect_err("not prepared");
    assert_eq!(failed.errno(), 1105);
    assert!(committed(&store).is_empty());
    assert!(session.must("SELECT n FROM beside").is_empty());
}
