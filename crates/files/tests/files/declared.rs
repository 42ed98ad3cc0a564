//! The option `types`: declared types of columns, which count more than those of the values.

use crate::support::Files;

#[test]
fn declared_types_count_more() {
    let files = Files::new();
    files.write(
        "f.csv",
        "zip,day,amount,note,flag\n00501,2024-02-01,1.5,,1\n10115,,20,x,0\n",
    );
    let types = "types => 'ZIP CHAR(5), day DATETIME(2), amount DECIMAL(9,2), flag TINYINT(1)'";
    let from = format!("read_csv('@/f.csv', {types})");
    assert_eq!(
        files.rows(&format!("SELECT * FROM {from}")),
        [
            "00501|2024-02-01 00:00:00.00|1.50|NULL|1",
            "10115|NULL|20.00|x|0"
        ]
    );
    assert_eq!(
        files.rows(&format!(
            "CREATE TABLE t AS SELECT * FROM {from}; SHOW CREATE TABLE t"
        ))[0]
            .matches("decimal(9,2)")
            .count(),
        1
    );
    // Only requested columns are converted, and a file that lacks one has NULL.
    files.write("g.csv", "zip\n1\n");
    let both =
        "read_csv('@/f.csv', '@/g.csv', union_by_name => true, types => 'amount INT, zip INT')";
    assert_eq!(
        files.rows(&format!("SELECT zip FROM {both} ORDER BY 1")),
        ["1", "501", "10115"]
    );
    files.write(
        "f.json",
        "{\"a\": 1, \"b\": true, \"c\": [1]}\n{\"a\": \"7\", \"b\": null, \"c\": \"x\"}\n",
    );
    assert_eq!(
        files.rows(
            "SELECT a + 1, b, c FROM read_json('@/f.json', types => 'a BIGINT, b TINYINT, c JSON')"
        ),
        ["2|1|[1]", "8|NULL|\"x\""]
    );
    assert_eq!(
        files.rows("SELECT a, b, c FROM read_json('@/f.json', types => 'a DECIMAL(3,1), b INT, c VARCHAR(9)')"),
        ["1.0|1|[1]", "7.0|NULL|x"]
    );
}

#[test]
fn values_that_are_none_of_their_type_are_errors_with_their_line() {
    let files = Files::new();
    files.write("f.csv", "a,b\n1,x\n1.25,\"y\nz\"\nlong,w\n");
    files.write("f.json", "{\"a\": 1}\n{\"a\": {}}\n");
    files.write("t.csv", "t\n10:00:00.25\n");
    for (from, error) in [
        (
            "read_csv('@/f.csv', types => 'a INT')",
            "1105 file '@/f.csv': line 3: '1.25': Incorrect integer value: '1.25' for column 'a'",
        ),
        (
            "read_csv('@/t.csv', types => 't TIME(1)')",
            "1105 file '@/t.csv': line 2: '10:00:00.25': Data truncated for column 't'",
        ),
        (
            "read_csv('@/f.csv', types => 'a DECIMAL(5,1)')",
            "1105 file '@/f.csv': line 3: '1.25': Data truncated for column 'a'",
        ),
        (
            "read_csv('@/f.csv', types => 'a DECIMAL(5,2)')",
            "1105 file '@/f.csv': line 5: 'long': Incorrect decimal value: 'long' for column 'a'",
        ),
        (
            "read_csv('@/f.csv', types => 'a CHAR(3)')",
            "1105 file '@/f.csv': line 3: '1.25': Data too long for column 'a'",
        ),
        (
            "read_json('@/f.json', types => 'a INT')",
            "1105 file '@/f.json': line 2: Incorrect integer value: '{}' for column 'a'",
        ),
        (
            "read_csv('@/f.csv', types => 'c INT')",
            "1210 Incorrect arguments to read_csv: option 'types': there is no column 'c'",
        ),
        (
            "read_csv('@/f.csv', types => 'a INT NOT NULL')",
            "1210 Incorrect arguments to read_csv: option 'types' takes columns with types: This version of MySQL doesn't yet support 'more than names and types'",
        ),
    ] {
        assert_eq!(
            files.error(&format!("SELECT * FROM {from}")),
            error,
            "{from}"
        );
    }
    for types in [
        "a NOSUCH",
        "a",
        "",
        "a INT) SELECT (1",
        "a INT; DROP TABLE t",
        "a DECIMAL(99,2)",
    ] {
        let error = files.error(&format!(
            "SELECT * FROM read_csv('@/f.csv', types => '{types}')"
        ));
        assert!(error.starts_with("1210 "), "{types}: {error}");
    }
}

#[test]
fn rows_that_cannot_be_read_are_shown() {
    let files = Files::new();
    files.write(
        "f.csv",
        "a,b\n1,2\n3\n4,5,6\n\"x\"y,2\n\"x\",\"y\nz\"\n7,8\n",
    );
    let options = "header => true, types => 'a INT'";
    assert_eq!(
        files.rows(&format!(
            "SELECT line, byte, `column`, reason, text FROM read_csv_rejects('@/f.csv', {options})"
        )),
        [
            "3|8|NULL|the row has 1 fields instead of 2|3",
            "4|10|NULL|the row has 3 fields instead of 2|4,5,6",
            "5|16|NULL|text follows the quote that closes a field|\"x\"y,2",
            "6|23|a|Incorrect integer value: 'x' for column 'a'|\"x\",\"y\nz\"",
        ]
    );
    let read = format!("SELECT * FROM read_csv('@/f.csv', {options}, ignore_errors => true)");
    assert_eq!(files.rows(&read), ["1|2", "7|8"]);
    let warnings = files.rows(&format!("{read}; SHOW WARNINGS"));
    assert!(warnings[0].contains("4 rows are left out"), "{warnings:?}");
    let counted =
        format!("SELECT COUNT(*) FROM read_csv('@/f.csv', {options}, ignore_errors => true)");
    assert_eq!(files.rows(&counted), ["2"]);
    // Many, in files of several blocks, in the order of the lines.
    let mut text = String::from("a,b\n");
    for row in 0..200_000 {
        text += if row % 10 == 0 {
            "x,long long text\n"
        } else {
            "1,long long text\n"
        };
    }
    files.write("g.csv", text);
    let rejects = "read_csv_rejects('@/g.csv', types => 'a INT')";
    assert_eq!(
        files.rows(&format!(
            "SELECT COUNT(*), MIN(line), MAX(LENGTH(text)), COUNT(DISTINCT file) FROM {rejects}"
        )),
        ["10000|2|16|1"]
    );
    assert_eq!(
        files.rows("SELECT COUNT(*), SUM(a) FROM read_csv('@/g.csv', types => 'a INT', ignore_errors => true)"),
        ["180000|180000"]
    );
    files.write("h.csv", "a\n1\n");
    assert!(
        files
            .rows("SELECT * FROM read_csv_rejects('@/h.csv')")
            .is_empty()
    );
}
