//! Property tests of random tables: whatever the columns, the sizes and the limits, rows come back unchanged, groups
//! are those of a map, pairs are those of a nested loop, order is that of a stable sort, and no limit is exceeded.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{
    Fixture, configurations, drain, filled_by, random_batches, rows, sort_keys, sort_rows,
    sorted_text, spec,
};
use mayfly_storage::{
    Access, DistinctRows, HashFunction, JoinMatches, KeyColumn, KeyMode, PartitionQueue, Taken,
    TempTable, TempTableOptions,
};
use mayfly_trials::Random;
use mayfly_types::{Batch, PhysicalType, Value};
use proptest::prelude::*;

fn fixture() -> Fixture {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Fixture::new(&format!(
        "properties-{}",
        NEXT.fetch_add(1, Ordering::Relaxed)
    ))
}

fn a_type() -> impl Strategy<Value = PhysicalType> {
    prop_oneof![
        3 => Just(PhysicalType::Bytes),
        2 => Just(PhysicalType::Int64),
        1 => Just(PhysicalType::UInt64),
        1 => Just(PhysicalType::Float64),
        1 => Just(PhysicalType::Decimal128(4)),
        1 => Just(PhysicalType::Decimal256(2)),
        1 => Just(PhysicalType::Bool),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    types: Vec<PhysicalType>,
    seed: u64,
    rows: usize,
    distinct: u64,
    long: usize,
    options: TempTableOptions,
    writers: usize,
}

impl Case {
    fn batches(&self) -> Vec<Batch> {
        let mut random = Random(self.seed | 1);
        random_batches(
            &mut random,
            &self.types,
            self.rows,
            self.distinct,
            self.long,
        )
    }

    fn table(&self, fixture: &Fixture, access: Access, batches: &[Batch]) -> TempTable {
        let context = fixture.context(self.options.clone());
        let table = TempTable::create(&context, spec(&self.types, access)).unwrap();
        // Consecutive batches for each writer, so that the order of arrival is that of the rows.
        for batches in batches.chunks(batches.len().div_ceil(self.writers).max(1)) {
            let mut writer = table.writer();
            for batch in batches {
                writer.append(batch).unwrap();
            }
            writer.finish().unwrap();
        }
        table
    }
}

fn a_case(columns: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let options = (
        prop_oneof![Just(u64::MAX), (17_u32..23).prop_map(|bits| 1 << bits)],
        1_usize..3,
        prop_oneof![Just(3_usize), Just(100), Just(8192)],
        prop_oneof![
            4 => Just(HashFunction::Standard),
            1 => Just(HashFunction::Crowded),
            1 => Just(HashFunction::Colliding)
        ],
        any::<bool>(),
    );
    let options = options.prop_map(
        |(tmp_table_size, threads, batch_rows, hash, force_overflow)| TempTableOptions {
            tmp_table_size,
            threads,
            batch_rows,
            hash,
            force_overflow,
            ..Default::default()
        },
    );
    (
        prop::collection::vec(a_type(), columns),
        any::<u64>(),
        0_usize..2500,
        prop_oneof![Just(3_u64), Just(400), Just(1 << 40)],
        prop_oneof![Just(4_usize), Just(13), Just(200), Just(5000)],
        options,
        1_usize..4,
    )
        .prop_map(
            |(types, seed, rows, distinct, long, options, writers)| Case {
                types,
                seed,
                // So that no case has more than a few MiB.
                rows: if long > 1000 { rows / 10 } else { rows },
                distinct,
                long,
                options,
                writers,
            },
        )
}

fn text(row: &[Value]) -> String {
    format!("{row:?}")
}

/// Checks that every key of the first columns is in one group with all of its rows.
fn check_groups(case: &Case, key_count: usize) -> Result<(), TestCaseError> {
    let fixture = fixture();
    let batches = case.batches();
    let keys = (0..key_count).map(KeyColumn::binary).collect();
    let table = case.table(&fixture, Access::Hash(keys), &batches);
    let all = rows(&batches);
    let mut model: HashMap<String, u64> = HashMap::new();
    for row in &all {
        *model.entry(text(&row[..key_count])).or_default() += 1;
    }
    let columns: Vec<usize> = (0..case.types.len()).collect();
    let queue = table.partitions();
    let mut found = Vec::new();
    while let Some(partition) = queue.next_partition().unwrap() {
        let groups = partition.groups().unwrap();
        let mut counts = vec![0; groups.group_count()];
        for id in groups.ids() {
            counts[*id as usize] += 1;
        }
        let keys = &columns[..key_count];
        let keys = rows(&[partition.gather(keys, groups.first_rows()).unwrap()]);
        for (key, count) in keys.iter().zip(counts) {
            prop_assert_eq!(model.remove(&text(key)), Some(count));
        }
        let read = partition.read(&columns, 0..partition.row_count());
        found.extend(rows(&[read.unwrap()]));
    }
    prop_assert!(model.is_empty());
    prop_assert_eq!(sorted_text(&found), sorted_text(&all));
    drop((queue, table));
    fixture.assert_clean();
    Ok(())
}

/// The partitions of this table have thousands of rows; those of the random tables, which are small, have few.
#[test]
fn groups_of_a_large_table_are_those_of_a_map() {
    for (name, options) in configurations("groups_of_a_large_table_are_those_of_a_map") {
        // With a hash that always collides, every lookup compares all groups.
        let (rows, distinct) = match options.hash {
            HashFunction::Colliding => (4000, 300),
            _ => (60_000, 20_000),
        };
        for (key, key_count) in [
            (PhysicalType::Bytes, 1),
            (PhysicalType::Int64, 1),
            (PhysicalType::Decimal128(3), 2),
            (PhysicalType::Float64, 1),
        ] {
            let case = Case {
                types: vec![key, PhysicalType::Bytes],
                seed: 9,
                rows,
                distinct,
                long: 60,
                options: options.clone(),
                writers: 2,
            };
            let groups = check_groups(&case, key_count);
            groups.unwrap_or_else(|error| panic!("{name}, {key:?}: {error}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_come_back_as_they_were(case in a_case(1..25)) {
        let fixture = fixture();
        let batches = case.batches();
        let table = case.table(&fixture, Access::Plain, &batches);
        let mut scan = table.scan(None);
        let mut found = Vec::new();
        while let Some(batch) = scan.next_batch().unwrap() {
            for column in batch.columns() {
                arrow_array::Array::to_data(column).validate_full().unwrap();
            }
            found.push(batch);
        }
        prop_assert_eq!(rows(&found), rows(&batches));
        // Returned batches outlive their table.
        drop((scan, table));
        prop_assert_eq!(rows(&found), rows(&batches));
        drop(found);
        fixture.assert_clean();
    }

    #[test]
    fn distinct_rows_are_those_of_a_set(mut case in a_case(1..5)) {
        // Between operators, and in tables of queries, there are no columns of truth values.
        for ty in &mut case.types {
            if *ty == PhysicalType::Bool {
                *ty = PhysicalType::Int64;
            }
        }
        check_distinct_rows(&case)?;
    }

    #[test]
    fn groups_are_those_of_a_map(case in a_case(1..4)) {
        check_groups(&case, case.types.len())?;
    }

    #[test]
    fn order_is_that_of_a_stable_sort(
        case in a_case(1..4),
        descending in any::<[bool; 4]>(),
        offset in 0_u64..3000,
        limit in prop::option::of(0_u64..3000),
        ranges in prop::collection::vec(1_usize..900, 0..12),
    ) {
        let fixture = fixture();
        let batches = case.batches();
        // The last column is no key: it shows the order of equal rows.
        let key_count = case.types.len().div_ceil(2);
        let keys: Vec<_> = (0..key_count).map(|column| (column, descending[column])).collect();
        let access = Access::Ordered {
            keys: sort_keys(&keys),
            limit: limit.map(|limit| limit + offset),
        };
        let table = case.table(&fixture, access, &batches);
        let mut expected = rows(&batches);
        sort_rows(&mut expected, &keys);
        let start = (offset as usize).min(expected.len());
        let count = limit.map_or(usize::MAX, |limit| limit as usize);
        let end = start.saturating_add(count).min(expected.len());
        let mut scan = table.sorted(offset, limit).unwrap();
        let mut divided = Vec::new();
        for rows in ranges {
            let range = scan.split_off(rows).unwrap();
            prop_assert!(range.is_none() || scan.is_in_memory());
            divided.extend(range.map(|range| (rows, range)));
        }
        // A split-off range may be read at any time.
        let rest = drain(|| scan.next_batch()).unwrap();
        let mut found = Vec::new();
        for (rows, range) in &mut divided {
            let of_range = drain(|| range.next_batch()).unwrap();
            prop_assert!(of_range.len() == *rows || rest.is_empty());
            found.extend(of_range);
        }
        found.extend(rest);
        prop_assert_eq!(&found[..], &expected[start..end]);
        drop((divided, scan, table));
        fixture.assert_clean();
    }

    #[test]
    fn batches_do_not_depend_on_each_other(case in a_case(1..6)) {
        // As sets: two writers at once give any order.
        let fixture = fixture();
        let batches = case.batches();
        let table = case.table(&fixture, Access::Hash(vec![KeyColumn::binary(0)]), &batches);
        let mut scan = table.scan(None);
        let found = drain(|| scan.next_batch()).unwrap();
        prop_assert_eq!(sorted_text(&found), sorted_text(&rows(&batches)));
        drop((scan, table));
        fixture.assert_clean();
    }

    #[test]
    fn pairs_are_those_of_a_nested_loop(
        case in a_case(1..4),
        key_count in 1_usize..3,
        null_safe in any::<[bool; 3]>(),
    ) {
        let fixture = fixture();
        let key_count = key_count.min(case.types.len());
        let keys: Vec<KeyColumn> = (0..key_count)
            .map(|column| KeyColumn { null_safe: null_safe[column], ..KeyColumn::binary(column) })
            .collect();
        let build = Case { rows: case.rows / 4, ..case.clone() }.batches();
        let probe = Case { rows: case.rows / 8, seed: case.seed ^ 77, ..case.clone() }.batches();
        let key_of = |row: &[Value]| {
            let finds_nothing =
                (0..key_count).any(|n| row[n] == Value::Null && !null_safe[n]);
            (!finds_nothing).then(|| text(&row[..key_count]))
        };
        let mut by_key: HashMap<String, u64> = HashMap::new();
        for key in rows(&build).iter().filter_map(|row| key_of(row)) {
            *by_key.entry(key).or_default() += 1;
        }
        let probed = rows(&probe);
        let counts = probed.iter().filter_map(|row| by_key.get(&key_of(row)?));
        let expected: u64 = counts.sum();
        let access = Access::Hash(keys);
        let build_table = case.table(&fixture, access.clone(), &build);
        let probe_table = case.table(&fixture, access, &probe);
        let queue = PartitionQueue::pairs(&build_table, &probe_table);
        let mut matches = JoinMatches::default();
        let (mut found, mut build_rows, mut probe_rows) = (0, 0, 0);
        while let Some(mut pair) = queue.next_pair().unwrap() {
            build_rows += pair.build_rows();
            probe_rows += pair.probe_rows();
            let mut hashes = Vec::new();
            while let Some(index) = pair.next_index().unwrap() {
                while let Some(batch) = pair.next_probed(&mut hashes).unwrap() {
                    let mut state = index.probe_hashed(&batch.columns()[..key_count], &hashes).unwrap();
                    while index.next_matches(&mut state, 100, &mut matches) {
                        found += matches.build_rows.len() as u64;
                        let columns: Vec<usize> = (0..key_count).collect();
                        let others = index.gather(&columns, &matches.build_rows).unwrap();
                        let others = rows(&[Batch::new(others, matches.build_rows.len())]);
                        for (own, other) in matches.probe_rows.iter().zip(others) {
                            let own = crate::common::row(&batch, *own as usize);
                            prop_assert_eq!(&own[..key_count], &other[..]);
                        }
                    }
                }
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!((build_rows, probe_rows), (case.rows / 4, case.rows / 8));
        drop((queue, build_table, probe_table));
        fixture.assert_clean();
    }

    /// With a limit over all tables, every row comes out once or the error names the limit, and it is never exceeded,
    /// even when most rows have one key, so that they come in parts.
    #[test]
    fn no_limit_is_passed(case in a_case(1..4), limit in 18_u32..23, skewed in any::<bool>()) {
        let fixture = fixture();
        fixture.memory.set_limit(1 << limit);
        let case = Case {
            distinct: if skewed { 1 } else { case.distinct },
            ..case
        };
        let batches = case.batches();
        let run = || -> mayfly_types::Result<u64> {
            let spec = spec(&case.types, Access::Hash(vec![KeyColumn::binary(0)]));
            let context = fixture.context(case.options.clone());
            let table = filled_by(1, &context, spec, &batches)?;
            let mut found = 0;
            let queue = table.partitions();
            while let Some(taken) = queue.next_taken()? {
                match taken {
                    Taken::Loaded(partition) => found += partition.groups()?.ids().len() as u64,
                    Taken::Large(mut partition) => {
                        while let Some(batch) = partition.read_next()? {
                            found += batch.row_count() as u64;
                        }
                    }
                }
            }
            Ok(found)
        };
        match run() {
            Ok(found) => prop_assert_eq!(found, case.rows as u64),
            Err(error) => {
                prop_assert_eq!(error.errno(), 1114);
                prop_assert!(error.message().contains("temptable_max_ram"), "{}", error);
                // The minimum that works: some blocks for each partition.
                prop_assert!(limit < 21, "{}", error);
            }
        }
        prop_assert!(fixture.memory.peak() <= 1 << limit);
        fixture.assert_clean();
    }
}

/// Checks that rows added batch by batch are new when no earlier one is equal, in memory and out of it, and are the
/// table's rows in the end.
fn check_distinct_rows(case: &Case) -> Result<(), TestCaseError> {
    let fixture = fixture();
    let batches = case.batches();
    let context = fixture.context(case.options.clone());
    let table = TempTable::create(&context, spec(&case.types, Access::Plain)).unwrap();
    let modes = vec![KeyMode::Binary; case.types.len()];
    let mut distinct = DistinctRows::new(&table, modes).unwrap();
    let mut model = HashSet::new();
    for batch in &batches {
        // In pieces, since a round of a recursion often has one row.
        let mut start = 0;
        for piece in [1, 1, 2, usize::MAX] {
            let count = piece.min(batch.row_count() - start);
            if count == 0 {
                break;
            }
            let piece = batch.slice(start, count);
            let new = distinct.add(&piece).unwrap();
            for (at, row) in rows(&[piece]).iter().enumerate() {
                prop_assert_eq!(new.contains(at), model.insert(text(row)), "{:?}", row);
            }
            start += count;
        }
    }
    distinct.finish().unwrap();
    prop_assert_eq!(table.row_count(), model.len() as u64);
    let mut scan = table.scan(None);
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in rows(&[batch]) {
            prop_assert!(model.remove(&text(&row)), "{:?}", row);
        }
    }
    prop_assert!(model.is_empty());
    drop((scan, table));
    fixture.assert_clean();
    Ok(())
}
