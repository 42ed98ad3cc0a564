//! Sessions of a server's clients: reset, change of user, counters and limits, local files of clients, state tracking,
//! and kills.

use std::io::{Cursor, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mayfly_engine::{
    CollationId, ConnectionSlot, LocalFiles, Session, SessionOptions, SqlType, StateChanges, Value,
};
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

fn status(session: &mut Session, name: &str) -> u64 {
    let row = session.value(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    let value = row
        .split('\t')
        .next_back()
        .and_then(|value| value.parse().ok());
    value.expect("a number")
}

fn errno(result: mayfly_engine::Result<impl std::fmt::Debug>) -> u16 {
    result.expect_err("it fails").errno()
}

#[test]
fn a_session_that_is_reset_is_as_it_began() {
    let (fixture, mut other) = Fixture::with_session();
    other.must("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b INT)");
    let mut session = fixture.session();
    let id = session.id();
    session.must_all([
        "SET @a = 1, sql_mode = '', NAMES latin1",
        "PREPARE s FROM 'SELECT 1'",
        "CREATE TEMPORARY TABLE x (a INT)",
        "BEGIN",
        "INSERT INTO t (b) VALUES (1)",
    ]);
    assert!(session.state().in_transaction);
    session.reset();
    assert_eq!(session.id(), id);
    assert_eq!(session.current_database(), Some("test"));
    assert!(!session.state().in_transaction);
    let facts = "SELECT @a, LENGTH(@@sql_mode) > 0, @@character_set_client, LAST_INSERT_ID()";
    assert_eq!(session.value(facts), "NULL\t1\tutf8mb4\t0");
    assert_eq!(session.errno("EXECUTE s"), 1243);
    assert_eq!(session.errno("SELECT * FROM x"), 1146);
    assert_eq!(session.value("SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn temporary_tables_of_other_sessions_are_shown() {
    let (fixture, mut session) = Fixture::with_session();
    let mut watcher = fixture.session();
    session.must("CREATE TEMPORARY TABLE shown (a INT)");
    let expected = format!("\t{}\ttest.shown\tuser\t", session.id());
    for one in [&mut session, &mut watcher] {
        let shown = one.value("SHOW TEMPORARY TABLES WHERE Name = 'test.shown'");
        assert!(shown.contains(&expected), "{shown}");
    }
}

#[test]
fn a_session_of_another_account_keeps_its_number() {
    let (fixture, mut session) = Fixture::with_session();
    let mut watcher = fixture.session();
    let id = session.id();
    session.must("SET @a = 1");
    session.change_user(SessionOptions {
        user: "somebody".to_owned(),
        host: "elsewhere".to_owned(),
        database: None,
        interactive: true,
        collation: Some(CollationId::LATIN1_SWEDISH_CI),
        ..SessionOptions::new()
    });
    assert_eq!((session.id(), session.user()), (id, "somebody"));
    watcher.must("SET GLOBAL interactive_timeout = 77");
    let facts =
        "SELECT USER(), DATABASE(), @a, @@character_set_client, @@wait_timeout, CONNECTION_ID()";
    let expected = format!("somebody@elsewhere\tNULL\tNULL\tlatin1\t28800\t{id}");
    assert_eq!(session.value(facts), expected);
    let seen = format!("SELECT user, host FROM information_schema.processlist WHERE id = {id}");
    assert_eq!(watcher.must(&seen), ["somebody\telsewhere"]);
    assert_eq!(status(&mut watcher, "Threads_connected"), 2);
    session.reset();
    assert_eq!(session.value("SELECT @@wait_timeout"), "77");
}

#[test]
fn there_is_one_place_more_than_max_connections() {
    let (fixture, mut session) = Fixture::with_session();
    session.must("SET GLOBAL max_connections = 2");
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
    session.must("SET GLOBAL max_user_connections = 1");
    assert_eq!(errno(enter()), 1203);
    assert_eq!(status(&mut session, "Threads_connected"), 2);
    assert_eq!(status(&mut session, "Max_used_connections"), 4);
    assert_eq!(status(&mut session, "Connection_errors_max_connections"), 2);
    fixture.database.count_aborted_client();
    assert_eq!(status(&mut session, "Aborted_clients"), 1);
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
    let (_fixture, mut session) = Fixture::with_session();
    session.set_local_files(Box::new(Client(b"1\tone\n2\ttwo\nx\tthree\n".to_vec())));
    session.must("CREATE TABLE t (a INT, b VARCHAR(10))");
    let loaded = session.execute("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t");
    assert_eq!(loaded.expect("the client's rows")[0].affected_rows, 3);
    assert_eq!(session.warnings().len(), 1);
    assert_eq!(
        session.value("SELECT GROUP_CONCAT(b ORDER BY b) FROM t"),
        "one,three,two"
    );
    session.must("SET GLOBAL local_infile = 0");
    let refused = session.execute("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE t");
    assert_eq!(errno(refused), 3948);
}

/// A file that records the sizes of its reads.
#[derive(Debug, Default)]
struct Asked(Arc<Mutex<Vec<usize>>>);

struct AskedFile(Cursor<Vec<u8>>, Arc<Mutex<Vec<usize>>>);

impl LocalFiles for Asked {
    fn open(&mut self, _: &str) -> mayfly_engine::Result<Box<dyn Read + Send>> {
        let text: String = (0..100_000).map(|number| format!("{number}\n")).collect();
        Ok(Box::new(AskedFile(
            Cursor::new(text.into_bytes()),
            Arc::clone(&self.0),
        )))
    }
}

impl Read for AskedFile {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.1.lock().expect("nothing panics").push(bytes.len());
        self.0.read(bytes)
    }
}

#[test]
fn load_data_reads_so_much_of_a_file_at_a_time_as_read_buffer_size_says() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (a INT)");
    // The default, a size, and one that is rounded down to blocks as MySQL rounds it.
    for (size, bytes) in [("DEFAULT", 131_072), ("16384", 16384), ("13000", 12288)] {
        let asked = Asked::default();
        let seen = Arc::clone(&asked.0);
        session.set_local_files(Box::new(asked));
        session.must(&format!("SET SESSION read_buffer_size = {size}"));
        session.must("TRUNCATE TABLE t");
        session.must("LOAD DATA LOCAL INFILE 'numbers' INTO TABLE t");
        assert_eq!(session.value("SELECT COUNT(*) FROM t"), "100000");
        let seen = seen.lock().expect("nothing panics");
        // 588890 bytes; one more read finds the end.
        assert_eq!(
            seen.iter().filter(|asked| **asked == bytes).count(),
            588_890 / bytes + 1
        );
        assert!(seen.len() <= 588_890 / bytes + 2, "{seen:?}");
    }
}

#[test]
fn changes_are_reported_to_clients_that_track_them() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE DATABASE other");
    session.must("USE other");
    assert_eq!(session.take_state_changes(), None);
    session.track_state(true);
    session.must("USE test");
    let schema = StateChanges {
        schema: Some("test".to_owned()),
        ..StateChanges::default()
    };
    assert_eq!(session.take_state_changes(), Some(schema));
    assert_eq!(session.take_state_changes(), None);
    session.must("SET autocommit = 0, max_error_count = 5");
    let changes = session.take_state_changes().expect("autocommit is listed");
    assert_eq!(
        changes.variables,
        [("autocommit".to_owned(), "OFF".to_owned())]
    );
    session.must("SET session_track_state_change = 1, session_track_system_variables = '*'");
    session.take_state_changes();
    session.must("SET @a = 1");
    assert!(
        session
            .take_state_changes()
            .is_some_and(|changes| changes.state)
    );
    session.must("SET autocommit = 1, session_track_transaction_info = CHARACTERISTICS");
    session.take_state_changes();
    session.must("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    session.must("START TRANSACTION READ ONLY");
    let changes = session.take_state_changes().expect("a transaction");
    assert_eq!(changes.transaction_state.as_deref(), Some("T_______"));
    assert_eq!(
        changes.transaction_characteristics.as_deref(),
        Some("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION READ ONLY;")
    );
    assert!(session.state().in_read_only_transaction);
    session.must("COMMIT");
    let changes = session.take_state_changes().expect("it has ended");
    assert_eq!(changes.transaction_state.as_deref(), Some("________"));
}

#[test]
fn a_killed_session_wakes_who_waits_for_its_client() {
    let (fixture, mut session) = Fixture::with_session();
    let mut killer = fixture.session();
    let handle = session.kill_handle();
    let woken = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&woken);
    handle.on_close(move || flag.store(true, Ordering::Relaxed));
    killer.must(&format!("KILL QUERY {}", session.id()));
    assert_eq!(session.value("SELECT 1"), "1");
    assert!(!woken.load(Ordering::Relaxed));
    killer.must(&format!("KILL {}", session.id()));
    assert!(woken.load(Ordering::Relaxed) && handle.is_closed());
    assert_eq!(session.errno("SELECT 1"), 1317);
    assert_eq!(errno(session.prepare("SELECT 1")), 1317);
}

#[test]
fn queries_end_when_their_time_is_over() {
    let (_fixture, mut session) = Fixture::with_session();
    let endless =
        "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c";
    session.must("SET cte_max_recursion_depth = 4294967295");
    let begun = Instant::now();
    session.must("SET max_execution_time = 100");
    assert_eq!(session.errno(endless), 3024);
    session.must("SET max_execution_time = 0");
    let hinted = endless.replace(
        "SELECT COUNT",
        "SELECT /*+ MAX_EXECUTION_TIME(100) */ COUNT",
    );
    assert_eq!(session.errno(&hinted), 3024);
    assert!(begun.elapsed() < Duration::from_secs(60));
    // Statements that change rows are not limited.
    session.must("SET max_execution_time = 1");
    session.must("CREATE TABLE t (a INT)");
    session.must("INSERT INTO t SELECT SLEEP(0.05)");
}

#[test]
fn prepared_statements_know_their_columns_and_names() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5))");
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
        session.must("SELECT @a, @b, a, id FROM t, u"),
        ["1\t1\t1\t1"]
    );
}

