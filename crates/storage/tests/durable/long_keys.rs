//! Tables whose keys are longer than the file's may be, and alike for as long, against a model.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Random;
use super::*;

/// An id, which no two rows share, a string, and a number.
type Row = (i64, Vec<u8>, Option<i64>);

/// Strings are mostly of one family, so that many blocks begin with the same bytes.
struct Strings {
    byte: u8,
    length: usize,
}

impl Strings {
    const BYTES: [u8; 3] = [0, b'x', 0xff];
    const LENGTHS: [usize; 12] = [480, 490, 498, 499, 500, 501, 505, 507, 511, 515, 767, 3072];

    fn new(random: &mut Random) -> Self {
        Self {
            byte: *random.of(&Self::BYTES),
            length: *random.of(&Self::LENGTHS),
        }
    }

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let number = random.below(1 << 16) as u32;
        match random.below(16) {
            0 => number.to_be_bytes()[2..].to_vec(),
            1 => vec![*random.of(&Self::BYTES); 490 + random.below(30) as usize],
            2 => {
                let mut text = vec![self.byte; *random.of(&Self::LENGTHS)];
                text.extend(number.to_be_bytes());
                text
            }
            3 => {
                let mut text = vec![self.byte; self.length];
                text.extend(vec![random.below(3) as u8; 600]);
                text.push(number as u8);
                text
            }
            _ => {
                let mut text = vec![self.byte; self.length];
                text.extend_from_slice(&number.to_be_bytes()[1..]);
                text
            }
        }
    }
}

/// The table, whose rows are in the order of the string, or of the id.
struct Hostile {
    by_string: bool,
    definition: Arc<TableDefinition>,
}

const STRING: usize = 1;

impl Hostile {
    fn new(session: &DurableTransaction, by_string: bool) -> Self {
        let trees: Vec<TreeId> = (0..5).map(|_| session.new_tree().unwrap()).collect();
        let columns = vec![
            PhysicalType::Int64,
            PhysicalType::Bytes,
            PhysicalType::Int64,
        ];
        let primary: &[usize] = if by_string { &[STRING, 0] } else { &[0] };
        let indexes = vec![
            IndexSpec::binary(primary, true, true),
            IndexSpec::binary(&[STRING], false, false),
            IndexSpec::binary(&[2, STRING], false, false),
            IndexSpec::binary(&[STRING, 0], true, false),
        ];
        let secondary = trees[1..].to_vec();
        let definition = TableDefinition::new(columns, indexes, trees[0], secondary);
        Self {
            by_string,
            definition: Arc::new(definition),
        }
    }

    fn positions(&self, table: &DurableTable, rows: &[Row]) -> ArrayRef {
        let all = rows_batch(rows);
        let mut keys = vec![Arc::clone(all.column(0))];
        if self.by_string {
            keys.insert(0, Arc::clone(all.column(STRING)));
        }
        let nulls = vec![false; keys.len()];
        let found = table.index_lookup(IndexId(0), &keys, &nulls, &[ColumnId::POSITION]);
        let (found, _) = found.unwrap();
        assert_eq!(found.row_count(), rows.len());
        Arc::clone(found.column(0))
    }

    fn insert(&self, session: &DurableTransaction, rows: &[Row]) {
        let mut writer = table(session, &self.definition).writer().unwrap();
        // A load comes in batches.
        for rows in rows.chunks(700) {
            let written = writer.insert(&rows_batch(rows)).unwrap();
            assert_eq!(written.rows, rows.len());
        }
        writer.finish().unwrap();
    }

    fn delete(&self, session: &DurableTransaction, rows: &[Row]) {
        let table = table(session, &self.definition);
        let positions = self.positions(&table, rows);
        let mut writer = table.writer().unwrap();
        assert_eq!(writer.delete(&positions).unwrap(), rows.len() as u64);
        writer.finish().unwrap();
    }

    fn update(&self, session: &DurableTransaction, old: &[Row], new: &[Row]) {
        let table = table(session, &self.definition);
        let positions = self.positions(&table, old);
        let mut writer = table.writer().unwrap();
        let written = writer.update(&positions, &rows_batch(new)).unwrap();
        assert!(written.duplicate.is_none());
        writer.finish().unwrap();
    }
}

fn long_text(id: i64) -> Vec<u8> {
    [vec![b'x'; 520], id.to_be_bytes().to_vec()].concat()
}

fn rows_batch(rows: &[Row]) -> Batch {
    let ids: Int64Array = rows.iter().map(|row| row.0).collect();
    let strings = BinaryViewArray::from_iter_values(rows.iter().map(|row| &row.1));
    let numbers: Int64Array = rows.iter().map(|row| row.2).collect();
    Batch::new(
        vec![Arc::new(ids), Arc::new(strings), Arc::new(numbers)],
        rows.len(),
    )
}

