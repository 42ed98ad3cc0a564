//! Hooks of rows, and the statements inside them. What MySQL 9.7 does was found with triggers.

use std::fmt;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use crate::catalog::inner_statements::{Environment, InnerStatements};
use crate::catalog::row_hooks::{HookTime, HookedRow, RowEvent, RowHook};
use crate::session::StatementContext;
use crate::{Database, DatabaseOptions, LocalFiles, Session};

/// The work of a hook.
type Work = dyn Fn(HookedRow<'_>, &mut dyn InnerStatements) -> Result<()> + Send + Sync;

/// A hook that runs a closure.
struct Hook {
    environment: Environment,
    work: Box<Work>,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}

impl RowHook for Hook {
    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn run(&self, row: HookedRow<'_>, statements: &mut dyn InnerStatements) -> Result<()> {
        (self.work)(row, statements)
    }
}

const BEFORE_INSERT: (HookTime, RowEvent) = (HookTime::Before, RowEvent::Insert);
const AFTER_INSERT: (HookTime, RowEvent) = (HookTime::After, RowEvent::Insert);
const BEFORE_UPDATE: (HookTime, RowEvent) = (HookTime::Before, RowEvent::Update);
const AFTER_UPDATE: (HookTime, RowEvent) = (HookTime::After, RowEvent::Update);
const BEFORE_DELETE: (HookTime, RowEvent) = (HookTime::Before, RowEvent::Delete);
const AFTER_DELETE: (HookTime, RowEvent) = (HookTime::After, RowEvent::Delete);

/// An engine in which some statements have been run in the database `test`.
fn engine(texts: &str) -> (Arc<Database>, Session) {
    let database = Database::open(DatabaseOptions::default()).expect("opens");
    let mut session = database.session();
    session.execute(texts).expect("prepares the test");
    (database, session)
}

/// The environment of a program in the database `test`.
fn in_test() -> Environment {
    Environment {
        database: Some(Arc::from("test")),
        ..Environment::default()
    }
}

/// Adds a hook to a table of the database `test`.
fn add_hook(
    database: &Arc<Database>,
    table: &str,
    (time, event): (HookTime, RowEvent),
    environment: Environment,
    work: impl Fn(HookedRow<'_>, &mut dyn InnerStatements) -> Result<()> + Send + Sync + 'static,
) {
    let mut session = database.session();
    let context = StatementContext::internal(&mut session);
    let catalog = context.catalog();
    let table = catalog.table("test", table).expect("a table");
    let mut hooks = table.hooks.as_deref().cloned().unwrap_or_default();
    let work = Box::new(work);
    hooks.add(time, event, Arc::new(Hook { environment, work }));
    let hooked = Arc::new(table.hooked(catalog.next_table_id(), hooks));
    let put = catalog.replace_table(&context, &table.definition, hooked, &[]);
    put.expect("puts the table with its hook");
}

/// Adds a hook that counts its rows.
fn count(database: &Arc<Database>, table: &str, when: (HookTime, RowEvent)) -> Arc<AtomicU64> {
    let rows = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&rows);
    add_hook(database, table, when, in_test(), move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    rows
}

/// A file of a client: two rows of three numbers.
#[derive(Debug)]
struct TwoLines;

impl LocalFiles for TwoLines {
    fn open(&mut self, _name: &str) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(&b"4\t4\t4\n5\t5\t5\n"[..]))
    }
}

/// Runs a statement in a frame; returns its rows, columns separated by spaces.
fn inner(statements: &mut dyn InnerStatements, text: &str) -> Result<String> {
    let result = statements.run(text, &[])?;
    let rows = result.rows_text().into_iter().map(|row| {
        let values = row
            .into_iter()
            .map(|it| it.unwrap_or_else(|| "NULL".to_owned()));
        values.collect::<Vec<_>>().join(" ")
    });
    Ok(rows.collect::<Vec<_>>().join(";"))
}

/// Runs statements as a client; returns the rows of the last one as [`inner`] does.
fn rows(session: &mut Session, text: &str) -> String {
    let results = session.execute(text).expect(text);
    let last = results.last().expect("a result");
    let rows = last.rows_text().into_iter().map(|row| {
        let values = row
            .into_iter()
            .map(|it| it.unwrap_or_else(|| "NULL".to_owned()));
        values.collect::<Vec<_>>().join(" ")
    });
    rows.collect::<Vec<_>>().join(";")
}

