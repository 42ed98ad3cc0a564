//! A table against a model, through random transactions with savepoints, and opened again.

use std::collections::BTreeMap;

use super::*;

/// A small generator of random numbers, the same at each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn person(&mut self, ids: i64) -> Person {
        let id = self.below(ids as u64) as i64 - ids / 2;
        // Some names are longer than a separator may be, and alike for as long.
        let name = match self.below(20) {
            0 => format!("{}{}", "x".repeat(700), self.below(50)),
            1 => "y".repeat(9000 + self.below(3) as usize),
            _ => format!(
                "Name {}{}",
                self.below(300),
                "z".repeat(self.below(80) as usize)
            ),
        };
        let number = (self.below(4) > 0).then(|| self.below(ids as u64 * 2) as i64);
        (id, name, number)
    }
}

type Model = BTreeMap<i64, Person>;

fn check(session: &Session, model: &Model, random: &mut Random) {
    let mut options = options(ReadView::Statement);
    options.batch_rows = [3, 100, 10_000][random.below(3) as usize];
    let table = session
        .statement(options)
        .table(&session.definition)
        .unwrap();
    let mut expected: Vec<Person> = model.values().cloned().collect();
    assert_eq!(rows_of(table.scan(&ALL).unwrap()), expected);
    let by = |index, range: &KeyRange, reverse| {
        rows_of(
            table
                .index_scan(IndexId(index), std::slice::from_ref(range), reverse, &ALL)
                .unwrap(),
        )
    };
    let (low, high) = (
        random.below(400) as i64 - 200,
        random.below(400) as i64 - 200,
    );
    let range = KeyRange {
        start: KeyBound::Included(vec![Value::Int(low)]),
        end: KeyBound::Excluded(vec![Value::Int(high)]),
    };
    let mut within: Vec<Person> = expected
        .iter()
        .filter(|row| row.0 >= low && row.0 < high)
        .cloned()
        .collect();
    assert_eq!(by(0, &range, false), within, "{low}..{high}");
    let rows = table.rows_in_range(IndexId(0), &range).unwrap();
    assert_eq!(rows, within.len() as u64);
    within.reverse();
    assert_eq!(by(0, &range, true), within, "{low}..{high} backwards");
    expected.sort_by_key(|row| (row.2, row.0));
    assert_eq!(by(1, &KeyRange::ALL, false), expected);
    let key = |name: &str| {
        let mut key = Vec::new();
        CollationId::UTF8MB4_0900_AI_CI.append_sort_key(name.as_bytes(), &mut key);
        key
    };
    expected.sort_by_cached_key(|row| (key(&row.1), row.0));
    assert_eq!(by(2, &KeyRange::ALL, false), expected);
    expected.reverse();
    assert_eq!(by(2, &KeyRange::ALL, true), expected);
    // Positions that come with rows fetched in the order of another index are theirs.
    for index in [1, 2] {
        let columns = [ColumnId::POSITION, ColumnId(0), ColumnId(1), ColumnId(2)];
        let all = std::slice::from_ref(&KeyRange::ALL);
        let mut scan = table
            .index_scan(IndexId(index), all, false, &columns)
            .unwrap();
        while let Some(batch) = scan.next_batch().unwrap() {
            let ids = batch.column(1).as_primitive::<Int64Type>().values();
            let expected = positions(&table, ids);
            assert_eq!(batch.column(0).as_ref(), expected.as_ref());
        }
    }
    let ids: Vec<i64> = (0..20).map(|_| random.below(400) as i64 - 200).collect();
    let keys: ArrayRef = Arc::new(Int64Array::from(ids.clone()));
    let (found, _) = table
        .index_lookup(IndexId(0), &[keys], &[false], &ALL)
        .unwrap();
    let mut rows = Vec::new();
    people_of(&found, &mut rows);
    let expected: Vec<Person> = ids.iter().filter_map(|id| model.get(id)).cloned().collect();
    assert_eq!(rows, expected);
}

