//! What each privilege allows: a table of grants, statements and errors. Where MySQL is at hand
//! (`MAYFLY_MYSQL_SOCKET`) the same is asked of it.

use mayfly_engine::{Database, RootPassword};
use mayfly_testkit::client::Client;
use mayfly_testkit::fixture::Fixture;
use mayfly_testkit::server::{self, Flavour};

use super::{errno, log_in};

/// The objects that statements are about, anew for each case. `ma` has tables and views; `mb` is empty.
const OBJECTS: &[&str] = &[
    "DROP DATABASE IF EXISTS ma",
    "DROP DATABASE IF EXISTS mb",
    "CREATE DATABASE ma",
    "CREATE DATABASE mb",
    "CREATE TABLE ma.t (a int PRIMARY KEY, b int)",
    "CREATE TABLE ma.s (a int, b int)",
    "INSERT INTO ma.t VALUES (1, 1)",
    "INSERT INTO ma.s VALUES (1, 1)",
    "CREATE VIEW ma.v AS SELECT a, b FROM ma.t",
    "CREATE SQL SECURITY INVOKER VIEW ma.vi AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_definer@localhost VIEW ma.vd AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_nobody@localhost VIEW ma.vn AS SELECT a, b FROM ma.t",
    "CREATE DEFINER = ma_definer@localhost VIEW ma.vv AS SELECT a, b FROM ma.v",
    "CREATE SQL SECURITY INVOKER VIEW ma.vvi AS SELECT a, b FROM ma.v",
];

/// What is granted to the user, what the user runs, and the error's number.
struct Case(&'static [&'static str], &'static [(&'static str, u16)]);

