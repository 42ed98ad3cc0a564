//! `information_schema.VIEWS`

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{SetExpr, TableFactor, TableWithJoins, visit_relations};

use super::asked::Asked;
use super::relation::{Relation, Row, row, yes_no};
use crate::catalog::view::ViewDefinition;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::of_tables("VIEWS", rows),
    Relation::new("VIEW_TABLE_USAGE", table_usage),
];

fn rows(context: &StatementContext<'_>, asked: &Asked<'_>) -> Vec<Row> {
    let views = asked.views(context);
    let rights = context.rights();
    let row = |view: &Arc<ViewDefinition>| {
        let (database, name) = (view.database(), view.name());
        let query = rights.sees_query(database, name).then(|| view.query_text());
        row![
            "def",
            database,
            name,
            query.unwrap_or_default(),
            view.check_option_name(),
            yes_no(is_updatable(view)),
            format!("{}@{}", view.definer.0, view.definer.1),
            view.security(),
            &view.character_set,
            &view.collation,
        ]
    };
    views.iter().map(row).collect()
}

/// Whether a part of FROM has nothing but tables in it.
fn joins_tables(item: &TableWithJoins) -> bool {
    let is_table = |factor: &TableFactor| match factor {
        TableFactor::Table { .. } => true,
        TableFactor::NestedJoin {
            table_with_joins, ..
        } => joins_tables(table_with_joins),
        _ => false,
    };
    is_table(&item.relation) && item.joins.iter().all(|join| is_table(&join.relation))
}

/// The tables and views that views read.
fn table_usage(context: &StatementContext<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = context.rights();
    let mut views = context.privileges().visible_views();
    views.retain(|view| rights.sees_query(view.database(), view.name()));
    for view in views {
        let mut tables = BTreeSet::new();
        let _ = visit_relations(&view.source.query, |name| {
            // Names of tables are written in full; others are of common table expressions.
            if let [database, table] = name.0.as_slice() {
                tables.insert((database.value.clone(), table.value.clone()));
            }
            ControlFlow::<()>::Continue(())
        });
        let (own_database, own_name) = (view.database(), view.name());
        rows.extend(
            tables.into_iter().map(|(database, table)| {
                row!["def", own_database, own_name, "def", database, table]
            }),
        );
    }
    rows
}

/// Whether each of its rows is a row of tables.
fn is_updatable(view: &ViewDefinition) -> bool {
    let query = &view.source.query;
    let reads_tables = match &*query.body {
        SetExpr::Select(select) => select.from.iter().all(joins_tables),
        _ => false,
    };
    reads_tables && view.is_mergeable() && !view.source.materialized && query.with.is_none()
}
