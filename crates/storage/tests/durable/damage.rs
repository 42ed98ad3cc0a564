//! `mayfly check` finds damage of every kind that it looks for.

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, EnvOpenOptions, RwTxn};

use super::*;

type Records<'e> = Database<'e, Bytes, Bytes>;

/// Trees 1 to 4 are those of the table: its rows, the primary key that needs none, and two indexes.
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

/// Changes the records of a directory behind the store's back.
#[expect(unsafe_code, reason = "a file that is mapped into memory")]
pub(super) fn change(directory: &Path, change: impl FnOnce(Records<'_>, &mut RwTxn<'_>)) {
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
    Box::new(move |records, txn| {
        let all = blocks(records, txn, tree);
        let (key, mut block) = all[all.len() / 2].clone();
        let place = block.len() * part / 16;
        block[place] ^= 0x10;
        records.put(txn, &key, &block).unwrap();
    })
}

fn without_a_block(tree: u32, place: usize) -> Damage {
    Box::new(move |records, txn| {
        let all = blocks(records, txn, tree);
        assert!(records.delete(txn, &all[place % all.len()].0).unwrap());
    })
}

fn damages() -> Vec<(&'static str, Damage, &'static [&'static str])> {
    let mut all: Vec<(&'static str, Damage, &'static [&'static str])> = Vec::new();
    for part in 0..16 {
        for tree in [ROWS, NUMBERS, NAMES] {
            // By the checksum, or by a row that misses its entry before.
            all.push(("a bit", flipped(tree, part), &[""]));
        }
    }
    all.push(("no rows at the end", without_a_block(ROWS, 1), &["counted"]));
    all.push((
        "no rows at the beginning",
        without_a_block(ROWS, 0),
        &["counted"],
    ));
    for tree in [NUMBERS, NAMES] {
        all.push((
            "no entries",
            without_a_block(tree, 0),
            &["has no entry for a row"],
        ));
    }
    all.push((
        "a wrong number of rows",
        Box::new(|records, txn| {
            let key = key(0, &[b"\0rows".as_slice(), &ROWS.to_be_bytes()].concat());
            records.put(txn, &key, &7_u64.to_le_bytes()).unwrap();
        }),
        &["counted"],
    ));
    all.push((
        "a tree of no table",
        Box::new(|records, txn| {
            let (_, block) = blocks(records, txn, ROWS).remove(0);
            records.put(txn, &key(999, b""), &block).unwrap();
        }),
        &["belongs to no table"],
    ));
    all.push((
        "a block twice",
        Box::new(|records, txn| {
            let (_, block) = blocks(records, txn, ROWS).remove(0);
            records.put(txn, &key(ROWS, &[0xff; 8]), &block).unwrap();
        }),
        &["separate", "order"],
    ));
    all.push((
        "blocks exchanged",
        Box::new(|records, txn| {
            let all = blocks(records, txn, ROWS);
            records.put(txn, &all[0].0, &all[1].1).unwrap();
            records.put(txn, &all[1].0, &all[0].1).unwrap();
        }),
        &["separate", "order"],
    ));
    all.push((
        "a block of another tree",
        Box::new(|records, txn| {
            let (_, other) = blocks(records, txn, NUMBERS).remove(0);
            let (key, _) = blocks(records, txn, ROWS).remove(0);
            records.put(txn, &key, &other).unwrap();
        }),
        &["other columns", "key", "counted", "order", "separate"],
    ));
    all.push((
        "an entry too many",
        Box::new(|records, txn| {
            let (key, _) = blocks(records, txn, ROWS).pop().unwrap();
            assert!(records.delete(txn, &key).unwrap());
            // As if the rows had been counted without it.
            let rows = blocks(records, txn, ROWS);
            let counted = rows.iter().map(|(_, block)| {
                let count: [u8; 4] = block[8..12].try_into().unwrap();
                u64::from(u32::from_le_bytes(count))
            });
            let counted = counted.sum::<u64>().to_le_bytes();
            let name = [b"\0rows".as_slice(), &ROWS.to_be_bytes()].concat();
            records.put(txn, &self::key(0, &name), &counted).unwrap();
        }),
        &["entries for"],
    ));
    all
}

/// Without `mayfly check`: whoever reads a block or changes it looks at its checksum.
#[test]
fn damaged_blocks_are_not_read_and_not_written_again() {
    let whole = tempfile::tempdir().unwrap();
    let store = open(whole.path());
    let session = store.session(storage());
    let definition = people(&session);
    let rows: Vec<_> = (0..1000).map(|id| person(2 * id)).collect();
    assert_eq!(insert(&session, &definition, &rows).unwrap(), None);
    session.commit().unwrap();
    drop((session, store));
    for part in 1..16 {
        let copy = tempfile::tempdir().unwrap();
        let file = copy.path().join("data.mdb");
        std::fs::copy(whole.path().join("data.mdb"), file).unwrap();
        change(copy.path(), |records, txn| {
            flipped(ROWS, part)(records, txn)
        });
        let store = open(copy.path());
        let session = store.session(storage());
        let mut scan = table(&session, &definition).scan(&ALL).unwrap();
        let error = loop {
            match scan.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("part {part} is read"),
                Err(error) => break error,
            }
        };
        assert!(error.message().contains("damaged"), "{error}");
        // A change would give the block a checksum that is right.
        let refused = (0..1000).find_map(|id| {
            let inserted = insert(&session, &definition, &[person(2 * id + 1)]);
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
    let whole = tempfile::tempdir().unwrap();
    let store = open(whole.path());
    let session = store.session(storage());
    let definition = people(&session);
    for first in [0, 2000, 1000] {
        // Committed one after the other, so that blocks are divided as changes divide them.
        let rows: Vec<_> = (first..first + 1000).map(person).collect();
        assert_eq!(insert(&session, &definition, &rows).unwrap(), None);
        session.commit().unwrap();
    }
    store.check(std::slice::from_ref(&definition)).unwrap();
    drop((session, store));
    for (what, damage, expected) in damages() {
        let copy = tempfile::tempdir().unwrap();
        let file = copy.path().join("data.mdb");
        std::fs::copy(whole.path().join("data.mdb"), file).unwrap();
        change(copy.path(), |records, txn| damage(records, txn));
        let store = open(copy.path());
        let error = store.check(std::slice::from_ref(&definition));
        let error = error.expect_err(what).message().to_owned();
        let is_expected = expected.iter().any(|expected| error.contains(expected));
        assert!(is_expected, "{what}: {error}");
        let of_table = store.check_table(&definition, &Interrupt::default());
        assert_eq!(of_table.is_ok(), what == "a tree of no table", "{what}");
    }
}
