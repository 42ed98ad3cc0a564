//! Walks over logical trees, in one place, so that rules name only what they change.

use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::key_ranges::KeyRanges;
use crate::tree::logical::{Relation, Scan, Subquery, SubqueryKind};

/// How deep a walk may go before it continues on a new piece of stack.
const RED_ZONE: usize = 96 << 10;
/// How large such a piece is.
const STACK_PIECE: usize = 2 << 20;

/// Runs a recursive step with enough stack below it.
pub(crate) fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, STACK_PIECE, step)
}

/// Calls `visit` on an expression and everything below it, outer ones first, except the relations
/// of subqueries. Below an expression for which it answers `false` it is not called.
pub fn visit_expression(expression: &Expression, visit: &mut dyn FnMut(&Expression) -> bool) {
    if !visit(expression) {
        return;
    }
    with_stack(|| for_each_child(expression, &mut |child| visit_expression(child, visit)));
}

/// Calls `visit` on an expression and everything below it, outer ones first, except the relations
/// of subqueries. Below an expression for which it answers `false` it is not called.
pub fn visit_expression_mut(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Expression) -> bool,
) {
    if !visit(expression) {
        return;
    }
    with_stack(|| for_each_child_mut(expression, &mut |child| visit_expression_mut(child, visit)));
}

/// The direct operands of an expression, for walks that keep them.
pub(crate) fn push_children<'e>(expression: &'e Expression, into: &mut Vec<&'e Expression>) {
    for_each_child(expression, &mut |child| into.push(child));
}

/// The direct operands of an expression.
pub(crate) fn for_each_child<'e>(
    expression: &'e Expression,
    visit: &mut dyn FnMut(&'e Expression),
) {
    match &expression.kind {
        ExpressionKind::Literal(_)
        | ExpressionKind::Column(_)
        | ExpressionKind::Parameter(_)
        | ExpressionKind::Local(_) => {}
        ExpressionKind::Call { arguments, .. } => arguments.iter().for_each(visit),
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            operands.iter().for_each(visit);
        }
        ExpressionKind::Cast(operand, _)
        | ExpressionKind::Not(operand)
        | ExpressionKind::IsNull(operand)
        | ExpressionKind::IsTruth(operand, _)
        | ExpressionKind::InList { operand, .. } => visit(operand),
        ExpressionKind::Compare { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExpressionKind::Let { values, body } => {
            values.iter().for_each(|(_, value)| visit(value));
            visit(body);
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            for (condition, result) in branches {
                visit(condition);
                visit(result);
            }
            if let Some(otherwise) = otherwise {
                visit(otherwise);
            }
        }
        ExpressionKind::LogicalSubquery(subquery) => match &subquery.kind {
            SubqueryKind::Scalar | SubqueryKind::Exists { .. } => {}
            SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } => {
                left.iter().for_each(visit);
            }
        },
        ExpressionKind::Subquery(subquery) => {
            use crate::tree::expression::SubqueryKind as Physical;
            match &subquery.kind {
                Physical::Scalar | Physical::Exists { .. } => {}
                Physical::Quantified { left, .. } | Physical::Row { left, .. } => {
                    left.iter().for_each(&mut *visit);
                }
            }
            for (_, expression) in &subquery.parameters {
                visit(expression);
            }
        }
    }
}

/// The direct operands of an expression. A physical subquery's are not reached: it is shared.
pub(crate) fn for_each_child_mut(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Expression),
) {
    match &mut expression.kind {
        ExpressionKind::Literal(_)
        | ExpressionKind::Column(_)
        | ExpressionKind::Parameter(_)
        | ExpressionKind::Local(_)
        | ExpressionKind::Subquery(_) => {}
        ExpressionKind::Call { arguments, .. } => arguments.iter_mut().for_each(visit),
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            operands.iter_mut().for_each(visit);
        }
        ExpressionKind::Cast(operand, _)
        | ExpressionKind::Not(operand)
        | ExpressionKind::IsNull(operand)
        | ExpressionKind::IsTruth(operand, _)
        | ExpressionKind::InList { operand, .. } => visit(operand),
        ExpressionKind::Compare { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExpressionKind::Let { values, body } => {
            values.iter_mut().for_each(|(_, value)| visit(value));
            visit(body);
        }
        ExpressionKind::Case {
            branches,
            otherwise,
        } => {
            for (condition, result) in branches {
                visit(condition);
                visit(result);
            }
            if let Some(otherwise) = otherwise {
                visit(otherwise);
            }
        }
        ExpressionKind::LogicalSubquery(subquery) => match &mut subquery.kind {
            SubqueryKind::Scalar | SubqueryKind::Exists { .. } => {}
            SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } => {
                left.iter_mut().for_each(visit);
            }
        },
    }
}

impl Scan {
    /// The ranges of indexes that are read.
    fn ranges(&self) -> impl Iterator<Item = &KeyRanges> {
        let indexes = self.access.indexes().iter();
        indexes.filter_map(|access| access.ranges.as_ref())
    }
}

impl Relation {
    /// The inputs of this relation (not those of subqueries in its expressions).
    pub fn inputs(&self) -> Vec<&Relation> {
        match self {
            Self::Values { .. } | Self::Scan(_) | Self::SharedScan { .. } => Vec::new(),
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Extend { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. }
            | Self::Block { input, .. }
            | Self::Materialize { input, .. } => vec![input],
            Self::Aggregate(aggregate) => vec![&aggregate.input],
            Self::Join(join) => vec![&join.left, &join.right],
            Self::SetOperation { inputs, .. } => inputs.iter().map(|(input, _)| input).collect(),
        }
    }

