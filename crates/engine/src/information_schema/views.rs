//! `information_schema.VIEWS`

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::visit_relations;

use super::asked::Asked;
use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row, yes_no};
use super::view_columns::invalid_view;
use crate::catalog::view::ViewDefinition;

pub(super) const RELATIONS: &[Relation] = &[
    Relation::asked("VIEWS", rows),
    Relation::asked("VIEW_TABLE_USAGE", table_usage),
];

fn rows(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let views = asked.views(context);
    let rights = context.rights();
    let catalog = context.catalog();
    let view_of = |database: &str, name: &str| catalog.view(database, name);
    let row = |view: &Arc<ViewDefinition>| {
        let (database, name) = (view.database(), view.name());
        let shows_query = asked.reads(&["VIEW_DEFINITION"]) && rights.sees_query(database, name);
        let query = shows_query.then(|| view.query_text());
        if shows_query && let Some(invalid) = invalid_view(context, view) {
            context.warn(invalid);
        }
        row![
            "def",
            database,
            name,
            query.unwrap_or_default(),
            view.check_option_name(),
            yes_no(view.is_updatable(&view_of)),
            format!("{}@{}", view.definer.0, view.definer.1),
            view.security(),
            &view.character_set,
            &view.collation,
        ]
    };
    views.iter().map(row).collect()
}

/// The tables and views that each view reads.
fn table_usage(context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = context.rights();
    let views = context.privileges().visible_views();
    let mut views = asked.named(["VIEW_SCHEMA", "VIEW_NAME"], views, |view| {
        (view.database(), view.name())
    });
    views.retain(|view| rights.sees_query(view.database(), view.name()));
    for view in views {
        let mut tables = BTreeSet::new();
        let _ = visit_relations(&view.source.query, |name| {
            // Names of tables are fully qualified; other names are of common table expressions.
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
