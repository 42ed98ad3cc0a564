//! Limits of MySQL's engines, for tables whose definition names the engine.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::error::codes;
use mayfly_types::{Result, TypeKind};

use super::definition::{ColumnDefinition, KeyDefinition, TableDefinition};
use crate::engines::Engine;

/// Checks the limits of an engine: BLOB and TEXT columns in MEMORY, multi-valued keys in all but InnoDB, NULLs and keys
/// in CSV, generated columns in MEMORY and CSV, FULLTEXT keys in some and in temporary tables, NULLs in the keys of
/// ARCHIVE.
pub(crate) fn check(table: &TableDefinition) -> Result<()> {
    let any = |is_such: fn(&ColumnDefinition) -> bool| table.columns.iter().any(is_such);
    let is_full_text = |key: &KeyDefinition| key.kind == KeyKind::FullText;
    let key_parts = table.keys.iter().flat_map(|key| &key.parts);
    let is_multi_valued = |key: &KeyDefinition| table.array_part(key).is_some();
    let nullable_key = key_parts
        .map(|part| &table.columns[part.stored_column()])
        .find(|column| column.nullable);
    Err(match (table.engine, nullable_key) {
        (Engine::Memory, _) if any(|it| it.ty.is_geometry()) => {
            codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&"GEOMETRY"])
        }
        (engine, _) if table.is_shared() && engine != Engine::InnoDb => {
            codes::ER_ILLEGAL_HA_CREATE_OPTION.with(&[&engine, &"SHARED TEMPORARY"])
        }
        (Engine::Memory, _) if any(|it| it.ty.is_blob() || it.ty.kind == TypeKind::Json) => {
            codes::ER_TABLE_CANT_HANDLE_BLOB.error()
        }
        (engine, _) if engine != Engine::InnoDb && table.keys.iter().any(is_multi_valued) => {
            codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&"multi-valued indexes"])
        }
        (Engine::Csv, _) if !table.keys.is_empty() => codes::ER_TOO_MANY_KEYS.with(&[&0]),
        (Engine::Memory | Engine::Archive, _) if table.keys.iter().any(is_full_text) => {
            codes::ER_TABLE_CANT_HANDLE_FT.error()
        }
        (Engine::InnoDb, _) if table.is_volatile() && table.keys.iter().any(is_full_text) => {
            codes::ER_INNODB_NO_FT_TEMP_TABLE.error()
        }
        (Engine::Archive, Some(column)) => codes::ER_NULL_COLUMN_IN_INDEX.with(&[&column.name]),
        (Engine::Csv, _) if any(|it| it.nullable) => {
            codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&"nullable columns"])
        }
        (Engine::Memory | Engine::MyIsam, _) if any(ColumnDefinition::is_hidden) => {
            let what = "Index on virtual generated column";
            codes::ER_ILLEGAL_HA_CREATE_OPTION.with(&[&table.engine, &what])
        }
        (Engine::Memory | Engine::Csv, _) if any(|it| it.generated.is_some()) => {
            let what = "Specified storage engine";
            codes::ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN.with(&[&what])
        }
        _ => return Ok(()),
    })
}
