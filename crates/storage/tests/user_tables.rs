//! Tables of CREATE TEMPORARY TABLE: what their handles see and what can be undone.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use common::{Fixture, user_table};
use mayfly_storage::{
    ColumnId, IndexId, IndexSpec, KeyBound, KeyRange, Participant, Table, TableScan,
    TempTableContext, TempTableOptions, UndoLog, UserTable, UserTableEngine,
};
use mayfly_types::{Batch, PhysicalType, Value};

const ALL: [ColumnId; 2] = [ColumnId(0), ColumnId(1)];

fn table(fixture: &Fixture) -> UserTable {
    let columns = [PhysicalType::Int64, PhysicalType::Bytes];
    let indexes = vec![
        IndexSpec::binary(&[0], true, true),
        IndexSpec::binary(&[1], false, false),
    ];
    user_table(
        fixture,
        u64::MAX,
        UserTableEngine::Transactional,
        &columns,
        indexes,
    )
}

fn batch(rows: &[(i64, &str)]) -> Batch {
    let ids: Int64Array = rows.iter().map(|row| Some(row.0)).collect();
    let texts: BinaryViewArray = rows.iter().map(|row| Some(row.1)).collect();
    Batch::new(vec![Arc::new(ids), Arc::new(texts)], rows.len())
}

fn drain(mut scan: Box<dyn TableScan>) -> Vec<Vec<Value>> {
    common::drain(|| scan.next_batch()).unwrap()
}

fn row(id: i64, text: &str) -> Vec<Value> {
    vec![Value::Int(id), text.into()]
}

fn find(handle: &dyn Table, id: i64, columns: &[ColumnId]) -> Batch {
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![id]));
    handle
        .index_lookup(IndexId(0), &[keys], &[false], columns)
        .unwrap()
        .0
}

struct Session {
    context: TempTableContext,
    undo: UndoLog,
}

impl Session {
    fn new(fixture: &Fixture) -> Self {
        let context = fixture.context(TempTableOptions {
            batch_rows: 2,
            ..TempTableOptions::default()
        });
        Self {
            context,
            undo: UndoLog::new(),
        }
    }

    fn open(&self, table: &UserTable) -> Arc<dyn Table> {
        table.open(&self.context, &self.undo)
    }

    fn insert(&self, table: &UserTable, rows: &[(i64, &str)]) {
        let mut writer = self.open(table).writer().unwrap();
        assert_eq!(writer.insert(&batch(rows)).unwrap().rows, rows.len());
        writer.finish().unwrap();
    }

    fn rows(&self, table: &UserTable) -> Vec<Vec<Value>> {
        let handle = self.open(table);
        drain(
            handle
                .index_scan(IndexId(0), &[KeyRange::ALL], false, &ALL)
                .unwrap(),
        )
    }
}

#[test]
fn a_handle_sees_the_rows_of_the_moment_when_it_was_opened() {
    let fixture = Fixture::new("user-moment");
    let table = table(&fixture);
    let session = Session::new(&fixture);
    session.insert(&table, &[(1, "a"), (2, "b"), (3, "c")]);
    let source = session.open(&table);
    let mut scan = source.scan(&ALL).unwrap();
    assert_eq!(scan.next_batch().unwrap().unwrap().row_count(), 2);
    session.insert(&table, &[(4, "d")]);
    let (positions, _) = {
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![3, 9, 1]));
        source
            .index_lookup(IndexId(0), &[keys], &[false], &[ColumnId::POSITION])
            .unwrap()
    };
    assert_eq!(positions.row_count(), 2);
    let mut writer = session.open(&table).writer().unwrap();
    let new = writer
        .update(positions.column(0), &batch(&[(30, "cc"), (10, "aa")]))
        .unwrap();
    assert_eq!((new.rows, new.duplicate), (2, None));
    writer.finish().unwrap();
    assert_eq!(drain(scan), [row(3, "c")]);
    assert_eq!(drain(source.scan(&ALL).unwrap()).len(), 3);
    assert_eq!(
        session.rows(&table),
        [row(2, "b"), row(4, "d"), row(10, "aa"), row(30, "cc")]
    );
}

