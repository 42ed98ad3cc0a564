//! Counts the tables that a plan reads, for the status variables `Select_scan` and `Select_full_join`: by their
//! position in a join, independently of the operators.

use mayfly_plan::physical::{Operator, Plan, QueryPlan, SharedSource};
use mayfly_plan::with_stack;

use crate::context::{Counters, count};

/// Counts the tables of every query block of a plan except its subqueries.
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

/// Counts the tables of a plan. `is_first`: no table precedes it in a join.
fn visit(plan: &Plan, is_first: bool, counters: &Counters) {
    let scan_all = || {
        let scans = if is_first {
            &counters.select_scan
        } else {
            &counters.select_full_join
        };
        count(scans, 1);
    };
    with_stack(|| match &plan.operator {
        Operator::TableScan { .. } | Operator::SharedScan { .. } => scan_all(),
        Operator::IndexScan(scan) if scan.ranges.is_none() => scan_all(),
        Operator::IndexScan(_) | Operator::IndexMerge(_) if is_first => {
            count(&counters.select_range, 1)
        }
        Operator::IndexScan(_) | Operator::IndexMerge(_) => {
            count(&counters.select_full_range_join, 1)
        }
        Operator::Block { input, table, .. } => {
            if table.is_some() {
                scan_all();
            }
            visit(input, true, counters);
        }
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
        // Only the left input of a join may be read first.
        _ => {
            let mut is_first = is_first;
            plan.for_each_input(&mut |input| {
                visit(input, is_first, counters);
                is_first = false;
            });
        }
    });
}
