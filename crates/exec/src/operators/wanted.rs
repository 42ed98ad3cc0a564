//! Columns of an operator's output that are read above it.
//!
//! A join evaluates its keys itself; often nothing above reads them (`SELECT COUNT(*) FROM a JOIN b USING (c)`), and
//! then it need not materialize them for every pair.

use std::collections::BTreeSet;

use mayfly_plan::Expression;
use mayfly_plan::physical::{Grouping, Operator, Plan};

use crate::expression::Program;

/// Columns of an operator's output that are read; `None`: all.
pub(super) type Wanted<'a> = Option<&'a BTreeSet<usize>>;

/// Columns that expressions read of their input, if the input can use the set.
pub(super) fn only<'e>(
    input: &Plan,
    expressions: impl IntoIterator<Item = &'e Expression>,
) -> Option<BTreeSet<usize>> {
    also(&BTreeSet::new(), input, expressions)
}

/// Columns that expressions read, besides those wanted already.
pub(super) fn also<'e>(
    wanted: &BTreeSet<usize>,
    input: &Plan,
    expressions: impl IntoIterator<Item = &'e Expression>,
) -> Option<BTreeSet<usize>> {
    if !leads_to_join(input) {
        return None;
    }
    let mut wanted = wanted.clone();
    for expression in expressions {
        wanted.extend(Program::compile(expression).columns());
    }
    Some(wanted)
}

/// Columns that an aggregation reads of its input.
pub(super) fn by_grouping(input: &Plan, grouping: &Grouping) -> Option<BTreeSet<usize>> {
    let arguments = grouping.aggregates.iter().flat_map(|call| {
        let order = call.order_by.iter().map(|key| &key.expression);
        call.arguments.iter().chain(order)
    });
    only(input, grouping.keys.iter().chain(arguments))
}

fn leads_to_join(mut plan: &Plan) -> bool {
    loop {
        plan = match &plan.operator {
            Operator::HashJoin { .. } => return true,
            Operator::Filter { input, .. }
            | Operator::Limit { input, .. }
            | Operator::Block { input, .. } => input,
            _ => return false,
        }
    }
}
