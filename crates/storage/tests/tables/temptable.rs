//! Model tests of temporary tables, under every configuration: memory, overflow, colliding hashes and small batches
//! must give equal rows, and nothing may be left behind. Groups, order and pairs of small random tables are in
//! `properties`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, UInt16Array};

use crate::common::{
    Fixture, configurations, filled_by, random_batches, row, rows, sorted_text, spec,
};
use mayfly_storage::{
    Access, BuildRow, GroupIndex, JoinMatches, KeyColumn, KeyMode, TempTable, TempTableContext,
    TempTableSpec,
};
use mayfly_trials::Random;
use mayfly_types::coded::Coded;
use mayfly_types::{Batch, PhysicalType, Value};

const TYPES: [PhysicalType; 4] = [
    PhysicalType::Bytes,
    PhysicalType::Int64,
    PhysicalType::Decimal128(3),
    PhysicalType::Float64,
];

fn filled(context: &TempTableContext, spec: TempTableSpec, batches: &[Batch]) -> TempTable {
    filled_by(2, context, spec, batches).unwrap()
}

#[test]
fn scans_give_every_row_once() {
    for (name, options) in configurations("scans_give_every_row_once") {
        let fixture = Fixture::new(&format!("scan-{name}"));
        let batches = random_batches(&mut Random(7), &TYPES, 20_000, 5000, 100);
        let context = fixture.context(options.clone());
        let table = filled(&context, spec(&TYPES, Access::Plain), &batches);
        assert_eq!(table.row_count(), 20_000);
        assert_eq!(
            table.has_overflowed(),
            options.tmp_table_size < 1 << 20 || options.force_overflow
        );
        let expected = sorted_text(&rows(&batches));
        let mut scan = table.scan(None);
        for _ in 0..2 {
            let mut other = scan.for_another_worker();
            let mut found = Vec::new();
            loop {
                let (a, b) = (scan.next_batch().unwrap(), other.next_batch().unwrap());
                if a.is_none() && b.is_none() {
                    break;
                }
                for batch in a.iter().chain(&b) {
                    assert!(batch.row_count() <= options.batch_rows && !batch.is_empty());
                    found.extend(rows(std::slice::from_ref(batch)));
                }
            }
            assert_eq!(sorted_text(&found), expected, "{name}");
            scan.rewind();
        }
        let mut one = table.scan(Some(&[1]));
        let mut count = 0;
        while let Some(batch) = one.next_batch().unwrap() {
            assert_eq!(batch.columns().len(), 1);
            count += batch.row_count();
        }
        assert_eq!(count, 20_000);
        drop((table, scan, one));
        fixture.assert_clean();
    }
}

/// A table may be dropped before a scan of it that has not ended, as by an UPDATE that fails.
#[test]
fn a_scan_that_ends_early_may_outlive_its_table() {
    for (name, options) in configurations("a_scan_that_ends_early_may_outlive_its_table") {
        let fixture = Fixture::new(&format!("scan-early-{name}"));
        let batches = random_batches(&mut Random(11), &TYPES, 20_000, 5000, 100);
        let context = fixture.context(options);
        let table = filled(&context, spec(&TYPES, Access::Plain), &batches);
        let mut scan = table.scan(None);
        let first = scan.next_batch().unwrap().unwrap();
        let before = row(&first, 0);
        drop(table);
        drop(scan);
        assert_eq!(row(&first, 0), before, "{name}");
        drop(first);
        fixture.assert_clean();
    }
}

