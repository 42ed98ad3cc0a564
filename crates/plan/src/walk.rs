//! Walks over logical trees, in one place, so that rules only name what they change.

pub(crate) use crate::stack::with_stack;
use crate::tree::expression::{Expression, ExpressionKind, SubqueryKind};
use crate::tree::logical::{Relation, Subquery};

/// Calls `visit` on an expression and all of its descendants, outer ones first, except the relations of subqueries. The
/// walk does not descend into an expression for which `visit` returns `false`.
pub fn visit_expression(expression: &Expression, visit: &mut dyn FnMut(&Expression) -> bool) {
    if !visit(expression) || is_leaf(expression) {
        return;
    }
    with_stack(|| for_each_child(expression, &mut |child| visit_expression(child, visit)));
}

/// [`visit_expression`] with mutable expressions.
pub fn visit_expression_mut(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Expression) -> bool,
) {
    if !visit(expression) || is_leaf(expression) {
        return;
    }
    with_stack(|| for_each_child_mut(expression, &mut |child| visit_expression_mut(child, visit)));
}

/// Whether an expression has no operands: half of all expressions, for which the stack is not checked.
fn is_leaf(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::Literal(_) | ExpressionKind::Column(_) | ExpressionKind::Parameter(_)
    )
}

/// Adds the direct operands of an expression, for walks that keep them.
pub(crate) fn push_children<'e>(expression: &'e Expression, into: &mut Vec<&'e Expression>) {
    for_each_child(expression, &mut |child| into.push(child));
}

/// Calls a closure on the direct operands of an expression, except those of a physical subquery. Shared by walks that
/// read (`iter`) and walks that change (`iter_mut, mut`).
macro_rules! visit_children {
    ($expression:expr, $visit:ident, $iter:ident $(, $mutable:tt)?) => {
        match & $($mutable)? $expression.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Column(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Local(_)
            | ExpressionKind::Subquery(_) => {}
            ExpressionKind::Call { arguments: operands, .. }
            | ExpressionKind::And(operands)
            | ExpressionKind::Or(operands) => operands.$iter().for_each($visit),
            ExpressionKind::Cast(operand, _)
            | ExpressionKind::Not(operand)
            | ExpressionKind::IsNull(operand)
            | ExpressionKind::IsTruth(operand, _)
            | ExpressionKind::InList { operand, .. } => $visit(operand),
            ExpressionKind::Compare { left, right, .. } => {
                $visit(left);
                $visit(right);
            }
            ExpressionKind::Let { values, body } => {
                values.$iter().for_each(|(_, value)| $visit(value));
                $visit(body);
            }
            ExpressionKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    $visit(condition);
                    $visit(result);
                }
                if let Some(otherwise) = otherwise {
                    $visit(otherwise);
                }
            }
            ExpressionKind::LogicalSubquery(subquery) => match & $($mutable)? subquery.kind {
                SubqueryKind::Scalar | SubqueryKind::Exists { .. } => {}
                SubqueryKind::Quantified { left, .. } | SubqueryKind::Row { left, .. } => {
                    left.$iter().for_each($visit);
                }
            },
        }
    };
}

/// Calls a closure on the inputs of a relation, as [`visit_children`] does on operands.
macro_rules! visit_inputs {
    ($relation:expr, $visit:ident, $iter:ident $(, $mutable:tt)?) => {
        match $relation {
            Relation::Values { .. } | Relation::Scan(_) | Relation::SharedScan { .. } => {}
            Relation::Filter { input, .. }
            | Relation::Project { input, .. }
            | Relation::Extend { input, .. }
            | Relation::Sort { input, .. }
            | Relation::Limit { input, .. }
            | Relation::Block { input, .. }
            | Relation::Materialize { input, .. } => $visit(input),
            Relation::Aggregate(aggregate) => $visit(& $($mutable)? aggregate.input),
            Relation::Window(window) => $visit(& $($mutable)? window.input),
            Relation::Join(join) => {
                $visit(& $($mutable)? join.left);
                $visit(& $($mutable)? join.right);
            }
            Relation::SetOperation { inputs, .. } => {
                inputs.$iter().for_each(|(input, _)| $visit(input));
            }
        }
    };
}

