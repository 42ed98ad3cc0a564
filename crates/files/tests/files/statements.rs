//! Statements that name files, beside SELECT: views, changes, prepared statements; privileges.

use mayfly_engine::codes;

use crate::support::{Files, login};

#[test]
fn files_stand_where_tables_are_read() {
    let files = Files::new();
    files.write("f.csv", "a,b\n1,x\n2,y\n");
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql);
    let ok = |rows: &[&str]| Ok(rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>());
    assert_eq!(run("CREATE TABLE t AS SELECT * FROM '@/f.csv'"), ok(&[]));
    assert_eq!(
        run("INSERT INTO t SELECT a + 10, b FROM read_csv('@/f.csv') f"),
        ok(&[])
    );
    assert_eq!(run("SELECT SUM(a), COUNT(*) FROM t"), ok(&["26|4"]));
    assert_eq!(
        run("UPDATE t JOIN '@/f.csv' AS f USING (a) SET t.b = CONCAT(f.b, '!')"),
        ok(&[])
    );
    assert_eq!(
        run("DELETE t FROM t JOIN '@/f.csv' AS f USING (a) WHERE f.b = 'y'"),
        ok(&[])
    );
    assert_eq!(
        run("SELECT * FROM t ORDER BY a"),
        ok(&["1|x!", "11|x", "12|y"])
    );
    assert_eq!(
        run("SELECT (SELECT MAX(a) FROM '@/f.csv'), 1 IN (SELECT a FROM '@/f.csv')"),
        ok(&["2|1"])
    );
    assert_eq!(
        run("WITH c AS (SELECT * FROM '@/f.csv') SELECT COUNT(*) FROM c, c d"),
        ok(&["4"])
    );
    assert_eq!(
        run("SELECT * FROM '@/f.csv' f LEFT JOIN LATERAL (SELECT f.a + 1 AS n) l ON TRUE"),
        ok(&["1|x|2", "2|y|3"])
    );
    assert_eq!(
        run("CREATE VIEW v AS SELECT * FROM '@/f.csv' AS f(p, q) WHERE p > 1"),
        ok(&[])
    );
    assert_eq!(run("SELECT * FROM v"), ok(&["2|y"]));
    let shown = run("SHOW CREATE VIEW v").expect("shows").join("");
    assert!(
        shown.contains("/f.csv' `f` (`p`,`q`) where (`f`.`p` > 1)"),
        "{shown}"
    );
    assert_eq!(
        run("SELECT a FROM t UNION ALL SELECT a FROM '@/f.csv' ORDER BY 1 LIMIT 1"),
        ok(&["1"])
    );
    let error = |result: Result<Vec<String>, String>| result.expect_err("is refused");
    assert_eq!(
        error(run("SELECT * FROM '@/f.csv', '@/f.csv'")),
        "1066 Not unique table/alias: 'f'"
    );
    assert_eq!(
        error(run("SELECT * FROM '@/f.csv' AS f(p)")),
        "1353 In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"
    );
    assert_eq!(
        error(run("SELECT c FROM '@/f.csv'")),
        "1054 Unknown column 'c' in 'field list'"
    );
    for (sql, statement) in [
        ("UPDATE '@/f.csv' SET a = 1", "UPDATE"),
        (
            "UPDATE t JOIN '@/f.csv' AS f USING (a) SET f.b = 'z'",
            "UPDATE",
        ),
        ("UPDATE v AS f SET q = 'z'", "UPDATE"),
        ("DELETE f FROM t JOIN '@/f.csv' AS f USING (a)", "DELETE"),
    ] {
        let expected = format!("1288 The target table f of the {statement} is not updatable");
        assert_eq!(error(run(sql)), expected, "{sql}");
    }
    assert_eq!(run("SELECT b FROM '@/f.csv' FOR UPDATE"), ok(&["x", "y"]));
    assert_eq!(
        run("SELECT t.b FROM t JOIN '@/f.csv' f USING (a) FOR UPDATE"),
        ok(&["x!"])
    );
    assert_eq!(
        run("DESCRIBE '@/f.csv'"),
        ok(&["a|bigint|YES||NULL|", "b|varchar(32)|YES||NULL|"])
    );
    assert_eq!(
        run("DESC read_csv('@/f.csv', all_text => true) a"),
        ok(&["a|varchar(32)|YES||NULL|"])
    );
    assert_eq!(
        run("EXPLAIN SELECT a FROM '@/f.csv' WHERE b = 'x'")
            .expect("explains")
            .len(),
        1
    );
    assert_eq!(
        error(run("SELECT * FROM t JOIN read_csv(t.b) f")),
        "1109 Unknown table 't' in field list"
    );
}

