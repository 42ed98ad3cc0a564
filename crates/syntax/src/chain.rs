//! Chains: `a + b - c …`, `a XOR b …`, `SELECT … UNION SELECT … EXCEPT …`.
//!
//! Operators of one level are applied from left to right. A short chain is a tree that leans to the
//! left; a long one is a tree as low as possible over the same sequence, so that nothing that walks
//! over trees, copies or drops them, goes as deep as the chain is long. What a chain means is its
//! sequence, which both trees have in their order: an operator at the top of a part stands between
//! the part's left and right operands. Parentheses are nodes of their own and end a chain.

use sqlparser::ast::{BinaryOperator, Expr, SetExpr, SetOperator, SetQuantifier};

/// Chains longer than this become low trees.
pub(crate) const LEANING_MAX: usize = 16;

/// The level of an operator whose chains are applied from left to right.
fn level(op: &BinaryOperator) -> Option<u8> {
    Some(match op {
        BinaryOperator::Xor => 0,
        BinaryOperator::BitwiseOr => 1,
        BinaryOperator::BitwiseAnd => 2,
        BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight => 3,
        BinaryOperator::Plus | BinaryOperator::Minus => 4,
        BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::MyIntegerDivide => 5,
        BinaryOperator::BitwiseXor => 6,
        BinaryOperator::StringConcat => 7,
        _ => return None,
    })
}

/// The first operand of a chain, and the others with the operators before them. Of what is no chain
/// there are no others.
pub fn chain(whole: &Expr) -> (&Expr, Vec<(&BinaryOperator, &Expr)>) {
    let Expr::BinaryOp { op, .. } = whole else {
        return (whole, Vec::new());
    };
    let Some(own) = level(op) else {
        return (whole, Vec::new());
    };
    let mut first = whole;
    let mut steps = Vec::new();
    let mut waiting: Vec<(Option<&BinaryOperator>, &Expr)> = vec![(None, whole)];
    while let Some((before, part)) = waiting.pop() {
        match (part, before) {
            (Expr::BinaryOp { left, op, right }, _) if level(op) == Some(own) => {
                waiting.push((Some(op), &**right));
                waiting.push((before, &**left));
            }
            (_, Some(op)) => steps.push((op, part)),
            (_, None) => first = part,
        }
    }
    (first, steps)
}

/// An operator between two queries.
pub type SetStep<'q> = (SetOperator, SetQuantifier, &'q SetExpr);

/// The first query of a chain of set operations of one level, and the others with what stands before
/// them.
pub fn set_chain(whole: &SetExpr) -> (&SetExpr, Vec<SetStep<'_>>) {
    let is_intersection = |op: &SetOperator| *op == SetOperator::Intersect;
    let SetExpr::SetOperation { op, .. } = whole else {
        return (whole, Vec::new());
    };
    let own = is_intersection(op);
    let mut first = whole;
    let mut steps = Vec::new();
    let mut waiting = vec![(None, whole)];
    while let Some((before, part)) = waiting.pop() {
        match (part, before) {
            (
                SetExpr::SetOperation {
                    op,
                    set_quantifier,
                    left,
                    right,
                },
                _,
            ) if is_intersection(op) == own => {
                waiting.push((Some((*op, *set_quantifier)), &**right));
                waiting.push((before, &**left));
            }
            (_, Some((op, quantifier))) => steps.push((op, quantifier, part)),
            (_, None) => first = part,
        }
    }
    (first, steps)
}

/// Joins operands in their order: to a tree that leans to the left, or one as low as possible.
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
    let left = |steps: Vec<(Op, T)>| match steps.is_empty() {
        true => first,
        false => low(first, steps, node),
    };
    match behind.next() {
        None => left(steps),
        Some((op, middle)) => {
            let rest: Vec<(Op, T)> = behind.collect();
            let right = match rest.is_empty() {
                true => middle,
                false => low(middle, rest, node),
            };
            node(left(steps), op, right)
        }
    }
}

/// How many levels a chain of so many steps adds to its highest operand.
pub(crate) fn levels(steps: usize) -> u32 {
    match steps < LEANING_MAX {
        true => steps as u32,
        false => usize::BITS - steps.leading_zeros() + 1,
    }
}
