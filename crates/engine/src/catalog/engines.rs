//! Storage engines: the names that ENGINE= may have. Every table is Mayfly's own whatever its
//! definition names; the name is kept for SHOW CREATE TABLE.

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
    /// What it is.
    pub(crate) comment: &'static str,
    /// Whether it has transactions, XA and savepoints.
    pub(crate) transactions: bool,
}

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
        name: "InnoDB",
        support: "DEFAULT",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: true,
    },
    Engine {
        name: "MEMORY",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "MyISAM",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "Aria",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "CSV",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "ARCHIVE",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "BLACKHOLE",
        support: "YES",
        comment: "Mayfly's base tables, under the name that statements use",
        transactions: false,
    },
    Engine {
        name: "PERFORMANCE_SCHEMA",
        support: "YES",
        comment: "What the engine knows of itself",
        transactions: false,
    },
];

/// What an engine has no place for: BLOB and TEXT columns in MEMORY, NULLs and keys in CSV, generated
/// columns in both, FULLTEXT keys in some, NULLs in the keys of ARCHIVE.
pub(crate) fn check(table: &TableDefinition) -> Result<()> {
    let generated = table
        .columns
        .iter()
        .any(|column| column.generated.is_some());
    let is_long =
        |column: &ColumnDefinition| column.ty.is_blob() || column.ty.kind == TypeKind::Json;
    let is_full_text = |key: &KeyDefinition| key.kind == KeyKind::FullText;
    let nullable_key = table
        .keys
        .iter()
        .flat_map(|key| &key.parts)
        .find_map(|part| {
            let column = part.stored_column();
            let column = &table.columns[column];
            column.nullable.then_some(&*column.name)
        });
    match table.engine.as_str() {
        "MEMORY" if table.columns.iter().any(is_long) => {
            Err(codes::ER_TABLE_CANT_HANDLE_BLOB.error())
        }
        "CSV" if !table.keys.is_empty() => Err(codes::ER_TOO_MANY_KEYS.with(&[&0])),
        "MEMORY" | "ARCHIVE" if table.keys.iter().any(is_full_text) => {
            Err(codes::ER_TABLE_CANT_HANDLE_FT.error())
        }
        "ARCHIVE" if nullable_key.is_some() => {
            Err(codes::ER_NULL_COLUMN_IN_INDEX.with(&[&nullable_key.unwrap_or_default()]))
        }
        "CSV" if table.columns.iter().any(|column| column.nullable) => {
            Err(codes::ER_CHECK_NOT_IMPLEMENTED.with(&[&"nullable columns"]))
        }
        "MEMORY" | "MyISAM" if table.columns.iter().any(ColumnDefinition::is_hidden) => {
            let what = "Index on virtual generated column";
            Err(codes::ER_ILLEGAL_HA_CREATE_OPTION.with(&[&table.engine, &what]))
        }
        "MEMORY" | "CSV" if generated => {
            let what = "Specified storage engine";
            Err(codes::ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN.with(&[&what]))
        }
        _ => Ok(()),
    }
}

/// The name as the engine writes it itself; HEAP is MEMORY.
pub(crate) fn canonical(name: &str) -> Option<&'static str> {
    let name = if name.eq_ignore_ascii_case("HEAP") {
        "MEMORY"
    } else {
        name
    };
    ENGINES
        .iter()
        .map(|engine| engine.name)
        .find(|known| known.eq_ignore_ascii_case(name))
}