const NOTHING: Case = Case(
    &[],
    &[
        ("SELECT 1", 0),
        ("SELECT * FROM ma.t", 1142),
        ("SELECT 1 FROM ma.t", 1142),
        ("SELECT * FROM ma.nothing", 1142),
        ("SELECT * FROM nowhere.t", 1142),
        ("SELECT (SELECT a FROM ma.t)", 1142),
        ("SELECT * FROM (SELECT a FROM ma.t) x", 1142),
        ("WITH x AS (SELECT a FROM ma.t) SELECT * FROM x", 1142),
        ("SELECT 1 UNION SELECT a FROM ma.t", 1142),
        ("SELECT 1 WHERE EXISTS (SELECT * FROM ma.t)", 1142),
        ("TABLE ma.t", 1142),
        ("DO (SELECT a FROM ma.t)", 1142),
        ("SET @a = (SELECT a FROM ma.t)", 1142),
        ("USE ma", 1044),
        ("USE nowhere", 1044),
        ("USE information_schema", 0),
        ("INSERT INTO ma.t VALUES (2, 2)", 1142),
        ("REPLACE INTO ma.t VALUES (2, 2)", 1142),
        ("UPDATE ma.t SET a = 1", 1142),
        ("UPDATE ma.t, ma.s SET t.a = 1", 1142),
        ("DELETE FROM ma.t", 1142),
        ("DELETE ma.t FROM ma.t JOIN ma.s", 1142),
        ("TRUNCATE TABLE ma.t", 1142),
        ("DROP TABLE ma.t", 1142),
        ("DROP TABLE IF EXISTS ma.nothing", 1142),
        ("DROP VIEW ma.v", 1142),
        ("CREATE TABLE ma.x (a int)", 1142),
        ("CREATE TABLE ma.x LIKE ma.t", 1142),
        ("CREATE TABLE ma.x SELECT 1 AS a", 1142),
        ("CREATE TEMPORARY TABLE ma.x (a int)", 1044),
        ("ALTER TABLE ma.t ADD c int", 1142),
        ("RENAME TABLE ma.t TO ma.x", 1142),
        ("CREATE INDEX i ON ma.t (b)", 1142),
        ("DROP INDEX i ON ma.t", 1142),
        ("CREATE VIEW ma.x AS SELECT 1", 1142),
        ("CREATE DATABASE mc", 1044),
        ("DROP DATABASE ma", 1044),
        ("ALTER DATABASE ma CHARACTER SET latin1", 1044),
        ("SHOW CREATE TABLE ma.t", 1142),
        ("SHOW CREATE VIEW ma.v", 1142),
        ("SHOW CREATE DATABASE ma", 1044),
        ("SHOW COLUMNS FROM ma.t", 1142),
        ("SHOW INDEX FROM ma.t", 1142),
        ("DESCRIBE ma.t", 1142),
        ("EXPLAIN SELECT * FROM ma.t", 1142),
        ("SHOW TABLES FROM ma", 1044),
        ("SHOW TABLE STATUS FROM ma", 1044),
        ("LOCK TABLES ma.t READ", 1044),
        ("ANALYZE TABLE ma.t", 1142),
        ("CHECK TABLE ma.t", 1142),
        ("CHECKSUM TABLE ma.t", 1142),
        ("OPTIMIZE TABLE ma.t", 1142),
        ("FLUSH PRIVILEGES", 1227),
        ("FLUSH TABLES", 1227),
        ("FLUSH STATUS", 1227),
        ("SET GLOBAL max_connections = 151", 1227),
        ("SET PERSIST max_connections = 151", 1227),
        ("SET SESSION sql_log_bin = 0", 1227),
        ("SET SESSION sort_buffer_size = 100000", 0),
        (
            "SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED",
            1227,
        ),
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", 0),
        ("SELECT 1 INTO OUTFILE '/nowhere/x'", 1227),
        ("SELECT 1 INTO DUMPFILE '/nowhere/x'", 1227),
        ("LOAD DATA INFILE '/nowhere/x' INTO TABLE ma.t", 1045),
        ("CREATE USER ma_x@localhost", 1227),
        ("ALTER USER ma_definer@localhost ACCOUNT LOCK", 1227),
        ("DROP USER ma_definer@localhost", 1227),
        ("RENAME USER ma_definer@localhost TO ma_x@localhost", 1227),
        ("SET PASSWORD FOR ma_definer@localhost = 'x'", 1044),
        ("SET PASSWORD = ''", 0),
        ("ALTER USER USER() IDENTIFIED BY ''", 0),
        ("ALTER USER CURRENT_USER() ACCOUNT LOCK", 1227),
        ("CREATE ROLE ma_x", 1227),
        ("DROP ROLE ma_definer@localhost", 1227),
        ("GRANT ma_definer@localhost TO ma_user@localhost", 1227),
        ("SET ROLE NONE", 0),
        ("SET ROLE ma_definer@localhost", 3530),
        ("GRANT SELECT ON *.* TO ma_user@localhost", 1045),
        ("GRANT SELECT ON ma.* TO ma_user@localhost", 1044),
        ("GRANT SELECT ON ma.t TO ma_user@localhost", 1142),
        ("GRANT BACKUP_ADMIN ON *.* TO ma_user@localhost", 1227),
        ("REVOKE SELECT ON ma.* FROM ma_definer@localhost", 1044),
        (
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM ma_definer@localhost",
            1227,
        ),
        ("SHOW GRANTS", 0),
        ("SHOW GRANTS FOR CURRENT_USER()", 0),
        ("SHOW GRANTS FOR ma_definer@localhost", 1142),
        ("SHOW CREATE USER CURRENT_USER()", 0),
        ("SHOW CREATE USER ma_definer@localhost", 1044),
        ("SELECT * FROM mysql.user", 1142),
        ("SELECT * FROM information_schema.tables LIMIT 1", 0),
        ("SHOW PROCESSLIST", 0),
        ("SHOW ENGINE INNODB STATUS", 1227),
        ("SHOW BINARY LOGS", 1227),
        ("KILL 4294967295", 1094),
        ("SHOW VARIABLES LIKE 'version'", 0),
    ],
);

