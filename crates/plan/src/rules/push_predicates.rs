//! Conditions move down to where their columns come from: into the scans of base tables, through
//! joins and derived tables, into the arms of set operations, below GROUP BY when they read its
//! keys only. A condition over both sides of an inner join becomes part of the join's condition,
//! where an equality makes it a hash join.

use mayfly_types::{CollationId, TypeKind};

use super::rule::{Rule, is_movable, substitute};
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Computed, DerivedTable, Join, Query, Relation, has_subquery, produced,
    with_stack,
};
use crate::tree::physical::{JoinKind, SetOperationKind};

pub(super) struct PushPredicates;

impl Rule for PushPredicates {
    fn name(&self) -> &'static str {
        "push_predicates"
    }

    fn apply(&self, query: &mut Query, options: &PlanOptions) {
        let push = Push {
            through_derived: options.switches.derived_condition_pushdown,
        };
        query.for_each_block_mut(&mut |relation| {
            *relation = push.down(relation.take(), Vec::new());
        });
    }
}

struct Push {
    /// `derived_condition_pushdown`
    through_derived: bool,
}

impl Push {
    /// The relation with these conditions on its rows, as far down as they may stand.
    fn down(&self, relation: Relation, predicates: Vec<Expression>) -> Relation {
        with_stack(|| self.down_relation(relation, predicates))
    }

    fn down_relation(&self, relation: Relation, predicates: Vec<Expression>) -> Relation {
        match relation {
            Relation::Filter {
                input,
                predicates: mut own,
            } => {
                own.extend(predicates);
                self.down(*input, own)
            }
            Relation::Scan(mut scan) => {
                let (inside, above) = split(predicates, |p| is_movable(p) && !has_subquery(p));
                scan.predicates.extend(inside);
                Relation::Scan(scan).filtered(above)
            }
            Relation::Extend { input, columns } => {
                let (below, above) = through_computed(predicates, &columns);
                Relation::Extend {
                    input: Box::new(self.down(*input, below)),
                    columns,
                }
                .filtered(above)
            }
            Relation::Project { input, columns } => {
                let (below, above) = through_computed(predicates, &columns);
                Relation::Project {
                    input: Box::new(self.down(*input, below)),
                    columns,
                }
                .filtered(above)
            }
            Relation::Sort {
                input,
                keys,
                limit: None,
                cause,
            } => {
                let (below, above) = split(predicates, is_movable);
                Relation::Sort {
                    input: Box::new(self.down(*input, below)),
                    keys,
                    limit: None,
                    cause,
                }
                .filtered(above)
            }
            Relation::Block {
                input,
                select_id,
                derived,
            } => self.down_block(*input, select_id, derived, predicates),
            Relation::Aggregate(aggregate) => self.down_aggregate(aggregate, predicates),
            Relation::SetOperation { .. } => self.down_set_operation(relation, predicates),
            Relation::Join(join) => self.down_join(join, predicates),
            mut other => {
                other.for_each_input_mut(&mut |input| {
                    *input = self.down(input.take(), Vec::new());
                });
                other.filtered(predicates)
            }
        }
    }

    fn down_block(
        &self,
        input: Relation,
        select_id: usize,
        derived: Option<Box<DerivedTable>>,
        predicates: Vec<Expression>,
    ) -> Relation {
        let open = derived.is_none() || self.through_derived;
        let (below, above) = split(predicates, |p| open && is_movable(p));
        Relation::Block {
            input: Box::new(self.down(input, below)),
            select_id,
            derived,
        }
        .filtered(above)
    }

    fn down_aggregate(&self, mut aggregate: Aggregate, predicates: Vec<Expression>) -> Relation {
        let fixed = aggregate.keys.is_empty()
            || aggregate.rollup.is_some()
            || aggregate.first_groups.is_some();
        let keys: Vec<(ColumnId, CollationId)> = aggregate
            .keys
            .iter()
            .map(|key| (key.id, key.expression.ty.collation))
            .collect();
        let (below, above) = split(predicates, |predicate| {
            !fixed
                && is_movable(predicate)
                && !has_subquery(predicate)
                && predicate
                    .columns()
                    .iter()
                    .all(|id| !produces(&aggregate, id) || keys.iter().any(|(key, _)| *key == id))
                && same_for_equals(predicate, &keys)
        });
        let below = replaced(below, &aggregate.keys);
        aggregate.input = Box::new(self.down(*aggregate.input, below));
        Relation::Aggregate(aggregate).filtered(above)
    }

    fn down_set_operation(&self, relation: Relation, predicates: Vec<Expression>) -> Relation {
        let Relation::SetOperation {
            kind,
            all,
            inputs,
            columns,
            types,
        } = relation
        else {
            return relation.filtered(predicates);
        };
        let merged: Vec<(ColumnId, CollationId)> = columns
            .iter()
            .zip(&types)
            .map(|(id, ty)| (*id, ty.collation))
            .collect();
        let (below, above) = split(predicates, |predicate| {
            is_movable(predicate)
                && !has_subquery(predicate)
                && (all && kind == SetOperationKind::Union || same_for_equals(predicate, &merged))
        });
        let inputs = inputs
            .into_iter()
            .map(|(input, ids)| {
                let values: Vec<(ColumnId, Expression)> = columns
                    .iter()
                    .zip(&ids)
                    .zip(&types)
                    .map(|((column, id), ty)| (*column, Expression::column(*id, ty.clone(), true)))
                    .collect();
                let replacements: Vec<_> = values.iter().map(|(id, value)| (*id, value)).collect();
                let mut own = below.clone();
                own.iter_mut()
                    .for_each(|predicate| substitute(predicate, &replacements));
                (self.down(input, own), ids)
            })
            .collect();
        Relation::SetOperation {
            kind,
            all,
            inputs,
            columns,
            types,
        }
        .filtered(above)
    }

    fn down_join(&self, mut join: Join, predicates: Vec<Expression>) -> Relation {
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
            // A row of the preserved side stays whatever the condition says of it.
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
        join.left = Box::new(self.down(*join.left, to_left));
        join.right = Box::new(self.down(*join.right, to_right));
        Relation::Join(join).filtered(above)
    }
}

fn split(
    predicates: Vec<Expression>,
    below: impl FnMut(&Expression) -> bool,
) -> (Vec<Expression>, Vec<Expression>) {
    predicates.into_iter().partition(below)
}

/// Conditions over computed columns, in terms of what those are computed from, and those that must
/// stay above.
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

/// Puts what columns are computed from in their place.
fn replaced(mut predicates: Vec<Expression>, computed: &[Computed]) -> Vec<Expression> {
    let replacements: Vec<(ColumnId, &Expression)> = computed
        .iter()
        .map(|column| (column.id, &column.expression))
        .collect();
    for predicate in &mut predicates {
        substitute(predicate, &replacements);
    }
    predicates
}

fn produces(aggregate: &Aggregate, id: ColumnId) -> bool {
    aggregate.keys.iter().any(|key| key.id == id)
        || aggregate.aggregates.iter().any(|(known, _)| *known == id)
}

/// Whether a predicate is as true of one value as of any that is equal to it. Strings that are equal
/// by their collation may differ in bytes ('a' and 'A'), so only comparisons by that collation count.
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

/// Whether every one of `columns` that an expression reads has one representation for each value.
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
