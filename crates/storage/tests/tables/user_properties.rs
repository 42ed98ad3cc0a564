//! Model tests of temporary tables of users: random changes, savepoints and rollbacks, duplicates, scans and lookups
//! in every order, while older handles are open, at every limit of memory, and with temporary files that fail.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{Fixture, user_table};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_memory::io::{Fault, FaultIo, IoBackend, SystemIo};
use mayfly_storage::{
    ColumnId, IndexId, IndexPart, IndexSpec, KeyBound, KeyEncoder, KeyMode, KeyRange, MemoryIndex,
    MemoryLimits, Participant, ScanRequest, Table, TableScan, TempTableContext, TempTableOptions,
    UndoLog, UserTable, UserTableEngine,
};
use mayfly_trials::{Random, Trials};
use mayfly_types::convert::array_of_values;
use mayfly_types::{Batch, CollationId, IndexMethod, PhysicalType, Result, Value};

const TYPES: [PhysicalType; 4] = [
    PhysicalType::Int64,
    PhysicalType::Bytes,
    PhysicalType::UInt64,
    PhysicalType::Float64,
];
const ALL: [ColumnId; 5] = [
    ColumnId::POSITION,
    ColumnId(0),
    ColumnId(1),
    ColumnId(2),
    ColumnId(3),
];

type Row = Vec<Value>;

fn indexes() -> Vec<IndexSpec> {
    let collated = KeyMode::Collated(CollationId::UTF8MB4_0900_AI_CI);
    let text = IndexPart::new(1, collated);
    let mut by_text = IndexSpec::binary(&[], false, IndexMethod::BTree);
    by_text.parts.push(text);
    let mut descending = IndexSpec::binary(&[3], false, IndexMethod::BTree);
    descending.parts[0].descending = true;
    descending.parts.push(text);
    vec![
        IndexSpec::binary(&[0], true, IndexMethod::Clustered),
        IndexSpec::binary(&[2], true, IndexMethod::BTree),
        by_text,
        descending,
    ]
}

fn table(fixture: &Fixture, memory_limit: u64, engine: UserTableEngine) -> UserTable {
    user_table(fixture, memory_limit, engine, &TYPES, indexes())
}

fn statement(fixture: &Fixture, batch_rows: usize) -> TempTableContext {
    fixture.context(TempTableOptions {
        batch_rows,
        threads: 2,
        ..TempTableOptions::default()
    })
}

fn batch(rows: &[Row]) -> Batch {
    let column = |column: usize| {
        let values: Vec<Value> = rows.iter().map(|row| row[column].clone()).collect();
        array_of_values(&values, TYPES[column])
    };
    Batch::new((0..TYPES.len()).map(column).collect(), rows.len())
}

fn random_row(random: &mut Random, keys: u64) -> Row {
    let text = match random.below_u64(10) {
        0 => Value::Null,
        1 => Value::Bytes(vec![b'x'; random.below_u64(3000) as usize]),
        _ => {
            let length = random.below_u64(40) as usize;
            let letter = b"aAbB"[random.below_u64(4) as usize];
            let mut text = vec![letter; length];
            text.extend_from_slice(random.below_u64(50).to_string().as_bytes());
            Value::Bytes(text)
        }
    };
    let unique = match random.below_u64(4) {
        0 => Value::Null,
        _ => Value::UInt(random.below_u64(keys * 50)),
    };
    vec![
        Value::Int(random.below_u64(keys) as i64 - 500),
        text,
        unique,
        Value::Float(random.below_u64(20) as f64 / 2.0),
    ]
}

fn position(id: u64) -> Vec<u8> {
    id.to_be_bytes().to_vec()
}

fn positions(ids: &[u64]) -> ArrayRef {
    Arc::new(BinaryViewArray::from_iter_values(
        ids.iter().map(|id| position(*id)),
    ))
}

fn id_of(value: &Value) -> u64 {
    match value {
        Value::Bytes(bytes) => u64::from_be_bytes(bytes.as_slice().try_into().unwrap()),
        _ => panic!("a position is bytes"),
    }
}

/// The rows by position.
type Model = BTreeMap<u64, Row>;

