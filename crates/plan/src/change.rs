//! Plans of statements that change rows.
//!
//! An UPDATE or DELETE is a query whose rows say what is to be changed: for each target table the
//! position of a row, the row as it is, and the values that are to be put in. The whole optimizer
//! serves it, and it is read to its end before the first change, so that no change is seen by it.
//!
//! An assignment that reads a column that an assignment before it has set cannot be part of that
//! query, since it sees the value as it was stored: whoever makes the change computes it.

use std::sync::Arc;

use mayfly_types::Result;

use crate::bind::{BoundLocks, RowLock};
use crate::catalog::TableSource;
use crate::expression::Expression;
use crate::logical::{ColumnId, Query};
use crate::options::PlanOptions;
use crate::physical::QueryPlan;
use crate::physical::build::{lower, lower_over};
use crate::rules;

/// An UPDATE or DELETE, ready to run any number of times.
#[derive(Debug, Clone)]
pub struct ChangePlan {
    /// Its rows say what is to be changed.
    pub query: Arc<QueryPlan>,
    /// The tables that are changed.
    pub targets: Vec<ChangeTarget>,
    /// It has LIMIT, or every target is found by a key: what `sql_safe_updates` asks for.
    pub is_safe: bool,
}

/// A table that a statement changes.
#[derive(Debug, Clone)]
pub struct ChangeTarget {
    /// The table.
    pub table: Arc<TableSource>,
    /// The name that the statement gives it.
    pub alias: String,
    /// The column of the query that is the row's position; NULL where an outer join found no row.
    pub position: usize,
    /// The column of the query that is the row's first; the others follow. None when only positions
    /// are asked for.
    pub row: Option<usize>,
    /// What is set, in this order.
    pub assignments: Vec<Assignment>,
}

/// A column that gets another value.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Which, by index in the table.
    pub column: usize,
    /// What it gets.
    pub value: NewValue,
}

/// What a column gets.
#[derive(Debug, Clone)]
pub enum NewValue {
    /// DEFAULT
    Default,
    /// A column of the query.
    Column(usize),
    /// A value over the query's columns, after the assignments before it have changed those of the
    /// target's row.
    Computed(Expression),
}

/// A query that locks rows.
#[derive(Debug, Clone)]
pub struct LockingPlan {
    /// The query, with the positions of the rows behind its own columns.
    pub query: QueryPlan,
    /// How many columns are its own; 0: it only finds the rows that another query is made of.
    pub shown: usize,
    /// What is locked.
    pub locks: Vec<RowLock>,
    /// SKIP LOCKED: offset and count of the rows that could be locked.
    pub limit: Option<(u64, u64)>,
}

/// From a bound locking query to one that can run.
pub(crate) fn plan_locking(mut bound: BoundLocks, options: &PlanOptions) -> Result<LockingPlan> {
    rules::rewrite(&mut bound.query, options);
    Ok(LockingPlan {
        query: lower(bound.query)?,
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
}

/// From a bound statement to one that can run.
pub(crate) fn plan(mut bound: BoundChange, options: &PlanOptions) -> Result<ChangePlan> {
    let layout: Vec<ColumnId> = bound.query.columns.clone();
    for target in &mut bound.targets {
        for assignment in &mut target.assignments {
            if let NewValue::Computed(value) = &mut assignment.value {
                let shared = bound.query.shared.clone();
                *value = lower_over(value.clone(), shared, &layout, options)?;
            }
        }
    }
    rules::rewrite(&mut bound.query, options);
    Ok(ChangePlan {
        query: Arc::new(lower(bound.query)?),
        targets: bound.targets,
        is_safe: bound.is_safe,
    })
}
