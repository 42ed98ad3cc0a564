//! Durable tables through their public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod damage;
mod fill;
mod find;
mod kill;
mod large_transactions;
mod long_keys;
mod model;
mod power_cut;
mod snapshots;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_memory::{Budget, BudgetKind, StableRanges};
use mayfly_storage::{
    ChangeStorage, ColumnId, Durability, DurableStore, DurableTable, DurableTransaction, IndexId,
    IndexPart, IndexSpec, KeyBound, KeyMode, KeyRange, LockMode, LockWait, Locked, ReadLock,
    ReadView, StatementOptions, StoreOptions, StorePlace, Table, TableDefinition, TableScan,
    TreeId,
};
use mayfly_types::{Batch, CollationId, Interrupt, PhysicalType, Value};

fn open(directory: &Path) -> DurableStore {
    let options = StoreOptions {
        place: StorePlace::DataDirectory(directory.to_path_buf()),
        stable: StableRanges::new(),
        write_buffer: Budget::unlimited(BudgetKind::Memory),
    };
    DurableStore::open(options).unwrap()
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

fn part(column: usize, mode: KeyMode) -> IndexPart {
    IndexPart {
        column,
        mode,
        prefix: None,
        descending: false,
    }
}

fn index(parts: Vec<IndexPart>, unique: bool, clustered: bool) -> IndexSpec {
    IndexSpec {
        parts,
        unique,
        clustered,
        hash: false,
    }
}

const TEXT: KeyMode = KeyMode::Collated(CollationId::UTF8MB4_0900_AI_CI);

/// (id BIGINT PRIMARY KEY, name TEXT, n BIGINT UNIQUE NULL), with a key on the name.
fn people(transaction: &DurableTransaction) -> Arc<TableDefinition> {
    people_in((0..4).map(|_| transaction.new_tree().unwrap()).collect())
}

fn people_in(trees: Vec<TreeId>) -> Arc<TableDefinition> {
    let columns = vec![
        PhysicalType::Int64,
        PhysicalType::Bytes,
        PhysicalType::Int64,
    ];
    let indexes = vec![
        index(vec![part(0, KeyMode::Binary)], true, true),
        index(vec![part(2, KeyMode::Binary)], true, false),
        index(vec![part(1, TEXT)], false, false),
    ];
    Arc::new(TableDefinition::new(
        columns,
        indexes,
        trees[0],
        trees[1..].to_vec(),
    ))
}

type Person = (i64, String, Option<i64>);

fn batch(rows: &[Person]) -> Batch {
    let ids: Int64Array = rows.iter().map(|row| row.0).collect();
    let names = BinaryViewArray::from_iter_values(rows.iter().map(|row| row.1.as_bytes()));
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
        let name = String::from_utf8(names.value(row).to_vec()).unwrap();
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

fn insert(
    transaction: &DurableTransaction,
    definition: &Arc<TableDefinition>,
    rows: &[Person],
) -> mayfly_types::Result<Option<IndexId>> {
    let mut writer = table(transaction, definition).writer().unwrap();
    let written = writer.insert(&batch(rows))?;
    writer.finish()?;
    Ok(written.duplicate.map(|duplicate| duplicate.index))
}

fn positions(table: &impl Table, ids: &[i64]) -> ArrayRef {
    let keys: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let (batch, _) = table
        .index_lookup(IndexId(0), &[keys], &[false], &[ColumnId::POSITION])
        .unwrap();
    Arc::clone(batch.column(0))
}

fn delete(transaction: &DurableTransaction, definition: &Arc<TableDefinition>, ids: &[i64]) -> u64 {
    let table = table(transaction, definition);
    let positions = positions(&table, ids);
    let mut writer = table.writer().unwrap();
    let deleted = writer.delete(&positions).unwrap();
    writer.finish().unwrap();
    deleted
}

fn update(
    transaction: &DurableTransaction,
    definition: &Arc<TableDefinition>,
    id: i64,
    new: &Person,
) -> Option<IndexId> {
    let table = table(transaction, definition);
    let positions = positions(&table, &[id]);
    if positions.is_empty() {
        return None;
    }
    let mut writer = table.writer().unwrap();
    let written = writer
        .update(&positions, &batch(std::slice::from_ref(new)))
        .unwrap();
    writer.finish().unwrap();
    written.duplicate.map(|duplicate| duplicate.index)
}

fn person(id: i64) -> Person {
    (id, format!("name {} and more of it", id % 97), Some(id * 3))
}

#[test]
fn rows_are_there_after_the_store_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let rows: Vec<Person> = (0..5000).map(person).collect();
    let definition = {
        let store = open(directory.path());
        let transaction = store.session(storage());
        let definition = people(&transaction);
        assert_eq!(insert(&transaction, &definition, &rows).unwrap(), None);
        transaction.set_record(b"table", Some(b"people")).unwrap();
        assert_eq!(
            rows_of(table(&transaction, &definition).scan(&ALL).unwrap()),
            rows
        );
        let other = store.session(storage());
        assert!(rows_of(table(&other, &definition).scan(&ALL).unwrap()).is_empty());
        transaction.commit().unwrap();
        assert_eq!(
            rows_of(table(&other, &definition).scan(&ALL).unwrap()),
            rows
        );
        definition
    };
    let store = open(directory.path());
    assert_eq!(store.record(b"table").unwrap().unwrap(), b"people");
    let transaction = store.session(storage());
    let table = table(&transaction, &definition);
    assert_eq!(rows_of(table.scan(&ALL).unwrap()), rows);
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

#[test]
fn a_second_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _store = open(directory.path());
    let options = StoreOptions {
        place: StorePlace::DataDirectory(directory.path().to_path_buf()),
        stable: StableRanges::new(),
        write_buffer: Budget::unlimited(BudgetKind::Memory),
    };
    let error = DurableStore::open(options).unwrap_err();
    assert!(
        error.to_string().contains("in use by another process"),
        "{error}"
    );
}

#[test]
fn duplicates_are_found_in_every_unique_index() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let transaction = store.session(storage());
    let definition = people(&transaction);
    let name = |text: &str| text.to_owned();
    insert(
        &transaction,
        &definition,
        &[(1, name("a"), Some(1)), (2, name("a"), None)],
    )
    .unwrap();
    transaction.commit().unwrap();
    let duplicate = |rows: &[Person]| insert(&transaction, &definition, rows).unwrap();
    assert_eq!(duplicate(&[(1, name("x"), None)]), Some(IndexId(0)));
    assert_eq!(duplicate(&[(3, name("x"), Some(1))]), Some(IndexId(1)));
    assert_eq!(
        duplicate(&[(4, name("x"), None), (4, name("x"), None)]),
        Some(IndexId(0))
    );
    assert_eq!(
        duplicate(&[(5, name("x"), Some(7)), (6, name("x"), Some(7))]),
        Some(IndexId(1))
    );
    assert_eq!(
        update(&transaction, &definition, 5, &(5, name("y"), Some(1))),
        Some(IndexId(1))
    );
    assert_eq!(
        update(&transaction, &definition, 5, &(1, name("y"), Some(8))),
        Some(IndexId(0))
    );
    assert_eq!(
        update(&transaction, &definition, 1, &(9, name("y"), Some(1))),
        None
    );
    assert_eq!(duplicate(&[(1, name("again"), Some(8))]), None);
}

