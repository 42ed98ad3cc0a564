//! Parts of predicates.

use crate::tree::expression::{Comparison, Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnSet, with_stack};

/// Operands of a conjunction.
pub(crate) fn conjuncts(predicate: Expression) -> Vec<Expression> {
    match predicate.kind {
        ExpressionKind::And(operands) => operands,
        _ => vec![predicate],
    }
}

/// Whether a predicate is an equality of a value of the left columns and one of the right columns; `Some(true)` if the
/// right one is written first.
pub(crate) fn sides_of_equality(
    predicate: &Expression,
    left: &ColumnSet,
    right: &ColumnSet,
) -> Option<bool> {
    let ExpressionKind::Compare {
        comparison: Comparison::Equal | Comparison::NullSafeEqual,
        left: a,
        right: b,
    } = &predicate.kind
    else {
        return None;
    };
    let (a, b) = (a.columns(), b.columns());
    let sides = |a: &ColumnSet, b: &ColumnSet| {
        !a.is_empty() && !b.is_empty() && a.is_subset(left) && b.is_subset(right)
    };
    if sides(&a, &b) {
        Some(false)
    } else {
        sides(&b, &a).then_some(true)
    }
}

/// Conjunction of predicates.
pub(crate) fn conjunction(mut predicates: Vec<Expression>) -> Option<Expression> {
    match predicates.len() {
        0 => None,
        1 => predicates.pop(),
        _ => Some(and(predicates)),
    }
}

/// Conjunction, with nested conjunctions flattened.
pub(crate) fn and(operands: Vec<Expression>) -> Expression {
    junction(operands, true)
}

/// Disjunction, with nested disjunctions flattened.
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
    let junction = if conjunction {
        ExpressionKind::And
    } else {
        ExpressionKind::Or
    };
    Expression::predicate(junction(flat), nullable)
}

/// The condition on some columns alone that a condition implies.
pub(crate) fn implied(predicate: &Expression, columns: &ColumnSet) -> Option<Expression> {
    let read = predicate.columns();
    if !read.is_empty() && read.is_subset(columns) {
        return Some(predicate.clone());
    }
    with_stack(|| match &predicate.kind {
        ExpressionKind::And(operands) => {
            let implied = operands.iter().filter_map(|one| implied(one, columns));
            let implied: Vec<Expression> = implied.collect();
            (!implied.is_empty()).then(|| and(implied))
        }
        ExpressionKind::Or(operands) => {
            let mut arms: Vec<Expression> = Vec::new();
            for operand in operands {
                let arm = implied(operand, columns)?;
                // Arms that differ only in other tables imply equal conditions on this one.
                if !arms.iter().any(|known| same_expression(known, &arm)) {
                    arms.push(arm);
                }
            }
            Some(or(arms))
        }
        _ => None,
    })
}
