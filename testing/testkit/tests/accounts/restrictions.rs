//! What holds beside privileges: read-only servers, files, expired passwords, mandatory roles, and what
//! information_schema shows.

use mayfly_engine::{Database, DatabaseOptions, RootPassword, Session};
use mayfly_testkit::fixture::{Fixture, must};

use super::{errno, log_in};

const ER_OPTION_PREVENTS_STATEMENT: u16 = 1290;
const ER_MUST_CHANGE_PASSWORD: u16 = 1820;

/// An engine with accounts, and a session that may do all.
fn with_root() -> (Fixture, Session) {
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    database.set_up_root(RootPassword::Empty).unwrap();
    let root = database.session();
    (fixture, root)
}

#[test]
fn a_read_only_server_keeps_what_lasts() {
    let (fixture, mut root) = with_root();
    let database = &fixture.database;
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a int PRIMARY KEY, b int)",
        "CREATE VIEW d.v AS SELECT * FROM d.t",
        "INSERT INTO d.t VALUES (1, 1)",
        "CREATE USER ann@localhost, admin@localhost",
        "GRANT ALL ON d.* TO ann@localhost, admin@localhost",
        "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO ann@localhost",
        "GRANT CREATE USER ON *.* TO ann@localhost",
        "GRANT CREATE ON dx.* TO ann@localhost",
        "GRANT CONNECTION_ADMIN ON *.* TO admin@localhost",
    ] {
        assert_eq!(errno(&mut root, statement), 0, "{statement}");
    }
    let mut ann = log_in(database, "ann");
    let mut admin = log_in(database, "admin");
    // It has begun before.
    assert_eq!(errno(&mut ann, "BEGIN"), 0);
    assert_eq!(errno(&mut ann, "UPDATE d.t SET b = 2"), 0);
    assert_eq!(errno(&mut ann, "SET GLOBAL read_only = ON"), 1192);
    assert_eq!(errno(&mut root, "SET GLOBAL read_only = ON"), 0);
    assert_eq!(errno(&mut ann, "COMMIT"), ER_OPTION_PREVENTS_STATEMENT);
    assert_eq!(must(&mut root, "SELECT b FROM d.t"), ["1"]);
    let refused = [
        "INSERT INTO d.t VALUES (2, 2)",
        "REPLACE INTO d.t VALUES (2, 2)",
        "INSERT INTO d.v VALUES (2, 2)",
        "UPDATE d.t SET b = 2",
        "UPDATE d.v SET b = 2",
        "DELETE FROM d.t",
        "TRUNCATE TABLE d.t",
        "CREATE TABLE d.x (a int)",
        "CREATE TABLE d.x SELECT 1 AS a",
        "ALTER TABLE d.t ADD c int",
        "DROP TABLE d.t",
        "RENAME TABLE d.t TO d.x",
        "CREATE INDEX i ON d.t (b)",
        "CREATE VIEW d.x AS SELECT 1",
        "DROP VIEW d.v",
        "CREATE DATABASE dx",
        "DROP DATABASE d",
        "CREATE USER x@localhost",
        "ALTER USER admin@localhost COMMENT 'x'",
        "SET PASSWORD = 'x'",
    ];
    for statement in refused {
        // Twice: the second time it may be known by its text.
        for _ in 0..2 {
            let found = errno(&mut ann, statement);
            assert_eq!(found, ER_OPTION_PREVENTS_STATEMENT, "{statement}");
        }
    }
    for statement in [
        "SELECT * FROM d.t",
        "CREATE TEMPORARY TABLE d.tt (a int PRIMARY KEY)",
        "INSERT INTO d.tt VALUES (1), (2)",
        "UPDATE d.tt SET a = 3 WHERE a = 1",
        "ALTER TABLE d.tt ADD b int",
        "CREATE INDEX i ON d.tt (b)",
        "TRUNCATE TABLE d.tt",
        "DROP TABLE d.tt",
        "CREATE TEMPORARY TABLE d.tt SELECT * FROM d.t",
        "DROP TEMPORARY TABLE d.tt",
        "ANALYZE TABLE d.t",
        "SET ROLE NONE",
        "BEGIN",
        "COMMIT",
    ] {
        assert_eq!(errno(&mut ann, statement), 0, "{statement}");
    }
    for session in [&mut admin, &mut root] {
        assert_eq!(errno(session, "UPDATE d.t SET b = b + 1"), 0);
    }
    assert_eq!(errno(&mut root, "SET GLOBAL super_read_only = ON"), 0);
    for session in [&mut admin, &mut root] {
        let found = errno(session, "UPDATE d.t SET b = b + 1");
        assert_eq!(found, ER_OPTION_PREVENTS_STATEMENT);
    }
    assert_eq!(errno(&mut root, "SET GLOBAL read_only = OFF"), 0);
    let both = "SELECT @@read_only, @@super_read_only";
    assert_eq!(must(&mut root, both), ["0\t0"]);
    assert_eq!(errno(&mut root, "SET GLOBAL super_read_only = ON"), 0);
    assert_eq!(must(&mut root, both), ["1\t1"]);
    assert_eq!(errno(&mut root, "SET GLOBAL super_read_only = OFF"), 0);
    assert_eq!(must(&mut root, both), ["1\t0"]);
    assert_eq!(errno(&mut root, "SET GLOBAL read_only = OFF"), 0);
    assert_eq!(errno(&mut ann, "UPDATE d.t SET b = 2"), 0);
    must(&mut root, "DROP DATABASE d");
}