#[test]
fn locks_wait_time_out_and_find_deadlocks() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let first = store.session(storage());
    let second = store.session(storage());
    let definition = people(&first);
    insert(&first, &definition, &[person(1), person(2)]).unwrap();
    first.commit().unwrap();
    let lock = |transaction: &DurableTransaction, id, mode, wait| {
        let table = table(transaction, &definition);
        let positions = positions(&table, &[id]);
        table.lock(&positions, mode, wait)
    };
    let patience = LockWait::For(Duration::from_millis(50));
    let exclusive = LockMode::Exclusive;
    let all = Locked::Unchanged(vec![true]);
    assert_eq!(lock(&first, 1, LockMode::Shared, patience).unwrap(), all);
    assert_eq!(lock(&second, 1, LockMode::Shared, patience).unwrap(), all);
    assert_eq!(
        lock(&second, 1, exclusive, patience).unwrap_err().errno(),
        1205
    );
    assert_eq!(
        lock(&second, 1, exclusive, LockWait::No)
            .unwrap_err()
            .errno(),
        3572
    );
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
    // An insert of a key that another is inserting waits for it, and then finds it there or not.
    insert(&first, &definition, &[(7, "x".to_owned(), Some(70))]).unwrap();
    let error = insert(&second, &definition, &[(8, "x".to_owned(), Some(70))]).unwrap_err();
    assert_eq!(error.errno(), 1205);
    first.commit().unwrap();
    let found = insert(&second, &definition, &[(8, "x".to_owned(), Some(70))]).unwrap();
    assert_eq!(found, Some(IndexId(1)));
}