#[test]
fn duplicates_stop_a_writer_and_name_the_row_that_is_there() {
    let fixture = Fixture::new("user-duplicate");
    let table = table(&fixture);
    let session = Session::new(&fixture);
    session.insert(&table, &[(1, "a")]);
    let handle = session.open(&table);
    let mut writer = handle.writer().unwrap();
    let written = writer
        .insert(&batch(&[(2, "b"), (1, "x"), (3, "c")]))
        .unwrap();
    assert_eq!(written.rows, 1);
    let duplicate = written.duplicate.unwrap();
    assert_eq!(duplicate.index, IndexId(0));
    let there = writer.current(&duplicate.position).unwrap().unwrap();
    assert_eq!(common::rows(&[there]), [row(1, "a")]);
    drop(writer);
    assert_eq!(
        session.rows(&table),
        [row(1, "a")],
        "dropped without finish"
    );
}

#[test]
fn a_transaction_is_undone_to_any_savepoint() {
    let fixture = Fixture::new("user-undo");
    let table = table(&fixture);
    let mut session = Session::new(&fixture);
    session.insert(&table, &[(1, "a"), (2, "b"), (3, "c")]);
    session.undo.commit().unwrap();
    let savepoint = session.undo.savepoint();
    session.insert(&table, &[(4, "d")]);
    let second = session.undo.savepoint();
    let handle = session.open(&table);
    let positions = find(&*handle, 2, &[ColumnId::POSITION]);
    let mut writer = handle.writer().unwrap();
    assert_eq!(writer.delete(positions.column(0)).unwrap(), 1);
    assert_eq!(writer.delete(positions.column(0)).unwrap(), 0);
    let positions = find(&*handle, 3, &[ColumnId::POSITION]);
    writer
        .update(positions.column(0), &batch(&[(2, "moved")]))
        .unwrap();
    writer.finish().unwrap();
    assert_eq!(
        session.rows(&table),
        [row(1, "a"), row(2, "moved"), row(4, "d")]
    );
    session.undo.roll_back_to(second);
    assert_eq!(
        session.rows(&table),
        [row(1, "a"), row(2, "b"), row(3, "c"), row(4, "d")]
    );
    session.undo.roll_back_to(savepoint);
    assert_eq!(
        session.rows(&table),
        [row(1, "a"), row(2, "b"), row(3, "c")]
    );
    session.insert(&table, &[(9, "z")]);
    session.open(&table).truncate().unwrap();
    assert!(!session.undo.roll_back());
    assert!(session.rows(&table).is_empty());
}

#[test]
fn an_index_is_read_in_ranges_and_in_both_directions() {
    let fixture = Fixture::new("user-ranges");
    let table = table(&fixture);
    let session = Session::new(&fixture);
    session.insert(&table, &[(5, "e"), (1, "a"), (3, "c"), (4, "a"), (2, "b")]);
    let handle = session.open(&table);
    let ranges = [
        KeyRange {
            start: KeyBound::Unbounded,
            end: KeyBound::Excluded(vec![Value::Int(3)]),
        },
        KeyRange {
            start: KeyBound::Excluded(vec![Value::Int(3)]),
            end: KeyBound::Included(vec![Value::Int(5)]),
        },
    ];
    let ids = |reverse| {
        let scan = handle
            .index_scan(IndexId(0), &ranges, reverse, &[ColumnId(0)])
            .unwrap();
        drain(scan).into_iter().flatten().collect::<Vec<_>>()
    };
    let of = |ids: [i64; 4]| ids.map(Value::Int);
    assert_eq!(ids(false), of([1, 2, 4, 5]));
    assert_eq!(ids(true), of([5, 4, 2, 1]));
    assert_eq!(handle.rows_in_range(IndexId(0), &ranges[0]).unwrap(), 2);
    let keys: ArrayRef = Arc::new(BinaryViewArray::from_iter([Some("x"), None, Some("a")]));
    let (found, of_key) = handle
        .index_lookup(IndexId(1), &[keys], &[false], &[ColumnId(0)])
        .unwrap();
    assert_eq!(found.row_count(), 2);
    assert_eq!(of_key.values(), &[2, 2]);
    assert_eq!(of_key.null_count(), 0);
}
