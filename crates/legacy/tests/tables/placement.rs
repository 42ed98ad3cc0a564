//! Tests of the placement and conversion of tables, their records, files, and errors.

use std::fs;

use mayfly_legacy::{
    Conversion, DiskEngine, LegacyColumn, LegacyEngine, LegacyTable, PlacementReason,
};
use mayfly_storage::{InternalTable, KeyMode};
use mayfly_types::error::codes;
use mayfly_types::{PhysicalType, Result, Value};

use crate::fixture::{Fixture, Setting, batch, scanned};

const TYPES: [PhysicalType; 2] = [PhysicalType::Bytes, PhysicalType::Int64];

fn columns() -> [LegacyColumn; 2] {
    [
        LegacyColumn::varying(50, 1),
        LegacyColumn::number(PhysicalType::Int64),
    ]
}

fn row(n: usize) -> Vec<Value> {
    vec![
        Value::Bytes(format!("group {n}").into_bytes()),
        Value::Int(n as i64),
    ]
}

fn insert(table: &mut LegacyTable, rows: std::ops::Range<usize>) -> Result<Vec<u64>> {
    let rows: Vec<_> = rows.map(row).collect();
    let (mut positions, mut is_new) = (Vec::new(), Vec::new());
    let rows = batch(&TYPES, &rows);
    table.find_or_insert(&rows, &mut positions, &mut is_new)?;
    Ok(positions)
}

fn engines() -> [(DiskEngine, LegacyEngine); 2] {
    [
        (DiskEngine::MyIsam, LegacyEngine::MyIsam),
        (DiskEngine::InnoDb, LegacyEngine::InnoDb),
    ]
}

#[test]
fn a_full_table_is_converted_within_a_batch() {
    for (disk_engine, engine) in engines() {
        let fixture = Fixture::new(&Setting::new(disk_engine, 30_000));
        let mut table = fixture.table(&columns(), &[KeyMode::Binary]).unwrap();
        assert_eq!(table.engine(), LegacyEngine::Memory);
        assert!(table.placement().disk_reason().is_none());
        insert(&mut table, 0..10).unwrap();
        assert!(fixture.files().is_empty());
        // The batch begins in memory and ends on disk: all of its positions are those on disk.
        let positions = insert(&mut table, 5..1000).unwrap();
        let read = table.read(&positions, &[1]).unwrap();
        let read = super::fixture::rows(&TYPES[1..], &read);
        let expected: Vec<_> = (5..1000).map(|n| vec![Value::Int(n)]).collect();
        assert_eq!(read, expected);
        let [conversion] = table.placement().conversions[..] else {
            panic!("{:?}", table.placement());
        };
        let reason = PlacementReason::Limit {
            setting: "tmp_table_size",
            bytes: 30_000,
        };
        let expected = Conversion {
            from: LegacyEngine::Memory,
            to: engine,
            reason,
            rows: conversion.rows,
        };
        assert_eq!((conversion, table.engine()), (expected, engine));
        // A record of 1 + 51 + 8 + 1 bytes takes 64, and 16 in the index.
        assert!((300..=375).contains(&conversion.rows), "{conversion:?}");
        assert_eq!(
            reason.to_string(),
            "tmp_table_size = 30000 bytes of memory were in use"
        );
        assert_eq!(table.record().memory_bytes, 0);
        let counters = fixture.context.counters();
        let get = |counter: &std::sync::atomic::AtomicU64| {
            counter.load(std::sync::atomic::Ordering::Relaxed)
        };
        assert_eq!(get(&counters.created_tmp_tables), 1);
        assert_eq!(get(&counters.created_tmp_disk_tables), 1);
        assert_eq!(get(&counters.hit_tmp_table_size), 1);
        drop(table);
        fixture.assert_clean();
    }
}

