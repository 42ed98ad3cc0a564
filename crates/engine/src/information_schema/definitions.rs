//! Definitions of system tables, for SHOW CREATE TABLE.

use mayfly_syntax::ast::{KeyKind, TableKind};
use mayfly_types::CollationId;

use super::source_definition;
use crate::catalog::definition::{KeyDefinition, KeyPart, TableDefinition};
use crate::engines::Engine;

/// The definition of a log table, if `name` is exactly its name.
pub(crate) fn log(database: &str, name: &str) -> Option<TableDefinition> {
    let source = super::table(database, name)?;
    let log = source_definition::log(&source)?;
    (log.name == name).then_some(log)
}

/// The definition of any system table.
pub(crate) fn table(database: &str, name: &str) -> Option<TableDefinition> {
    if let Some(log) = log(database, name) {
        return Some(log);
    }
    let is_configuration = database.eq_ignore_ascii_case("sys");
    let source = super::table(database, name)?;
    let mut definition = source_definition::of_columns(&source, is_configuration);
    match &*definition.database {
        "performance_schema" => definition.engine = Engine::PerformanceSchema,
        "information_schema" => {
            definition.kind = TableKind::Temporary;
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
