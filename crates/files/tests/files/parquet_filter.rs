//! Terms that are evaluated while a Parquet file is read: the rows are those of the file's table, and what no row needs is not decoded.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use parquet::file::properties::WriterProperties;

use crate::support::{Files, parquet_bytes_with};

/// Numbers that look drawn, in a range.
fn drawn(seed: u64, count: usize, below: u64) -> impl Iterator<Item = u64> {
    (0..count as u64)
        .map(move |row| {
            let mixed = (row ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
        })
        .map(move |number| number % below)
}

/// Row groups with each type of terms, NULLs, extremes, and texts that a collation compares in more than one way.
fn batches() -> Vec<RecordBatch> {
    const ROWS: usize = 3000;
    let texts = [
        "Ulm", "ulm", "ÜLM", "Bern", "Bern ", "", "Straße", "strasse", "Bern\0",
    ];
    let group = |seed: u64| {
        let some = |row: usize| row % 11 != 3;
        let ints = drawn(seed, ROWS, 400)
            .enumerate()
            .map(|(row, it)| match it {
                0 => Some(i64::MIN),
                1 => Some(i64::MAX),
                it => some(row).then_some(it.cast_signed() - 200),
            });
        let uints = drawn(seed + 1, ROWS, 50).map(|it| if it == 0 { u64::MAX } else { it });
        let decimals = |seed, digits: u8| {
            let numbers = drawn(seed, ROWS, 1000).map(|it| i128::from(it) - 500);
            let array = Decimal128Array::from_iter_values(numbers);
            array.with_precision_and_scale(digits, 2).expect("a type")
        };
        let days = drawn(seed + 4, ROWS, 3000).enumerate();
        let days = days.map(|(row, it)| some(row).then_some(i32::try_from(it).expect("few") - 100));
        let moments = drawn(seed + 5, ROWS, 1 << 40).map(u64::cast_signed);
        let names = drawn(seed + 6, ROWS, 30).enumerate().map(|(row, it)| {
            let name = texts
                .get(it as usize)
                .map_or_else(|| format!("town {it}"), |it| (*it).to_owned());
            some(row).then_some(name)
        });
        let columns: [(&str, ArrayRef); 8] = [
            ("i", Arc::new(Int64Array::from_iter(ints))),
            ("u", Arc::new(UInt64Array::from_iter_values(uints))),
            ("d", Arc::new(decimals(seed + 2, 12))),
            ("w", Arc::new(decimals(seed + 3, 30))),
            ("day", Arc::new(Date32Array::from_iter(days))),
            (
                "at",
                Arc::new(TimestampMicrosecondArray::from_iter_values(moments)),
            ),
            ("name", Arc::new(StringArray::from_iter(names))),
            (
                "x",
                Arc::new(Float64Array::from_iter_values(
                    (0..ROWS).map(|row| row as f64),
                )),
            ),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
            .expect("columns")
    };
    (0..4).map(|at| group(at * 100)).collect()
}

#[test]
fn the_rows_of_terms_are_those_of_a_table() {
    let files = Files::new();
    let properties = || WriterProperties::builder().set_max_row_group_row_count(Some(3000));
    let batches = batches();
    files.write("t.parquet", parquet_bytes_with(&batches, properties()));
    let plain = properties()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(500);
    files.write("p.parquet", parquet_bytes_with(&batches, plain));
    files.rows("CREATE TABLE t AS SELECT * FROM '@/t.parquet'");
    let mut found = 0;
    for condition in [
        "i = 7",
        "i < -195",
        "i <= -9223372036854775808",
        "i > 9223372036854775806",
        "i > 9223372036854775807",
        "i < -9223372036854775808",
        "i IN (1, 5, 300, -9223372036854775808)",
        "i BETWEEN 3 AND 4 AND u = 7",
        "u > 18446744073709551614",
        "u < 1",
        "u >= 0 AND i = 3",
        "u IN (3, 18446744073709551615) AND i > 100",
        "d = 1.25",
        "d > 4.9 AND w < -4.8",
        "d IN (1.25, -5.00, 9.99)",
        "w BETWEEN -0.03 AND 0.02",
        "w = 4.99",
        "day = '1970-03-01'",
        "day >= '1978-02-20'",
        "day < '1969-09-25' AND i <> 3",
        "day IN ('1970-01-01', '1971-12-24')",
        "at >= '1970-01-13 17:00:00'",
        "at < '1970-01-01 01:00:00' AND name > 'a'",
        "name = 'ulm'",
        "name = 'ULM' AND i > 0",
        "name = 'bern'",
        "name = ''",
        "name = 'strasse'",
        "name IN ('Bern', 'town 12') AND day > '1975-01-01'",
        "name = 'none of them'",
        "name IS NULL AND i = 7",
        "x = 17 AND i IS NOT NULL",
        "i = 7 OR name = 'ulm'",
    ] {
        for columns in [
            "COUNT(*), SUM(i), SUM(d), SUM(w), MIN(day), MAX(at), MAX(name), SUM(x)",
            "COUNT(*)",
        ] {
            let rows = |table: &str| {
                files.rows(&format!("SELECT {columns} FROM {table} WHERE {condition}"))
            };
            let expected = rows("t");
            assert_eq!(rows("'@/t.parquet'"), expected, "{condition}");
            assert_eq!(
                rows("'@/p.parquet'"),
                expected,
                "{condition}, without dictionaries"
            );
            found += usize::from(!expected[0].starts_with("0|"));
        }
    }
    assert!(found > 50, "{found}");
}
