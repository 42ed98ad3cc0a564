//! Tests of the key encoding: its order is that of the values.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{
    BinaryViewArray, Decimal128Array, Decimal256Array, Float64Array, Int64Array, UInt64Array,
};
use arrow_buffer::i256;
use proptest::prelude::*;

use super::*;

fn encoder(ty: PhysicalType, mode: KeyMode, descending: bool) -> KeyEncoder {
    let part = IndexPart {
        descending,
        ..IndexPart::new(0, mode)
    };
    KeyEncoder::new(&[ty], &[part])
}

fn key(encoder: &KeyEncoder, values: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    encoder.append_values(values, &mut key).unwrap();
    key
}

fn decimal(unscaled: i256, scale: u8) -> Value {
    Value::Decimal { unscaled, scale }
}

/// Checks two values of a type in both directions, and that arrays give equal bytes.
fn check(
    ty: PhysicalType,
    mode: KeyMode,
    a: (Value, ArrayRef),
    b: (Value, ArrayRef),
    order: Ordering,
) {
    for descending in [false, true] {
        let encoder = encoder(ty, mode, descending);
        let keys = [&a, &b].map(|(value, array)| {
            let key = key(&encoder, std::slice::from_ref(value));
            let mut of_row = Vec::new();
            encoder
                .rows(std::slice::from_ref(array))
                .append(0, &mut of_row);
            assert_eq!(key, of_row);
            key
        });
        let order = if descending { order.reverse() } else { order };
        assert_eq!(keys[0].cmp(&keys[1]), order, "{a:?} {b:?} {descending}");
        let null = key(&encoder, &[Value::Null]);
        let of_null = if descending {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        assert_eq!(null.cmp(&keys[0]), of_null);
        if order != Ordering::Equal {
            assert!(!keys[0].starts_with(&keys[1]) && !keys[1].starts_with(&keys[0]));
        }
    }
}

fn bytes(value: &[u8]) -> (Value, ArrayRef) {
    let array = BinaryViewArray::from_iter_values([value]);
    (Value::Bytes(value.to_vec()), Arc::new(array))
}

fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => Just('a'), 2 => Just('A'), 2 => Just('b'), 2 => Just(' '), 1 => Just('é'),
        1 => Just('\0'), 1 => Just('\u{1}'), 1 => Just('\u{2}'), 1 => Just('ß'),
        1 => Just('\u{301}'), 1 => Just('😀'), 1 => any::<char>()
    ];
    proptest::collection::vec(character, 0..7).prop_map(|text| text.into_iter().collect())
}

