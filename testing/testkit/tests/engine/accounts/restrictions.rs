//! Restrictions other than privileges: files, expired passwords, and a session's memory.

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

use super::log_in_to_change;

const ER_OPTION_PREVENTS_STATEMENT: u16 = 1290;
const ER_MUST_CHANGE_PASSWORD: u16 = 1820;

#[test]
fn an_expired_password_allows_a_new_one_alone() {
    let fixture = Fixture::open(|_| {});
    let database = &fixture.database;
    let create = "CREATE USER ann@localhost PASSWORD EXPIRE";
    database.session().must(create);
    let mut ann = log_in_to_change(database, "ann");
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
        assert_eq!(ann.errno(statement), ER_MUST_CHANGE_PASSWORD, "{statement}");
    }
    assert_eq!(ann.errno("SET PASSWORD = ''"), 0);
    assert_eq!(ann.errno("SET @x = (SELECT 1)"), 0);
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
    root.must("CREATE DATABASE d");
    root.must("CREATE TABLE d.t (a text)");
    let base = directory.path().to_str().unwrap().to_owned();
    for path in [
        "data/private_key.pem",
        "link",
        "data/../data/private_key.pem",
        "./data/./private_key.pem",
    ] {
        let path = format!("{base}/{path}");
        let read = format!("SELECT LOAD_FILE('{path}')");
        assert_eq!(root.must(&read), ["NULL"], "{path}");
        let load = format!("LOAD DATA INFILE '{path}' INTO TABLE d.t");
        assert_eq!(root.errno(&load), ER_OPTION_PREVENTS_STATEMENT, "{path}");
    }
    for kind in ["OUTFILE", "DUMPFILE"] {
        let write = format!("SELECT 1 INTO {kind} '{base}/data/new'");
        assert_eq!(root.errno(&write), ER_OPTION_PREVENTS_STATEMENT);
    }
    let plain = format!("SELECT LOAD_FILE('{base}/plain.txt') = '1\\n'");
    assert_eq!(root.must(&plain), ["1"]);
    let load = format!("LOAD DATA INFILE '{base}/plain.txt' INTO TABLE d.t");
    assert_eq!(root.errno(&load), 0);
    drop(root);
    drop(database);
    // Set as an option of the server.
    for (value, refused) in [("NULL", true), (base.as_str(), false), ("/nowhere", true)] {
        let mut options = DatabaseOptions::new();
        let variable = ("secure_file_priv".to_owned(), value.to_owned());
        options.variables.push(variable);
        let database = Database::open(options).unwrap();
        let mut root = database.session();
        let found = root.must(&format!("SELECT LOAD_FILE('{base}/plain.txt') IS NULL"));
        assert_eq!(found, [if refused { "1" } else { "0" }], "{value}");
    }
}

#[test]
fn a_session_keeps_to_its_memory() {
    let (fixture, mut session) = Fixture::with_session();
    let wide = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
                SELECT /*+ SET_VAR(cte_max_recursion_depth = 1000000) */ count(*) FROM \
                (SELECT i, REPEAT('x', 100) AS x FROM n GROUP BY i, x) AS d";
    session.must("SET connection_memory_limit = 4194304");
    session.must("SET tmp_table_size = 1073741824");
    assert_eq!(session.must(wide), ["200000"]);
    assert!(fixture.database.temp_space_peak() > 0, "it went to files");
}
