//! Tests of durable tables through their public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod bulk_load;
mod damage;
mod filtered;
mod find;
mod large_transactions;
mod model;
mod snapshots;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::{
    ChangeStorage, ColumnId, Durability, DurableStore, DurableTable, DurableTransaction, IndexId,
    IndexPart, IndexSpec, KeyBound, KeyMode, KeyRange, LockMode, LockWait, Locked, ReadLock,
    ReadView, ScanRequest, StatementOptions, StoreOptions, Table, TableDefinition, TableScan,
    TreeId,
};
use mayfly_trials::Random;
use mayfly_types::{Batch, CollationId, IndexMethod, Interrupt, PhysicalType, Value};
use tempfile::TempDir;

fn open(directory: &Path) -> DurableStore {
    DurableStore::open(StoreOptions::of_directory(directory)).unwrap()
}

fn storage() -> ChangeStorage {
    ChangeStorage::for_tests(&Budget::unlimited(BudgetKind::Memory))
}

fn options(view: ReadView) -> StatementOptions {
    StatementOptions {
        view,
        lock_wait: Duration::from_millis(200),
        interrupt: Interrupt::default(),
        batch_rows: 1000,
        read_lock: ReadLock::None,
    }
}

/// (id BIGINT PRIMARY KEY, name TEXT, n BIGINT UNIQUE NULL), with a key on the name.
fn people_in(trees: Vec<TreeId>) -> Arc<TableDefinition> {
    let collated = KeyMode::Collated(CollationId::UTF8MB4_0900_AI_CI);
    let mut by_name = IndexSpec::binary(&[], false, IndexMethod::BTree);
    by_name.parts.push(IndexPart::new(1, collated));
    let indexes = vec![
        IndexSpec::binary(&[0], true, IndexMethod::Clustered),
        IndexSpec::binary(&[2], true, IndexMethod::BTree),
        by_name,
    ];
    let secondary = trees[1..].to_vec();
    let definition = TableDefinition::new(TYPES.to_vec(), indexes, trees[0], secondary);
    Arc::new(definition)
}

/// A session, and the table of people.
struct Session {
    transaction: DurableTransaction,
    definition: Arc<TableDefinition>,
}

impl Deref for Session {
    type Target = DurableTransaction;

    fn deref(&self) -> &DurableTransaction {
        &self.transaction
    }
}

/// A new store with a table that is not committed.
fn new_table() -> (TempDir, DurableStore, Session) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = Session::with_table(&store, storage());
    (directory, store, session)
}

impl Session {
    fn new(store: &DurableStore, definition: &Arc<TableDefinition>) -> Self {
        Self {
            transaction: store.session(storage()),
            definition: Arc::clone(definition),
        }
    }

    /// A session that creates the table.
    fn with_table(store: &DurableStore, storage: ChangeStorage) -> Self {
        let transaction = store.session(storage);
        let definition = people_in((0..4).map(|_| transaction.new_tree().unwrap()).collect());
        Self {
            transaction,
            definition,
        }
    }

    /// Another session, with the same table.
    fn another(&self, store: &DurableStore) -> Self {
        Self::new(store, &self.definition)
    }

    fn table(&self) -> DurableTable {
        table(&self.transaction, &self.definition)
    }

    fn rows(&self) -> Vec<Person> {
        rows_of(self.table().scan(&ScanRequest::of(&ALL)).unwrap())
    }

    fn try_insert(&self, rows: &[Person]) -> mayfly_types::Result<Option<IndexId>> {
        let mut writer = self.table().writer().unwrap();
        let written = writer.insert(&batch(rows))?;
        writer.finish()?;
        Ok(written.duplicate.map(|duplicate| duplicate.index))
    }

    fn insert(&self, rows: &[Person]) -> Option<IndexId> {
        self.try_insert(rows).unwrap()
    }

    fn delete(&self, ids: &[i64]) -> u64 {
        let table = self.table();
        let mut writer = table.writer().unwrap();
        let deleted = writer.delete(&positions(&table, ids)).unwrap();
        writer.finish().unwrap();
        deleted
    }

    fn update(&self, id: i64, new: &Person) -> Option<IndexId> {
        let table = self.table();
        let positions = positions(&table, &[id]);
        if positions.is_empty() {
            return None;
        }
        let mut writer = table.writer().unwrap();
        let new = batch(std::slice::from_ref(new));
        let written = writer.update(&positions, &new).unwrap();
        writer.finish().unwrap();
        written.duplicate.map(|duplicate| duplicate.index)
    }

    /// Checks the store as `mayfly check` does.
    fn check(&self, store: &DurableStore) {
        store.check(std::slice::from_ref(&self.definition)).unwrap();
    }
}