#[test]
fn an_expired_password_allows_a_new_one_alone() {
    let (fixture, mut root) = with_root();
    let database = &fixture.database;
    must(&mut root, "CREATE USER ann@localhost");
    let mut ann = {
        must(&mut root, "ALTER USER ann@localhost PASSWORD EXPIRE");
        let login = database.account_for("ann", "localhost");
        let options = mayfly_engine::SessionOptions {
            database: None,
            changes_expired_password: true,
            ..mayfly_engine::SessionOptions::new()
        };
        let place = database.accept().unwrap();
        database.log_in(place, &login, options).unwrap()
    };
    for statement in [
        "SET @x = 1",
        "SET @x = (SELECT 1)",
        "SET @x = SLEEP(0)",
        "SET NAMES utf8mb4",
        "SET autocommit = 1",
        "SET SESSION TRANSACTION READ ONLY",
        "SET ROLE NONE",
        "DO 1",
        "SELECT 1",
        "PREPARE s FROM 'SELECT 1'",
        "BEGIN",
    ] {
        assert_eq!(
            errno(&mut ann, statement),
            ER_MUST_CHANGE_PASSWORD,
            "{statement}"
        );
    }
    assert_eq!(errno(&mut ann, "SET PASSWORD = ''"), 0);
    assert_eq!(errno(&mut ann, "SET @x = (SELECT 1)"), 0);
}

