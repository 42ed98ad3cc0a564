//! Statements for tests that break something at every moment: each operator and each use of a
//! temporary table is in one of them, over a table of a few thousand rows.

use std::sync::LazyLock;

use mayfly_engine::Session;

use crate::fixture::must;
use crate::groups::Groups;

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

/// How many rows `t` has.
pub const N_ROWS: u32 = 2400;

/// Makes a session's temporary tables overflow early.
pub const OVERFLOW: &str = "SET SESSION tmp_table_size = 32768";

/// The statements. Each gives the same rows in the same order whenever it is run.
pub static STATEMENTS: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    let lists = Groups::read(include_str!("workload.txt"));
    let statements = lists.iter().map(|(head, text)| Statement {
        name: head.trim_end_matches(MARK),
        sql: text[0],
        overflows: head.ends_with(MARK),
    });
    statements.collect()
});

/// Behind the name of a statement that overflows.
const MARK: &str = " (overflows)";

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
