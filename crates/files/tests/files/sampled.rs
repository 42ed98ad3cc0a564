//! Types that the first blocks of a CSV file show: whatever later rows hold, a statement gives what the types of all rows give.

use std::fmt::Write;

use crate::support::Files;

/// More bytes than types are sampled from.
const BEYOND_SAMPLE: usize = 5 << 20;

/// A file whose first rows hold the first value, and whose last one the second.
fn file(files: &Files, first: &str, last: &str) {
    let mut text = String::from("id,v,note\n");
    let mut id = 0;
    while text.len() < BEYOND_SAMPLE {
        let _ = writeln!(
            text,
            "{id},{first},\"some text, the same in all of the rows\""
        );
        id += 1;
    }
    let _ = writeln!(text, "{id},{last},\"the last row\"");
    files.write("f.csv", &text);
}

/// Every statement sees the last value, in the type of all values. Where rows may be left out, all rows are read for the types.
#[test]
fn a_late_value_of_another_kind_decides_the_type() {
    let files = Files::new();
    for (first, last) in [
        ("7", "8"),
        ("7", "-0"),
        ("7", "007"),
        ("7", "2.5"),
        ("7", "9223372036854775808"),
        ("7", "x"),
        ("7", ""),
        ("", "7"),
        ("", "2024-01-02"),
        ("true", "maybe"),
        ("1.25", "1.5e300"),
        ("1.25", "123456789012345678.5"),
        ("1.25", "1.12345678901234567"),
        ("2024-02-28", "2024-02-29"),
        ("2024-02-28", "2024-02-30"),
        ("2024-02-28", "2024-02-28 10:00:00"),
        ("2024-02-28 10:00:00", "2024-02-28 10:00:00.125"),
        ("13/02/2024", "02/13/2024"),
        ("01/02/2024", "13/02/2024"),
        ("10:00", "10:00:00.5"),
        (
            "short",
            "a text that is so long that a longer type is needed for it",
        ),
    ] {
        file(&files, first, last);
        let of = |call: &str| {
            let ask = |sql: &str| files.rows(&sql.replace("FILE", call));
            [
                ask(
                    "SELECT MIN(v), MAX(v), COUNT(v), SUM(v = MAX_V) FROM (SELECT v, MAX(v) OVER () MAX_V FROM FILE) d",
                ),
                ask("SELECT v, COUNT(*) FROM FILE GROUP BY v ORDER BY v LIMIT 3"),
                ask("SELECT * FROM FILE WHERE note = 'the last row'"),
                ask("SELECT v FROM FILE WHERE id < 2"),
                ask(
                    "SELECT a.v FROM FILE a JOIN FILE b USING (id) WHERE b.note LIKE 'the l%' OR a.id = 1 ORDER BY a.id",
                ),
                ask("SELECT DISTINCT v FROM FILE ORDER BY 1"),
                {
                    files.rows(&format!(
                        "DROP TABLE IF EXISTS t; CREATE TABLE t SELECT v FROM {call}"
                    ));
                    files.rows("DESCRIBE t")
                },
                files.rows("SELECT v, COUNT(*) FROM t GROUP BY v ORDER BY v"),
            ]
        };
        let sampled = of("read_csv('@/f.csv')");
        let exact = of("read_csv('@/f.csv', ignore_errors => true)");
        assert_eq!(sampled, exact, "{first:?}, at last {last:?}");
    }
}

/// A written file has the values in the types of all rows, and is the only one.
#[test]
fn a_file_is_written_again_with_the_types_of_all_rows() {
    let files = Files::new();
    file(&files, "1", "1.5");
    files.rows("COPY (SELECT v FROM '@/f.csv' ORDER BY id DESC LIMIT 3) TO '@/out.parquet'");
    files.rows("COPY (SELECT v FROM '@/f.csv') TO '@/all.csv'");
    assert_eq!(
        files.rows("SELECT v FROM '@/out.parquet'"),
        ["1.5", "1.0", "1.0"]
    );
    assert_eq!(
        files.rows("SELECT MAX(v), COUNT(*) > 1000 FROM '@/all.csv'"),
        ["1.5|1"]
    );
    assert_eq!(files.names(""), ["all.csv", "f.csv", "out.parquet"]);
}

/// What sets variables or calls nothing twice is right as well, and a row that nobody reads harms nobody.
#[test]
fn rows_are_read_as_far_as_they_are_wanted() {
    let files = Files::new();
    file(&files, "7", "2.5");
    assert_eq!(
        files.rows("SELECT COUNT(*) = MAX(n) FROM (SELECT @n := IFNULL(@n, 0) + 1 AS n, v FROM '@/f.csv') d WHERE v > 0"),
        ["1"]
    );
    file(&files, "7", "8,9");
    assert_eq!(
        files.rows("SELECT id, v FROM '@/f.csv' LIMIT 2"),
        ["0|7", "1|7"]
    );
    let error = files.error("SELECT SUM(v) FROM '@/f.csv'");
    assert!(
        error.contains("the row has 4 fields instead of 3"),
        "{error}"
    );
}
