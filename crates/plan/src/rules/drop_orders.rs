//! Removes sorts that have no effect: below GROUP BY, DISTINCT, joins and set operations, and in subqueries, a table
//! has no order unless a LIMIT goes with it.

use super::planning::Planning;
use crate::tree::logical::{Query, Relation, SubqueryKind, for_each_subquery_mut};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    // A user variable set by a row is read by the next one.
    if planning.options.sets_variables {
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        match relation {
            Relation::Aggregate(aggregate) => {
                let unordered = |call: &crate::tree::physical::AggregateCall| {
                    !call.function.is_order_sensitive() || !call.order_by.is_empty()
                };
                if aggregate.aggregates.iter().all(|(_, call)| unordered(call)) {
                    drop_order(&mut aggregate.input);
                }
            }
            Relation::Join(join) => {
                drop_order(&mut join.left);
                drop_order(&mut join.right);
            }
            Relation::SetOperation { inputs, .. } => {
                inputs.iter_mut().for_each(|(input, _)| drop_order(input));
            }
            Relation::Sort { input, .. } => drop_order(input),
            _ => {}
        }
        relation.for_each_expression_mut(&mut |expression| {
            for_each_subquery_mut(expression, &mut |subquery| {
                if !matches!(subquery.kind, SubqueryKind::Scalar) {
                    drop_order(&mut subquery.relation);
                }
            });
        });
    });
}

/// Removes the sort of a relation.
fn drop_order(relation: &mut Relation) {
    match relation {
        Relation::Sort {
            input, limit: None, ..
        } => {
            *relation = input.take();
            drop_order(relation);
        }
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Project { input, .. }
        | Relation::Block { input, .. } => drop_order(input),
        _ => {}
    }
}
