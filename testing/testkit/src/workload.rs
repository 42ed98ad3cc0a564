//! Statements for tests that break something at every moment: each operator and each use of a
//! temporary table is in one of them, over a table of a few thousand rows.

use mayfly_engine::Session;

use crate::fixture::must;

/// A statement of the workload.
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    /// What it is for.
    pub name: &'static str,
    /// Its text.
    pub sql: &'static str,
    /// Whether it needs more than [`OVERFLOW`] leaves in memory.
    pub overflows: bool,
}

const fn large(name: &'static str, sql: &'static str) -> Statement {
    Statement {
        name,
        sql,
        overflows: true,
    }
}

const fn small(name: &'static str, sql: &'static str) -> Statement {
    Statement {
        name,
        sql,
        overflows: false,
    }
}

/// How many rows `t` has.
pub const N_ROWS: u32 = 2400;

/// Makes a session's temporary tables overflow early.
pub const OVERFLOW: &str = "SET SESSION tmp_table_size = 32768";

/// The statements. Each gives the same rows in the same order whenever it is run.
pub const STATEMENTS: &[Statement] = &[
    small(
        "scan and filter",
        "SELECT i, c FROM t WHERE i % 400 = 7 OR c LIKE '%fff%' LIMIT 5",
    ),
    small(
        "constants",
        "SELECT 1 UNION ALL SELECT 2 UNION ALL VALUES ROW(3), ROW(4)",
    ),
    small(
        "aggregate",
        "SELECT COUNT(*), SUM(i), MIN(c), AVG(LENGTH(c)) FROM t",
    ),
    small(
        "few groups",
        "SELECT i % 7 AS k, COUNT(*), MAX(c) FROM t GROUP BY k ORDER BY k",
    ),
    large(
        "groups",
        "SELECT COUNT(*), SUM(n), MIN(LENGTH(c)) FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c) AS g",
    ),
    large(
        "rollup",
        "SELECT COUNT(*), SUM(n) FROM (SELECT i % 3 AS k, c, COUNT(*) AS n FROM t GROUP BY k, c WITH ROLLUP) AS g",
    ),
    small(
        "first groups",
        "SELECT i, COUNT(*) FROM t GROUP BY i ORDER BY NULL LIMIT 3",
    ),
    large(
        "count distinct",
        "SELECT COUNT(DISTINCT c), COUNT(DISTINCT i) FROM t",
    ),
    large(
        "count distinct of groups",
        "SELECT i % 5 AS k, COUNT(DISTINCT c) FROM t GROUP BY k ORDER BY k",
    ),
    large(
        "long group concatenations",
        "SELECT i % 3 AS k, LENGTH(GROUP_CONCAT(c ORDER BY c DESC)), CRC32(GROUP_CONCAT(DISTINCT c ORDER BY c)) \
         FROM t GROUP BY k ORDER BY k",
    ),
    large(
        "JSON aggregates",
        "SELECT i % 3 AS k, JSON_LENGTH(JSON_ARRAYAGG(c)) FROM t GROUP BY k ORDER BY k",
    ),
    large(
        "distinct",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT DISTINCT c, i FROM t) AS d",
    ),
    large(
        "union",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT c FROM t UNION SELECT CONCAT(c, i) FROM t) AS u",
    ),
    large(
        "intersect",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT c FROM t INTERSECT SELECT c FROM t WHERE i > 99) AS u",
    ),
    large(
        "except",
        "SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM (SELECT c FROM t EXCEPT ALL SELECT c FROM t WHERE i % 3 = 0) AS u",
    ),
    large(
        "sort",
        "SELECT i, c FROM t ORDER BY c DESC, i LIMIT 5 OFFSET 2000",
    ),
    small(
        "first of a sort",
        "SELECT i, c FROM t ORDER BY c, i DESC LIMIT 4",
    ),
    large(
        "join",
        "SELECT COUNT(*), BIT_XOR(CRC32(a.c)) FROM t AS a JOIN t AS b ON a.c = b.c",
    ),
    large(
        "left join",
        "SELECT COUNT(*), COUNT(b.i) FROM t AS a LEFT JOIN t AS b ON a.c = b.c AND b.i % 3 = 0",
    ),
    large(
        "semi-join",
        "SELECT COUNT(*) FROM t AS a WHERE a.c IN (SELECT c FROM t AS b WHERE b.i % 3 > 0)",
    ),
    large(
        "anti-join",
        "SELECT COUNT(*) FROM t AS a WHERE NOT EXISTS (SELECT 1 FROM t AS b WHERE b.c = a.c AND b.i < 999)",
    ),
    large(
        "NOT IN",
        "SELECT COUNT(*) FROM t AS a WHERE a.c NOT IN (SELECT c FROM t AS b WHERE b.i > 500)",
    ),
    small(
        "join without keys",
        "SELECT COUNT(*) FROM t AS a JOIN s AS b ON a.i < b.i * 100",
    ),
    small(
        "correlated subquery",
        "SELECT SUM((SELECT MAX(s.i) FROM s WHERE s.i <= t.i)) FROM t WHERE t.i < 200",
    ),
    small(
        "quantified subquery",
        "SELECT COUNT(*) FROM t WHERE i > ALL (SELECT i FROM s) AND i <> (SELECT MAX(i) FROM s)",
    ),
    large(
        "common table expression",
        "WITH w AS (SELECT i, c FROM t) \
         SELECT COUNT(*), BIT_XOR(CRC32(CONCAT(x.c, y.c))) FROM w AS x JOIN w AS y ON x.i = y.i",
    ),
    large(
        "recursion",
        "WITH RECURSIVE r (n, c) AS (SELECT 1, CAST(SHA1(1) AS CHAR(60)) UNION ALL \
         SELECT n + 1, CAST(SHA1(n + 1) AS CHAR(60)) FROM r WHERE n < 900) \
         SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM r",
    ),
    large(
        "distinct recursion",
        "WITH RECURSIVE r (n, c) AS (SELECT i, c FROM t WHERE i % 2 UNION \
         SELECT i, t.c FROM r JOIN t ON t.i = r.n + 1) \
         SELECT COUNT(*), BIT_XOR(CRC32(c)) FROM r",
    ),
    large(
        "several in one",
        "SELECT k, COUNT(*) FROM (SELECT DISTINCT LEFT(a.c, 1) AS k, b.i FROM t AS a JOIN t AS b ON a.c = b.c \
         UNION SELECT LEFT(c, 1), i + 5 FROM t) AS u GROUP BY k ORDER BY k",
    ),
];

/// Makes the tables of the statements, in memory.
pub fn fill(session: &mut Session) {
    must(session, "SET SESSION cte_max_recursion_depth = 100000");
    must(session, "SET SESSION group_concat_max_len = 1000000");
    must(session, "CREATE TABLE t (i INT UNSIGNED, c TEXT)");
    let insert = format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {N_ROWS}) \
         SELECT n, SHA1(n DIV 2) FROM r"
    );
    must(session, &insert);
    must(session, "CREATE TABLE s (i INT)");
    must(
        session,
        "INSERT INTO s VALUES (1), (3), (5), (7), (9), (11), (13), (15)",
    );
}

/// Drops them.
pub fn empty(session: &mut Session) {
    must(session, "DROP TABLE t, s");
}
