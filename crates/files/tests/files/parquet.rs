//! Parquet files.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    DictionaryArray, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, NullArray, RecordBatch, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};

use crate::support::Files;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .expect("columns of equal length")
}

fn numbers(range: std::ops::Range<i64>) -> RecordBatch {
    let texts = range.clone().map(|number| format!("row {number}"));
    batch(vec![
        ("n", Arc::new(Int64Array::from_iter_values(range.clone()))),
        ("t", Arc::new(StringArray::from_iter_values(texts))),
        (
            "h",
            Arc::new(Float64Array::from_iter_values(
                range.map(|it| it as f64 / 2.0),
            )),
        ),
    ])
}

#[test]
fn values_of_each_type() {
    let files = Files::new();
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None]);
    list.append_null();
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("b");
    map.values().append_value(1);
    map.keys().append_value("a");
    map.values().append_null();
    map.append(true).expect("fits");
    map.append(true).expect("fits");
    let structs = StructArray::from(vec![
        (
            Arc::new(Field::new("name", DataType::Utf8, true)),
            Arc::new(StringArray::from(vec![Some("\"x\""), None])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("day", DataType::Date32, true)),
            Arc::new(Date32Array::from(vec![Some(0), Some(-1)])),
        ),
    ]);
    let wide = Decimal256Array::from(vec![
        i256::from_string("1234567890123456789012345678901234567890"),
        None,
    ]);
    let uuid = FixedSizeBinaryArray::try_from_iter(vec![[0xAB; 16], [0; 16]].into_iter())
        .expect("16 bytes");
    let columns: Vec<(&str, ArrayRef, &str)> = vec![
        (
            "b",
            Arc::new(BooleanArray::from(vec![Some(true), None])),
            "1 NULL",
        ),
        ("i8", Arc::new(Int8Array::from(vec![-128, 127])), "-128 127"),
        (
            "u64",
            Arc::new(UInt64Array::from(vec![u64::MAX, 0])),
            "18446744073709551615 0",
        ),
        (
            "f",
            Arc::new(Float32Array::from(vec![1.5, -0.25])),
            "1.5 -0.25",
        ),
        (
            "d",
            Arc::new(
                Decimal128Array::from(vec![12345, -5])
                    .with_precision_and_scale(38, 3)
                    .expect("fits"),
            ),
            "12.345 -0.005",
        ),
        (
            "w",
            Arc::new(wide.with_precision_and_scale(40, 2).expect("fits")),
            "12345678901234567890123456789012345678.90 NULL",
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![19_782, -25_567])),
            "2024-02-29 1900-01-01",
        ),
        (
            "at",
            Arc::new(TimestampMicrosecondArray::from(vec![1, -1]).with_timezone("UTC")),
            "1970-01-01_00:00:00.000001 1969-12-31_23:59:59.999999",
        ),
        (
            "ns",
            Arc::new(TimestampNanosecondArray::from(vec![1_000, 0])),
            "1970-01-01_00:00:00.000001 1970-01-01_00:00:00.000000",
        ),
        (
            "time",
            Arc::new(Time64MicrosecondArray::from(vec![86_400_000_000, 1])),
            "24:00:00.000000 00:00:00.000001",
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from(vec![&b"\x41"[..], b""])),
            "A ",
        ),
        (
            "dict",
            Arc::new(DictionaryArray::<arrow_array::types::Int32Type>::from_iter(
                [Some("x"), None],
            )),
            "x NULL",
        ),
        ("list", Arc::new(list.finish()), "[1,_null] NULL"),
        ("map", Arc::new(map.finish()), "{\"a\":_null,_\"b\":_1} {}"),
        (
            "struct",
            Arc::new(structs),
            "{\"day\":_\"1970-01-01\",_\"name\":_\"\\\"x\\\"\"} {\"day\":_\"1969-12-31\",_\"name\":_null}",
        ),
        ("none", Arc::new(NullArray::new(2)), "NULL NULL"),
        ("raw", Arc::new(uuid), ""),
    ];
    let arrays = columns
        .iter()
        .map(|(name, array, _)| (*name, Arc::clone(array)));
    files.write_parquet("t.parquet", &[batch(arrays.collect())]);
    for (name, _, expected) in &columns {
        if *name == "raw" {
            let rows = files.rows("SELECT HEX(raw) FROM '@/t.parquet'");
            assert_eq!(rows, ["AB".repeat(16), "00".repeat(16)]);
            continue;
        }
        let rows = files.rows(&format!("SELECT `{name}` FROM '@/t.parquet'"));
        let rows: Vec<String> = rows.iter().map(|row| row.replace(' ', "_")).collect();
        assert_eq!(rows.join(" "), *expected, "{name}");
    }
    assert_eq!(
        files.rows(
            "SELECT JSON_EXTRACT(struct, '$.name'), COUNT(*) OVER () FROM '@/t.parquet' WHERE d > 0"
        ),
        ["\"\\\"x\\\"\"|1"]
    );
}