proptest! {
    #[test]
    fn numbers_are_ordered(a: i64, b: i64, x: u64, y: u64, f: f64, g: f64, p: i128, q: i128) {
        use PhysicalType as T;
        let int = |v: i64| (Value::Int(v), Arc::new(Int64Array::from(vec![v])) as ArrayRef);
        check(T::Int64, KeyMode::Binary, int(a), int(b), a.cmp(&b));
        let uint = |v: u64| (Value::UInt(v), Arc::new(UInt64Array::from(vec![v])) as ArrayRef);
        check(T::UInt64, KeyMode::Binary, uint(x), uint(y), x.cmp(&y));
        if let Some(order) = f.partial_cmp(&g) {
            let float = |v: f64| (Value::Float(v), Arc::new(Float64Array::from(vec![v])) as ArrayRef);
            check(T::Float64, KeyMode::Binary, float(f), float(g), order);
        }
        let (p, q) = (p / 1000, q / 1000);
        let small = |v: i128| {
            let array = Decimal128Array::from(vec![v]);
            (decimal(i256::from_i128(v), 2), Arc::new(array) as ArrayRef)
        };
        check(T::Decimal128(2), KeyMode::Binary, small(p), small(q), p.cmp(&q));
        let wide = |v: i128, w: i64| {
            let v = i256::from_i128(v).wrapping_mul(i256::from(w));
            (decimal(v, 2), Arc::new(Decimal256Array::from(vec![v])) as ArrayRef)
        };
        let order = i256::from_i128(p).wrapping_mul(i256::from(a))
            .cmp(&i256::from_i128(q).wrapping_mul(i256::from(b)));
        check(T::Decimal256(2), KeyMode::Binary, wide(p, a), wide(q, b), order);
    }

    #[test]
    fn strings_are_ordered(a in text(), b in text(), collation in 0..12_usize) {
        let names = [
            "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_as_ci", "utf8mb4_bin",
            "utf8mb4_0900_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "latin1_swedish_ci",
            "utf8mb3_general_ci", "ascii_general_ci", "latin1_bin", "binary",
        ];
        let collation = CollationId::by_name(names[collation]).unwrap();
        let order = collation.compare(a.as_bytes(), b.as_bytes());
        let mode = KeyMode::Collated(collation);
        check(PhysicalType::Bytes, mode, bytes(a.as_bytes()), bytes(b.as_bytes()), order);
        let order = a.as_bytes().cmp(b.as_bytes());
        check(PhysicalType::Bytes, KeyMode::Binary, bytes(a.as_bytes()), bytes(b.as_bytes()), order);
    }

    #[test]
    fn parts_compare_one_after_the_other(
        a in (text(), -2..3_i64), b in (text(), -2..3_i64), down: bool, other_down: bool,
    ) {
        let part = |column, descending| {
            IndexPart { descending, ..IndexPart::new(column, KeyMode::Binary) }
        };
        let columns = [PhysicalType::Bytes, PhysicalType::Int64];
        let encoder = KeyEncoder::new(&columns, &[part(0, down), part(1, other_down)]);
        let of = |(text, number): &(String, i64)| {
            key(&encoder, &[Value::Bytes(text.as_bytes().to_vec()), Value::Int(*number)])
        };
        let turn = |order: Ordering, down| if down { order.reverse() } else { order };
        let order = turn(a.0.as_bytes().cmp(b.0.as_bytes()), down)
            .then(turn(a.1.cmp(&b.1), other_down));
        prop_assert_eq!(of(&a).cmp(&of(&b)), order);
        let mut longer = of(&a);
        let length = longer.len();
        longer.extend_from_slice(&[0, 7]);
        prop_assert_eq!(encoder.key_length(&longer), length);
        // Exactly the keys that begin with the string lie in its range.
        let text = Value::Bytes(b.0.as_bytes().to_vec());
        let range = encoder.range(&KeyRange::equal(vec![text.clone()])).unwrap();
        prop_assert_eq!(range.contains(&of(&a)), a.0 == b.0);
        let after = KeyRange { start: KeyBound::Excluded(vec![text.clone()]), end: KeyBound::Unbounded };
        let before = KeyRange { start: KeyBound::Unbounded, end: KeyBound::Excluded(vec![text]) };
        let order = turn(a.0.as_bytes().cmp(b.0.as_bytes()), down);
        prop_assert_eq!(encoder.range(&after).unwrap().contains(&of(&a)), order.is_gt());
        prop_assert_eq!(encoder.range(&before).unwrap().contains(&of(&a)), order.is_lt());
    }
}

#[test]
fn the_two_zeros_are_one_and_numbers_are_brought_to_the_column() {
    let float = encoder(PhysicalType::Float64, KeyMode::Binary, false);
    assert_eq!(
        key(&float, &[Value::Float(-0.0)]),
        key(&float, &[Value::Float(0.0)])
    );
    let two = encoder(PhysicalType::Decimal128(2), KeyMode::Binary, false);
    let five = key(&two, &[decimal(i256::from(500), 2)]);
    assert_eq!(key(&two, &[Value::Int(5)]), five);
    assert_eq!(key(&two, &[decimal(i256::from(5000), 3)]), five);
    let finer = decimal(i256::from(5001), 3);
    assert!(two.append_values(&[finer], &mut Vec::new()).is_err());
    let unsigned = encoder(PhysicalType::UInt64, KeyMode::Binary, false);
    assert!(
        unsigned
            .append_values(&[Value::Int(-1)], &mut Vec::new())
            .is_err()
    );
}

