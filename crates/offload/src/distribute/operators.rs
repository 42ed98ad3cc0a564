//! Operators over other inputs.

use mayfly_plan::physical::{Operator, Plan};

/// A copy of a unary operator over another input; other operators have none.
pub(super) fn over(above: &Plan, input: Plan) -> Plan {
    let input = Box::new(input);
    let operator = match &above.operator {
        Operator::Filter { predicate, .. } => Operator::Filter {
            input,
            predicate: predicate.clone(),
        },
        Operator::Project { expressions, .. } => Operator::Project {
            input,
            expressions: expressions.clone(),
        },
        Operator::Limit { offset, count, .. } => Operator::Limit {
            input,
            offset: *offset,
            count: *count,
        },
        Operator::Aggregate { grouping, .. } => Operator::Aggregate {
            input,
            grouping: grouping.clone(),
        },
        Operator::Sort {
            keys,
            limit,
            for_windows,
            temporary,
            ..
        } => Operator::Sort {
            input,
            keys: keys.clone(),
            limit: *limit,
            for_windows: *for_windows,
            temporary: temporary.clone(),
        },
        Operator::Window {
            partition,
            order,
            calls,
            temporary,
            ..
        } => Operator::Window {
            input,
            partition: partition.clone(),
            order: order.clone(),
            calls: calls.clone(),
            temporary: temporary.clone(),
        },
        _ => return *input,
    };
    Plan {
        number: above.number,
        operator,
        output: above.output.clone(),
        estimated_rows: above.estimated_rows,
    }
}