/// The error number of statements, or 0.
fn errno(session: &mut Session, text: &str) -> u16 {
    session.execute(text).err().map_or(0, |error| error.errno())
}

/// The values of a row that are not NULL, as CONCAT_WS shows them.
fn shown(values: &[Value]) -> Vec<String> {
    let known = values.iter().filter(|value| !value.is_null());
    let text = |value: &Value| match value {
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    known.map(text).collect()
}

/// Adds a hook that writes a line into the table `log`: a name, and the values of the row. After an event that
/// `counts`, also the number of rows in the table.
fn log(database: &Arc<Database>, name: &'static str, when: (HookTime, RowEvent), counts: bool) {
    add_hook(database, "t", when, in_test(), move |row, statements| {
        let mut line = vec![name.to_owned()];
        line.extend(row.old.into_iter().flat_map(|old| shown(&old[..2])));
        if let Some(new) = &row.new {
            let all = new.values();
            let of_change = [&all[..2], &all[3..]].concat();
            line.extend(shown(if row.old.is_some() { &of_change } else { all }));
        }
        if counts {
            line.push(inner(statements, "SELECT COUNT(*) FROM t")?);
        }
        let insert = format!("INSERT INTO log (what) VALUES ('{}')", line.join(" "));
        inner(statements, &insert).map(drop)
    });
}

#[test]
fn hooks_run_in_the_order_of_triggers() {
    let (database, mut session) = engine(
        "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what TEXT);
         CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL, c INT DEFAULT 7, g INT AS (a + 1))",
    );
    log(&database, "BI", BEFORE_INSERT, false);
    add_hook(&database, "t", BEFORE_INSERT, in_test(), |row, _| {
        let new = row.new.expect("a new row");
        match &new.values()[1] {
            Value::Null | Value::Int(0) => new.set(1, &Value::Int(99), &SqlType::bigint()),
            _ => Ok(()),
        }
    });
    log(&database, "AI", AFTER_INSERT, true);
    log(&database, "BU", BEFORE_UPDATE, false);
    log(&database, "AU", AFTER_UPDATE, false);
    log(&database, "BD", BEFORE_DELETE, false);
    log(&database, "AD", AFTER_DELETE, true);
    for (text, expected) in [
        (
            "INSERT INTO t (a, b) VALUES (1, NULL), (2, 5)",
            "BI 1 7 2;AI 1 99 7 2 1;BI 2 5 7 3;AI 2 5 7 3 2",
        ),
        ("INSERT INTO t (a) VALUES (3)", "BI 3 7 4;AI 3 99 7 4 3"),
        (
            "INSERT INTO t (a, b) VALUES (1, 1), (4, 4) ON DUPLICATE KEY UPDATE b = b + 1",
            "BI 1 1 7 2;BU 1 99 1 100 2;AU 1 99 1 100 2;BI 4 4 7 5;AI 4 4 7 5 4",
        ),
        (
            "INSERT INTO t (a, b) VALUES (1, 1) ON DUPLICATE KEY UPDATE b = b",
            "BI 1 1 7 2;BU 1 100 1 100 2;AU 1 100 1 100 2",
        ),
        (
            "REPLACE INTO t (a, b) VALUES (2, 6), (5, 5)",
            "BI 2 6 7 3;BD 2 5;AD 2 5 3;AI 2 6 7 3 4;BI 5 5 7 6;AI 5 5 7 6 5",
        ),
        (
            "UPDATE t SET b = b WHERE a = 1",
            "BU 1 100 1 100 2;AU 1 100 1 100 2",
        ),
        (
            "UPDATE t SET b = b + 1 WHERE a IN (1, 2)",
            "BU 1 100 1 101 2;AU 1 100 1 101 2;BU 2 6 2 7 3;AU 2 6 2 7 3",
        ),
        (
            "DELETE FROM t WHERE a IN (4, 5)",
            "BD 4 4;AD 4 4 4;BD 5 5;AD 5 5 3",
        ),
        (
            "INSERT IGNORE INTO t (a, b) VALUES (1, 1), (6, 6)",
            "BI 1 1 7 2;BI 6 6 7 7;AI 6 6 7 7 4",
        ),
    ] {
        session.execute(text).expect(text);
        assert_eq!(
            rows(&mut session, "SELECT what FROM log ORDER BY id"),
            expected,
            "{text}"
        );
        session.execute("DELETE FROM log").expect("empties the log");
    }
    assert_eq!(
        errno(&mut session, "UPDATE t SET b = NULL WHERE a = 1"),
        1048
    );
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM log"), "0");
    let left = rows(&mut session, "SELECT * FROM t");
    assert_eq!(left, "1 101 7 2;2 7 7 3;3 99 7 4;6 6 7 7");
}