/// The values of a row's key in an index.
fn key_values(index: usize, row: &Row) -> Vec<Value> {
    let parts = &indexes()[index].parts;
    parts.iter().map(|part| row[part.column].clone()).collect()
}

fn key(encoder: &KeyEncoder, index: usize, row: &Row) -> (Vec<u8>, bool) {
    let values = key_values(index, row);
    let mut key = Vec::new();
    encoder.append_values(&values, &mut key).unwrap();
    (key, values.iter().any(Value::is_null))
}

fn duplicate(
    model: &Model,
    encoders: &[KeyEncoder],
    row: &Row,
    own: Option<u64>,
) -> Option<(usize, u64)> {
    for (index, encoder) in encoders.iter().enumerate().take(2) {
        let (wanted, has_null) = key(encoder, index, row);
        if has_null {
            continue;
        }
        let found = model.iter().find(|(id, other)| {
            Some(**id) != own && {
                let (its, has_null) = key(encoder, index, other);
                !has_null && its == wanted
            }
        });
        if let Some((id, _)) = found {
            return Some((index, *id));
        }
    }
    None
}

fn drain(mut scan: Box<dyn TableScan>) -> Result<Vec<Row>> {
    let mut other = scan.for_another_worker();
    let rows = crate::common::drain(|| scan.next_batch())?;
    assert!(other.next_batch()?.is_none(), "the workers share the rows");
    Ok(rows)
}

/// Compares a handle with the model in every way of reading.
fn check(
    handle: &dyn Table,
    model: &Model,
    encoders: &[KeyEncoder],
    random: &mut Random,
) -> Result<()> {
    let mut scanned = drain(handle.scan(&ScanRequest::of(&ALL))?)?;
    scanned.sort_by_key(|row| id_of(&row[0]));
    let with_position = |(id, row): (&u64, &Row)| {
        let mut all = vec![Value::Bytes(position(*id))];
        all.extend(row.iter().cloned());
        all
    };
    let expected: Vec<Row> = model.iter().map(with_position).collect();
    assert_eq!(scanned, expected);
    assert_eq!(handle.statistics().rows, model.len() as u64);
    for (index, encoder) in encoders.iter().enumerate() {
        let of = |row: &Row| key(encoder, index, row).0;
        let mut ordered: Vec<(Vec<u8>, u64)> =
            model.iter().map(|(id, row)| (of(row), *id)).collect();
        ordered.sort();
        if indexes()[index].unique {
            let of_null = KeyRange::equal(vec![Value::Null]);
            let of_null = encoder.range(&of_null).unwrap();
            let twice = ordered
                .windows(2)
                .find(|pair| pair[0].0 == pair[1].0 && !of_null.contains(&pair[0].0));
            assert_eq!(twice, None, "keys are unique");
        }
        let ids = |reverse, ranges: &[KeyRange]| -> Result<Vec<u64>> {
            let scan = handle.index_scan(IndexId(index), ranges, reverse, &ALL[..1])?;
            Ok(drain(scan)?.iter().map(|row| id_of(&row[0])).collect())
        };
        let mut all: Vec<u64> = ordered.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids(false, &[KeyRange::ALL])?, all);
        all.reverse();
        assert_eq!(ids(true, &[KeyRange::ALL])?, all);
        if model.is_empty() {
            continue;
        }
        let pick = |random: &mut Random| {
            let at = random.below_u64(model.len() as u64) as usize;
            model.values().nth(at).unwrap().clone()
        };
        let mut bounds = [(); 4].map(|()| pick(random));
        bounds.sort_by_key(of);
        let ranges = [0, 2].map(|first| KeyRange {
            start: KeyBound::Excluded(key_values(index, &bounds[first])),
            end: KeyBound::Included(key_values(index, &bounds[first + 1])),
        });
        let keys = bounds.each_ref().map(of);
        let mut expected: Vec<u64> = Vec::new();
        for (range, ends) in ranges.iter().zip(keys.chunks(2)) {
            let in_range = |(key, _): &&(Vec<u8>, u64)| *key > ends[0] && *key <= ends[1];
            let found = ordered.iter().filter(in_range).map(|(_, id)| *id);
            let before = expected.len();
            expected.extend(found);
            let exact = (expected.len() - before) as u64;
            let estimate = handle.rows_in_range(IndexId(index), range)?;
            // The rows of eight pages are counted. Beyond them an estimate assumes that all pages are equally full, which
            // texts of up to 3000 bytes make untrue: a page holds from two of them to some hundreds.
            let has_text = indexes()[index].parts.iter().any(|part| part.column == 1);
            let (counted, error) = if has_text {
                (8, model.len() as u64)
            } else {
                (50, exact + 500)
            };
            let tolerance = if exact < counted { 0 } else { error };
            assert!(estimate.abs_diff(exact) <= tolerance, "{estimate} {exact}");
        }
        assert_eq!(ids(false, &ranges)?, expected);
        expected.reverse();
        assert_eq!(ids(true, &ranges)?, expected);
        // Lookups of keys, some of which no row has.
        let column = indexes()[index].parts[0].column;
        let ty = TYPES[column];
        let sample = (0..5).map(|_| match random.below_u64(3) {
            0 => random_row(random, 4000),
            _ => pick(random),
        });
        let sample: Vec<Row> = sample.collect();
        let keys = batch(&sample).column(column).clone();
        assert_eq!(keys.data_type(), &ty.arrow());
        let (found, of_key) = handle.index_lookup(IndexId(index), &[keys], &[false], &ALL)?;
        let found = crate::common::rows(&[found]);
        for (number, row) in sample.iter().enumerate() {
            let mut first = Vec::new();
            encoder
                .append_values(&row[column..=column], &mut first)
                .unwrap();
            let mut expected = Vec::new();
            if !row[column].is_null() {
                let begins = |(key, _): &&(Vec<u8>, u64)| key.starts_with(&first);
                expected.extend(ordered.iter().filter(begins).map(|(_, id)| *id));
            }
            let its = found
                .iter()
                .zip(of_key.values())
                .filter(|(_, of)| **of == number as u32);
            let its: Vec<u64> = its.map(|(row, _)| id_of(&row[0])).collect();
            assert_eq!(its, expected);
        }
        let distinct = handle.distinct_keys(IndexId(index), 1);
        assert!(distinct <= model.len() as u64);
    }
    let some: Vec<u64> = model.keys().copied().step_by(3).collect();
    let fetched = handle.fetch(&positions(&some), &ALL[1..])?;
    let expected: Vec<Row> = some.iter().map(|id| model[id].clone()).collect();
    assert_eq!(crate::common::rows(&[fetched]), expected);
    Ok(())
}

