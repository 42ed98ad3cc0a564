//! Model tests of legacy tables of each engine, random and under random limits, against a list of rows.

use std::collections::BTreeMap;

use arrow_buffer::i256;
use mayfly_legacy::{DeclaredForm, DiskEngine, LegacyColumn, LegacyTable};
use mayfly_storage::{HashFunction, InternalTable, KeyMode};
use mayfly_types::{CollationId, PhysicalType, Value};
use proptest::prelude::*;

use crate::fixture::{Fixture, Setting, batch, rows, scanned};

/// Kinds of columns: (column, collation).
const KINDS: [(LegacyColumn, Option<&str>); 15] = [
    (of(PhysicalType::Int64, 4), None),
    (of(PhysicalType::UInt64, 8), None),
    (of(PhysicalType::Bool, 1), None),
    (of(PhysicalType::Float64, 8), None),
    (of(PhysicalType::Decimal128(2), 6), None),
    (of(PhysicalType::Decimal256(3), 32), None),
    (of(PhysicalType::Bytes, 20), None),
    (of(PhysicalType::Bytes, 40), Some("utf8mb4_general_ci")),
    (varying(30, 4), Some("utf8mb4_0900_ai_ci")),
    (varying(12, 1), Some("utf8mb4_0900_as_cs")),
    (varying(300, 3), Some("latin1_swedish_ci")),
    (varying(600, 4), Some("utf8mb4_bin")),
    (varying(60, 1), None),
    (BLOB, None),
    (BLOB, Some("utf8mb4_0900_ai_ci")),
];

const BLOB: LegacyColumn = LegacyColumn {
    ty: PhysicalType::Bytes,
    form: DeclaredForm::Blob,
};

const fn of(ty: PhysicalType, bytes: u32) -> LegacyColumn {
    let form = DeclaredForm::Fixed { bytes };
    LegacyColumn { ty, form }
}

const fn varying(characters: u32, bytes_per_character: u8) -> LegacyColumn {
    LegacyColumn {
        ty: PhysicalType::Bytes,
        form: DeclaredForm::Varying {
            characters,
            bytes_per_character,
        },
    }
}

const TEXTS: [&str; 16] = [
    "", "a", "A", "a ", "ä", "Ä", "ß", "ss", "b\u{0}", "b", "ab", "æ", "ae", "é", "e\u{301}", " ",
];

/// The `n`-th value of a kind; many are equal, some exceed the declaration.
fn value(kind: usize, n: u32) -> Value {
    if n.is_multiple_of(11) {
        return Value::Null;
    }
    let signed = i64::from(n / 2) * if n.is_multiple_of(2) { 1 } else { -1 };
    match KINDS[kind].0.ty {
        // The declaration has 4 bytes.
        PhysicalType::Int64 if n % 97 == 5 => Value::Int(signed << 40),
        PhysicalType::Int64 => Value::Int(signed),
        PhysicalType::UInt64 => Value::UInt(u64::MAX - u64::from(n)),
        PhysicalType::Bool => Value::Int(i64::from(n.is_multiple_of(2))),
        PhysicalType::Float64 if n % 13 == 1 => Value::Float(-0.0),
        PhysicalType::Float64 if n % 13 == 2 => Value::Float(0.0),
        PhysicalType::Float64 => Value::Float(signed as f64 / 3.0),
        PhysicalType::Decimal128(scale) => Value::Decimal {
            unscaled: i256::from_i128(i128::from(signed) << if n % 89 == 3 { 60 } else { 20 }),
            scale,
        },
        PhysicalType::Decimal256(scale) => Value::Decimal {
            unscaled: i256::from_parts(u128::from(n) << 64, i128::from(signed)),
            scale,
        },
        PhysicalType::Bytes => Value::Bytes(text(kind, n)),
    }
}

fn text(kind: usize, n: u32) -> Vec<u8> {
    let short = TEXTS[n as usize % TEXTS.len()];
    let text = match n / 16 % 8 {
        0 | 1 => short.to_owned(),
        2 => format!("{short}{}", n / 128),
        3 => short.repeat(4),
        // Longer than some columns are declared.
        4 => short.repeat(12),
        5 => format!("{}{short}", "x".repeat(n as usize % 60)),
        6 => format!("{short}{}", "y".repeat(250)),
        _ if KINDS[kind].0.form == DeclaredForm::Blob => {
            // Longer than a page, or a block of the key cache.
            format!("{short}{}", "z".repeat(n as usize * 37 % 40_000))
        }
        _ => format!("{n}"),
    };
    text.into_bytes()
}