const CASES: &[Case] = &[
    NOTHING,
    Case(
        &["GRANT SELECT ON ma.t TO ma_user@localhost"],
        &[
            ("SELECT * FROM ma.t", 0),
            ("SELECT count(*) FROM ma.t WHERE a = 1", 0),
            ("TABLE ma.t", 0),
            ("SELECT * FROM ma.s", 1142),
            ("SELECT * FROM ma.t JOIN ma.s", 1142),
            ("SELECT * FROM ma.v", 1142),
            ("SELECT * FROM ma.vi", 1142),
            ("SELECT a FROM ma.t FOR SHARE", 0),
            ("SELECT a FROM ma.t FOR UPDATE", 1142),
            ("EXPLAIN UPDATE ma.t SET a = 1", 1142),
            ("EXPLAIN DELETE FROM ma.t", 1142),
            ("USE ma", 0),
            ("SHOW TABLES FROM ma", 0),
            ("SHOW CREATE TABLE ma.t", 0),
            ("SHOW CREATE TABLE ma.s", 1142),
            ("DESCRIBE ma.t", 0),
            ("DESCRIBE ma.s", 1142),
            ("EXPLAIN SELECT * FROM ma.t", 0),
            ("CHECK TABLE ma.t", 0),
            ("CHECKSUM TABLE ma.t", 0),
            ("ANALYZE TABLE ma.t", 1142),
            ("LOCK TABLES ma.t READ", 1044),
            ("UPDATE ma.t SET a = 1", 1142),
            ("UPDATE ma.t, ma.t AS x SET t.a = 1", 1143),
            ("DELETE FROM ma.t", 1142),
            ("DELETE ma.t FROM ma.t JOIN ma.t AS x", 1142),
            ("INSERT INTO ma.t VALUES (2, 2)", 1142),
            ("GRANT SELECT ON ma.t TO ma_definer@localhost", 1142),
        ],
    ),
    Case(
        &["GRANT SELECT ON ma.* TO ma_user@localhost"],
        &[
            ("SELECT * FROM ma.t, ma.s", 0),
            ("SELECT * FROM ma.v", 0),
            ("SELECT * FROM ma.vi", 0),
            ("SELECT * FROM ma.vd", 1356),
            ("SELECT * FROM ma.nothing", 1146),
            ("SELECT * FROM nowhere.t", 1142),
            ("SHOW CREATE VIEW ma.v", 1142),
            ("SHOW CREATE TABLE ma.t", 0),
            ("USE ma", 0),
            ("USE mb", 1044),
        ],
    ),
    Case(
        &["GRANT SELECT ON `m_`.* TO ma_user@localhost"],
        &[
            ("SELECT * FROM ma.t", 0),
            ("USE mb", 0),
            ("USE mysql", 1044),
        ],
    ),
    Case(
        &["GRANT SELECT ON `m\\_`.* TO ma_user@localhost"],
        &[("SELECT * FROM ma.t", 1142), ("USE mb", 1044)],
    ),
    Case(
        &["GRANT SELECT ON *.* TO ma_user@localhost"],
        &[
            ("SELECT * FROM ma.t", 0),
            ("SELECT * FROM nowhere.t", 1049),
            ("SELECT user FROM mysql.user LIMIT 1", 0),
            ("SHOW GRANTS FOR ma_definer@localhost", 0),
            ("SHOW CREATE USER ma_definer@localhost", 0),
            ("USE nowhere", 1049),
            ("INSERT INTO ma.t VALUES (2, 2)", 1142),
        ],
    ),
    Case(
        &["GRANT SELECT (a), INSERT (a), UPDATE (b) ON ma.t TO ma_user@localhost"],
        &[
            ("SELECT a FROM ma.t", 0),
            ("SELECT 1 FROM ma.t", 0),
            ("SELECT count(*) FROM ma.t", 0),
            ("SELECT b FROM ma.t", 1143),
            ("SELECT a FROM ma.t WHERE b = 1", 1143),
            ("SELECT a FROM ma.t ORDER BY b", 1143),
            ("SELECT sum(b) FROM ma.t", 1143),
            ("SELECT * FROM ma.t", 1142),
            ("SELECT t.* FROM ma.t", 1142),
            ("TABLE ma.t", 1142),
            ("UPDATE ma.t SET b = 1", 0),
            ("UPDATE ma.t SET b = a", 0),
            ("UPDATE ma.t SET a = 1", 1143),
            ("UPDATE ma.t SET b = b + 1", 1143),
            ("UPDATE ma.t SET b = 1 WHERE b = 1", 1143),
            ("UPDATE ma.t SET b = 1 WHERE a = 1", 0),
            ("INSERT INTO ma.t (a) VALUES (2)", 0),
            ("INSERT INTO ma.t VALUES (2, 2)", 1142),
            ("INSERT INTO ma.t () VALUES ()", 1142),
            ("INSERT INTO ma.t (a, b) VALUES (2, 2)", 1143),
            (
                "INSERT INTO ma.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 2",
                0,
            ),
            (
                "INSERT INTO ma.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = VALUES(a)",
                0,
            ),
            (
                "INSERT INTO ma.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = b + 1",
                1143,
            ),
            (
                "INSERT INTO ma.t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
                1143,
            ),
            ("INSERT INTO ma.t (a) SELECT a + 5 FROM ma.t", 0),
            ("INSERT INTO ma.t (a) SELECT b FROM ma.t", 1143),
            ("REPLACE INTO ma.t (a) VALUES (2)", 1142),
            ("DELETE FROM ma.t", 1142),
            ("SHOW CREATE TABLE ma.t", 1142),
            ("DESCRIBE ma.t", 0),
            ("USE ma", 0),
        ],
    ),
    Case(
        &["GRANT INSERT ON ma.t TO ma_user@localhost"],
        &[
            ("INSERT INTO ma.t VALUES (2, 2)", 0),
            ("INSERT INTO ma.t () VALUES (2, 2)", 0),
            ("INSERT INTO ma.t SELECT 5, 5", 0),
            ("INSERT INTO ma.t SELECT a, a FROM ma.s", 1142),
            (
                "INSERT INTO ma.t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 2",
                1142,
            ),
            ("REPLACE INTO ma.t VALUES (2, 2)", 1142),
            ("SELECT a FROM ma.t", 1142),
        ],
    ),
    Case(
        &["GRANT INSERT, DELETE ON ma.t TO ma_user@localhost"],
        &[
            ("REPLACE INTO ma.t VALUES (1, 2)", 0),
            ("DELETE FROM ma.t", 0),
            ("DELETE FROM ma.t WHERE a = 1", 1143),
            ("DELETE FROM ma.t ORDER BY a LIMIT 1", 1143),
            ("DELETE ma.t FROM ma.t JOIN ma.s", 1142),
        ],
    ),
    Case(
        &["GRANT UPDATE ON ma.t TO ma_user@localhost"],
        &[
            ("UPDATE ma.t SET b = 1", 0),
            ("UPDATE ma.t SET b = a", 1143),
            ("UPDATE ma.t SET b = 1 WHERE a = 1", 1143),
            ("UPDATE ma.t SET b = (SELECT 1 FROM ma.s)", 1142),
            ("UPDATE ma.t, ma.s SET t.a = 1", 1142),
            ("SELECT a FROM ma.t", 1142),
        ],
    ),
    Case(
        &["GRANT SELECT, UPDATE, DELETE ON ma.* TO ma_user@localhost"],
        &[
            ("UPDATE ma.t SET b = a WHERE a = 1", 0),
            ("UPDATE ma.t, ma.s SET t.b = s.b", 0),
            ("DELETE ma.t FROM ma.t JOIN ma.s", 0),
            ("DELETE FROM ma.t WHERE a = 1", 0),
            ("SELECT a FROM ma.t FOR UPDATE", 0),
            ("UPDATE ma.v SET b = 2", 0),
            ("DELETE FROM ma.v", 0),
            ("INSERT INTO ma.v VALUES (2, 2)", 1142),
            ("UPDATE ma.vd SET b = 2", 1356),
            ("TRUNCATE TABLE ma.t", 1142),
        ],
    ),
    Case(
        &[
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ma.v TO ma_user@localhost",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ma.vi TO ma_user@localhost",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ma.vd TO ma_user@localhost",
            "GRANT SELECT ON ma.vn TO ma_user@localhost",
        ],
        &[
            ("SELECT * FROM ma.v", 0),
            ("SELECT a FROM ma.v WHERE b = 1", 0),
            ("SELECT * FROM ma.vi", 1356),
            ("SELECT * FROM ma.vd", 1356),
            ("SELECT * FROM ma.vn", 1045),
            ("INSERT INTO ma.v VALUES (2, 2)", 0),
            ("UPDATE ma.v SET b = 3", 0),
            ("DELETE FROM ma.v WHERE a = 1", 0),
            ("INSERT INTO ma.vd VALUES (2, 2)", 1356),
            ("UPDATE ma.vd SET b = 3", 1356),
            ("DELETE FROM ma.vd", 1356),
            ("SELECT * FROM ma.t", 1142),
            ("SHOW CREATE VIEW ma.v", 1142),
            ("DESCRIBE ma.v", 0),
        ],
    ),
    // What is below a view is explained to who may read it, and may see the view.
    Case(
        &[
            "GRANT SELECT ON ma.v TO ma_user@localhost",
            "GRANT SELECT ON ma.vi TO ma_user@localhost",
            "GRANT SELECT ON ma.vv TO ma_user@localhost",
            "GRANT SELECT ON ma.vvi TO ma_user@localhost",
        ],
        &[
            ("EXPLAIN SELECT * FROM ma.v", 1345),
            ("EXPLAIN SELECT * FROM ma.vi", 1345),
            ("EXPLAIN SELECT 1 FROM ma.vvi", 1345),
            ("EXPLAIN SELECT * FROM ma.v JOIN ma.t", 1142),
            ("EXPLAIN UPDATE ma.v SET b = 2", 1142),
            ("SELECT * FROM ma.v FOR SHARE", 0),
            ("SELECT * FROM ma.v FOR UPDATE", 1142),
            ("SELECT * FROM ma.v x FOR UPDATE OF x", 1142),
            ("SELECT * FROM ma.vvi FOR SHARE", 0),
            ("SELECT * FROM ma.vvi FOR UPDATE", 1142),
            // The definer of the outer one may not read the inner one.
            ("SELECT * FROM ma.vv", 1356),
            ("SELECT * FROM ma.vv FOR SHARE", 1356),
            ("SELECT * FROM ma.vv FOR UPDATE", 1142),
        ],
    ),
    Case(
        &[
            "GRANT SELECT ON ma.v TO ma_user@localhost, ma_definer@localhost",
            "GRANT SELECT ON ma.vv TO ma_user@localhost",
            "GRANT SELECT ON ma.t TO ma_user@localhost",
        ],
        &[
            ("SELECT * FROM ma.vv", 0),
            ("EXPLAIN SELECT * FROM ma.t", 0),
            ("EXPLAIN SELECT * FROM ma.v", 1345),
            ("EXPLAIN SELECT * FROM ma.vv", 1345),
        ],
    ),
    Case(
        &[
            "GRANT SELECT, SHOW VIEW, UPDATE ON ma.v TO ma_user@localhost",
            "GRANT SELECT, SHOW VIEW ON ma.vv TO ma_user@localhost",
            "GRANT SELECT, SHOW VIEW ON ma.vvi TO ma_user@localhost",
            "GRANT SELECT ON ma.v TO ma_definer@localhost",
        ],
        &[
            ("EXPLAIN SELECT * FROM ma.v", 1345),
            ("EXPLAIN UPDATE ma.v SET b = 2", 1345),
            ("EXPLAIN SELECT * FROM ma.vv", 1345),
            ("SELECT * FROM ma.v FOR UPDATE", 0),
            ("SELECT * FROM ma.vv FOR UPDATE", 1142),
            ("SELECT * FROM ma.vvi FOR UPDATE", 1142),
        ],
    ),
    Case(
        &[
            "GRANT SELECT, SHOW VIEW, UPDATE ON ma.v TO ma_user@localhost",
            "GRANT SELECT, SHOW VIEW ON ma.vv TO ma_user@localhost",
            "GRANT SELECT, SHOW VIEW ON ma.vvi TO ma_user@localhost",
            "GRANT SELECT ON ma.v TO ma_definer@localhost",
            "GRANT SELECT (a) ON ma.t TO ma_user@localhost",
        ],
        &[
            ("EXPLAIN SELECT a FROM ma.v", 0),
            ("EXPLAIN SELECT b FROM ma.v", 0),
            ("EXPLAIN SELECT b FROM ma.vv", 0),
            ("EXPLAIN SELECT b FROM ma.vvi", 0),
            ("EXPLAIN UPDATE ma.v SET b = 2", 0),
        ],
    ),
    Case(
        &[
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ma.vd TO ma_user@localhost",
            "GRANT SELECT ON ma.t TO ma_definer@localhost",
        ],
        &[
            ("SELECT * FROM ma.vd", 0),
            ("INSERT INTO ma.vd VALUES (2, 2)", 1356),
            ("UPDATE ma.vd SET b = 3", 1356),
            ("DELETE FROM ma.vd", 1356),
        ],
    ),
    Case(
        &["GRANT SELECT (a) ON ma.v TO ma_user@localhost"],
        &[
            ("SELECT a FROM ma.v", 0),
            ("SELECT b FROM ma.v", 1143),
            ("SELECT * FROM ma.v", 1142),
        ],
    ),
    Case(
        &["GRANT CREATE ON ma.* TO ma_user@localhost"],
        &[
            ("CREATE TABLE ma.x (a int)", 0),
            ("CREATE TABLE ma.x LIKE ma.t", 1142),
            ("CREATE TABLE ma.x SELECT 1 AS a", 1142),
            (
                "CREATE TABLE ma.x (a int, FOREIGN KEY (a) REFERENCES ma.t (a))",
                1142,
            ),
            ("CREATE VIEW ma.x AS SELECT 1", 1142),
            ("CREATE TEMPORARY TABLE ma.x (a int)", 1044),
            ("CREATE DATABASE ma", 1007),
            ("CREATE DATABASE mc", 1044),
            ("DROP TABLE ma.t", 1142),
            ("CREATE INDEX i ON ma.t (b)", 1142),
        ],
    ),
    Case(
        &["GRANT CREATE, INSERT, SELECT ON ma.* TO ma_user@localhost"],
        &[
            ("CREATE TABLE ma.x LIKE ma.t", 0),
            ("CREATE TABLE ma.x SELECT * FROM ma.t", 0),
            ("ANALYZE TABLE ma.t", 0),
            ("RENAME TABLE ma.t TO ma.x", 1142),
        ],
    ),
    Case(
        &["GRANT CREATE, REFERENCES ON ma.* TO ma_user@localhost"],
        &[(
            "CREATE TABLE ma.x (a int, FOREIGN KEY (a) REFERENCES ma.t (a))",
            0,
        )],
    ),
    Case(
        &["GRANT DROP ON ma.* TO ma_user@localhost"],
        &[
            ("DROP TABLE ma.t", 0),
            ("DROP VIEW ma.v", 1227),
            ("DROP VIEW ma.vd", 0),
            ("TRUNCATE TABLE ma.t", 0),
            ("DROP DATABASE ma", 0),
            ("DROP TABLE ma.nothing", 1051),
            ("RENAME TABLE ma.t TO ma.x", 1142),
        ],
    ),
    Case(
        &["GRANT ALTER, DROP, CREATE, INSERT ON ma.* TO ma_user@localhost"],
        &[
            ("ALTER TABLE ma.t ADD c int", 0),
            ("ALTER TABLE ma.t RENAME TO ma.x", 0),
            ("ALTER TABLE ma.t RENAME TO mb.x", 1142),
            ("RENAME TABLE ma.t TO ma.x", 0),
            ("ALTER DATABASE ma CHARACTER SET latin1", 0),
            (
                "ALTER TABLE ma.t ADD FOREIGN KEY (b) REFERENCES ma.t (a)",
                1142,
            ),
        ],
    ),
    Case(
        &["GRANT INDEX ON ma.t TO ma_user@localhost"],
        &[
            ("CREATE INDEX i ON ma.t (b)", 0),
            ("CREATE INDEX i ON ma.s (b)", 1142),
            ("ALTER TABLE ma.t ADD INDEX (b)", 1142),
        ],
    ),
    Case(
        &["GRANT CREATE VIEW ON ma.* TO ma_user@localhost"],
        &[
            ("CREATE VIEW ma.x AS SELECT 1 AS a", 0),
            ("CREATE VIEW ma.x AS SELECT a FROM ma.t", 1142),
            ("CREATE OR REPLACE VIEW ma.x AS SELECT 1 AS a", 1142),
            (
                "CREATE DEFINER = root@localhost VIEW ma.x AS SELECT 1 AS a",
                1227,
            ),
            (
                "CREATE DEFINER = CURRENT_USER VIEW ma.x AS SELECT 1 AS a",
                0,
            ),
        ],
    ),
    Case(
        &["GRANT SELECT, SHOW VIEW ON ma.* TO ma_user@localhost"],
        &[("SHOW CREATE VIEW ma.v", 0), ("SHOW CREATE TABLE ma.v", 0)],
    ),
    Case(
        &["GRANT CREATE TEMPORARY TABLES ON ma.* TO ma_user@localhost"],
        &[
            (
                "CREATE TEMPORARY TABLE ma.t (a int, b int); INSERT INTO ma.t VALUES (1, 2); \
                 SELECT * FROM ma.t; UPDATE ma.t SET a = b; ALTER TABLE ma.t ADD c int; \
                 CREATE INDEX i ON ma.t (a); DELETE FROM ma.t WHERE a = 1; TRUNCATE TABLE ma.t; \
                 DESCRIBE ma.t; SHOW CREATE TABLE ma.t; DROP TABLE ma.t",
                0,
            ),
            ("CREATE TEMPORARY TABLE ma.x SELECT * FROM ma.t", 1142),
            ("CREATE TEMPORARY TABLE mb.x (a int)", 1044),
        ],
    ),
    Case(
        &[
            "GRANT LOCK TABLES ON ma.* TO ma_user@localhost",
            "GRANT SELECT ON ma.t TO ma_user@localhost",
        ],
        &[
            ("LOCK TABLES ma.t READ", 0),
            ("LOCK TABLES ma.t WRITE", 0),
            ("LOCK TABLES ma.s READ", 1142),
        ],
    ),
    Case(
        &["GRANT FILE ON *.* TO ma_user@localhost"],
        &[
            ("SELECT 1 INTO OUTFILE '/nowhere/at/all/x'", 1),
            ("LOAD DATA INFILE '/nowhere/x' INTO TABLE ma.t", 1142),
        ],
    ),
    Case(
        &["GRANT PROCESS ON *.* TO ma_user@localhost"],
        &[("SHOW ENGINE INNODB STATUS", 0), ("KILL 4294967295", 1094)],
    ),
    Case(
        &["GRANT RELOAD ON *.* TO ma_user@localhost"],
        &[
            ("FLUSH TABLES", 0),
            ("FLUSH PRIVILEGES", 0),
            ("FLUSH STATUS", 0),
        ],
    ),
    Case(
        &["GRANT FLUSH_STATUS ON *.* TO ma_user@localhost"],
        &[("FLUSH STATUS", 0), ("FLUSH TABLES", 1227)],
    ),
    Case(
        &["GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO ma_user@localhost"],
        &[
            ("SET GLOBAL max_connections = 151", 0),
            ("SET SESSION sql_log_bin = 1", 0),
        ],
    ),
    Case(
        &["GRANT SESSION_VARIABLES_ADMIN ON *.* TO ma_user@localhost"],
        &[
            ("SET GLOBAL max_connections = 151", 1227),
            ("SET SESSION sql_log_bin = 1", 0),
        ],
    ),
    Case(
        &["GRANT CREATE USER ON *.* TO ma_user@localhost"],
        &[
            ("CREATE USER ma_x@localhost; DROP USER ma_x@localhost", 0),
            ("ALTER USER ma_definer@localhost COMMENT 'x'", 0),
            ("SET PASSWORD FOR ma_definer@localhost = ''", 1044),
            ("CREATE ROLE ma_x; DROP ROLE ma_x", 0),
            (
                "REVOKE ALL PRIVILEGES, GRANT OPTION FROM ma_definer@localhost",
                0,
            ),
            ("GRANT SELECT ON ma.* TO ma_definer@localhost", 1044),
            ("GRANT ma_definer@localhost TO ma_user@localhost", 1227),
        ],
    ),
    Case(
        &["GRANT SELECT, INSERT (a) ON ma.t TO ma_user@localhost WITH GRANT OPTION"],
        &[
            ("GRANT SELECT ON ma.t TO ma_definer@localhost", 0),
            ("GRANT SELECT (a) ON ma.t TO ma_definer@localhost", 0),
            ("GRANT INSERT (a) ON ma.t TO ma_definer@localhost", 0),
            ("GRANT INSERT (b) ON ma.t TO ma_definer@localhost", 1143),
            ("GRANT INSERT ON ma.t TO ma_definer@localhost", 1142),
            ("GRANT SELECT ON ma.s TO ma_definer@localhost", 1142),
            ("GRANT SELECT ON ma.* TO ma_definer@localhost", 1044),
            ("REVOKE SELECT ON ma.t FROM ma_user@localhost", 0),
        ],
    ),
    Case(
        &["GRANT SELECT, INSERT ON ma.* TO ma_user@localhost WITH GRANT OPTION"],
        &[
            ("GRANT SELECT ON ma.* TO ma_definer@localhost", 0),
            ("GRANT SELECT, INSERT ON ma.t TO ma_definer@localhost", 0),
            ("GRANT DELETE ON ma.* TO ma_definer@localhost", 1044),
            ("GRANT SELECT ON *.* TO ma_definer@localhost", 1045),
            ("GRANT SELECT ON ma.* TO ma_nobody@localhost", 1410),
        ],
    ),
    Case(
        &["GRANT ROLE_ADMIN ON *.* TO ma_user@localhost"],
        &[(
            "GRANT ma_definer@localhost TO ma_user@localhost; SET ROLE ma_definer@localhost; \
             SET ROLE NONE; REVOKE ma_definer@localhost FROM ma_user@localhost",
            0,
        )],
    ),
    Case(
        &[
            "GRANT SELECT ON ma.t TO ma_definer@localhost",
            "GRANT ma_definer@localhost TO ma_user@localhost",
        ],
        &[
            ("SELECT * FROM ma.t", 1142),
            ("SET ROLE ma_definer@localhost; SELECT * FROM ma.t", 0),
            ("SET ROLE ALL; SELECT * FROM ma.t; SELECT * FROM ma.s", 1142),
            ("SET ROLE ALL; SET ROLE NONE; SELECT * FROM ma.t", 1142),
        ],
    ),
];

