//! Operators: one file each.
//!
//! A [`Node`] is an operator of one run. Its life: `prepare` once, on the thread that coordinates the statement
//! (pipeline breakers drain their inputs here, in parallel); then any number of workers `open` a [`Cursor`](crate::context::Cursor) each and
//! pull batches; the cursors of a node share its rows between them. Dropping the node drops its temporary tables.
//!
//! Between operators no column has the physical type Bool: a predicate that leaves an expression is an Int64 of 0 and
//! 1.

mod aggregate;
mod apply;
mod boundaries;
mod filter;
mod first_rows;
mod hash_join;
mod index_lookup_join;
mod index_merge;
mod index_scan;
mod keys;
mod left_rows;
mod limit;
mod looked_up;
mod materialize;
mod measured;
mod nested_loop;
mod one_cursor;
mod partition_groups;
mod project;
mod pushed_terms;
mod recursive;
mod scan;
mod scan_filter;
mod set_operation;
mod shared;
mod sliced;
mod sort;
pub(crate) mod tables;
mod union_all;
mod values;
mod wanted;
mod window;

use std::sync::Arc;

use mayfly_plan::physical::{Operator, Plan};
use mayfly_plan::with_stack;
use mayfly_types::Result;

use self::measured::measured;
use self::wanted::Wanted;
use crate::context::{Node, RunContext};

/// Builds the operators of a plan.
pub(crate) fn build(plan: &Plan, run: &RunContext) -> Result<Arc<dyn Node>> {
    build_for(plan, None, run)
}

/// Builds the operators of a plan of which only the `wanted` columns are read (all if `None`); the values of the others
/// are arbitrary.
fn build_for(plan: &Plan, wanted: Wanted<'_>, run: &RunContext) -> Result<Arc<dyn Node>> {
    let node = with_stack(|| build_one(plan, wanted, run))?;
    Ok(measured(node, plan.number, run))
}

fn build_one(plan: &Plan, wanted: Wanted<'_>, run: &RunContext) -> Result<Arc<dyn Node>> {
    Ok(match &plan.operator {
        Operator::Values { rows } => values::build(rows, &plan.output),
        Operator::TableScan {
            table,
            columns,
            predicate,
            pushed,
            order,
            ..
        } => scan::build(
            table,
            columns,
            predicate.as_ref(),
            (pushed, order),
            plan.number,
        )?,
        Operator::IndexScan(scan) => index_scan::build(scan, plan.number),
        Operator::IndexMerge(merge) => {
            index_merge::build(merge, build(&merge.positions, run)?, plan.number)
        }
        Operator::IndexLookupJoin(join) => {
            index_lookup_join::build(join, build(&join.left, run)?, plan.number)?
        }
        Operator::SharedScan {
            shared, arguments, ..
        } => shared::scan(*shared, arguments),
        Operator::WorkingTable { shared, .. } => recursive::working_table(*shared),
        Operator::Filter { input, predicate } => {
            let wanted = wanted.and_then(|wanted| wanted::also(wanted, input, [predicate]));
            filter::build(build_for(input, wanted.as_ref(), run)?, predicate)
        }
        Operator::Project { input, expressions } => {
            let wanted = wanted::only(input, expressions);
            project::build(build_for(input, wanted.as_ref(), run)?, expressions, run)
        }
        Operator::Limit {
            input,
            offset,
            count,
        } => limit::build(build_for(input, wanted, run)?, *offset, *count),
        Operator::Aggregate { input, grouping } => {
            let wanted = wanted::by_grouping(input, grouping);
            aggregate::build(build_for(input, wanted.as_ref(), run)?, grouping, run)?
        }
        Operator::Sort {
            input,
            keys,
            limit,
            for_windows,
            temporary,
        } => {
            let (row, input) = (&input.output, build(input, run)?);
            sort::build(input, row, keys, *limit, *for_windows, temporary)
        }
        Operator::Window {
            input,
            partition,
            order,
            calls,
            temporary,
        } => {
            let window = window::Specification {
                row: input.output.clone(),
                partition: partition.clone(),
                order: order.clone(),
                calls: calls.clone(),
                temporary: temporary.clone(),
            };
            let reads_partitions = window::gives_partitions(input);
            window::build(window, build(input, run)?, reads_partitions)?
        }
        Operator::SetOperation {
            kind,
            all,
            inputs,
            temporary,
        } => set_operation::build(*kind, *all, inputs, temporary.as_ref(), &plan.output, run)?,
        Operator::HashJoin {
            kind,
            left,
            right,
            keys,
            residual,
            build_left,
            partnered,
            temporary,
            ..
        } => hash_join::build(
            hash_join::Specification {
                kind: *kind,
                left: &left.output,
                right: &right.output,
                keys,
                residual: residual.as_ref(),
                build_left: *build_left,
                partnered: *partnered,
                temporary,
                wanted,
            },
            build(left, run)?,
            build(right, run)?,
        ),
        Operator::NestedLoopJoin {
            kind,
            left,
            right,
            condition,
            temporary,
        } => nested_loop::build(
            *kind,
            build(left, run)?,
            build(right, run)?,
            &right.output,
            condition.as_ref(),
            temporary,
        ),
        Operator::Apply {
            kind,
            left,
            right,
            parameters,
            condition,
        } => apply::build(
            *kind,
            build(left, run)?,
            right,
            parameters,
            condition.as_ref(),
        ),
        Operator::Block { input, .. } => build_for(input, wanted, run)?,
        Operator::Materialize { input, temporary } => {
            materialize::build(build(input, run)?, &plan.output, temporary)
        }
    })
}
