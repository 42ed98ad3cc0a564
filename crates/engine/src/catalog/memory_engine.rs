//! What ENGINE=MEMORY counts of a table: rows of fixed length, by their declaration, and what its
//! indexes need for each of them (manual: The MEMORY Storage Engine).

use mayfly_storage::MemoryLimits;

use super::definition::{KeyDefinition, KeyTarget, TableDefinition};
use crate::session::Session;

/// An entry of a hash index: the hash, and the addresses of the row and of the next entry.
const HASH_ENTRY_BYTES: u64 = 24;
/// A node of a tree, beside its key and the address of the row.
const TREE_NODE_BYTES: u64 = 24;
const ADDRESS_BYTES: u64 = 8;

/// The limits of a table that this session makes.
pub(crate) fn limits(definition: &TableDefinition, session: &Session) -> MemoryLimits {
    let columns = definition.columns.iter();
    let nullable = columns.clone().filter(|column| column.nullable).count() as u64;
    let lengths = columns.map(|column| column.ty.declared_bytes(None));
    let option = |name: &str| {
        let found = definition.options.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.parse().ok())
    };
    let keys = definition.keys.iter();
    MemoryLimits {
        row_bytes: lengths.sum::<u64>() + nullable.div_ceil(8),
        index_bytes: keys.map(|key| entry_bytes(definition, key)).sum(),
        max_bytes: session.settings().unsigned("max_heap_table_size"),
        step_bytes: session.settings().unsigned("read_buffer_size"),
        max_rows: option("MAX_ROWS").unwrap_or(0),
    }
}

fn entry_bytes(definition: &TableDefinition, key: &KeyDefinition) -> u64 {
    let is_tree = |using: &str| using.eq_ignore_ascii_case("btree");
    if !key.using.as_deref().is_some_and(is_tree) {
        return HASH_ENTRY_BYTES;
    }
    let part = |part: &super::definition::KeyPart| match part.target {
        KeyTarget::Column(column) => {
            let column = &definition.columns[column];
            let prefix = part.prefix.and_then(|prefix| u32::try_from(prefix).ok());
            column.ty.declared_bytes(prefix) + u64::from(column.nullable)
        }
        KeyTarget::Expression(_) => 0,
    };
    TREE_NODE_BYTES + ADDRESS_BYTES + key.parts.iter().map(part).sum::<u64>()
}