#[test]
fn what_is_shown_of_tables_is_what_there_is_a_right_to() {
    let (fixture, mut root) = with_root();
    let database = &fixture.database;
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a int PRIMARY KEY, b int)",
        "CREATE TABLE d.s (x int)",
        "CREATE VIEW d.v AS SELECT a FROM d.t",
    ] {
        must(&mut root, statement);
    }
    // As MySQL 9.7 answers: columns; whether the query of the view is shown, which needs the row; keys'
    // columns; the error of SHOW COLUMNS.
    for (grant, columns, view, keys, show) in [
        ("SELECT ON d.*", "s.x t.a t.b v.a", Some(false), "t.a", 0),
        ("DELETE ON d.*", "", Some(false), "", 1142),
        ("CREATE ON d.*", "", Some(false), "", 1142),
        ("SHOW VIEW ON d.*", "", Some(false), "", 1142),
        (
            "SELECT, SHOW VIEW ON d.*",
            "s.x t.a t.b v.a",
            Some(true),
            "t.a",
            0,
        ),
        ("EVENT ON d.*", "", None, "", 1142),
        ("LOCK TABLES ON d.*", "", None, "", 1142),
        ("SELECT (a) ON d.t", "t.a", None, "t.a", 0),
        ("DELETE ON d.t", "", None, "", 0),
        ("SELECT ON d.v", "v.a", Some(false), "", 1142),
        ("SHOW VIEW ON d.v", "", Some(false), "", 1142),
        ("SELECT, SHOW VIEW ON d.v", "v.a", Some(true), "", 1142),
        ("INSERT (b) ON d.t", "t.b", None, "", 0),
        ("REFERENCES ON d.t", "t.a t.b", None, "t.a", 0),
        ("DELETE ON *.*", "", Some(false), "", 1142),
        ("SHOW VIEW ON *.*", "", Some(false), "", 1142),
    ] {
        must(&mut root, "DROP USER IF EXISTS ann@localhost");
        must(&mut root, "CREATE USER ann@localhost");
        must(&mut root, &format!("GRANT {grant} TO ann@localhost"));
        let mut ann = log_in(database, "ann");
        let mut text = |of: &str| must(&mut ann, of).join(" ");
        let from = "FROM information_schema";
        let name = "SELECT CONCAT(table_name, '.', column_name)";
        assert_eq!(
            text(&format!(
                "{name} {from}.columns WHERE table_schema = 'd' ORDER BY 1"
            )),
            columns,
            "{grant}"
        );
        assert_eq!(
            text(&format!(
                "{name} {from}.key_column_usage WHERE table_schema = 'd'"
            )),
            keys,
            "{grant}"
        );
        let shown = text(&format!(
            "SELECT view_definition <> '' {from}.views WHERE table_schema = 'd'"
        ));
        let expected = view.map_or("", |shown| if shown { "1" } else { "0" });
        assert_eq!(shown, expected, "{grant}");
        let used = text(&format!(
            "SELECT count(*) {from}.view_table_usage WHERE view_schema = 'd'"
        ));
        assert_eq!(used, if view == Some(true) { "1" } else { "0" }, "{grant}");
        assert_eq!(errno(&mut ann, "SHOW COLUMNS FROM d.t"), show, "{grant}");
    }
    must(&mut root, "DROP DATABASE d");
}

#[test]
fn no_statement_touches_the_engines_own_files() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("private_key.pem"), "secret\n").unwrap();
    std::fs::write(directory.path().join("plain.txt"), "1\n").unwrap();
    std::os::unix::fs::symlink(data.join("private_key.pem"), directory.path().join("link"))
        .unwrap();
    let options = DatabaseOptions {
        datadir: Some(data.clone()),
        ..DatabaseOptions::new()
    };
    let database = Database::open(options).unwrap();
    let mut root = database.session();
    must(&mut root, "CREATE DATABASE d");
    must(&mut root, "CREATE TABLE d.t (a text)");
    let base = directory.path().to_str().unwrap().to_owned();
    for path in [
        "data/private_key.pem",
        "link",
        "data/../data/private_key.pem",
        "./data/./private_key.pem",
    ] {
        let path = format!("{base}/{path}");
        let read = format!("SELECT LOAD_FILE('{path}')");
        assert_eq!(must(&mut root, &read), ["NULL"], "{path}");
        let load = format!("LOAD DATA INFILE '{path}' INTO TABLE d.t");
        assert_eq!(
            errno(&mut root, &load),
            ER_OPTION_PREVENTS_STATEMENT,
            "{path}"
        );
    }
    for kind in ["OUTFILE", "DUMPFILE"] {
        let write = format!("SELECT 1 INTO {kind} '{base}/data/new'");
        assert_eq!(errno(&mut root, &write), ER_OPTION_PREVENTS_STATEMENT);
    }
    let plain = format!("SELECT LOAD_FILE('{base}/plain.txt') = '1\\n'");
    assert_eq!(must(&mut root, &plain), ["1"]);
    let load = format!("LOAD DATA INFILE '{base}/plain.txt' INTO TABLE d.t");
    assert_eq!(errno(&mut root, &load), 0);
    drop(root);
    drop(database);
    // As an option of the server.
    for (value, refused) in [("NULL", true), (base.as_str(), false), ("/nowhere", true)] {
        let mut options = DatabaseOptions::new();
        let variable = ("secure_file_priv".to_owned(), value.to_owned());
        options.variables.push(variable);
        let database = Database::open(options).unwrap();
        let mut root = database.session();
        let found = must(
            &mut root,
            &format!("SELECT LOAD_FILE('{base}/plain.txt') IS NULL"),
        );
        assert_eq!(found, [if refused { "1" } else { "0" }], "{value}");
    }
}

