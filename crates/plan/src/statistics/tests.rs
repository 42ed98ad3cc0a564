//! Statistics of samples of values whose frequencies are known.

use std::ops::Bound;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, Int64Array};
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use super::{ColumnStatistics, Point, Sampler};

/// Deterministic pseudo-random numbers.
fn random(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn of_runs(ty: &SqlType, runs: &[ArrayRef], rows: u64) -> ColumnStatistics {
    let mut sampler = Sampler::new(ty, rows, 16_384);
    runs.iter().for_each(|run| sampler.add(run));
    sampler.finish().expect("rows")
}

/// Statistics of runs of 32 rows of a column of `rows` rows, whose values `value` gives.
fn sampled(rows: u64, value: impl Fn(u64) -> Option<i64>) -> ColumnStatistics {
    let (runs, length) = if rows > 512 * 32 {
        (512, 32)
    } else {
        (1, rows)
    };
    let run = |number: u64| -> ArrayRef {
        let room = rows / runs - length + 1;
        let first = number * rows / runs + random(number) % room;
        let values = first..first + length;
        Arc::new(values.map(&value).collect::<Int64Array>())
    };
    let runs: Vec<ArrayRef> = (0..runs).map(run).collect();
    of_runs(&SqlType::integer(TypeKind::Int), &runs, rows)
}

fn number(number: i64) -> Point {
    Point::Number(number as f64)
}

/// Factor between the estimate and the correct number.
fn error(found: f64, right: f64) -> f64 {
    (found / right).max(right / found)
}

#[test]
fn sizes_of_values_that_stand_side_by_side_are_known() {
    // One to seven rows of each value, four on the average.
    let mut values = Vec::new();
    for value in 0..100_000_u64 {
        let rows = 1 + random(value) % 7;
        values.extend((0..rows).map(|_| value as i64));
    }
    let known = sampled(values.len() as u64, |row| Some(values[row as usize]));
    assert!(
        known
            .sizes()
            .iter()
            .all(|(rows, _)| (1.0..=7.0).contains(rows))
    );
    let mean: f64 = known.sizes().iter().map(|(rows, part)| rows * part).sum();
    assert!(error(mean, 4.0) < 1.2, "{mean}");
    // Equal values that are adjacent by chance carry no information about frequencies.
    let shuffled = sampled(400_000, |row| Some((random(row) % 100_000) as i64));
    assert!(shuffled.sizes().is_empty());
}

/// Of values that stand side by side a sample of runs misses many.
#[test]
fn a_value_that_the_sample_does_not_have_is_an_average_one() {
    let known = sampled(90 * 800, |row| Some((row / 90) as i64));
    for value in 5..795 {
        let rows = known.equal(&number(value)) * 90.0 * 800.0;
        assert!(error(rows, 90.0) < 4.0, "{rows} rows of {value}");
    }
    assert!(known.equal(&number(2_000)) * 90.0 * 800.0 <= 1.0);
}

#[test]
fn the_number_of_different_values_is_known_about() {
    let shuffled = |different: u64| move |row: u64| Some((random(row) % different) as i64);
    let rows = 6_000_000;
    for different in [2, 50, 2500, 20_000, 100_000, 1_000_000] {
        let known = sampled(rows, shuffled(different)).distinct;
        assert!(error(known, different as f64) < 1.5, "{different}: {known}");
    }
    // In the order of the rows, several with one value.
    for each in [1_u64, 4, 30, 1000, 100_000] {
        let known = sampled(rows, |row| Some((row / each) as i64)).distinct;
        let right = (rows / each) as f64;
        assert!(error(known, right) < 2.0, "{each}: {known} and not {right}");
    }
}

#[test]
fn a_whole_table_is_known_exactly() {
    let known = sampled(1000, |row| (row % 10 != 0).then_some((row % 7) as i64));
    assert_eq!(known.distinct, 7.0);
    assert!((known.null_fraction - 0.1).abs() < 1e-9);
    let threes = (0..1000)
        .filter(|row| row % 10 != 0 && row % 7 == 3)
        .count() as f64;
    assert!((known.equal(&number(3)) - threes / 1000.0).abs() < 1e-9);
    let small = (0..1000).filter(|row| row % 10 != 0 && row % 7 < 3).count() as f64;
    let below = known.between(Bound::Unbounded, Bound::Excluded(&number(3)));
    assert!((below - small / 1000.0).abs() < 1e-9);
    assert_eq!(
        known.equal(&number(8)),
        0.001_f64.min(known.equal(&number(8)))
    );
}

#[test]
fn ranges_are_known_about() {
    // Skewed: half of the rows have one of ten values, the others any.
    let value = |row: u64| {
        let any = random(row);
        Some(match any % 2 {
            0 => (any / 2 % 10) as i64 * 1000,
            _ => (any / 2 % 100_000) as i64,
        })
    };
    let rows = 1_000_000;
    let known = sampled(rows, value);
    assert!(error(known.equal(&number(3000)), 0.05) < 1.2);
    assert!(error(known.equal(&number(3001)), 0.000_005) < 3.0);
    for (low, high) in [
        (0, 500),
        (500, 900),
        (2500, 9500),
        (20_000, 21_000),
        (50_000, 99_999),
    ] {
        let right = (0..rows).filter(|row| value(*row).is_some_and(|v| low <= v && v < high));
        let right = right.count() as f64 / rows as f64;
        let (low, high) = (number(low), number(high));
        let found = known.between(Bound::Included(&low), Bound::Excluded(&high));
        assert!(
            error(found, right) < 1.6,
            "{low:?}: {found} and not {right}"
        );
    }
}

#[test]
fn texts_are_in_the_order_of_their_collation() {
    let ty = SqlType::varchar(20, CollationId::UTF8MB4_0900_AI_CI);
    let texts = (0..10_000).map(|row| match row % 4 {
        0 => format!("Apple {row}"),
        1 => format!("banana {row}"),
        2 => "Cherry".to_owned(),
        _ => format!("date {}", row % 100),
    });
    let texts: Vec<String> = texts.collect();
    let array = BinaryViewArray::from_iter_values(texts.iter().map(String::as_bytes));
    let known = of_runs(&ty, &[Arc::new(array) as ArrayRef], 10_000);
    assert_eq!(known.distinct, 5000.0 + 1.0 + 25.0);
    let point = |text: &str| Point::of(&Value::from(text), &ty).expect("a point");
    assert!((known.equal(&point("CHERRY")) - 0.25).abs() < 1e-9);
    assert!(error(known.beginning_with(b"apple", &ty), 0.25) < 1.05);
    assert!(error(known.beginning_with(b"BANANA", &ty), 0.25) < 1.05);
    let below = known.between(Bound::Unbounded, Bound::Excluded(&point("c")));
    assert!(error(below, 0.5) < 1.05);
}

#[test]
fn pairs_of_equal_rows_are_counted_by_common_values() {
    // Nine of ten rows have one value.
    let skewed = |row: u64| {
        Some(if row.is_multiple_of(10) {
            (row / 10 % 100) as i64
        } else {
            7
        })
    };
    let (a, b) = (sampled(10_000, skewed), sampled(10_000, skewed));
    let counts = |value: i64| {
        (0..10_000)
            .filter(|row| skewed(*row) == Some(value))
            .count()
    };
    let right: f64 = (0..100)
        .map(|value| (counts(value) as f64 / 10_000.0).powi(2))
        .sum();
    assert!(error(a.equal_pairs(a.distinct, &b, b.distinct), right) < 1.01);
}
