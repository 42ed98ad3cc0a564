//! Model tests of durable tables: random transactions with savepoints, and reopened stores, with a table of people,
//! and tables whose keys exceed the file's maximum length and share prefixes of that length.

use std::collections::{BTreeMap, BTreeSet};

use mayfly_storage::{KeyEncoder, ScanRequest};
use mayfly_trials::{Random, Trials};

use super::*;

fn row_of(random: &mut Random, model: &Model) -> Option<Person> {
    let index = random.below(model.len().max(1));
    model.values().nth(index).cloned()
}

/// Generator of strings, mostly of one family, so that many blocks share a long prefix.
pub(super) struct Strings {
    byte: u8,
    length: usize,
}

impl Strings {
    const BYTES: [u8; 3] = [0, b'x', 0xff];
    const LENGTHS: [usize; 12] = [480, 490, 498, 499, 500, 501, 505, 507, 511, 515, 767, 3072];

    fn new(random: &mut Random) -> Self {
        Self {
            byte: random.pick(&Self::BYTES),
            length: random.pick(&Self::LENGTHS),
        }
    }

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let number = random.below_u64(1 << 16) as u32;
        match random.below_u64(16) {
            0 => number.to_be_bytes()[2..].to_vec(),
            1 => vec![random.pick(&Self::BYTES); 490 + random.below_u64(30) as usize],
            2 => {
                let mut text = vec![self.byte; random.pick(&Self::LENGTHS)];
                text.extend(number.to_be_bytes());
                text
            }
            3 => {
                let mut text = vec![self.byte; self.length];
                text.extend(vec![random.below_u64(3) as u8; 600]);
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

/// The rows by id.
type Model = BTreeMap<i64, Person>;

/// Kind of rows of a table.
enum Kind {
    /// Ids of a range are added repeatedly, names are short and collated, numbers unique.
    People { ids: u64 },
    /// Ids are never reused, the other columns are alike.
    LongKeys { strings: Strings, last_id: i64 },
}

impl Kind {
    fn row(&mut self, random: &mut Random) -> Person {
        match self {
            Self::People { ids } => {
                let id = random.below_u64(*ids).cast_signed() - ids.cast_signed() / 2;
                // Some names are longer than a separator may be, with a common prefix of that length.
                let name = match random.below_u64(20) {
                    0 => format!("{}{}", "x".repeat(700), random.below_u64(50)),
                    1 => "y".repeat(9000 + random.below_u64(3) as usize),
                    _ => {
                        let end = "z".repeat(random.below_u64(80) as usize);
                        format!("Name {}{end}", random.below_u64(300))
                    }
                };
                let number =
                    (random.below_u64(4) > 0).then(|| random.below_u64(*ids * 2).cast_signed());
                (id, name.into(), number)
            }
            Self::LongKeys { strings, last_id } => {
                *last_id += 1;
                let number = (random.below_u64(4) > 0).then(|| random.below_u64(9).cast_signed());
                (*last_id, strings.make(random), number)
            }
        }
    }

    /// Rows to be updated, with their new values.
    fn changes(&mut self, model: &Model, random: &mut Random) -> (Vec<Person>, Vec<Person>) {
        let count = match self {
            Self::People { .. } => 1,
            Self::LongKeys { .. } => random.pick(&[1, 1, 10, 200]),
        };
        let picked = (0..count).filter_map(|_| row_of(random, model));
        let old: BTreeSet<Person> = picked.collect();
        let changed = |old: &Person| {
            let new = self.row(random);
            match self {
                Self::People { .. } if random.below_u64(3) == 0 => new,
                Self::People { .. } => (old.0, new.1, new.2),
                Self::LongKeys { .. } => (old.0, new.1, old.2.map(|number| number + 1)),
            }
        };
        let new = old.iter().map(changed).collect();
        (old.into_iter().collect(), new)
    }

    /// The index in which a row has the key of one of the others.
    fn duplicate<'m>(
        &self,
        row: &Person,
        mut others: impl Iterator<Item = &'m Person> + Clone,
    ) -> Option<IndexId> {
        if matches!(self, Self::LongKeys { .. }) {
            return None;
        }
        if others.clone().any(|other| other.0 == row.0) {
            return Some(IndexId(0));
        }
        let has_number = row.2.is_some() && others.any(|other| other.2 == row.2);
        has_number.then_some(IndexId(1))
    }
}

/// A table whose rows are in the order of the string, or of the id.
fn long_keys_table(transaction: DurableTransaction, by_string: bool) -> Session {
    let trees: Vec<TreeId> = (0..5).map(|_| transaction.new_tree().unwrap()).collect();
    let primary: &[usize] = if by_string { &[1, 0] } else { &[0] };
    let indexes = vec![
        IndexSpec::binary(primary, true, IndexMethod::Clustered),
        IndexSpec::binary(&[1], false, IndexMethod::BTree),
        IndexSpec::binary(&[2, 1], false, IndexMethod::BTree),
        IndexSpec::binary(&[1, 0], true, IndexMethod::BTree),
    ];
    let definition = TableDefinition::new(TYPES.to_vec(), indexes, trees[0], trees[1..].to_vec());
    Session {
        transaction,
        definition: Arc::new(definition),
    }
}

impl Session {
    /// The positions of existing rows.
    fn positions_of(&self, table: &impl Table, rows: &[Person]) -> ArrayRef {
        let all = batch(rows);
        let parts = &self.definition.indexes()[0].parts;
        let keys: Vec<ArrayRef> = parts
            .iter()
            .map(|part| Arc::clone(all.column(part.column)))
            .collect();
        let nulls = vec![false; keys.len()];
        let found = table.index_lookup(IndexId(0), &keys, &nulls, &[ColumnId::POSITION]);
        let (found, _) = found.unwrap();
        assert_eq!(found.row_count(), rows.len());
        Arc::clone(found.column(0))
    }

    fn delete_rows(&self, rows: &[Person]) {
        let table = self.table();
        let mut writer = table.writer().unwrap();
        let positions = self.positions_of(&table, rows);
        // The second deletion finds no rows any more.
        for there in [rows.len() as u64, 0] {
            assert_eq!(writer.delete(&positions).unwrap(), there);
        }
        writer.finish().unwrap();
    }

    fn update_rows(&self, old: &[Person], new: &[Person]) -> Option<IndexId> {
        let table = self.table();
        let mut writer = table.writer().unwrap();
        let positions = self.positions_of(&table, old);
        let written = writer.update(&positions, &batch(new)).unwrap();
        writer.finish().unwrap();
        written.duplicate.map(|duplicate| duplicate.index)
    }

    /// The keys of rows in an index, as it orders them.
    fn key_of(&self, index: usize) -> impl Fn(&Person) -> Vec<u8> {
        let spec = self.definition.indexes()[index].clone();
        let encoder = KeyEncoder::new(&TYPES, &spec.parts);
        move |row| {
            let mut key = Vec::new();
            encoder
                .append_values(&values_of(&spec, row), &mut key)
                .unwrap();
            key
        }
    }
}

/// The values of a row's key in an index.
fn values_of(index: &IndexSpec, row: &Person) -> Vec<Value> {
    let value = |column: usize| match column {
        0 => Value::Int(row.0),
        1 => Value::Bytes(row.1.clone()),
        _ => row.2.map_or(Value::Null, Value::Int),
    };
    let parts = index.parts.iter();
    parts.map(|part| value(part.column)).collect()
}

fn assert_same(found: &[Person], expected: &[Person], what: &str) {
    let of = |rows: &[Person]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    let (ids, wanted) = (of(found), of(expected));
    if ids != wanted {
        let missing: BTreeSet<_> = wanted.iter().filter(|id| !ids.contains(id)).collect();
        let first = ids.iter().zip(&wanted).position(|(a, b)| a != b);
        panic!(
            "{what}: {} rows of {}, the first other one at {first:?}, {} are missing",
            ids.len(),
            wanted.len(),
            missing.len()
        );
    }
    assert!(found == expected, "{what}: other values");
}

/// Looks up the keys of some rows in an index, whose rows are given in its order.
fn check_lookup(
    session: &Session,
    table: &impl Table,
    index: usize,
    wanted: &[Person],
    all: &[Person],
) {
    let (spec, key) = (&session.definition.indexes()[index], session.key_of(index));
    let columns = batch(wanted).into_columns();
    let parts = spec
        .parts
        .iter()
        .map(|part| Arc::clone(&columns[part.column]));
    let parts: Vec<ArrayRef> = parts.collect();
    let nulls = vec![false; parts.len()];
    let found = table.index_lookup(IndexId(index), &parts, &nulls, &ALL);
    let (found, of_rows) = found.unwrap();
    let mut rows = Vec::new();
    people_of(&found, &mut rows);
    let found: Vec<(u32, Person)> = of_rows.values().iter().copied().zip(rows).collect();
    let mut expected = Vec::new();
    let keys: Vec<Vec<u8>> = all.iter().map(&key).collect();
    for (number, row) in (0..).zip(wanted) {
        // NULL finds nothing.
        if !values_of(spec, row).contains(&Value::Null) {
            let wanted = key(row);
            let same = all.iter().zip(&keys).filter(|(_, key)| **key == wanted);
            expected.extend(same.map(|(row, _)| (number, row.clone())));
        }
    }
    assert!(found == expected, "index {index}, looking up");
}

fn check(session: &Session, model: &Model, kind: &mut Kind, random: &mut Random) {
    let mut options = options(ReadView::Statement);
    options.batch_rows = random.pick(&[3, 100, 10_000]);
    let statement = session.statement(options);
    let table = statement.table(&session.definition).unwrap();
    let mut expected: Vec<Person> = model.values().cloned().collect();
    let position = session.key_of(0);
    for (index, spec) in session.definition.indexes().iter().enumerate() {
        let key = session.key_of(index);
        expected.sort_by_cached_key(|row| (key(row), position(row)));
        let mut bounds = [(); 4].map(|()| kind.row(random));
        bounds.sort_by_key(&key);
        let ends = bounds.each_ref().map(&key);
        let ranges = [0, 2].map(|first| KeyRange {
            start: KeyBound::Included(values_of(spec, &bounds[first])),
            end: KeyBound::Excluded(values_of(spec, &bounds[first + 1])),
        });
        let keys: Vec<Vec<u8>> = expected.iter().map(&key).collect();
        let mut within: Vec<Person> = Vec::new();
        for (range, ends) in ranges.iter().zip(ends.chunks(2)) {
            let before = within.len();
            let is_in = |key: &Vec<u8>| ends[0] <= *key && *key < ends[1];
            let found = expected.iter().zip(&keys).filter(|(_, key)| is_in(key));
            within.extend(found.map(|(row, _)| row.clone()));
            // A table of few people has few blocks, whose rows are counted and not estimated.
            if matches!(kind, Kind::People { ids: ..=400 }) {
                let rows = table.rows_in_range(IndexId(index), range).unwrap();
                assert_eq!(rows, (within.len() - before) as u64, "index {index}");
            }
        }
        for reverse in [false, true] {
            let what = format!("index {index}, reverse {reverse}");
            let scan = |ranges: &[KeyRange]| {
                let scan = table.index_scan(IndexId(index), ranges, reverse, &ALL);
                rows_of(scan.unwrap())
            };
            assert_same(&scan(&[KeyRange::ALL]), &expected, &what);
            assert_same(&scan(&ranges), &within, &format!("{what}, of ranges"));
            expected.reverse();
            within.reverse();
        }
        if index == 0 {
            assert_same(
                &rows_of(table.scan(&ScanRequest::of(&ALL)).unwrap()),
                &expected,
                "all",
            );
        }
        // Keys of new rows are mostly absent.
        let mut wanted: Vec<Person> = (0..10).map(|_| kind.row(random)).collect();
        wanted.extend(row_of(random, model));
        check_lookup(session, &table, index, &wanted, &expected);
        // Positions returned with rows that were fetched in the order of another index belong to these rows.
        let columns = [ColumnId::POSITION, ColumnId(0), ColumnId(1), ColumnId(2)];
        let all = std::slice::from_ref(&KeyRange::ALL);
        let mut scan = table
            .index_scan(IndexId(index), all, false, &columns)
            .unwrap();
        let mut rest = expected.as_slice();
        while let Some(batch) = scan.next_batch().unwrap() {
            let rows;
            (rows, rest) = rest.split_at(batch.row_count());
            let expected = session.positions_of(&table, rows);
            assert_eq!(batch.column(0).as_ref(), expected.as_ref());
        }
    }
    let some = (0..20).filter_map(|_| row_of(random, model));
    let some: Vec<Person> = some.collect();
    let positions = session.positions_of(&table, &some);
    let mut found = Vec::new();
    people_of(&table.fetch(&positions, &ALL).unwrap(), &mut found);
    assert_eq!(found, some);
}

/// Storage of changes in memory, in temporary tables beyond a limit, or always in temporary tables.
fn storage_of(seed: u64) -> ChangeStorage {
    let mut storage = storage();
    match seed % 3 {
        0 => {}
        1 => {
            let all = Budget::root(BudgetKind::Memory, "memory_limit", 8 << 20);
            storage.memory = all.child("none", u64::MAX);
        }
        _ => storage.force_overflow = true,
    }
    storage
}

fn run(seed: u64, has_long_keys: bool) {
    let directory = tempfile::tempdir().unwrap();
    let random = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let write_buffer = if seed.is_multiple_of(2) {
        Budget::unlimited(BudgetKind::Memory)
    } else {
        // Each commit writes to the file.
        Budget::root(BudgetKind::Memory, "write_buffer_size", 0)
    };
    let open = || {
        let write_buffer = write_buffer.clone();
        let options = StoreOptions::of_directory(directory.path());
        let options = StoreOptions {
            write_buffer,
            ..options
        };
        DurableStore::open(options).unwrap()
    };
    let mut store = open();
    let new_storage = || {
        if has_long_keys {
            storage()
        } else {
            storage_of(seed)
        }
    };
    let (mut kind, mut session) = if has_long_keys {
        let strings = Strings::new(random);
        let transaction = store.session(new_storage());
        let session = long_keys_table(transaction, random.below_u64(2) == 0);
        (
            Kind::LongKeys {
                strings,
                last_id: 0,
            },
            session,
        )
    } else {
        let ids = random.pick(&[40, 400, 2000]);
        let session = Session::with_table(&store, new_storage());
        (Kind::People { ids }, session)
    };
    session.commit().unwrap();
    let (mut committed, mut model) = (Model::new(), Model::new());
    let mut savepoints: Vec<(u64, Model)> = Vec::new();
    // Rows changed since the last commit. What a savepoint needs to undo changes is always in memory, however small that is.
    let mut changed = 0;
    for _ in 0..60 {
        if changed > 4000 {
            session.commit().unwrap();
            committed = model.clone();
            savepoints.clear();
            changed = 0;
        }
        match random.below_u64(14) {
            // Many rows inserted into an empty table are a bulk load.
            0..=4 => {
                let count = random.pick(&[1, 1, 3, 40, 256, 1500]);
                let mut rows: Vec<Person> = Vec::new();
                for _ in 0..count {
                    let row = kind.row(random);
                    let others = model.values().chain(&rows);
                    if kind.duplicate(&row, others).is_none() {
                        rows.push(row);
                    }
                }
                if random.below_u64(2) == 0 {
                    rows.sort_by(|a, b| a.1.cmp(&b.1));
                }
                // A bulk load comes in batches.
                for rows in rows.chunks(700) {
                    assert_eq!(session.insert(rows), None);
                }
                changed += rows.len();
                model.extend(rows.into_iter().map(|row| (row.0, row)));
            }
            5 => {
                let row = kind.row(random);
                let expected = kind.duplicate(&row, model.values());
                assert_eq!(session.insert(std::slice::from_ref(&row)), expected);
                if expected.is_none() {
                    model.insert(row.0, row);
                }
            }
            6 | 7 => {
                let (old, new) = kind.changes(&model, random);
                if old.is_empty() {
                    continue;
                }
                let others = model.values().filter(|other| !old.contains(other));
                let expected = new.first().and_then(|new| kind.duplicate(new, others));
                assert_eq!(session.update_rows(&old, &new), expected);
                changed += old.len();
                if expected.is_none() {
                    old.iter().for_each(|row| drop(model.remove(&row.0)));
                    model.extend(new.into_iter().map(|row| (row.0, row)));
                }
            }
            8 => {
                let mut gone: Vec<Person> = model.values().cloned().collect();
                gone.sort_by_cached_key(session.key_of(0));
                match random.below_u64(3) {
                    // Neighbours,
                    0 => {
                        let from = random.below_u64(1 + gone.len() as u64) as usize;
                        gone.drain(..from);
                        gone.truncate(random.below_u64(1000) as usize);
                    }
                    // nearly all,
                    1 => gone.retain(|_| random.below_u64(30) > 0),
                    // or some.
                    _ => gone.retain(|_| random.below_u64(20) == 0),
                }
                session.delete_rows(&gone);
                changed += gone.len();
                gone.iter().for_each(|row| drop(model.remove(&row.0)));
            }
            9 => savepoints.push((session.participant().savepoint(), model.clone())),
            10 => {
                if let Some((savepoint, before)) = savepoints.pop() {
                    session.participant().roll_back_to(savepoint);
                    model = before;
                }
            }
            11 => {
                if random.below_u64(4) > 0 {
                    session.commit().unwrap();
                    committed = model.clone();
                } else {
                    session.roll_back();
                    model = committed.clone();
                }
                savepoints.clear();
                let rows = session.table().statistics().rows;
                assert_eq!(rows, committed.len() as u64);
                if random.below_u64(3) == 0 {
                    session.check(&store);
                }
            }
            12 => check(&session, &model, &mut kind, random),
            _ => match random.below_u64(4) {
                0 => {
                    let definition = session.definition.clone();
                    drop((session, store));
                    store = open();
                    session = Session {
                        transaction: store.session(new_storage()),
                        definition,
                    };
                    model = committed.clone();
                    savepoints.clear();
                }
                1 => {
                    session.table().truncate().unwrap();
                    model.clear();
                }
                _ => check(&session, &model, &mut kind, random),
            },
        }
    }
    check(&session, &model, &mut kind, random);
    session.commit().unwrap();
    check(&session, &model, &mut kind, random);
    session.check(&store);
}

fn run_seeds(test: &str, has_long_keys: bool) {
    for seed in Trials::of(test) {
        if std::panic::catch_unwind(|| run(seed, has_long_keys)).is_err() {
            panic!("MAYFLY_SEED={seed}");
        }
    }
}

#[test]
fn people_are_what_their_model_is() {
    run_seeds("people", false);
}

#[test]
fn long_keys_are_what_their_model_is() {
    run_seeds("long_keys", true);
}

fn long_text(id: i64) -> Vec<u8> {
    [vec![b'x'; 520], id.to_be_bytes().to_vec()].concat()
}

/// Blocks are inserted between two others until there is no ordinal left between them, repeatedly.
#[test]
fn rows_that_come_backwards_between_alike_ones_are_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = long_keys_table(store.session(storage()), true);
    let mut rows = Vec::new();
    for id in (0..20_000_i64).rev() {
        rows.push((id, long_text(id), None));
        if rows.len() == 200 {
            assert_eq!(session.insert(&rows), None);
            session.commit().unwrap();
            rows.clear();
        }
    }
    session.check(&store);
    let mut scan = session
        .table()
        .scan(&ScanRequest::of(&[ColumnId(0)]))
        .unwrap();
    let mut expected = 0..20_000_i64;
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
    let session = long_keys_table(store.session(storage()), true);
    let rows: Vec<Person> = (0..5000).map(|id| (id, long_text(id), None)).collect();
    assert_eq!(session.insert(&rows), None);
    session.commit().unwrap();
    session.check(&store);
    let definition = Arc::clone(&session.definition);
    drop((session, store));
    for tree in [1, 3, 5] {
        for kind in 0..4 {
            let (_copy, store) = super::damage::damaged(whole.path(), |records, txn| {
                let all = super::damage::blocks(records, txn, tree);
                let middle = all.len() / 2;
                assert!(middle > 2 && all[middle].0.len() == 511, "{}", all.len());
                let (one, other) = (&all[middle], &all[middle + 1]);
                if kind == 0 {
                    // Swap two blocks.
                    records.put(txn, &one.0, &other.1).unwrap();
                    records.put(txn, &other.0, &one.1).unwrap();
                    return;
                }
                records.delete(txn, &one.0).unwrap();
                let mut key = one.0.clone();
                match kind {
                    // Remove a block,
                    1 => return,
                    // move it among others,
                    2 => key[4 + 499] += 1,
                    // or duplicate it.
                    _ => {
                        records.put(txn, &key, &one.1).unwrap();
                        key[510] += 1;
                    }
                }
                records.put(txn, &key, &one.1).unwrap();
            });
            let checked = store.check_table(&definition, &Interrupt::default());
            assert!(checked.is_err(), "tree {tree}, {kind}");
        }
    }
}
