//! `information_schema.SCHEMATA`

use mayfly_types::Value;

use super::relation::{Relation, Row, text};
use crate::character_sets;
use crate::session::StatementContext;

pub(super) const RELATIONS: &[Relation] = &[Relation::new("SCHEMATA", rows)];

pub(super) fn rows(context: &StatementContext<'_>) -> Vec<Row> {
    let catalog = context.catalog();
    let rights = context.rights();
    let row = |name: String| {
        let collation = catalog.database_collation(&name)?;
        let collation = character_sets::row(collation);
        Some(vec![
            text("def"),
            text(name),
            text(collation.charset.name()),
            text(collation.name),
            Value::Null,
            text("NO"),
        ])
    };
    catalog
        .database_names()
        .into_iter()
        .filter(|name| rights.sees_database(name))
        .filter_map(row)
        .collect()
}