#[test]
fn a_value_that_no_hook_sets_is_refused_after_the_hooks() {
    let (database, mut session) =
        engine("CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT NOT NULL)");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let values = Arc::clone(&seen);
    add_hook(&database, "t", BEFORE_INSERT, in_test(), move |row, _| {
        let new = row.new.expect("a new row");
        values.lock().unwrap().push(shown(new.values()).join(" "));
        Ok(())
    });
    for (text, error) in [
        ("INSERT INTO t (a) VALUES (3)", 1364),
        ("INSERT INTO t VALUES (NULL, NULL)", 1048),
        ("INSERT INTO t (b) VALUES (4), (NULL)", 1048),
        ("INSERT INTO t (b) VALUES (5)", 0),
    ] {
        assert_eq!(errno(&mut session, text), error, "{text}");
    }
    // The number is not there yet.
    assert_eq!(seen.lock().unwrap().join(";"), "3;0;0 4;0;0 5");
    assert_eq!(rows(&mut session, "SELECT b FROM t"), "5");
}

#[test]
fn an_error_of_a_hook_undoes_the_statement() {
    let (database, mut session) = engine(
        "CREATE TABLE log (what TEXT); CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (a INT);
         CREATE TEMPORARY TABLE v (a INT PRIMARY KEY); INSERT INTO u VALUES (1), (2), (3)",
    );
    add_hook(
        &database,
        "t",
        AFTER_INSERT,
        in_test(),
        |row, statements| {
            inner(statements, "INSERT INTO log VALUES ('x')")?;
            match row.new.expect("a new row").values()[0] {
                Value::Int(3) => Err(codes::ER_UNKNOWN_ERROR.with(&[&"a signal"])),
                _ => Ok(()),
            }
        },
    );
    let failing = [
        "INSERT INTO t VALUES (1), (2), (3)",
        "INSERT INTO t SELECT a FROM u",
    ];
    for text in failing {
        assert_eq!(errno(&mut session, text), 1105, "{text}");
        assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t"), "0", "{text}");
        assert_eq!(
            rows(&mut session, "SELECT COUNT(*) FROM log"),
            "0",
            "{text}"
        );
    }
    session
        .execute("BEGIN; INSERT INTO t VALUES (7)")
        .expect("inserts");
    for text in failing {
        assert_eq!(errno(&mut session, text), 1105, "{text}");
    }
    session.execute("COMMIT").expect("commits");
    assert_eq!(rows(&mut session, "SELECT * FROM t"), "7");
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM log"), "1");
}

#[test]
fn a_failed_statement_of_a_hook_is_undone_alone() {
    let (database, mut session) = engine(
        "CREATE TABLE u (a INT PRIMARY KEY); CREATE TABLE t (a INT PRIMARY KEY);
         CREATE TEMPORARY TABLE v (a INT PRIMARY KEY)",
    );
    add_hook(&database, "t", BEFORE_INSERT, in_test(), |_, statements| {
        for table in ["u", "v"] {
            inner(statements, &format!("INSERT INTO {table} VALUES (1)"))?;
            let failing = format!("INSERT INTO {table} VALUES (2), (1)");
            let error = inner(statements, &failing).expect_err("a duplicate key");
            assert_eq!(error.errno(), 1062);
        }
        Ok(())
    });
    session
        .execute("INSERT INTO t VALUES (1)")
        .expect("inserts");
    assert_eq!(rows(&mut session, "SHOW WARNINGS"), "");
    assert_eq!(rows(&mut session, "SELECT * FROM u"), "1");
    assert_eq!(rows(&mut session, "SELECT * FROM v"), "1");
}