/// The types of a person's columns.
const TYPES: [PhysicalType; 3] = [
    PhysicalType::Int64,
    PhysicalType::Bytes,
    PhysicalType::Int64,
];

type Person = (i64, Vec<u8>, Option<i64>);

fn batch(rows: &[Person]) -> Batch {
    let ids: Int64Array = rows.iter().map(|row| row.0).collect();
    let names = BinaryViewArray::from_iter_values(rows.iter().map(|row| &row.1));
    let numbers: Int64Array = rows.iter().map(|row| row.2).collect();
    Batch::new(
        vec![Arc::new(ids), Arc::new(names), Arc::new(numbers)],
        rows.len(),
    )
}

fn people_of(batch: &Batch, out: &mut Vec<Person>) {
    let ids = batch.column(0).as_primitive::<Int64Type>();
    let names = batch.column(1).as_binary_view();
    let numbers = batch.column(2).as_primitive::<Int64Type>();
    for row in 0..batch.row_count() {
        let name = names.value(row).to_vec();
        let number = numbers.is_valid(row).then(|| numbers.value(row));
        out.push((ids.value(row), name, number));
    }
}

const ALL: [ColumnId; 3] = [ColumnId(0), ColumnId(1), ColumnId(2)];

fn rows_of(mut scan: Box<dyn TableScan>) -> Vec<Person> {
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        people_of(&batch, &mut rows);
    }
    rows
}

fn table(transaction: &DurableTransaction, definition: &Arc<TableDefinition>) -> DurableTable {
    let statement = transaction.statement(options(ReadView::Statement));
    statement.table(definition).unwrap()
}

fn positions(table: &impl Table, ids: &[i64]) -> ArrayRef {
    let keys: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let (batch, _) = table
        .index_lookup(IndexId(0), &[keys], &[false], &[ColumnId::POSITION])
        .unwrap();
    Arc::clone(batch.column(0))
}

fn person(id: i64) -> Person {
    let name = format!("name {} and more of it", id % 97);
    (id, name.into(), Some(id * 3))
}

#[test]
fn rows_are_there_after_the_store_is_opened_again() {
    let rows: Vec<Person> = (0..5000).map(person).collect();
    let (directory, store, session) = new_table();
    assert_eq!(session.insert(&rows), None);
    session.set_record(b"table", Some(b"people")).unwrap();
    assert_eq!(session.rows(), rows);
    let other = session.another(&store);
    assert!(other.rows().is_empty());
    session.commit().unwrap();
    assert_eq!(other.rows(), rows);
    let definition = session.definition.clone();
    drop((session, other, store));
    let store = open(directory.path());
    assert_eq!(store.record(b"table").unwrap().unwrap(), b"people");
    let transaction = store.session(storage());
    let table = table(&transaction, &definition);
    assert_eq!(rows_of(table.scan(&ScanRequest::of(&ALL)).unwrap()), rows);
    assert_eq!(table.statistics().rows, 5000);
    let distinct = table.distinct_keys(IndexId(2), 1);
    assert!((70..130).contains(&distinct), "{distinct} of 97");
    assert!(transaction.new_tree().unwrap() > 4);

    // By the name, which fetches the rows; by the number backwards.
    let range = KeyRange::equal(vec!["NAME 13 and more of it".into()]);
    let found = rows_of(
        table
            .index_scan(IndexId(2), std::slice::from_ref(&range), false, &ALL)
            .unwrap(),
    );
    let expected: Vec<Person> = rows
        .iter()
        .filter(|row| row.0 % 97 == 13)
        .cloned()
        .collect();
    assert_eq!(found, expected);
    assert_eq!(
        table.rows_in_range(IndexId(2), &range).unwrap(),
        expected.len() as u64
    );
    let range = KeyRange {
        start: KeyBound::Excluded(vec![Value::Int(300)]),
        end: KeyBound::Included(vec![Value::Int(9000)]),
    };
    let found = rows_of(table.index_scan(IndexId(1), &[range], true, &ALL).unwrap());
    let expected: Vec<Person> = (101..=3000).rev().map(person).collect();
    assert_eq!(found, expected);
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![Some(9), None, Some(10), Some(12)]));
    let (found, of) = table
        .index_lookup(IndexId(1), &[keys], &[false], &ALL)
        .unwrap();
    let mut out = Vec::new();
    people_of(&found, &mut out);
    assert_eq!(out, [person(3), person(4)]);
    assert_eq!(of.values().to_vec(), [0, 3]);
}

