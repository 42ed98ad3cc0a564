//! DISTINCT by grouping: `COUNT(DISTINCT a), SUM(DISTINCT a) … GROUP BY k`, where every call has the same distinct
//! arguments, is the plain calls over the groups of `k, a`, which have no duplicates.
//!
//! So DISTINCT inside a call uses all mechanisms of grouping: repeated values are found in the workers' own indexes,
//! others are partitioned, and every worker takes part.

use mayfly_plan::Expression;
use mayfly_plan::expression::same_expression;
use mayfly_plan::physical::{AggregateCall, Grouping, Purpose};

/// Arguments common to all calls, if every call is DISTINCT over them.
pub(super) fn common_arguments(grouping: &Grouping) -> Option<&[Expression]> {
    let calls = &grouping.aggregates;
    let arguments = &calls.iter().find(|call| needs_distinct(call))?.arguments;
    // Volatile arguments are never equal, not even to themselves.
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

/// A grouping by the keys and the common arguments of the calls, and one of its groups with the calls without DISTINCT.
pub(super) fn in_two_steps(grouping: &Grouping, arguments: &[Expression]) -> [Grouping; 2] {
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
    [values, plain]
}
