//! Copies of relations, with new column numbers.

use std::sync::Arc;

use super::rule::NewColumns;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, Computed, Relation, Scan, visit_expressions_mut, visit_relations_mut,
};

/// (old number, new number) of columns.
#[derive(Debug, Default)]
pub(super) struct Renumbered(Vec<(ColumnId, ColumnId)>);

impl Renumbered {
    /// Replaces the columns of an expression. Columns that were not copied keep their numbers.
    pub(super) fn apply(&self, expression: &mut Expression) {
        crate::tree::logical::visit_deep_mut(expression, &mut |inner| {
            if let ExpressionKind::Column(id) = &mut inner.kind {
                *id = self.of(*id);
            }
            true
        });
    }

    /// New number of a column.
    pub(super) fn of(&self, id: ColumnId) -> ColumnId {
        let at = self.0.partition_point(|(old, _)| *old < id);
        match self.0.get(at) {
            Some((old, new)) if *old == id => *new,
            _ => id,
        }
    }

    fn renumber(&self, ids: &mut [ColumnId]) {
        ids.iter_mut().for_each(|id| *id = self.of(*id));
    }
}

/// Copies a relation; columns of outer queries that it reads keep their numbers.
pub(super) fn copy(relation: &Relation, columns: &NewColumns) -> (Relation, Renumbered) {
    let mut copy = relation.clone();
    let numbers = renumber(&mut copy, columns);
    (copy, numbers)
}

/// Gives the columns that a relation computes new numbers.
pub(super) fn renumber(relation: &mut Relation, columns: &NewColumns) -> Renumbered {
    let mut numbers = Renumbered::default();
    visit_relations_mut(relation, &mut |one| {
        made_by(one, &mut |first, count| {
            let new = columns.some(count);
            numbers
                .0
                .extend((0..count).map(|at| (first + at, new + at)));
        });
    });
    numbers.0.sort_unstable();
    // A grouped column has the number of the column that it groups.
    numbers.0.dedup_by_key(|(old, _)| *old);
    visit_expressions_mut(relation, &mut |inner| {
        match &mut inner.kind {
            ExpressionKind::Column(id) => *id = numbers.of(*id),
            ExpressionKind::LogicalSubquery(subquery) => numbers.renumber(&mut subquery.columns),
            _ => {}
        }
        true
    });
    visit_relations_mut(relation, &mut |one| renumber_made(one, &numbers));
    numbers
}

/// Calls `visit` on the columns that a relation computes, as (first number, count).
fn made_by(relation: &Relation, visit: &mut dyn FnMut(ColumnId, usize)) {
    match relation {
        Relation::Scan(scan) => visit(scan.first, scan.position() + 1 - scan.first),
        Relation::Values { columns, .. }
        | Relation::SharedScan { columns, .. }
        | Relation::SetOperation { columns, .. } => columns.iter().for_each(|id| visit(*id, 1)),
        Relation::Project { columns, .. } | Relation::Extend { columns, .. } => {
            columns.iter().for_each(|column| visit(column.id, 1));
        }
        Relation::Aggregate(aggregate) => {
            aggregate.keys.iter().for_each(|key| visit(key.id, 1));
            let calls = aggregate.aggregates.iter();
            calls.for_each(|(id, _)| visit(*id, 1));
            aggregate.rollup.iter().for_each(|id| visit(*id, 1));
        }
        Relation::Window(window) => {
            let calls = window.calls.iter();
            calls.for_each(|(id, _)| visit(*id, 1));
        }
        Relation::Filter { .. }
        | Relation::Sort { .. }
        | Relation::Limit { .. }
        | Relation::Join(_)
        | Relation::Block { .. }
        | Relation::Materialize { .. } => {}
    }
}

fn renumber_made(relation: &mut Relation, numbers: &Renumbered) {
    match relation {
        Relation::Scan(scan) => renumber_scan(scan, numbers),
        Relation::Values { columns, .. } | Relation::SharedScan { columns, .. } => {
            numbers.renumber(columns);
        }
        Relation::SetOperation {
            columns, inputs, ..
        } => {
            numbers.renumber(columns);
            let inputs = inputs.iter_mut();
            inputs.for_each(|(_, columns)| numbers.renumber(columns));
        }
        Relation::Project { columns, .. } | Relation::Extend { columns, .. } => {
            let columns = columns.iter_mut();
            columns.for_each(|column| column.id = numbers.of(column.id));
        }
        Relation::Aggregate(aggregate) => {
            let keys = aggregate.keys.iter_mut();
            keys.for_each(|key| key.id = numbers.of(key.id));
            let calls = aggregate.aggregates.iter_mut();
            calls.for_each(|(id, _)| *id = numbers.of(*id));
            aggregate.rollup = aggregate.rollup.map(|id| numbers.of(id));
        }
        Relation::Window(window) => {
            let calls = window.calls.iter_mut();
            calls.for_each(|(id, _)| *id = numbers.of(*id));
        }
        Relation::Block { derived, .. } => {
            if let Some(derived) = derived {
                let columns = derived.columns.iter_mut();
                columns.for_each(|(id, _)| *id = numbers.of(*id));
            }
        }
        Relation::Filter { .. }
        | Relation::Sort { .. }
        | Relation::Limit { .. }
        | Relation::Join(_)
        | Relation::Materialize { .. } => {}
    }
}

fn renumber_scan(scan: &mut Scan, numbers: &Renumbered) {
    let generated = scan.generated.iter().map(|column| {
        let mut expression = column.expression.clone();
        numbers.apply(&mut expression);
        let id = numbers.of(column.id);
        Computed { id, expression }
    });
    let generated: Arc<[Computed]> = generated.collect();
    scan.generated = generated;
    scan.first = numbers.of(scan.first);
}
