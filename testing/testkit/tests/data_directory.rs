//! A data directory: what was committed is there again when it is opened anew, exactly as it was.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{DataDirectory, must, rows};

/// Definitions with everything that a definition may have.
const TABLES: &[&str] = &[
    "CREATE TABLE numbers (a tinyint unsigned zerofill, b smallint DEFAULT '-5', c mediumint NOT NULL, \
     d int(8) zerofill, e bigint unsigned DEFAULT 18446744073709551615, f decimal(65,30) DEFAULT 1.5, \
     g float DEFAULT 0.1, h double DEFAULT 1e100, i bit(7) DEFAULT b'101', j bool DEFAULT true, \
     PRIMARY KEY (c DESC, a), UNIQUE KEY (b, d), KEY named (e) COMMENT 'a key')",
    "CREATE TABLE texts (a char(3) DEFAULT 'a''b', b varchar(20) CHARACTER SET latin1 DEFAULT 'é\\\\', \
     c text, d longtext COLLATE utf8mb4_bin, e binary(4) DEFAULT 0x00ff, f varbinary(9) DEFAULT 'x\\0y', \
     g blob, h enum('one','two\\'s','ü') DEFAULT 'ü', i set('a','b') DEFAULT 'a,b', j json, \
     k varchar(10) DEFAULT (concat('x', 'y')), KEY (c(10)), KEY (b, a)) \
     DEFAULT CHARSET=utf8mb3 COMMENT='it''s \\\\ a comment'",
    "CREATE TABLE moments (a date DEFAULT '0000-00-00', b time(3) DEFAULT '-12:00:00.5', \
     c datetime(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), \
     d timestamp NOT NULL DEFAULT '2020-02-29 12:00:00', e year DEFAULT 1999, \
     f timestamp NULL DEFAULT NULL) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
    "CREATE TABLE rules (id int AUTO_INCREMENT PRIMARY KEY, a int, b int AS (a * 2), \
     c int AS (a + 1) STORED NOT NULL, d int INVISIBLE DEFAULT 7, CHECK (a < 1000), \
     CONSTRAINT named CHECK (a > -5) NOT ENFORCED, UNIQUE KEY (a) INVISIBLE) AUTO_INCREMENT=50",
    "CREATE TABLE `odd ``name` (`a b` int, `c\"d` int, KEY `k ``` (`a b`))",
    "CREATE TABLE in_memory (a int, KEY USING BTREE (a)) ENGINE=MEMORY",
];