#[test]
fn an_index_finds_all_pairs() {
    let types = [PhysicalType::Bytes, PhysicalType::Int64];
    for (name, options) in configurations("an_index_finds_all_pairs") {
        for null_safe in [false, true] {
            let fixture = Fixture::new(&format!("join-{name}-{null_safe}"));
            let count = if name.starts_with("collide") {
                1500
            } else {
                20_000
            };
            let distinct = count as u64 / 5;
            let build = random_batches(&mut Random(1), &types, count, distinct, 40);
            let probe = random_batches(&mut Random(2), &types, count / 4, distinct, 40);
            let mut by_key: HashMap<String, Vec<Vec<Value>>> = HashMap::new();
            for row in rows(&build) {
                if null_safe || row[0] != Value::Null {
                    by_key.entry(format!("{:?}", row[0])).or_default().push(row);
                }
            }
            let mut expected = Vec::new();
            for row in rows(&probe) {
                for other in by_key.get(&format!("{:?}", row[0])).into_iter().flatten() {
                    if null_safe || row[0] != Value::Null {
                        expected.push([row.clone(), other.clone()].concat());
                    }
                }
            }
            let expected = sorted_text(&expected);
            let context = fixture.context(options.clone());
            let keys = vec![KeyColumn {
                column: 0,
                mode: KeyMode::Binary,
                null_safe,
            }];
            let mut matches = JoinMatches::default();
            let mut join = |index: &mayfly_storage::JoinIndex, batch: &Batch| {
                let mut found = Vec::new();
                let mut exists = Vec::new();
                index
                    .exists(&[batch.column(0).clone()], batch.row_count(), &mut exists)
                    .unwrap();
                let mut joined = vec![false; batch.row_count()];
                let mut state = index
                    .probe(&[batch.column(0).clone()], batch.row_count())
                    .unwrap();
                let of_first: usize = state
                    .first_matches()
                    .map(|first| index.rows_from(first).count())
                    .sum();
                let before = found.len();
                while index.next_matches(&mut state, 700, &mut matches) {
                    assert!(matches.probe_rows.len() <= 700);
                    let columns = index.gather(&[0, 1], &matches.build_rows).unwrap();
                    let other = Batch::new(columns, matches.build_rows.len());
                    for (n, probe_row) in matches.probe_rows.iter().enumerate() {
                        joined[*probe_row as usize] = true;
                        found.push([row(batch, *probe_row as usize), row(&other, n)].concat());
                    }
                }
                assert_eq!(joined, exists);
                assert_eq!(found.len() - before, of_first);
                found
            };

            // NULLs that are equal to NULLs make many pairs, which are read from pages one by one.
            if !null_safe || count < 2000 {
                let spec = spec(&types, Access::Hash(keys.clone()));
                let keyed = filled(&context, spec, &build).into_keyed_rows().unwrap();
                let mut pairs = Vec::new();
                for batch in &probe {
                    let (found, of) = keyed.find(&[batch.column(0).clone()], &[0, 1]).unwrap();
                    assert!(of.values().is_sorted());
                    for (n, probe_row) in of.values().iter().enumerate() {
                        pairs.push([row(batch, *probe_row as usize), row(&found, n)].concat());
                    }
                }
                assert_eq!(sorted_text(&pairs), expected, "{name} keyed");
            }
            let table = filled(&context, spec(&types, Access::Hash(keys)), &build);
            let whole = table.join_index().unwrap();
            assert_eq!(whole.is_none(), table.has_overflowed(), "{name}");
            if let Some(index) = whole {
                let found: Vec<_> = probe.iter().flat_map(|batch| join(&index, batch)).collect();
                assert_eq!(sorted_text(&found), expected, "{name} whole");
                let outer = index
                    .gather(&[0, 1], &[BuildRow::NONE, index.row_at(0)])
                    .unwrap();
                assert!(outer.iter().all(|array| array.is_null(0)));
                assert_eq!(index.ordinal(index.row_at(5)), 5);
            }
            drop(table);
            fixture.assert_clean();
        }
    }
}

