//! Tests of the in-memory table: blocks, limits and the index.

use mayfly_memory::BudgetKind;
use mayfly_storage::{HashFunction, KeyMode};
use mayfly_types::PhysicalType;

use super::*;
use crate::spec::LegacyColumn;

fn table(limit: u64, read_buffer: usize) -> (MemoryTable, KeyImages, Budget) {
    let columns = [
        LegacyColumn::fixed_text(40),
        LegacyColumn::number(PhysicalType::Int64),
    ];
    let budget = Budget::root(BudgetKind::Memory, "tmp_table_size", limit);
    let layout = FixedLayout::new(&columns).unwrap();
    let images = KeyImages::new(&columns, &[KeyMode::Binary], false, HashFunction::Standard);
    let table = MemoryTable::new(layout, true, limit, read_buffer, &budget);
    (table, images, budget)
}

fn insert(table: &mut MemoryTable, images: &KeyImages, text: &str) -> Outcome<(u64, bool)> {
    let row = [StoredValue::Bytes(text.as_bytes()), StoredValue::Word(1)];
    let mut key = Vec::new();
    images.put(|column| row[column], &mut key)?;
    table.find_or_insert(images, &key, images.hash(&key), &row)
}

#[test]
fn blocks_have_as_many_records_as_mysql_says() {
    // A tenth of the records, but not more bytes than the read buffer without 4096.
    assert_eq!(records_in_block(56, 1000, 131_072), 100);
    assert_eq!(records_in_block(56, 299_593, 131_072), 126_976 / 56 + 1);
    assert_eq!(records_in_block(56, 20, 131_072), 10);
    assert_eq!(records_in_block(56, 0, 131_072), 100);
}

#[test]
fn memory_is_records_times_length_and_the_index() {
    // A record is 1 byte of NULL bits, 1 + 40 bytes of text, 8 of a number and 1: 51, padded to 56.
    // The table may have 1 MiB / 56 = 18 724 records: a tenth of them is a block of records, and one of
    // entries of 16 bytes.
    let (mut table, images, budget) = table(1 << 20, 131_072);
    insert(&mut table, &images, "a").unwrap();
    assert_eq!(budget.used(), 1872 * (56 + 16));
    for n in 0..1871 {
        insert(&mut table, &images, &n.to_string()).unwrap();
    }
    assert_eq!(table.row_count(), 1872);
    assert_eq!(budget.used(), 1872 * (56 + 16));
    insert(&mut table, &images, "one more").unwrap();
    assert_eq!(budget.used(), 2 * 1872 * (56 + 16));
    drop(table);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_full_table_says_so_and_uses_its_whole_limit() {
    let (mut table, images, budget) = table(100_000, 8192);
    let mut rows = 0_u64;
    let full = loop {
        match insert(&mut table, &images, &format!("key {rows}")) {
            Ok((position, is_new)) => {
                assert!(is_new && position == rows);
                rows += 1;
            }
            Err(refusal) => break refusal,
        }
    };
    let Refusal::Full(error) = full else {
        panic!("{full:?}");
    };
    assert_eq!((error.setting, error.limit), ("tmp_table_size", 100_000));
    assert!(budget.used() <= 100_000 && budget.used() > 100_000 - 72);
    // 72 bytes a row; the unused parts of both last blocks are less than a block of entries.
    assert!(rows > (100_000 - 8192) / 72, "{rows}");
    for n in 0..rows {
        let found = insert(&mut table, &images, &format!("key {n}")).unwrap();
        assert_eq!(found, (n, false));
    }
    assert!(matches!(
        insert(&mut table, &images, "another").unwrap_err(),
        Refusal::Full(_)
    ));
}

#[test]
fn every_row_is_found_while_buckets_are_split() {
    let (mut table, images, _) = table(1 << 20, 8192);
    for n in 0..3000_u64 {
        assert_eq!(
            insert(&mut table, &images, &n.to_string()).unwrap(),
            (n, true)
        );
        for old in [0, n / 2, n] {
            let found = insert(&mut table, &images, &old.to_string()).unwrap();
            assert_eq!(found, (old, false));
        }
    }
}

#[test]
fn a_value_that_is_too_long_changes_nothing() {
    let (mut table, images, _) = table(1 << 20, 8192);
    let long = "x".repeat(41);
    let refused = insert(&mut table, &images, &long).unwrap_err();
    assert!(matches!(refused, Refusal::LongValue));
    assert_eq!(insert(&mut table, &images, "x").unwrap(), (0, true));
}
