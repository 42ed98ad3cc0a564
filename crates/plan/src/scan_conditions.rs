//! Conditions of the scans of a table: for tables that are materialized when a statement reads them, with only the rows
//! that it may need.

use crate::catalog::TableId;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{expression_is_volatile, visit_deep_mut};
use crate::tree::physical::{Operator, Plan, QueryPlan, SharedSource};
use crate::walk::{push_children, with_stack};

/// Conditions of the scans of a table over some of its columns: for each scan those that hold for every row that it
/// gives, over positions in `columns`. Values from outside are of the first `parameters` parameters, which are the
/// statement's own.
pub fn scan_conditions(
    query: &QueryPlan,
    table: TableId,
    columns: &[usize],
    parameters: usize,
) -> Vec<Vec<Expression>> {
    let mut scans = Scans {
        table,
        columns,
        parameters,
        conditions: Vec::new(),
    };
    scans.plan(&query.root);
    for shared in &query.shared {
        match &shared.source {
            SharedSource::Plan(plan) => scans.plan(plan),
            SharedSource::Recursive { seed, step, .. } => {
                scans.plan(seed);
                scans.plan(step);
            }
        }
    }
    scans.conditions
}

struct Scans<'a> {
    table: TableId,
    columns: &'a [usize],
    parameters: usize,
    conditions: Vec<Vec<Expression>>,
}

impl Scans<'_> {
    fn plan(&mut self, plan: &Plan) {
        with_stack(|| plan.for_each_input(&mut |input| self.plan(input)));
        match &plan.operator {
            Operator::TableScan {
                table,
                columns,
                predicate,
                ..
            } if table.id == self.table => {
                let conditions = predicate.iter().flat_map(terms);
                let own = conditions.filter_map(|condition| self.own(condition, columns));
                let own = own.collect();
                self.conditions.push(own);
            }
            // The conditions of other readers are not known.
            Operator::IndexScan(scan) if scan.table.id == self.table => {
                self.conditions.push(Vec::new());
            }
            Operator::IndexMerge(merge) if merge.table.id == self.table => {
                self.conditions.push(Vec::new());
            }
            Operator::IndexLookupJoin(join) if join.table.id == self.table => {
                self.conditions.push(Vec::new());
            }
            _ => {}
        }
        plan.for_each_expression(&mut |expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &Expression) {
        let mut stack = vec![expression];
        while let Some(expression) = stack.pop() {
            match &expression.kind {
                ExpressionKind::Subquery(subquery) => {
                    stack.extend(subquery.kind.left());
                    stack.extend(subquery.parameters.iter().map(|(_, value)| value));
                    with_stack(|| self.plan(&subquery.plan));
                }
                _ => push_children(expression, &mut stack),
            }
        }
    }

    /// The condition over the wanted columns, if it reads no other column and is immutable.
    fn own(&self, condition: &Expression, scanned: &[usize]) -> Option<Expression> {
        if expression_is_volatile(condition) {
            return None;
        }
        let mut own = condition.clone();
        let mut is_own = true;
        visit_deep_mut(&mut own, &mut |inner| {
            match &mut inner.kind {
                ExpressionKind::Column(position) => {
                    let column = scanned.get(*position);
                    let place = self.columns.iter().position(|own| Some(own) == column);
                    match place {
                        Some(place) => *position = place,
                        None => is_own = false,
                    }
                }
                ExpressionKind::Parameter(parameter) => is_own &= *parameter < self.parameters,
                ExpressionKind::Subquery(_) | ExpressionKind::LogicalSubquery(_) => is_own = false,
                _ => {}
            }
            is_own
        });
        is_own.then_some(own)
    }
}

/// Terms of a conjunction.
fn terms(predicate: &Expression) -> &[Expression] {
    match &predicate.kind {
        ExpressionKind::And(terms) => terms,
        _ => std::slice::from_ref(predicate),
    }
}
