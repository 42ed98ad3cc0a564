//! Tests of limits: any limit of memory gives equal results; an error names the limit of temporary space.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::work::{TYPES, WORKS};
use crate::common::{Fixture, filled_by, random_batches, rows, sorted_text, spec};
use arrow_array::BinaryViewArray;
use mayfly_storage::{
    Access, HashFunction, JoinMatches, KeyColumn, PartitionQueue, TempTableOptions,
};
use mayfly_trials::Random;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Checkpoint, Interrupt, PhysicalType};

fn options(tmp_table_size: u64) -> TempTableOptions {
    TempTableOptions {
        batch_rows: 2000,
        threads: 2,
        tmp_table_size,
        ..TempTableOptions::default()
    }
}

#[test]
fn one_mebibyte_a_table_and_eight_in_all_are_enough() {
    let batches = random_batches(&mut Random(31), &TYPES, 120_000, 40_000, 90);
    for (name, work) in WORKS {
        let expected = {
            let fixture = Fixture::new(&format!("limit-none-{name}"));
            let context = fixture.context(options(u64::MAX));
            work(&fixture, &context, &batches).unwrap()
        };
        let fixture = Fixture::new(&format!("limit-{name}"));
        fixture.memory.set_limit(8 << 20);
        let context = fixture.context(options(1 << 20));
        let found = work(&fixture, &context, &batches).unwrap();
        assert!(found == expected, "{name}");
        let peak = fixture.memory.peak();
        assert!(peak <= 8 << 20, "{name}: {peak} bytes at most");
        assert!(fixture.temp_space.peak() > 0, "{name} overflows");
        drop(context);
        fixture.assert_clean();
    }
}

/// A hash that always collides cannot divide what overflows into smaller partitions.
#[test]
fn a_hash_that_always_collides_ends_under_a_limit_too() {
    let batches = random_batches(&mut Random(32), &TYPES, 6000, 700, 90);
    let colliding = TempTableOptions {
        hash: HashFunction::Colliding,
        ..options(256 << 10)
    };
    for (name, work) in WORKS {
        let run = |options: &TempTableOptions| {
            let fixture = Fixture::new(&format!("collide-{name}"));
            let context = fixture.context(options.clone());
            let found = work(&fixture, &context, &batches).unwrap();
            drop(context);
            fixture.assert_clean();
            (found, fixture.temp_space.peak() > 0)
        };
        let (expected, _) = run(&options(u64::MAX));
        let (found, overflows) = run(&colliding);
        assert!(found == expected, "{name}");
        // The aggregation's index has room for each of the 700 groups.
        assert_eq!(overflows, name != "aggregate", "{name}");
    }
}

#[test]
fn a_limit_of_temporary_space_is_named() {
    let batches = random_batches(&mut Random(33), &TYPES, 60_000, 40_000, 90);
    for (name, work) in WORKS {
        let fixture = Fixture::new(&format!("space-{name}"));
        fixture.temp_space.set_limit(100_000);
        let context = fixture.context(options(512 << 10));
        let error = work(&fixture, &context, &batches).unwrap_err();
        assert!(
            error.is(&codes::ER_RECORD_FILE_FULL_LIMIT),
            "{name}: {error:?}"
        );
        assert_eq!((error.errno(), error.sqlstate()), (1114, "HY000"));
        for part in [
            "is full",
            "max_tmp_total_space_usage = 100000 bytes",
            "raise",
        ] {
            assert!(
                error.message().contains(part),
                "{name}: {}",
                error.message()
            );
        }
        drop(context);
        fixture.assert_clean();
    }
}

/// Batches whose first column has a single string, and whose other columns are random.
fn of_one_key(random: &mut Random, rows: usize, long: usize) -> Vec<Batch> {
    let mut batches = random_batches(random, &TYPES, rows, u64::MAX, long);
    for batch in &mut batches {
        let mut columns = batch.columns().to_vec();
        // The random column that it replaces is appended behind the others.
        columns.push(columns[0].clone());
        let key = vec![Some(b"one key of all rows"); batch.row_count()];
        columns[0] = Arc::new(BinaryViewArray::from_iter(key));
        *batch = Batch::new(columns, batch.row_count());
    }
    batches
}

