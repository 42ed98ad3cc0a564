//! DISTINCT over rows that cannot be equal is left out: they hold a unique key, what of it no condition
//! fixes, or the keys of a GROUP BY.

use mayfly_types::SqlType;

use super::planning::Planning;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, Computed, Join, Query, Relation, produced};
use crate::tree::physical::{JoinKind, Purpose};

pub(super) fn apply(query: &mut Query, _planning: &Planning<'_>) {
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation
            && aggregate.purpose == Purpose::Distinct
            && is_unique(
                &aggregate.input,
                &aggregate
                    .keys
                    .iter()
                    .filter_map(|key| key.expression.as_column())
                    .collect(),
            )
        {
            let computed = aggregate.keys.drain(..).filter(|key| !is_itself(key));
            let columns = computed.collect();
            *relation = aggregate.input.take().extended(columns);
        }
    });
}

/// Whether a key is a column of the input under its own number.
fn is_itself(key: &Computed) -> bool {
    matches!(key.expression.kind, ExpressionKind::Column(id) if id == key.id)
}

/// Whether no two rows of a relation agree in all of `columns`.
pub(super) fn is_unique(relation: &Relation, columns: &ColumnSet) -> bool {
    match relation {
        Relation::Scan(scan) => {
            let is_known = |index: &usize| {
                let id = scan.first + index;
                let ty = scan.table.columns.get(*index).map(|column| &column.ty);
                let fixes = |one: &Expression| ty.is_some_and(|ty| is_fixed(one, id, ty));
                columns.contains(id) || scan.predicates.iter().any(fixes)
            };
            let mut keys = scan.table.unique_keys.iter();
            keys.any(|key| key.iter().all(is_known))
        }
        Relation::Filter { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Block { input, .. } => is_unique(input, columns),
        Relation::Aggregate(aggregate) => {
            aggregate.rollup.is_none() && aggregate.keys.iter().all(|key| columns.contains(key.id))
        }
        Relation::Join(join) if join.kind.is_left_only() => is_unique(&join.left, columns),
        Relation::Join(join) => {
            let is_inner = join.kind == JoinKind::Inner;
            has_one_partner(join, &join.right) && is_unique(&join.left, columns)
                || is_inner && has_one_partner(join, &join.left) && is_unique(&join.right, columns)
        }
        _ => false,
    }
}

/// Whether each row of one side of a join has at most one partner on the other one.
fn has_one_partner(join: &Join, side: &Relation) -> bool {
    let own = produced(side);
    let mut fixed = ColumnSet::new();
    for predicate in &join.on {
        let ExpressionKind::Compare {
            comparison: Comparison::Equal,
            left,
            right,
        } = &predicate.kind
        else {
            continue;
        };
        for (column, value) in [(left, right), (right, left)] {
            // Texts that are equal by one collation may differ by that of a key.
            if let Some(id) = column.as_column()
                && own.contains(id)
                && !column.ty.is_string()
                && !value.columns().intersects(&own)
            {
                fixed.insert(id);
            }
        }
    }
    !fixed.is_empty() && is_unique(side, &fixed)
}

/// Whether a condition leaves one value of a column of a type.
fn is_fixed(predicate: &Expression, column: ColumnId, ty: &SqlType) -> bool {
    let ExpressionKind::Compare {
        comparison: Comparison::Equal,
        left,
        right,
    } = &predicate.kind
    else {
        return false;
    };
    let is_column = |side: &Expression| {
        matches!(side.kind, ExpressionKind::Column(id) if id == column)
            && (!ty.is_string() || side.ty.collation == ty.collation)
    };
    let is_value = |side: &Expression| {
        matches!(
            side.kind,
            ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)
        )
    };
    (is_column(left) && is_value(right)) || (is_column(right) && is_value(left))
}
