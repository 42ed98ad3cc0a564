//! Derives filters on single tables from a condition over several: `(n1.name = 'a' AND n2.name = 'b') OR (n1.name = 'b'
//! AND n2.name = 'a')` implies `n1.name = 'a' OR n1.name = 'b'`, which the scan of `n1` can check before the join.
//!
//! The condition itself stays where it is: a derived filter is implied by it and only removes rows early. That is why
//! only scans and derived tables get such filters, and no text of the statement shows them.

use super::planning::Planning;
use super::push_predicates::push_into;
use super::rule::is_movable;
use crate::predicates::implied;
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnSet, Query, Relation, Scan, has_subquery, produced, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.or_factoring {
        return;
    }
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Filter { input, predicates } => {
            for predicate in predicates.iter().filter(|one| is_source(one)) {
                derive(input, predicate, planning);
            }
        }
        Relation::Join(join) if join.kind != JoinKind::NullAwareAnti => {
            for predicate in join.on.iter().filter(|one| is_source(one)) {
                // Other joins keep rows of the left side whatever the condition.
                if matches!(join.kind, JoinKind::Inner | JoinKind::Semi) {
                    derive(&mut join.left, predicate, planning);
                }
                derive(&mut join.right, predicate, planning);
            }
        }
        _ => {}
    });
}

fn is_source(predicate: &Expression) -> bool {
    matches!(predicate.kind, ExpressionKind::Or(_))
        && is_movable(predicate)
        && !has_subquery(predicate)
}

/// Adds the filters that a condition on the rows of a relation implies to the tables below.
fn derive(relation: &mut Relation, predicate: &Expression, planning: &Planning<'_>) {
    with_stack(|| match relation {
        Relation::Scan(scan) => {
            let own = (scan.first..=scan.position()).collect();
            if let Some(derived) = of_part(predicate, &own) {
                add(scan, derived);
            }
        }
        Relation::Block {
            derived: Some(_), ..
        } if planning.options.switches.derived_condition_pushdown => {
            if let Some(derived) = of_part(predicate, &produced(relation)) {
                push_into(relation, vec![derived], planning.options);
            }
        }
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort {
            input, limit: None, ..
        } => derive(input, predicate, planning),
        Relation::Join(join) => {
            derive(&mut join.left, predicate, planning);
            if join.kind == JoinKind::Inner {
                derive(&mut join.right, predicate, planning);
            }
        }
        _ => {}
    });
}

/// The condition on some columns that a condition on more columns implies.
fn of_part(predicate: &Expression, own: &ColumnSet) -> Option<Expression> {
    let read = predicate.columns();
    let is_part = read.intersects(own) && !read.is_subset(own);
    is_part.then(|| implied(predicate, own)).flatten()
}

fn add(scan: &mut Scan, derived: Expression) {
    let mut known = scan.predicates.iter();
    if !known.any(|one| same_expression(one, &derived)) {
        scan.predicates.push(derived);
    }
}
