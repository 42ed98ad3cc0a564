//! Uniqueness of rows: relations that contain a unique key, or one with its other columns fixed by conditions, or the
//! keys of a GROUP BY.

use mayfly_types::{CollationId, SqlType};

use super::rule::Steps;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, Computed, Join, Relation, produced, with_stack};
use crate::tree::physical::JoinKind;

/// Whether no two rows of a relation agree in all of `columns`.
pub(super) fn is_unique(relation: &Relation, columns: &ColumnSet) -> bool {
    tells_apart(relation, columns, &Steps::enough())
}

/// Whether each row of the join has at most one partner on `side`.
pub(super) fn has_one_partner(join: &Join, side: &Relation) -> bool {
    has_one(join, side, &Steps::enough())
}

fn tells_apart(relation: &Relation, columns: &ColumnSet, steps: &Steps) -> bool {
    if !steps.take() {
        return false;
    }
    with_stack(|| match relation {
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
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. }
        | Relation::Block { input, .. }
        | Relation::Materialize { input, .. } => tells_apart(input, columns, steps),
        Relation::Window(window) => tells_apart(&window.input, columns, steps),
        Relation::Extend {
            input,
            columns: computed,
        }
        | Relation::Project {
            input,
            columns: computed,
        } => tells_apart(input, &behind(columns, computed, input), steps),
        Relation::Aggregate(aggregate) => {
            aggregate.rollup.is_none() && aggregate.keys.iter().all(|key| columns.contains(key.id))
        }
        Relation::Join(join) if join.kind.is_left_only() => tells_apart(&join.left, columns, steps),
        Relation::Join(join) => {
            let right = || tells_apart(&join.right, columns, steps);
            // Pairs that agree in both sides' keys agree in both sides.
            if tells_apart(&join.left, columns, steps) {
                has_one(join, &join.right, steps) || right()
            } else {
                join.kind == JoinKind::Inner && right() && has_one(join, &join.left, steps)
            }
        }
        Relation::SetOperation {
            all, columns: own, ..
        } => !all && own.iter().all(|id| columns.contains(*id)),
        Relation::Values { rows, .. } => rows.len() < 2,
        Relation::SharedScan { .. } => false,
    })
}

/// Input columns of some columns that only rename others.
fn behind(columns: &ColumnSet, computed: &[Computed], input: &Relation) -> ColumnSet {
    let mut behind = columns.clone();
    let computed = computed.iter().filter(|one| columns.contains(one.id));
    behind.extend(computed.filter_map(|one| compared_column(&one.expression, input)));
    behind
}

/// Column of a relation that an expression is, if its values are compared as the relation's are.
pub(super) fn compared_column(expression: &Expression, relation: &Relation) -> Option<ColumnId> {
    let id = expression.as_column()?;
    let ty = &expression.ty;
    (!ty.is_string() || collation_of(relation, id) == Some(ty.collation)).then_some(id)
}

/// Collation by which texts of a column are compared at their source.
fn collation_of(relation: &Relation, id: ColumnId) -> Option<CollationId> {
    let of_computed = |columns: &[Computed]| {
        let made = columns.iter().find(|column| column.id == id);
        made.map(|column| column.expression.ty.collation)
    };
    let of_inputs = || {
        let mut inputs = relation.inputs().into_iter();
        inputs.find_map(|input| with_stack(|| collation_of(input, id)))
    };
    match relation {
        Relation::Scan(scan) => {
            let at = id.checked_sub(scan.first)?;
            scan.table.columns.get(at).map(|column| column.ty.collation)
        }
        Relation::Extend { columns, .. } => of_computed(columns).or_else(of_inputs),
        Relation::Project { columns, .. } => of_computed(columns),
        Relation::Aggregate(aggregate) => of_computed(&aggregate.keys),
        Relation::SetOperation { columns, types, .. } => {
            let at = columns.iter().position(|column| *column == id)?;
            types.get(at).map(|ty| ty.collation)
        }
        _ => of_inputs(),
    }
}

fn has_one(join: &Join, side: &Relation, steps: &Steps) -> bool {
    let own = produced(side);
    let mut fixed = ColumnSet::new();
    for predicate in &join.on {
        let Some((left, right)) = predicate.as_equality() else {
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
    !fixed.is_empty() && tells_apart(side, &fixed, steps)
}

/// Whether a condition leaves one value of a column of a type.
fn is_fixed(predicate: &Expression, column: ColumnId, ty: &SqlType) -> bool {
    let Some((left, right)) = predicate.as_equality() else {
        return false;
    };
    let is_column = |side: &Expression| {
        side.as_column() == Some(column) && (!ty.is_string() || side.ty.collation == ty.collation)
    };
    let is_value = |side: &Expression| {
        matches!(
            side.kind,
            ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)
        )
    };
    (is_column(left) && is_value(right)) || (is_column(right) && is_value(left))
}