/// One run of random work. A failure ends it, after the transaction was undone.
fn work(fixture: &Fixture, memory_limit: u64, seed: u64, steps: usize) -> Result<()> {
    let mut random = Random(seed);
    let encoders: Vec<KeyEncoder> = indexes()
        .iter()
        .map(|index| KeyEncoder::new(&TYPES, &index.parts))
        .collect();
    let table = table(fixture, memory_limit, UserTableEngine::Transactional);
    let statement = statement(fixture, 100);
    let mut undo = UndoLog::new();
    let mut model = Model::new();
    // Savepoints with the rows at the time.
    let mut savepoints: Vec<(u64, Model)> = Vec::new();
    // Handles with the rows that they see.
    let mut older: Vec<(Arc<dyn Table>, Model)> = Vec::new();
    for step in 0..steps {
        let handle = table.open(&statement, &undo);
        let before = model.clone();
        let mut writer = handle.writer()?;
        let keeps = random.below_u64(8) != 0;
        match random.below_u64(10) {
            0..5 => {
                let count = if random.below_u64(8) == 0 {
                    700
                } else {
                    1 + random.below_u64(20)
                };
                let keys = if steps > 60 { 4000 } else { 100_000 };
                let rows: Vec<Row> = (0..count).map(|_| random_row(&mut random, keys)).collect();
                let mut first = 0;
                while first < rows.len() {
                    let written = writer.insert(&batch(&rows[first..]))?;
                    let inserted = &rows[first..first + written.rows];
                    // A lookup of the primary keys gives their positions.
                    for row in inserted {
                        model.insert(u64::MAX - model.len() as u64, row.clone());
                    }
                    first += written.rows;
                    if let Some(found) = written.duplicate {
                        let row = &rows[first];
                        let expected = duplicate(&model, &encoders, row, None).unwrap();
                        assert_eq!(found.index.0, expected.0);
                        let there = writer.current(&found.position)?.unwrap();
                        assert_eq!(crate::common::row(&there, 0), model[&expected.1]);
                        first += 1;
                    } else {
                        assert_eq!(first, rows.len());
                    }
                }
            }
            5..8 => {
                let all: Vec<u64> = model.keys().copied().collect();
                let mut ids: Vec<u64> = (0..random.below_u64(30))
                    .filter_map(|_| {
                        all.get(random.below_u64(all.len() as u64) as usize)
                            .copied()
                    })
                    .collect();
                ids.sort_unstable();
                ids.dedup();
                let rows: Vec<Row> = ids
                    .iter()
                    .map(|id| {
                        let mut row = random_row(&mut random, 4000);
                        // Often only columns that no index has.
                        if random.below_u64(2) == 0 {
                            row[0] = model[id][0].clone();
                            row[2] = model[id][2].clone();
                            if random.below_u64(2) == 0 {
                                row[1] = model[id][1].clone();
                            }
                        }
                        row
                    })
                    .collect();
                let mut first = 0;
                while first < ids.len() {
                    let written =
                        writer.update(&positions(&ids[first..]), &batch(&rows[first..]))?;
                    for (id, row) in ids.iter().zip(&rows).skip(first).take(written.rows) {
                        model.insert(*id, row.clone());
                    }
                    first += written.rows;
                    if let Some(found) = written.duplicate {
                        let expected = duplicate(&model, &encoders, &rows[first], Some(ids[first]));
                        let (index, id) = expected.unwrap();
                        assert_eq!((found.index.0, found.position), (index, position(id)));
                        first += 1;
                    }
                }
            }
            8 => {
                let part = [1, 3, 10][random.below_u64(3) as usize];
                let ids: Vec<u64> = model
                    .keys()
                    .copied()
                    .filter(|_| random.below_u64(part) == 0)
                    .collect();
                assert_eq!(writer.delete(&positions(&ids))?, ids.len() as u64);
                assert_eq!(writer.delete(&positions(&ids))?, 0);
                model.retain(|id, _| ids.binary_search(id).is_err());
            }
            _ => {}
        }
        if keeps {
            writer.finish()?;
        } else {
            drop(writer);
            model = before;
        }
        // Positions of rows that were added.
        if model.keys().any(|id| *id > u64::MAX / 2) {
            let by_key = |model: &Model| -> BTreeMap<i64, Row> {
                let key = |row: &Row| match row[0] {
                    Value::Int(key) => key,
                    _ => panic!("the primary key is an integer"),
                };
                model.values().map(|row| (key(row), row.clone())).collect()
            };
            let rows = by_key(&model);
            let keys: ArrayRef = Arc::new(rows.keys().copied().map(Some).collect::<Int64Array>());
            let reader = table.open(&statement, &undo);
            let (found, _) = reader.index_lookup(IndexId(0), &[keys], &[false], &ALL[..1])?;
            let found = found.column(0).as_binary_view();
            let new: Model = rows
                .into_values()
                .zip(found.iter())
                .map(|(row, position)| {
                    (
                        u64::from_be_bytes(position.unwrap().try_into().unwrap()),
                        row,
                    )
                })
                .collect();
            let old = model.iter().filter(|(id, _)| **id <= u64::MAX / 2);
            for (id, row) in old {
                assert_eq!(new.get(id), Some(row), "a row keeps its position");
            }
            model = new;
        }
        match random.below_u64(12) {
            0 => savepoints.push((undo.savepoint(), model.clone())),
            1 => {
                if let Some((savepoint, rows)) = savepoints.pop() {
                    undo.roll_back_to(savepoint);
                    model = rows;
                }
            }
            2 if random.below_u64(3) == 0 => {
                undo.commit()?;
                savepoints.clear();
            }
            3 => older.push((table.open(&statement, &undo), model.clone())),
            4 if random.below_u64(3) == 0 => {
                table.open(&statement, &undo).truncate()?;
                // An emptied table cannot be restored: no savepoint has rows any more.
                model.clear();
                savepoints.iter_mut().for_each(|(_, rows)| rows.clear());
            }
            5 if random.below_u64(3) == 0 => {
                undo.commit()?;
                savepoints.clear();
                table.clear();
                assert!(!table.clear(), "nothing has changed since");
                model.clear();
            }
            _ => {}
        }
        if step % 10 == 9 {
            let handle = table.open(&statement, &undo);
            check(&*handle, &model, &encoders, &mut random)?;
            for (handle, model) in older.drain(..) {
                check(&*handle, &model, &encoders, &mut random)?;
            }
        }
    }
    Ok(())
}