    /// Calls `visit` on each input of this relation.
    pub fn for_each_input_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        match self {
            Self::Values { .. } | Self::Scan(_) | Self::SharedScan { .. } => {}
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Extend { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. }
            | Self::Block { input, .. }
            | Self::Materialize { input, .. } => visit(input),
            Self::Aggregate(aggregate) => visit(&mut aggregate.input),
            Self::Join(join) => {
                visit(&mut join.left);
                visit(&mut join.right);
            }
            Self::SetOperation { inputs, .. } => {
                inputs.iter_mut().for_each(|(input, _)| visit(input));
            }
        }
    }

    /// Calls `visit` on each expression of this relation itself, outermost ones only.
    pub fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        match self {
            Self::Values { rows, .. } => rows.iter().flatten().for_each(visit),
            Self::Scan(scan) => {
                scan.predicates.iter().for_each(&mut *visit);
                for ranges in scan.ranges() {
                    ranges.for_each_expression(&mut |expression| visit(expression));
                }
            }
            Self::Filter { predicates, .. } => predicates.iter().for_each(visit),
            Self::Project { columns, .. } | Self::Extend { columns, .. } => {
                columns.iter().for_each(|column| visit(&column.expression));
            }
            Self::Aggregate(aggregate) => {
                for key in &aggregate.keys {
                    visit(&key.expression);
                }
                for (_, call) in &aggregate.aggregates {
                    call.arguments.iter().for_each(&mut *visit);
                    call.order_by.iter().for_each(|key| visit(&key.expression));
                }
            }
            Self::Sort { keys, .. } => keys.iter().for_each(|key| visit(&key.expression)),
            Self::Join(join) => {
                join.on.iter().for_each(&mut *visit);
                for (left, right) in &join.null_aware {
                    visit(left);
                    visit(right);
                }
                for key in join.lookup.iter().flat_map(|lookup| &lookup.keys) {
                    visit(&key.value);
                }
            }
            Self::SharedScan { .. }
            | Self::Limit { .. }
            | Self::SetOperation { .. }
            | Self::Block { .. }
            | Self::Materialize { .. } => {}
        }
    }

    /// Calls `visit` on each expression of this relation itself, outermost ones only.
    pub fn for_each_expression_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        match self {
            Self::Values { rows, .. } => rows.iter_mut().flatten().for_each(visit),
            Self::Scan(scan) => {
                scan.predicates.iter_mut().for_each(&mut *visit);
                for access in scan.access.indexes_mut() {
                    if let Some(ranges) = &mut access.ranges {
                        ranges.for_each_expression_mut(visit);
                    }
                }
            }
            Self::Filter { predicates, .. } => predicates.iter_mut().for_each(visit),
            Self::Project { columns, .. } | Self::Extend { columns, .. } => {
                columns
                    .iter_mut()
                    .for_each(|column| visit(&mut column.expression));
            }
            Self::Aggregate(aggregate) => {
                for key in &mut aggregate.keys {
                    visit(&mut key.expression);
                }
                for (_, call) in &mut aggregate.aggregates {
                    call.arguments.iter_mut().for_each(&mut *visit);
                    call.order_by
                        .iter_mut()
                        .for_each(|key| visit(&mut key.expression));
                }
            }
            Self::Sort { keys, .. } => keys.iter_mut().for_each(|key| visit(&mut key.expression)),
            Self::Join(join) => {
                join.on.iter_mut().for_each(&mut *visit);
                for (left, right) in &mut join.null_aware {
                    visit(left);
                    visit(right);
                }
                for key in join.lookup.iter_mut().flat_map(|lookup| &mut lookup.keys) {
                    visit(&mut key.value);
                }
            }
            Self::SharedScan { .. }
            | Self::Limit { .. }
            | Self::SetOperation { .. }
            | Self::Block { .. }
            | Self::Materialize { .. } => {}
        }
    }
}

/// The logical subqueries directly inside an expression (not those inside their relations).
pub(crate) fn for_each_subquery_mut(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Subquery),
) {
    visit_expression_mut(expression, &mut |inner| {
        if let ExpressionKind::LogicalSubquery(subquery) = &mut inner.kind {
            visit(subquery);
        }
        true
    });
}

/// Calls `visit` on every relation of a tree, inputs first, those of subqueries too.
pub fn visit_relations_mut(relation: &mut Relation, visit: &mut dyn FnMut(&mut Relation)) {
    with_stack(|| {
        relation.for_each_input_mut(&mut |input| visit_relations_mut(input, visit));
        relation.for_each_expression_mut(&mut |expression| {
            for_each_subquery_mut(expression, &mut |subquery| {
                visit_relations_mut(&mut subquery.relation, visit);
            });
        });
        visit(relation);
    });
}

/// Calls `visit` on every expression of a tree, outer ones first, those of subqueries too. Below an
/// expression for which it answers `false` it is not called.
pub fn visit_expressions_mut(
    relation: &mut Relation,
    visit: &mut dyn FnMut(&mut Expression) -> bool,
) {
    with_stack(|| {
        relation.for_each_input_mut(&mut |input| visit_expressions_mut(input, visit));
        relation.for_each_expression_mut(&mut |expression| visit_deep_mut(expression, visit));
    });
}

/// [`visit_expression_mut`] with the expressions of subqueries too.
pub fn visit_deep_mut(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression) -> bool) {
    visit_expression_mut(expression, &mut |inner| {
        let below = visit(inner);
        if below && let ExpressionKind::LogicalSubquery(subquery) = &mut inner.kind {
            visit_expressions_mut(&mut subquery.relation, visit);
        }
        below
    });
}