#[test]
fn a_frame_keeps_the_state_of_the_outer_statement() {
    let (database, mut session) = engine(
        "CREATE DATABASE other; CREATE TABLE n (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
         INSERT INTO n (b) VALUES (0), (0), (0), (0);
         CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT) AUTO_INCREMENT = 100",
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let answers = Arc::clone(&seen);
    let environment = Environment {
        database: Some(Arc::from("other")),
        sql_mode: Some(0),
        definer: None,
    };
    add_hook(
        &database,
        "t",
        AFTER_INSERT,
        environment,
        move |_, statements| {
            let mut answers = answers.lock().unwrap();
            let state =
                "SELECT LAST_INSERT_ID(), FOUND_ROWS(), DATABASE(), @@sql_mode, @@insert_id";
            answers.push(inner(statements, state)?);
            inner(statements, "INSERT INTO test.n (b) VALUES (1), (2)")?;
            answers.push(inner(statements, "SELECT LAST_INSERT_ID(), ROW_COUNT()")?);
            // A warning, since there is no strict mode.
            inner(statements, "INSERT INTO test.n (b) VALUES ('x')")?;
            answers.push(inner(statements, "SHOW COUNT(*) WARNINGS")?);
            inner(statements, "SELECT * FROM test.n LIMIT 3")?;
            answers.push(inner(statements, "SELECT FOUND_ROWS()")?);
            inner(statements, "SET sql_mode = 'ANSI'")?;
            inner(statements, "USE test")?;
            Ok(())
        },
    );
    session
        .execute("SELECT 1 UNION SELECT 2")
        .expect("finds two rows");
    let results = session
        .execute("INSERT INTO t (b) VALUES (10)")
        .expect("inserts");
    assert_eq!(
        (results[0].warning_count, results[0].last_insert_id),
        (0, 100)
    );
    assert_eq!(
        *seen.lock().unwrap(),
        ["1 2 other  0", "5 2", "1", "3"],
        "the frame's own state"
    );
    assert_eq!(rows(&mut session, "SELECT ROW_COUNT()"), "1");
    assert_eq!(
        rows(&mut session, "SELECT LAST_INSERT_ID(), DATABASE()"),
        "100 test"
    );
    assert_eq!(
        errno(&mut session, "INSERT INTO n (b) VALUES ('x')"),
        1366,
        "strict again"
    );
}