#[test]
fn group_indexes_number_keys_in_order() {
    let several = [PhysicalType::Bytes, PhysicalType::Int64];
    let batches =
        |types: &[PhysicalType], count| random_batches(&mut Random(4), types, count, 700, 60);
    check_group_indexes("several", &several, |count| batches(&several, count));
    check_group_indexes("string", &several[..1], |count| {
        batches(&several[..1], count)
    });
    // Few strings, each at one address: they are looked up once a batch.
    check_group_indexes("repeats", &several[..1], |count| {
        let few = random_batches(&mut Random(6), &several[..1], 300, 100, 60);
        let few = few[0].column(0).as_binary_view().clone();
        let mut random = Random(7);
        let mut batches = Vec::new();
        for _ in 0..count.div_ceil(1000) {
            let rows = arrow_array::UInt32Array::from_iter_values(
                (0..1000).map(|_| random.below_u64(few.len() as u64) as u32),
            );
            let column = arrow_select::take::take(&few, &rows, None).unwrap();
            batches.push(Batch::new(vec![column], 1000));
        }
        batches
    });
    // Columns of few values, most of whose combinations occur; later more values than fit into codes.
    for (name, more) in [("codes", 0), ("too many codes", 3000)] {
        let few = random_batches(&mut Random(9), &several[..1], 100, 80, 60);
        let few = few[0].column(0).as_binary_view().clone();
        check_group_indexes(name, &several, |count| {
            let mut random = Random(10);
            let mut batches = Vec::new();
            for number in 0..count.div_ceil(1000) {
                let names = arrow_array::UInt32Array::from_iter_values(
                    (0..1000).map(|_| random.below_u64(few.len() as u64) as u32),
                );
                let names = arrow_select::take::take(&few, &names, None).unwrap();
                let spread = 90 + more * (number as u64 / 5);
                let mut value =
                    |_| (random.below_u64(30) > 0).then(|| random.below_u64(spread) as i64);
                let numbers: arrow_array::Int64Array = (0..1000).map(&mut value).collect();
                batches.push(Batch::new(vec![names, std::sync::Arc::new(numbers)], 1000));
            }
            batches
        });
    }
    // Values of every form, whose bits are known after their first occurrence.
    for distinct in [1, 9, 4000] {
        let forms = [
            PhysicalType::Float64,
            PhysicalType::Bytes,
            PhysicalType::Decimal128(2),
            PhysicalType::UInt64,
        ];
        for types in [&forms[..1], &forms[1..2], &forms[2..3], &forms[..2], &forms] {
            check_group_indexes(
                &format!("forms-{}-{distinct}", types.len()),
                types,
                |count| random_batches(&mut Random(11), types, count, distinct, 30),
            );
        }
    }
    // Integers that lie close together, and some that do not.
    for (name, spread, far) in [("close", 900, 0), ("wider", 2_000_000, 0), ("far", 900, 50)] {
        check_group_indexes(name, &[PhysicalType::Int64], |count| {
            let mut random = Random(8);
            let mut value = |row: usize| match random.below_u64(20) {
                0 => None,
                _ if far > 0 && row > count / 2 && random.below_u64(far) == 0 => {
                    Some(random.next_number() as i64)
                }
                // The range grows as rows are added.
                _ => Some(random.below_u64(spread * (row as u64 + 10) / count as u64) as i64 - 100),
            };
            let values: Vec<Option<i64>> = (0..count).map(&mut value).collect();
            let chunks = values.chunks(700);
            chunks
                .map(|chunk| {
                    let array: arrow_array::Int64Array = chunk.iter().copied().collect();
                    Batch::new(vec![Arc::new(array)], chunk.len())
                })
                .collect()
        });
    }
}

