//! What a plan reads, for the status variables `Select_scan` and `Select_full_join`: they count tables
//! by their place in a join, whatever the operators then do with them.

use mayfly_plan::physical::{Operator, Plan, QueryPlan, SharedSource};

use crate::context::{Counters, count};

/// Counts the tables of every query block of a plan but those of its subqueries.
pub(crate) fn tally(plan: &QueryPlan, counters: &Counters) {
    for shared in &plan.shared {
        match &shared.source {
            SharedSource::Plan(plan) => visit(plan, true, counters),
            SharedSource::Recursive { seed, step, .. } => {
                visit(seed, true, counters);
                visit(step, true, counters);
            }
        }
    }
    visit(&plan.root, true, counters);
}

/// `is_first`: nothing stands before it in a join.
fn visit(plan: &Plan, is_first: bool, counters: &Counters) {
    let scan_all = || match is_first {
        true => count(&counters.select_scan, 1),
        false => count(&counters.select_full_join, 1),
    };
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &plan.operator {
        Operator::TableScan { .. } | Operator::SharedScan { .. } => scan_all(),
        Operator::IndexScan(scan) if scan.ranges.is_none() => scan_all(),
        Operator::IndexScan(_) | Operator::IndexMerge(_) if is_first => {
            count(&counters.select_range, 1)
        }
        Operator::IndexScan(_) | Operator::IndexMerge(_) => {
            count(&counters.select_full_range_join, 1)
        }
        Operator::IndexLookupJoin(join) => visit(&join.left, is_first, counters),
        Operator::Values { .. } | Operator::WorkingTable { .. } => {}
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Limit { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Aggregate { input, .. } => visit(input, is_first, counters),
        Operator::Block { input, table, .. } => {
            if table.is_some() {
                scan_all();
            }
            visit(input, true, counters);
        }
        Operator::Materialize { input, .. } => visit(input, is_first, counters),
        Operator::SetOperation {
            inputs, temporary, ..
        } => {
            for input in inputs {
                visit(input, true, counters);
            }
            if temporary.is_some() {
                scan_all();
            }
        }
        Operator::HashJoin { left, right, .. }
        | Operator::NestedLoopJoin { left, right, .. }
        | Operator::Apply { left, right, .. } => {
            visit(left, is_first, counters);
            visit(right, false, counters);
        }
    });
}