/// A table of several row groups has the rows that a table with these rows has, whatever is left out.
#[test]
fn row_groups_are_left_out_only_where_no_row_can_meet_the_terms() {
    let files = Files::new();
    let groups: Vec<RecordBatch> = (0..20)
        .map(|at| numbers(at * 1000..(at + 1) * 1000))
        .collect();
    files.write_parquet("t.parquet", &groups);
    let mut session = files.database.session();
    let run = |session: &mut _, sql: &str| files.run(session, sql).expect("runs");
    run(
        &mut session,
        "CREATE TABLE s AS SELECT * FROM '@/t.parquet'",
    );
    for condition in [
        "n = 4321",
        "n < 1000",
        "n <= 1000",
        "n > 18999",
        "n >= 19000",
        "n IN (5, 5000, 50000)",
        "n IS NULL",
        "n IS NOT NULL AND h > 9000.5",
        "t = 'ROW 77'",
        "n BETWEEN 999 AND 1001 AND t LIKE 'row%'",
        "n = '12'",
        "n < 0",
    ] {
        let of = |table: &str| {
            format!("SELECT COUNT(*), SUM(n), MIN(t), MAX(h) FROM {table} WHERE {condition}")
        };
        let expected = run(&mut session, &of("s"));
        assert_eq!(
            run(&mut session, &of("'@/t.parquet'")),
            expected,
            "{condition}"
        );
    }
    assert_eq!(
        run(&mut session, "SELECT n FROM '@/t.parquet' LIMIT 2"),
        ["0", "1"]
    );
    assert_eq!(
        run(&mut session, "SELECT COUNT(*) FROM '@/t.parquet'"),
        ["20000"]
    );
    let plan = run(
        &mut session,
        "EXPLAIN FORMAT=TREE SELECT t FROM '@/t.parquet' WHERE n = 3",
    );
    assert!(plan[0].contains("Table scan on t"), "{plan:?}");
    // A damaged row group that is not needed is not read.
    let mut bytes = std::fs::read(files.path("t.parquet")).expect("reads");
    bytes[4..200].fill(0xFF);
    files.write("bad.parquet", &bytes);
    assert_eq!(
        run(&mut session, "SELECT t FROM '@/bad.parquet' WHERE n = 5000"),
        ["row 5000"]
    );
    let error = files.error("SELECT SUM(n) FROM '@/bad.parquet'");
    assert!(error.starts_with("1105 file '@/bad.parquet': "), "{error}");
}

/// Columns of one name are all there, under names of their own.
#[test]
fn columns_of_equal_names() {
    let files = Files::new();
    let number = |number| Arc::new(Int32Array::from(vec![number])) as ArrayRef;
    let columns = vec![("a", number(1)), ("A", number(2)), ("b", number(3))];
    files.write_parquet("t.parquet", &[batch(columns)]);
    assert_eq!(files.rows("SELECT a, A_2, b FROM '@/t.parquet'"), ["1|2|3"]);
}