/// What an administrator does before a case.
fn preparation(case: &Case) -> Vec<&'static str> {
    let mut statements = vec![
        "DROP USER IF EXISTS ma_user@localhost, ma_definer@localhost, ma_x@localhost",
        "DROP ROLE IF EXISTS ma_x",
        "CREATE USER ma_user@localhost, ma_definer@localhost",
    ];
    statements.extend(OBJECTS);
    statements.extend(case.0);
    statements
}

const CLEANUP: &[&str] = &[
    "DROP DATABASE IF EXISTS ma",
    "DROP DATABASE IF EXISTS mb",
    "DROP USER IF EXISTS ma_user@localhost, ma_definer@localhost, ma_x@localhost",
    "DROP ROLE IF EXISTS ma_x",
];

/// Runs statements up to the first that fails: its error, or 0.
fn first_error(statements: &str, run: impl FnMut(&str) -> u16) -> u16 {
    let mut errors = statements.split("; ").map(run);
    errors.find(|errno| *errno != 0).unwrap_or(0)
}

#[test]
fn each_statement_needs_its_privileges() {
    let fixture = Fixture::open(|_| {});
    let database: &std::sync::Arc<Database> = &fixture.database;
    // The views are root's.
    database.set_up_root(RootPassword::Empty).unwrap();
    let mut wrong = Vec::new();
    for case in CASES {
        for (statements, expected) in case.1 {
            let mut root = database.session();
            for statement in preparation(case) {
                assert_eq!(errno(&mut root, statement), 0, "{statement}");
            }
            let mut user = log_in(database, "ma_user");
            let found = first_error(statements, |statement| errno(&mut user, statement));
            if found != *expected {
                wrong.push(format!(
                    "{:?} {statements}: {found}, not {expected}",
                    case.0
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut root = database.session();
    for statement in CLEANUP {
        assert_eq!(errno(&mut root, statement), 0, "{statement}");
    }
}

#[test]
fn mysql_needs_the_same_privileges() {
    let Some(socket) = server::socket(Flavour::MySql) else {
        return;
    };
    let errno = |client: &mut Client, statement: &str| {
        client
            .query(statement)
            .map_or_else(|error| error.errno, |_| 0)
    };
    let mut root = Client::connect(&socket, "root").unwrap();
    let mut wrong = Vec::new();
    for case in CASES {
        for (statements, expected) in case.1 {
            for statement in preparation(case) {
                assert_eq!(errno(&mut root, statement), 0, "{statement}");
            }
            let mut user = Client::connect(&socket, "ma_user").unwrap();
            let found = first_error(statements, |statement| errno(&mut user, statement));
            if found != *expected {
                wrong.push(format!(
                    "{:?} {statements}: {found}, not {expected}",
                    case.0
                ));
            }
        }
    }
    for statement in CLEANUP {
        assert_eq!(errno(&mut root, statement), 0, "{statement}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
