//! Statements for tests of failures at every call or check: each operator and each use of a temporary table is in one
//! of them, over a table of a few thousand rows.

use std::sync::LazyLock;

use mayfly_engine::{Error, Session};

use crate::fixture::SessionExt;
use crate::groups::Groups;

/// A statement of the workload.
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    /// Its purpose.
    pub name: &'static str,
    /// Its text.
    pub sql: &'static str,
    /// Whether it needs more than [`OVERFLOW`] leaves in memory.
    pub overflows: bool,
}

/// Number of rows of `t`.
pub const N_ROWS: u32 = 2400;

/// Makes a session's temporary tables overflow early.
pub const OVERFLOW: &str = "SET SESSION tmp_table_size = 32768";

/// The statements. Each gives the same rows in the same order in every run.
pub static STATEMENTS: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    let lists = Groups::read(include_str!("workload.txt"));
    let statements = lists.iter().map(|(head, text)| Statement {
        name: head.trim_end_matches(MARK),
        sql: text[0],
        overflows: head.ends_with(MARK),
    });
    statements.collect()
});

/// Suffix of the name of a statement that overflows.
const MARK: &str = " (overflows)";

/// Makes the tables of the statements, in memory.
pub fn fill(session: &mut Session) {
    session.must("SET SESSION cte_max_recursion_depth = 100000");
    session.must("SET SESSION group_concat_max_len = 1000000");
    session.must("CREATE TABLE t (i INT UNSIGNED, c TEXT)");
    let insert = format!(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {N_ROWS}) \
         SELECT n, SHA1(n DIV 2) FROM r"
    );
    session.must(&insert);
    session.must("CREATE TABLE s (i INT)");
    session.must("INSERT INTO s VALUES (1), (3), (5), (7), (9), (11), (13), (15)");
}

/// Events that can be struck while statements run: calls on files, checks.
pub trait Events {
    /// Restarts counting, and strikes the n-th event; 0: none.
    fn arm(&self, number: u64);

    /// Number of events since then.
    fn count(&self) -> u64;
}

/// Result of a statement of which one event was struck.
#[derive(Debug)]
pub struct Struck<'s> {
    /// Statement and event, for messages.
    pub here: String,
    /// The actual result.
    pub outcome: Result<Vec<String>, Error>,
    /// The result without the strike.
    pub expected: &'s [String],
    /// Number of events after the struck one; `None` when there were too few events to strike it.
    pub later: Option<u64>,
}

/// Runs statements repeatedly, striking in turn the events that `chosen` selects of their number.
///
/// # Panics
/// When a statement fails by itself.
pub fn strike<I: Iterator<Item = u64>>(
    session: &mut Session,
    statements: impl IntoIterator<Item = &'static Statement>,
    events: &impl Events,
    chosen: impl Fn(u64) -> I,
    mut judge: impl FnMut(&mut Session, Struck<'_>),
) {
    for Statement { name, sql, .. } in statements {
        events.arm(0);
        let expected = session.must(sql);
        let count = events.count();
        for number in chosen(count) {
            events.arm(number);
            let outcome = session.rows(sql);
            let later = events.count().checked_sub(number);
            events.arm(0);
            let struck = Struck {
                here: format!("{name}, {number} of {count}"),
                outcome,
                expected: &expected,
                later,
            };
            judge(session, struck);
        }
        assert_eq!(session.must(sql), expected, "{name} again");
    }
}
