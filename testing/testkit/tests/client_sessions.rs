//! What a server does with sessions for its clients: they begin anew, become another account's, are
//! counted and limited, read their clients' files, tell of their changes, and end when they are killed.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mayfly_engine::{
    CollationId, ConnectionSlot, LocalFiles, Session, SessionOptions, SqlType, StateChanges, Value,
};
use mayfly_testkit::fixture::{Fixture, must};

fn texts(session: &mut Session, sql: &str) -> Vec<Vec<String>> {
    let results = session.execute(sql);
    let results = results.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let rows = results.iter().flat_map(|result| result.rows_text());
    let text = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    rows.map(|row| row.into_iter().map(text).collect())
        .collect()
}

fn text(session: &mut Session, sql: &str) -> String {
    texts(session, sql)[0][0].clone()
}

fn errno(result: mayfly_engine::Result<impl std::fmt::Debug>) -> u16 {
    result.expect_err("it fails").errno()
}

#[test]
fn a_session_that_is_reset_is_as_it_began() {
    let fixture = Fixture::open(|_| ());
    let mut other = fixture.database.session();
    must(
        &mut other,
        "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b INT)",
    );
    let mut session = fixture.database.session();
    let id = session.id();
    for statement in [
        "SET @a = 1, sql_mode = '', NAMES latin1",
        "PREPARE s FROM 'SELECT 1'",
        "CREATE TEMPORARY TABLE x (a INT)",
        "BEGIN",
        "INSERT INTO t (b) VALUES (1)",
    ] {
        must(&mut session, statement);
    }
    assert!(session.state().in_transaction);
    session.reset();
    assert_eq!(session.id(), id);
    assert_eq!(session.current_database(), Some("test"));
    assert!(!session.state().in_transaction);
    let row = &texts(
        &mut session,
        "SELECT @a, LENGTH(@@sql_mode) > 0, @@character_set_client, LAST_INSERT_ID()",
    )[0];
    assert_eq!(row, &["NULL", "1", "utf8mb4", "0"]);
    assert_eq!(errno(session.execute("EXECUTE s")), 1243);
    assert_eq!(errno(session.execute("SELECT * FROM x")), 1146);
    assert_eq!(text(&mut session, "SELECT COUNT(*) FROM t"), "0");
    must(&mut other, "DROP TABLE t");
}

#[test]
fn a_session_of_another_account_keeps_its_number() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    let mut watcher = fixture.database.session();
    let id = session.id();
    must(&mut session, "SET @a = 1");
    session.change_user(SessionOptions {
        user: "somebody".to_owned(),
        host: "elsewhere".to_owned(),
        database: None,
        interactive: true,
        collation: Some(CollationId::LATIN1_SWEDISH_CI),
        ..SessionOptions::new()
    });
    assert_eq!((session.id(), session.user()), (id, "somebody"));
    must(&mut watcher, "SET GLOBAL interactive_timeout = 77");
    let row = &texts(
        &mut session,
        "SELECT USER(), DATABASE(), @a, @@character_set_client, @@wait_timeout, CONNECTION_ID()",
    )[0];
    let number = id.to_string();
    let expected = [
        "somebody@elsewhere",
        "NULL",
        "NULL",
        "latin1",
        "28800",
        &number,
    ];
    assert_eq!(row, &expected);
    let seen = format!("SELECT user, host FROM information_schema.processlist WHERE id = {id}");
    assert_eq!(texts(&mut watcher, &seen), [["somebody", "elsewhere"]]);
    assert_eq!(
        text(
            &mut watcher,
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Threads_connected'"
        ),
        "2"
    );
    session.reset();
    assert_eq!(text(&mut session, "SELECT @@wait_timeout"), "77");
}

