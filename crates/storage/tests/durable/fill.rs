//! Loads that fill an empty table in the file before they are committed.

use super::*;

const ROWS: i64 = 60_000;
const BATCH: usize = 1000;

/// Every id once, in an order that is none.
fn shuffled() -> Vec<Person> {
    (0..ROWS).map(|id| person(id * 7919 % ROWS)).collect()
}

/// So little that a load needs several runs.
fn little_memory() -> Budget {
    let memory = Budget::unlimited(BudgetKind::Memory);
    memory.set_limit(16 << 20);
    memory
}

fn load(session: &DurableTransaction, definition: &Arc<TableDefinition>, rows: &[Person]) {
    let mut writer = table(session, definition).writer().unwrap();
    for rows in rows.chunks(BATCH) {
        assert!(writer.insert(&batch(rows)).unwrap().duplicate.is_none());
    }
    writer.finish().unwrap();
}

fn sorted(rows: &[Person]) -> Vec<Person> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

fn seen(session: &DurableTransaction, definition: &Arc<TableDefinition>) -> Vec<Person> {
    rows_of(table(session, definition).scan(&ALL).unwrap())
}

#[test]
fn runs_are_merged_and_nobody_else_sees_them_before_the_commit() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("a"));
    let session = store.session(ChangeStorage::for_tests(&little_memory()));
    let other = store.session(storage());
    let definition = people(&session);
    session.commit().unwrap();
    let rows = shuffled();
    load(&session, &definition, &rows);
    assert_eq!(seen(&session, &definition), sorted(&rows));
    assert_eq!(seen(&other, &definition), []);

    // What a crash would leave is what a copy holds: nothing of it is kept.
    let copy = directory.path().join("b");
    store.backup(&copy).unwrap();
    let copy = open(&copy);
    copy.check(&[Arc::clone(&definition)]).unwrap();
    assert_eq!(seen(&copy.session(storage()), &definition), []);

    session.roll_back();
    assert_eq!(seen(&session, &definition), []);
    store.check(&[Arc::clone(&definition)]).unwrap();

    load(&session, &definition, &rows);
    session.commit().unwrap();
    assert_eq!(seen(&other, &definition), sorted(&rows));
    store.check(&[Arc::clone(&definition)]).unwrap();
    let name = KeyRange::equal(vec!["name 5 and more of it".into()]);
    let found = table(&other, &definition)
        .index_scan(IndexId(2), &[name], false, &ALL)
        .unwrap();
    let expected = rows.iter().filter(|row| row.0 % 97 == 5);
    assert_eq!(rows_of(found).len(), expected.count());
}

#[test]
fn rows_in_order_that_end_in_disorder_are_all_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = store.session(ChangeStorage::for_tests(&little_memory()));
    let definition = people(&session);
    let mut rows: Vec<Person> = (1000..ROWS).map(person).collect();
    rows.extend((0..1000).rev().map(person));
    load(&session, &definition, &rows);
    session.commit().unwrap();
    assert_eq!(seen(&session, &definition), sorted(&rows));
    store.check(&[definition]).unwrap();
}

#[test]
fn a_load_goes_on_after_a_duplicate_and_its_rows_can_be_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = store.session(storage());
    let definition = people(&session);
    let rows: Vec<Person> = (0..1000).map(person).collect();
    let mut writer = table(&session, &definition).writer().unwrap();
    assert_eq!(writer.insert(&batch(&rows)).unwrap().rows, 1000);
    let more: Vec<Person> = (999..2000).map(person).collect();
    let written = writer.insert(&batch(&more)).unwrap();
    let duplicate = written.duplicate.unwrap();
    assert_eq!((written.rows, duplicate.index), (0, IndexId(0)));
    assert_eq!(writer.insert(&batch(&more[1..])).unwrap().rows, 1000);
    let there = writer.current(&duplicate.position).unwrap().unwrap();
    let mut found = Vec::new();
    people_of(&there, &mut found);
    assert_eq!(found, [person(999)]);
    let position: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([&duplicate.position]));
    let new = (999, "another".to_owned(), None);
    writer
        .update(&position, &batch(std::slice::from_ref(&new)))
        .unwrap();
    writer.finish().unwrap();
    let mut expected: Vec<Person> = (0..2000).map(person).collect();
    expected[999] = new;
    assert_eq!(seen(&session, &definition), expected);
    session.commit().unwrap();
    assert_eq!(seen(&session, &definition), expected);
    store.check(&[definition]).unwrap();
}

#[test]
fn a_savepoint_undoes_a_load() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = store.session(storage());
    let definition = people(&session);
    let mut participant = session.participant();
    let savepoint = participant.savepoint();
    let rows: Vec<Person> = (0..1000).map(person).collect();
    load(&session, &definition, &rows);
    delete(&session, &definition, &[5]);
    participant.roll_back_to(savepoint);
    assert_eq!(seen(&session, &definition), []);
    load(&session, &definition, &rows[..500]);
    session.commit().unwrap();
    assert_eq!(seen(&session, &definition), rows[..500]);
    store.check(&[definition]).unwrap();
}

#[test]
fn keys_in_disorder_need_no_more_memory_than_there_is() {
    loads_in_little_memory((0..2 * ROWS).map(|id| person(id * 7919 % (2 * ROWS))));
}

#[test]
fn keys_in_order_and_then_in_disorder_need_no_more_memory_than_there_is() {
    let without_number = |id| (id, String::new(), None);
    let first = (ROWS..4 * ROWS).map(without_number);
    loads_in_little_memory(first.chain((0..ROWS).rev().map(person)));
}

fn loads_in_little_memory(rows: impl Iterator<Item = Person>) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = store.session(ChangeStorage::for_tests(&little_memory()));
    let definition = people(&session);
    session.commit().unwrap();
    let rows: Vec<Person> = rows.collect();
    let mut writer = table(&session, &definition).writer().unwrap();
    for rows in rows.chunks(BATCH) {
        assert!(writer.insert(&batch(rows)).unwrap().duplicate.is_none());
    }
    let (first, last) = (rows[0].clone(), rows[rows.len() - 1].clone());
    let same_number = (4 * ROWS, "another".to_owned(), last.2);
    for (row, index) in [(first, 0), (last, 0), (same_number, 1)] {
        let written = writer.insert(&batch(std::slice::from_ref(&row))).unwrap();
        assert_eq!(written.duplicate.unwrap().index, IndexId(index));
    }
    writer.finish().unwrap();
    session.commit().unwrap();
    assert_eq!(seen(&store.session(storage()), &definition), sorted(&rows));
    store.check(&[definition]).unwrap();
}
