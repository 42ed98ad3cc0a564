//! CSV files.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::Files;

#[test]
fn a_file_is_a_table() {
    let files = Files::new();
    files.write(
        "sales.csv",
        "town,day,amount,note\nBerlin,2024-01-02,10.50,\"a, b\"\nPARIS,2024-01-03,7.25,\n",
    );
    assert_eq!(
        files.rows("SELECT * FROM '@/sales.csv'"),
        ["Berlin|2024-01-02|10.50|a, b", "PARIS|2024-01-03|7.25|NULL"]
    );
    assert_eq!(
        files.rows("SELECT s.amount * 2, sales.day FROM '@/sales.csv' AS s JOIN '@/sales.csv' USING (town) WHERE town = 'paris'"),
        ["14.50|2024-01-03"]
    );
}

/// Content, statement and rows.
#[test]
fn content_and_options() {
    let checks: &[(&[u8], &str, &[&str])] = &[
        (b"a,b\n1,2\n", "FROM '@/f.csv'", &["1|2"]),
        (b"\xEF\xBB\xBFa,b\n1,2", "FROM '@/f.csv'", &["1|2"]),
        (b"a,b\r\n1,2\r\n\r\n", "FROM '@/f.csv'", &["1|2"]),
        (b"a,b\r1,2\r3,4", "FROM '@/f.csv'", &["1|2", "3|4"]),
        (
            b"a;b\n1,5;x\n1.234,25;y\n",
            "FROM '@/f.csv'",
            &["1.50|x", "1234.25|y"],
        ),
        (
            b"a,b\n\"1,234.5\",x\n-7,y\n",
            "FROM '@/f.csv'",
            &["1234.5|x", "-7.0|y"],
        ),
        (b"a,b\n\"1,234\",x\n", "FROM '@/f.csv'", &["1234|x"]),
        // A decimal point, or one between groups.
        (b"a;b\n1,234;x\n", "FROM '@/f.csv'", &["1,234|x"]),
        (b"a\n1\n\n3\n", "FROM '@/f.csv'", &["1", "NULL", "3"]),
        (b"a,b\n\"\",1\n,2\n", "FROM '@/f.csv'", &["|1", "NULL|2"]),
        (b"a,b\n", "FROM '@/f.csv'", &[]),
        (b"\r\n\na,b\n\n1,2\n", "FROM '@/f.csv'", &["1|2"]),
        (
            b"\n1\n",
            "FROM read_csv('@/f.csv', header => false)",
            &["NULL", "1"],
        ),
        (b"1,2\n3,4\n", "FROM '@/f.csv'", &["1|2", "3|4"]),
        (
            b"1,2\n3,4\n",
            "FROM read_csv('@/f.csv', header => true)",
            &["3|4"],
        ),
        (
            b"a,b\n1,2\n",
            "FROM read_csv('@/f.csv', header = false)",
            &["a|b", "1|2"],
        ),
        (
            b"a,a,\n1,2,3\n",
            "FROM read_csv('@/f.csv', header => true) AS t(x, y, z) WHERE y = 2",
            &["1|2|3"],
        ),
        (
            b"x y\n",
            "FROM read_csv('@/f.csv', delim => ' ', names => 'p, q')",
            &["x|y"],
        ),
        (
            b"a|b\n'x|y'|2\n",
            "FROM read_csv('@/f.csv', quote => '''')",
            &["x|y|2"],
        ),
        (
            b"a,b\n\"x\\\"y\",2\n",
            "FROM read_csv('@/f.csv', escape => '\\\\')",
            &["x\"y|2"],
        ),
        (
            b"# c\na,b\n#x\n1,2\n",
            "FROM read_csv('@/f.csv', comment => '#')",
            &["1|2"],
        ),
        (
            b"junk\na,b\n1,2\n",
            "FROM read_csv('@/f.csv', skip => 1)",
            &["1|2"],
        ),
        (
            b"a,b\n1,NA\n2,3\n",
            "FROM read_csv('@/f.csv', nullstr => 'NA')",
            &["1|NULL", "2|3"],
        ),
        (b"a,b\n1,\\N\n2,3\n", "FROM '@/f.csv'", &["1|NULL", "2|3"]),
        (
            b"a,b\n1,2\n3\n4,5,6\n",
            "FROM read_csv('@/f.csv', ignore_errors => true)",
            &["1|2"],
        ),
        (
            b"a,b\n1,2\n3\n",
            "FROM read_csv('@/f.csv', null_padding => true)",
            &["1|2", "3|NULL"],
        ),
        (
            b"a\n\xE9\x80\n",
            "FROM read_csv('@/f.csv', encoding => 'latin1', header => true)",
            &["é€"],
        ),
        (
            b"\xFF\xFEa\0,\0b\0\n\0\xE9\0,\x002\0\n\0",
            "FROM '@/f.csv'",
            &["é|2"],
        ),
        (
            b"d\n01/02/2024\n",
            "FROM read_csv('@/f.csv', date_order => 'dmy')",
            &["2024-02-01"],
        ),
        (b"d\n01/02/2024\n", "FROM '@/f.csv'", &["01/02/2024"]),
        (b"z,n\n00501,+49\n", "FROM '@/f.csv'", &["00501|+49"]),
        (b"n,x\n1,a\n2.5,b\n", "FROM '@/f.csv'", &["1.0|a", "2.5|b"]),
        (
            b"n,x\n99999999999999999999999999999999999999,a\n",
            "FROM '@/f.csv'",
            &["99999999999999999999999999999999999999|a"],
        ),
        (
            b"n,x\n0.1,a\n1e300,b\n",
            "FROM '@/f.csv'",
            &["0.1|a", "1e300|b"],
        ),
        (
            b"t,x\n23:59:59.5,a\n-12:30,b\n",
            "FROM '@/f.csv'",
            &["23:59:59.5|a", "-12:30:00.0|b"],
        ),
        (
            b"t,x\n2024-01-01 01:02:03.25,a\n2024-01-02,b\n",
            "FROM '@/f.csv'",
            &["2024-01-01 01:02:03.25|a", "2024-01-02 00:00:00.00|b"],
        ),
        (b"a,b\n\"x\ny\",2\n", "FROM '@/f.csv'", &["x\ny|2"]),
        (b"a,b\nx\0y,2\n", "FROM '@/f.csv'", &["x\0y|2"]),
        (
            b"ok,x\ntrue,1\nFALSE,2\n",
            "FROM '@/f.csv'",
            &["1|1", "0|2"],
        ),
    ];
    for (content, from, expected) in checks {
        let files = Files::new();
        files.write("f.csv", content);
        let sql = format!("SELECT * {from}");
        let text = String::from_utf8_lossy(content);
        assert_eq!(files.rows(&sql), *expected, "{text:?} {from}");
    }
}

