//! Temporary tables of sessions and rows in global temporary tables: they end with their session or its reset, unless
//! `session_keep_temp_tables` keeps them; and random work of several sessions against a plain model of their tables.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, SessionExt, variables};
use mayfly_trials::{Random, Trials};

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

/// Table of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    rows: BTreeMap<u64, u64>,
    on_commit: OnCommit,
    is_global: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnCommit {
    Preserve,
    Delete,
    Drop,
}

type Tables = BTreeMap<&'static str, Table>;

/// A session and what it must see: with `temp_ddl_transactional` a rollback restores all of it.
struct Actor {
    session: Session,
    tables: Tables,
    /// The tables when the transaction began.
    begun: Option<Tables>,
    savepoints: Vec<(u64, Tables)>,
}

impl Actor {
    fn new(mut session: Session) -> Self {
        session.must("USE test");
        session.must("SET temp_ddl_transactional = ON");
        let table = |on_commit| Table {
            rows: BTreeMap::new(),
            on_commit,
            is_global: true,
        };
        Self {
            session,
            tables: Tables::from([
                ("g_delete", table(OnCommit::Delete)),
                ("g_keep", table(OnCommit::Preserve)),
            ]),
            begun: None,
            savepoints: Vec::new(),
        }
    }

    /// Runs a statement, which must end with this error number; 0 for none.
    fn run(&mut self, text: &str, errno: u16) {
        let ended = self
            .session
            .execute(text)
            .map_or_else(|error| error.errno(), |_| 0);
        // Shown with a failure.
        eprintln!("{}: {text}: {ended}", self.session.id());
        assert_eq!(ended, errno, "{text}");
    }

    /// The end of a transaction.
    fn end(&mut self) {
        self.begun = None;
        self.savepoints.clear();
        self.tables
            .retain(|_, table| table.on_commit != OnCommit::Drop);
        let emptied = self.tables.values_mut();
        for table in emptied.filter(|table| table.on_commit == OnCommit::Delete) {
            table.rows.clear();
        }
    }

    /// The end of a statement, which is a transaction outside of one.
    fn end_statement(&mut self) {
        if self.begun.is_none() {
            self.end();
        }
    }

    fn step(&mut self, random: &mut Random) {
        let names = ["g_delete", "g_keep", "t0", "t1", "t2"];
        let name = names[random.below(5)];
        let own = names[2 + random.below(3)];
        let (key, value) = (random.below_u64(6), random.below_u64(100));
        let savepoint = random.below_u64(3);
        let missing = if self.tables.contains_key(name) {
            0
        } else {
            1146
        };
        match random.below(16) {
            0 => {
                self.run("BEGIN", 0);
                self.end();
                self.begun = Some(self.tables.clone());
            }
            1 => {
                self.run("COMMIT", 0);
                self.end();
            }
            2 => {
                self.run("ROLLBACK", 0);
                if let Some(begun) = self.begun.take() {
                    self.tables = begun;
                }
                self.end();
            }
            3 => {
                self.run(&format!("SAVEPOINT s{savepoint}"), 0);
                if self.begun.is_some() {
                    self.savepoints.retain(|(known, _)| *known != savepoint);
                    self.savepoints.push((savepoint, self.tables.clone()));
                }
            }
            4 => {
                let known = self
                    .savepoints
                    .iter()
                    .position(|(known, _)| *known == savepoint);
                let errno = if known.is_some() { 0 } else { 1305 };
                self.run(&format!("ROLLBACK TO s{savepoint}"), errno);
                if let Some(known) = known {
                    self.savepoints.truncate(known + 1);
                    self.tables = self.savepoints[known].1.clone();
                }
            }
            5 | 6 => {
                let (words, on_commit) = [
                    ("", OnCommit::Preserve),
                    (" ON COMMIT DELETE ROWS", OnCommit::Delete),
                    (" ON COMMIT DROP", OnCommit::Drop),
                ][random.below(3)];
                let exists = self.tables.contains_key(own);
                let errno = if exists { 1050 } else { 0 };
                self.run(
                    &format!("CREATE TEMPORARY TABLE {own} (a INT PRIMARY KEY, b INT){words}"),
                    errno,
                );
                if !exists {
                    let table = Table {
                        rows: BTreeMap::new(),
                        on_commit,
                        is_global: false,
                    };
                    self.tables.insert(own, table);
                }
                self.end_statement();
            }
            7 => {
                let dropped = self.tables.remove(own).is_some();
                self.run(
                    &format!("DROP TEMPORARY TABLE {own}"),
                    if dropped { 0 } else { 1051 },
                );
                self.end_statement();
            }
            // Of a missing table it commits, as for a base table.
            8 if missing == 0 => {
                self.run(&format!("TRUNCATE TABLE {name}"), 0);
                if let Some(table) = self.tables.get_mut(name) {
                    table.rows.clear();
                }
                self.end_statement();
            }
            9 if missing == 0 && !self.tables[name].is_global => {
                self.run(&format!("ALTER TABLE {name} ADD KEY (b)"), 0);
                self.end_statement();
            }
            10 => {
                self.run(&format!("DELETE FROM {name} WHERE a >= {key}"), missing);
                if let Some(table) = self.tables.get_mut(name) {
                    table.rows.retain(|known, _| *known < key);
                }
                self.end_statement();
            }
            11 => {
                self.run(
                    &format!("UPDATE {name} SET b = {value} WHERE a = {key}"),
                    missing,
                );
                let row = self.tables.get_mut(name);
                if let Some(row) = row.and_then(|table| table.rows.get_mut(&key)) {
                    *row = value;
                }
                self.end_statement();
            }
            _ => {
                let is_taken = |table: &Table| table.rows.contains_key(&key);
                let taken = self.tables.get(name).is_some_and(is_taken);
                let errno = if taken { 1062 } else { missing };
                // A failing statement leaves no row of those before the one that fails.
                let before = if taken { "(1000, 0), " } else { "" };
                self.run(
                    &format!("INSERT INTO {name} VALUES {before}({key}, {value})"),
                    errno,
                );
                if let (Some(table), false) = (self.tables.get_mut(name), taken) {
                    table.rows.insert(key, value);
                }
                self.end_statement();
            }
        }
        self.check();
    }

