//! Chains: `a + b - c …`, `a XOR b …`, `SELECT … UNION SELECT … EXCEPT …`.
//!
//! Operators of one level are applied from left to right. A short chain is a tree that leans to the left; a long one is
//! a balanced tree over the same sequence, so that walking, copying or dropping it does not recurse as deep as the
//! chain is long. The meaning of a chain is its sequence, which both trees keep in order: an operator at the top of a
//! part stands between the part's left and right operands. Parentheses are nodes of their own and end a chain.

use crate::ast::{BinaryOperator, Expr, SetExpr, SetOperator, SetQuantifier};

/// Length from which chains become balanced trees.
pub(crate) const LEANING_MAX: usize = 16;

/// The level of an operator whose chains are applied from left to right.
fn level(op: &BinaryOperator) -> Option<u8> {
    Some(match op {
        BinaryOperator::Xor => 0,
        BinaryOperator::BitwiseOr => 1,
        BinaryOperator::BitwiseAnd => 2,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => 3,
        BinaryOperator::Plus | BinaryOperator::Minus => 4,
        BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::IntegerDivide => 5,
        BinaryOperator::BitwiseXor => 6,
        BinaryOperator::StringConcat => 7,
        _ => return None,
    })
}

/// The first operand of a chain, and the others with the operators before them. `divide` gives the operands and the
/// operator of a node of the chain; `None` for an operand.
fn operands<'t, T, Op: Copy>(
    whole: &'t T,
    divide: impl Fn(&'t T) -> Option<(&'t T, Op, &'t T)>,
) -> (&'t T, Vec<(Op, &'t T)>) {
    let mut first = whole;
    let mut steps = Vec::new();
    let mut waiting = vec![(None, whole)];
    while let Some((before, part)) = waiting.pop() {
        match (divide(part), before) {
            (Some((left, op, right)), _) => waiting.extend([(Some(op), right), (before, left)]),
            (None, Some(op)) => steps.push((op, part)),
            (None, None) => first = part,
        }
    }
    (first, steps)
}

/// The first operand of a chain, and the others with the operators before them; only the first for an expression that
/// is not a chain.
pub fn chain(whole: &Expr) -> (&Expr, Vec<(&BinaryOperator, &Expr)>) {
    let Expr::BinaryOp { op, .. } = whole else {
        return (whole, Vec::new());
    };
    let Some(own) = level(op) else {
        return (whole, Vec::new());
    };
    operands(whole, |part| match part {
        Expr::BinaryOp { left, op, right } if level(op) == Some(own) => {
            Some((&**left, op, &**right))
        }
        _ => None,
    })
}

/// An operator between two queries.
pub type SetStep<'q> = (SetOperator, SetQuantifier, &'q SetExpr);

/// The first query of a chain of set operations of one level, and the others with the operators before them.
pub fn set_chain(whole: &SetExpr) -> (&SetExpr, Vec<SetStep<'_>>) {
    let SetExpr::SetOperation { op, .. } = whole else {
        return (whole, Vec::new());
    };
    let is_intersection = *op == SetOperator::Intersect;
    let (first, steps) = operands(whole, |part| match part {
        SetExpr::SetOperation {
            op,
            set_quantifier,
            left,
            right,
        } if is_intersection == (*op == SetOperator::Intersect) => {
            Some((&**left, (*op, *set_quantifier), &**right))
        }
        _ => None,
    });
    let steps = steps
        .into_iter()
        .map(|((op, quantifier), query)| (op, quantifier, query));
    (first, steps.collect())
}

/// Joins operands in their order: to a tree that leans to the left, or a balanced one.
pub(crate) fn join<T, Op>(first: T, steps: Vec<(Op, T)>, node: &impl Fn(T, Op, T) -> T) -> T {
    if steps.len() < LEANING_MAX {
        return steps
            .into_iter()
            .fold(first, |left, (op, right)| node(left, op, right));
    }
    low(first, steps, node)
}

fn low<T, Op>(first: T, mut steps: Vec<(Op, T)>, node: &impl Fn(T, Op, T) -> T) -> T {
    let mut behind = steps.split_off(steps.len() / 2).into_iter();
    let Some((op, middle)) = behind.next() else {
        return first;
    };
    let right = low(middle, behind.collect(), node);
    node(low(first, steps, node), op, right)
}

/// Number of levels that a chain of `steps` operators adds to its highest operand.
pub(crate) fn levels(steps: usize) -> u32 {
    if steps < LEANING_MAX {
        steps as u32
    } else {
        usize::BITS - steps.leading_zeros() + 1
    }
}