#[test]
fn a_value_that_does_not_fit_converts_a_table_while_it_is_changed() {
    for (disk_engine, engine) in engines() {
        let fixture = Fixture::new(&Setting::new(disk_engine, 1 << 20));
        let columns = [
            LegacyColumn::number(PhysicalType::Int64),
            LegacyColumn::varying(3, 1),
        ];
        let types = [PhysicalType::Int64, PhysicalType::Bytes];
        let mut table = fixture.table(&columns, &[KeyMode::Binary]).unwrap();
        let text = |n: usize, length: usize| Value::Bytes(vec![b'a' + n as u8; length]);
        let rows: Vec<_> = (0..4)
            .map(|n| vec![Value::Int(n as i64), text(n, 3)])
            .collect();
        let (mut positions, mut is_new) = (Vec::new(), Vec::new());
        let given = batch(&types, &rows);
        table
            .find_or_insert(&given, &mut positions, &mut is_new)
            .unwrap();
        let changed: Vec<_> = (0..4).map(|n| vec![text(n, n * 2)]).collect();
        table
            .modify(&positions, &mut |_| Ok(batch(&types[1..], &changed)))
            .unwrap();
        let expected: Vec<_> = (0..4)
            .map(|n| vec![Value::Int(n as i64), text(n, n * 2)])
            .collect();
        assert_eq!(scanned(&table).unwrap(), expected);
        assert_eq!(table.engine(), engine);
        let reasons = table.placement().conversions.iter().map(|one| one.reason);
        assert!(reasons.eq([PlacementReason::LongValue]));
        drop(table);
        fixture.assert_clean();
    }
}

#[test]
fn the_disk_limit_is_an_error_that_names_it() {
    for (disk_engine, _) in engines() {
        let mut setting = Setting::new(disk_engine, 1024);
        setting.options.tmp_disk_table_size = 200_000;
        let fixture = Fixture::new(&setting);
        let mut table = fixture.table(&columns(), &[KeyMode::Binary]).unwrap();
        let error = insert(&mut table, 0..50_000).unwrap_err();
        assert!(error.is(&codes::ER_RECORD_FILE_FULL_LIMIT), "{error:?}");
        let expected = "The table '(temporary)' is full: tmp_disk_table_size = 200000 bytes of temporary space";
        assert!(error.message().starts_with(expected), "{error:?}");
        assert!(table.record().disk_peak <= 200_000);
        drop(table);
        fixture.assert_clean();
    }
}

#[test]
fn limits_above_the_table_are_named_too() {
    let fixture = Fixture::new(&Setting::new(DiskEngine::MyIsam, 1 << 20));
    fixture.memory.set_limit(200_000);
    fixture.space.set_limit(300_000);
    let mut table = fixture.table(&columns(), &[KeyMode::Binary]).unwrap();
    let error = insert(&mut table, 0..50_000).unwrap_err();
    assert!(
        error.message().contains("max_tmp_total_space_usage"),
        "{error:?}"
    );
    let reason = PlacementReason::Limit {
        setting: "temptable_max_ram",
        bytes: 200_000,
    };
    assert_eq!(table.placement().disk_reason(), Some(reason));
    drop(table);
    fixture.assert_clean();
}

#[test]
fn files_are_there_by_name_until_the_table_is_dropped() {
    let mut setting = Setting::new(DiskEngine::MyIsam, 0);
    setting.options.big_tables = true;
    let fixture = Fixture::new(&setting);
    let mut keyed = fixture.table(&columns(), &[KeyMode::Binary]).unwrap();
    let appended = fixture.table(&columns(), &[]).unwrap();
    assert_eq!(
        fixture.files(),
        ["#sql_73f_0.MYD", "#sql_73f_0.MYI", "#sql_73f_1.MYD"]
    );
    insert(&mut keyed, 0..1000).unwrap();
    let length = |name: &str| fs::metadata(fixture.directory().join(name)).unwrap().len();
    // DYNAMIC: 11 bytes of header, 1 of NULL bits, 1 of length, the text, and 8 of the number.
    let texts: usize = (0..1000).map(|n| format!("group {n}").len()).sum();
    assert_eq!(length("#sql_73f_0.MYD"), (21 * 1000 + texts) as u64);
    // The keys are still in the key cache.
    assert_eq!(length("#sql_73f_0.MYI"), 0);
    assert!(fixture.key_caches.total().blocks_not_flushed > 10);
    fixture.key_caches.default_cache().flush().unwrap();
    let disk_bytes = length("#sql_73f_0.MYI") + length("#sql_73f_0.MYD");
    let charged = keyed.record().disk_bytes;
    assert!(charged >= disk_bytes && charged < disk_bytes + 2 * 4096);
    drop((keyed, appended));
    assert!(fixture.files().is_empty());
    fixture.assert_clean();
}

