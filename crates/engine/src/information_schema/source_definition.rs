//! Definitions of relations: the planner's view of a relation as the definition of a table.
//!
//! They need only the relation's columns, so relations about tables can list all relations as tables.

use mayfly_plan::TableSource;
use mayfly_types::{CollationId, TypeKind};

use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::engines::Engine;

/// The definition of a log table: MySQL has these two in CSV files.
pub(super) fn log(source: &TableSource) -> Option<TableDefinition> {
    let comment = match &*source.name {
        "general_log" => "General log",
        "slow_log" => "Slow log",
        _ => return None,
    };
    Some(TableDefinition {
        collation: CollationId::UTF8MB3_GENERAL_CI,
        engine: Engine::Csv,
        comment: comment.to_owned(),
        ..of_columns(source, true)
    })
}

/// The columns of a system table; `has_change_time`: its TIMESTAMP columns are set by every change.
pub(super) fn of_columns(source: &TableSource, has_change_time: bool) -> TableDefinition {
    let columns = source.columns.iter().map(|column| {
        let mut definition = ColumnDefinition::new(&*column.name, column.ty.clone());
        definition.nullable = column.nullable;
        if has_change_time && column.ty.kind == TypeKind::Timestamp {
            definition.default = ColumnDefault::Now;
            definition.on_update_now = true;
        }
        definition
    });
    TableDefinition {
        columns: columns.collect(),
        ..TableDefinition::new(&source.database, &source.name)
    }
}