/// The rows with their strings as dictionary codes: each string twice, and one that no row has.
fn as_codes(batch: &Batch) -> Batch {
    let columns = batch.columns().iter().map(|column| {
        let Some(texts) = column.as_binary_view_opt() else {
            return Arc::clone(column);
        };
        let mut strings: Vec<&[u8]> = texts.iter().flatten().collect();
        strings.sort_unstable();
        strings.dedup();
        let count = strings.len();
        let code = |(row, text): (usize, Option<&[u8]>)| {
            let code = strings.binary_search(&text?).expect("one of them");
            Some((code + row % 2 * count) as u16)
        };
        let codes: UInt16Array = texts.iter().enumerate().map(code).collect();
        let all = strings.iter().chain(&strings).copied();
        let all = BinaryViewArray::from_iter_values(all.chain([&b"a string of no row"[..]]));
        Arc::new(Coded::new(codes, Arc::new(all))) as ArrayRef
    });
    Batch::new(columns.collect(), batch.row_count())
}

fn check_group_indexes(what: &str, types: &[PhysicalType], batches: impl Fn(usize) -> Vec<Batch>) {
    for (name, options) in configurations("group_indexes_number_keys_in_order") {
        let fixture = Fixture::new(&format!("index-{what}-{name}"));
        let count = if name.starts_with("collide") {
            1500
        } else {
            20_000
        };
        let batches = batches(count);
        let context = fixture.context(options.clone());
        let modes = vec![KeyMode::Binary; types.len()];
        let table = TempTable::create(&context, spec(types, Access::Plain)).unwrap();
        let mut index = GroupIndex::new(&table, types, &modes).unwrap();
        let mut model: HashMap<String, u32> = HashMap::new();
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut ids = Vec::new();
        for (number, batch) in batches.iter().enumerate() {
            let coded = (number % 4 > 0).then(|| as_codes(batch));
            let mut start = 0;
            while start < batch.row_count() {
                let rest = batch.slice(start, batch.row_count() - start);
                let keys = coded.as_ref().unwrap_or(batch);
                let keys = keys.slice(start, rest.row_count());
                let taken = index
                    .find_or_insert(keys.columns(), rest.row_count(), &mut ids)
                    .unwrap();
                assert_eq!(taken, ids.len());
                for (n, id) in ids.iter().enumerate() {
                    let key = format!("{:?}", row(&rest, n));
                    let next = model.len() as u32;
                    assert_eq!(*model.entry(key.clone()).or_insert(next), *id, "{name}");
                    *counts.entry(key).or_default() += 1;
                }
                start += taken;
                if taken < rest.row_count() {
                    assert!(index.group_count() > 0);
                    let keys = index.keys(0..index.group_count()).unwrap();
                    for (n, row) in rows(&[keys]).iter().enumerate() {
                        assert_eq!(model[&format!("{row:?}")], n as u32);
                    }
                    index.clear();
                    model.clear();
                }
            }
        }
        assert_eq!(index.group_count(), model.len());
        // A closed index, with fewer keys than the batch, still finds those that it has.
        index.clear();
        let first = &batches[0];
        let taken = index.find_or_insert(first.columns(), first.row_count(), &mut ids);
        model.clear();
        for (n, id) in ids[..taken.unwrap()].iter().enumerate() {
            model.insert(format!("{:?}", row(first, n)), *id);
        }
        index.close();
        for (number, batch) in batches.iter().enumerate() {
            let coded = (number % 4 > 0).then(|| as_codes(batch));
            let keys = coded.as_ref().unwrap_or(batch);
            let taken = index.find_or_insert(keys.columns(), batch.row_count(), &mut ids);
            assert_eq!(
                (taken.unwrap(), ids.len()),
                (batch.row_count(), batch.row_count())
            );
            for (n, id) in ids.iter().enumerate() {
                let known = model.get(&format!("{:?}", row(batch, n)));
                assert_eq!(known.copied().unwrap_or(u32::MAX), *id, "{name}");
            }
        }
        assert_eq!(index.group_count(), model.len());
        let mut expected: HashMap<String, u32> = HashMap::new();
        for row in rows(&batches) {
            *expected.entry(format!("{row:?}")).or_default() += 1;
        }
        assert_eq!(counts, expected);
        drop((index, table));
        fixture.assert_clean();
    }
}