#[test]
fn rows_of_one_length_are_of_the_fixed_format() {
    let mut setting = Setting::new(DiskEngine::MyIsam, 0);
    setting.options.big_tables = true;
    let fixture = Fixture::new(&setting);
    let columns = [
        LegacyColumn::fixed_text(50),
        LegacyColumn::number(PhysicalType::Int64),
    ];
    let mut table = fixture.table(&columns, &[KeyMode::Binary]).unwrap();
    let positions = insert(&mut table, 0..100).unwrap();
    // 1 of NULL bits, 1 of length and 50 of text, 8 of the number, 4 of the checksum.
    let expected: Vec<u64> = (0..100).map(|n| n * 64).collect();
    assert_eq!(positions, expected);
    drop(table);
    fixture.assert_clean();
}

#[test]
fn the_session_has_one_tablespace_with_its_first_table() {
    let mut setting = Setting::new(DiskEngine::InnoDb, 0);
    setting.options.big_tables = true;
    setting.buffer_pool_size = 0;
    let fixture = Fixture::new(&setting);
    assert!(fixture.disk.taken_tablespace().is_none());
    let mut tables: Vec<_> = (0..3)
        .map(|_| fixture.table(&columns(), &[KeyMode::Binary]).unwrap())
        .collect();
    for table in &mut tables {
        insert(table, 0..2000).unwrap();
    }
    let tablespace = fixture.disk.taken_tablespace().unwrap();
    assert_eq!(tablespace.number(), 1);
    let used: u64 = tables.iter().map(|table| table.record().disk_bytes).sum();
    assert_eq!(tablespace.bytes(), (used, 0));
    for table in &tables {
        assert_eq!(scanned(table).unwrap().len(), 2000);
    }
    drop(tables);
    assert_eq!(tablespace.bytes(), (used, used));
    // Pages that no table uses are charged to the session.
    assert_eq!(fixture.space.used(), used);
    drop(tablespace);
    fixture.assert_clean();
}

#[test]
fn a_table_in_memory_of_one_row_takes_about_a_read_buffer() {
    let fixture = Fixture::new(&Setting::new(DiskEngine::MyIsam, 16 << 20));
    let columns = [LegacyColumn::number(PhysicalType::Int64)];
    let mut table = fixture.table(&columns, &[]).unwrap();
    let one = batch(&[PhysicalType::Int64], &[vec![Value::Int(1)]]);
    table.append(&one).unwrap();
    // The article's reader: read_buffer_size, "minus a few bytes".
    let bytes = table.record().memory_bytes;
    assert!(bytes <= 131_072 && bytes > 131_072 - 8192, "{bytes}");
    drop(table);
    fixture.assert_clean();
}

#[test]
fn a_killed_statement_ends() {
    let fixture = Fixture::new(&Setting::new(DiskEngine::MyIsam, 1 << 20));
    let mut table = fixture.table(&columns(), &[KeyMode::Binary]).unwrap();
    insert(&mut table, 0..5000).unwrap();
    fixture.interrupt.kill();
    let error = insert(&mut table, 5000..6000).unwrap_err();
    assert!(error.is(&codes::ER_QUERY_INTERRUPTED));
    drop(table);
    fixture.assert_clean();
}

