//! Simplification of predicates with constant or equal parts: `true AND p` is p, `false OR p` is p, and `p AND p` is p. A
//! condition that is never true makes the whole conjunction never true.

use mayfly_types::{SqlType, Value};

use super::noted::conditions::simplified as simplified_condition;
use super::planning::Planning;
use crate::lower::is_never_true;
use crate::predicates::conjuncts;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{Query, Relation, expression_is_volatile};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Filter { input, predicates } => {
            let before = planning.trace.map(|_| predicates.clone());
            simplify_all(predicates);
            if let (Some(trace), Some(before)) = (planning.trace, before) {
                simplified_condition(input, (&before, predicates), trace);
            }
            if predicates.is_empty() {
                *relation = input.take();
            }
        }
        Relation::Join(join) => simplify_all(&mut join.on),
        _ => {}
    });
}

/// Simplifies a conjunction.
pub(super) fn simplify_all(predicates: &mut Vec<Expression>) {
    let worth = |predicate: &Expression| {
        matches!(
            predicate.kind,
            ExpressionKind::Literal(_)
                | ExpressionKind::And(_)
                | ExpressionKind::Or(_)
                | ExpressionKind::Compare { .. }
        )
    };
    if !predicates.iter().any(worth) {
        return;
    }
    let mut kept = Vec::with_capacity(predicates.len());
    for predicate in predicates.drain(..) {
        for conjunct in conjuncts(simplified(predicate)) {
            if truth_of(&conjunct) != Some(true) {
                add(&mut kept, conjunct);
            }
        }
    }
    if let Some(never) = kept.iter().position(is_never_true) {
        kept.swap(0, never);
        kept.truncate(1);
    }
    *predicates = kept;
}

/// Adds an operand of a junction, unless an equal one is there.
fn add(operands: &mut Vec<Expression>, operand: Expression) {
    if !operands.contains(&operand) || expression_is_volatile(&operand) {
        operands.push(operand);
    }
}

fn simplified(mut predicate: Expression) -> Expression {
    crate::tree::logical::with_stack(|| match &mut predicate.kind {
        ExpressionKind::And(operands) => {
            let operands = std::mem::take(operands);
            junction(operands, predicate, false)
        }
        ExpressionKind::Or(operands) => {
            let operands = std::mem::take(operands);
            junction(operands, predicate, true)
        }
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => match compared(*comparison, left, right) {
            Some(truth) => constant(truth),
            None => predicate,
        },
        _ => predicate,
    })
}

/// Simplifies a junction: AND is decided by false, OR by true; the other constant is removed.
fn junction(operands: Vec<Expression>, whole: Expression, decided_by: bool) -> Expression {
    let mut kept = Vec::with_capacity(operands.len());
    for operand in operands {
        let operand = simplified(operand);
        match truth_of(&operand) {
            Some(truth) if truth == decided_by => return constant(truth),
            Some(_) => {}
            None => add(&mut kept, operand),
        }
    }
    if kept.len() == 1
        && let Some(only) = kept.pop()
    {
        return only;
    }
    if kept.is_empty() {
        return constant(!decided_by);
    }
    let junction = if decided_by {
        ExpressionKind::Or
    } else {
        ExpressionKind::And
    };
    Expression {
        kind: junction(kept),
        ..whole
    }
}

fn constant(truth: bool) -> Expression {
    Expression::literal(Value::Int(i64::from(truth)), SqlType::boolean())
}

/// Truth of an expression that is the constant true or false.
fn truth_of(expression: &Expression) -> Option<bool> {
    match (&expression.kind, expression.ty.kind) {
        (ExpressionKind::Literal(Value::Int(number)), mayfly_types::TypeKind::Boolean) => {
            Some(*number != 0)
        }
        _ => None,
    }
}

/// Result of a comparison of two constants: integers, or texts of one collation.
fn compared(comparison: Comparison, left: &Expression, right: &Expression) -> Option<bool> {
    let are_texts = left.ty.is_string() && right.ty.is_string();
    let collation = left.ty.collation;
    let order = match (left.as_literal()?, right.as_literal()?) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) if are_texts && collation == right.ty.collation => {
            collation.compare(a, b)
        }
        _ => return None,
    };
    Some(comparison.holds(order))
}