#[test]
fn definitions_and_rows_come_back() {
    let directory = DataDirectory::new("definitions");
    let name = |statement: &str| {
        let text = statement.strip_prefix("CREATE TABLE ").unwrap();
        let end = text.find(" (").unwrap();
        text[..end].to_owned()
    };
    let shown = |session: &mut mayfly_engine::Session| -> Vec<String> {
        let tables = TABLES
            .iter()
            .map(|table| format!("SHOW CREATE TABLE {}", name(table)));
        tables.flat_map(|show| must(session, &show)).collect()
    };
    let before;
    let contents;
    {
        let database = directory.open();
        let mut session = database.session();
        must(
            &mut session,
            "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+03:00'",
        );
        must(
            &mut session,
            "CREATE DATABASE kept COLLATE latin1_swedish_ci",
        );
        must(&mut session, "CREATE DATABASE dropped");
        must(&mut session, "CREATE TABLE dropped.t (a int)");
        must(&mut session, "DROP DATABASE dropped");
        must(&mut session, "DROP DATABASE test");
        must(&mut session, "USE kept");
        for table in TABLES {
            must(&mut session, table);
        }
        must(&mut session, "INSERT INTO rules (a) VALUES (1), (2), (3)");
        must(&mut session, "DELETE FROM rules WHERE a = 3");
        must(&mut session, "INSERT INTO texts () VALUES ()");
        must(
            &mut session,
            "INSERT INTO numbers (c, a) VALUES (1, 2), (-1, 2), (5, 0)",
        );
        must(&mut session, "INSERT INTO moments () VALUES ()");
        must(&mut session, "CREATE TABLE renamed_before (a int)");
        must(&mut session, "RENAME TABLE renamed_before TO renamed");
        must(
            &mut session,
            "ALTER TABLE renamed ADD b int DEFAULT 4, ADD KEY (b)",
        );
        must(&mut session, "INSERT INTO renamed VALUES (1, 2)");
        must(&mut session, "BEGIN");
        must(&mut session, "INSERT INTO renamed VALUES (3, 4)");
        must(&mut session, "ROLLBACK");
        must(&mut session, "CREATE TEMPORARY TABLE gone (a int)");
        before = shown(&mut session);
        contents = must(&mut session, "SELECT * FROM texts");
        must(&mut session, "BEGIN");
        must(&mut session, "INSERT INTO renamed VALUES (5, 6)");
    }
    let database = directory.open();
    let mut session = database.session();
    must(
        &mut session,
        "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+03:00'",
    );
    let databases = must(&mut session, "SHOW DATABASES");
    assert!(databases.contains(&"kept".to_owned()));
    assert!(!databases.contains(&"dropped".to_owned()) && !databases.contains(&"test".to_owned()));
    must(&mut session, "USE kept");
    assert_eq!(
        must(&mut session, "SELECT @@collation_database"),
        ["latin1_swedish_ci"]
    );
    assert_eq!(shown(&mut session), before);
    assert_eq!(must(&mut session, "SELECT * FROM texts"), contents);
    assert_eq!(
        must(&mut session, "SELECT c, a FROM numbers ORDER BY c DESC"),
        ["5\t000", "1\t002", "-1\t002"]
    );
    assert_eq!(must(&mut session, "SELECT * FROM renamed"), ["1\t2"]);
    assert!(rows(&mut session, "SELECT * FROM renamed_before").is_err());
    assert!(rows(&mut session, "SELECT * FROM gone").is_err());
    // 52 was given to a row that is no more.
    must(&mut session, "INSERT INTO rules (a) VALUES (9)");
    assert_eq!(
        must(&mut session, "SELECT id, a, b, c, d FROM rules WHERE a = 9"),
        ["53\t9\t18\t10\t7"]
    );
    assert_eq!(
        rows(&mut session, "INSERT INTO rules (a) VALUES (9)")
            .unwrap_err()
            .errno(),
        1062
    );
    assert_eq!(
        rows(&mut session, "INSERT INTO rules (a) VALUES (1000)")
            .unwrap_err()
            .errno(),
        3819
    );
    assert!(must(&mut session, "SELECT * FROM in_memory").is_empty());
}

#[test]
fn a_backup_is_a_data_directory_of_its_own() {
    let directory = DataDirectory::new("backup-from");
    let copy = DataDirectory::new("backup-to");
    let database = directory.open();
    let mut session = database.session();
    must(&mut session, "USE test");
    must(
        &mut session,
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(20), KEY (v))",
    );
    must(
        &mut session,
        "INSERT INTO t SELECT n, n % 7 FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL \
         SELECT n + 1 FROM r WHERE n < 900) SELECT n FROM r) x",
    );
    must(&mut session, "BEGIN");
    must(&mut session, "DELETE FROM t WHERE id < 500");
    database.backup(copy.path()).unwrap();
    must(&mut session, "COMMIT");
    must(&mut session, "DROP TABLE t");
    assert_eq!(database.check().unwrap(), 0);
    assert!(database.backup(copy.path()).is_err(), "it is not empty");
    let database = copy.open();
    assert_eq!(database.check().unwrap(), 1);
    let mut session = database.session();
    assert_eq!(
        must(
            &mut session,
            "SELECT COUNT(*), SUM(id), COUNT(DISTINCT v) FROM test.t"
        ),
        ["900\t405450\t7"]
    );
}

#[test]
fn a_directory_is_opened_once() {
    let directory = DataDirectory::new("once");
    let database = directory.open();
    let error = directory.open_with(|_| {}).unwrap_err();
    let path = directory.path().display().to_string();
    assert!(error.message().contains(&path), "{error}");
    drop(database);
    drop(directory.open());
}

#[test]
fn persisted_variables_that_cannot_be_read_are_refused() {
    let directory = DataDirectory::new("persisted");
    drop(directory.open());
    let file = directory.path().join("mysqld-auto.cnf");
    std::fs::write(&file, "{\"Version\": 2, \"mysql_dynamic_variables\": 5}").unwrap();
    let error = directory.open_with(|_| {}).unwrap_err();
    assert!(error.message().contains("mysqld-auto.cnf"), "{error}");
    std::fs::remove_file(&file).unwrap();
}