/// SQL has neither NaN nor infinities. The column is not nullable in the file, and its statistics know no NULL.
#[test]
fn numbers_that_sql_lacks_are_null_with_a_warning() {
    let files = Files::new();
    let values = vec![1.0, f64::NAN, f64::NEG_INFINITY, 3.0];
    let column: ArrayRef = Arc::new(Float64Array::from(values));
    let required = RecordBatch::try_from_iter_with_nullable([("f", column, false)]);
    files.write_parquet("t.parquet", &[required.expect("one column")]);
    let count = |condition: &str| {
        let rows = files.rows(&format!(
            "SELECT COUNT(*) FROM '@/t.parquet' WHERE {condition}"
        ));
        rows[0].clone()
    };
    assert_eq!(count("f IS NULL"), "2");
    assert_eq!(count("f IS NOT NULL"), "2");
    assert_eq!(count("NOT f <= 2"), "1");
    let mut session = files.database.session();
    let rows = files.run(&mut session, "SELECT f FROM '@/t.parquet'");
    assert_eq!(rows.expect("rows"), ["1", "NULL", "NULL", "3"]);
    let warnings = files.run(&mut session, "SHOW WARNINGS").expect("rows");
    assert_eq!(
        warnings,
        ["Warning|1264|Out of range value for column 'f' at row 2"]
    );
    let sum = files.rows("SELECT SUM(f), MIN(f), MAX(f) FROM '@/t.parquet'");
    assert_eq!(sum, ["4|1|3"]);
}

/// Digits below the microsecond are cut, with one note for a column of a file.
#[test]
fn nanoseconds_are_cut_with_a_note() {
    let files = Files::new();
    let at = |nanos: Vec<i64>| -> RecordBatch {
        let whole = vec![2_000; nanos.len()];
        batch(vec![
            ("cut", Arc::new(TimestampNanosecondArray::from(nanos))),
            ("whole", Arc::new(TimestampNanosecondArray::from(whole))),
        ])
    };
    let batches = [at(vec![1_000, 1_999]), at(vec![-1])];
    files.write_parquet("f.parquet", &batches);
    files.write("f.arrow", crate::arrow::file_bytes(&batches));
    for name in ["f.parquet", "f.arrow"] {
        let mut session = files.database.session();
        let mut run = |sql: &str| files.run(&mut session, sql).expect(sql);
        assert_eq!(
            run(&format!(
                "SELECT cut, whole FROM '@/{name}' ORDER BY cut DESC"
            )),
            [
                "1970-01-01 00:00:00.000001|1970-01-01 00:00:00.000002",
                "1970-01-01 00:00:00.000001|1970-01-01 00:00:00.000002",
                "1969-12-31 23:59:59.999999|1970-01-01 00:00:00.000002"
            ],
            "{name}"
        );
        let notes = run("SHOW WARNINGS");
        assert_eq!(notes.len(), 1, "{notes:?}");
        let begin = "Note|1265|Data truncated for column 'cut' at row ";
        assert!(notes[0].starts_with(begin), "{notes:?}");
    }
}

#[test]
fn values_beyond_mysqls_ranges_are_errors() {
    let files = Files::new();
    files.write_parquet(
        "t.parquet",
        &[batch(vec![
            ("n", Arc::new(Int32Array::from(vec![1, 2]))),
            ("day", Arc::new(Date32Array::from(vec![0, i32::MAX]))),
        ])],
    );
    assert_eq!(
        files.error("SELECT day FROM '@/t.parquet'"),
        "1264 Out of range value for column 'day' at row 2"
    );
    assert_eq!(files.rows("SELECT n FROM '@/t.parquet'"), ["1", "2"]);
}

#[test]
fn columns_of_several_files() {
    let files = Files::new();
    files.write_parquet("y=1/a.parquet", &[numbers(0..2)]);
    let other = batch(vec![
        ("t", Arc::new(StringArray::from(vec!["x"]))),
        ("n", Arc::new(Int32Array::from(vec![7]))),
        ("h", Arc::new(NullArray::new(1))),
        ("extra", Arc::new(Int32Array::from(vec![9]))),
    ]);
    files.write_parquet("y=2/b.parquet", &[other]);
    assert_eq!(
        files.rows("SELECT * FROM read_parquet('@/y=1', '@/y=2', union_by_name => true) WHERE y = 2 OR n = 1 ORDER BY n"),
        ["1|row 1|0.5|NULL|1", "7|x|NULL|9|2"]
    );
    assert_eq!(
        files.error("SELECT * FROM read_parquet('@/*/*')"),
        "1105 file '@/y=2/b.parquet': it has a column 'extra' that '@/y=1/a.parquet' has not; union_by_name => true unites the columns"
    );
    files.write("c.parquet", "no Parquet at all");
    let error = files.error("SELECT * FROM '@/c.parquet'");
    assert!(error.starts_with("1105 file '@/c.parquet': "), "{error}");
}
