//! What is not read of Parquet files: pages that the page index excludes, and row groups that Bloom filters exclude. What
//! must not be read is damaged in these files.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Int16Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use mayfly_engine::DateTime;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::support::{Files, parquet_bytes_with};

/// Damages the values of the first page of each column of a row group.
fn damage(bytes: &mut [u8], group: usize) {
    let copy = bytes::Bytes::copy_from_slice(bytes);
    let reader = SerializedFileReader::new(copy).expect("a Parquet file");
    for column in reader.metadata().row_group(group).columns() {
        let begin = usize::try_from(column.data_page_offset()).expect("a place");
        // Behind the header of the page.
        bytes[begin + 100..begin + 300].fill(0xFF);
    }
}

/// The date of a number of days after 1970-01-01.
fn day(number: i64) -> String {
    let begin = i128::from(DateTime::date(1970, 1, 1).to_micros());
    let date = DateTime::from_micros(begin + i128::from(number) * 86_400_000_000);
    let DateTime {
        year, month, day, ..
    } = date.expect("a date");
    format!("{year:04}-{month:02}-{day:02}")
}

fn count(files: &Files, condition: &str) -> String {
    let sql = format!("SELECT COUNT(*), MIN(t) FROM '@/t.parquet' WHERE {condition}");
    files.rows(&sql)[0].clone()
}

#[test]
fn pages_that_the_page_index_excludes_are_not_read() {
    let files = Files::new();
    let numbers = (0..20_000).map(|number| (number % 1000 != 7).then_some(number));
    let texts = (0..20_000).map(|number| format!("row {number}"));
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "n",
            Arc::new(Int64Array::from_iter(numbers)) as ArrayRef,
            true,
        ),
        ("t", Arc::new(StringArray::from_iter_values(texts)), true),
    ]);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(1000)
        .set_write_batch_size(100);
    let mut bytes = parquet_bytes_with(&[batch.expect("two columns")], properties);
    files.write("t.parquet", &bytes);
    for (condition, rows) in [
        ("n = 5000", "1|row 5000"),
        ("n = 5007", "0|NULL"),
        ("n IS NULL", "20|row 10007"),
        ("n BETWEEN 4998 AND 5001 OR n = 3", "5|row 3"),
        ("n BETWEEN 4998 AND 5001", "4|row 4998"),
        ("n IN (1999, 2000, 30000)", "2|row 1999"),
        ("n > 15000 AND n < 15003", "2|row 15001"),
        ("n >= 19999", "1|row 19999"),
        ("n < 0", "0|NULL"),
        ("n > 5 AND t = 'row 9'", "1|row 9"),
    ] {
        assert_eq!(count(&files, condition), rows, "{condition}");
    }
    damage(&mut bytes, 0);
    files.write("t.parquet", &bytes);
    assert_eq!(count(&files, "n = 5000"), "1|row 5000");
    assert_eq!(
        count(&files, "n BETWEEN 999 AND 1000 AND n <> 999 AND n > 999"),
        "1|row 1000"
    );
    let error = files.error("SELECT COUNT(*), MIN(t) FROM '@/t.parquet' WHERE n = 3");
    assert!(error.starts_with("1105 file '@/t.parquet': "), "{error}");
}

#[test]
fn row_groups_that_bloom_filters_exclude_are_not_read() {
    let decimals = |numbers: Range<i64>, parity: i64, precision: u8| -> ArrayRef {
        let numbers = numbers.map(|number| i128::from(2 * number + parity) * 25 - 1000);
        let array = Decimal128Array::from_iter_values(numbers);
        Arc::new(array.with_precision_and_scale(precision, 2).expect("fits"))
    };
    // The columns of a row group that has every other number; between them, the bounds of both row groups include all.
    let group = |parity: i64| {
        let rows = 0..1000_i64;
        let numbers = |add: i64| rows.clone().map(move |number| 2 * number + parity + add);
        let texts = numbers(0).map(|number| format!("row {number}"));
        let columns: [(&str, ArrayRef); 7] = [
            ("t", Arc::new(StringArray::from_iter_values(texts))),
            (
                "i16",
                Arc::new(Int16Array::from_iter_values(
                    numbers(-500).map(|it| it as i16),
                )),
            ),
            (
                "u32",
                Arc::new(UInt32Array::from_iter_values(
                    numbers(4_294_960_000).map(|it| it as u32),
                )),
            ),
            (
                "u64",
                Arc::new(UInt64Array::from_iter_values(
                    numbers(-9).map(|it| it as u64 ^ (1 << 63)),
                )),
            ),
            (
                "day",
                Arc::new(Date32Array::from_iter_values(
                    numbers(-100).map(|it| it as i32),
                )),
            ),
            ("d9", decimals(rows.clone(), parity, 9)),
            ("d38", decimals(rows.clone(), parity, 38)),
        ];
        RecordBatch::try_from_iter(columns).expect("columns of equal length")
    };
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_bloom_filter_enabled(true);
    let files = Files::new();
    let mut bytes = parquet_bytes_with(&[group(0), group(1)], properties);
    files.write("t.parquet", &bytes);
    let conditions = |row: i64| {
        let unsigned = (row - 9) as u64 ^ (1 << 63);
        let decimal = row * 25 - 1000;
        let sign = if decimal < 0 { "-" } else { "" };
        let (whole, part) = (decimal.abs() / 100, decimal.abs() % 100);
        [
            format!("i16 = {}", row - 500),
            format!("u32 = {}", row + 4_294_960_000),
            format!("u64 = {unsigned}"),
            format!("day = DATE'{}'", day(row - 100)),
            format!("d9 = {sign}{whole}.{part:02}"),
            format!("d38 IN ({sign}{whole}.{part:02}, 7.77)"),
        ]
    };
    for row in [0, 1, 39, 40, 41, 100, 499, 500, 1998, 1999] {
        for condition in conditions(row) {
            assert_eq!(
                count(&files, &condition),
                format!("1|row {row}"),
                "{condition}"
            );
        }
    }
    assert_eq!(count(&files, "d9 = 2.505"), "0|NULL");
    damage(&mut bytes, 0);
    files.write("t.parquet", &bytes);
    for condition in conditions(777) {
        assert_eq!(count(&files, &condition), "1|row 777", "{condition}");
    }
    for condition in conditions(20) {
        let sql = format!("SELECT COUNT(*), MIN(t) FROM '@/t.parquet' WHERE {condition}");
        let error = files.error(&sql);
        assert!(error.starts_with("1105 file '@/t.parquet': "), "{error}");
    }
}