#[test]
fn bad_rows_are_errors_with_their_line() {
    for (content, from, expected) in [
        (
            &b"a,b\n1,2\n3\n"[..],
            "'@/f.csv'",
            "1105 file '@/f.csv': line 3: the row has 1 fields instead of 2; ignore_errors => true leaves such rows out",
        ),
        (
            b"a,b\n\"x\"y,2\n",
            "'@/f.csv'",
            "1105 file '@/f.csv': line 2: text follows the quote that closes a field",
        ),
        (
            b"a,b\n1,2\n\"x,2\n",
            "'@/f.csv'",
            "1105 file '@/f.csv': line 3: a quote is not closed",
        ),
        (
            b"a,b\n1,\xFF\n",
            "'@/f.csv'",
            "1105 file '@/f.csv': line 2: it is not UTF-8; encoding => 'latin1' reads any bytes",
        ),
        (b"", "'@/f.csv'", "1105 file '@/f.csv': it is empty"),
        (
            b"a\n",
            "read_csv('@/f.csv', delimter => ',')",
            "1210 Incorrect arguments to read_csv: there is no option 'delimter'; did you mean 'delimiter'?",
        ),
        (
            b"a\n",
            "read_csv('@/f.csv', header => 'x')",
            "1210 Incorrect arguments to read_csv: option 'header' takes true or false",
        ),
        (
            b"a\n",
            "read_csv(7)",
            "1210 Incorrect arguments to read_csv: the name of a file is a text",
        ),
        (
            b"a\n",
            "read_csv()",
            "1210 Incorrect arguments to read_csv: no file is named",
        ),
        (
            b"a\n",
            "read_cvs('x')",
            "1305 FUNCTION read_cvs (did you mean read_csv?) does not exist",
        ),
        (
            b"a\n",
            "'@/none.csv'",
            "1017 Can't find file: '@/none.csv' (errno: 2 - No such file or directory)",
        ),
    ] {
        let files = Files::new();
        files.write("f.csv", content);
        assert_eq!(
            files.error(&format!("SELECT * FROM {from}")),
            expected,
            "{from}"
        );
    }
}