#[test]
fn placeholders_are_of_the_types_that_they_meet() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (u BIGINT UNSIGNED, i INT, d DOUBLE, e DECIMAL(5,2), v VARCHAR(20), k DATETIME, b BLOB)");
    // Column metadata from MySQL 9.7: type, length, flags.
    const UNSIGNED: (u8, u32, u16) = (8, 21, 160);
    const INTEGER: (u8, u32, u16) = (8, 21, 128);
    const DOUBLE: (u8, u32, u16) = (5, 23, 128);
    const DECIMAL: (u8, u32, u16) = (246, 67, 128);
    const TEXT: (u8, u32, u16) = (253, 65_532, 0);
    const DATETIME: (u8, u32, u16) = (12, 26, 128);
    for (statement, expected) in [
        (
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, NULL)",
            &[UNSIGNED, INTEGER, DOUBLE, DECIMAL, TEXT, DATETIME][..],
        ),
        ("INSERT INTO t (v, u) VALUES (?, ?)", &[TEXT, UNSIGNED]),
        (
            "UPDATE t SET u = ?, v = ? WHERE i > ? AND k = ?",
            &[UNSIGNED, TEXT, INTEGER, DATETIME],
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
    let (_fixture, mut session) = Fixture::with_session();
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
    let (_fixture, mut session) = Fixture::with_session();
    session.must("SET cte_max_recursion_depth = 100000");
    let rows = "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5000) SELECT n, REPEAT('x', 200) FROM c";
    let prepared = session.prepare(rows).expect("a query");
    let stream = session.execute_prepared(&prepared, &[]);
    let cursor = stream.and_then(|stream| stream.into_cursor());
    let mut cursor = cursor.expect("rows");
    assert_eq!(cursor.columns().len(), 2);
    assert_eq!(session.value("SELECT 'meanwhile'"), "meanwhile");
    let mut count = 0;
    while let Some(batch) = cursor.next_rows(7).expect("rows") {
        assert!((1..=7).contains(&batch.row_count()));
        count += batch.row_count();
    }
    assert_eq!(count, 5000);
}

