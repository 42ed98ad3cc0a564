//! A definition that waits for its sync blocks no reader: names, plans and rows are unchanged until then.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{SessionExt, Watchdog};

use crate::calls;
use crate::disk::directory;
use crate::faults::alone;

/// Definitions of other objects than those that are read.
const DEFINITIONS: &[&str] = &[
    "CREATE TABLE test.new (i INT PRIMARY KEY)",
    "ALTER TABLE test.new ADD COLUMN j INT",
    "CREATE INDEX by_j ON test.new (j)",
    "RENAME TABLE test.new TO test.newer",
    "CREATE VIEW test.view_of_it AS SELECT j FROM test.newer",
    "DROP VIEW test.view_of_it",
    "DROP TABLE test.newer",
    "CREATE DATABASE another",
    "ALTER DATABASE another COLLATE latin1_bin",
    "DROP DATABASE another",
    "CREATE USER someone",
    "GRANT SELECT ON test.* TO someone",
    "DROP USER someone",
];

fn read(database: &Arc<Database>) {
    // A new connection has no cached names and plans.
    let mut session = database.session();
    for query in ["a", "b"] {
        session.must(&format!(
            "SELECT v FROM test.read WHERE i = 7 /* {query} */"
        ));
    }
    session.must("PREPARE p FROM 'SELECT v FROM test.read WHERE i = ?'; SET @i = 7");
    for _ in 0..100 {
        assert_eq!(session.must("EXECUTE p USING @i"), ["seven"]);
    }
    session.must("SELECT COUNT(*) FROM test.read a JOIN test.read b USING (v)");
    session.must("SHOW TABLES FROM test; SELECT COUNT(*) FROM information_schema.columns");
    session.must("DESCRIBE test.read; USE test");
}

#[test]
fn reads_go_on_while_a_definition_is_brought_to_disk() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let root = directory("held");
    let mut options = DatabaseOptions::new();
    options.datadir = Some(root.path().join("data"));
    let database = Database::open(options).unwrap();
    let mut session = database.session();
    session.must(
        "CREATE TABLE test.read (i INT PRIMARY KEY, v VARCHAR(9)); INSERT INTO test.read VALUES (7, 'seven')",
    );
    for definition in DEFINITIONS {
        calls::hold_syncs();
        let (sender, finished) = channel();
        let (is_held, is_read) = std::thread::scope(|scope| {
            let defining = scope.spawn(|| session.must(definition));
            let is_held = calls::is_one_held();
            let database = Arc::clone(&database);
            scope.spawn(move || {
                read(&database);
                let _ = sender.send(());
            });
            let is_read = finished.recv_timeout(Duration::from_secs(60));
            calls::let_go();
            defining.join().unwrap();
            (is_held, is_read)
        });
        assert!(is_held, "{definition} is brought to disk");
        assert!(is_read.is_ok(), "reads waited for {definition}");
    }
}
