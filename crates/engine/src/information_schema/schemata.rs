//! `information_schema.SCHEMATA`

use mayfly_types::Value;

use super::relation::{Kind, Relation, Row, text};
use crate::character_sets;
use crate::session::Session;

pub(super) const RELATIONS: &[Relation] = &[Relation {
    schema: "information_schema",
    name: "SCHEMATA",
    columns: &[
        ("CATALOG_NAME", Kind::Text(64)),
        ("SCHEMA_NAME", Kind::Text(64)),
        ("DEFAULT_CHARACTER_SET_NAME", Kind::Text(64)),
        ("DEFAULT_COLLATION_NAME", Kind::Text(64)),
        ("SQL_PATH", Kind::Text(64)),
        ("DEFAULT_ENCRYPTION", Kind::Text(3)),
    ],
    rows,
}];

fn rows(session: &Session) -> Vec<Row> {
    let catalog = &session.database.catalog;
    let row = |name: String| {
        let collation = catalog.database_collation(&name)?;
        let collation = character_sets::row(collation);
        Some(vec![
            text("def"),
            text(name),
            text(collation.character_set),
            text(collation.name),
            Value::Null,
            text("NO"),
        ])
    };
    catalog
        .database_names()
        .into_iter()
        .filter_map(row)
        .collect()
}
