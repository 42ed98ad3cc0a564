//! `COPY … FROM`: rows of files of every format in tables, as INSERT … SELECT stores them.

use mayfly_engine::codes;

use crate::support::{Files, login};

/// A file of two rows, and a table for them.
fn with_table() -> Files {
    let files = Files::new();
    files.write("f.csv", "a,b\n1,x\n2,y\n");
    files.rows("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(3), c INT DEFAULT 7)");
    files
}

#[test]
fn files_of_every_format_are_loaded() {
    let files = with_table();
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    for (file, format) in [
        ("p.parquet", "parquet"),
        ("a.arrow", "arrow"),
        ("s.arrows", "arrows"),
        ("j.json", "json"),
        ("n.ndjson", "ndjson"),
        ("c.csv.gz", "csv"),
        ("t.tsv", "tsv"),
    ] {
        run("DELETE FROM t").expect("empties");
        run(&format!("COPY (SELECT * FROM '@/f.csv') TO '@/{file}'")).expect("writes");
        run(&format!("COPY t (a, b) FROM '@/{file}'")).expect("loads");
        let expected = ["1|x|7", "2|y|7"];
        assert_eq!(run("SELECT * FROM t").expect("reads"), expected, "{file}");
        // Columns in another order, and the format by its name.
        run("DELETE FROM t").expect("empties");
        run(&format!(
            "COPY (SELECT b, a FROM '@/f.csv') TO '@/x_{file}'"
        ))
        .expect("writes");
        let named = format!("COPY test.t (b, a) FROM '@/x_{file}' WITH (FORMAT {format})");
        run(&named).expect("loads");
        assert_eq!(run("SELECT * FROM t").expect("reads"), expected, "{file}");
    }
    // The content tells it too, and options are those of the function.
    files.write("x", "1;z\n3;z\n");
    run("DELETE FROM t").expect("empties");
    run("COPY t (a, b) FROM '@/x' (DELIMITER ';', HEADER false)").expect("loads");
    assert_eq!(run("SELECT * FROM t").expect("reads"), ["1|z|7", "3|z|7"]);
    for (sql, error) in [
        (
            "COPY t FROM '@/f.csv'",
            "1136 Column count doesn't match value count at row 1",
        ),
        (
            "COPY t (a, b) FROM '@/f.csv'",
            "1062 Duplicate entry '1' for key 't.PRIMARY'",
        ),
        (
            "COPY t FROM '@/f.csv' (FORMAT nosuch)",
            "1210 Incorrect arguments to read_file: there is no format 'nosuch'; the formats are csv, json, parquet, arrow, excel",
        ),
        (
            "COPY nosuch FROM '@/f.csv'",
            "1146 Table 'test.nosuch' doesn't exist",
        ),
    ] {
        assert_eq!(run(sql).expect_err("fails"), error, "{sql}");
    }
}