#[test]
fn a_text_may_have_one_statement_alone() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (a INT)");
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
    assert_eq!(session.value("SELECT COUNT(*) FROM t WHERE a = 1"), "3");
    assert_eq!(session.value("SELECT COUNT(*) FROM t WHERE a = 2"), "0");
    assert!(session.has_statement(" /* a */ ; x"));
    assert!(!session.has_statement(" ; -- nothing"));
}

#[test]
fn prepared_statements_are_counted() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("SET GLOBAL max_prepared_stmt_count = 2");
    let first = session.prepare("SELECT 1").expect("the first");
    session.must("PREPARE s FROM 'SELECT 2'");
    assert_eq!(errno(session.prepare("SELECT 3")), 1461);
    assert_eq!(session.errno("PREPARE r FROM 'SELECT 3'"), 1461);
    assert_eq!(status(&mut session, "Prepared_stmt_count"), 2);
    drop(first);
    session.must("DEALLOCATE PREPARE s");
    assert_eq!(status(&mut session, "Prepared_stmt_count"), 0);
}

#[test]
fn a_text_that_comes_again_is_the_same_statement() {
    let (fixture, mut session) = Fixture::with_session();
    let mut other = fixture.session();
    let hits = |session: &mut Session| -> u64 {
        let names = ["Statement_cache_hits", "Statement_cache_parameterized"];
        names.map(|name| status(session, name)).iter().sum()
    };
    session.must("CREATE TABLE t (a INT PRIMARY KEY, b INT)");
    let insert = "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = b + 1";
    let query = "SELECT b FROM t WHERE a = 1";
    let before = hits(&mut other);
    for round in 1..=5 {
        session.must(insert);
        assert_eq!(session.value(query), round.to_string());
        assert_eq!(other.value(query), round.to_string());
    }
    assert!(hits(&mut other) >= before + 8);
    // A statement that fits no row of a template is cached by its own text.
    session.must("CREATE TABLE u (a INT UNSIGNED PRIMARY KEY)");
    let before = hits(&mut other);
    for _ in 0..5 {
        session.must("SELECT a FROM u WHERE a = 2");
    }
    assert!(hits(&mut other) >= before + 2);
    session.must("DROP TABLE u");
    // The names refer to other objects now.
    session.must("CREATE TEMPORARY TABLE t SELECT 1 AS a, 'hidden' AS b");
    assert_eq!(session.value(query), "hidden");
    assert_eq!(other.value(query), "5");
    session.must("DROP TEMPORARY TABLE t");
    assert_eq!(session.value(query), "5");
    other.must("ALTER TABLE t MODIFY b VARCHAR(10), ADD c INT FIRST");
    assert_eq!(session.value(query), "5");
    other.must("CREATE DATABASE d");
    other.must("CREATE TABLE d.t SELECT 1 AS a, 'another' AS b");
    other.must("USE d");
    assert_eq!(other.value(query), "another");
    other.must("DROP DATABASE d");
    assert_eq!(other.errno(query), 1046);
    session.must("DROP TABLE t");
    assert_eq!(session.errno(query), 1146);
    // Expressions that depend on a session or a point in time.
    let facts = "SELECT CONNECTION_ID(), USER(), DATABASE(), @v, @@sql_mode = ''";
    session.must("SET @v = 1");
    for _ in 0..3 {
        let mut third = fixture.database.session_with(SessionOptions {
            user: "third".to_owned(),
            database: None,
            ..SessionOptions::new()
        });
        let expected = format!("{}\tthird@localhost\tNULL\tNULL\t0", third.id());
        assert_eq!(third.value(facts), expected);
        let expected = format!("{}\troot@localhost\ttest\t1\t0", session.id());
        assert_eq!(session.value(facts), expected);
    }
    session.must("SET sql_mode = 'ANSI_QUOTES'");
    other.must("USE test");
    for _ in 0..3 {
        assert_eq!(other.value("SELECT \"x\""), "x");
        assert_eq!(session.errno("SELECT \"x\""), 1054);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_idle_sessions_need_little() {
    use mayfly_testkit::process::anonymous_memory;
    const SESSIONS: usize = 2000;
    let fixture = Fixture::open(|_| {});
    let open = || {
        let mut session = fixture.session();
        session.must_all([
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
            "SET autocommit = 1",
            "SELECT 1",
        ]);
        session
    };
    let _first: Vec<Session> = (0..50).map(|_| open()).collect();
    let before = anonymous_memory();
    let _sessions: Vec<Session> = (0..SESSIONS).map(|_| open()).collect();
    let each = anonymous_memory().saturating_sub(before) / SESSIONS as u64;
    assert!(each < 8 << 10, "an idle session needs {each} bytes");
}