fn mode(kind: usize) -> KeyMode {
    match KINDS[kind].1 {
        None => KeyMode::Binary,
        Some(name) => KeyMode::Collated(CollationId::by_name(name).unwrap()),
    }
}

fn is_equal(kind: usize, a: &Value, b: &Value) -> bool {
    match (a, b, mode(kind)) {
        (Value::Bytes(a), Value::Bytes(b), KeyMode::Collated(collation)) => collation.equals(a, b),
        // 0.0 equals -0.0, and NULL equals NULL.
        _ => a == b,
    }
}

#[derive(Debug, Clone)]
struct Case {
    setting: Setting,
    key: Vec<usize>,
    rest: Vec<usize>,
    /// Rows as indexes of values, with a smaller range for key columns.
    batches: Vec<Vec<Vec<u32>>>,
    /// Whether new rows come with all of their columns.
    whole_rows: bool,
}

fn setting() -> impl Strategy<Value = Setting> {
    let engine = prop_oneof![Just(DiskEngine::MyIsam), Just(DiskEngine::InnoDb)];
    let memory = prop::sample::select(vec![0_u64, 1024, 20_000, 100_000, 16 << 20]);
    let key_buffer = prop::sample::select(vec![0_u64, 10_000, 60_000, 8 << 20]);
    let pool = prop::sample::select(vec![0_u64, 50_000, 300_000, 8 << 20]);
    let batch_rows = prop::sample::select(vec![1_usize, 7, 1000]);
    let hash = prop::sample::select(vec![
        HashFunction::Standard,
        HashFunction::Crowded,
        HashFunction::Colliding,
    ]);
    let big_tables = prop::bool::weighted(0.2);
    (
        engine, memory, key_buffer, pool, batch_rows, hash, big_tables,
    )
        .prop_map(
            |(engine, memory, key_buffer, pool, batch_rows, hash, big_tables)| {
                let mut setting = Setting::new(engine, memory);
                setting.options.big_tables = big_tables;
                setting.options.read_buffer_size = 8192;
                setting.key_buffer_size = key_buffer;
                setting.buffer_pool_size = pool;
                setting.batch_rows = batch_rows;
                setting.hash = hash;
                setting
            },
        )
}

fn case(key_columns: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let kinds = |count| prop::collection::vec(0..KINDS.len(), count);
    let distinct = prop::sample::select(vec![5_u32, 60, 4000]);
    (
        setting(),
        kinds(key_columns),
        kinds(0..4),
        distinct,
        any::<bool>(),
    )
        .prop_flat_map(|(setting, key, rest, distinct, whole_rows)| {
            let (key_count, rest_count) = (key.len(), rest.len());
            let row = (
                prop::collection::vec(0..distinct, key_count),
                prop::collection::vec(0..6000_u32, rest_count),
            );
            let row = row.prop_map(|(key, rest)| [key, rest].concat());
            let batches = prop::collection::vec(prop::collection::vec(row, 0..60), 0..8);
            batches.prop_map(move |batches| Case {
                setting: setting.clone(),
                key: key.clone(),
                rest: rest.clone(),
                batches,
                whole_rows,
            })
        })
}

impl Case {
    fn kinds(&self) -> Vec<usize> {
        [&self.key[..], &self.rest].concat()
    }

    fn types(&self) -> Vec<PhysicalType> {
        let kinds = self.kinds().into_iter();
        kinds.map(|kind| KINDS[kind].0.ty).collect()
    }

    fn rows(&self, batch: &[Vec<u32>]) -> Vec<Vec<Value>> {
        let kinds = self.kinds();
        let row = |row: &Vec<u32>| {
            let values = row.iter().zip(&kinds);
            values.map(|(n, kind)| value(*kind, *n)).collect()
        };
        batch.iter().map(row).collect()
    }

    fn table(&self, fixture: &Fixture) -> LegacyTable {
        let kinds = self.kinds();
        let columns: Vec<_> = kinds.iter().map(|kind| KINDS[*kind].0).collect();
        let key: Vec<_> = self.key.iter().map(|kind| mode(*kind)).collect();
        fixture.table(&columns, &key).unwrap()
    }