#[test]
fn there_is_one_place_more_than_max_connections() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(&mut session, "SET GLOBAL max_connections = 2");
    let accept = || {
        fixture
            .database
            .accept()
            .expect("nobody knows yet who it is")
    };
    let arriving: Vec<ConnectionSlot> = (0..4).map(|_| accept()).collect();
    assert!(arriving[1].id() > arriving[0].id());
    let mut arriving = arriving.into_iter();
    let mut enter = || {
        let place = arriving.next().expect("four have come");
        place.session(SessionOptions::new())
    };
    let second = enter().expect("two may be there");
    let third = enter().expect("and an administrator");
    assert_eq!(errno(enter()), 1040);
    assert_eq!(errno(fixture.database.accept()), 1040);
    drop(third);
    let third = fixture.database.accept().expect("there is a place again");
    must(&mut session, "SET GLOBAL max_user_connections = 1");
    assert_eq!(errno(enter()), 1203);
    let status = |session: &mut Session, name: &str| {
        let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        texts(session, &sql)[0][1].clone()
    };
    assert_eq!(status(&mut session, "Threads_connected"), "2");
    assert_eq!(status(&mut session, "Max_used_connections"), "4");
    assert_eq!(
        status(&mut session, "Connection_errors_max_connections"),
        "2"
    );
    fixture.database.count_aborted_client();
    assert_eq!(status(&mut session, "Aborted_clients"), "1");
    drop(second);
    drop(third);
}

#[derive(Debug)]
struct Client(Vec<u8>);

impl LocalFiles for Client {
    fn open(&mut self, name: &str) -> mayfly_engine::Result<Box<dyn Read + Send>> {
        assert_eq!(name, "rows.csv");
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

#[test]
fn local_files_are_the_clients() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    session.set_local_files(Box::new(Client(b"1\tone\n2\ttwo\nx\tthree\n".to_vec())));
    must(&mut session, "CREATE TABLE t (a INT, b VARCHAR(10))");
    let loaded = session.execute("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t");
    assert_eq!(loaded.expect("the client's rows")[0].affected_rows, 3);
    assert_eq!(session.warnings().len(), 1);
    assert_eq!(
        text(&mut session, "SELECT GROUP_CONCAT(b ORDER BY b) FROM t"),
        "one,three,two"
    );
    must(&mut session, "SET GLOBAL local_infile = 0");
    let refused = session.execute("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t");
    assert_eq!(errno(refused), 3948);
    must(&mut session, "DROP TABLE t");
}

#[test]
fn changes_are_told_to_who_wants_to_know() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(&mut session, "CREATE DATABASE other");
    must(&mut session, "USE other");
    assert_eq!(session.take_state_changes(), None);
    session.track_state(true);
    must(&mut session, "USE test");
    let schema = StateChanges {
        schema: Some("test".to_owned()),
        ..StateChanges::default()
    };
    assert_eq!(session.take_state_changes(), Some(schema));
    assert_eq!(session.take_state_changes(), None);
    must(&mut session, "SET autocommit = 0, max_error_count = 5");
    let changes = session.take_state_changes().expect("autocommit is listed");
    assert_eq!(
        changes.variables,
        [("autocommit".to_owned(), "OFF".to_owned())]
    );
    must(
        &mut session,
        "SET session_track_state_change = 1, session_track_system_variables = '*'",
    );
    session.take_state_changes();
    must(&mut session, "SET @a = 1");
    assert!(
        session
            .take_state_changes()
            .is_some_and(|changes| changes.state)
    );
    must(
        &mut session,
        "SET autocommit = 1, session_track_transaction_info = CHARACTERISTICS",
    );
    session.take_state_changes();
    must(&mut session, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    must(&mut session, "START TRANSACTION READ ONLY");
    let changes = session.take_state_changes().expect("a transaction");
    assert_eq!(changes.transaction_state.as_deref(), Some("T_______"));
    assert_eq!(
        changes.transaction_characteristics.as_deref(),
        Some("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION READ ONLY;")
    );
    assert!(session.state().in_read_only_transaction);
    must(&mut session, "COMMIT");
    let changes = session.take_state_changes().expect("it has ended");
    assert_eq!(changes.transaction_state.as_deref(), Some("________"));
    must(&mut session, "DROP DATABASE other");
}

#[test]
fn a_killed_session_wakes_who_waits_for_its_client() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    let mut killer = fixture.database.session();
    let handle = session.kill_handle();
    let woken = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&woken);
    handle.on_close(move || flag.store(true, Ordering::Relaxed));
    must(&mut killer, &format!("KILL QUERY {}", session.id()));
    assert_eq!(text(&mut session, "SELECT 1"), "1");
    assert!(!woken.load(Ordering::Relaxed));
    must(&mut killer, &format!("KILL {}", session.id()));
    assert!(woken.load(Ordering::Relaxed) && handle.is_closed());
    assert_eq!(errno(session.execute("SELECT 1")), 1317);
    assert_eq!(errno(session.prepare("SELECT 1")), 1317);
}

