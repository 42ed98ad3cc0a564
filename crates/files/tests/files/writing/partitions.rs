//! PARTITION_BY: a directory for each value.

use std::fs;

use super::{content, with_rows};
use crate::support::Files;

#[test]
fn values_are_directories() {
    let files = Files::new();
    let mut session = files.database.session();
    let mut run = |sql: &str| {
        files
            .run(&mut session, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    run("CREATE TABLE p (id INT, k VARCHAR(40), d DATE)");
    run(
        "INSERT INTO p VALUES (1, 'a', '2026-01-01'), (2, NULL, '2026-01-02'), (3, '', NULL), (4, 'A', '2026-01-01'), (5, 'x/y=%', '2026-01-01'), (6, '__HIVE_DEFAULT_PARTITION__', '2026-01-01'), (7, 'a', '2026-01-02')",
    );
    run("COPY (SELECT * FROM p ORDER BY id DESC) TO '@/out' (FORMAT csv, PARTITION_BY (k))");
    assert_eq!(
        files.names("out"),
        [
            "k=",
            "k=%5F_HIVE_DEFAULT_PARTITION__",
            "k=A",
            "k=__HIVE_DEFAULT_PARTITION__",
            "k=a",
            "k=x%2Fy%3D%25",
        ]
    );
    assert_eq!(files.names("out/k=a"), ["part-0.csv"]);
    // The order of the query is that of the rows of each file.
    assert_eq!(
        content(&files, "out/k=a/part-0.csv"),
        "id,d\n7,2026-01-02\n1,2026-01-01\n"
    );
    let back = "SELECT id, k, d FROM '@/out' ORDER BY id";
    let rows = [
        "1|a|2026-01-01",
        "2|NULL|2026-01-02",
        "3||NULL",
        "4|A|2026-01-01",
        "5|x/y=%|2026-01-01",
        "6|__HIVE_DEFAULT_PARTITION__|2026-01-01",
        "7|a|2026-01-02",
    ];
    assert_eq!(run(back), rows);
    for (name, options) in [
        ("two.parquet", "(PARTITION_BY (d, k))"),
        ("three", "(FORMAT ndjson, COMPRESSION zstd, PARTITION_BY d)"),
        ("four/", "(FORMAT arrow, PARTITION_BY (k, d))"),
    ] {
        run(&format!("COPY p TO '@/{name}' {options}"));
        let back = format!("SELECT id, k, CAST(d AS DATE) FROM '@/{name}' ORDER BY id");
        assert_eq!(run(&back), rows, "{name}");
    }
    assert_eq!(files.names("three/d=2026-01-01"), ["part-0.ndjson.zst"]);
    run("COPY (SELECT * FROM p ORDER BY id LIMIT 2) TO '@/limited' (FORMAT csv, PARTITION_BY k)");
    assert_eq!(
        files.names("limited"),
        ["k=__HIVE_DEFAULT_PARTITION__", "k=a"]
    );
    run("COPY (SELECT * FROM p WHERE id > 100) TO '@/none' (FORMAT csv, PARTITION_BY k)");
    assert!(files.names("none").is_empty());
}

#[test]
fn a_directory_is_replaced_only_on_demand() {
    let files = Files::new();
    let mut session = with_rows(&files);
    let mut run = |sql: &str| files.run(&mut session, sql);
    let copy = "COPY t TO '@/out' (FORMAT csv, PARTITION_BY id";
    fs::create_dir(files.path("out")).expect("a directory");
    run(&format!("{copy})")).expect("an empty directory is none");
    assert_eq!(files.names("out"), ["id=1", "id=2", "id=3", "id=4"]);
    let exists = "1086 File '@/out' already exists";
    assert_eq!(run(&format!("{copy})")).expect_err("exists"), exists);
    run("DELETE FROM t WHERE id < 3").expect("deletes");
    run(&format!("{copy}, OVERWRITE)")).expect("replaces");
    assert_eq!(files.names("out"), ["id=3", "id=4"]);
    // Other files are not removed.
    files.write("out/readme.txt", "mine");
    assert_eq!(
        run(&format!("{copy}, OVERWRITE)")).expect_err("has a file"),
        exists
    );
    files.write("file", "mine");
    let copy = "COPY t TO '@/file' (FORMAT csv, PARTITION_BY id, OVERWRITE)";
    assert_eq!(
        run(copy).expect_err("is a file"),
        "1086 File '@/file' already exists"
    );
    assert_eq!(files.names(""), ["file", "out"]);
    let error = run("COPY (SELECT 1 AS a, X'FF' AS b) TO '@/b' (FORMAT csv, PARTITION_BY b)");
    assert_eq!(
        error.expect_err("bytes are no names"),
        "1210 Incorrect arguments to COPY: PARTITION_BY 'b', whose values are no names"
    );
}

/// Many directories need few open files, and texts that are equal by their collation have files of their own.
#[test]
fn many_directories() {
    let files = Files::new();
    let mut session = files.database.session();
    let mut run = |sql: &str| {
        files
            .run(&mut session, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    run("SET cte_max_recursion_depth = 100000");
    run(
        "CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 0 AS id UNION ALL SELECT id + 1 FROM r WHERE id < 5999) SELECT id, CONCAT(IF(id % 2, 'k', 'K'), id % 1500) AS k FROM r",
    );
    run("COPY n TO '@/out' (FORMAT parquet, PARTITION_BY k)");
    assert_eq!(files.names("out").len(), 1500);
    assert_eq!(
        run("SELECT COUNT(*), SUM(id), COUNT(DISTINCT BINARY k) FROM '@/out'"),
        ["6000|17997000|1500"]
    );
    assert_eq!(
        run("SELECT COUNT(*) FROM '@/out' o JOIN n USING (id) WHERE BINARY o.k <> n.k"),
        ["0"]
    );
    // More variants of one text than files that are open at a time.
    run(
        "CREATE TABLE v AS SELECT id, INSERT(UPPER('abcdef'), 1 + id % 6, 1 + id DIV 6 % 6, LOWER(SUBSTRING('abcdef', 1 + id % 6, 1 + id DIV 6 % 6))) AS k FROM n WHERE id < 2000",
    );
    run("COPY (SELECT * FROM v ORDER BY id) TO '@/variants' (FORMAT csv, PARTITION_BY k)");
    assert_eq!(
        run(
            "SELECT COUNT(*), SUM(id) FROM '@/variants' f JOIN v USING (id) WHERE BINARY f.k = v.k"
        ),
        ["2000|1999000"]
    );
    assert!(files.names("variants").len() > 16);
}