/// What a kill would leave of a directory.
fn killed(directory: &DataDirectory, name: &str) -> DataDirectory {
    let copy = DataDirectory::new(name);
    std::fs::create_dir_all(copy.path()).unwrap();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    copy
}

#[test]
fn numbers_are_given_once_whoever_kept_them_rolled_back() {
    let directory = DataDirectory::new("numbers-kept");
    let database = directory.open();
    let mut session = database.session();
    must(
        &mut session,
        "CREATE TABLE test.t (id int AUTO_INCREMENT PRIMARY KEY, a int)",
    );
    // The numbers ahead are known to be kept from here on.
    must(&mut session, "BEGIN");
    must(&mut session, "INSERT INTO test.t (a) VALUES (0)");
    let mut other = database.session();
    must(&mut other, "INSERT INTO test.t (a) VALUES (0)");
    must(&mut other, "DELETE FROM test.t WHERE id = 2");
    let before = killed(&directory, "numbers-killed-before");
    must(&mut session, "ROLLBACK");
    must(&mut session, "INSERT INTO test.t (a) VALUES (0)");
    must(&mut session, "DELETE FROM test.t");
    let after = killed(&directory, "numbers-killed-after");
    for (directory, last) in [(before, 2), (after, 3)] {
        let database = directory.open();
        let mut session = database.session();
        must(&mut session, "INSERT INTO test.t (a) VALUES (0)");
        let number: u64 = must(&mut session, "SELECT last_insert_id()")[0]
            .parse()
            .unwrap();
        assert!(number > last, "{number} was given already");
    }
}

/// A directory with a table of some megabytes.
fn with_rows(name: &str) -> DataDirectory {
    let directory = DataDirectory::new(name);
    let database = directory.open();
    let mut session = database.session();
    must(&mut session, "SET cte_max_recursion_depth = 20000");
    must(
        &mut session,
        "CREATE TABLE test.t (id INT PRIMARY KEY, s VARCHAR(500)) AS WITH RECURSIVE r (id) AS (SELECT 1 \
         UNION ALL SELECT id + 1 FROM r WHERE id < 10000) SELECT id, CONCAT(id, REPEAT('x', 300)) s FROM r",
    );
    directory
}

fn cut_off(directory: &std::path::Path, bytes: impl Fn(u64) -> u64) {
    let mut options = std::fs::File::options();
    let file = options.write(true).open(directory.join("data.mdb"));
    let file = file.unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(bytes(length)).unwrap();
}

#[test]
fn a_data_file_that_was_cut_off_is_refused() {
    let error_of = |directory: &DataDirectory| directory.open_with(|_| {}).unwrap_err().to_string();
    let directory = with_rows("cut-off");
    let copy = DataDirectory::new("cut-off-copy");
    directory.open().backup(copy.path()).unwrap();
    cut_off(directory.path(), |length| length - 1);
    let error = error_of(&directory);
    assert!(
        error.contains("cut off") && error.contains("data.mdb"),
        "{error}"
    );
    cut_off(directory.path(), |_| 0);
    assert!(error_of(&directory).contains("data.mdb has 0 bytes"));
    // A copy has no log that says how long it was.
    cut_off(copy.path(), |length| length / 2);
    let error = error_of(&copy);
    assert!(error.contains("cut off"), "{error}");
}

/// Says to the test binary that its data file goes while it is read.
const READS: &str = "MAYFLY_TEST_CUT_OFF";

#[test]
#[cfg(target_os = "linux")]
fn a_process_whose_data_file_is_cut_off_says_so_before_it_ends() {
    if let Ok(path) = std::env::var(READS) {
        let mut options = DatabaseOptions::new();
        options.datadir = Some(path.clone().into());
        let database = Database::open(options).unwrap();
        cut_off(path.as_ref(), |_| 0);
        let _ = rows(&mut database.session(), "SELECT SUM(LENGTH(s)) FROM test.t");
        panic!("it is read");
    }
    let directory = with_rows("gone");
    let name = "a_process_whose_data_file_is_cut_off_says_so_before_it_ends";
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(READS, directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    let file = directory.path().join("data.mdb").display().to_string();
    assert!(
        said.contains("[ERROR] the file ") && said.contains(&file),
        "{said}"
    );
    let signal = std::os::unix::process::ExitStatusExt::signal(&child.status);
    assert_eq!(signal, Some(7), "SIGBUS: {:?}", child.status);
}
