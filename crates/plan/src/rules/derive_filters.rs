//! What a condition over several tables says of one of them: of
//! `(n1.name = 'a' AND n2.name = 'b') OR (n1.name = 'b' AND n2.name = 'a')` follows
//! `n1.name = 'a' OR n1.name = 'b'`, which the scan of `n1` can check before anything is joined.
//!
//! The condition itself stays where it is: what is derived is implied by it and only keeps rows out
//! early. That is why scans alone get such filters, and no text of the statement shows them.

use super::planning::Planning;
use super::rule::is_movable;
use crate::predicates::implied;
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnSet, Query, Relation, Scan, has_subquery, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.or_factoring {
        return;
    }
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Filter { input, predicates } => {
            for predicate in predicates.iter().filter(|one| is_source(one)) {
                derive(input, predicate);
            }
        }
        Relation::Join(join) if join.kind != JoinKind::NullAwareAnti => {
            for predicate in join.on.iter().filter(|one| is_source(one)) {
                // Rows of the left side of other joins come out whatever the condition says of them.
                if matches!(join.kind, JoinKind::Inner | JoinKind::Semi) {
                    derive(&mut join.left, predicate);
                }
                derive(&mut join.right, predicate);
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

/// Gives the scans below a relation what a condition on its rows says of theirs.
fn derive(relation: &mut Relation, predicate: &Expression) {
    with_stack(|| match relation {
        Relation::Scan(scan) => {
            let own: ColumnSet = (scan.first..=scan.position()).collect();
            let read = predicate.columns();
            if read.intersects(&own)
                && !read.is_subset(&own)
                && let Some(derived) = implied(predicate, &own)
            {
                add(scan, derived);
            }
        }
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort {
            input, limit: None, ..
        } => derive(input, predicate),
        Relation::Join(join) => {
            derive(&mut join.left, predicate);
            if join.kind == JoinKind::Inner {
                derive(&mut join.right, predicate);
            }
        }
        _ => {}
    });
}

fn add(scan: &mut Scan, derived: Expression) {
    let mut known = scan.predicates.iter();
    if !known.any(|one| same_expression(one, &derived)) {
        scan.predicates.push(derived);
    }
}
