//! Predicate pushdown: conditions move down to the source of their columns: into the scans of base tables, through
//! joins and derived tables, into the arms of set operations, below GROUP BY when they read its keys only. A condition
//! over both sides of an inner join becomes part of the join's condition, where an equality makes it a hash join.

use mayfly_types::{CollationId, SqlType, TypeKind};

use super::planning::Planning;
use super::rule::{is_movable, substitute};
use super::simplify_predicates::simplify_all;
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Computed, Join, Query, Relation, Window, has_subquery, produced,
    with_stack,
};
use crate::tree::physical::{JoinKind, SetOperationKind};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    query.for_each_block_mut(&mut |relation| push_into(relation, Vec::new(), planning.options));
}

/// Pushes conditions, and those in a relation already, as far down in it as possible.
pub(super) fn push_into(
    relation: &mut Relation,
    predicates: Vec<Expression>,
    options: &PlanOptions,
) {
    let push = Push {
        // A row that is removed sets no variable.
        through_derived: options.switches.derived_condition_pushdown && !options.sets_variables,
    };
    push.down(relation, predicates);
}

struct Push {
    /// `derived_condition_pushdown`, if no expression sets a variable.
    through_derived: bool,
}

impl Push {
    /// Pushes conditions on a relation's rows as far down as possible.
    fn down(&self, relation: &mut Relation, predicates: Vec<Expression>) {
        with_stack(|| {
            let above = self.into_inputs(relation, predicates);
            if !above.is_empty() {
                *relation = relation.take().filtered(above);
            }
        });
    }

    /// Pushes conditions into a relation or below it; returns those that must stay above.
    fn into_inputs(&self, relation: &mut Relation, predicates: Vec<Expression>) -> Vec<Expression> {
        let (input, (below, above)) = match relation {
            Relation::Filter {
                input,
                predicates: own,
            } => {
                let mut all = std::mem::take(own);
                all.extend(predicates);
                *relation = input.take();
                self.down(relation, all);
                return Vec::new();
            }
            Relation::Scan(scan) => {
                let (inside, above) = split(predicates, |p| is_movable(p) && !has_subquery(p));
                scan.predicates.extend(inside);
                return above;
            }
            Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                (input, through_computed(predicates, columns))
            }
            Relation::Sort {
                input, limit: None, ..
            } => (input, split(predicates, is_movable)),
            Relation::Block { input, derived, .. } => {
                let open = derived.is_none() || self.through_derived;
                (input, split(predicates, |p| open && is_movable(p)))
            }
            Relation::Aggregate(aggregate) => {
                let (below, above) = through_groups(aggregate, predicates);
                (&mut aggregate.input, (below, above))
            }
            Relation::Window(window) => {
                let merged: Vec<(ColumnId, CollationId)> = partition_of(window);
                let is_of_partition = |predicate: &Expression| {
                    let columns = predicate.columns();
                    is_movable(predicate)
                        && !has_subquery(predicate)
                        && !columns.is_empty()
                        && columns
                            .iter()
                            .all(|id| merged.iter().any(|(known, _)| *known == id))
                        && same_for_equals(predicate, &merged)
                };
                (&mut window.input, split(predicates, is_of_partition))
            }
            Relation::SetOperation {
                kind,
                all,
                inputs,
                columns,
                types,
            } => {
                let is_union_all = *all && *kind == SetOperationKind::Union;
                return self.into_arms(inputs, is_union_all, columns, types, predicates);
            }
            Relation::Join(join) => return self.into_sides(join, predicates),
            other => {
                other.for_each_input_mut(&mut |input| self.down(input, Vec::new()));
                return predicates;
            }
        };
        self.down(input, below);
        above
    }

    fn into_arms(
        &self,
        inputs: &mut [(Relation, Vec<ColumnId>)],
        is_union_all: bool,
        columns: &[ColumnId],
        types: &[SqlType],
        predicates: Vec<Expression>,
    ) -> Vec<Expression> {
        let merged: Vec<(ColumnId, CollationId)> = columns
            .iter()
            .zip(types)
            .map(|(id, ty)| (*id, ty.collation))
            .collect();
        let (below, above) = split(predicates, |predicate| {
            is_movable(predicate)
                && !has_subquery(predicate)
                && (is_union_all || same_for_equals(predicate, &merged))
        });
        for (input, ids) in inputs {
            let of_arm = columns.iter().zip(&*ids).zip(types);
            let of_arm = of_arm.map(|((column, id), ty)| Computed {
                id: *column,
                expression: Expression::column(*id, ty.clone(), true),
            });
            let own = replaced(below.clone(), &of_arm.collect::<Vec<_>>());
            self.down(input, own);
        }
        above
    }

    fn into_sides(&self, join: &mut Join, predicates: Vec<Expression>) -> Vec<Expression> {
        let left = produced(&join.left);
        let right = produced(&join.right);
        let (mut to_left, mut to_right) = (Vec::new(), Vec::new());
        let mut above = Vec::new();
        let own = std::mem::take(&mut join.on);
        let inner = join.kind == JoinKind::Inner;
        for predicate in predicates {
            let columns = predicate.columns();
            if !is_movable(&predicate) {
                above.push(predicate);
            } else if !columns.intersects(&right) {
                to_left.push(predicate);
            } else if !inner {
                above.push(predicate);
            } else if !columns.intersects(&left) {
                to_right.push(predicate);
            } else {
                join.on.push(predicate);
            }
        }
        for predicate in own {
            let columns = predicate.columns();
            // A row of the preserved side stays whatever the condition.
            let from_left = matches!(join.kind, JoinKind::Inner | JoinKind::Semi);
            if !is_movable(&predicate) || join.kind == JoinKind::NullAwareAnti {
                join.on.push(predicate);
            } else if !columns.intersects(&left) && columns.intersects(&right) {
                to_right.push(predicate);
            } else if !columns.intersects(&right) && from_left {
                to_left.push(predicate);
            } else {
                join.on.push(predicate);
            }
        }
        self.down(&mut join.left, to_left);
        self.down(&mut join.right, to_right);
        above
    }
}

