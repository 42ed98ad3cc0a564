//! `COUNT(DISTINCT a), SUM(DISTINCT a) … GROUP BY k`: when every call sees the same distinct arguments,
//! it is the plain calls over the groups of `k, a`, which repeat nothing.
//!
//! That way DISTINCT inside a call has all that grouping has: values that repeat are found in the
//! workers' own indexes, values that do not are partitioned, and every worker takes part.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_plan::expression::same_expression;
use mayfly_plan::physical::{AggregateCall, Purpose, TemporaryTable};
use mayfly_types::Result;

use super::specification::Specification;
use crate::context::{Node, RunContext};

/// The arguments that all calls have in common, if all of them are only to see distinct ones.
pub(super) fn common_arguments<'a>(specification: &Specification<'a>) -> Option<&'a [Expression]> {
    let calls = specification.aggregates;
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
    specification: &Specification<'_>,
    arguments: &[Expression],
    run: &RunContext,
) -> Result<Arc<dyn Node>> {
    let inner_keys: Vec<Expression> = specification
        .keys
        .iter()
        .chain(arguments)
        .cloned()
        .collect();
    let column = |(place, expression): (usize, &Expression)| {
        Expression::column(place, expression.ty.clone(), expression.nullable)
    };
    let outer: Vec<Expression> = inner_keys.iter().enumerate().map(column).collect();
    let (keys, arguments) = outer.split_at(specification.keys.len());
    let calls: Vec<AggregateCall> = specification
        .aggregates
        .iter()
        .map(|call| AggregateCall {
            arguments: arguments.to_vec(),
            distinct: false,
            order_by: Vec::new(),
            ..call.clone()
        })
        .collect();
    let temporary = TemporaryTable {
        purpose: Purpose::Aggregate,
        cause: "DISTINCT inside an aggregate function".to_owned(),
    };
    let distinct = super::build(
        input,
        Specification {
            keys: &inner_keys,
            aggregates: &[],
            rollup: false,
            first_groups: None,
            ordered: false,
            temporary: Some(&temporary),
        },
        run,
    )?;
    super::build(
        distinct,
        Specification {
            keys,
            aggregates: &calls,
            ..*specification
        },
        run,
    )
}