#[test]
fn queries_end_when_their_time_is_over() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    let endless =
        "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c";
    must(&mut session, "SET cte_max_recursion_depth = 4294967295");
    let begun = Instant::now();
    must(&mut session, "SET max_execution_time = 100");
    assert_eq!(errno(session.execute(endless)), 3024);
    must(&mut session, "SET max_execution_time = 0");
    let hinted = endless.replace(
        "SELECT COUNT",
        "SELECT /*+ MAX_EXECUTION_TIME(100) */ COUNT",
    );
    assert_eq!(errno(session.execute(&hinted)), 3024);
    assert!(begun.elapsed() < Duration::from_secs(60));
    // Statements that change rows take as long as they do.
    must(&mut session, "SET max_execution_time = 1");
    must(&mut session, "CREATE TABLE t (a INT)");
    must(&mut session, "INSERT INTO t SELECT SLEEP(0.05)");
    must(&mut session, "DROP TABLE t");
}

#[test]
fn prepared_statements_know_their_columns_and_names() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(
        &mut session,
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5))",
    );
    let prepared = session.prepare("SELECT id, v, ? FROM t WHERE id = ? LIMIT ?");
    let prepared = prepared.expect("a query");
    let names: Vec<&str> = prepared
        .columns()
        .iter()
        .map(|column| &*column.name)
        .collect();
    assert_eq!(
        (names, prepared.parameter_count()),
        (vec!["id", "v", "?"], 3)
    );
    for (statement, expected) in [
        ("SELECT * FROM missing WHERE a = ?", 1146),
        ("SELECT missing FROM t WHERE id = ?", 1054),
        ("INSERT INTO missing VALUES (?)", 1146),
        ("INSERT INTO t (missing) VALUES (?)", 1054),
        ("INSERT INTO t (id) VALUES (missing)", 1054),
        ("INSERT INTO t (id) VALUES (?, ?)", 1136),
        ("UPDATE t SET missing = ?", 1054),
        ("DELETE FROM t WHERE missing = ?", 1054),
        ("USE test", 1295),
        ("BEGIN", 1295),
        ("SAVEPOINT a", 1295),
        ("LOCK TABLES t READ", 1295),
        ("CHECK TABLE t", 1295),
        ("SHOW WARNINGS", 1295),
        ("SELECT 1; SELECT 2", 1064),
    ] {
        assert_eq!(errno(session.prepare(statement)), expected, "{statement}");
    }
    let shown = session.prepare("SHOW COLUMNS FROM t").expect("SHOW");
    assert_eq!(shown.columns().len(), 6);
    let one = || vec![(Value::Int(1), SqlType::bigint())];
    for (statement, values) in [
        ("DO ?", one()),
        ("SET @a = ?", one()),
        ("INSERT INTO t (id) VALUES (?)", one()),
        ("CREATE TABLE u SELECT ? AS a", one()),
        ("SHOW VARIABLES WHERE Variable_name = ?", one()),
        ("SELECT ? INTO @b", one()),
    ] {
        let prepared = session
            .prepare(statement)
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
        let run = session.execute_prepared(&prepared, &values);
        run.and_then(|rows| rows.into_result())
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    assert_eq!(
        texts(&mut session, "SELECT @a, @b, a, id FROM t, u"),
        [["1", "1", "1", "1"]]
    );
    must(&mut session, "DROP TABLE t, u");
}

