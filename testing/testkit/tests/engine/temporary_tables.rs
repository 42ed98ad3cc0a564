//! Temporary tables of sessions and rows in global temporary tables: they end with their session or its reset, unless
//! `session_keep_temp_tables` keeps them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, SessionExt, variables};

/// Statement with `rows` rows of about 100 bytes.
fn rows(rows: usize) -> String {
    format!(
        "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r WHERE a < {rows}) SELECT a, REPEAT('x', 100) FROM r"
    )
}

#[test]
fn rows_of_a_session_end_with_it() {
    let fixture = Fixture::open(|options| {
        options.variables = variables(&[("tmp_table_size", "65536")]);
    });
    let mut one = fixture.session();
    let mut two = fixture.session();
    one.must(
        "CREATE GLOBAL TEMPORARY TABLE test.g (a INT PRIMARY KEY, b TEXT) ON COMMIT PRESERVE ROWS",
    );
    let nothing = fixture.database.memory_used();
    for session in [&mut one, &mut two] {
        session.must("SET cte_max_recursion_depth = 100000");
        session.must(&format!("INSERT INTO test.g {}", rows(5000)));
    }
    assert!(
        fixture.database.temp_space_used() > 0,
        "both have overflowed"
    );
    drop(one);
    assert_eq!(two.must("SELECT COUNT(*) FROM test.g")[0], "5000");
    drop(two);
    assert_eq!(fixture.database.temp_space_used(), 0);
    assert_eq!(fixture.database.temporary_table_count(), 0);
    assert!(fixture.database.memory_used() <= nothing);
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let (fixture, mut session) = Fixture::with_session();
    session.must("SET cte_max_recursion_depth = 100000");
    session.must(
        "CREATE GLOBAL TEMPORARY TABLE test.g (a INT PRIMARY KEY, b TEXT) ON COMMIT PRESERVE ROWS",
    );
    session.must(&format!("INSERT INTO test.g {}", rows(5000)));
    let before = fixture.database.memory_used();
    for _ in 0..3 {
        let alter = "ALTER TABLE test.g ADD c INT FIRST, ADD UNIQUE (b(100))";
        assert_eq!(session.execute(alter).unwrap_err().errno(), 1062);
    }
    let after = fixture.database.memory_used();
    assert!(
        after < before + (256 << 10),
        "{before} bytes became {after}"
    );
    assert_eq!(session.must("SELECT COUNT(*) FROM test.g")[0], "5000");
}

#[test]
fn a_reset_drops_rows_and_tables_unless_they_are_kept() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("USE test");
    session.must("CREATE GLOBAL TEMPORARY TABLE g (a INT) ON COMMIT PRESERVE ROWS");
    session.must("CREATE GLOBAL TEMPORARY TABLE h (a INT)");
    let fill = |session: &mut Session| {
        session.must("CREATE TEMPORARY TABLE t (a INT)");
        session.must("CREATE TEMPORARY TABLE u (a INT) ON COMMIT DELETE ROWS");
        session.must("INSERT INTO t VALUES (1)");
        session.must("INSERT INTO g VALUES (2)");
        session.must("BEGIN");
        session.must("INSERT INTO t VALUES (3)");
        session.must("INSERT INTO h VALUES (4)");
    };
    fill(&mut session);
    session.reset();
    assert_eq!(
        session.execute("SELECT * FROM t").unwrap_err().errno(),
        1146
    );
    assert_eq!(session.must("SELECT COUNT(*) FROM g")[0], "0");
    session.must("SET SESSION session_keep_temp_tables = ON");
    fill(&mut session);
    session.reset();
    // The setting is the new session's own; the transaction is rolled back.
    assert_eq!(session.must("SELECT @@session_keep_temp_tables")[0], "0");
    assert_eq!(session.must("SELECT a FROM t"), ["1"]);
    assert_eq!(session.must("SELECT a FROM g"), ["2"]);
    assert_eq!(session.must("SELECT COUNT(*) FROM h")[0], "0");
    let listed =
        "SELECT COUNT(*) FROM information_schema.temp_tables WHERE purpose = 'user' AND `rows` > 0";
    assert_eq!(session.must(listed)[0], "2");
    // ON COMMIT goes on.
    session.must("BEGIN");
    session.must("INSERT INTO u VALUES (5)");
    session.must("INSERT INTO h VALUES (5)");
    session.must("COMMIT");
    assert_eq!(
        session.must("SELECT (SELECT COUNT(*) FROM u) + (SELECT COUNT(*) FROM h)")[0],
        "0"
    );
    session.reset();
    assert_eq!(
        session.execute("SELECT * FROM t").unwrap_err().errno(),
        1146
    );
    assert_eq!(session.must("SELECT COUNT(*) FROM g")[0], "0");
}

#[test]
fn a_definition_waits_for_a_transaction_and_no_other_statement_does() {
    let fixture = Fixture::open(|_| {});
    let (mut one, mut two) = (fixture.session(), fixture.session());
    one.must("CREATE GLOBAL TEMPORARY TABLE test.g (a INT PRIMARY KEY)");
    two.must("SET lock_wait_timeout = 1");
    two.must("SET innodb_lock_wait_timeout = 1");
    one.must("BEGIN");
    one.must("SELECT * FROM test.g FOR UPDATE");
    assert_eq!(
        two.execute("ALTER TABLE test.g ADD b INT")
            .unwrap_err()
            .errno(),
        1205
    );
    two.must("LOCK TABLES test.g WRITE");
    one.must("INSERT INTO test.g VALUES (1)");
    two.must("INSERT INTO test.g VALUES (1)");
    two.must("UNLOCK TABLES");
    two.must("START TRANSACTION");
    two.must("INSERT INTO test.g VALUES (1)");
    two.must("DELETE FROM test.g WHERE a = 1");
    let error = two.execute("DROP TABLE test.g").unwrap_err();
    assert_eq!(error.errno(), 1105);
    assert!(
        error
            .to_string()
            .contains(&format!("connection {} has rows", one.id())),
        "{error}"
    );
    one.must("COMMIT");
    two.must("DROP TABLE test.g");
}