/// Changes are in memory, in temporary tables as soon as they are much, or at once.
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

fn run(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(seed);
    let mut store = open(directory.path());
    let mut session = Session::with_table(&store, storage_of(seed));
    let mut committed = Model::new();
    let mut model = Model::new();
    let mut savepoints: Vec<(u64, Model)> = Vec::new();
    let ids = [40, 400, 2000][random.below(3) as usize];
    for _ in 0..80 {
        match random.below(12) {
            0..=4 => {
                let count = [1, 5, 400][random.below(3) as usize];
                let mut rows: Vec<Person> = Vec::new();
                for _ in 0..count {
                    let row = random.person(ids);
                    let taken =
                        |other: &Person| other.0 == row.0 || row.2.is_some() && other.2 == row.2;
                    if !model.values().any(taken) && !rows.iter().any(taken) {
                        rows.push(row);
                    }
                }
                assert_eq!(session.insert(&rows), None);
                model.extend(rows.into_iter().map(|row| (row.0, row)));
            }
            5 => {
                let row = random.person(ids);
                let same = model.contains_key(&row.0).then_some(IndexId(0));
                let number = model
                    .values()
                    .any(|other| row.2.is_some() && other.2 == row.2);
                let expected = same.or(number.then_some(IndexId(1)));
                assert_eq!(session.insert(std::slice::from_ref(&row)), expected);
                if expected.is_none() {
                    model.insert(row.0, row);
                }
            }
            6 | 7 => {
                let Some(old) = model
                    .values()
                    .nth(random.below(1 + model.len() as u64) as usize)
                    .cloned()
                else {
                    continue;
                };
                let mut new = random.person(ids);
                if random.below(3) > 0 {
                    new.0 = old.0;
                }
                let others = || model.values().filter(|other| other.0 != old.0);
                let same = others().any(|other| other.0 == new.0).then_some(IndexId(0));
                let number = others().any(|other| new.2.is_some() && other.2 == new.2);
                let expected = same.or(number.then_some(IndexId(1)));
                assert_eq!(session.update(old.0, &new), expected);
                if expected.is_none() {
                    model.remove(&old.0);
                    model.insert(new.0, new);
                }
            }
            8 => {
                let share = 1 + random.below(4);
                let gone: Vec<i64> = model
                    .keys()
                    .filter(|_| random.below(4) < share)
                    .copied()
                    .collect();
                assert_eq!(session.delete(&gone), gone.len() as u64);
                gone.iter().for_each(|id| drop(model.remove(id)));
            }
            9 if random.below(2) == 0 => {
                let savepoint = session.participant().savepoint();
                savepoints.push((savepoint, model.clone()));
            }
            9 => {
                if let Some((savepoint, before)) = savepoints.pop() {
                    session.participant().roll_back_to(savepoint);
                    model = before;
                }
            }
            10 => {
                if random.below(3) > 0 {
                    session.commit().unwrap();
                    committed = model.clone();
                } else {
                    session.roll_back();
                    model = committed.clone();
                }
                savepoints.clear();
                let rows = session.table().statistics().rows;
                assert_eq!(rows, committed.len() as u64);
            }
            _ => match random.below(6) {
                0 => {
                    let definition = session.definition.clone();
                    drop((session, store));
                    store = open(directory.path());
                    session = Session {
                        transaction: store.session(storage_of(seed)),
                        definition,
                    };
                    model = committed.clone();
                    savepoints.clear();
                }
                1 => {
                    session.table().truncate().unwrap();
                    model.clear();
                }
                _ => check(&session, &model, &mut random),
            },
        }
    }
    check(&session, &model, &mut random);
    session.commit().unwrap();
    check(&session, &model, &mut random);
    session.check(&store);
}

#[test]
fn a_table_is_what_its_model_is() {
    for seed in 0..30 {
        if std::panic::catch_unwind(|| run(seed)).is_err() {
            panic!("with seed {seed}");
        }
    }
}
