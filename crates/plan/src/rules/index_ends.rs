//! MIN() and MAX() of a column by index: one row is read at an end of an index (the manual, "Optimizing SELECT
//! Statements", Select tables optimized away).
//!
//! Several calls become one aggregation each, over scans of their own.

use super::index_orders::index_skips::extreme_of;
use super::index_orders::{Orders, Wanted};
use super::planning::Planning;
use crate::tree::access::HintPurpose;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Join, Query, Relation, Scan, has_subquery, visit_expression_mut,
};
use crate::tree::physical::{AggregateCall, JoinKind};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if query.tables.iter().all(|table| table.indexes.is_empty()) {
        return;
    }
    if !query.holds(|relation| of_a_scan(relation).is_some()) {
        return;
    }
    let orders = Orders::new(query, planning);
    let mut next_column = query.next_column;
    query.for_each_relation_mut(&mut |relation| {
        if let Some(ends) = ends(relation, &orders, &mut next_column) {
            if let Some(trace) = planning.trace {
                crate::rules::noted::orders::ends_of_index(relation, trace);
            }
            *relation = ends;
        }
    });
    query.next_column = next_column;
}

/// Maximum number of calls of an aggregation that get scans of their own.
const CALLS_MAX: usize = 4;

/// An aggregation of all rows of one table, and its scan.
fn of_a_scan(relation: &Relation) -> Option<(&Aggregate, &Scan)> {
    let Relation::Aggregate(aggregate) = relation else {
        return None;
    };
    let Relation::Scan(scan) = &*aggregate.input else {
        return None;
    };
    let fits = aggregate.keys.is_empty()
        && aggregate.rollup.is_none()
        && (1..=CALLS_MAX).contains(&aggregate.aggregates.len());
    fits.then_some((aggregate, scan))
}

/// Relation that reads the ends of indexes, in place of one that reads every row.
fn ends(relation: &Relation, orders: &Orders<'_>, next_column: &mut ColumnId) -> Option<Relation> {
    let (aggregate, scan) = of_a_scan(relation)?;
    let calls = &aggregate.aggregates;
    if scan.predicates.iter().any(has_subquery) {
        return None;
    }
    let mut joined: Option<Relation> = None;
    for (at, (id, call)) in calls.iter().enumerate() {
        let mut scan = scan.clone();
        let mut call = call.clone();
        if at > 0 {
            let first = *next_column;
            *next_column += scan.table.columns.len() + 1;
            renumber(&mut scan, &mut call, first);
        }
        let one = Relation::Aggregate(Aggregate {
            input: Box::new(end(scan, &call, orders)?),
            keys: Vec::new(),
            aggregates: vec![(*id, call)],
            ..aggregate.clone()
        });
        joined = Some(match joined {
            None => one,
            Some(left) => Relation::Join(Join {
                straight: true,
                ..Join::new(JoinKind::Inner, left, one, Vec::new())
            }),
        });
    }
    joined
}

/// The row of a table with the least or the greatest value of a column.
fn end(mut scan: Scan, call: &AggregateCall, orders: &Orders<'_>) -> Option<Relation> {
    let (argument, descending) = extreme_of(call)?;
    let ExpressionKind::Column(id) = argument.kind else {
        return None;
    };
    let column = id.checked_sub(scan.first)?;
    let source = scan.table.columns.get(column)?;
    if source.ty.is_string() && source.ty.collation != argument.ty.collation {
        return None;
    }
    if source.nullable {
        let value = Expression::column(id, source.ty.clone(), true);
        scan.predicates.push(is_not_null(value));
        scan.rows = None;
    }
    let wanted = [(column, descending)];
    let path = orders.best(&scan, &Wanted::Sequence(&wanted), HintPurpose::Join, false)?;
    let all = orders.table_path(&scan).cost;
    // Rows are read until one meets all conditions.
    if path.cost / path.rows.max(1.0) > all {
        return None;
    }
    scan.rows = Some(path.rows);
    scan.access = path.access;
    Some(Relation::Scan(scan).limited(0, 1))
}

fn is_not_null(value: Expression) -> Expression {
    let is_null = Expression::predicate(ExpressionKind::IsNull(Box::new(value)), false);
    Expression::predicate(ExpressionKind::Not(Box::new(is_null)), false)
}

/// Gives a copy of a scan new column numbers.
fn renumber(scan: &mut Scan, call: &mut AggregateCall, first: ColumnId) {
    let own = scan.first..=scan.position();
    let offset = scan.first;
    let mut change = |expression: &mut Expression| {
        visit_expression_mut(expression, &mut |inner| {
            if let ExpressionKind::Column(id) = &mut inner.kind
                && own.contains(id)
            {
                *id = *id - offset + first;
            }
            true
        });
    };
    scan.predicates.iter_mut().for_each(&mut change);
    call.arguments.iter_mut().for_each(&mut change);
    scan.first = first;
}
