//! Tests that `mayfly check` finds damage of every kind that it looks for.

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, EnvOpenOptions, RwTxn};

use super::*;

type Records<'e> = Database<'e, Bytes, Bytes>;

/// Trees 1 to 4 are the table's: its rows, the primary key that needs none, and two indexes.
const ROWS: u32 = 1;
const NUMBERS: u32 = 3;
const NAMES: u32 = 4;

fn key(tree: u32, separator: &[u8]) -> Vec<u8> {
    [&tree.to_be_bytes(), separator].concat()
}

/// The blocks of a tree.
pub(super) fn blocks(records: Records<'_>, txn: &RwTxn<'_>, tree: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
    let found = records.prefix_iter(txn, &tree.to_be_bytes()).unwrap();
    found
        .map(|found| found.map(|(key, block)| (key.to_vec(), block.to_vec())))
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Changes the records of a closed store's directory.
#[expect(unsafe_code, reason = "a file that is mapped into memory")]
fn change(directory: &Path, change: impl FnOnce(Records<'_>, &mut RwTxn<'_>)) {
    // SAFETY: the store that had the directory is closed.
    let env = unsafe { EnvOpenOptions::new().map_size(1 << 30).open(directory) }.unwrap();
    let txn = env.write_txn().unwrap();
    let records = env.create_databases_and_commit(txn, |opener, txn| {
        let records = opener.create_database::<Bytes, Bytes>(txn, None)?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(records))
    });
    let records = records.unwrap().commit().unwrap();
    let mut txn = env.write_txn().unwrap();
    change(records, &mut txn);
    txn.commit().unwrap();
}

type Damage = Box<dyn Fn(Records<'_>, &mut RwTxn<'_>)>;

fn flipped(tree: u32, part: usize) -> Damage {
    with_blocks(tree, move |records, txn, all| {
        let (key, mut block) = all[all.len() / 2].clone();
        let offset = block.len() * part / 16;
        block[offset] ^= 0x10;
        records.put(txn, &key, &block).unwrap();
    })
}

fn without_a_block(tree: u32, position: usize) -> Damage {
    with_blocks(tree, move |records, txn, all| {
        assert!(records.delete(txn, &all[position % all.len()].0).unwrap());
    })
}

/// Changes the blocks of a tree, which are in order.
fn with_blocks(
    tree: u32,
    change: impl Fn(Records<'_>, &mut RwTxn<'_>, Vec<(Vec<u8>, Vec<u8>)>) + 'static,
) -> Damage {
    Box::new(move |records, txn| {
        let all = blocks(records, txn, tree);
        change(records, txn, all);
    })
}

/// Name of the record with the table's row count.
fn row_count() -> Vec<u8> {
    key(0, &[b"\0rows".as_slice(), &ROWS.to_be_bytes()].concat())
}

