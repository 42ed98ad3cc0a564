//! Definitions of system tables, for SHOW CREATE TABLE.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::{CollationId, TypeKind};

use crate::catalog::definition::{
    ColumnDefault, ColumnDefinition, KeyDefinition, KeyPart, TableDefinition,
};

/// The definition of a log table: MySQL has these two in CSV files.
pub(crate) fn log(database: &str, name: &str) -> Option<TableDefinition> {
    let comment = match name {
        "general_log" => "General log",
        "slow_log" => "Slow log",
        _ => return None,
    };
    Some(TableDefinition {
        collation: CollationId::UTF8MB3_GENERAL_CI,
        engine: "CSV".to_owned(),
        comment: comment.to_owned(),
        ..of_columns(database, name, true)?
    })
}

/// The definition of any system table.
pub(crate) fn table(database: &str, name: &str) -> Option<TableDefinition> {
    if let Some(log) = log(database, name) {
        return Some(log);
    }
    let is_configuration = database.eq_ignore_ascii_case("sys");
    let mut definition = of_columns(database, name, is_configuration)?;
    match &*definition.database {
        "performance_schema" => "PERFORMANCE_SCHEMA".clone_into(&mut definition.engine),
        "information_schema" => {
            definition.temporary = true;
            definition.collation = CollationId::UTF8MB3_GENERAL_CI;
        }
        "sys" => {
            let variable = vec![KeyPart::of_column(0)];
            definition.keys = vec![KeyDefinition::new(KeyKind::Primary, variable)];
        }
        _ => {}
    }
    Some(definition)
}

/// The columns of a system table; `has_change_time`: its TIMESTAMP columns are set by every change.
fn of_columns(database: &str, name: &str, has_change_time: bool) -> Option<TableDefinition> {
    let source = super::table(database, name)?;
    let columns = source.columns.iter().map(|column| {
        let mut definition = ColumnDefinition::new(&*column.name, column.ty.clone());
        definition.nullable = column.nullable;
        if has_change_time && column.ty.kind == TypeKind::Timestamp {
            definition.default = ColumnDefault::Now;
            definition.on_update_now = true;
        }
        definition
    });
    Some(TableDefinition {
        columns: columns.collect(),
        ..TableDefinition::new(&source.database, &source.name)
    })
}