#[test]
fn a_key_that_is_larger_than_memory_is_joined_in_pieces() {
    let mut random = Random(33);
    let build = of_one_key(&mut random, 20_000, 300);
    let probe = of_one_key(&mut random, 30, 20);
    let types = [TYPES.as_slice(), &[PhysicalType::Bytes]].concat();
    let fixture = Fixture::new("limit-one-key");
    fixture.memory.set_limit(2 << 20);
    let context = fixture.context(options(1 << 20));
    let access = Access::Hash(vec![KeyColumn::binary(0)]);
    let table =
        |batches: &[Batch]| filled_by(1, &context, spec(&types, access.clone()), batches).unwrap();
    let (build_table, probe_table) = (table(&build), table(&probe));
    let queue = PartitionQueue::pairs(&build_table, &probe_table);
    let mut pair = queue.next_pair().unwrap().unwrap();
    assert!(pair.is_in_pieces());
    let mut matches = JoinMatches::default();
    let mut met: Vec<Vec<String>> = vec![Vec::new(); 30];
    let (mut pieces, mut hashes) = (0, Vec::new());
    while let Some(index) = pair.next_index().unwrap() {
        pieces += 1;
        let mut first = 0;
        while let Some(batch) = pair.next_probed(&mut hashes).unwrap() {
            let mut state = index.probe_hashed(&batch.columns()[..1], &hashes).unwrap();
            while index.next_matches(&mut state, 1000, &mut matches) {
                let others = index.gather(&[0, 1, 2, 3], &matches.build_rows).unwrap();
                let others = rows(&[Batch::new(others, matches.build_rows.len())]);
                for (own, other) in matches.probe_rows.iter().zip(others) {
                    met[first + *own as usize].push(format!("{other:?}"));
                }
            }
            first += batch.row_count();
        }
    }
    assert!(pieces > 5, "{pieces} pieces");
    let expected = sorted_text(&rows(&build));
    for mut met in met {
        met.sort();
        assert!(met == expected, "a probed row meets every row once");
    }
    assert!(queue.next_pair().unwrap().is_none());
    assert!(fixture.memory.peak() <= 2 << 20);
    drop((pair, queue, build_table, probe_table, context));
    fixture.assert_clean();
}

/// Each partition that is too large is split into a few that fit, not into as many as there can be.
#[test]
fn partitions_are_split_into_no_more_than_fit() {
    let batches = random_batches(&mut Random(34), &TYPES, 160_000, 160_000, 90);
    let fixture = Fixture::new("limit-pieces");
    let context = fixture.context(options(1 << 20));
    let keys = Access::Hash(vec![KeyColumn::binary(0)]);
    let table = filled_by(1, &context, spec(&TYPES, keys), &batches).unwrap();
    let queue = table.partitions();
    let (mut partitions, mut count) = (0, 0);
    while let Some(partition) = queue.next_partition().unwrap() {
        partitions += 1;
        count += partition.row_count();
    }
    assert_eq!(count, 160_000);
    // 32 at first, of about three shares each.
    assert!((64..400).contains(&partitions), "{partitions} partitions");
    drop((queue, table, context));
    fixture.assert_clean();
}

/// The number of times that a statement asks whether it is to end.
#[derive(Debug, Default)]
struct Checks(AtomicU64);

impl Checkpoint for Checks {
    fn reached(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whoever wants memory asks idle holders for it again and again, since one may be busy; a killed one is not.
#[test]
fn partitions_of_a_killed_statement_refuse_to_make_room_once() {
    let fixture = Fixture::new("killed-holder");
    let (checks, interrupt) = (Arc::<Checks>::default(), Interrupt::default());
    let interrupt = interrupt.with_checkpoint(Some(Arc::clone(&checks) as _));
    let context = fixture.interruptible(options(u64::MAX), interrupt.clone());
    let batches = random_batches(&mut Random(33), &TYPES, 120_000, 40_000, 90);
    let keys = Access::Hash(vec![KeyColumn::binary(0)]);
    let table = filled_by(1, &context, spec(&TYPES, keys), &batches).unwrap();
    let queue = table.partitions();
    let taken = queue.next_partition().unwrap().unwrap();
    interrupt.kill();
    fixture.memory.set_limit(fixture.memory.used());
    checks.0.store(0, Ordering::Relaxed);
    let other = fixture.memory.child("another statement", u64::MAX);
    fixture.resources.make_room(1 << 20, &other);
    assert_eq!(checks.0.load(Ordering::Relaxed), 1);
    drop((taken, queue, table, context));
    fixture.assert_clean();
}
