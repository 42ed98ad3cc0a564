//! `COUNT(DISTINCT a), SUM(DISTINCT a) … GROUP BY k`: when every call sees the same distinct arguments,
//! it is the plain calls over the groups of `k, a`, which repeat nothing.
//!
//! That way DISTINCT inside a call has all that grouping has: values that repeat are found in the
//! workers' own indexes, values that do not are partitioned, and every worker takes part.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_plan::expression::same_expression;
use mayfly_plan::physical::{AggregateCall, Grouping, Purpose};
use mayfly_types::Result;

use crate::context::{Node, RunContext};

/// The arguments that all calls have in common, if all of them are only to see distinct ones.
pub(super) fn common_arguments(grouping: &Grouping) -> Option<&[Expression]> {
    let calls = &grouping.aggregates;
    let arguments = &calls.iter().find(|call| needs_distinct(call))?.arguments;
    // Volatile arguments are never the same, not even as themselves.
    let same = |call: &AggregateCall| {
        call.arguments.len() == arguments.len()
            && call
                .arguments
                .iter()
                .zip(arguments)
                .all(|(a, b)| same_expression(a, b))
    };
    let all = calls.iter().all(|call| {
        (call.distinct || call.function.ignores_duplicates())
            && !call.function.is_order_sensitive()
            && same(call)
    });
    (all && !arguments.is_empty()).then_some(arguments)
}

fn needs_distinct(call: &AggregateCall) -> bool {
    call.distinct && !call.function.ignores_duplicates()
}

pub(super) fn build(
    input: Arc<dyn Node>,
    grouping: &Grouping,
    arguments: &[Expression],
    run: &RunContext,
) -> Result<Arc<dyn Node>> {
    let inner_keys: Vec<Expression> = grouping.keys.iter().chain(arguments).cloned().collect();
    let column = |(position, expression): (usize, &Expression)| {
        Expression::column(position, expression.ty.clone(), expression.nullable)
    };
    let outer: Vec<Expression> = inner_keys.iter().enumerate().map(column).collect();
    let (keys, arguments) = outer.split_at(grouping.keys.len());
    let calls: Vec<AggregateCall> = grouping
        .aggregates
        .iter()
        .map(|call| AggregateCall {
            arguments: arguments.to_vec(),
            distinct: false,
            order_by: Vec::new(),
            ..call.clone()
        })
        .collect();
    let cause = "DISTINCT inside an aggregate function";
    let values = Grouping {
        keys: inner_keys,
        temporary: Some(grouping.temporary_beside(Purpose::Aggregate, cause)),
        ..Grouping::default()
    };
    let plain = Grouping {
        keys: keys.to_vec(),
        aggregates: calls,
        ..grouping.clone()
    };
    let distinct = super::build(input, &values, run)?;
    super::build(distinct, &plain, run)
}
