//! Files that statements write.

mod partitions;
mod place;
mod types;

use std::fs;

use mayfly_engine::Session;

use crate::support::Files;

/// A session with a table of a few rows.
fn with_rows(files: &Files) -> Session {
    let mut session = files.database.session();
    for sql in [
        "CREATE TABLE t (id INT, name VARCHAR(20), amount DECIMAL(8, 2))",
        "INSERT INTO t VALUES (1, 'ann', 1.50), (2, NULL, NULL), (3, '', -0.25), (4, 'a \"b\", c', 7)",
    ] {
        files.run(&mut session, sql).expect(sql);
    }
    session
}

fn content(files: &Files, name: &str) -> String {
    fs::read_to_string(files.path(name)).expect(name)
}

/// Statements and the content of the file that they write.
#[test]
fn contents() {
    let files = Files::new();
    let mut session = with_rows(&files);
    for sql in [
        "CREATE TABLE z (n INT(5) ZEROFILL, y YEAR)",
        "INSERT INTO z VALUES (7, 0)",
    ] {
        files.run(&mut session, sql).expect(sql);
    }
    let csv = "id,name,amount\n1,ann,1.50\n2,,\n3,\"\",-0.25\n4,\"a \"\"b\"\", c\",7.00\n";
    for (name, statement, expected) in [
        ("a.csv", "COPY t TO '@/a.csv'", csv.to_owned()),
        ("b.csv", "SELECT * FROM t INTO OUTFILE '@/b.csv' FORMAT csv", csv.to_owned()),
        ("c", "COPY t (name, id) TO '@/c' (FORMAT csv, HEADER false)", "ann,1\n,2\n\"\",3\n\"a \"\"b\"\", c\",4\n".to_owned()),
        ("d.tsv", "COPY (SELECT id, name FROM t WHERE id > 3) TO '@/d.tsv'", "id\tname\n4\t\"a \"\"b\"\", c\"\n".to_owned()),
        (
            "e.csv",
            "COPY (SELECT -1.5 AS a, 'x;y' AS b, '\\\\N' AS c) TO '@/e.csv' WITH (DELIMITER ';', HEADER OFF)",
            "-1.5;\"x;y\";\"\\N\"\n".to_owned(),
        ),
        ("f.csv", "COPY (SELECT -1.5 AS a, 2 AS b) TO '@/f.csv' (SEP '-')", "a-b\n\"-1.5\"-2\n".to_owned()),
        ("g.json", "COPY (SELECT id, name FROM t LIMIT 2) TO '@/g.json'", "[\n{\"id\":1,\"name\":\"ann\"},\n{\"id\":2,\"name\":null}\n]\n".to_owned()),
        ("h.json", "COPY (SELECT id FROM t LIMIT 0) TO '@/h.json'", "[]\n".to_owned()),
        (
            "i.ndjson",
            "COPY (SELECT CAST('{\"b\": [1, 2.5]}' AS JSON) AS j, 1e0 AS d, X'00FF' AS x, 'q\"\\n\\t' AS s, TIME'-30:00:00' AS t, b'101' + 0 AS n) TO '@/i.ndjson'",
            "{\"j\":{\"b\": [1, 2.5]},\"d\":1.0,\"x\":\"AP8=\",\"s\":\"q\\\"\\n\\t\",\"t\":\"-30:00:00\",\"n\":5}\n".to_owned(),
        ),
        ("z.ndjson", "COPY z TO '@/z.ndjson'", "{\"n\":7,\"y\":0}\n".to_owned()),
        ("j.x", "COPY (SELECT 1 AS a) TO '@/j.x' (FORMAT 'JSONL')", "{\"a\":1}\n".to_owned()),
        ("k.csv", "COPY (SELECT 0e0 * -1 AS a, 1e300 AS b, CAST(16777217 AS FLOAT) AS c) TO '@/k.csv' (HEADER false)", "-0.0,1e300,16777216.0\n".to_owned()),
    ] {
        files.run(&mut session, statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(content(&files, name), expected, "{statement}");
    }
    assert_eq!(
        files
            .run(&mut session, "SELECT FOUND_ROWS(), ROW_COUNT()")
            .expect("counts")
            .len(),
        1
    );
}

/// What was written in each format and compression is read again.
#[test]
fn compressions() {
    let files = Files::new();
    let mut session = with_rows(&files);
    let rows = ["1|ann|1.50", "2|NULL|NULL", "3||-0.25", "4|a \"b\", c|7.00"];
    for (name, options) in [
        ("a.csv.gz", ""),
        ("a.csv.zst", ""),
        ("a.ndjson.gz", "(COMPRESSION gzip)"),
        ("b.json.zst", ""),
        ("c.csv.gz", "(FORMAT csv, COMPRESSION 'GZIP')"),
        ("a.parquet", ""),
        ("b.parquet", "(COMPRESSION zstd, ROW_GROUP_SIZE 2)"),
        ("c.parquet", "(COMPRESSION gzip)"),
        ("d.parquet", "(COMPRESSION lz4)"),
        ("e.pq", "(COMPRESSION none)"),
        ("a.arrow", ""),
        ("b.feather", "(COMPRESSION zstd)"),
        ("c.arrow", "(COMPRESSION lz4)"),
        ("d.arrows", "(COMPRESSION zstd)"),
    ] {
        let mut run = |sql: &str| {
            files
                .run(&mut session, sql)
                .unwrap_or_else(|error| panic!("{sql}: {error}"))
        };
        run(&format!("COPY t TO '@/{name}' {options}"));
        assert_eq!(run(&format!("SELECT * FROM '@/{name}'")), rows, "{name}");
    }
}

#[test]
fn counts_and_prepared_statements() {
    let files = Files::new();
    let mut session = with_rows(&files);
    let written = session
        .execute(&format!(
            "COPY t TO '{}'",
            files.path("a.parquet").display()
        ))
        .expect("writes");
    assert_eq!(written.last().expect("a result").affected_rows, 4);
    let mut run = |sql: &str| files.run(&mut session, sql).expect(sql);
    assert_eq!(run("SELECT FOUND_ROWS()"), ["4"]);
    run(
        "PREPARE p FROM 'COPY (SELECT id FROM t WHERE id > ?) TO ''@/p.csv'' (OVERWRITE, DELIMITER ?)'",
    );
    run("SET @a = 2, @d = ';'");
    run("EXECUTE p USING @a, @d");
    run("EXECUTE p USING @a, @d");
    assert_eq!(content(&files, "p.csv"), "id\n3\n4\n");
    // The clauses of MySQL alone write MySQL's text.
    run("SELECT * FROM t INTO OUTFILE '@/mysql.csv'");
    assert_eq!(
        content(&files, "mysql.csv"),
        "1\tann\t1.50\n2\t\\N\t\\N\n3\t\t-0.25\n4\ta \"b\", c\t7.00\n"
    );
}

#[test]
fn wrong_options() {
    let files = Files::new();
    let mut session = with_rows(&files);
    for (statement, error) in [
        (
            "COPY t TO '@/a'",
            "1210 Incorrect arguments to COPY: the path tells no format; FORMAT is one of csv, tsv, json, ndjson, parquet, arrow, arrows",
        ),
        (
            "COPY t TO '@/a' (FORMAT xml)",
            "1210 Incorrect arguments to COPY: there is no format 'xml'; the formats are csv, tsv, json, ndjson, parquet, arrow, arrows",
        ),
        (
            "COPY t TO '@/a.csv' (HEADR)",
            "1210 Incorrect arguments to COPY: there is no option 'HEADR'; did you mean 'header'?",
        ),
        (
            "COPY t TO '@/a.csv' (HEADER 7)",
            "1210 Incorrect arguments to COPY: option 'header' takes true or false",
        ),
        (
            "COPY t TO '@/a.csv' (HEADER, HEADER)",
            "1210 Incorrect arguments to COPY: option 'header' is given twice",
        ),
        (
            "COPY t TO '@/a.csv' (DELIMITER '\"')",
            "1210 Incorrect arguments to COPY: delimiter takes one ASCII character that is no quote",
        ),
        (
            "COPY t TO '@/a.parquet' (HEADER)",
            "1210 Incorrect arguments to COPY: there is no option 'HEADER'; its options are format, compression, row_group_size, overwrite",
        ),
        (
            "COPY t TO '@/a.parquet' (ROW_GROUP_SIZE 0)",
            "1210 Incorrect arguments to COPY: row_group_size takes a number from 1 on",
        ),
        (
            "COPY t TO '@/a.csv' (COMPRESSION snappy)",
            "1210 Incorrect arguments to COPY: 'snappy' is no compression of '@/a.csv' in the format csv",
        ),
        (
            "COPY t TO '@/a.csv.gz' (COMPRESSION none)",
            "1210 Incorrect arguments to COPY: 'none' is no compression of '@/a.csv.gz' in the format csv",
        ),
        (
            "COPY (SELECT id, id AS ID FROM t) TO '@/a.csv'",
            "1060 Duplicate column name 'ID'",
        ),
        (
            "COPY t (nix) TO '@/a.csv'",
            "1054 Unknown column 'nix' in 'field list'",
        ),
        (
            "COPY nix TO '@/a.csv'",
            "1146 Table 'test.nix' doesn't exist",
        ),
        (
            "COPY t TO '@/a.csv' (PARTITION_BY nix)",
            "1054 Unknown column 'nix' in 'PARTITION_BY'",
        ),
        (
            "COPY t TO '@/a.csv' (PARTITION_BY (id, name, amount))",
            "1210 Incorrect arguments to COPY: PARTITION_BY leaves no column for the files",
        ),
    ] {
        let result = files.run(&mut session, statement);
        assert_eq!(result.expect_err(statement), error, "{statement}");
        assert!(files.names("").is_empty(), "{statement}");
    }
}