    fn is_same_key(&self, a: &[Value], b: &[Value]) -> bool {
        let mut parts = self.key.iter().zip(a.iter().zip(b));
        parts.all(|(kind, (a, b))| is_equal(*kind, a, b))
    }
}

/// Checks rows with a key: found, inserted, read and changed.
fn check_keyed(case: &Case) {
    let fixture = Fixture::new(&case.setting);
    let mut table = case.table(&fixture);
    let (types, first) = (case.types(), case.key.len());
    let mut model: Vec<Vec<Value>> = Vec::new();
    let (mut positions, mut is_new) = (Vec::new(), Vec::new());
    for numbers in &case.batches {
        let wanted = case.rows(numbers);
        let mut expected = Vec::new();
        for row in &wanted {
            let found = model.iter().position(|known| case.is_same_key(known, row));
            expected.push((found.unwrap_or(model.len()), found.is_none()));
            if found.is_none() {
                let mut row = row.clone();
                if !case.whole_rows {
                    row[first..].fill(Value::Null);
                }
                model.push(row);
            }
        }
        let given = if case.whole_rows { types.len() } else { first };
        let given: Vec<_> = wanted.iter().map(|row| row[..given].to_vec()).collect();
        let given = batch(&types[..given.first().map_or(first, Vec::len)], &given);
        table
            .find_or_insert(&given, &mut positions, &mut is_new)
            .unwrap();
        let expected_new: Vec<bool> = expected.iter().map(|(_, is_new)| *is_new).collect();
        assert_eq!(is_new, expected_new);
        // The position of each row of the model that was touched: one per row, which stays.
        let mut of_row: BTreeMap<usize, u64> = BTreeMap::new();
        for ((row, _), position) in expected.iter().zip(&positions) {
            assert_eq!(*of_row.entry(*row).or_insert(*position), *position);
        }
        let touched: Vec<usize> = of_row.keys().copied().collect();
        let distinct: Vec<u64> = of_row.values().copied().collect();
        let all: Vec<usize> = (0..types.len()).collect();
        let read = table.read(&distinct, &all).unwrap();
        for (row, found) in touched.iter().zip(rows(&types, &read)) {
            assert_eq!(found, model[*row]);
        }
        // Every touched row gets the values of the last row of the batch with its key.
        for ((row, _), values) in expected.iter().zip(&wanted) {
            model[*row].splice(first.., values[first..].to_vec());
        }
        let changed: Vec<_> = touched
            .iter()
            .map(|row| model[*row][first..].to_vec())
            .collect();
        let before = table.read(&distinct, &all[first..]).unwrap();
        let mut change = |old: mayfly_types::Batch| {
            assert_eq!(rows(&types[first..], &old), rows(&types[first..], &before));
            Ok(batch(&types[first..], &changed))
        };
        table.modify(&distinct, &mut change).unwrap();
        assert_eq!(table.row_count(), model.len() as u64);
    }
    assert_eq!(scanned(&table).unwrap(), model);
    check_end(case, fixture, table);
}

/// Checks appended rows.
fn check_appended(case: &Case) {
    let fixture = Fixture::new(&case.setting);
    let mut table = case.table(&fixture);
    let mut model = Vec::new();
    for numbers in &case.batches {
        let more = case.rows(numbers);
        table.append(&batch(&case.types(), &more)).unwrap();
        model.extend(more);
        assert_eq!(scanned(&table).unwrap(), model);
    }
    assert_eq!(scanned(&table).unwrap(), model);
    check_end(case, fixture, table);
}

fn check_end(case: &Case, fixture: Fixture, table: LegacyTable) {
    let record = table.record();
    assert_eq!(record.rows, table.row_count());
    let limit = case.setting.options.memory_limit().1;
    assert!(record.memory_peak <= limit);
    assert_eq!(record.disk_bytes > 0 && table.row_count() > 0, {
        table.engine().is_on_disk() && table.row_count() > 0
    });
    drop(table);
    fixture.assert_clean();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn keyed_tables_are_a_map(case in case(1..4)) {
        check_keyed(&case);
    }

    #[test]
    fn appended_tables_are_a_list(mut case in case(0..1)) {
        if case.rest.is_empty() {
            case.rest.push(0);
            for row in case.batches.iter_mut().flatten() {
                row.push(7);
            }
        }
        check_appended(&case);
    }
}