#[test]
fn several_scans_read_one_table_at_the_same_time() {
    for (disk_engine, _) in engines() {
        for size in [0, 1 << 20] {
            let mut setting = Setting::new(disk_engine, size);
            setting.batch_rows = 10;
            let fixture = Fixture::new(&setting);
            let mut table = fixture.table(&columns(), &[]).unwrap();
            let all: Vec<_> = (0..105).map(row).collect();
            table.append(&batch(&TYPES, &all)).unwrap();
            let mut scans = [
                table.scan(Some(&[1, 0, 1])).unwrap(),
                table.scan(Some(&[])).unwrap(),
            ];
            let mut seen = [0, 0];
            while let Some(found) = scans[0].next_batch(&table).unwrap() {
                let found = super::fixture::rows(&[TYPES[1], TYPES[0], TYPES[1]], &found);
                for found in found {
                    let [text, number] = &all[seen[0]][..] else {
                        panic!("two columns");
                    };
                    assert_eq!(found, [number.clone(), text.clone(), number.clone()]);
                    seen[0] += 1;
                }
                if let Some(found) = scans[1].next_batch(&table).unwrap() {
                    seen[1] += found.row_count();
                }
            }
            assert_eq!(seen, [105, 105]);
            drop((scans, table));
            fixture.assert_clean();
        }
    }
}

#[test]
fn a_row_of_many_columns_is_longer_than_a_page() {
    for (disk_engine, _) in engines() {
        let mut setting = Setting::new(disk_engine, 0);
        setting.options.big_tables = true;
        setting.buffer_pool_size = 0;
        let fixture = Fixture::new(&setting);
        let count = 3000;
        let columns = vec![LegacyColumn::varying(38, 1); count];
        let types = vec![PhysicalType::Bytes; count];
        let mut table = fixture.table(&columns, &[KeyMode::Binary]).unwrap();
        let wide = |n: usize, length: usize| -> Vec<Value> {
            let value = |column: usize| Value::Bytes(vec![(n + column) as u8; length]);
            (0..count).map(value).collect()
        };
        let given: Vec<_> = (0..5).map(|n| wide(n, 30)).collect();
        let (mut positions, mut is_new) = (Vec::new(), Vec::new());
        let rows = batch(&types, &given);
        table
            .find_or_insert(&rows, &mut positions, &mut is_new)
            .unwrap();
        assert_eq!(scanned(&table).unwrap(), given);
        let changed: Vec<_> = (0..5).map(|n| wide(n + 7, n * 9)[1..].to_vec()).collect();
        table
            .modify(&positions, &mut |_| Ok(batch(&types[1..], &changed)))
            .unwrap();
        let expected: Vec<_> = given
            .iter()
            .zip(&changed)
            .map(|(old, new)| [&old[..1], &new[..]].concat())
            .collect();
        assert_eq!(scanned(&table).unwrap(), expected);
        drop(table);
        fixture.assert_clean();
    }
}

#[test]
fn a_row_that_grows_again_and_again_stays_where_it_was() {
    for (disk_engine, _) in engines() {
        let mut setting = Setting::new(disk_engine, 0);
        setting.options.big_tables = true;
        let fixture = Fixture::new(&setting);
        let columns = [
            LegacyColumn::number(PhysicalType::Int64),
            LegacyColumn::blob(),
        ];
        let types = [PhysicalType::Int64, PhysicalType::Bytes];
        let mut table = fixture.table(&columns, &[KeyMode::Binary]).unwrap();
        let keys: Vec<_> = (0..20).map(|n| vec![Value::Int(n)]).collect();
        let keys = batch(&types[..1], &keys);
        let (mut positions, mut is_new) = (Vec::new(), Vec::new());
        let mut texts = vec![Vec::new(); 20];
        for round in 0..40_usize {
            let before = positions.clone();
            table
                .find_or_insert(&keys, &mut positions, &mut is_new)
                .unwrap();
            assert!(before.is_empty() || before == positions);
            for (n, text) in texts.iter_mut().enumerate() {
                if round % 13 == 12 {
                    text.truncate(n * 3);
                } else {
                    text.resize(text.len() + n * 97, round as u8);
                }
            }
            let changed: Vec<_> = texts
                .iter()
                .map(|text| vec![Value::Bytes(text.clone())])
                .collect();
            table
                .modify(&positions, &mut |_| Ok(batch(&types[1..], &changed)))
                .unwrap();
            let found = scanned(&table).unwrap();
            for ((n, row), text) in found.iter().enumerate().zip(&texts) {
                assert_eq!(*row, [Value::Int(n as i64), Value::Bytes(text.clone())]);
            }
        }
        drop(table);
        fixture.assert_clean();
    }
}
