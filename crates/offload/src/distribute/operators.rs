//! Operators over other inputs, and their expressions to be changed.

use mayfly_plan::Expression;
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

/// Calls `change` on each expression of an operator, outermost ones only.
pub(super) fn change_expressions(operator: &mut Operator, change: &mut dyn FnMut(&mut Expression)) {
    match operator {
        Operator::Values { rows } => rows.iter_mut().flatten().for_each(change),
        Operator::TableScan { predicate, .. } => predicate.iter_mut().for_each(change),
        Operator::Filter { predicate, .. } => change(predicate),
        Operator::Project { expressions, .. } => expressions.iter_mut().for_each(change),
        Operator::Aggregate { grouping, .. } => {
            grouping.keys.iter_mut().for_each(&mut *change);
            for call in &mut grouping.aggregates {
                let order = call.order_by.iter_mut().map(|key| &mut key.expression);
                call.arguments
                    .iter_mut()
                    .chain(order)
                    .for_each(&mut *change);
            }
        }
        Operator::Sort { keys, .. } => {
            keys.iter_mut().for_each(|key| change(&mut key.expression));
        }
        Operator::Window {
            partition,
            order,
            calls,
            ..
        } => {
            let order = order.iter_mut().map(|key| &mut key.expression);
            partition.iter_mut().chain(order).for_each(&mut *change);
            let arguments = calls.iter_mut().flat_map(|call| &mut call.arguments);
            arguments.for_each(change);
        }
        Operator::HashJoin { keys, residual, .. } => {
            let keys = keys
                .iter_mut()
                .flat_map(|key| [&mut key.left, &mut key.right]);
            keys.chain(residual).for_each(change);
        }
        Operator::NestedLoopJoin { condition, .. } => condition.iter_mut().for_each(change),
        _ => {}
    }
}

/// Calls `visit` on each input of an operator of fragments.
pub(super) fn for_each_input_mut(operator: &mut Operator, visit: &mut dyn FnMut(&mut Plan)) {
    match operator {
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Limit { input, .. }
        | Operator::Aggregate { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Window { input, .. }
        | Operator::Block { input, .. }
        | Operator::Materialize { input, .. } => visit(input),
        Operator::SetOperation { inputs, .. } => inputs.iter_mut().for_each(visit),
        Operator::HashJoin { left, right, .. } | Operator::NestedLoopJoin { left, right, .. } => {
            visit(left);
            visit(right);
        }
        _ => {}
    }
}
