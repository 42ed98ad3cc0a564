//! Walks over an operator: its inputs and its expressions, to read them or to change them.

use crate::tree::expression::Expression;
use crate::tree::physical::{Operator, Plan};

/// Calls a closure on the inputs of an operator (not on the plans of subqueries in its expressions). Shared by walks that
/// read (`iter`) and walks that change (`iter_mut, mut`).
macro_rules! visit_inputs {
    ($operator:expr, $visit:ident, $iter:ident $(, $mutable:tt)?) => {
        match $operator {
            Operator::Values { .. }
            | Operator::TableScan { .. }
            | Operator::IndexScan(_)
            | Operator::SharedScan { .. }
            | Operator::WorkingTable { .. } => {}
            Operator::IndexMerge(merge) => $visit(& $($mutable)? merge.positions),
            Operator::IndexLookupJoin(join) => $visit(& $($mutable)? join.left),
            Operator::Filter { input, .. }
            | Operator::Project { input, .. }
            | Operator::Limit { input, .. }
            | Operator::Aggregate { input, .. }
            | Operator::Sort { input, .. }
            | Operator::Window { input, .. }
            | Operator::Block { input, .. }
            | Operator::Materialize { input, .. } => $visit(input),
            Operator::SetOperation { inputs, .. } => inputs.$iter().for_each($visit),
            Operator::HashJoin { left, right, .. }
            | Operator::NestedLoopJoin { left, right, .. }
            | Operator::Apply { left, right, .. } => {
                $visit(left);
                $visit(right);
            }
        }
    };
}

/// Calls a closure on the outermost expressions of an operator itself, as [`visit_inputs`] does on inputs.
macro_rules! visit_expressions {
    ($operator:expr, $visit:ident, $iter:ident, $for_each_expression:ident $(, $mutable:tt)?) => {
        match $operator {
            Operator::Values { rows } => rows.$iter().flatten().for_each($visit),
            Operator::TableScan {
                predicate, pushed, ..
            } => {
                let pushed = pushed.$iter().map(|term| & $($mutable)? term.predicate);
                predicate.$iter().chain(pushed).for_each($visit);
            }
            Operator::IndexScan(scan) => {
                scan.predicate.$iter().for_each(&mut *$visit);
                if let Some(ranges) = & $($mutable)? scan.ranges {
                    ranges.$for_each_expression($visit);
                }
            }
            Operator::IndexMerge(merge) => merge.predicate.$iter().for_each($visit),
            Operator::IndexLookupJoin(join) => {
                let keys = join.keys.$iter().map(|key| & $($mutable)? key.value);
                keys.chain(& $($mutable)? join.residual).for_each($visit);
            }
            Operator::Filter { predicate, .. } => $visit(predicate),
            Operator::Project { expressions, .. } => expressions.$iter().for_each($visit),
            Operator::Aggregate { grouping, .. } => {
                grouping.keys.$iter().for_each(&mut *$visit);
                for call in & $($mutable)? grouping.aggregates {
                    let order = call.order_by.$iter().map(|key| & $($mutable)? key.expression);
                    call.arguments.$iter().chain(order).for_each(&mut *$visit);
                }
            }
            Operator::Sort { keys, .. } => {
                keys.$iter().for_each(|key| $visit(& $($mutable)? key.expression));
            }
            Operator::Window {
                partition,
                order,
                calls,
                ..
            } => {
                let order = order.$iter().map(|key| & $($mutable)? key.expression);
                partition.$iter().chain(order).for_each(&mut *$visit);
                calls.$iter().for_each(|call| call.$for_each_expression($visit));
            }
            Operator::HashJoin { keys, residual, .. } => {
                let keys = keys.$iter();
                let keys = keys.flat_map(|key| {
                    [& $($mutable)? key.left, & $($mutable)? key.right]
                });
                keys.chain(residual).for_each($visit);
            }
            Operator::NestedLoopJoin { condition, .. } => condition.$iter().for_each($visit),
            Operator::Apply {
                parameters,
                condition,
                ..
            } => {
                let parameters = parameters.$iter().map(|(_, value)| value);
                parameters.chain(condition).for_each($visit);
            }
            Operator::SharedScan { arguments, .. } => {
                arguments.$iter().for_each(|(_, value)| $visit(value));
            }
            Operator::WorkingTable { .. }
            | Operator::Limit { .. }
            | Operator::SetOperation { .. }
            | Operator::Block { .. }
            | Operator::Materialize { .. } => {}
        }
    };
}

impl Plan {
    /// Calls `visit` on each input of the operator (not on the plans of subqueries in its expressions).
    pub fn for_each_input<'p>(&'p self, visit: &mut dyn FnMut(&'p Self)) {
        visit_inputs!(&self.operator, visit, iter);
    }

    /// [`Self::for_each_input`] with mutable inputs.
    pub fn for_each_input_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        visit_inputs!(&mut self.operator, visit, iter_mut, mut);
    }

    /// Calls `visit` on each expression of the operator itself, outermost ones only.
    pub fn for_each_expression<'p>(&'p self, visit: &mut dyn FnMut(&'p Expression)) {
        visit_expressions!(&self.operator, visit, iter, for_each_expression);
    }

    /// [`Self::for_each_expression`] with mutable expressions.
    pub fn for_each_expression_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        visit_expressions!(
            &mut self.operator,
            visit,
            iter_mut,
            for_each_expression_mut,
            mut
        );
    }
}