#[test]
fn tables_do_what_the_model_does_at_every_limit() {
    for seed in Trials::of("user_tables") {
        for limit in [u64::MAX, 2 << 20, 256 << 10, 64 << 10] {
            let fixture = Fixture::new(&format!("user-model-{limit}-{seed}"));
            work(&fixture, limit, seed, 90).unwrap();
            let writes = fixture.resources.temp_space.counters().writes();
            assert!(limit > 1 << 20 || writes > 3, "small limits overflow");
            assert!(limit < u64::MAX || writes == 0, "what fits touches no file");
            fixture.assert_clean();
        }
    }
}

#[test]
fn a_failing_temporary_file_is_an_error_and_leaves_nothing() {
    for fault in Fault::ALL {
        let mut failures = 0;
        for fail_at in [1, 2, 3, 5, 8, 13, 40, 100] {
            let io = Arc::new(FaultIo::new(Arc::new(SystemIo), fault, fail_at));
            let label = format!("user-fault-{fault:?}-{fail_at}");
            let fixture = Fixture::with_io(&label, Arc::clone(&io) as Arc<dyn IoBackend>);
            match work(&fixture, 128 << 10, 77, 30) {
                Ok(()) => {}
                Err(error) => {
                    failures += 1;
                    assert!(error.message().contains("mayfly-"), "{label}: {error:?}");
                }
            }
            fixture.assert_clean();
            if io.calls() < fail_at {
                break;
            }
        }
        assert!(
            failures > 0 || matches!(fault, Fault::ShortMove | Fault::Signal),
            "{fault:?}"
        );
    }
}

