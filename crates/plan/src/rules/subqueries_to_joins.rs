//! Conversion of subqueries in conditions to joins: IN and EXISTS to semijoins, NOT IN and NOT EXISTS to antijoins (the
//! manual, "Optimizing IN and EXISTS Subquery Predicates with Semijoin and Antijoin").
//!
//! A correlated subquery must be correlated by conditions only: those move from its WHERE into the condition of the
//! join. NOT IN over values that may be NULL is a join kind of its own, and only when it is not correlated. Other
//! subqueries are evaluated row by row, with results cached by the outer columns that they read.

use mayfly_types::TypeKind;

use super::planning::Planning;
use super::rule::{is_movable, substitute};
use crate::bind::compare_expression as compare;
use crate::document::{Document, Members};
use crate::trace::{Trace, number, object};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnSet, Computed, Join, Query, Relation, Subquery, SubqueryKind, free_columns, has_subquery,
    produced,
};
use crate::tree::physical::{JoinKind, Purpose};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.semijoin {
        if let Some(trace) = planning.trace {
            note_switched_off(query, trace);
        }
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Filter { input, predicates } = relation
            && predicates.iter().any(is_candidate)
        {
            let (joined, kept) = convert(input.take(), std::mem::take(predicates), planning);
            *relation = joined.filtered(kept);
        }
    });
}

fn is_candidate(predicate: &Expression) -> bool {
    let ExpressionKind::LogicalSubquery(subquery) = &predicate.kind else {
        return false;
    };
    match &subquery.kind {
        SubqueryKind::Exists { .. } => true,
        SubqueryKind::Quantified {
            left,
            comparison,
            all,
        } => {
            let known = matches!(
                (comparison, all),
                (Comparison::Equal, false) | (Comparison::NotEqual, true)
            );
            known
                && left.iter().all(|value| {
                    value.ty.kind != TypeKind::Json && is_movable(value) && !has_subquery(value)
                })
        }
        SubqueryKind::Scalar | SubqueryKind::Row { .. } => false,
    }
}

/// Records that no subquery is converted, since `optimizer_switch` disables it.
fn note_switched_off(query: &mut Query, trace: &Trace) {
    query.for_each_relation_mut(&mut |relation| {
        let Relation::Filter { predicates, .. } = relation else {
            return;
        };
        for predicate in predicates.iter().filter(|one| is_candidate(one)) {
            if let ExpressionKind::LogicalSubquery(subquery) = &predicate.kind {
                let what = transformed(subquery);
                note(what, Err("optimizer_switch semijoin=off"), trace);
            }
        }
    });
}

/// `select#` of a subquery, and its SQL predicate.
fn transformed(subquery: &Subquery) -> (usize, &'static str) {
    let name = match &subquery.kind {
        SubqueryKind::Exists { negated: true } => "NOT EXISTS (SELECT)",
        SubqueryKind::Exists { negated: false } => "EXISTS (SELECT)",
        SubqueryKind::Quantified { all: true, .. } => "NOT IN (SELECT)",
        _ => "IN (SELECT)",
    };
    (subquery.select_id, name)
}