#[test]
fn mandatory_roles_are_everybodys() {
    let (fixture, mut root) = with_root();
    let database = &fixture.database;
    for statement in [
        "CREATE ROLE reader",
        "CREATE USER ann@localhost",
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a int)",
        "GRANT SELECT ON d.* TO reader",
        "SET GLOBAL mandatory_roles = 'reader, nobody'",
    ] {
        must(&mut root, statement);
    }
    assert_eq!(errno(&mut root, "DROP ROLE reader"), 3628);
    assert_eq!(errno(&mut root, "REVOKE reader FROM ann@localhost"), 3628);
    let mut ann = log_in(database, "ann");
    assert_eq!(must(&mut ann, "SELECT CURRENT_ROLE()"), ["NONE"]);
    assert_eq!(errno(&mut ann, "SELECT * FROM d.t"), 1142);
    assert_eq!(errno(&mut ann, "SET ROLE nobody"), 3530);
    for choice in ["ALL", "reader"] {
        must(&mut ann, "SET ROLE NONE");
        must(&mut ann, &format!("SET ROLE {choice}"));
        assert_eq!(must(&mut ann, "SELECT CURRENT_ROLE()"), ["`reader`@`%`"]);
        assert_eq!(errno(&mut ann, "SELECT * FROM d.t"), 0);
    }
    assert_eq!(
        must(&mut ann, "SHOW GRANTS"),
        [
            "GRANT USAGE ON *.* TO `ann`@`localhost`",
            "GRANT SELECT ON `d`.* TO `ann`@`localhost`",
            "GRANT `reader`@`%` TO `ann`@`localhost`"
        ]
    );
    // Statements on accounts see the roles too.
    must(&mut root, "SET DEFAULT ROLE reader TO ann@localhost");
    assert_eq!(
        must(&mut log_in(database, "ann"), "SELECT CURRENT_ROLE()"),
        ["`reader`@`%`"]
    );
    must(&mut root, "SET DEFAULT ROLE NONE TO ann@localhost");
    must(&mut root, "SET GLOBAL activate_all_roles_on_login = ON");
    assert_eq!(
        must(&mut log_in(database, "ann"), "SELECT CURRENT_ROLE()"),
        ["`reader`@`%`"]
    );
    must(&mut root, "SET GLOBAL mandatory_roles = DEFAULT");
    assert_eq!(errno(&mut ann, "SELECT * FROM d.t"), 1142);
    must(&mut root, "DROP ROLE reader");
    must(&mut root, "DROP DATABASE d");
}

#[test]
fn a_session_keeps_to_its_memory() {
    let fixture = Fixture::open(|_| {});
    let mut session = fixture.database.session();
    let wide = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
                SELECT /*+ SET_VAR(cte_max_recursion_depth = 1000000) */ count(*) FROM \
                (SELECT i, REPEAT('x', 100) AS x FROM n GROUP BY i, x) AS d";
    must(&mut session, "SET connection_memory_limit = 4194304");
    must(&mut session, "SET tmp_table_size = 1073741824");
    assert_eq!(must(&mut session, wide), ["200000"]);
    assert!(fixture.database.temp_space_peak() > 0, "it went to files");
}