/// A statement that reads a table while it, or another one, writes to it.
#[test]
fn a_scan_goes_on_with_the_rows_of_its_snapshot() {
    let fixture = Fixture::new("user-snapshot");
    let table = table(&fixture, u64::MAX, UserTableEngine::Transactional);
    let (statement, undo) = (statement(&fixture, 2), UndoLog::new());
    let open = || table.open(&statement, &undo);
    insert_numbers(&*open(), &[1, 2, 3]);
    let source = open();
    let mut scan = source.scan(&ScanRequest::of(&ALL[1..])).unwrap();
    assert_eq!(scan.next_batch().unwrap().unwrap().row_count(), 2);
    insert_numbers(&*open(), &[4]);
    // A key that no row has finds nothing.
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![3, 9, 1]));
    let found = source.index_lookup(IndexId(0), &[keys], &[false], &ALL[..1]);
    let (found, _) = found.unwrap();
    assert_eq!(found.row_count(), 2);
    let mut writer = open().writer().unwrap();
    let new = batch(&[number_row(30), number_row(10)]);
    let written = writer.update(found.column(0), &new).unwrap();
    assert_eq!((written.rows, written.duplicate), (2, None));
    writer.finish().unwrap();
    assert_eq!(
        crate::common::drain(|| scan.next_batch()).unwrap(),
        [number_row(3)]
    );
    assert_eq!(
        drain(source.scan(&ScanRequest::of(&ALL)).unwrap())
            .unwrap()
            .len(),
        3
    );
    let all = open().index_scan(IndexId(0), &[KeyRange::ALL], false, &ALL[1..]);
    let expected = [2, 4, 10, 30].map(number_row);
    assert_eq!(drain(all.unwrap()).unwrap(), expected);
}