/// Records that a subquery became a join of a kind, or did not.
fn note(
    (select_id, from): (usize, &'static str),
    kind: Result<JoinKind, &'static str>,
    trace: &Trace,
) {
    let to = match kind {
        Ok(JoinKind::Semi) => "semijoin",
        Err(_) if !from.starts_with("NOT") => "semijoin",
        _ => "antijoin",
    };
    let mut members: Members = vec![
        ("select#", number(select_id)),
        ("from", Document::from(from)),
        ("to", Document::from(to)),
        ("chosen", Document::from(kind.is_ok())),
    ];
    members.extend(kind.err().map(|cause| ("cause", Document::from(cause))));
    trace.prepared(object("transformation", members));
}

fn convert(
    mut input: Relation,
    predicates: Vec<Expression>,
    planning: &Planning<'_>,
) -> (Relation, Vec<Expression>) {
    let mut kept = Vec::with_capacity(predicates.len());
    let outer = produced(&input);
    for predicate in predicates {
        if !is_candidate(&predicate) || !is_movable(&predicate) {
            kept.push(predicate);
            continue;
        }
        let Expression { kind, ty, nullable } = predicate;
        let ExpressionKind::LogicalSubquery(subquery) = kind else {
            continue;
        };
        let what = transformed(&subquery);
        match join_of(*subquery, &outer) {
            Ok(shape) => {
                if let Some(trace) = planning.trace {
                    note(what, Ok(shape.kind), trace);
                }
                input = Relation::Join(Join {
                    null_aware: shape.null_aware,
                    ..Join::new(shape.kind, input, shape.right, shape.on)
                });
            }
            Err(subquery) => {
                if let Some(trace) = planning.trace {
                    note(what, Err("the subquery cannot be taken apart"), trace);
                }
                let kind = ExpressionKind::LogicalSubquery(subquery);
                kept.push(Expression::new(kind, ty, nullable));
            }
        }
    }
    (input, kept)
}

/// Result of the conversion: the right side of a join and its kind.
struct Shape {
    kind: JoinKind,
    right: Relation,
    on: Vec<Expression>,
    null_aware: Vec<(Expression, Expression)>,
}

/// The join for a subquery; the error returns the subquery.
fn join_of(subquery: Subquery, outer: &ColumnSet) -> Result<Shape, Box<Subquery>> {
    let correlated = free_columns(&subquery.relation).intersects(outer);
    let negated = match &subquery.kind {
        SubqueryKind::Exists { negated } => {
            // An uncorrelated EXISTS is evaluated once, up to its first row.
            if !correlated {
                return Err(Box::new(subquery));
            }
            *negated
        }
        SubqueryKind::Quantified { all, .. } => *all,
        SubqueryKind::Scalar | SubqueryKind::Row { .. } => return Err(Box::new(subquery)),
    };
    let pairs: Vec<(Expression, Expression)> = match &subquery.kind {
        SubqueryKind::Quantified { left, .. } => left
            .iter()
            .zip(&subquery.columns)
            .map(|(value, id)| {
                let column = Expression::column(*id, value.ty.clone(), subquery.nullable);
                (value.clone(), column)
            })
            .collect(),
        _ => Vec::new(),
    };
    let may_be_null = subquery.nullable || pairs.iter().any(|(value, _)| value.nullable);
    let null_aware = negated && may_be_null && !pairs.is_empty();
    if null_aware && (correlated || pairs.len() > 1) {
        return Err(Box::new(subquery));
    }
    let (right, on) = if correlated {
        let mut pulled = Pulled {
            outer: outer.clone(),
            on: Vec::new(),
            computed: Vec::new(),
        };
        let exists = pairs.is_empty();
        // The subquery is unchanged if it cannot be decorrelated.
        let relation = pulled.pull(subquery.relation.clone(), exists);
        let is_apart = |found: &Relation| !free_columns(found).intersects(&pulled.outer);
        let Some(relation) = relation.filter(is_apart) else {
            return Err(Box::new(subquery));
        };
        let Pulled { on, computed, .. } = pulled;
        (relation, finished(on, pairs, &computed, null_aware))
    } else {
        let on = finished(Vec::new(), pairs.clone(), &[], null_aware);
        if null_aware {
            return Ok(Shape {
                kind: JoinKind::NullAwareAnti,
                right: subquery.relation,
                on,
                null_aware: pairs,
            });
        }
        (subquery.relation, on)
    };
    Ok(Shape {
        kind: if negated {
            JoinKind::Anti
        } else {
            JoinKind::Semi
        },
        right,
        on,
        null_aware: Vec::new(),
    })
}

/// Condition of the join: the equalities of IN, then the correlated conditions.
fn finished(
    pulled: Vec<Expression>,
    pairs: Vec<(Expression, Expression)>,
    computed: &[Computed],
    null_aware: bool,
) -> Vec<Expression> {
    let mut on = Vec::with_capacity(pairs.len() + pulled.len());
    if !null_aware {
        for (value, column) in pairs {
            on.push(compare(Comparison::Equal, value, column));
        }
    }
    on.extend(pulled);
    for predicate in &mut on {
        substitute(predicate, computed);
    }
    on
}

/// Parts taken out of a subquery: those that read columns of the outer rows.
struct Pulled {
    /// Columns of the outer rows, and those computed from them.
    outer: ColumnSet,
    /// Correlated conditions.
    on: Vec<Expression>,
    /// Computed columns, of outer columns and of columns of the remaining subquery.
    computed: Vec<Computed>,
}

impl Pulled {
    /// Decorrelates a relation; returns the rest. `exists`: only the existence of rows matters.
    fn pull(&mut self, relation: Relation, exists: bool) -> Option<Relation> {
        match relation {
            Relation::Extend { input, columns } => {
                let input = self.pull(*input, exists)?;
                if exists {
                    return Some(input);
                }
                let mut stay = Vec::with_capacity(columns.len());
                for column in columns {
                    if column.expression.columns().intersects(&self.outer) {
                        self.take_computed(column)?;
                    } else {
                        stay.push(column);
                    }
                }
                Some(input.extended(stay))
            }
            Relation::Sort {
                input, limit: None, ..
            } => self.pull(*input, exists),
            Relation::Limit {
                input,
                offset: 0,
                count,
            } if exists && count > 0 => self.pull(*input, exists),
            Relation::Aggregate(aggregate) if aggregate.purpose == Purpose::Distinct => {
                self.pull(*aggregate.input, exists)
            }
            Relation::Filter { input, predicates } => {
                // Columns below may be read by the parts that are taken out.
                let input = self.pull(*input, false)?;
                let stay = self.take_correlated(predicates)?;
                Some(input.filtered(stay))
            }
            Relation::Join(mut join) if !join.lateral => {
                let left = self.pull(join.left.take(), false)?;
                join.left = Box::new(left);
                if join.kind == JoinKind::Inner {
                    let right = self.pull(join.right.take(), false)?;
                    join.right = Box::new(right);
                    join.on = self.take_correlated(std::mem::take(&mut join.on))?;
                }
                Some(Relation::Join(join))
            }
            other => Some(other),
        }
    }

    fn take_computed(&mut self, mut column: Computed) -> Option<()> {
        if has_subquery(&column.expression) || !is_movable(&column.expression) {
            return None;
        }
        substitute(&mut column.expression, &self.computed);
        self.outer.insert(column.id);
        self.computed.push(column);
        Some(())
    }

    /// Takes the correlated conditions out; returns the others.
    fn take_correlated(&mut self, predicates: Vec<Expression>) -> Option<Vec<Expression>> {
        let mut stay = Vec::with_capacity(predicates.len());
        for predicate in predicates {
            if !predicate.columns().intersects(&self.outer) {
                stay.push(predicate);
            } else if has_subquery(&predicate) || !is_movable(&predicate) {
                return None;
            } else {
                self.on.push(predicate);
            }
        }
        Some(stay)
    }
}
