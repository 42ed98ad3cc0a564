//! Storage engines: the valid names of ENGINE=. Every table is stored by Mayfly itself, whatever its definition
//! names; the name is stored for SHOW CREATE TABLE.

use mayfly_syntax::ast::KeyKind;
use mayfly_types::error::codes;
use mayfly_types::{Result, TypeKind};

use super::definition::{ColumnDefinition, KeyDefinition, TableDefinition};

/// A row of `information_schema.ENGINES`.
pub(crate) struct Engine {
    /// Its name.
    pub(crate) name: &'static str,
    /// DEFAULT, YES or NO.
    pub(crate) support: &'static str,
    /// Its description.
    pub(crate) comment: &'static str,
    /// Whether it supports transactions, XA and savepoints.
    pub(crate) transactions: bool,
}

impl Engine {
    /// An engine without transactions.
    const fn named(name: &'static str) -> Self {
        Self {
            name,
            support: "YES",
            comment: "Mayfly's base tables, under the name that statements use",
            transactions: false,
        }
    }
}

/// The engine of tables whose rows are outside of the engine ([`super::provided`]). CREATE TABLE cannot name it.
pub(crate) const EXTERNAL: &str = "EXTERNAL";

/// Whether tables of an engine have foreign keys.
pub(crate) fn has_foreign_keys(engine: &str) -> bool {
    engine == "InnoDB"
}

/// Whether the tables of an engine take part in transactions.
pub(crate) fn has_transactions(name: &str) -> bool {
    let engine = ENGINES.iter().find(|engine| engine.name == name);
    engine.is_none_or(|engine| engine.transactions)
}

/// The engines.
pub(crate) const ENGINES: &[Engine] = &[
    Engine {
        support: "DEFAULT",
        transactions: true,
        ..Engine::named("InnoDB")
    },
    Engine::named("MEMORY"),
    Engine::named("MyISAM"),
    Engine::named("Aria"),
    Engine::named("CSV"),
    Engine::named("ARCHIVE"),
    Engine::named("BLACKHOLE"),
    Engine {
        comment: "What the engine knows of itself",
        ..Engine::named("PERFORMANCE_SCHEMA")
    },
];

/// Checks the limits of an engine: BLOB and TEXT columns in MEMORY, NULLs and keys in CSV, generated columns in both,
/// FULLTEXT keys in some and in temporary tables, NULLs in the keys of ARCHIVE.
pub(crate) fn check(table: &TableDefinition) -> Result<()> {
    let any = |is_such: fn(&ColumnDefinition) -> bool| table.columns.iter().any(is_such);
    let is_full_text = |key: &KeyDefinition| key.kind == KeyKind::FullText;
    let key_parts = table.keys.iter().flat_map(|key| &key.parts);
    let nullable_key = key_parts
        .map(|part| &table.columns[part.stored_column()])
        .find(|column| column.nullable);
    Err(match (table.engine.as_str(), nullable_key) {
        ("MEMORY", _) if any(|it| it.ty.is_blob() || it.ty.kind == TypeKind::Json) => {
            codes::ER_TABLE_CANT_HANDLE_BLOB.error()
        }
        ("CSV", _) if !table.keys.is_empty() => codes::ER_TOO_MANY_KEYS.with(&[&0]),
        ("MEMORY" | "ARCHIVE", _) if table.keys.iter().any(is_full_text) => {
            codes::ER_TABLE_CANT_HANDLE_FT.error()
        }
        ("InnoDB", _) if table.temporary && table.keys.iter().any(is_full_text) => {
            codes::ER_INNODB_NO_FT_TEMP_TABLE.error()
        }
        ("ARCHIVE", Some(column)) => codes::ER_NULL_COLUMN_IN_INDEX.with(&[&column.name]),
        ("CSV", _) if any(|it| it.nullable) => {
            codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&"nullable columns"])
        }
        ("MEMORY" | "MyISAM", _) if any(ColumnDefinition::is_hidden) => {
            let what = "Index on virtual generated column";
            codes::ER_ILLEGAL_HA_CREATE_OPTION.with(&[&table.engine, &what])
        }
        ("MEMORY" | "CSV", _) if any(|it| it.generated.is_some()) => {
            let what = "Specified storage engine";
            codes::ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN.with(&[&what])
        }
        _ => return Ok(()),
    })
}

/// The canonical spelling of an engine's name; HEAP is MEMORY.
pub(crate) fn canonical(name: &str) -> Option<&'static str> {
    let is_heap = name.eq_ignore_ascii_case("HEAP");
    let name = if is_heap { "MEMORY" } else { name };
    let mut names = ENGINES.iter().map(|engine| engine.name);
    names.find(|known| known.eq_ignore_ascii_case(name))
}