/// A table keeps a working set whatever its limit is: a batch has more than one row, for which its pages would be read
/// again.
#[test]
fn a_scan_beyond_the_limit_reads_a_page_for_more_than_a_row() {
    let fixture = Fixture::new("user-working-set");
    let table = table(&fixture, 1 << 10, UserTableEngine::Transactional);
    let (statement, undo) = (statement(&fixture, 1000), UndoLog::new());
    let row = |n: i64| {
        let text = format!("{n:60}").into_bytes();
        vec![
            Value::Int(n),
            Value::Bytes(text),
            Value::Null,
            Value::Float(0.0),
        ]
    };
    let rows: Vec<Row> = (0..4000).map(row).collect();
    let handle = table.open(&statement, &undo);
    let mut writer = handle.writer().unwrap();
    assert_eq!(writer.insert(&batch(&rows)).unwrap().rows, rows.len());
    writer.finish().unwrap();
    let scans = [
        handle.scan(&ScanRequest::of(&ALL[1..])).unwrap(),
        handle
            .index_scan(IndexId(0), &[KeyRange::ALL], false, &ALL[1..])
            .unwrap(),
    ];
    for mut scan in scans {
        let (mut found, mut batches) = (Vec::new(), 0);
        while let Some(batch) = scan.next_batch().unwrap() {
            batches += 1;
            found.extend((0..batch.row_count()).map(|row| {
                let number = batch
                    .column(0)
                    .as_primitive::<arrow_array::types::Int64Type>();
                number.value(row)
            }));
        }
        assert_eq!(found, (0..4000).collect::<Vec<i64>>());
        assert!(batches < 200, "{batches} batches");
    }
}

/// A row of a primary key and no other key.
fn number_row(n: i64) -> Row {
    vec![Value::Int(n), Value::Null, Value::Null, Value::Float(0.0)]
}

/// All rows that a handle sees.
fn rows_of(handle: &dyn Table) -> Vec<Row> {
    drain(handle.scan(&ScanRequest::of(&ALL[1..])).unwrap()).unwrap()
}

fn insert_numbers(handle: &dyn Table, numbers: &[i64]) {
    let rows: Vec<Row> = numbers.iter().map(|n| number_row(*n)).collect();
    let mut writer = handle.writer().unwrap();
    assert_eq!(writer.insert(&batch(&rows)).unwrap().rows, rows.len());
    writer.finish().unwrap();
}

/// Rows deleted before the truncation do not come back, and rows added after it go.
#[test]
fn a_truncation_is_not_undone_by_a_savepoint_before_it() {
    let fixture = Fixture::new("user-truncate");
    let table = table(&fixture, u64::MAX, UserTableEngine::Transactional);
    let (statement, undo) = (statement(&fixture, 100), UndoLog::new());
    let open = || table.open(&statement, &undo);
    let rows = || rows_of(&*open());
    let mut transaction = undo.clone();
    insert_numbers(&*open(), &[1, 2, 3]);
    transaction.commit().unwrap();
    let before = transaction.savepoint();
    let mut writer = open().writer().unwrap();
    assert_eq!(writer.delete(&handle_positions(&*open())).unwrap(), 3);
    writer.finish().unwrap();
    insert_numbers(&*open(), &[4]);
    open().truncate().unwrap();
    let after = transaction.savepoint();
    for (number, savepoint) in [(5, after), (6, before)] {
        assert!(rows().is_empty());
        insert_numbers(&*open(), &[number]);
        assert_eq!(rows(), [number_row(number)]);
        transaction.roll_back_to(savepoint);
    }
    assert!(rows().is_empty());
}