/// Calls a closure on the outermost expressions of a relation itself, as [`visit_children`] does on operands.
macro_rules! visit_own_expressions {
    (
        $relation:expr, $visit:ident, $iter:ident, $indexes:ident, $for_each_expression:ident
        $(, $mutable:tt)?
    ) => {
        match $relation {
            Relation::Values { rows, .. } => rows.$iter().flatten().for_each($visit),
            Relation::Scan(scan) => {
                scan.predicates.$iter().for_each(&mut *$visit);
                for access in scan.access.$indexes() {
                    if let Some(ranges) = & $($mutable)? access.ranges {
                        ranges.$for_each_expression($visit);
                    }
                }
            }
            Relation::Filter { predicates, .. } => predicates.$iter().for_each($visit),
            Relation::Project { columns, .. }
            | Relation::Extend { columns, .. }
            | Relation::SharedScan { outer: columns, .. } => {
                columns.$iter().for_each(|column| $visit(& $($mutable)? column.expression));
            }
            Relation::Aggregate(aggregate) => {
                for key in & $($mutable)? aggregate.keys {
                    $visit(& $($mutable)? key.expression);
                }
                for (_, call) in & $($mutable)? aggregate.aggregates {
                    call.arguments.$iter().for_each(&mut *$visit);
                    for key in & $($mutable)? call.order_by {
                        $visit(& $($mutable)? key.expression);
                    }
                }
            }
            Relation::Window(window) => {
                window.partition.$iter().for_each(&mut *$visit);
                for key in & $($mutable)? window.order {
                    $visit(& $($mutable)? key.expression);
                }
                for (_, call) in & $($mutable)? window.calls {
                    call.$for_each_expression($visit);
                }
            }
            Relation::Sort { keys, .. } => {
                keys.$iter().for_each(|key| $visit(& $($mutable)? key.expression));
            }
            Relation::Join(join) => {
                join.on.$iter().for_each(&mut *$visit);
                for (left, right) in & $($mutable)? join.null_aware {
                    $visit(left);
                    $visit(right);
                }
                for key in join.lookup.$iter().flat_map(|lookup| & $($mutable)? lookup.keys) {
                    $visit(& $($mutable)? key.value);
                }
            }
            Relation::Limit { .. }
            | Relation::SetOperation { .. }
            | Relation::Block { .. }
            | Relation::Materialize { .. } => {}
        }
    };
}

/// Calls `visit` on the direct operands of an expression.
pub(crate) fn for_each_child<'e>(
    expression: &'e Expression,
    visit: &mut dyn FnMut(&'e Expression),
) {
    if let ExpressionKind::Subquery(subquery) = &expression.kind {
        subquery.kind.left().iter().for_each(&mut *visit);
        subquery
            .parameters
            .iter()
            .for_each(|(_, value)| visit(value));
    }
    visit_children!(expression, visit, iter);
}

/// Calls `visit` on the direct operands of an expression, except those of a physical subquery, which is shared.
pub(crate) fn for_each_child_mut(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Expression),
) {
    visit_children!(expression, visit, iter_mut, mut);
}

impl Relation {
    /// The inputs of this relation (not those of subqueries in its expressions).
    pub fn inputs(&self) -> Vec<&Relation> {
        let mut inputs: Vec<&Relation> = Vec::new();
        let mut push = |input| inputs.push(input);
        visit_inputs!(self, push, iter);
        inputs
    }

    /// Calls `visit` on each input of this relation.
    pub(crate) fn for_each_input_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        visit_inputs!(self, visit, iter_mut, mut);
    }

    /// Calls `visit` on each expression of this relation itself, outermost ones only.
    pub fn for_each_expression<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit_own_expressions!(self, visit, iter, indexes, for_each_expression);
    }

    /// Calls `visit` on each expression of this relation itself, outermost ones only.
    pub(crate) fn for_each_expression_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        visit_own_expressions!(
            self,
            visit,
            iter_mut,
            indexes_mut,
            for_each_expression_mut,
            mut
        );
    }
}

/// Calls `visit` on the logical subqueries directly inside an expression (not those inside their relations).
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

/// Calls `visit` on every expression of a tree, outer ones first, those of subqueries too. The walk does not descend
/// into an expression for which `visit` returns `false`.
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
