//! Size accounting of ENGINE=MEMORY: rows of fixed length, by their declaration, and the bytes per row of their
//! indexes (manual: The MEMORY Storage Engine).

use mayfly_storage::{MemoryIndex, MemoryKeyPart, MemoryLimits, VaryingBytes};
use mayfly_types::TypeKind;

use super::definition::{ColumnDefinition, KeyDefinition, KeyPart, TableDefinition};
use super::indexes::indexed_keys;

/// The limits of a table created under the session's `max_heap_table_size` and the server's `read_buffer_size`.
pub(crate) fn limits(
    definition: &TableDefinition,
    (max_bytes, step_bytes): (u64, u64),
) -> MemoryLimits {
    let option = |name: &str| {
        let found = definition.options.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    let keys = indexed_keys(definition).into_iter();
    let indexes = keys.map(|key| index(definition, &definition.keys[key]));
    MemoryLimits {
        row_bytes: row_bytes(&definition.columns),
        indexes: indexes.collect(),
        max_bytes,
        // The step by which MySQL's tables grow: `read_buffer_size` at the server's start.
        step_bytes,
        max_rows: option("MAX_ROWS"),
        min_rows: option("MIN_ROWS"),
    }
}

/// The bytes of a row: its columns and its NULL bits.
fn row_bytes(columns: &[ColumnDefinition]) -> u64 {
    let bytes = columns.iter().map(|column| {
        let bytes = column.ty.declared_bytes(None);
        // In a row, unlike in a key, one byte holds the length of a short string.
        match column.ty.kind {
            TypeKind::VarChar if bytes < 256 + 2 => bytes - 1,
            _ => bytes,
        }
    });
    let nullable = columns.iter().filter(|column| column.nullable).count() as u64;
    // Rows without variable-length strings have a deleted flag.
    let is_varying = |column: &ColumnDefinition| column.ty.kind == TypeKind::VarChar;
    let varying = columns.iter().any(is_varying);
    let bits = nullable + u64::from(!varying);
    bytes.sum::<u64>() + bits.div_ceil(8)
}

fn index(definition: &TableDefinition, key: &KeyDefinition) -> MemoryIndex {
    let is_tree = |using: &str| using.eq_ignore_ascii_case("btree");
    if !key.using.as_deref().is_some_and(is_tree) {
        return MemoryIndex::Hash;
    }
    let parts = key.parts.iter();
    MemoryIndex::Tree(parts.filter_map(|key| part(definition, key)).collect())
}

fn part(definition: &TableDefinition, part: &KeyPart) -> Option<MemoryKeyPart> {
    let position = part.column()?;
    let column = &definition.columns[position];
    let ty = &column.ty;
    let prefix = part.prefix.and_then(|prefix| u32::try_from(prefix).ok());
    let varying = ty.kind == TypeKind::VarChar;
    let length_bytes = if varying { 2 } else { 0 };
    Some(MemoryKeyPart {
        column: position,
        nullable: column.nullable,
        bytes: ty.declared_bytes(prefix) - length_bytes,
        prefix: prefix.filter(|_| !ty.is_binary_string()),
        varying: varying.then(|| varying_bytes(column)),
    })
}

fn varying_bytes(column: &ColumnDefinition) -> VaryingBytes {
    let charset = column.ty.collation.charset();
    match charset.name() {
        "utf8mb4" | "utf8mb3" | "binary" => VaryingBytes::Same,
        "utf16" | "utf16le" => VaryingBytes::EachCharacter(2),
        _ => VaryingBytes::EachCharacter(u64::from(charset.max_length())),
    }
}