#[test]
fn bounds_of_beginnings_are_sort_keys() {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let mut encoder = encoder(PhysicalType::Bytes, KeyMode::Collated(collation), false);
    encoder.parts[0].prefix = Some(2);
    let of_row = |text: &str| {
        let mut key = Vec::new();
        encoder
            .rows(&[bytes(text.as_bytes()).1])
            .append(0, &mut key);
        key
    };
    let first = collation.first_level_key("aß".as_bytes()).unwrap();
    let equal = KeyRange::equal(vec![Value::Bytes(first)]);
    let range = encoder.range(&equal).unwrap();
    assert!(range.contains(&of_row("aß and")) && !range.contains(&of_row("as")));
}

#[test]
fn a_prefix_counts_characters_and_its_bounds_are_included() {
    let part = IndexPart {
        prefix: Some(2),
        ..IndexPart::new(0, KeyMode::Collated(CollationId::UTF8MB4_GENERAL_CI))
    };
    let encoder = KeyEncoder::new(&[PhysicalType::Bytes], &[part]);
    assert_eq!(
        key(&encoder, &["ééx".into()]),
        key(&encoder, &["EE".into()])
    );
    assert_ne!(
        key(&encoder, &["éxé".into()]),
        key(&encoder, &["EE".into()])
    );
    let after = KeyRange {
        start: KeyBound::Excluded(vec!["abc".into()]),
        end: KeyBound::Unbounded,
    };
    let range = encoder.range(&after).unwrap();
    assert!(range.contains(&key(&encoder, &["abd".into()])));
    assert!(!range.contains(&key(&encoder, &["aac".into()])));
    // NULL has no longer values behind it.
    let values = KeyRange {
        start: KeyBound::Excluded(vec![Value::Null]),
        end: KeyBound::Unbounded,
    };
    let range = encoder.range(&values).unwrap();
    assert!(range.contains(&key(&encoder, &["".into()])));
    assert!(!range.contains(&key(&encoder, &[Value::Null])));
}

#[test]
fn ranges_that_meet_are_one() {
    let range = |start: u8, end: Option<u8>| ByteRange {
        start: vec![start],
        end: end.map(|end| vec![end]),
    };
    let given = vec![
        range(1, Some(3)),
        range(2, Some(5)),
        range(4, Some(5)),
        range(7, Some(8)),
        range(8, None),
        range(9, Some(9)),
    ];
    let expected = vec![range(1, Some(5)), range(7, None)];
    assert_eq!(ByteRange::joined(given), expected);
}

#[test]
fn nothing_comes_after_the_largest_prefix() {
    assert_eq!(after_prefix(&[255, 255]), None);
    assert_eq!(after_prefix(&[3, 255]), Some(vec![4]));
    assert_eq!(after_prefix(&[]), None);
}

#[test]
fn a_row_has_a_key_for_each_distinct_element() {
    let array = IndexPart {
        elements: Some(PhysicalType::Int64),
        ..IndexPart::new(1, KeyMode::Binary)
    };
    let parts = [IndexPart::new(0, KeyMode::Binary), array];
    let encoder = KeyEncoder::new(&[PhysicalType::Int64, PhysicalType::Bytes], &parts);
    assert!(encoder.is_multi_valued());
    let mut elements = Vec::new();
    for element in [7, -1, 7] {
        typed_array::append(&mut elements, &Value::Int(element));
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5, 6, 8]));
    let rows = [Some(elements.as_slice()), Some(&[]), None];
    let arrays: ArrayRef = Arc::new(BinaryViewArray::from_iter(rows));
    let columns = [numbers, arrays];
    let keys_of = |row: usize| {
        let (mut keys, mut buffer) = (Vec::new(), Vec::new());
        let rows = encoder.rows(&columns);
        let each = rows.each_entry(row, &mut buffer, |key| {
            assert_eq!(encoder.key_length(key), key.len());
            keys.push(key.clone());
            Ok::<_, ()>(())
        });
        each.unwrap();
        (keys, rows.has_null(row))
    };
    let of = |values: [Value; 2]| key(&encoder, &values);
    let (seven, minus) = (Value::Int(7), Value::Int(-1));
    let expected = vec![of([Value::Int(5), minus]), of([Value::Int(5), seven])];
    assert_eq!(keys_of(0), (expected, false));
    assert_eq!(keys_of(1), (Vec::new(), false));
    assert_eq!(keys_of(2), (vec![of([Value::Int(8), Value::Null])], true));
}
