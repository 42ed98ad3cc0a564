//! Aggregates over distinct values in two steps: group by the keys and the values, then aggregate the groups. Each step
//! is an ordinary grouping, which is parallel and can spill, unlike a set of values in every group.
//!
//! Applies when all DISTINCT calls have equal arguments, and all other calls ignore duplicates (MIN, MAX, BIT_AND,
//! BIT_OR). It does not apply to WITH ROLLUP, which counts values of several groups together, which may have common
//! values.

use mayfly_functions::aggregate::Kind;

use super::planning::Planning;
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{Aggregate, ColumnId, Computed, Query, Relation};
use crate::tree::physical::{AggregateCall, Purpose};

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    let mut next_column = query.next_column;
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation
            && is_candidate(aggregate)
        {
            in_two_steps(aggregate, &mut next_column);
        }
    });
    query.next_column = next_column;
}

fn is_candidate(aggregate: &Aggregate) -> bool {
    let calls = || aggregate.aggregates.iter().map(|(_, call)| call);
    let Some(first) = calls().find(|call| call.distinct) else {
        return false;
    };
    let may_share = |call: &AggregateCall| {
        if call.distinct {
            !call.function.is_order_sensitive()
                && call.order_by.is_empty()
                && call.arguments.len() == first.arguments.len()
                && call
                    .arguments
                    .iter()
                    .zip(&first.arguments)
                    .all(|(a, b)| same_expression(a, b))
        } else {
            is_repeatable(call)
        }
    };
    aggregate.rollup.is_none() && calls().all(may_share)
}

/// Whether applying a call to its own results gives the same as applying it to the rows.
fn is_repeatable(call: &AggregateCall) -> bool {
    (call.function.ignores_duplicates() || call.function.kind() == Kind::AnyValue)
        && call.signature.arguments.len() == 1
        && call.signature.arguments[0] == call.signature.result
}

fn in_two_steps(aggregate: &mut Aggregate, next_column: &mut ColumnId) {
    let mut new_column = || {
        *next_column += 1;
        *next_column - 1
    };
    let mut inner_keys: Vec<Computed> = Vec::new();
    for key in &mut aggregate.keys {
        let ty = key.expression.ty.clone();
        let id = match key.expression.kind {
            ExpressionKind::Column(id) => id,
            _ => new_column(),
        };
        let read = Expression::column(id, ty, key.expression.nullable);
        let expression = std::mem::replace(&mut key.expression, read);
        if !inner_keys.iter().any(|known| known.id == id) {
            inner_keys.push(Computed { id, expression });
        }
    }
    let mut values: Vec<Expression> = Vec::new();
    let mut inner_calls = Vec::new();
    let mut text = String::new();
    for (_, call) in &mut aggregate.aggregates {
        if !call.distinct {
            let id = new_column();
            let read =
                Expression::column(id, call.signature.result.clone(), call.signature.nullable);
            let inner = AggregateCall {
                arguments: std::mem::replace(&mut call.arguments, vec![read]),
                ..call.clone()
            };
            inner_calls.push((id, inner));
            continue;
        }
        call.distinct = false;
        if values.is_empty() && !call.arguments.is_empty() {
            text = call.function.name().to_uppercase();
            for argument in &mut call.arguments {
                let ty = argument.ty.clone();
                let id = new_column();
                let read = Expression::column(id, ty, argument.nullable);
                values.push(read.clone());
                let expression = std::mem::replace(argument, read);
                inner_keys.push(Computed { id, expression });
            }
        } else {
            call.arguments.clone_from(&values);
        }
    }
    let input = aggregate.input.take();
    let cause = format!("{text}(DISTINCT) counts each value once");
    let inner = Aggregate::new(input, inner_keys, inner_calls, Purpose::Aggregate, cause);
    *aggregate.input = Relation::Aggregate(inner);
}