    fn check(&mut self) {
        for name in ["g_delete", "g_keep", "t0", "t1", "t2"] {
            let Some(table) = self.tables.get(name) else {
                let seen = self.session.execute(&format!("SELECT * FROM {name}"));
                assert_eq!(
                    seen.map_err(|error| error.errno()).err(),
                    Some(1146),
                    "{name}"
                );
                continue;
            };
            let expected: Vec<String> =
                table.rows.iter().map(|(a, b)| format!("{a} {b}")).collect();
            let seen = self
                .session
                .must(&format!("SELECT CONCAT(a, ' ', b) FROM {name} ORDER BY a"));
            assert_eq!(seen, expected, "{name}");
        }
    }
}

#[test]
fn random_work_of_several_sessions_is_that_of_a_model() {
    for seed in Trials::of("temporary_tables") {
        let mut random = Random(seed);
        let fixture = Fixture::open(|options| {
            options.variables = variables(&[("tmp_table_size", "16384")]);
        });
        let mut definer = fixture.session();
        definer.must("USE test");
        definer.must("CREATE GLOBAL TEMPORARY TABLE g_delete (a INT PRIMARY KEY, b INT)");
        definer.must("CREATE GLOBAL TEMPORARY TABLE g_keep (a INT PRIMARY KEY, b INT) ON COMMIT PRESERVE ROWS");
        let mut actors: Vec<Actor> = (0..3).map(|_| Actor::new(fixture.session())).collect();
        for _ in 0..300 {
            let who = random.below(3);
            match random.below(40) {
                // A session that ends, perhaps in a transaction.
                0 => actors[who] = Actor::new(fixture.session()),
                1 => {
                    // No transaction uses the definition, but sessions may have rows.
                    if actors.iter().all(|actor| actor.begun.is_none()) {
                        let has_rows = |actor: &Actor| !actor.tables["g_keep"].rows.is_empty();
                        let refused = actors.iter().any(has_rows);
                        let ended = definer.execute("ALTER TABLE g_keep ADD KEY (b)");
                        let errno = ended.map_or_else(|error| error.errno(), |_| 0);
                        assert_eq!(errno, if refused { 1105 } else { 0 }, "seed {seed}");
                    }
                }
                _ => actors[who].step(&mut random),
            }
        }
    }
}
