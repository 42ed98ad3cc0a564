//! Outer join simplification: an outer join whose NULL-extended rows a condition above it rejects becomes an inner join
//! (the manual, "Outer Join Simplification").
//!
//! The condition may stand anywhere above: beyond other joins, derived tables, grouping by the columns that it reads,
//! the arms of a set operation. A condition that rejects NULLs makes the joins below it inner ones, and then their
//! conditions reject NULLs of the joins below these.

use super::planning::Planning;
use super::rule::{is_movable, rejects_nulls, substitute};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnSet, Computed, Query, Relation, has_subquery, produced, with_stack,
};
use crate::tree::physical::JoinKind;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.outer_join_simplification {
        return;
    }
    query.for_each_block_mut(&mut |relation| {
        if has_outer_join(relation) {
            simplify(relation, &[]);
        }
    });
}

/// Simplifies the outer joins of a query block whose NULL-extended rows its own conditions reject.
pub(crate) fn simplify_outer_joins(relation: &mut Relation) {
    simplify(relation, &[]);
}

fn has_outer_join(relation: &Relation) -> bool {
    if matches!(relation, Relation::Join(join) if join.kind == JoinKind::Left) {
        return true;
    }
    let mut inputs = relation.inputs().into_iter();
    inputs.any(|input| with_stack(|| has_outer_join(input)))
}

/// Simplifies a relation. `above`: conditions that every used row must meet.
fn simplify(relation: &mut Relation, above: &[Expression]) {
    with_stack(|| match relation {
        Relation::Filter { input, predicates } => {
            let mut all = above.to_vec();
            all.extend(predicates.iter().cloned());
            simplify(input, &all);
        }
        Relation::Extend { input, columns } | Relation::Project { input, columns } => {
            simplify(input, &over(above, columns));
        }
        Relation::Sort {
            input, limit: None, ..
        }
        | Relation::Block { input, .. } => simplify(input, above),
        Relation::Aggregate(aggregate) => {
            let of_groups = of_keys(aggregate, above);
            simplify(&mut aggregate.input, &of_groups);
        }
        Relation::SetOperation {
            inputs, columns, ..
        } => {
            for (input, ids) in inputs {
                let of_arm = columns.iter().zip(ids).map(|(column, id)| (*column, *id));
                let of_arm: Vec<(usize, usize)> = of_arm.collect();
                simplify(input, &renamed(above, &of_arm));
            }
        }
        Relation::Join(join) => {
            if join.kind == JoinKind::Left {
                let inner = produced(&join.right);
                if above.iter().any(|one| rejects_nulls(one, &inner)) {
                    join.kind = JoinKind::Inner;
                }
            }
            let on = &join.on;
            match join.kind {
                JoinKind::Inner | JoinKind::Semi => {
                    let mut both = above.to_vec();
                    both.extend(on.iter().cloned());
                    simplify(&mut join.left, &both);
                    let of_right = if join.kind == JoinKind::Inner {
                        &both
                    } else {
                        on
                    };
                    simplify(&mut join.right, of_right);
                }
                JoinKind::Left | JoinKind::Anti => {
                    simplify(&mut join.left, above);
                    simplify(&mut join.right, on);
                }
                JoinKind::NullAwareAnti => {
                    simplify(&mut join.left, above);
                    simplify(&mut join.right, &[]);
                }
            }
        }
        other => other.for_each_input_mut(&mut |input| simplify(input, &[])),
    });
}

/// Conditions with columns replaced by their expressions.
fn over(above: &[Expression], columns: &[Computed]) -> Vec<Expression> {
    let mut above = above.to_vec();
    let plain =
        |column: &&Computed| is_movable(&column.expression) && !has_subquery(&column.expression);
    let columns: Vec<Computed> = columns.iter().filter(plain).cloned().collect();
    above.iter_mut().for_each(|one| substitute(one, &columns));
    above
}

/// Conditions that read only the keys of groups, in terms of the input's columns.
fn of_keys(aggregate: &Aggregate, above: &[Expression]) -> Vec<Expression> {
    if aggregate.rollup.is_some() || aggregate.keys.is_empty() {
        return Vec::new();
    }
    let calls: ColumnSet = aggregate.aggregates.iter().map(|(id, _)| *id).collect();
    let shared = above.iter().filter(|one| !one.columns().intersects(&calls));
    over(&shared.cloned().collect::<Vec<_>>(), &aggregate.keys)
}

fn renamed(above: &[Expression], names: &[(usize, usize)]) -> Vec<Expression> {
    let mut above = above.to_vec();
    for one in &mut above {
        crate::tree::logical::visit_deep_mut(one, &mut |inner| {
            if let ExpressionKind::Column(id) = &mut inner.kind
                && let Some((_, own)) = names.iter().find(|(column, _)| column == id)
            {
                *id = *own;
            }
            true
        });
    }
    above
}
