//! `mysql.general_log` and `mysql.slow_log`: programs that copy whole servers ask what they are. They
//! have no rows, for what happens is not logged in tables.

use mayfly_types::{CollationId, TypeKind};

use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};

/// The tables as statements would make them.
pub(crate) fn definition(database: &str, name: &str) -> Option<TableDefinition> {
    let comment = match name {
        "general_log" => "General log",
        "slow_log" => "Slow log",
        _ => return None,
    };
    let source = super::table(database, name)?;
    let columns = source.columns.iter().map(|column| {
        let mut definition = ColumnDefinition::new(&*column.name, column.ty.clone());
        definition.nullable = column.nullable;
        if column.ty.kind == TypeKind::Timestamp {
            definition.default = ColumnDefault::Now;
            definition.on_update_now = true;
        }
        definition
    });
    Some(TableDefinition {
        columns: columns.collect(),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        engine: "CSV".to_owned(),
        comment: comment.to_owned(),
        ..TableDefinition::new(&source.database, &source.name)
    })
}
