//! Key lookups by a writer, with locks, for foreign keys.

use super::*;

fn text(name: &str) -> Vec<ArrayRef> {
    vec![Arc::new(BinaryViewArray::from_iter_values([
        name.as_bytes()
    ]))]
}

fn number(number: i64) -> Vec<ArrayRef> {
    vec![Arc::new(Int64Array::from(vec![number]))]
}

const PRIMARY: IndexId = IndexId(0);
const NUMBER: IndexId = IndexId(1);
const NAME: IndexId = IndexId(2);

#[test]
fn a_writer_finds_what_there_is_now_and_what_it_has_done() {
    let (_directory, _store, session) = new_table();
    let row = |id: i64, name: &str| (id, name.into(), Some(id * 10));
    let rows: Vec<Person> = (1..=9)
        .map(|id| row(id, if id % 3 == 0 { "three" } else { "other" }))
        .collect();
    session.insert(&rows);
    session.commit().unwrap();
    let table = session.table();
    let all = positions(&table, &[3, 6, 9]);
    let all: Vec<Vec<u8>> = all
        .as_binary_view()
        .iter()
        .flatten()
        .map(<[u8]>::to_vec)
        .collect();
    let mut writer = table.writer().unwrap();
    let mut find = |name: &str, limit| {
        let mode = LockMode::Exclusive;
        writer.find(NAME, &text(name), mode, limit).unwrap()
    };
    // The key is case-insensitive.
    assert_eq!(find("THREE", 10), all);
    assert_eq!(find("three", 2), all[..2]);
    assert!(find("thre", 10).is_empty());
    let position: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([&all[1]]));
    assert_eq!(writer.delete(&position).unwrap(), 1);
    let added = row(12, "three");
    writer.insert(&batch(std::slice::from_ref(&added))).unwrap();
    let found = writer
        .find(NAME, &text("three"), LockMode::Shared, 10)
        .unwrap();
    assert_eq!(
        (found.len(), &found[..2]),
        (3, &[all[0].clone(), all[2].clone()][..])
    );
    for (index, key, there) in [
        (PRIMARY, 6, false),
        (PRIMARY, 12, true),
        (NUMBER, 60, false),
        (NUMBER, 120, true),
        (NUMBER, 90, true),
    ] {
        let found = writer
            .find(index, &number(key), LockMode::Shared, 1)
            .unwrap();
        assert_eq!(!found.is_empty(), there, "{index:?} {key}");
    }
}

#[test]
fn what_is_found_stays_until_the_transaction_ends() {
    let (_directory, store, parent) = new_table();
    let child = parent.another(&store);
    parent.insert(&[person(1), person(2)]);
    parent.commit().unwrap();

    let finder = child.table();
    let mut writer = finder.writer().unwrap();
    let found = writer
        .find(PRIMARY, &number(1), LockMode::Shared, 1)
        .unwrap();
    assert_eq!(found.len(), 1);
    let other = parent.table();
    let waits = |id: i64| {
        let positions = positions(&other, &[id]);
        let lock = other.lock(&positions, LockMode::Exclusive, LockWait::No);
        lock.is_err_and(|error| error.errno() == 3572)
    };
    assert!(waits(1) && !waits(2), "the row that was found is locked");
    child.roll_back();
    assert!(!waits(1));
    parent.roll_back();

    // A row that is being added or removed is waited for.
    parent.insert(&[person(3)]);
    parent.delete(&[2]);
    let find = |index, key| {
        let finder = child.table();
        let mut writer = finder.writer().unwrap();
        let found = writer.find(index, &number(key), LockMode::Shared, 1);
        found
            .map(|found| found.len())
            .map_err(|error| error.errno())
    };
    let keys = [(PRIMARY, 3), (NUMBER, 9), (PRIMARY, 2), (NUMBER, 6)];
    let found = || keys.map(|(index, key)| find(index, key));
    assert_eq!(found(), [const { Err(1205) }; 4]);
    parent.commit().unwrap();
    assert_eq!(found(), [Ok(1), Ok(1), Ok(0), Ok(0)]);
}
