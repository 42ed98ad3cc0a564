//! An outer join whose added rows a condition above it refuses is an inner join (the manual,
//! "Outer Join Simplification").

use super::planning::Planning;
use super::rule::rejects_nulls;
use crate::tree::expression::Expression;
use crate::tree::logical::{Query, Relation, produced, with_stack};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Filter { input, predicates } => {
            let above: Vec<&Expression> = predicates.iter().collect();
            simplify(input, &above);
        }
        Relation::Join(_) => simplify(relation, &[]),
        _ => {}
    });
}

/// `above`: what must be true of every row that is used.
fn simplify(relation: &mut Relation, above: &[&Expression]) {
    with_stack(|| match relation {
        Relation::Filter { input, predicates } => {
            let mut all = above.to_vec();
            all.extend(predicates.iter());
            simplify(input, &all);
        }
        Relation::Extend { input, .. }
        | Relation::Sort {
            input, limit: None, ..
        } => {
            simplify(input, above);
        }
        Relation::Join(join) => {
            if join.kind == JoinKind::Left {
                let inner = produced(&join.right);
                if above
                    .iter()
                    .any(|predicate| rejects_nulls(predicate, &inner))
                {
                    join.kind = JoinKind::Inner;
                }
            }
            let mut both = above.to_vec();
            both.extend(join.on.iter());
            match join.kind {
                JoinKind::Inner => {
                    simplify(&mut join.left, &both);
                    simplify(&mut join.right, &both);
                }
                JoinKind::Semi => {
                    simplify(&mut join.left, &both);
                    simplify(&mut join.right, &join.on.iter().collect::<Vec<_>>());
                }
                JoinKind::Left | JoinKind::Anti => {
                    simplify(&mut join.left, above);
                    simplify(&mut join.right, &join.on.iter().collect::<Vec<_>>());
                }
                JoinKind::NullAwareAnti => simplify(&mut join.left, above),
            }
        }
        _ => {}
    });
}