/// A statement that runs again has the columns and rows that the file has by then.
#[test]
fn a_file_that_has_changed_is_read_as_it_is() {
    let files = Files::new();
    let mut session = files.database.session();
    files.write("f.csv", "a\n1\n");
    let sql = "SELECT * FROM '@/f.csv' WHERE a IS NOT NULL";
    let mut run = |sql: &str| files.run(&mut session, sql);
    run("PREPARE p FROM 'SELECT * FROM ''@/f.csv'''").expect("prepares");
    for _ in 0..3 {
        assert_eq!(run(sql).expect("runs"), ["1"]);
        assert_eq!(run("EXECUTE p").expect("runs"), ["1"]);
    }
    files.write("f.csv", "a,b\nx,2\n");
    assert_eq!(run(sql).expect("runs"), ["x|2"]);
    assert_eq!(run("EXECUTE p").expect("runs"), ["x|2"]);
    files.write("f.csv", "b\n1\n");
    assert_eq!(
        run(sql).expect_err("has no a"),
        "1054 Unknown column 'a' in 'where clause'"
    );
}

#[test]
fn arguments_are_constants() {
    let files = Files::new();
    files.write("f.csv", "a;b\n1;2\n");
    let mut session = files.database.session();
    let mut run = |sql: &str| files.run(&mut session, sql).expect("runs");
    run("SET @directory = '@/'");
    assert_eq!(
        run("SELECT * FROM read_csv(CONCAT(@directory, 'f.csv'), delim => CHAR(59 USING utf8mb4))"),
        ["1|2"]
    );
    run("PREPARE p FROM 'SELECT a FROM read_csv(?)'");
    run("SET @path = '@/f.csv'");
    assert_eq!(run("EXECUTE p USING @path"), ["1"]);
}

#[test]
fn a_client_needs_the_file_privilege() {
    let files = Files::new();
    files.write("f.csv", "a\n1\n");
    let mut root = files.database.session();
    let path = files.path("f.csv").display().to_string();
    for sql in [
        "CREATE USER ann@localhost",
        "GRANT SELECT, CREATE VIEW ON test.* TO ann@localhost",
        "CREATE USER bob@localhost",
        "GRANT ALL ON *.* TO bob@localhost",
    ] {
        root.execute(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let view = format!("CREATE VIEW test.v AS SELECT * FROM '{path}'");
    login(&files, "bob").execute(&view).expect("has FILE");
    let denied = codes::ER_SPECIFIC_ACCESS_DENIED_ERROR.with(&[&"FILE"]);
    let run = |sql: &str| {
        let mut ann = login(&files, "ann");
        ann.execute(sql)
            .map(|result| result.last().map_or(0, |it| it.batches.len()))
    };
    let of_file = format!("SELECT * FROM '{path}'");
    assert_eq!(
        run(&of_file).expect_err("is denied").message(),
        denied.message()
    );
    // The view reads with the rights of the account that made it.
    assert_eq!(run("SELECT * FROM test.v").expect("reads"), 1);
    root.execute("GRANT FILE ON *.* TO ann@localhost")
        .expect("grants");
    assert_eq!(run(&of_file).expect("reads"), 1);
}
