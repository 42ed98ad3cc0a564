//! Operators of a plan that read tables, whose measurements belong to rows of the traditional format.

use crate::tree::expression::ExpressionKind;
use crate::tree::physical::{Operator, OperatorNumber, Plan, QueryPlan, SharedSource};
use crate::walk::{push_children, with_stack};

/// An operator that reads a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReader {
    /// Alias of the table in the statement.
    pub table: String,
    /// Number of the operator.
    pub operator: OperatorNumber,
    /// The table is read by lookups with keys of another table's rows.
    pub looks_up: bool,
}

/// Operators of a query that read tables, including those of subqueries and shared results. Tables of a join are in its
/// order.
pub fn table_readers(query: &QueryPlan) -> Vec<TableReader> {
    let mut readers = Vec::new();
    add(&query.root, &mut readers);
    for shared in &query.shared {
        match &shared.source {
            SharedSource::Plan(plan) => add(plan, &mut readers),
            SharedSource::Recursive { seed, step, .. } => {
                add(seed, &mut readers);
                add(step, &mut readers);
            }
        }
    }
    readers
}

fn add(plan: &Plan, readers: &mut Vec<TableReader>) {
    with_stack(|| plan.for_each_input(&mut |input| add(input, readers)));
    let reader = match &plan.operator {
        Operator::TableScan { alias, .. } => Some((alias, false)),
        Operator::IndexScan(scan) => Some((&scan.alias, false)),
        Operator::IndexMerge(merge) => Some((&merge.alias, false)),
        Operator::IndexLookupJoin(join) => Some((&join.alias, true)),
        _ => None,
    };
    if let Some((table, looks_up)) = reader {
        readers.push(TableReader {
            table: table.clone(),
            operator: plan.number,
            looks_up,
        });
    }
    plan.for_each_expression(&mut |expression| {
        let mut stack = vec![expression];
        while let Some(expression) = stack.pop() {
            match &expression.kind {
                ExpressionKind::Subquery(subquery) => with_stack(|| add(&subquery.plan, readers)),
                _ => push_children(expression, &mut stack),
            }
        }
    });
}