#[test]
fn a_frame_has_savepoints_of_its_own() {
    let (database, mut session) =
        engine("CREATE TABLE u (a INT); CREATE TABLE t (a INT PRIMARY KEY)");
    add_hook(&database, "t", AFTER_INSERT, in_test(), |_, statements| {
        inner(statements, "INSERT INTO u VALUES (1)")?;
        let unknown = inner(statements, "ROLLBACK TO SAVEPOINT s").expect_err("no savepoint");
        assert_eq!(unknown.errno(), 1305);
        inner(statements, "SAVEPOINT s")?;
        inner(statements, "INSERT INTO u VALUES (2)")?;
        inner(statements, "ROLLBACK TO SAVEPOINT s").map(drop)
    });
    session
        .execute("BEGIN; INSERT INTO u VALUES (0); SAVEPOINT s; INSERT INTO t VALUES (1)")
        .expect("inserts");
    assert_eq!(rows(&mut session, "SELECT * FROM u"), "0;1");
    session
        .execute("ROLLBACK TO SAVEPOINT s; COMMIT")
        .expect("rolls back");
    assert_eq!(rows(&mut session, "SELECT * FROM u"), "0");
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn a_frame_has_the_privileges_of_the_definer() {
    let (database, mut session) = engine(
        "CREATE TABLE t (a INT); CREATE TABLE secret (a INT); INSERT INTO secret VALUES (7);
         CREATE USER ann@localhost, bob@localhost; GRANT SELECT ON test.secret TO ann@localhost",
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let answers = Arc::clone(&seen);
    let environment = Environment {
        definer: Some(("ann".to_owned(), "localhost".to_owned())),
        ..in_test()
    };
    add_hook(
        &database,
        "t",
        BEFORE_INSERT,
        environment,
        move |_, statements| {
            let mut answers = answers.lock().unwrap();
            answers.push(inner(statements, "SELECT CURRENT_USER(), a FROM secret")?);
            let denied = inner(statements, "DELETE FROM secret").expect_err("no privilege");
            answers.push(denied.errno().to_string());
            Ok(())
        },
    );
    session
        .execute("INSERT INTO t VALUES (1)")
        .expect("inserts");
    assert_eq!(*seen.lock().unwrap(), ["ann@localhost 7", "1142"]);
    session
        .execute("DELETE FROM secret")
        .expect("has all privileges again");
    session
        .execute("DROP USER ann@localhost")
        .expect("drops the definer");
    assert_eq!(errno(&mut session, "INSERT INTO t VALUES (2)"), 1449);
}

#[test]
fn a_table_in_use_outside_is_read_and_not_changed() {
    let (database, mut session) = engine(
        "CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (a INT); CREATE TABLE w (a INT);
         INSERT INTO u VALUES (1), (2)",
    );
    add_hook(&database, "t", BEFORE_INSERT, in_test(), |_, statements| {
        inner(statements, "SELECT COUNT(*) FROM u, t")?;
        inner(statements, "UPDATE u SET a = a + 1").map(drop)
    });
    assert_eq!(errno(&mut session, "INSERT INTO t SELECT a FROM u"), 1442);
    assert_eq!(errno(&mut session, "INSERT INTO t VALUES (1)"), 0);
    assert_eq!(rows(&mut session, "SELECT * FROM u"), "2;3");
    add_hook(&database, "u", BEFORE_UPDATE, in_test(), |_, statements| {
        inner(statements, "DELETE FROM t").map(drop)
    });
    assert_eq!(errno(&mut session, "INSERT INTO t VALUES (5)"), 1442);
    assert_eq!(rows(&mut session, "SELECT * FROM u"), "2;3");
}

#[test]
fn a_hook_ends_no_transaction() {
    let (database, mut session) = engine(
        "CREATE TABLE t (a INT); CREATE TABLE what (text TEXT);
         INSERT INTO what VALUES ('COMMIT'), ('BEGIN'), ('ROLLBACK'), ('CREATE TABLE z (a INT)')",
    );
    add_hook(&database, "t", BEFORE_INSERT, in_test(), |_, statements| {
        let text = inner(statements, "SELECT text FROM what LIMIT 1")?;
        inner(statements, &text).map(drop)
    });
    for _ in 0..4 {
        assert_eq!(errno(&mut session, "INSERT INTO t VALUES (1)"), 1422);
        session
            .execute("DELETE FROM what LIMIT 1")
            .expect("goes on");
    }
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn every_path_of_rows_runs_hooks() {
    let (database, mut session) = engine(
        "CREATE TABLE t (a INT PRIMARY KEY, b INT); CREATE TABLE u (a INT PRIMARY KEY, b INT);
         INSERT INTO u SELECT seq, 0 FROM (WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL
         SELECT seq + 1 FROM s WHERE seq < 900) SELECT * FROM s) s;
         INSERT INTO t VALUES (1, 1); UPDATE t SET b = 2 WHERE a = 1; DELETE FROM t WHERE a = 1;
         INSERT INTO t VALUES (1, 1); UPDATE t SET b = 2 WHERE a = 1; DELETE FROM t WHERE a = 1",
    );
    let insert = session
        .prepare("INSERT INTO t VALUES (?, ?)")
        .expect("prepares");
    let number = |number| (Value::Int(number), SqlType::bigint());
    let add = |session: &mut Session, key| {
        let stream = session.execute_prepared(&insert, &[number(key), number(0)]);
        stream.expect("inserts").finish();
    };
    for key in [-1, -2, -3] {
        add(&mut session, key);
    }
    session.execute("DELETE FROM t").expect("empties the table");
    let inserted = count(&database, "t", AFTER_INSERT);
    let updated = count(&database, "t", BEFORE_UPDATE);
    let deleted = count(&database, "t", AFTER_DELETE);
    let expect = |what: &str, counts: [u64; 3]| {
        let counted = [&inserted, &updated, &deleted].map(|rows| rows.swap(0, Ordering::Relaxed));
        assert_eq!(counted, counts, "{what}");
    };
    for key in [-1, -2, -3] {
        add(&mut session, key);
    }
    expect("prepared statements of one row", [3, 0, 0]);
    for _ in 0..3 {
        session
            .execute("INSERT INTO t VALUES (1, 1)")
            .expect("inserts");
        session
            .execute("UPDATE t SET b = 2 WHERE a = 1")
            .expect("updates");
        session
            .execute("DELETE FROM t WHERE a = 1")
            .expect("deletes");
    }
    expect("cached statements of one row", [3, 3, 3]);
    session
        .execute("INSERT INTO t SELECT * FROM u")
        .expect("inserts");
    expect("rows of a query", [900, 0, 0]);
    session
        .execute("UPDATE t JOIN u USING (a) SET t.b = 1, u.b = 1")
        .expect("updates");
    expect("tables together", [0, 900, 0]);
    session
        .execute("REPLACE INTO t SELECT * FROM u WHERE a <= 10")
        .expect("replaces");
    expect("REPLACE", [10, 0, 10]);
    session
        .execute("DELETE t, u FROM t JOIN u USING (a)")
        .expect("deletes");
    expect("tables together", [0, 0, 900]);
    session.execute("DELETE FROM t").expect("deletes");
    expect("all rows", [0, 0, 3]);
    session
        .execute("INSERT INTO t VALUES (1, 1)")
        .expect("inserts");
    session
        .execute("ALTER TABLE t ADD c INT, ALGORITHM = COPY")
        .expect("alters");
    expect("a copy of the table", [1, 0, 0]);
    session
        .execute("RENAME TABLE t TO v; INSERT INTO v VALUES (2, 2, 2)")
        .expect("inserts");
    expect("the altered and renamed table", [1, 0, 0]);
    session.execute("TRUNCATE TABLE v").expect("empties");
    expect("TRUNCATE TABLE", [0, 0, 0]);
    session
        .execute("INSERT INTO v VALUES (3, 3, 3)")
        .expect("inserts");
    expect("the emptied table", [1, 0, 0]);
    session.set_local_files(Box::new(TwoLines));
    session
        .execute("SET GLOBAL local_infile = ON; LOAD DATA LOCAL INFILE 'x' INTO TABLE v")
        .expect("loads");
    expect("LOAD DATA", [2, 0, 0]);
}

#[test]
fn cascades_run_no_hooks() {
    let (database, mut session) = engine(
        "CREATE TABLE p (a INT PRIMARY KEY);
         CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE);
         INSERT INTO p VALUES (1); INSERT INTO t VALUES (1)",
    );
    let deleted = count(&database, "t", BEFORE_DELETE);
    let deleted_parents = count(&database, "p", BEFORE_DELETE);
    session.execute("DELETE FROM p").expect("deletes");
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t"), "0");
    assert_eq!(deleted.load(Ordering::Relaxed), 0);
    assert_eq!(deleted_parents.load(Ordering::Relaxed), 1);
}

#[test]
fn a_hook_may_add_the_parent_of_its_row() {
    let (database, mut session) = engine(
        "CREATE TABLE p (a INT PRIMARY KEY);
         CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES p (a))",
    );
    add_hook(
        &database,
        "t",
        BEFORE_INSERT,
        in_test(),
        |row, statements| {
            let key = shown(row.new.expect("a new row").values()).join("");
            inner(statements, &format!("INSERT INTO p VALUES ({key})")).map(drop)
        },
    );
    session
        .execute("INSERT INTO t VALUES (1), (2)")
        .expect("each row has its parent");
    assert_eq!(rows(&mut session, "SELECT * FROM p"), "1;2");
}

#[test]
fn a_panic_in_a_hook_leaves_its_frame() {
    let (database, mut session) = engine("CREATE DATABASE other; CREATE TABLE t (a INT)");
    let environment = Environment {
        database: Some(Arc::from("other")),
        sql_mode: Some(0),
        definer: None,
    };
    add_hook(&database, "t", BEFORE_INSERT, environment, |_, _| {
        panic!("a fault of a hook")
    });
    let before = rows(&mut session, "SELECT DATABASE(), @@sql_mode");
    assert_eq!(errno(&mut session, "INSERT INTO t VALUES (1)"), 1105);
    assert_eq!(rows(&mut session, "SELECT DATABASE(), @@sql_mode"), before);
    session
        .execute("BEGIN; COMMIT")
        .expect("is outside of frames");
}