/// (name, damage, words one of which must be in the error).
fn damages() -> Vec<(&'static str, Damage, &'static [&'static str])> {
    let mut all: Vec<(&'static str, Damage, &'static [&'static str])> = Vec::new();
    for part in 0..16 {
        for tree in [ROWS, NUMBERS, NAMES] {
            // Found by the checksum, or earlier by a row that lacks its entry.
            all.push(("a bit", flipped(tree, part), &[""]));
        }
    }
    let no_entry: &[&str] = &["has no entry for a row"];
    let disorder: &[&str] = &["separate", "order"];
    let other_tree: &[&str] = &["other columns", "key", "counted", "order", "separate"];
    let wrong_count: Damage = Box::new(|records, txn| {
        records
            .put(txn, &row_count(), &7_u64.to_le_bytes())
            .unwrap();
    });
    let no_table = with_blocks(ROWS, |records, txn, all| {
        records.put(txn, &key(999, b""), &all[0].1).unwrap();
    });
    let twice = with_blocks(ROWS, |records, txn, all| {
        records.put(txn, &key(ROWS, &[0xff; 8]), &all[0].1).unwrap();
    });
    let exchanged = with_blocks(ROWS, |records, txn, all| {
        records.put(txn, &all[0].0, &all[1].1).unwrap();
        records.put(txn, &all[1].0, &all[0].1).unwrap();
    });
    let foreign = with_blocks(NUMBERS, |records, txn, all| {
        let (key, _) = blocks(records, txn, ROWS).remove(0);
        records.put(txn, &key, &all[0].1).unwrap();
    });
    let too_many = with_blocks(ROWS, |records, txn, mut all| {
        let (key, _) = all.pop().unwrap();
        assert!(records.delete(txn, &key).unwrap());
        // The row count is made to agree with the missing block.
        let counted = all.iter().map(|(_, block)| {
            let count: [u8; 4] = block[8..12].try_into().unwrap();
            u64::from(u32::from_le_bytes(count))
        });
        let counted = counted.sum::<u64>().to_le_bytes();
        records.put(txn, &row_count(), &counted).unwrap();
    });
    all.extend([
        (
            "no rows at the end",
            without_a_block(ROWS, 1),
            &["counted"][..],
        ),
        (
            "no rows at the beginning",
            without_a_block(ROWS, 0),
            &["counted"],
        ),
        ("no entries", without_a_block(NUMBERS, 0), no_entry),
        ("no entries", without_a_block(NAMES, 0), no_entry),
        ("a wrong number of rows", wrong_count, &["counted"]),
        ("a tree of no table", no_table, &["belongs to no table"]),
        ("a block twice", twice, disorder),
        ("blocks exchanged", exchanged, disorder),
        ("a block of another tree", foreign, other_tree),
        ("an entry too many", too_many, &["entries, and its table"]),
    ]);
    all
}

/// A copy of the directory with a changed data file.
pub(super) fn damaged(
    whole: &Path,
    damage: impl FnOnce(Records<'_>, &mut RwTxn<'_>),
) -> (TempDir, DurableStore) {
    let copy = tempfile::tempdir().unwrap();
    let file = copy.path().join("data.mdb");
    std::fs::copy(whole.join("data.mdb"), file).unwrap();
    change(copy.path(), damage);
    let store = open(copy.path());
    (copy, store)
}

/// Without `mayfly check`: each read or change of a block verifies its checksum.
#[test]
fn damaged_blocks_are_not_read_and_not_written_again() {
    let (whole, store, session) = new_table();
    let rows: Vec<_> = (0..1000).map(|id| person(2 * id)).collect();
    assert_eq!(session.insert(&rows), None);
    session.commit().unwrap();
    let definition = Arc::clone(&session.definition);
    drop((session, store));
    for part in 1..16 {
        let (_copy, store) = damaged(whole.path(), flipped(ROWS, part));
        let session = Session::new(&store, &definition);
        let mut scan = session.table().scan(&ScanRequest::of(&ALL)).unwrap();
        let error = loop {
            match scan.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("part {part} is read"),
                Err(error) => break error,
            }
        };
        assert!(error.message().contains("damaged"), "{error}");
        // A change would give the block a valid checksum.
        let refused = (0..1000).find_map(|id| {
            let inserted = session.try_insert(&[person(2 * id + 1)]);
            let inserted = inserted.and_then(|_| session.commit());
            session.roll_back();
            inserted.err()
        });
        let refused = refused.expect("the block is not changed");
        assert!(refused.message().contains("damaged"), "{refused}");
    }
}

#[test]
fn damage_is_found() {
    let (whole, store, session) = new_table();
    for first in [0, 2000, 1000] {
        // Committed one after the other, so that blocks are split by changes.
        let rows: Vec<_> = (first..first + 1000).map(person).collect();
        assert_eq!(session.insert(&rows), None);
        session.commit().unwrap();
    }
    session.check(&store);
    let definition = Arc::clone(&session.definition);
    drop((session, store));
    for (what, damage, expected) in damages() {
        let (_copy, store) = damaged(whole.path(), damage);
        let error = store.check(std::slice::from_ref(&definition));
        let error = error.expect_err(what).message().to_owned();
        let is_expected = expected.iter().any(|expected| error.contains(expected));
        assert!(is_expected, "{what}: {error}");
        let of_table = store.check_table(&definition, &Interrupt::default());
        assert_eq!(of_table.is_ok(), what == "a tree of no table", "{what}");
    }
}
