//! Parts of predicates.

use mayfly_types::SqlType;

use crate::tree::expression::{Expression, ExpressionKind};

/// The operands of a conjunction.
pub(crate) fn conjuncts(predicate: Expression) -> Vec<Expression> {
    match predicate.kind {
        ExpressionKind::And(operands) => operands,
        _ => vec![predicate],
    }
}

/// The conjunction of predicates.
pub(crate) fn conjunction(mut predicates: Vec<Expression>) -> Option<Expression> {
    match predicates.len() {
        0 => None,
        1 => predicates.pop(),
        _ => Some(and(predicates)),
    }
}

/// Conjunction; nested ones are made flat.
pub(crate) fn and(operands: Vec<Expression>) -> Expression {
    junction(operands, true)
}

/// Disjunction; nested ones are made flat.
pub(crate) fn or(operands: Vec<Expression>) -> Expression {
    junction(operands, false)
}

fn junction(operands: Vec<Expression>, conjunction: bool) -> Expression {
    let mut flat = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand.kind {
            ExpressionKind::And(inner) if conjunction => flat.extend(inner),
            ExpressionKind::Or(inner) if !conjunction => flat.extend(inner),
            _ => flat.push(operand),
        }
    }
    if flat.len() == 1
        && let Some(only) = flat.pop()
    {
        return only;
    }
    let nullable = flat.iter().any(|operand| operand.nullable);
    Expression {
        kind: if conjunction {
            ExpressionKind::And(flat)
        } else {
            ExpressionKind::Or(flat)
        },
        ty: SqlType::boolean(),
        nullable,
    }
}