/// In a range of few blocks the rows are counted. For more, the estimate assumes that keys are evenly spread between
/// the first and the last, as they are here.
#[test]
fn rows_of_a_range_are_counted_or_estimated() {
    let (_directory, _store, session) = new_table();
    // Rows so long that a block of a bulk load, of 32 KiB, has less than a hundred of them.
    let mut random = Random(7);
    let mut name = || (0..500).map(|_| random.below_u64(256) as u8).collect();
    let rows: Vec<Person> = (0..20_000).map(|id| (id, name(), None)).collect();
    session.insert(&rows);
    session.commit().unwrap();
    let table = session.table();
    let counted = 0;
    for (low, high, rows, tolerance) in [
        (7, 7, 0, counted),
        (7, 8, 1, counted),
        (100, 1100, 1000, counted),
        (-5, 10, 10, counted),
        (19_990, 30_000, 10, counted),
        (20_000, 30_000, 0, counted),
        (3000, 17_000, 14_000, 300),
        (-10_000, 15_000, 15_000, 300),
        (5000, 30_000, 15_000, 300),
        (-1, 20_001, 20_000, 300),
    ] {
        let range = KeyRange {
            start: KeyBound::Included(vec![Value::Int(low)]),
            end: KeyBound::Excluded(vec![Value::Int(high)]),
        };
        let estimate = table.rows_in_range(IndexId(0), &range).unwrap();
        let difference = estimate.abs_diff(rows);
        assert!(difference <= tolerance, "{low}..{high}: {estimate}");
    }
}

#[test]
fn a_second_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _store = open(directory.path());
    let error = DurableStore::open(StoreOptions::of_directory(directory.path())).unwrap_err();
    assert!(
        error.to_string().contains("in use by another process"),
        "{error}"
    );
}

#[test]
fn duplicates_are_found_in_every_unique_index() {
    let (_directory, _store, session) = new_table();
    let row = |id, name: &str, number| (id, name.into(), number);
    session.insert(&[row(1, "a", Some(1)), row(2, "a", None)]);
    session.commit().unwrap();
    let (primary, number) = (Some(IndexId(0)), Some(IndexId(1)));
    for (rows, duplicate) in [
        (vec![row(1, "x", None)], primary),
        (vec![row(3, "x", Some(1))], number),
        (vec![row(4, "x", None), row(4, "x", None)], primary),
        (vec![row(5, "x", Some(7)), row(6, "x", Some(7))], number),
    ] {
        assert_eq!(session.insert(&rows), duplicate, "{rows:?}");
    }
    assert_eq!(session.update(5, &row(5, "y", Some(1))), number);
    assert_eq!(session.update(5, &row(1, "y", Some(8))), primary);
    assert_eq!(session.update(1, &row(9, "y", Some(1))), None);
    assert_eq!(session.insert(&[row(1, "again", Some(8))]), None);
}

#[test]
fn locks_wait_time_out_and_find_deadlocks() {
    let (_directory, store, first) = new_table();
    let second = first.another(&store);
    first.insert(&[person(1), person(2)]);
    first.commit().unwrap();
    let lock = |session: &Session, id, mode, wait| {
        let table = session.table();
        let positions = positions(&table, &[id]);
        table.lock(&positions, mode, wait)
    };
    let patience = LockWait::For(Duration::from_millis(50));
    let exclusive = LockMode::Exclusive;
    let all = Locked::Unchanged(vec![true]);
    assert_eq!(lock(&first, 1, LockMode::Shared, patience).unwrap(), all);
    assert_eq!(lock(&second, 1, LockMode::Shared, patience).unwrap(), all);
    for (wait, errno) in [(patience, 1205), (LockWait::No, 3572)] {
        let refused = lock(&second, 1, exclusive, wait).unwrap_err();
        assert_eq!(refused.errno(), errno);
    }
    let skipped = lock(&second, 1, exclusive, LockWait::Skip).unwrap();
    assert_eq!(skipped, Locked::Unchanged(vec![false]));
    first.roll_back();
    assert_eq!(lock(&second, 1, exclusive, patience).unwrap(), all);
    assert_eq!(lock(&first, 2, exclusive, patience).unwrap(), all);
    let errors = std::thread::scope(|scope| {
        let patience = LockWait::For(Duration::from_secs(10));
        let waiting = scope.spawn(|| {
            let patience = LockWait::For(Duration::from_secs(10));
            let result = lock(&second, 2, exclusive, patience);
            result.map_err(|error| error.errno())
        });
        std::thread::sleep(Duration::from_millis(50));
        let closing = lock(&first, 1, exclusive, patience).unwrap_err().errno();
        assert_eq!(closing, 1213);
        first.roll_back();
        waiting.join().unwrap()
    });
    assert_eq!(errors, Ok(all));
    // An insert of a key that another transaction is inserting waits for it, and then finds the key there or not.
    let row = |id| [(id, "x".into(), Some(70))];
    first.insert(&row(7));
    assert_eq!(second.try_insert(&row(8)).unwrap_err().errno(), 1205);
    first.commit().unwrap();
    assert_eq!(second.insert(&row(8)), Some(IndexId(1)));
}