#[test]
fn placeholders_are_of_the_types_that_they_meet() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(
        &mut session,
        "CREATE TABLE t (u BIGINT UNSIGNED, i INT, d DOUBLE, e DECIMAL(5,2), v VARCHAR(20), k DATETIME, b BLOB)",
    );
    // As MySQL 9.7 told a client: type, length, flags.
    const UNSIGNED: (u8, u32, u16) = (8, 21, 160);
    const INTEGER: (u8, u32, u16) = (8, 21, 128);
    const DOUBLE: (u8, u32, u16) = (5, 23, 128);
    const DECIMAL: (u8, u32, u16) = (246, 67, 128);
    const TEXT: (u8, u32, u16) = (253, 65_532, 0);
    const MOMENT: (u8, u32, u16) = (12, 26, 128);
    for (statement, expected) in [
        (
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, NULL)",
            &[UNSIGNED, INTEGER, DOUBLE, DECIMAL, TEXT, MOMENT][..],
        ),
        ("INSERT INTO t (v, u) VALUES (?, ?)", &[TEXT, UNSIGNED]),
        (
            "UPDATE t SET u = ?, v = ? WHERE i > ? AND k = ?",
            &[UNSIGNED, TEXT, INTEGER, MOMENT],
        ),
        (
            "SELECT ? FROM t WHERE u = ? AND e BETWEEN ? AND ? AND i IN (?, ?) LIMIT ?",
            &[TEXT, UNSIGNED, DECIMAL, DECIMAL, INTEGER, INTEGER, UNSIGNED],
        ),
    ] {
        let prepared = session.prepare(statement).expect(statement);
        let encoder = session.result_encoder();
        let found = prepared.placeholders().iter().map(|placeholder| {
            let field = encoder.field(placeholder);
            (field.field_type as u8, field.length, field.flags.0)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{statement}");
    }
}

#[test]
fn warnings_that_are_shown_are_not_raised_again() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    for (statement, expected) in [
        ("SELECT 1 / 0", 1),
        ("SHOW WARNINGS", 0),
        ("SHOW COUNT(*) WARNINGS", 0),
        ("SELECT @@warning_count, 'a' + 1", 1),
    ] {
        let result = session.execute(statement).expect(statement);
        assert_eq!(result[0].warning_count, expected, "{statement}");
    }
}

#[test]
fn a_cursor_outlasts_its_statement() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(&mut session, "SET cte_max_recursion_depth = 100000");
    let rows = "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5000) SELECT n, REPEAT('x', 200) FROM c";
    let prepared = session.prepare(rows).expect("a query");
    let stream = session.execute_prepared(&prepared, &[]);
    let cursor = stream.and_then(|stream| stream.into_cursor());
    let mut cursor = cursor.expect("rows");
    assert_eq!(cursor.columns().len(), 2);
    assert_eq!(text(&mut session, "SELECT 'meanwhile'"), "meanwhile");
    let mut count = 0;
    while let Some(batch) = cursor.next_rows(7).expect("rows") {
        assert!((1..=7).contains(&batch.row_count()));
        count += batch.row_count();
    }
    assert_eq!(count, 5000);
}

#[test]
fn a_text_may_have_one_statement_alone() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(&mut session, "CREATE TABLE t (a INT)");
    for round in 0..3 {
        let done = session.query_only("INSERT INTO t VALUES (1) ; -- and nothing else");
        assert_eq!(
            done.expect("one statement").finish().affected_rows,
            1,
            "{round}"
        );
        let two = session.query_only("INSERT INTO t VALUES (2);\nSELECT 1");
        let error = two
            .map(|stream| stream.finish())
            .expect_err("two statements");
        assert_eq!(error.errno(), 1064);
        assert!(error.message().contains("near 'SELECT 1'"), "{error}");
    }
    assert_eq!(
        text(&mut session, "SELECT COUNT(*) FROM t WHERE a = 1"),
        "3"
    );
    assert_eq!(
        text(&mut session, "SELECT COUNT(*) FROM t WHERE a = 2"),
        "0"
    );
    assert!(session.has_statement(" /* a */ ; x"));
    assert!(!session.has_statement(" ; -- nothing"));
    must(&mut session, "DROP TABLE t");
}

#[test]
fn prepared_statements_are_counted() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    must(&mut session, "SET GLOBAL max_prepared_stmt_count = 2");
    let first = session.prepare("SELECT 1").expect("the first");
    must(&mut session, "PREPARE s FROM 'SELECT 2'");
    assert_eq!(errno(session.prepare("SELECT 3")), 1461);
    assert_eq!(errno(session.execute("PREPARE r FROM 'SELECT 3'")), 1461);
    let count = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Prepared_stmt_count'";
    assert_eq!(text(&mut session, count), "2");
    drop(first);
    must(&mut session, "DEALLOCATE PREPARE s");
    assert_eq!(text(&mut session, count), "0");
}

