//! Volatility of expressions.

use mayfly_functions::scalar::Volatility;
use mayfly_types::TypeKind;

use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Relation, visit_expression};

/// Whether an expression may differ from one evaluation to the next over the same row.
pub(crate) fn expression_is_volatile(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        match &inner.kind {
            ExpressionKind::Call { function, .. } => {
                found |= function.volatility() == Volatility::Volatile;
            }
            ExpressionKind::Subquery(subquery) => found |= !subquery.cacheable,
            ExpressionKind::LogicalSubquery(subquery) => {
                found |= relation_is_volatile(&subquery.relation);
            }
            _ => {}
        }
        !found
    });
    found
}

/// Whether the rows of a relation may differ from one evaluation to the next.
pub(crate) fn relation_is_volatile(relation: &Relation) -> bool {
    let mut found = false;
    relation.for_each_expression(&mut |expression| found |= expression_is_volatile(expression));
    found || relation.inputs().into_iter().any(relation_is_volatile)
}

/// Whether an expression gives the same value for all rows of a statement.
pub(crate) fn is_constant(expression: &Expression) -> bool {
    expression.columns().is_empty() && !expression_is_volatile(expression)
}

/// Whether an expression itself makes a date of a time, which is one of the day on which the statement runs.
pub(crate) fn needs_today(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Cast(inner, _) => {
            let is_date = matches!(
                expression.ty.kind,
                TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Year
            );
            is_date && (inner.ty.kind == TypeKind::Time || inner.ty.temporal_text)
        }
        ExpressionKind::Call { signature, .. } => {
            signature.arguments.iter().any(|ty| ty.temporal_text)
        }
        _ => false,
    }
}

/// Whether an expression is immutable: it can be computed before its statement runs, to the same value each time.
pub(crate) fn is_immutable(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        found |= match &inner.kind {
            _ if needs_today(inner) => true,
            ExpressionKind::Call { function, .. } => function.volatility() != Volatility::Immutable,
            ExpressionKind::Column(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Subquery(_)
            | ExpressionKind::LogicalSubquery(_) => true,
            _ => false,
        };
        !found
    });
    !found
}

/// Whether an expression contains a subquery.
pub(crate) fn has_subquery(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        found |= matches!(
            inner.kind,
            ExpressionKind::LogicalSubquery(_) | ExpressionKind::Subquery(_)
        );
        !found
    });
    found
}
