//! Factoring of disjunctions: `(a AND b) OR (a AND c)` becomes `a AND (b OR c)`, which holds in three-valued logic too,
//! where AND and OR distribute over each other. A join condition that is factored out can then be used by the join, and
//! need not be checked for every pair of rows.

use super::planning::Planning;
use crate::predicates::{conjunction, conjuncts, or};
use crate::tree::expression::{Comparison, Expression, ExpressionKind, same_expression};
use crate::tree::logical::{Query, Relation, has_subquery};
use crate::walk::with_stack;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.or_factoring {
        return;
    }
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Filter { predicates, .. } => factor_all(predicates),
        Relation::Join(join) => factor_all(&mut join.on),
        _ => {}
    });
}

fn factor_all(predicates: &mut Vec<Expression>) {
    let is_disjunction = |one: &Expression| matches!(one.kind, ExpressionKind::Or(_));
    if !predicates.iter().any(is_disjunction) {
        return;
    }
    let mut factored = Vec::with_capacity(predicates.len());
    for predicate in predicates.drain(..) {
        factored.extend(factors(predicate));
    }
    *predicates = factored;
}

/// Conjuncts of a condition.
fn factors(predicate: Expression) -> Vec<Expression> {
    let Expression { kind, ty, nullable } = predicate;
    let ExpressionKind::Or(arms) = kind else {
        return vec![Expression { kind, ty, nullable }];
    };
    let arms = arms.into_iter();
    let mut arms: Vec<Vec<Expression>> = arms
        .map(|arm| {
            let parts = conjuncts(arm).into_iter();
            parts
                .flat_map(|part| with_stack(|| factors(part)))
                .collect()
        })
        .collect();
    let common = take_common(&mut arms);
    // An arm that has only the common conditions makes the rest true.
    let mut rest: Vec<Expression> = Vec::with_capacity(arms.len());
    for arm in arms {
        let Some(arm) = conjunction(arm) else {
            return common;
        };
        rest.push(arm);
    }
    let mut factored = common;
    factored.push(or(rest));
    factored
}

/// Removes the conditions common to all conjunctions.
fn take_common(arms: &mut [Vec<Expression>]) -> Vec<Expression> {
    let mut common = Vec::new();
    let Some((first, others)) = arms.split_first_mut() else {
        return common;
    };
    let mut at = 0;
    while at < first.len() {
        let wanted = &first[at];
        let has = |arm: &Vec<Expression>| arm.iter().any(|one| is_same(one, wanted));
        if has_subquery(wanted) || !others.iter().all(has) {
            at += 1;
            continue;
        }
        let wanted = first.remove(at);
        first.retain(|one| !is_same(one, &wanted));
        for arm in &mut *others {
            arm.retain(|one| !is_same(one, &wanted));
        }
        common.push(wanted);
    }
    common
}

/// Whether two conditions are equal, or comparisons that are each other's mirror image.
fn is_same(a: &Expression, b: &Expression) -> bool {
    if same_expression(a, b) {
        return true;
    }
    let (
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        },
        ExpressionKind::Compare {
            comparison: other,
            left: other_left,
            right: other_right,
        },
    ) = (&a.kind, &b.kind)
    else {
        return false;
    };
    comparison.mirrored() == *other
        && *comparison != Comparison::NullSafeEqual
        && left.ty.collation == right.ty.collation
        && same_expression(left, other_right)
        && same_expression(right, other_left)
}