/// A small table is emptied at the end of each transaction; a handle that was opened before sees its rows still.
#[test]
fn a_table_that_is_emptied_again_and_again_keeps_its_memory() {
    let fixture = Fixture::new("user-clear");
    let table = table(&fixture, u64::MAX, UserTableEngine::Transactional);
    let (statement, undo) = (statement(&fixture, 100), UndoLog::new());
    let open = || table.open(&statement, &undo);
    let mut transaction = undo.clone();
    let mut memory = 0;
    for round in 0..1000 {
        assert!(rows_of(&*open()).is_empty());
        insert_numbers(&*open(), &[round, round + 1]);
        let text = Value::Bytes(vec![b'a' + (round % 26) as u8; 100]);
        let row: Row = vec![Value::Int(-1 - round), text, Value::Null, Value::Float(0.5)];
        let mut writer = open().writer().unwrap();
        assert_eq!(
            writer
                .insert(&batch(std::slice::from_ref(&row)))
                .unwrap()
                .rows,
            1
        );
        writer.finish().unwrap();
        let reader = (round % 10 == 9).then(open);
        transaction.commit().unwrap();
        assert!(table.clear());
        assert!(!table.clear());
        let expected = [number_row(round), number_row(round + 1), row];
        reader.inspect(|reader| assert_eq!(rows_of(&**reader), expected));
        let held = fixture.memory.used();
        assert!(round == 0 || held <= memory, "{held} bytes after {memory}");
        memory = held.max(memory);
    }
}

/// A handle that was opened before a rollback to a savepoint sees the rows as they were then.
#[test]
fn an_open_handle_does_not_see_what_is_undone() {
    let fixture = Fixture::new("user-undo-handle");
    let table = table(&fixture, u64::MAX, UserTableEngine::Transactional);
    let (statement, undo) = (statement(&fixture, 100), UndoLog::new());
    let open = || table.open(&statement, &undo);
    let mut transaction = undo.clone();
    insert_numbers(&*open(), &[1]);
    let savepoint = transaction.savepoint();
    insert_numbers(&*open(), &[2]);
    let before = open();
    transaction.roll_back_to(savepoint);
    assert_eq!(rows_of(&*before), [number_row(1), number_row(2)]);
    assert_eq!(rows_of(&*open()), [number_row(1)]);
}

#[test]
fn a_memory_table_is_full_when_its_account_is_and_never_overflows() {
    let fixture = Fixture::new("user-memory");
    let limits = MemoryLimits {
        row_bytes: 100,
        indexes: vec![MemoryIndex::Hash, MemoryIndex::Hash],
        max_bytes: 64 << 10,
        step_bytes: 8 << 10,
        max_rows: 0,
        min_rows: 0,
    };
    let table = table(&fixture, u64::MAX, UserTableEngine::Memory(limits));
    let statement = statement(&fixture, 100);
    let mut undo = UndoLog::new();
    let mut rows = 0;
    let error = loop {
        let handle = table.open(&statement, &undo);
        let mut writer = handle.writer().unwrap();
        match writer.insert(&batch(&[number_row(rows)])) {
            Ok(written) => assert_eq!(written.rows, 1),
            Err(error) => break error,
        }
        writer.finish().unwrap();
        rows += 1;
    };
    assert_eq!(error.errno(), 1114);
    let text = error.message().to_owned();
    assert!(text.starts_with("The table 't' is full"), "{text}");
    assert!(text.contains("max_heap_table_size = 65536 bytes"), "{text}");
    assert!((300..440).contains(&rows), "{rows}");
    assert!(undo.roll_back(), "it is not undone");
    let handle = table.open(&statement, &undo);
    assert_eq!(handle.statistics().rows, rows as u64);
    let declared = handle.statistics().declared.unwrap();
    assert!(declared.data_bytes + declared.index_bytes >= 64 << 10);
    // Another session reads the rows from before the statement that writes.
    let others = UndoLog::new();
    let mut writer = handle.writer().unwrap();
    writer.delete(&handle_positions(&*handle)).unwrap();
    let reader = table.open(&statement, &others);
    assert_eq!(
        drain(reader.scan(&ScanRequest::of(&ALL)).unwrap())
            .unwrap()
            .len(),
        rows as usize
    );
    writer.finish().unwrap();
    drop(reader);
    let reader = table.open(&statement, &others);
    assert_eq!(
        drain(reader.scan(&ScanRequest::of(&ALL)).unwrap())
            .unwrap()
            .len(),
        0
    );
    drop((handle, reader, table));
    fixture.assert_clean();
}

fn handle_positions(handle: &dyn Table) -> ArrayRef {
    let rows = drain(handle.scan(&ScanRequest::of(&ALL[..1])).unwrap()).unwrap();
    let ids: Vec<u64> = rows.iter().map(|row| id_of(&row[0])).collect();
    positions(&ids)
}