/// LOAD DATA with FORMAT reads a data file; without it the path's ending says nothing, as in MySQL.
#[test]
fn load_data_reads_files_of_a_named_format() {
    let files = with_table();
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    for (file, format) in [
        ("p.parquet", "PARQUET"),
        ("a.arrow", "ARROW"),
        ("j.json", "JSON"),
        ("n.data", "ndjson"),
        ("c.csv.gz", "'csv'"),
    ] {
        let option = format.trim_matches('\'');
        run(&format!(
            "COPY (SELECT * FROM '@/f.csv') TO '@/{file}' (FORMAT {option})"
        ))
        .expect("writes");
        run("DELETE FROM t").expect("empties");
        let load = format!("INTO TABLE t FORMAT {format}");
        run(&format!("LOAD DATA INFILE '@/{file}' {load} (a, b)")).expect("loads");
        assert_eq!(
            run("SELECT * FROM t").expect("reads"),
            ["1|x|7", "2|y|7"],
            "{file}"
        );
        let duplicate = run(&format!("LOAD DATA INFILE '@/{file}' {load} (a, b)"));
        assert!(
            duplicate.expect_err("is there").starts_with("1062 "),
            "{file}"
        );
        run(&format!("LOAD DATA INFILE '@/{file}' IGNORE {load} (a, b)")).expect("ignores");
        run(&format!(
            "LOAD DATA INFILE '@/{file}' REPLACE {load} (a, b)"
        ))
        .expect("replaces");
        assert_eq!(
            run("SELECT COUNT(*) FROM t").expect("reads"),
            ["2"],
            "{file}"
        );
    }
    run("CREATE TABLE two (a INT, b VARCHAR(3))").expect("creates");
    run("LOAD DATA INFILE '@/p.parquet' INTO TABLE two FORMAT PARQUET").expect("loads");
    assert_eq!(run("SELECT * FROM two").expect("reads"), ["1|x", "2|y"]);
    for (sql, error) in [
        (
            "LOAD DATA INFILE '@/f.csv' INTO TABLE two FORMAT nosuch",
            "1210 ",
        ),
        (
            "LOAD DATA INFILE '@/f.csv' INTO TABLE two FORMAT CSV FIELDS TERMINATED BY ','",
            "1064 ",
        ),
        (
            "LOAD DATA LOCAL INFILE '@/f.csv' INTO TABLE two FORMAT CSV",
            "1064 ",
        ),
        // MySQL's text, whatever the name.
        ("LOAD DATA INFILE '@/p.parquet' INTO TABLE two", "1366 "),
    ] {
        let failed = run(sql).expect_err("fails");
        assert!(failed.starts_with(error), "{sql}: {failed}");
    }
}

#[test]
fn values_are_converted_as_by_insert() {
    let files = Files::new();
    files.write("f.csv", "a,b\n300,long text\n,1\n");
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    run("CREATE TABLE t (a TINYINT, b VARCHAR(4))").expect("creates");
    let copy = "COPY t FROM '@/f.csv'";
    let insert = "INSERT INTO t SELECT * FROM '@/f.csv'";
    let strict = run(copy).expect_err("is strict");
    assert_eq!(strict, "1264 Out of range value for column 'a' at row 1");
    assert_eq!(run(insert).expect_err("is strict"), strict);
    assert_eq!(run("SELECT COUNT(*) FROM t").expect("reads"), ["0"]);
    run("SET sql_mode = ''").expect("sets");
    run(copy).expect("loads");
    let warnings = run("SHOW WARNINGS").expect("shows");
    assert_eq!(
        warnings,
        [
            "Warning|1264|Out of range value for column 'a' at row 1",
            "Warning|1265|Data truncated for column 'b' at row 1",
        ]
    );
    assert_eq!(
        run("SELECT * FROM t").expect("reads"),
        ["127|long", "NULL|1"]
    );
    run(&format!("PREPARE p FROM \"{copy}\"")).expect("prepares");
    run("EXECUTE p").expect("loads");
    assert_eq!(run("SELECT COUNT(*) FROM t").expect("reads"), ["4"]);
}

#[test]
fn a_client_needs_privileges_to_load() {
    let files = Files::new();
    files.write("f.csv", "a\n1\n");
    let mut root = files.database.session();
    for sql in [
        "CREATE TABLE test.t (a INT)",
        "CREATE USER ann@localhost",
        "GRANT SELECT ON test.* TO ann@localhost",
    ] {
        root.execute(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let copy = format!("COPY test.t FROM '{}'", files.path("f.csv").display());
    let denied = |code: &mayfly_engine::Error| code.errno();
    let run = || login(&files, "ann").execute(&copy).map(drop);
    assert_eq!(denied(&run().expect_err("has no INSERT")), 1142);
    root.execute("GRANT INSERT ON test.* TO ann@localhost")
        .expect("grants");
    let error = run().expect_err("has no FILE");
    assert!(error.is(&codes::ER_SPECIFIC_ACCESS_DENIED_ERROR), "{error}");
    root.execute("GRANT FILE ON *.* TO ann@localhost")
        .expect("grants");
    run().expect("loads");
}