/// Locks of rows are many, and memory is not: the whole table is locked instead, unless another
/// writes to it.
#[test]
fn a_table_is_locked_when_there_is_no_memory_for_its_rows_locks() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let first = store.session(storage());
    let definition = people(&first);
    let rows: Vec<_> = (0..20_000).map(person).collect();
    insert(&first, &definition, &rows).unwrap();
    first.commit().unwrap();
    let budget = Budget::root(BudgetKind::Memory, "memory_limit", 1 << 20);
    let small = store.session(ChangeStorage::for_tests(&budget));
    let patience = LockWait::For(Duration::from_millis(50));
    let ids: Vec<i64> = (0..20_000).collect();
    let lock_all = || {
        let table = table(&small, &definition);
        let all = positions(&table, &ids);
        let mut lock = |from: usize| {
            let some = all.slice(from, 1000);
            table.lock(&some, LockMode::Exclusive, patience).map(|_| ())
        };
        (0..20_000).step_by(1000).try_for_each(&mut lock)
    };
    let write = || {
        let another = store.session(storage());
        table(&another, &definition).writer().map(|_| ())
    };
    // Another writes to it: there is no lock for all of it.
    insert(&first, &definition, &[person(20_001)]).unwrap();
    assert_eq!(lock_all().unwrap_err().errno(), 1114);
    small.roll_back();
    assert_eq!(budget.used(), 0);
    first.commit().unwrap();
    lock_all().unwrap();
    assert!(budget.used() < 1 << 20);
    assert_eq!(write().unwrap_err().errno(), 1205);
    // Who reads and locks is kept out too.
    let other = table(&first, &definition);
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
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let first = store.session(storage());
    let second = store.session(storage());
    let definition = people(&first);
    insert(&first, &definition, &[person(1), person(2)]).unwrap();
    first.commit().unwrap();
    let read = table(&second, &definition);
    let (one, two) = (positions(&read, &[1]), positions(&read, &[2]));
    update(&first, &definition, 1, &(1, "new".to_owned(), None));
    first.commit().unwrap();
    let patience = LockWait::For(Duration::from_millis(50));
    let changed = read.lock(&one, LockMode::Exclusive, patience).unwrap();
    assert_eq!(changed, Locked::Changed);
    let same = read.lock(&two, LockMode::Exclusive, patience).unwrap();
    assert_eq!(same, Locked::Unchanged(vec![true]));
    second.roll_back();

    // REPEATABLE READ keeps its moment, READ COMMITTED does not.
    second.take_snapshot().unwrap();
    delete(&first, &definition, &[1]);
    first.commit().unwrap();
    let at = |view| {
        let statement = second.statement(options(view));
        let table = statement.table(&definition).unwrap();
        rows_of(table.scan(&ALL).unwrap()).len()
    };
    assert_eq!((at(ReadView::Transaction), at(ReadView::Statement)), (2, 1));
    second.commit().unwrap();
    assert_eq!(at(ReadView::Transaction), 1);
}

#[test]
fn a_backup_is_a_store_of_the_moment() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("a"));
    let transaction = store.session(storage());
    let definition = people(&transaction);
    let rows: Vec<Person> = (0..1000).map(person).collect();
    insert(&transaction, &definition, &rows).unwrap();
    transaction.commit().unwrap();
    let copy = directory.path().join("b");
    store.backup(&copy).unwrap();
    assert!(store.backup(&copy).is_err());
    delete(&transaction, &definition, &[5]);
    transaction.commit().unwrap();
    let store = open(&copy);
    let transaction = store.session(storage());
    assert_eq!(
        rows_of(table(&transaction, &definition).scan(&ALL).unwrap()),
        rows
    );
}