fn all_rows(mut scan: Box<dyn TableScan>) -> Vec<Row> {
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let strings = batch.column(1).as_binary_view();
        let numbers = batch.column(2).as_primitive::<Int64Type>();
        for row in 0..batch.row_count() {
            let number = numbers.is_valid(row).then(|| numbers.value(row));
            rows.push((ids.value(row), strings.value(row).to_vec(), number));
        }
    }
    rows
}

fn assert_same(found: &[Row], expected: &[Row], what: &str) {
    let of = |rows: &[Row]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    let (ids, wanted) = (of(found), of(expected));
    if ids != wanted {
        let missing: BTreeSet<_> = wanted.iter().filter(|id| !ids.contains(id)).collect();
        let place = ids.iter().zip(&wanted).position(|(a, b)| a != b);
        panic!(
            "{what}: {} rows of {}, the first other one at {place:?}, {} are missing",
            ids.len(),
            wanted.len(),
            missing.len()
        );
    }
    assert!(found == expected, "{what}: other values");
}

fn check(
    hostile: &Hostile,
    session: &DurableTransaction,
    model: &BTreeMap<i64, Row>,
    strings: &Strings,
    random: &mut Random,
) {
    let mut options = options(ReadView::Statement);
    options.batch_rows = [3, 100, 10_000][random.below(3) as usize];
    let table = session
        .statement(options)
        .table(&hostile.definition)
        .unwrap();
    let mut expected: Vec<Row> = model.values().cloned().collect();
    let mut bounds = [strings.make(random), strings.make(random)];
    bounds.sort();
    let [low, high] = bounds;
    let range = KeyRange {
        start: KeyBound::Included(vec![Value::Bytes(low.clone())]),
        end: KeyBound::Excluded(vec![Value::Bytes(high.clone())]),
    };
    for index in 0..hostile.definition.indexes().len() {
        match index {
            0 if !hostile.by_string => expected.sort_by_key(|row| row.0),
            2 => expected.sort_by(|a, b| (a.2, &a.1, a.0).cmp(&(b.2, &b.1, b.0))),
            _ => expected.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0))),
        }
        for reverse in [false, true] {
            let what = format!("index {index}, reverse {reverse}");
            let scan = |range: &KeyRange| {
                let ranges = std::slice::from_ref(range);
                let scan = table.index_scan(IndexId(index), ranges, reverse, &ALL);
                all_rows(scan.unwrap())
            };
            assert_same(&scan(&KeyRange::ALL), &expected, &what);
            if index != 2 && (index != 0 || hostile.by_string) {
                let within = |row: &&Row| row.1 >= low && row.1 < high;
                let within: Vec<Row> = expected.iter().filter(within).cloned().collect();
                assert_same(&scan(&range), &within, &format!("{what}, of a range"));
            }
            expected.reverse();
        }
        if index == 0 {
            assert_same(&all_rows(table.scan(&ALL).unwrap()), &expected, "all");
        }
    }
    let some: Vec<Row> = (0..20)
        .filter_map(|_| random.row_of(model).cloned())
        .collect();
    hostile.positions(&table, &some);
}

impl Random {
    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }

    fn row_of<'m>(&mut self, model: &'m BTreeMap<i64, Row>) -> Option<&'m Row> {
        let place = self.below(model.len().max(1) as u64) as usize;
        model.values().nth(place)
    }
}

