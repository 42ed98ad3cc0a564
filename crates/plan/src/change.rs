//! Plans of statements that change rows.
//!
//! An UPDATE or DELETE is a query whose rows describe the change: for each target table the position of a row, the row,
//! and the new values. The whole optimizer applies to it, and it is read to its end before the first change, so that it
//! sees no change.
//!
//! An assignment that reads a column which an earlier assignment has set cannot be part of that query, since the query
//! sees the stored value: the operation that makes the change computes it.

use std::sync::Arc;

use mayfly_syntax::ast::NonBlock;
use mayfly_types::Result;

use crate::catalog::TableSource;
use crate::lower::{lower, lower_over};
use crate::rules::{self, Planning};
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, Query, Relation, visit_relations_mut};
use crate::tree::physical::QueryPlan;

/// An UPDATE or DELETE, ready to run any number of times.
#[derive(Debug, Clone)]
pub struct ChangePlan {
    /// Query whose rows describe the change.
    pub query: Arc<QueryPlan>,
    /// Tables that are changed.
    pub targets: Vec<ChangeTarget>,
    /// The statement has LIMIT, or every target is found by a key: what `sql_safe_updates` requires.
    pub is_safe: bool,
    /// Whether a row may be found more than once: its table is joined with another one, perhaps in a view.
    pub repeats: bool,
}

/// A table that a statement changes.
#[derive(Debug, Clone)]
pub struct ChangeTarget {
    /// The table.
    pub table: Arc<TableSource>,
    /// Alias of the table in the statement.
    pub alias: String,
    /// Column of the query with the row's position; NULL where an outer join found no row.
    pub position: usize,
    /// First column of the row in the query; the others follow. `None` if only positions are needed.
    pub row: Option<usize>,
    /// Assignments, in order.
    pub assignments: Vec<Assignment>,
    /// Condition that a changed row must meet.
    pub check: Option<RowCheck>,
}

/// WITH CHECK OPTION condition of the view through which rows are changed.
#[derive(Debug, Clone)]
pub struct RowCheck {
    /// (database, name) of the view.
    pub view: (String, String),
    /// Condition over the query's columns, with the new values in those of the target's row.
    pub condition: Arc<Expression>,
}

/// An assignment to a column.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Index of the column in the table.
    pub column: usize,
    /// New value.
    pub value: NewValue,
}

/// New value of a column.
#[derive(Debug, Clone)]
pub enum NewValue {
    /// DEFAULT
    Default,
    /// Value of a column of the query.
    Column(usize),
    /// Value over the query's columns, after the earlier assignments have changed those of the target's row.
    Computed(Arc<Expression>),
}

/// Lock of a table's rows that a query reads.
#[derive(Debug, Clone)]
pub struct RowLock {
    /// The table.
    pub table: Arc<TableSource>,
    /// Column of the query with the row's position; NULL where an outer join found no row.
    pub position: usize,
    /// Whether it is FOR SHARE instead of FOR UPDATE.
    pub shared: bool,
    /// NOWAIT or SKIP LOCKED.
    pub nonblock: Option<NonBlock>,
}

/// A bound locking query.
#[derive(Debug)]
pub(crate) struct BoundLocks {
    pub(crate) query: Query,
    /// Number of columns of the result; 0: the query only finds rows to lock.
    pub(crate) shown: usize,
    pub(crate) locks: Vec<RowLock>,
    /// SKIP LOCKED: (offset, count) of the rows that could be locked.
    pub(crate) limit: Option<(u64, u64)>,
}

/// A query that locks rows.
#[derive(Debug, Clone)]
pub struct LockingPlan {
    /// The query, with the positions of the rows behind its own columns.
    pub query: Arc<QueryPlan>,
    /// Number of its own columns; 0: it only finds the rows that another query is made of.
    pub shown: usize,
    /// Row locks.
    pub locks: Vec<RowLock>,
    /// SKIP LOCKED: (offset, count) of the rows that could be locked.
    pub limit: Option<(u64, u64)>,
}

/// Plans a bound locking query.
pub(crate) fn plan_locking(mut bound: BoundLocks, planning: &Planning<'_>) -> Result<LockingPlan> {
    let options = planning.options.locking_rows();
    let planning = &planning.with(&options);
    rules::rewrite(&mut bound.query, planning);
    Ok(LockingPlan {
        query: Arc::new(lower(bound.query, planning)?),
        shown: bound.shown,
        locks: bound.locks,
        limit: bound.limit,
    })
}

/// A bound UPDATE or DELETE; expressions are over the columns of `query`.
#[derive(Debug)]
pub(crate) struct BoundChange {
    pub(crate) query: Query,
    pub(crate) targets: Vec<ChangeTarget>,
    pub(crate) is_safe: bool,
    /// Whether a row may be found more than once.
    pub(crate) repeats: bool,
}

/// Plans a bound change.
pub(crate) fn plan(mut bound: BoundChange, planning: &Planning<'_>) -> Result<ChangePlan> {
    let options = planning.options;
    let layout: Vec<ColumnId> = bound.query.columns.clone();
    for target in &mut bound.targets {
        for assignment in &mut target.assignments {
            if let NewValue::Computed(value) = &mut assignment.value {
                let shared = bound.query.shared.clone();
                let expression = Expression::clone(value);
                *value = Arc::new(lower_over(expression, shared, &layout, options)?);
            }
        }
        if let Some(check) = &mut target.check {
            let shared = bound.query.shared.clone();
            let condition = Expression::clone(&check.condition);
            check.condition = Arc::new(lower_over(condition, shared, &layout, options)?);
        }
    }
    let options = options.locking_rows();
    let planning = &planning.with(&options);
    rules::rewrite(&mut bound.query, planning);
    let positions = bound.targets.iter().map(|target| layout[target.position]);
    let mut positions = positions.collect::<Vec<ColumnId>>();
    keyed_scans(&mut bound.query.relation, &mut positions);
    bound.is_safe |= positions.is_empty();
    Ok(ChangePlan {
        query: Arc::new(lower(bound.query, planning)?),
        targets: bound.targets,
        is_safe: bound.is_safe,
        repeats: bound.repeats,
    })
}