/// Row locks that exceed the memory are replaced by a lock of the whole table, unless another transaction writes to
/// it.
#[test]
fn a_table_is_locked_when_there_is_no_memory_for_its_rows_locks() {
    let (_directory, store, first) = new_table();
    let rows: Vec<_> = (0..20_000).map(person).collect();
    first.insert(&rows);
    first.commit().unwrap();
    let budget = Budget::root(BudgetKind::Memory, "memory_limit", 1 << 20);
    let small = store.session(ChangeStorage::for_tests(&budget));
    let patience = LockWait::For(Duration::from_millis(50));
    let ids: Vec<i64> = (0..20_000).collect();
    let lock_all = || {
        let table = table(&small, &first.definition);
        let all = positions(&table, &ids);
        let mut lock = |from: usize| {
            let some = all.slice(from, 1000);
            table.lock(&some, LockMode::Exclusive, patience).map(|_| ())
        };
        (0..20_000).step_by(1000).try_for_each(&mut lock)
    };
    let write = || {
        let another = first.another(&store);
        another.table().writer().map(|_| ())
    };
    // Another transaction writes to the table, which cannot be locked as a whole.
    first.insert(&[person(20_001)]);
    assert_eq!(lock_all().unwrap_err().errno(), 1114);
    small.roll_back();
    assert_eq!(budget.used(), 0);
    first.commit().unwrap();
    lock_all().unwrap();
    assert!(budget.used() < 1 << 20);
    assert_eq!(write().unwrap_err().errno(), 1205);
    // Locking reads are refused too.
    let other = first.table();
    let new = positions(&other, &[20_001]);
    let refused = other.lock(&new, LockMode::Shared, patience);
    assert_eq!(refused.unwrap_err().errno(), 1205);
    let skipped = other.lock(&new, LockMode::Shared, LockWait::Skip).unwrap();
    assert_eq!(skipped, Locked::Unchanged(vec![false]));
    small.roll_back();
    assert_eq!(budget.used(), 0);
    write().unwrap();
}

#[test]
fn a_row_that_changed_since_it_was_read_is_noticed() {
    let (_directory, store, first) = new_table();
    let second = first.another(&store);
    first.insert(&[person(1), person(2)]);
    first.commit().unwrap();
    let read = second.table();
    let (one, two) = (positions(&read, &[1]), positions(&read, &[2]));
    first.update(1, &(1, "new".into(), None));
    first.commit().unwrap();
    let patience = LockWait::For(Duration::from_millis(50));
    let changed = read.lock(&one, LockMode::Exclusive, patience).unwrap();
    assert_eq!(changed, Locked::Changed);
    let same = read.lock(&two, LockMode::Exclusive, patience).unwrap();
    assert_eq!(same, Locked::Unchanged(vec![true]));
    second.roll_back();

    // REPEATABLE READ keeps its snapshot, READ COMMITTED does not.
    second.take_snapshot().unwrap();
    first.delete(&[1]);
    first.commit().unwrap();
    let at = |view| {
        let statement = second.statement(options(view));
        let table = statement.table(&second.definition).unwrap();
        rows_of(table.scan(&ScanRequest::of(&ALL)).unwrap()).len()
    };
    assert_eq!((at(ReadView::Transaction), at(ReadView::Statement)), (2, 1));
    second.commit().unwrap();
    assert_eq!(at(ReadView::Transaction), 1);
}

#[test]
fn a_savepoint_undoes_a_truncation() {
    let (_directory, store, session) = new_table();
    let rows: Vec<Person> = (0..1000).map(person).collect();
    session.insert(&rows[..900]);
    session.commit().unwrap();
    session.insert(&rows[900..]);
    let mut participant = session.participant();
    let savepoint = participant.savepoint();
    session.table().truncate().unwrap();
    assert_eq!(session.rows(), []);
    session.insert(&[(3, "another".into(), Some(3))]);
    participant.roll_back_to(savepoint);
    assert_eq!(session.rows(), rows);
    session.commit().unwrap();
    assert_eq!(session.rows(), rows);
    session.check(&store);
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let (directory, store, transaction) = new_table();
    let rows: Vec<Person> = (0..1000).map(person).collect();
    transaction.insert(&rows);
    transaction.commit().unwrap();
    let copy = directory.path().join("b");
    store.backup(&copy).unwrap();
    assert!(store.backup(&copy).is_err());
    transaction.delete(&[5]);
    transaction.commit().unwrap();
    let copied = transaction.another(&open(&copy));
    assert_eq!(copied.rows(), rows);
}
