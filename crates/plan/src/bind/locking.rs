//! SELECT … FOR UPDATE and FOR SHARE: the query, with the positions of the rows that it locks.
//!
//! Only tables that the outermost query block itself reads are locked. Where its result rows are not rows of tables
//! (GROUP BY, DISTINCT, UNION), the rows that they are made of are found by a separate query, which is run first.

use std::sync::Arc;

use mayfly_syntax::ast::{GroupBy, LockClause, LockType, NonBlock, Query, SelectItem, SetExpr};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::change::position_column;
use super::from::last_part;
use crate::bind::binder::Binder;
use crate::bind::block::Block;
use crate::catalog::Catalog;
use crate::change::{BoundLocks, RowLock};
use crate::options::PlanOptions;
use crate::tree::logical::{Relation, Scan};

/// Binds a query that locks rows; `None` if it locks none.
pub(crate) fn bind_locking(
    query: &Query,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<Option<BoundLocks>> {
    let mut binder = Binder::new(catalog, options);
    let mut block = binder.bind_query_expression(query, true)?;
    binder.show_variables(&mut block);
    let mut scans = Vec::new();
    if lockable(&block.relation, block.select_id, &mut scans) {
        return binder.with_locks(query, block, scans);
    }
    let Some(rows) = ungrouped(query) else {
        return Ok(None);
    };
    let found = bind_locking(&rows, catalog, options)?;
    Ok(found.map(|found| BoundLocks {
        shown: 0,
        limit: None,
        ..found
    }))
}

impl Binder<'_> {
    fn with_locks(
        self,
        query: &Query,
        mut block: Block,
        scans: Vec<Scan>,
    ) -> Result<Option<BoundLocks>> {
        let shown = block.columns.len();
        let mut locks = Vec::new();
        for clause in &query.locks {
            let mut found = false;
            for scan in &scans {
                if !names(clause, scan) {
                    continue;
                }
                found = true;
                locks.push(RowLock {
                    table: Arc::clone(&scan.table),
                    position: block.columns.len(),
                    shared: clause.lock_type == LockType::Share,
                    nonblock: clause.nonblock,
                });
                block.columns.push(position_column(scan));
            }
            if !found && let Some(name) = &clause.of {
                let table = &last_part(name)?.value;
                return Err(codes::ER_UNRESOLVED_TABLE_LOCK.with(&[table]));
            }
        }
        if locks.is_empty() {
            return Ok(None);
        }
        let skips = |lock: &RowLock| matches!(lock.nonblock, Some(NonBlock::SkipLocked));
        let limit = if locks.iter().any(skips) {
            take_limit(&mut block.relation)
        } else {
            None
        };
        Ok(Some(BoundLocks {
            query: self.finish(block),
            shown,
            locks,
            limit,
        }))
    }
}

/// Whether a lock clause applies to a table.
fn names(clause: &LockClause, scan: &Scan) -> bool {
    let Some(name) = &clause.of else {
        return true;
    };
    let mut parts = name.0.iter().rev();
    let table = parts.next().is_some_and(|name| name.value == scan.alias);
    table
        && parts
            .next()
            .is_none_or(|database| database.value == scan.table.database)
}

/// Collects the tables of a query block; false if its result rows are not rows of tables.
fn lockable(relation: &Relation, select_id: usize, scans: &mut Vec<Scan>) -> bool {
    match relation {
        Relation::Scan(scan) => {
            // The result of a table function has no rows that could be locked.
            if scan.select_id == select_id && !scan.table.is_call {
                scans.push(scan.clone());
            }
            true
        }
        Relation::Aggregate(_) | Relation::SetOperation { .. } => false,
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Materialize { input, .. } => lockable(input, select_id, scans),
        Relation::Join(join) => {
            lockable(&join.left, select_id, scans) && lockable(&join.right, select_id, scans)
        }
        // Tables that other query blocks read are not locked.
        _ => true,
    }
}

/// Removes the uppermost LIMIT and returns it.
fn take_limit(relation: &mut Relation) -> Option<(u64, u64)> {
    match relation {
        Relation::Extend { input, .. } | Relation::Materialize { input, .. } => take_limit(input),
        Relation::Limit {
            input,
            offset,
            count,
        } => {
            let limit = (*offset, *count);
            *relation = input.take();
            Some(limit)
        }
        _ => None,
    }
}

/// The query block without grouping.
fn ungrouped(query: &Query) -> Option<Query> {
    let mut query = query.clone();
    query.order_by = Vec::new();
    query.limit_clause = None;
    let SetExpr::Select(select) = &mut *query.body else {
        return None;
    };
    select.distinct = false;
    select.having = None;
    select.group_by = GroupBy::default();
    let one = mayfly_syntax::ast::Value::Number("1".to_owned());
    let one = mayfly_syntax::ast::Expr::Value(one);
    select.projection = vec![SelectItem::UnnamedExpr(one)];
    Some(query)
}
