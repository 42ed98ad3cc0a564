//! Which columns of a join are read above it.
//!
//! A join looks at its keys for itself; often nobody asks for them after that (`SELECT COUNT(*) FROM a
//! JOIN b USING (c)`), and then it need not make them for every pair.

use std::collections::BTreeSet;

use mayfly_plan::Expression;
use mayfly_plan::physical::{Grouping, Operator, Plan};

use crate::expression::Program;

/// The columns of an operator's output that are read; `None`: all.
pub(super) type Wanted<'a> = Option<&'a BTreeSet<usize>>;

/// What expressions want of their input, if the input can make use of it.
pub(super) fn only<'e>(
    input: &Plan,
    expressions: impl IntoIterator<Item = &'e Expression>,
) -> Option<BTreeSet<usize>> {
    also(&BTreeSet::new(), input, expressions)
}

/// The same, beside what is wanted already.
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

/// What an aggregation wants of its input.
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