/// A value far behind many of another kind decides the type as well, also where several threads read.
#[test]
fn all_rows_decide_types() {
    let files = Files::new();
    let mut text = String::from("n,t\n");
    for row in 0..300_000 {
        text += &format!("{row},\"row {row}, \"\"quoted\"\"\nsecond line\"\n");
    }
    text += "0.5,last\n";
    files.write("f.csv", &text);
    assert_eq!(
        files.rows("SELECT COUNT(*), SUM(n), MAX(LENGTH(t)), COUNT(DISTINCT t) FROM '@/f.csv'"),
        ["300001|44999850000.5|32|300001"]
    );
    // One thread reads them in their order.
    assert_eq!(
        files.rows("SELECT n, t FROM '@/f.csv' LIMIT 2"),
        [
            "0|row 0, \"quoted\"\nsecond line",
            "1|row 1, \"quoted\"\nsecond line"
        ]
    );
    // The last row counts where it is read.
    assert_eq!(
        files.rows("SELECT n FROM '@/f.csv' ORDER BY n DESC LIMIT 2"),
        ["299999.0", "299998.0"]
    );
}

#[test]
fn compressed_files() {
    let files = Files::new();
    let member = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("compresses");
        encoder.finish().expect("ends")
    };
    files.write("f.csv.gz", [member("a,b\n1,2\n"), member("3,4\n")].concat());
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9].to_vec();
    let frame = zstd::encode_all(&b"a,b\n5,6\n"[..], 1).expect("compresses");
    files.write("g.csv.zst", [skippable, frame].concat());
    assert_eq!(files.rows("SELECT * FROM '@/f.csv.gz'"), ["1|2", "3|4"]);
    assert_eq!(files.rows("SELECT * FROM '@/g.csv.zst'"), ["5|6"]);
}

#[test]
fn columns_of_several_files_are_united_by_name() {
    let files = Files::new();
    files
        .write("1.csv", "a,b\n1,x\n")
        .write("2.csv", "b,a\ny,2.5\n");
    files.write("3/x.csv", "a,c\n3,z\n");
    assert_eq!(
        files.rows("SELECT a, b, filename LIKE '%/2.csv' FROM read_csv('@/?.csv', filename => true) ORDER BY a"),
        ["1.0|x|0", "2.5|y|1"]
    );
    let all = "read_csv('@/1.csv', '@/3', union_by_name => true)";
    assert_eq!(
        files.rows(&format!("SELECT * FROM {all} ORDER BY a")),
        ["1|x|NULL", "3|NULL|z"]
    );
    assert_eq!(
        files.error("SELECT * FROM read_csv('@/1.csv', '@/3')"),
        "1105 file '@/3/x.csv': it has a column 'c' that '@/1.csv' has not; union_by_name => true unites the columns"
    );
}
