//! Where files appear: whole or not at all, in place of no other file, and where the session may write.

use std::fs;

use mayfly_engine::FileAccess;

use super::{content, with_rows};
use crate::support::{Files, login};

#[test]
fn a_file_is_replaced_only_on_demand() {
    let files = Files::new();
    let mut session = with_rows(&files);
    let mut run = |sql: &str| files.run(&mut session, sql);
    files.write("a.csv", "old");
    assert_eq!(
        run("COPY t TO '@/a.csv'").expect_err("exists"),
        "1086 File '@/a.csv' already exists"
    );
    assert_eq!(content(&files, "a.csv"), "old");
    run("COPY (SELECT 1 AS x) TO '@/a.csv' (OVERWRITE)").expect("replaces");
    assert_eq!(content(&files, "a.csv"), "x\n1\n");
    fs::create_dir(files.path("d.csv")).expect("a directory");
    assert_eq!(
        run("COPY t TO '@/d.csv' (OVERWRITE)").expect_err("is a directory"),
        "1086 File '@/d.csv' already exists"
    );
    let error = run("COPY t TO '@/none/a.csv'").expect_err("no directory");
    assert_eq!(
        error,
        "1 Can't create/write to file '@/none/a.csv' (OS errno 2 - No such file or directory)"
    );
    assert_eq!(files.names(""), ["a.csv", "d.csv"]);
}

/// A statement that fails in the middle of its rows leaves nothing, in any format.
#[test]
fn a_failure_leaves_nothing() {
    let files = Files::new();
    let mut session = files.database.session();
    let failing = "SELECT id, EXP(id) AS e FROM (WITH RECURSIVE r AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM r WHERE id < 900) SELECT id FROM r) q";
    for (name, options) in [
        ("a.csv", ""),
        ("a.csv.zst", ""),
        ("a.json.gz", ""),
        ("a.parquet", "(ROW_GROUP_SIZE 10)"),
        ("a.arrow", ""),
        ("d", "(FORMAT parquet, PARTITION_BY id)"),
    ] {
        let error = files
            .run(
                &mut session,
                &format!("COPY ({failing}) TO '@/{name}' {options}"),
            )
            .expect_err("EXP(710) is too large");
        assert!(error.starts_with("1690 "), "{error}");
        assert!(files.names("").is_empty(), "{name}");
    }
    files.write("old.csv", "old");
    let statement = format!("COPY ({failing}) TO '@/old.csv' (OVERWRITE)");
    files
        .run(&mut session, &statement)
        .expect_err("EXP(710) is too large");
    assert_eq!(content(&files, "old.csv"), "old");
    assert_eq!(files.names(""), ["old.csv"]);
}

#[test]
fn a_killed_statement_leaves_nothing() {
    let files = Files::new();
    let mut session = files.database.session();
    let path = files.path("a.parquet");
    let sql = format!(
        "COPY (WITH RECURSIVE r AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM r) SELECT a.id FROM (SELECT 1 AS id UNION SELECT 2) a, (SELECT 1 AS x UNION SELECT 2) b, r) TO '{}'",
        path.display()
    );
    let kill = session.kill_handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            session
                .execute("SET cte_max_recursion_depth = 4294967295")
                .expect("sets");
            session.execute(&sql).map(|_| ())
        });
        while !running.is_finished() && files.names("").is_empty() {
            std::thread::yield_now();
        }
        kill.kill();
        let error = running.join().expect("ends").expect_err("is killed");
        assert_eq!(error.errno(), 1317, "{error}");
    });
    assert!(files.names("").is_empty());
}

#[test]
fn only_allowed_places() {
    let files = Files::new();
    let allowed = files.path("allowed");
    fs::create_dir(&allowed).expect("a directory");
    let limited = Files::with(|options| {
        options.file_access = FileAccess::Directory(allowed.clone());
    });
    let mut session = limited.database.session();
    let copy = |path: String| format!("COPY (SELECT 1 AS a) TO '{path}'");
    let inside = allowed.display();
    for (path, is_allowed) in [
        (format!("{inside}/a.csv"), true),
        (format!("{inside}/../b.csv"), false),
        (files.path("c.csv").display().to_string(), false),
    ] {
        let done = session.execute(&copy(path.clone()));
        match done {
            Ok(_) => assert!(is_allowed, "{path}"),
            Err(error) => assert!(!is_allowed && error.errno() == 1290, "{path}: {error}"),
        }
    }
    let none = Files::with(|options| options.file_access = FileAccess::Disabled);
    let done = none
        .database
        .session()
        .execute(&copy(format!("{inside}/z.csv")));
    assert_eq!(done.expect_err("is off").errno(), 1290);
}

#[test]
fn a_client_needs_the_file_privilege() {
    let files = Files::new();
    let mut root = with_rows(&files);
    for sql in [
        "CREATE USER ann@localhost",
        "GRANT SELECT, INSERT ON test.* TO ann@localhost",
    ] {
        root.execute(sql).expect(sql);
    }
    let path = files.path("a.csv").display().to_string();
    let copy = format!("COPY test.t TO '{path}'");
    let outfile = format!("SELECT * FROM test.t INTO OUTFILE '{path}' FORMAT csv");
    for sql in [&copy, &outfile] {
        let refused = login(&files, "ann").execute(sql).expect_err("has no FILE");
        assert_eq!(refused.errno(), 1227, "{sql}");
    }
    root.execute("GRANT FILE ON *.* TO ann@localhost")
        .expect("grants");
    login(&files, "ann").execute(&copy).expect("has FILE");
    root.execute("REVOKE SELECT ON test.* FROM ann@localhost")
        .expect("revokes");
    let refused = login(&files, "ann")
        .execute(&outfile)
        .expect_err("cannot read");
    assert_eq!(refused.errno(), 1142);
}

/// A row group ends early where the memory of the statement is needed, and nothing is lost.
#[test]
fn little_memory_ends_row_groups() {
    let files = Files::with(|options| options.memory_limit = Some(12 << 20));
    let mut session = files.database.session();
    let rows = 60_000_u64;
    for sql in [
        "SET cte_max_recursion_depth = 1000000".to_owned(),
        format!(
            "COPY (WITH RECURSIVE r AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM r WHERE id < {rows})
             SELECT id, SHA2(id, 512) AS a, SHA2(id + 1, 512) AS b FROM r) TO '@/a.parquet' (ROW_GROUP_SIZE 1000000, COMPRESSION none)"
        ),
    ] {
        files.run(&mut session, &sql).expect(&sql);
    }
    let read = "SELECT COUNT(*), SUM(id), SUM(a = SHA2(id, 512) AND b = SHA2(id + 1, 512)) FROM '@/a.parquet'";
    let sum = rows * (rows + 1) / 2;
    assert_eq!(
        files.run(&mut session, read).expect("reads"),
        [format!("{rows}|{sum}|{rows}")]
    );
    let file = fs::File::open(files.path("a.parquet")).expect("opens");
    let footer = parquet::file::metadata::ParquetMetaDataReader::new().parse_and_finish(&file);
    assert!(footer.expect("has a footer").num_row_groups() > 1);
}