/// Removes the positions of tables in which no index helps to find rows.
fn keyed_scans(relation: &mut Relation, positions: &mut Vec<ColumnId>) {
    visit_relations_mut(relation, &mut |relation| {
        let scan = match relation {
            Relation::Scan(scan) => scan,
            _ => return,
        };
        let is_keyed = !scan.possible.is_empty();
        positions.retain(|position| *position != scan.position() || !is_keyed);
    });
}

#[cfg(test)]
mod tests {
    use mayfly_syntax::ast::Statement;
    use mayfly_syntax::{ParseOptions, parse_one};
    use mayfly_types::Result;

    use super::{ChangePlan, LockingPlan, NewValue};
    use crate::options::PlanOptions;
    use crate::testing::{FakeCatalog, parsed};

    fn planned(sql: &str) -> Result<ChangePlan> {
        let parsed = parse_one(sql, &ParseOptions::MYSQL_DEFAULT).expect("the test's SQL parses");
        let (catalog, options) = (FakeCatalog::new(), PlanOptions::default());
        match parsed.statement {
            Statement::Update(update) => crate::bind_update(&update, &catalog, &options),
            Statement::Delete(delete) => crate::bind_delete(&delete, &catalog, &options),
            other => panic!("changes nothing: {other:?}"),
        }
    }

    fn number(sql: &str) -> u16 {
        planned(sql).map(|_| ()).expect_err(sql).errno()
    }

    fn locking(sql: &str) -> Option<LockingPlan> {
        let (catalog, options) = (FakeCatalog::new(), PlanOptions::default());
        crate::bind_locking(&parsed(sql), &catalog, &options).expect("the test's SQL binds")
    }

    #[test]
    fn an_assignment_sees_those_before_it() {
        let plan = planned("UPDATE t SET a = a + 1, b = a, id = id + 1").expect("it binds");
        let target = &plan.targets[0];
        // Position, row, and the two values that the query can compute.
        assert_eq!((target.position, target.row), (0, Some(1)));
        assert_eq!(plan.query.columns.len(), 1 + 3 + 2);
        let values: Vec<_> = target.assignments.iter().map(|set| &set.value).collect();
        assert!(matches!(values[0], NewValue::Column(4)), "{values:?}");
        assert!(matches!(values[1], NewValue::Computed(_)), "{values:?}");
        assert!(matches!(values[2], NewValue::Column(5)), "{values:?}");
    }

    #[test]
    fn each_target_of_a_join_has_a_position() {
        let sql = "UPDATE t JOIN u ON t.id = u.c SET t.a = u.a, u.c = DEFAULT";
        let plan = planned(sql).expect("it binds");
        let positions: Vec<_> = plan.targets.iter().map(|target| target.position).collect();
        assert_eq!(positions, [0, 4]);
        let plan = planned("DELETE t FROM t JOIN u ON t.id = u.c").expect("it binds");
        assert_eq!(plan.query.columns.len(), 1, "positions are enough");
    }

    #[test]
    fn safe_statements_have_a_key_or_a_limit() {
        let is_safe = |sql| planned(sql).expect("it binds").is_safe;
        assert!(is_safe("UPDATE t SET a = 1 WHERE id = 5"));
        assert!(is_safe("DELETE FROM t WHERE id IN (1, 2)"));
        assert!(is_safe("DELETE FROM t LIMIT 1"));
        assert!(!is_safe("UPDATE t SET a = 1 WHERE a = 5"));
        assert!(!is_safe("DELETE FROM t WHERE id <> 5"));
        assert!(!is_safe("DELETE FROM t"));
    }

    #[test]
    fn targets_are_tables_that_no_subquery_reads() {
        assert_eq!(number("UPDATE t SET a = (SELECT max(a) FROM t)"), 1093);
        assert_eq!(number("DELETE FROM t WHERE a IN (SELECT a FROM t)"), 1093);
        assert_eq!(number("UPDATE t, (SELECT 1 AS k) d SET d.k = 2"), 1288);
        assert_eq!(number("DELETE v FROM t, u"), 1109);
        assert_eq!(number("UPDATE t, u SET t.a = 1 ORDER BY t.id"), 1221);
        assert_eq!(number("UPDATE t x, t y SET x.id = 1, y.a = 2"), 1706);
        let derived = "UPDATE t SET a = 1 WHERE a IN (SELECT a FROM (SELECT a FROM t) d)";
        assert!(planned(derived).is_ok(), "it is read before");
    }

    #[test]
    fn locking_reads_carry_positions() {
        let plan = locking("SELECT b FROM t JOIN u ON t.id = u.c FOR UPDATE OF t").expect("locks");
        assert_eq!((plan.shown, plan.locks.len()), (1, 1));
        assert_eq!(plan.query.columns.len(), 2);
        let plan = locking("SELECT a, count(*) FROM t GROUP BY a FOR SHARE").expect("locks");
        assert_eq!((plan.shown, plan.locks[0].shared), (0, true));
        let sql = "SELECT id FROM t ORDER BY a LIMIT 3 FOR UPDATE SKIP LOCKED";
        assert_eq!(locking(sql).expect("locks").limit, Some((0, 3)));
        assert!(locking("SELECT 1 FOR UPDATE").is_none());
    }
}
