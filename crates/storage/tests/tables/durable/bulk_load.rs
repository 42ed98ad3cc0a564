//! Bulk loads of an empty table, before their commit.

use super::*;

const ROWS: i64 = 60_000;
const BATCH: usize = 1000;

/// Every id once, in random order.
fn shuffled() -> Vec<Person> {
    (0..ROWS).map(|id| person(id * 7919 % ROWS)).collect()
}

/// A new store and a session with so little memory that a load needs several runs.
fn new_table_in_little_memory() -> (TempDir, DurableStore, Session) {
    let memory = Budget::unlimited(BudgetKind::Memory);
    memory.set_limit(16 << 20);
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let session = Session::with_table(&store, ChangeStorage::for_tests(&memory));
    (directory, store, session)
}

fn load(session: &Session, rows: &[Person]) {
    let mut writer = session.table().writer().unwrap();
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

#[test]
fn runs_are_merged_and_nobody_else_sees_them_before_the_commit() {
    let (directory, store, session) = new_table_in_little_memory();
    let other = session.another(&store);
    session.commit().unwrap();
    let rows = shuffled();
    load(&session, &rows);
    assert_eq!(session.rows(), sorted(&rows));
    assert_eq!(other.rows(), []);

    // A copy has what a crash would leave: nothing of the load is kept.
    let copy = directory.path().join("b");
    store.backup(&copy).unwrap();
    let copy = open(&copy);
    session.check(&copy);
    assert_eq!(session.another(&copy).rows(), []);

    session.roll_back();
    assert_eq!(session.rows(), []);
    session.check(&store);

    load(&session, &rows);
    session.commit().unwrap();
    assert_eq!(other.rows(), sorted(&rows));
    session.check(&store);
    let name = KeyRange::equal(vec!["name 5 and more of it".into()]);
    let found = other
        .table()
        .index_scan(IndexId(2), &[name], false, &ALL)
        .unwrap();
    let expected = rows.iter().filter(|row| row.0 % 97 == 5);
    assert_eq!(rows_of(found).len(), expected.count());
}

#[test]
fn rows_in_order_that_end_in_disorder_are_all_there() {
    let (_directory, store, session) = new_table_in_little_memory();
    let mut rows: Vec<Person> = (1000..ROWS).map(person).collect();
    rows.extend((0..1000).rev().map(person));
    load(&session, &rows);
    session.commit().unwrap();
    assert_eq!(session.rows(), sorted(&rows));
    session.check(&store);
}

#[test]
fn a_load_goes_on_after_a_duplicate_and_its_rows_can_be_changed() {
    let (_directory, store, session) = new_table();
    let rows: Vec<Person> = (0..1000).map(person).collect();
    let mut writer = session.table().writer().unwrap();
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
    let new = (999, "another".into(), None);
    writer
        .update(&position, &batch(std::slice::from_ref(&new)))
        .unwrap();
    writer.finish().unwrap();
    let mut expected: Vec<Person> = (0..2000).map(person).collect();
    expected[999] = new;
    assert_eq!(session.rows(), expected);
    session.commit().unwrap();
    assert_eq!(session.rows(), expected);
    session.check(&store);
}

#[test]
fn a_savepoint_undoes_a_load() {
    let (_directory, store, session) = new_table();
    let mut participant = session.participant();
    let savepoint = participant.savepoint();
    let rows: Vec<Person> = (0..1000).map(person).collect();
    load(&session, &rows);
    session.delete(&[5]);
    participant.roll_back_to(savepoint);
    assert_eq!(session.rows(), []);
    load(&session, &rows[..500]);
    session.commit().unwrap();
    assert_eq!(session.rows(), rows[..500]);
    session.check(&store);
}

#[test]
fn keys_in_disorder_need_no_more_memory_than_there_is() {
    loads_in_little_memory((0..2 * ROWS).map(|id| person(id * 7919 % (2 * ROWS))));
}

#[test]
fn keys_in_order_and_then_in_disorder_need_no_more_memory_than_there_is() {
    let without_number = |id| (id, Vec::new(), None);
    let first = (ROWS..4 * ROWS).map(without_number);
    loads_in_little_memory(first.chain((0..ROWS).rev().map(person)));
}

fn loads_in_little_memory(rows: impl Iterator<Item = Person>) {
    let (_directory, store, session) = new_table_in_little_memory();
    session.commit().unwrap();
    let rows: Vec<Person> = rows.collect();
    let mut writer = session.table().writer().unwrap();
    for rows in rows.chunks(BATCH) {
        assert!(writer.insert(&batch(rows)).unwrap().duplicate.is_none());
    }
    let (first, last) = (rows[0].clone(), rows[rows.len() - 1].clone());
    let same_number = (4 * ROWS, "another".into(), last.2);
    for (row, index) in [(first, 0), (last, 0), (same_number, 1)] {
        let written = writer.insert(&batch(std::slice::from_ref(&row))).unwrap();
        assert_eq!(written.duplicate.unwrap().index, IndexId(index));
    }
    writer.finish().unwrap();
    session.commit().unwrap();
    assert_eq!(session.another(&store).rows(), sorted(&rows));
    session.check(&store);
}
