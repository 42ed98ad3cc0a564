//! Benchmark of the first article's cliff: a million groups whose counts are updated, in each engine.
//!
//! `cargo test --release -p mayfly-storage --test tables -- --ignored --nocapture million` prints the times.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Array, ArrayRef, BinaryViewArray, Int64Array};
use mayfly_legacy::{DiskEngine, LegacyColumn};
use mayfly_storage::{InternalTable, KeyMode};
use mayfly_types::{Batch, PhysicalType};

use crate::fixture::{Fixture, Setting};

const ROWS: u64 = 1_000_000;
const BATCH: u64 = 8192;

/// 40 random hexadecimal digits, like those of SHA1().
fn group(n: u64) -> String {
    let mut mixed = n.wrapping_add(1);
    let mut part = || {
        mixed ^= mixed >> 30;
        mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^= mixed >> 27;
        mixed = mixed.wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        mixed
    };
    let (a, b, c) = (part(), part(), part());
    format!("{a:016x}{b:016x}{:08x}", c as u32)
}

fn run(name: &str, setting: &Setting) {
    let fixture = Fixture::new(setting);
    let columns = [
        LegacyColumn::fixed_text(50),
        LegacyColumn::number(PhysicalType::Int64),
    ];
    let mut table = fixture.table(&columns, &[KeyMode::Binary]).unwrap();
    let batches: Vec<BinaryViewArray> = (0..ROWS)
        .step_by(BATCH as usize)
        .map(|first| {
            let rows = first..(first + BATCH).min(ROWS);
            BinaryViewArray::from_iter_values(rows.map(group))
        })
        .collect();
    let start = Instant::now();
    let (mut positions, mut is_new) = (Vec::new(), Vec::new());
    for keys in batches {
        let count = keys.len();
        let ones: ArrayRef = Arc::new(Int64Array::from_value(1, count));
        let rows = Batch::new(vec![Arc::new(keys), ones], count);
        table
            .find_or_insert(&rows, &mut positions, &mut is_new)
            .unwrap();
        assert!(is_new.iter().all(|is_new| *is_new));
        // Each group is read and written once more, as for a second row of it.
        let mut twice = |old: Batch| {
            let twos: ArrayRef = Arc::new(Int64Array::from_value(2, old.row_count()));
            Ok(Batch::new(vec![twos], old.row_count()))
        };
        table.modify(&positions, &mut twice).unwrap();
    }
    let filled = start.elapsed();
    let mut scan = table.scan(None).unwrap();
    let mut rows = 0;
    while let Some(batch) = scan.next_batch(&table).unwrap() {
        rows += batch.row_count() as u64;
    }
    assert_eq!(rows, ROWS);
    let counters = fixture.key_caches.total();
    let pool = fixture.environment.buffer_pool.counters();
    println!(
        "{name:24} {:8.2} s, scanned {:.2} s; {} on disk; key cache: {} requests, {} reads, {} write requests, {} \
         writes; pool: {} requests, {} reads, {} writes",
        filled.as_secs_f64(),
        (start.elapsed() - filled).as_secs_f64(),
        table.record().disk_peak,
        counters.read_requests,
        counters.reads,
        counters.write_requests,
        counters.writes,
        pool.read_requests,
        pool.reads,
        pool.writes,
    );
    drop((scan, table));
    fixture.assert_clean();
}

#[test]
#[ignore = "a measurement"]
fn million_groups() {
    let mut memory = Setting::new(DiskEngine::MyIsam, 1 << 30);
    memory.options.max_heap_table_size = 1 << 30;
    run("MEMORY", &memory);
    let my_isam = |key_buffer_size| {
        let mut setting = Setting::new(DiskEngine::MyIsam, 16 << 20);
        setting.options.big_tables = true;
        setting.key_buffer_size = key_buffer_size;
        setting
    };
    run("MyISAM, 128 MB", &my_isam(128 << 20));
    run("MyISAM, 8 MB", &my_isam(8 << 20));
    run("MyISAM, no key cache", &my_isam(0));
    let inno_db = |buffer_pool_size| {
        let mut setting = Setting::new(DiskEngine::InnoDb, 16 << 20);
        setting.options.big_tables = true;
        setting.buffer_pool_size = buffer_pool_size;
        setting
    };
    run("InnoDB, 256 MB", &inno_db(256 << 20));
    run("InnoDB, 8 MB", &inno_db(8 << 20));
    run("MEMORY 16 MB, MyISAM 8 MB", &{
        let mut setting = my_isam(8 << 20);
        setting.options.big_tables = false;
        setting
    });
}
