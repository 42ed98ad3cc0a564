//! The plan of a job for EXPLAIN: the fragments put together again, with their exchanges as operators.

use std::collections::HashMap;

use mayfly_plan::ExpressionKind;
use mayfly_plan::logical::visit_expression_mut;
use mayfly_plan::physical::{Operator, Plan, Purpose, TemporaryTable};
use mayfly_plan::with_stack;
use std::sync::Arc;

use crate::job::{Input, Job};

/// The plan of a fragment with those that it reads. `scans` are the scans of tables, by the number of the input.
pub(super) fn shown(
    job: &Job,
    fragment: usize,
    scans: &HashMap<usize, Plan>,
    partitions: usize,
) -> Plan {
    let mut plan = job.fragments[fragment].plan.clone();
    restore(&mut plan, job, fragment, scans, partitions);
    plan
}

/// Replaces scans of inputs by what they read.
fn restore(
    plan: &mut Plan,
    job: &Job,
    fragment: usize,
    scans: &HashMap<usize, Plan>,
    partitions: usize,
) {
    if let Operator::TableScan { table, .. } = &plan.operator {
        let own = &job.fragments[fragment];
        let number = usize::try_from(table.id.0).unwrap_or(usize::MAX);
        let position = own.numbers.iter().position(|known| *known == number);
        match position.and_then(|position| own.inputs.get(position)) {
            Some(Input::Rows { fragment, .. }) => {
                let input = Box::new(shown(job, *fragment, scans, partitions));
                let cause = job.exchange_text(*fragment, partitions);
                let temporary = TemporaryTable {
                    operator: Some(plan.number),
                    ..TemporaryTable::new(Purpose::Exchange, cause)
                };
                plan.operator = Operator::Materialize { input, temporary };
            }
            _ => {
                if let Some(scan) = scans.get(&number) {
                    *plan = scan.clone();
                }
            }
        }
        return;
    }
    with_stack(|| {
        plan.for_each_input_mut(&mut |input| {
            restore(input, job, fragment, scans, partitions);
        });
    });
    plan.for_each_expression_mut(&mut |expression| {
        visit_expression_mut(expression, &mut |inner| {
            if let ExpressionKind::Subquery(subquery) = &mut inner.kind {
                let mut own = (**subquery).clone();
                restore(&mut own.plan, job, fragment, scans, partitions);
                *subquery = Arc::new(own);
            }
            true
        });
    });
}
