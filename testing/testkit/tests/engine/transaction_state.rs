//! `session_track_transaction_info`: the transaction state reported to a client, in MySQL's letters.

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, SessionExt};

const STATEMENTS: &str = include_str!("transaction_state.txt");

const TABLES: [&str; 8] = [
    "CREATE TABLE t (i INT PRIMARY KEY, v INT)",
    "CREATE TABLE a (i INT PRIMARY KEY AUTO_INCREMENT, v INT, UNIQUE (v))",
    "CREATE TABLE p (i INT PRIMARY KEY)",
    "CREATE TABLE m (i INT PRIMARY KEY, v INT) ENGINE=MyISAM",
    "CREATE TABLE e (i INT PRIMARY KEY) ENGINE=MEMORY",
    "CREATE VIEW vw AS SELECT * FROM t",
    "INSERT INTO t VALUES (1, 1), (2, 2)",
    "INSERT INTO m VALUES (1, 1), (2, 2)",
];

/// A session over these tables whose transaction state is tracked.
fn tracked(fixture: &Fixture) -> Session {
    let mut session = fixture.session();
    session.must_all(TABLES);
    session.track_state(true);
    session.must("SET session_track_transaction_info = 'STATE'");
    session.take_state_changes();
    session
}

/// The state known to the client after a statement.
fn after(session: &mut Session, sql: &str, known: &mut String) {
    if let Err(error) = session.execute(sql) {
        panic!("{sql}: {error}");
    }
    let changes = session.take_state_changes();
    if let Some(state) = changes.and_then(|changes| changes.transaction_state) {
        *known = state;
    }
}

#[test]
fn each_statement_is_reported() {
    let fixture = Fixture::open(|_| {});
    let mut session = tracked(&fixture);
    let mut known = String::new();
    let mut wrong = Vec::new();
    for line in STATEMENTS.lines().filter(|line| !line.starts_with('#')) {
        let (expected, statement) = line.split_once("  ").expect("a state and a statement");
        after(&mut session, "BEGIN", &mut known);
        assert_eq!(known, "T_______");
        after(&mut session, statement, &mut known);
        if known != expected {
            wrong.push(format!("{statement}: {known}, not {expected}"));
        }
        after(&mut session, "ROLLBACK", &mut known);
        assert_eq!(known, "________");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The states that MySQL 9.7 reports for the same sequence of statements.
#[test]
fn transactions_are_followed() {
    let fixture = Fixture::open(|_| {});
    let mut session = tracked(&fixture);
    let mut known = "________".to_owned();
    for (statement, expected) in [
        ("SELECT * FROM t", "________"),
        ("START TRANSACTION", "T_______"),
        ("SELECT 1", "T_____S_"),
        ("SELECT * FROM t WHERE i = 99", "T_R___S_"),
        ("SELECT * FROM m WHERE i = 99", "TrR___S_"),
        ("INSERT INTO m VALUES (3, 3)", "TrRw__S_"),
        ("UPDATE t SET v = 5 WHERE i = 1", "TrRwW_S_"),
        ("ROLLBACK", "________"),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", "T_R_____"),
        ("COMMIT", "________"),
        ("SET autocommit = 0", "________"),
        ("SELECT 1", "________"),
        ("SELECT * FROM t", "I_R___S_"),
        ("SELECT 1", "I_R___S_"),
        ("COMMIT", "________"),
        ("INSERT INTO t VALUES (60, 60)", "I___W___"),
        ("COMMIT", "________"),
        ("SELECT * FROM m", "Ir____S_"),
        ("COMMIT", "________"),
        ("INSERT INTO m VALUES (60, 60)", "I__w____"),
        ("COMMIT", "________"),
        ("SHOW TABLES", "I_R___S_"),
        ("COMMIT", "________"),
        ("LOCK TABLES m WRITE, t READ", "I_Rw___L"),
        ("COMMIT", "_______L"),
        ("UNLOCK TABLES", "________"),
        ("SET autocommit = 1", "________"),
        ("LOCK TABLES t WRITE, m WRITE, e READ", "_______L"),
        ("INSERT INTO t VALUES (61, 61)", "_______L"),
        ("SELECT * FROM e", "_______L"),
        ("UNLOCK TABLES", "________"),
        ("PREPARE s FROM 'SELECT * FROM t'", "________"),
        ("BEGIN", "T_______"),
        ("EXECUTE s", "T_R___S_"),
        ("CREATE TABLE n (i INT)", "________"),
    ] {
        after(&mut session, statement, &mut known);
        assert_eq!(known, expected, "{statement}");
    }
}
