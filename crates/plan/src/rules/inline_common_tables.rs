//! Inlines a common table expression with a single reader: merged if MySQL would merge a derived table of that form,
//! else as a derived table. One with several readers is materialized once, and so is one that the statement says to
//! materialize. One without readers is left out: each of its references has bound its definition in its own place.

use super::planning::Planning;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, DerivedTable, Query, Relation, Shared, SharedRelation, visit_expression_mut,
};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    drop_unread(query);
    let options = planning.options;
    if !options.switches.derived_merge || options.sets_variables {
        return;
    }
    let mut renames: Vec<Option<ColumnId>> = Vec::new();
    for index in 0..query.shared.len() {
        let shared = &mut query.shared[index];
        let is_plain = matches!(shared.source, Some(SharedRelation::Plain(_)));
        if shared.readers != 1 || shared.kept_by.is_some() || !is_plain {
            continue;
        }
        let Some(SharedRelation::Plain(source)) = shared.source.take() else {
            continue;
        };
        let mut source = Some(source);
        let definition = shared.clone();
        renames.resize(query.next_column, None);
        query.for_each_relation_mut(&mut |relation| {
            let Relation::SharedScan {
                shared,
                alias,
                columns,
                working: false,
                ..
            } = relation
            else {
                return;
            };
            if *shared != index {
                return;
            }
            let Some(source) = source.take() else { return };
            for (new, old) in columns.iter().zip(&definition.columns) {
                if let Some(slot) = renames.get_mut(*new) {
                    *slot = Some(*old);
                }
            }
            let alias = std::mem::take(alias);
            *relation = taken_over(source, &definition, alias);
        });
        // The result has no reader.
        drop(source);
    }
    if renames.iter().any(Option::is_some) {
        rename(query, &renames);
    }
}

/// Leaves out the common table expressions that nothing reads: what they read has fewer readers. An expression reads only
/// those before it.
fn drop_unread(query: &mut Query) {
    for index in (0..query.shared.len()).rev() {
        let shared = &mut query.shared[index];
        if shared.readers > 0 || !matches!(shared.source, Some(SharedRelation::Plain(_))) {
            continue;
        }
        shared.source = None;
        for (read, count) in std::mem::take(&mut shared.reads) {
            let readers = &mut query.shared[read].readers;
            *readers = readers.saturating_sub(count);
        }
    }
}

/// The relation in the place of its single reader.
fn taken_over(source: Relation, definition: &Shared, alias: String) -> Relation {
    match source {
        Relation::Block {
            input,
            derived: None,
            ..
        } if definition.mergeable => *input,
        other => {
            let input = match other {
                Relation::Block {
                    input,
                    derived: None,
                    ..
                } => input,
                other => Box::new(other),
            };
            let columns = definition.columns.iter().copied();
            Relation::Block {
                input,
                select_id: definition.select_id,
                derived: Some(Box::new(DerivedTable {
                    alias,
                    columns: columns.zip(definition.names.iter().cloned()).collect(),
                    materialize: None,
                })),
            }
        }
    }
}

/// Renumbers columns in the whole statement.
pub(super) fn rename(query: &mut Query, renames: &[Option<ColumnId>]) {
    let resolve = |id: &mut ColumnId| {
        // A common table expression may read another that was inlined as well.
        while let Some(Some(old)) = renames.get(*id) {
            *id = *old;
        }
    };
    let rename_expression = |expression: &mut Expression| {
        visit_expression_mut(expression, &mut |inner| {
            match &mut inner.kind {
                ExpressionKind::Column(id) => resolve(id),
                ExpressionKind::LogicalSubquery(subquery) => {
                    subquery.columns.iter_mut().for_each(resolve);
                }
                _ => {}
            }
            true
        });
    };
    query.for_each_relation_mut(&mut |relation| {
        relation.for_each_expression_mut(&mut |expression| rename_expression(expression));
        match relation {
            Relation::Aggregate(aggregate) => {
                for key in &mut aggregate.keys {
                    resolve(&mut key.id);
                }
                // ANY_VALUE of a column keeps the column's number.
                for (id, _) in &mut aggregate.aggregates {
                    resolve(id);
                }
            }
            Relation::SetOperation { inputs, .. } => {
                for (_, columns) in inputs {
                    columns.iter_mut().for_each(resolve);
                }
            }
            Relation::SharedScan { outer, .. } => {
                for column in outer {
                    resolve(&mut column.id);
                }
            }
            Relation::Block {
                derived: Some(derived),
                ..
            } => {
                for (id, _) in &mut derived.columns {
                    resolve(id);
                }
            }
            _ => {}
        }
    });
    for shared in &mut query.shared {
        shared.columns.iter_mut().for_each(resolve);
        if let Some(SharedRelation::Recursive { step_columns, .. }) = &mut shared.source {
            step_columns.iter_mut().for_each(resolve);
        }
    }
    query.columns.iter_mut().for_each(resolve);
}
