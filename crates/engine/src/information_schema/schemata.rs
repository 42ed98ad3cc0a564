//! `information_schema.SCHEMATA`

use mayfly_types::Value;

use super::context::RelationContext;
use super::relation::Relation;
use super::row::{Row, row};
use crate::character_sets;

pub(super) const RELATIONS: &[Relation] = &[Relation::new("SCHEMATA", rows)];

pub(super) fn rows(context: &RelationContext) -> Vec<Row> {
    let catalog = context.catalog();
    let rights = context.rights();
    let row = |name: String| {
        let collation = character_sets::row(catalog.database_collation(&name)?);
        let charset = collation.charset.name();
        Some(row![
            "def",
            name,
            charset,
            collation.name,
            Value::Null,
            "NO"
        ])
    };
    let names = catalog.database_names().into_iter();
    let shown = names.filter(|name| rights.sees_database(name));
    shown.filter_map(row).collect()
}
