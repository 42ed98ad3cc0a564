//! The cycle of statements of the session that changes definitions, and the state of the database after each statement.

use mayfly_engine::{Database, Session};
use mayfly_testkit::fixture::SessionExt;

/// The statements, each of which is one transaction: after a crash, all of it is there, or nothing. After the last the
/// database is as before the first.
pub(crate) const CYCLE: &[&str] = &[
    "CREATE DATABASE other",
    "CREATE TABLE defined.a (i INT PRIMARY KEY, s VARCHAR(20), KEY (s)) COMMENT 'first'",
    "INSERT INTO defined.a WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 700) \
     SELECT i, CONCAT('s', i % 50) FROM r",
    "ALTER TABLE work.t ADD KEY extra (w, u)",
    "ALTER TABLE defined.a ADD COLUMN d DECIMAL(10,2) NOT NULL DEFAULT 1.25",
    "CREATE UNIQUE INDEX both_of ON defined.a (s, i)",
    "ALTER TABLE defined.a MODIFY i BIGINT, MODIFY s VARCHAR(40) CHARACTER SET latin1",
    "CREATE TABLE defined.b AS SELECT i, d + i AS e FROM defined.a",
    "CREATE VIEW defined.seen AS SELECT i FROM defined.b WHERE e > 100",
    "RENAME TABLE defined.a TO defined.c, defined.b TO defined.a, defined.c TO defined.b",
    "ALTER TABLE defined.b DROP PRIMARY KEY, DROP KEY both_of, ALGORITHM = COPY",
    "ALTER TABLE work.t DROP KEY extra",
    "DELETE FROM defined.b WHERE i % 3 = 0",
    "CREATE TABLE defined.child (i INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES defined.parent (i))",
    "INSERT INTO defined.child VALUES (1, 1), (2, 2), (3, 1)",
    "ALTER TABLE defined.parent RENAME TO defined.ancestor",
    "ALTER TABLE defined.ancestor RENAME TO defined.parent",
    "RENAME TABLE defined.b TO other.b",
    "ALTER TABLE other.b COMMENT 'second', RENAME COLUMN d TO f",
    "TRUNCATE TABLE defined.a",
    "CREATE OR REPLACE VIEW defined.seen AS SELECT COUNT(*) AS c FROM other.b",
    "DROP TABLE defined.child, defined.a",
    "DROP VIEW defined.seen",
    "DROP DATABASE other",
];

/// Statements run before the first.
pub(crate) const BEFORE: &[&str] = &[
    "CREATE DATABASE defined",
    "CREATE TABLE defined.parent (i INT PRIMARY KEY)",
    "INSERT INTO defined.parent VALUES (1), (2)",
];

/// The state of the database.
pub(crate) fn look(session: &mut Session) -> Vec<String> {
    let mut seen = Vec::new();
    let databases = session.must("SHOW DATABASES LIKE '%e%'");
    for database in databases {
        if !["defined", "other"].contains(&database.as_str()) {
            continue;
        }
        seen.push(database.clone());
        for table in session.must(&format!("SHOW TABLES FROM {database}")) {
            let name = format!("{database}.{table}");
            seen.extend(session.must(&format!("SHOW CREATE TABLE {name}")));
            // A view may refer to an object that no longer exists.
            let rows = session.rows(&format!("SELECT * FROM {name} ORDER BY 1"));
            seen.extend(rows.unwrap_or_else(|error| vec![error.to_string()]));
        }
    }
    seen.extend(session.must("SHOW CREATE TABLE work.t"));
    seen
}

/// The states before the first statement, after it, and so on: one per statement.
pub(crate) fn looks(reference: &std::sync::Arc<Database>) -> Vec<Vec<String>> {
    let mut session = reference.session();
    let mut looks = Vec::new();
    for statement in CYCLE {
        looks.push(look(&mut session));
        session.must(statement);
    }
    assert_eq!(look(&mut session), looks[0], "the cycle is none");
    looks
}
