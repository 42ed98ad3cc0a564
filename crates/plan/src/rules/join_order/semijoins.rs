//! Semijoin from its inner side: when a subquery gives few rows and an index leads from them into the outer table, the
//! distinct rows are joined with it, so that the outer table is not read as a whole (the manual, "Optimizing IN and
//! EXISTS Subquery Predicates with Semijoin": equivalent to materialization with a scan, duplicate weedout and loose
//! scans).

use crate::access::{lookup, path};
use crate::predicates::sides_of_equality;
use crate::rules::access_paths::target;
use crate::rules::join_order::Order;
use crate::rules::noted::joins;
use crate::rules::rule::is_movable;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnSet, Computed, Join, Relation, Scan, free_columns, has_subquery, produced,
    with_stack,
};
use crate::tree::physical::{JoinKind, Purpose};

/// Cost of checking a row for duplicates.
const DISTINCT_COST: f64 = 0.25;

/// The inner join equivalent to a semijoin, if it costs less.
pub(super) fn from_inner(join: &Join, order: &Order<'_>) -> Option<Relation> {
    if join.kind != JoinKind::Semi
        || join.lateral
        || join.straight
        || !join.null_aware.is_empty()
        || join.lookup.is_some()
    {
        return None;
    }
    let (outer, inner) = (produced(&join.left), produced(&join.right));
    if free_columns(&join.right).intersects(&outer) {
        return None;
    }
    let mut keys: Vec<Computed> = Vec::with_capacity(join.on.len());
    let mut on = Vec::with_capacity(join.on.len());
    for predicate in &join.on {
        let (predicate, key) = keyed(predicate, &outer, &inner, order)?;
        on.push(predicate);
        if !keys.iter().any(|known| known.id == key.id) {
            keys.push(key);
        }
    }
    if on.is_empty() {
        return None;
    }
    let cause = "each row of an IN or EXISTS subquery is joined once";
    let inner_rows = Relation::clone(&join.right);
    let distinct = Aggregate::new(inner_rows, keys, Vec::new(), Purpose::Distinct, cause);
    let distinct = Relation::Aggregate(distinct);
    let from_outer = outer_first_cost(join, order)?;
    let read =
        read_cost(&join.right, order) + order.estimates.relation(&join.right) * DISTINCT_COST;
    let found = order.estimates.relation(&distinct);
    let mut from_inner = f64::INFINITY;
    for_each_table(&join.left, &mut |scan| {
        if let Some(path) = lookup::best(scan, &on, &order.needed, order.options) {
            from_inner = (read + lookup::cost(found, &path)).min(from_inner);
        }
    });
    if let Some(trace) = order.trace {
        joins::semijoin(join, from_outer, from_inner, trace);
    }
    (from_inner < from_outer).then(|| {
        let left = Relation::clone(&join.left);
        Relation::Join(Join::new(JoinKind::Inner, left, distinct, on))
    })
}

/// An equality of both sides over a column of the distinct rows of the inner side.
fn keyed(
    predicate: &Expression,
    outer: &ColumnSet,
    inner: &ColumnSet,
    order: &Order<'_>,
) -> Option<(Expression, Computed)> {
    if sides_of_equality(predicate, outer, inner).is_none()
        || has_subquery(predicate)
        || !is_movable(predicate)
    {
        return None;
    }
    let mut predicate = predicate.clone();
    let ExpressionKind::Compare {
        comparison: Comparison::Equal,
        left,
        right,
    } = &mut predicate.kind
    else {
        return None;
    };
    let side = if right.columns().is_subset(inner) {
        right
    } else {
        left
    };
    let id = match side.kind {
        // A text may be compared by a collation other than the column's.
        ExpressionKind::Column(id) if !side.ty.is_string() => id,
        _ => order.columns.one(),
    };
    let column = Expression::column(id, side.ty.clone(), side.nullable);
    let expression = std::mem::replace(&mut **side, column);
    Some((predicate, Computed { id, expression }))
}

/// Cost of the semijoin unchanged; `None` if the selectivity on its outer side is unknown.
fn outer_first_cost(join: &Join, order: &Order<'_>) -> Option<f64> {
    let rows = order.estimates.relation(&join.left);
    let hashed = read_cost(&join.right, order)
        + lookup::hash_cost(order.estimates.relation(&join.right), rows, rows);
    let looked_up = target(&join.right, join.kind, &join.on).and_then(|target| {
        let path = lookup::best(target.scan, &join.on, &order.needed, order.options)?;
        Some(lookup::cost(rows, &path))
    });
    Some(read_cost(&join.left, order) + looked_up.map_or(hashed, |cost| cost.min(hashed)))
}

/// Cost of reading a relation: the sum over its tables.
fn read_cost(relation: &Relation, order: &Order<'_>) -> f64 {
    with_stack(|| match relation {
        Relation::Scan(scan) => path::best(scan, &order.needed, order.options).0.cost,
        _ => {
            let inputs = relation.inputs().into_iter();
            let inputs: f64 = inputs.map(|input| read_cost(input, order)).sum();
            inputs + order.estimates.relation(relation) * path::ROW_COST * 0.5
        }
    })
}

/// Tables of a chain of inner joins.
fn for_each_table(relation: &Relation, visit: &mut dyn FnMut(&Scan)) {
    with_stack(|| match relation {
        Relation::Scan(scan) => visit(scan),
        Relation::Join(join) if join.is_reorderable() => {
            for_each_table(&join.left, visit);
            for_each_table(&join.right, visit);
        }
        _ => {}
    });
}