/// Partition columns of a window: a condition on these alone removes whole partitions.
fn partition_of(window: &Window) -> Vec<(ColumnId, CollationId)> {
    let partition = window.partition.iter();
    let columns = partition.filter_map(|key| match key.kind {
        ExpressionKind::Column(id) => Some((id, key.ty.collation)),
        _ => None,
    });
    columns.collect()
}

/// (conditions on groups that can be pushed to their rows, others).
fn through_groups(
    aggregate: &Aggregate,
    predicates: Vec<Expression>,
) -> (Vec<Expression>, Vec<Expression>) {
    let fixed =
        aggregate.keys.is_empty() || aggregate.rollup.is_some() || aggregate.first_groups.is_some();
    // A volatile key would have another value below.
    let keys: Vec<(ColumnId, CollationId)> = aggregate
        .keys
        .iter()
        .filter(|key| is_movable(&key.expression))
        .map(|key| (key.id, key.expression.ty.collation))
        .collect();
    let (below, above) = split(predicates, |predicate| {
        !fixed
            && is_movable(predicate)
            && !has_subquery(predicate)
            && predicate
                .columns()
                .iter()
                .all(|id| !produces(aggregate, id) || keys.iter().any(|(key, _)| *key == id))
            && same_for_equals(predicate, &keys)
    });
    (replaced(below, &aggregate.keys), above)
}

fn split(
    predicates: Vec<Expression>,
    below: impl FnMut(&Expression) -> bool,
) -> (Vec<Expression>, Vec<Expression>) {
    predicates.into_iter().partition(below)
}

/// (conditions over computed columns in terms of their inputs, conditions that must stay above).
fn through_computed(
    predicates: Vec<Expression>,
    computed: &[Computed],
) -> (Vec<Expression>, Vec<Expression>) {
    let (below, above) = split(predicates, |predicate| {
        let columns = predicate.columns();
        let mut used = computed
            .iter()
            .filter(|column| columns.contains(column.id))
            .peekable();
        is_movable(predicate)
            && (used.peek().is_none()
                || used.all(|column| {
                    is_movable(&column.expression) && !has_subquery(&column.expression)
                }))
    });
    (replaced(below, computed), above)
}

/// Conditions with columns replaced by their expressions. Those that are constant decide comparisons: of the parts of a
/// union that a constant tells apart one is left.
fn replaced(mut predicates: Vec<Expression>, computed: &[Computed]) -> Vec<Expression> {
    for predicate in &mut predicates {
        substitute(predicate, computed);
    }
    let is_constant = |column: &Computed| column.expression.as_literal().is_some();
    if !predicates.is_empty() && computed.iter().any(is_constant) {
        simplify_all(&mut predicates);
    }
    predicates
}

fn produces(aggregate: &Aggregate, id: ColumnId) -> bool {
    aggregate.keys.iter().any(|key| key.id == id)
        || aggregate.aggregates.iter().any(|(known, _)| *known == id)
}

/// Whether a predicate is equally true for all equal values. Strings that are equal by their collation may differ in
/// bytes ('a' and 'A'), so only comparisons by that collation qualify.
fn same_for_equals(predicate: &Expression, columns: &[(ColumnId, CollationId)]) -> bool {
    let reads = |expression: &Expression| {
        let read = expression.columns();
        columns.iter().any(|(id, _)| read.contains(*id))
    };
    let plain = |expression: &Expression| match &expression.kind {
        ExpressionKind::Column(id) => columns
            .iter()
            .all(|(known, collation)| known != id || *collation == expression.ty.collation),
        _ => !reads(expression),
    };
    with_stack(|| match &predicate.kind {
        ExpressionKind::Compare { left, right, .. } if plain(left) && plain(right) => true,
        ExpressionKind::IsNull(operand) | ExpressionKind::InList { operand, .. }
            if plain(operand) =>
        {
            true
        }
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => operands
            .iter()
            .all(|operand| same_for_equals(operand, columns)),
        ExpressionKind::Not(operand) | ExpressionKind::IsTruth(operand, _) => {
            same_for_equals(operand, columns)
        }
        _ => only_exact(predicate, columns),
    })
}

/// Whether all of `columns` that an expression reads have one representation for each value.
fn only_exact(expression: &Expression, columns: &[(ColumnId, CollationId)]) -> bool {
    let mut exact = true;
    crate::tree::logical::visit_expression(expression, &mut |inner| {
        if let ExpressionKind::Column(id) = inner.kind
            && columns.iter().any(|(known, _)| *known == id)
        {
            let ty = &inner.ty;
            exact &= ty.is_binary_string()
                || !(ty.is_string()
                    || matches!(ty.kind, TypeKind::Json | TypeKind::Float | TypeKind::Double));
        }
        exact
    });
    exact
}