#[test]
fn a_text_that_comes_again_is_the_same_statement() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    let mut other = fixture.database.session();
    let hits = |session: &mut Session| -> u64 {
        let sql = "SELECT SUM(CAST(VARIABLE_VALUE AS UNSIGNED)) FROM performance_schema.global_status \
                   WHERE VARIABLE_NAME IN ('Statement_cache_hits', 'Statement_cache_parameterized')";
        text(session, sql).parse().expect("a number")
    };
    must(&mut session, "CREATE TABLE t (a INT PRIMARY KEY, b INT)");
    let insert = "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = b + 1";
    let query = "SELECT b FROM t WHERE a = 1";
    let before = hits(&mut other);
    for round in 1..=5 {
        must(&mut session, insert);
        assert_eq!(text(&mut session, query), round.to_string());
        assert_eq!(text(&mut other, query), round.to_string());
    }
    assert!(hits(&mut other) >= before + 8);
    // One that comes to no row of a template is known by its own text.
    must(&mut session, "CREATE TABLE u (a INT UNSIGNED PRIMARY KEY)");
    let before = hits(&mut other);
    for _ in 0..5 {
        must(&mut session, "SELECT a FROM u WHERE a = 2");
    }
    assert!(hits(&mut other) >= before + 2);
    must(&mut session, "DROP TABLE u");
    // What the names mean is another thing now.
    must(
        &mut session,
        "CREATE TEMPORARY TABLE t SELECT 1 AS a, 'hidden' AS b",
    );
    assert_eq!(text(&mut session, query), "hidden");
    assert_eq!(text(&mut other, query), "5");
    must(&mut session, "DROP TEMPORARY TABLE t");
    assert_eq!(text(&mut session, query), "5");
    must(
        &mut other,
        "ALTER TABLE t MODIFY b VARCHAR(10), ADD c INT FIRST",
    );
    assert_eq!(text(&mut session, query), "5");
    must(&mut other, "CREATE DATABASE d");
    must(&mut other, "CREATE TABLE d.t SELECT 1 AS a, 'another' AS b");
    must(&mut other, "USE d");
    assert_eq!(text(&mut other, query), "another");
    must(&mut other, "DROP DATABASE d");
    assert_eq!(errno(other.execute(query)), 1046);
    must(&mut session, "DROP TABLE t");
    assert_eq!(errno(session.execute(query)), 1146);
    // What belongs to a session or a moment.
    let facts = "SELECT CONNECTION_ID(), USER(), DATABASE(), @v, @@sql_mode = ''";
    must(&mut session, "SET @v = 1");
    for _ in 0..3 {
        let mut third = fixture.database.session_with(SessionOptions {
            user: "third".to_owned(),
            database: None,
            ..SessionOptions::new()
        });
        let id = third.id().to_string();
        assert_eq!(
            texts(&mut third, facts),
            [[&*id, "third@localhost", "NULL", "NULL", "0"]]
        );
        let id = session.id().to_string();
        assert_eq!(
            texts(&mut session, facts),
            [[&*id, "root@localhost", "test", "1", "0"]]
        );
    }
    must(&mut session, "SET sql_mode = 'ANSI_QUOTES'");
    must(&mut other, "USE test");
    for _ in 0..3 {
        assert_eq!(text(&mut other, "SELECT \"x\""), "x");
        assert_eq!(errno(session.execute("SELECT \"x\"")), 1054);
    }
}

/// What the process has of the machine's memory.
#[cfg(target_os = "linux")]
fn resident_bytes() -> usize {
    let statistics = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages = statistics
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_usize) * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_idle_sessions_need_little() {
    const SESSIONS: usize = 2000;
    let fixture = Fixture::open(|_| ());
    let open = || {
        let mut session = fixture.database.session();
        for statement in [
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
            "SET autocommit = 1",
            "SELECT 1",
        ] {
            must(&mut session, statement);
        }
        session
    };
    let _first: Vec<Session> = (0..50).map(|_| open()).collect();
    let before = resident_bytes();
    let sessions: Vec<Session> = (0..SESSIONS).map(|_| open()).collect();
    let each = resident_bytes().saturating_sub(before) / sessions.len();
    assert!(each < 8 << 10, "an idle session needs {each} bytes");
}
