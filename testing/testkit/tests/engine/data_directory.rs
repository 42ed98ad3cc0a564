//! A data directory: backups, AUTO_INCREMENT numbers after a crash, and refusal of invalid directories.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{DataDirectory, SessionExt};

#[test]
fn a_backup_is_a_data_directory_of_its_own() {
    let directory = DataDirectory::new("backup-from");
    let copy = DataDirectory::new("backup-to");
    let database = directory.open();
    let mut session = database.session();
    session.must("CREATE TABLE t (id int PRIMARY KEY, v varchar(20), KEY (v))");
    session.must(
        "INSERT INTO t SELECT n, n % 7 FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL \
         SELECT n + 1 FROM r WHERE n < 900) SELECT n FROM r) x",
    );
    session.must("BEGIN");
    session.must("DELETE FROM t WHERE id < 500");
    database.backup(copy.path()).unwrap();
    session.must("COMMIT");
    session.must("DROP TABLE t");
    assert_eq!(database.check().unwrap(), 0);
    assert!(database.backup(copy.path()).is_err(), "it is not empty");
    let database = copy.open();
    assert_eq!(database.check().unwrap(), 1);
    let mut session = database.session();
    assert_eq!(
        session.must("SELECT COUNT(*), SUM(id), COUNT(DISTINCT v) FROM test.t"),
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
fn a_directory_whose_files_are_gone_is_no_new_database() {
    let directory = DataDirectory::new("lost-files");
    drop(directory.open());
    let opened = |kept: &[&str]| {
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            if !kept.iter().any(|name| path.ends_with(name)) {
                std::fs::remove_file(path).unwrap();
            }
        }
        directory.open_with(|_| {})
    };
    for kept in [&["mayfly.lock", "redo.log"][..], &["mayfly.lock"]] {
        let error = opened(kept).unwrap_err();
        assert!(error.message().contains("the data file is gone"), "{error}");
        // No files were created in their place.
        assert!(!directory.path().join("data.mdb").exists());
    }
    assert!(opened(&[]).is_ok());
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

/// The state of a directory after a kill.
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
    session.must("CREATE TABLE test.t (id int AUTO_INCREMENT PRIMARY KEY, a int)");
    // The preallocated numbers are stored from here on.
    session.must("BEGIN");
    session.must("INSERT INTO test.t (a) VALUES (0)");
    let mut other = database.session();
    other.must("INSERT INTO test.t (a) VALUES (0)");
    other.must("DELETE FROM test.t WHERE id = 2");
    let before = killed(&directory, "numbers-killed-before");
    session.must("ROLLBACK");
    session.must("INSERT INTO test.t (a) VALUES (0)");
    session.must("DELETE FROM test.t");
    let after = killed(&directory, "numbers-killed-after");
    for (directory, last) in [(before, 2), (after, 3)] {
        let database = directory.open();
        let mut session = database.session();
        session.must("INSERT INTO test.t (a) VALUES (0)");
        let number: u64 = session.must("SELECT last_insert_id()")[0].parse().unwrap();
        assert!(number > last, "{number} was given already");
    }
}

/// A directory with a table of some megabytes. A row has a hidden number where its table has no primary key. A snapshot
/// that sees the row must not find another row under the same number.
#[test]
fn the_number_of_a_row_that_a_snapshot_sees_is_not_given_again() {
    for delete in ["DELETE FROM t WHERE n = 1", "DELETE FROM t"] {
        let directory = DataDirectory::new("row-numbers");
        let database = directory.open();
        database.session().must_all([
            "CREATE TABLE t (n INT, v VARCHAR(9))",
            "INSERT INTO t VALUES (1, 'before')",
        ]);
        drop(database);
        // After the start no number is known yet.
        let database = directory.open();
        let (mut reader, mut other) = (database.session(), database.session());
        reader.must("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        other.must(delete);
        reader.must("INSERT INTO t VALUES (2, 'own')");
        assert_eq!(
            reader.must("SELECT * FROM t ORDER BY n"),
            ["1\tbefore", "2\town"],
            "{delete}"
        );
        assert_eq!(reader.must("SELECT COUNT(*) FROM t"), ["2"], "{delete}");
        reader.must("COMMIT");
        assert_eq!(other.must("SELECT * FROM t"), ["2\town"], "{delete}");
    }
}

fn with_rows(name: &str) -> DataDirectory {
    let directory = DataDirectory::new(name);
    let database = directory.open();
    let mut session = database.session();
    session.must("SET cte_max_recursion_depth = 20000");
    session.must("CREATE TABLE test.t (id INT PRIMARY KEY, s VARCHAR(500)) AS WITH RECURSIVE r (id) AS (SELECT 1 \
         UNION ALL SELECT id + 1 FROM r WHERE id < 10000) SELECT id, CONCAT(id, REPEAT('x', 300)) s FROM r");
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
    // A copy has no log that holds its length.
    cut_off(copy.path(), |length| length / 2);
    let error = error_of(&copy);
    assert!(error.contains("cut off"), "{error}");
}

/// Tells the test binary that its data file is truncated while it is read.
const READS: &str = "MAYFLY_TEST_CUT_OFF";

#[test]
#[cfg(target_os = "linux")]
fn a_process_whose_data_file_is_cut_off_says_so_before_it_ends() {
    if let Ok(path) = std::env::var(READS) {
        let mut options = DatabaseOptions::new();
        options.datadir = Some(path.clone().into());
        let database = Database::open(options).unwrap();
        cut_off(path.as_ref(), |_| 0);
        let _ = database.session().rows("SELECT SUM(LENGTH(s)) FROM test.t");
        panic!("it is read");
    }
    let directory = with_rows("gone");
    let name = "data_directory::a_process_whose_data_file_is_cut_off_says_so_before_it_ends";
    let child = mayfly_testkit::process::again(name)
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
