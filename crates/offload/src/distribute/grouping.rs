//! Grouping: in one run, in two steps, or of all rows of a group at once.
//!
//! In two steps each run groups its rows and sends the partial states of its groups, which another fragment merges; that
//! pays where rows share few groups. Calls without partial states, and those that are DISTINCT, need the rows of a group
//! in one run.

use mayfly_functions::FunctionRef;
use mayfly_plan::Expression;
use mayfly_plan::physical::{AggregateCall, Grouping, Operator, Plan};
use mayfly_types::SqlType;

use super::open::Open;
use super::{Distribution, columns};
use crate::encoding::Refused;

/// Minimum rows per group from which on partial states are sent in place of rows.
const ROWS_A_GROUP_MIN: f64 = 3.0;

impl Distribution<'_> {
    pub(super) fn aggregate(
        &mut self,
        plan: &Plan,
        input: &Plan,
        grouping: &Grouping,
    ) -> Result<Open, Refused> {
        let open = self.place(input)?;
        if open.once {
            return self.with_subqueries(open.under(plan));
        }
        check_order(grouping)?;
        let rows = open.plan.estimated_rows;
        let is_mergeable = grouping.aggregates.iter().all(is_mergeable);
        let repeats = plan.estimated_rows * ROWS_A_GROUP_MIN <= rows;
        let needs_one_run = grouping.keys.is_empty() || grouping.rollup;
        if is_mergeable && (needs_one_run || repeats) {
            let open = self.partial(open, plan, grouping)?;
            let keys = columns(&open.plan.output[..grouping.keys.len()]);
            let open = if needs_one_run {
                self.gathered(open)
            } else {
                self.hashed(open, &keys)?
            };
            return Ok(merging(open, plan, grouping));
        }
        let open = match common_arguments(grouping) {
            // Without keys, rows are as many as their distinct arguments.
            Some(arguments) if grouping.keys.is_empty() => {
                return self.distinct(open, plan, grouping, arguments);
            }
            _ if needs_one_run => self.gathered(open),
            _ => self.hashed(open, &grouping.keys)?,
        };
        let mut open = open.under(plan);
        if let Operator::Aggregate { grouping, .. } = &mut open.plan.operator {
            // Rows of an exchange come in no order.
            grouping.ordered = false;
        }
        self.with_subqueries(open)
    }

    /// Partial states of the groups of each run.
    fn partial(&mut self, open: Open, plan: &Plan, grouping: &Grouping) -> Result<Open, Refused> {
        let keys = grouping.keys.iter().map(|key| key.ty.clone());
        let states = grouping
            .aggregates
            .iter()
            .flat_map(|call| &call.signature.state);
        let output: Vec<SqlType> = keys.chain(states.cloned()).collect();
        // Other runs may have more rows of the first groups.
        let first_groups = grouping
            .first_groups
            .filter(|_| grouping.aggregates.is_empty());
        let grouping = Grouping {
            rollup: false,
            ordered: false,
            gives_states: true,
            first_groups,
            ..grouping.clone()
        };
        let mut open = open.with(plan.number, output, |input| Operator::Aggregate {
            input,
            grouping,
        });
        open.plan.estimated_rows = plan.estimated_rows * self.partitions as f64;
        self.with_subqueries(open)
    }

    /// A grouping without keys, of calls that are DISTINCT over the same arguments.
    fn distinct(
        &mut self,
        open: Open,
        plan: &Plan,
        grouping: &Grouping,
        arguments: &[Expression],
    ) -> Result<Open, Refused> {
        let output: Vec<SqlType> = arguments.iter().map(|one| one.ty.clone()).collect();
        let values = Grouping {
            keys: arguments.to_vec(),
            temporary: Some(grouping.temporary_beside(
                mayfly_plan::physical::Purpose::Aggregate,
                "DISTINCT inside an aggregate function",
            )),
            ..Grouping::default()
        };
        let number = plan.number;
        let first = values.clone();
        let open = open.with(number, output.clone(), |input| Operator::Aggregate {
            input,
            grouping: first,
        });
        let open = self.with_subqueries(open)?;
        let keys = columns(&output);
        let open = self.hashed(open, &keys)?;
        let again = Grouping { keys, ..values };
        let open = open.with(number, output.clone(), |input| Operator::Aggregate {
            input,
            grouping: again,
        });
        // Each value is now in one run: the calls count what is distinct already.
        let calls = grouping.aggregates.iter().map(|call| AggregateCall {
            arguments: columns(&output),
            distinct: false,
            order_by: Vec::new(),
            ..call.clone()
        });
        let plain = Grouping {
            aggregates: calls.collect(),
            ..grouping.clone()
        };
        let open = self.partial(open, plan, &plain)?;
        let open = self.gathered(open);
        Ok(merging(open, plan, &plain))
    }
}

/// Refuses calls whose results depend on the order in which rows come.
pub(super) fn check_order(grouping: &Grouping) -> Result<(), Refused> {
    let depends =
        |call: &&AggregateCall| call.function.is_order_sensitive() && call.order_by.is_empty();
    match grouping.aggregates.iter().find(depends) {
        Some(call) => {
            let name = call.function.name().to_ascii_uppercase();
            Err(Refused(format!("{name}() depends on the order of rows")))
        }
        None => Ok(()),
    }
}

/// The grouping over partial states.
fn merging(open: Open, plan: &Plan, grouping: &Grouping) -> Open {
    let states = columns(&open.plan.output);
    let (keys, mut rest) = states.split_at(grouping.keys.len());
    let calls = grouping.aggregates.iter().map(|call| {
        let (own, others) = rest.split_at(call.signature.state.len());
        rest = others;
        AggregateCall {
            arguments: own.to_vec(),
            merges: true,
            ..call.clone()
        }
    });
    let aggregates = calls.collect();
    let grouping = Grouping {
        keys: keys.to_vec(),
        aggregates,
        ordered: false,
        ..grouping.clone()
    };
    let output = plan.output.clone();
    let mut open = open.with(plan.number, output, |input| Operator::Aggregate {
        input,
        grouping,
    });
    open.plan.estimated_rows = plan.estimated_rows;
    open
}

fn needs_distinct(call: &AggregateCall) -> bool {
    call.distinct && !call.function.ignores_duplicates()
}

/// Whether partial states of a call can be merged.
fn is_mergeable(call: &AggregateCall) -> bool {
    !needs_distinct(call)
        && call.order_by.is_empty()
        && !call.signature.state.is_empty()
        && !call.merges
}

/// Arguments over which all calls are DISTINCT.
fn common_arguments(grouping: &Grouping) -> Option<&[Expression]> {
    let first = grouping.aggregates.first()?;
    let same = |call: &AggregateCall| {
        (call.distinct || call.function.ignores_duplicates())
            && call.arguments == first.arguments
            && !call.signature.state.is_empty()
    };
    let is_plain = first.arguments.iter().all(|argument| {
        let mut volatile = false;
        mayfly_plan::logical::visit_expression(argument, &mut |inner| {
            if let mayfly_plan::ExpressionKind::Call { function, .. } = &inner.kind {
                volatile |= matches!(function, FunctionRef::Stored(_));
            }
            true
        });
        !volatile
    });
    let all = !first.arguments.is_empty() && is_plain && grouping.aggregates.iter().all(same);
    all.then_some(first.arguments.as_slice())
}
