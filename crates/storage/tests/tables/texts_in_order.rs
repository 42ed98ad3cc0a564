//! Sorting of strings with common prefixes: whatever the collation, the keys around them, and the memory, the order is
//! that of a stable sort by the collation's own comparison.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::cmp::Ordering;
use std::sync::Arc;

use crate::common::{Fixture, configurations, drain, rows, spec};
use arrow_array::{ArrayRef, BinaryViewArray, Int64Array};
use mayfly_storage::{Access, KeyMode, SortKey, TempTable};
use mayfly_trials::Random;
use mayfly_types::{Batch, CollationId, PhysicalType, Value};

/// Common prefixes of most strings, longer than a key prefix.
const BEGINNINGS: &[&str] = &[
    "",
    "Customer#0000000",
    "customer#0000000",
    "Customer#0000000000000000000000000000000000",
    "Customer#0000000c",
    "\u{dc}n\u{ef}code and more of it ",
];
const ENDS: &[&str] = &[
    "",
    " ",
    "0",
    "1",
    "12",
    "a",
    "A",
    "\u{e4}",
    "b",
    "c",
    "ch",
    "h",
    "ss",
    "\u{df}",
    "\u{301}",
    "\u{7f}",
    "\t",
    "zz ",
    "\u{10384}",
];
const COLLATIONS: &[&str] = &[
    "binary",
    "utf8mb4_bin",
    "utf8mb4_general_ci",
    "utf8mb4_unicode_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_0900_bin",
    "utf8mb4_czech_ci",
    "utf8mb4_turkish_ci",
    "utf8mb4_spanish2_ci",
];

/// A string that begins with `beginning` or, one in `others`, with another of [`BEGINNINGS`].
fn a_text(random: &mut Random, beginning: &str, others: usize) -> Option<String> {
    let mut pick = |many: usize| random.below_u64(many as u64) as usize;
    if pick(20) == 0 {
        return None;
    }
    let mut text = match pick(others) {
        0 => BEGINNINGS[pick(BEGINNINGS.len())].to_owned(),
        _ => beginning.to_owned(),
    };
    for _ in 0..pick(4) {
        text.push_str(ENDS[pick(ENDS.len())]);
    }
    Some(text)
}

/// Two columns of strings with one of numbers between them, and the index of the row.
fn batches(random: &mut Random, count: usize) -> Vec<Batch> {
    let beginning = BEGINNINGS[random.below_u64(BEGINNINGS.len() as u64) as usize];
    let others = [4, usize::MAX][random.below_u64(2) as usize];
    let mut first_row = 0;
    let batch = |_| {
        let count = count / 4;
        let mut texts = || {
            let texts =
                (0..count).map(|_| a_text(random, beginning, others).map(String::into_bytes));
            Arc::new(texts.collect::<BinaryViewArray>()) as ArrayRef
        };
        let (first, last) = (texts(), texts());
        let numbers =
            (0..count).map(|_| (random.below_u64(9) > 0).then(|| random.below_u64(3) as i64));
        let row_numbers = (0..count).map(|row| (first_row + row) as i64);
        let columns: Vec<ArrayRef> = vec![
            first,
            Arc::new(numbers.collect::<Int64Array>()),
            last,
            Arc::new(Int64Array::from_iter_values(row_numbers)),
        ];
        first_row += count;
        Batch::new(columns, count)
    };
    (0..4).map(batch).collect()
}

fn compare(a: &Value, b: &Value, mode: KeyMode) -> Ordering {
    match (a, b, mode) {
        (Value::Bytes(a), Value::Bytes(b), KeyMode::Collated(collation)) => collation.compare(a, b),
        (Value::Bytes(a), Value::Bytes(b), KeyMode::Binary) => a.cmp(b),
        (Value::Int(a), Value::Int(b), _) => a.cmp(b),
        (a, b, _) => (*a != Value::Null).cmp(&(*b != Value::Null)),
    }
}

#[test]
fn texts_that_begin_alike_come_in_order() {
    let types = [
        PhysicalType::Bytes,
        PhysicalType::Int64,
        PhysicalType::Bytes,
        PhysicalType::Int64,
    ];
    let mut random = Random(3);
    for (name, options) in configurations("texts_that_begin_alike_come_in_order") {
        let fixture = Fixture::new(&format!("texts-{name}"));
        for collation in COLLATIONS {
            let collation = CollationId::by_name(collation).expect(collation);
            // The last case has enough rows that those that cannot be among the first are dropped in between.
            for (count, limit) in [(40, None), (400, None), (2000, None), (12_000, Some(50))] {
                let batches = batches(&mut random, count);
                let order: &[usize] = match random.below_u64(4) {
                    0 => &[0],
                    1 => &[0, 1, 2],
                    2 => &[1, 0],
                    _ => &[2, 0],
                };
                let key = |column: &usize| SortKey {
                    column: *column,
                    mode: match column {
                        1 => KeyMode::Binary,
                        _ => KeyMode::Collated(collation),
                    },
                    descending: random.below_u64(2) == 0,
                };
                let keys: Vec<SortKey> = order.iter().map(key).collect();
                let mut expected = rows(&batches);
                expected.sort_by(|a, b| {
                    let of_key = |key: &SortKey| {
                        let order = compare(&a[key.column], &b[key.column], key.mode);
                        if key.descending {
                            order.reverse()
                        } else {
                            order
                        }
                    };
                    keys.iter()
                        .map(of_key)
                        .find(|order| order.is_ne())
                        .unwrap_or(Ordering::Equal)
                });
                let access = Access::Ordered {
                    keys: keys.clone(),
                    limit,
                };
                let context = fixture.context(options.clone());
                let table = TempTable::create(&context, spec(&types, access)).unwrap();
                let mut writer = table.writer();
                for batch in &batches {
                    writer.append(batch).unwrap();
                }
                writer.finish().unwrap();
                expected.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
                let mut scan = table.sorted(0, limit).unwrap();
                let found = drain(|| scan.next_batch()).unwrap();
                for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let case = (name, collation.name(), &keys);
                    assert_eq!(found, expected, "row {place} of {case:?}");
                }
                assert_eq!(found.len(), expected.len());
            }
        }
    }
}