fn run(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let random = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let strings = Strings::new(random);
    let write_buffer = match seed % 2 {
        0 => Budget::unlimited(BudgetKind::Memory),
        // Each commit changes the file.
        _ => Budget::root(BudgetKind::Memory, "write_buffer_size", 0),
    };
    let open = || {
        let options = StoreOptions::of_directory(directory.path());
        let write_buffer = write_buffer.clone();
        DurableStore::open(StoreOptions {
            write_buffer,
            ..options
        })
        .unwrap()
    };
    let mut store = open();
    let mut session = store.session(storage());
    let hostile = Hostile::new(&session, random.below(2) == 0);
    session.commit().unwrap();
    let mut model = BTreeMap::<i64, Row>::new();
    let mut committed = model.clone();
    let mut next_id = 0;
    for _ in 0..40 {
        match random.below(12) {
            // Of an empty table, this is a load.
            0..=4 => {
                let count = *random.of(&[1, 1, 3, 40, 256, 1500]);
                let mut rows: Vec<Row> = (0..count)
                    .map(|_| {
                        next_id += 1;
                        let number = (random.below(4) > 0).then(|| random.below(9) as i64);
                        (next_id, strings.make(random), number)
                    })
                    .collect();
                if random.below(2) == 0 {
                    rows.sort_by(|a, b| a.1.cmp(&b.1));
                }
                hostile.insert(&session, &rows);
                model.extend(rows.into_iter().map(|row| (row.0, row)));
            }
            5 | 6 => {
                let mut gone: Vec<Row> = model.values().cloned().collect();
                gone.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
                match random.below(3) {
                    // Neighbours,
                    0 => {
                        let from = random.below(1 + gone.len() as u64) as usize;
                        gone.drain(..from);
                        gone.truncate(random.below(1000) as usize);
                    }
                    // nearly all,
                    1 => gone.retain(|_| random.below(30) > 0),
                    // or some.
                    _ => gone.retain(|_| random.below(20) == 0),
                }
                hostile.delete(&session, &gone);
                gone.iter().for_each(|row| drop(model.remove(&row.0)));
            }
            7 => {
                let count = *random.of(&[1, 1, 10, 200]);
                let ids: BTreeSet<i64> = (0..count)
                    .filter_map(|_| random.row_of(&model).map(|row| row.0))
                    .collect();
                if ids.is_empty() {
                    continue;
                }
                let old: Vec<Row> = ids.iter().map(|id| model[id].clone()).collect();
                let changed = |row: &Row| (row.0, strings.make(random), row.2.map(|n| n + 1));
                let new: Vec<Row> = old.iter().map(changed).collect();
                hostile.update(&session, &old, &new);
                model.extend(new.into_iter().map(|row| (row.0, row)));
            }
            8 => check(&hostile, &session, &model, &strings, random),
            9 if random.below(4) == 0 => {
                session.roll_back();
                model = committed.clone();
            }
            9 if random.below(4) == 0 => {
                table(&session, &hostile.definition).truncate().unwrap();
                model.clear();
            }
            10 if random.below(2) == 0 => {
                drop((session, store));
                store = open();
                session = store.session(storage());
                model = committed.clone();
            }
            _ => {
                session.commit().unwrap();
                committed = model.clone();
                if random.below(3) == 0 {
                    let all = std::slice::from_ref(&hostile.definition);
                    store.check(all).unwrap();
                }
            }
        }
    }
    check(&hostile, &session, &model, &strings, random);
    session.commit().unwrap();
    check(&hostile, &session, &model, &strings, random);
    drop((session, store));
    let store = open();
    store
        .check(std::slice::from_ref(&hostile.definition))
        .unwrap();
    check(
        &hostile,
        &store.session(storage()),
        &model,
        &strings,
        random,
    );
}

#[test]
fn long_keys_are_what_their_model_is() {
    for seed in 0..24 {
        if std::panic::catch_unwind(|| run(seed)).is_err() {
            panic!("with seed {seed}");
        }
    }
}

/// Blocks come between two others as often as there is no ordinal between theirs any more.
#[test]
fn rows_that_come_backwards_between_alike_ones_are_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = store.session(storage());
    let hostile = Hostile::new(&session, true);
    let mut rows = Vec::new();
    for id in (0..60_000_i64).rev() {
        rows.push((id, long_text(id), None));
        if rows.len() == 200 {
            hostile.insert(&session, &rows);
            session.commit().unwrap();
            rows.clear();
        }
    }
    store
        .check(std::slice::from_ref(&hostile.definition))
        .unwrap();
    let scan = table(&session, &hostile.definition).scan(&[ColumnId(0)]);
    let mut scan = scan.unwrap();
    let mut expected = 0..60_000_i64;
    while let Some(batch) = scan.next_batch().unwrap() {
        for id in batch.column(0).as_primitive::<Int64Type>().values() {
            assert_eq!(Some(*id), expected.next());
        }
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn damage_among_alike_keys_is_found() {
    let whole = tempfile::tempdir().unwrap();
    let store = open(whole.path());
    let session = store.session(storage());
    let hostile = Hostile::new(&session, true);
    let rows: Vec<Row> = (0..5000).map(|id| (id, long_text(id), None)).collect();
    hostile.insert(&session, &rows);
    session.commit().unwrap();
    let no_interrupt = Interrupt::default();
    store
        .check_table(&hostile.definition, &no_interrupt)
        .unwrap();
    drop((session, store));
    for tree in [1, 3, 5] {
        for kind in 0..4 {
            let (_copy, store) = super::damage::damaged(whole.path(), |records, txn| {
                let all = super::damage::blocks(records, txn, tree);
                let middle = all.len() / 2;
                assert!(middle > 2 && all[middle].0.len() == 511, "{}", all.len());
                let (one, other) = (&all[middle], &all[middle + 1]);
                if kind == 0 {
                    // Two blocks exchange their places.
                    records.put(txn, &one.0, &other.1).unwrap();
                    records.put(txn, &other.0, &one.1).unwrap();
                    return;
                }
                records.delete(txn, &one.0).unwrap();
                let mut key = one.0.clone();
                match kind {
                    // One is gone,
                    1 => return,
                    // among others,
                    2 => key[4 + 499] += 1,
                    // or there twice.
                    _ => {
                        records.put(txn, &key, &one.1).unwrap();
                        key[510] += 1;
                    }
                }
                records.put(txn, &key, &one.1).unwrap();
            });
            let checked = store.check_table(&hostile.definition, &no_interrupt);
            assert!(checked.is_err(), "tree {tree}, {kind}");
        }
    }
}
