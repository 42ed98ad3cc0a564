//! The keys of a table's definition as the indexes of its store.
//!
//! A store has its unique indexes first and the primary key before all, so that of several duplicates a row meets
//! MySQL's first. A FULLTEXT or SPATIAL key is in the definition only and has no index.

use mayfly_plan::{IndexPartSource, IndexSource};
use mayfly_storage::{IndexId, IndexPart, IndexSpec, KeyMode};
use mayfly_syntax::ast::KeyKind;
use mayfly_types::{IndexMethod, PhysicalType, SqlType};

use super::definition::{KeyDefinition, KeyPart, TableDefinition};

/// The indexes of a table's store.
pub(crate) fn index_specs(definition: &TableDefinition) -> Vec<IndexSpec> {
    let keys = indexed_keys(definition).into_iter();
    keys.filter_map(|key| spec(definition, &definition.keys[key]))
        .collect()
}

/// For each index of the store the position of its key in the definition.
pub(crate) fn indexed_keys(definition: &TableDefinition) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..definition.keys.len())
        .filter(|key| spec(definition, &definition.keys[*key]).is_some())
        .collect();
    keys.sort_by_key(|key| match definition.keys[*key].kind {
        KeyKind::Primary => 0,
        KeyKind::Unique => 1,
        _ => 2,
    });
    keys
}

/// The keys as the planner sees them, in the order of the store's indexes; keys without an index come last.
pub(crate) fn index_sources(
    definition: &TableDefinition,
    stored: IndexStorage,
) -> Vec<IndexSource> {
    let indexed = indexed_keys(definition);
    let others = definition.keys.iter().enumerate();
    let others = others.filter(|(key, _)| !indexed.contains(key));
    let stored_keys = indexed.iter().map(|key| &definition.keys[*key]).enumerate();
    let sources = stored_keys.map(|(position, key)| (Some(position), key));
    sources
        .chain(others.map(|(_, key)| (None, key)))
        .map(|(position, key)| source(definition, key, position, stored))
        .collect()
}

/// Storage form of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexStorage {
    /// Keys with references to rows, not readable themselves.
    Keys,
    /// Rows of the index's columns and the primary key's, in the primary key's order.
    Rows,
}

fn source(
    definition: &TableDefinition,
    key: &KeyDefinition,
    id: Option<usize>,
    stored: IndexStorage,
) -> IndexSource {
    let spec = spec(definition, key);
    let method = match spec.as_ref().map_or(IndexMethod::BTree, |spec| spec.method) {
        IndexMethod::Clustered if stored == IndexStorage::Keys => IndexMethod::BTree,
        method => method,
    };
    let covers = match stored {
        IndexStorage::Rows if method.has_each_row() => {
            let keys = definition.primary_key().into_iter().chain([key]);
            let parts = keys.flat_map(|key| &key.parts);
            let whole = parts.filter(|part| part.prefix.is_none());
            whole.map(KeyPart::stored_column).collect()
        }
        IndexStorage::Rows | IndexStorage::Keys => Vec::new(),
    };
    let parts = spec.iter().flat_map(|spec| &spec.parts);
    IndexSource {
        id,
        name: key.name.clone(),
        parts: parts
            .map(|part| IndexPartSource {
                column: part.column,
                prefix: part.prefix,
                descending: part.descending,
                approximate: false,
                elements: definition.columns[part.column].elements().cloned(),
            })
            .collect(),
        // An entry of a multi-valued index is unique, but no key of its rows.
        unique: key.is_unique() && method.has_each_row(),
        method,
        visible: !key.invisible,
        covers,
    }
}

/// The position in the definition of the key of a store's index.
pub(crate) fn position_of_index(definition: &TableDefinition, index: IndexId) -> Option<usize> {
    indexed_keys(definition).get(index.0).copied()
}

fn spec(definition: &TableDefinition, key: &KeyDefinition) -> Option<IndexSpec> {
    if key.has_no_index() {
        return None;
    }
    let parts = key.parts.iter().map(|part| index_part(definition, part));
    Some(IndexSpec {
        parts: parts.collect::<Option<_>>()?,
        unique: key.is_unique(),
        method: if key.is_hash() {
            IndexMethod::Hash
        } else if key.kind == KeyKind::Primary {
            IndexMethod::Clustered
        } else if definition.array_part(key).is_some() {
            IndexMethod::MultiValued
        } else {
            IndexMethod::BTree
        },
    })
}

fn index_part(definition: &TableDefinition, part: &KeyPart) -> Option<IndexPart> {
    let column = part.stored_column();
    let column_definition = definition.columns.get(column)?;
    let ty = column_definition.key_type();
    Some(IndexPart {
        column,
        mode: match ty.physical() {
            PhysicalType::Bytes => KeyMode::Collated(ty.comparison_collation()),
            _ => KeyMode::Binary,
        },
        prefix: part
            .prefix
            .map(|prefix| u32::try_from(prefix).unwrap_or(u32::MAX)),
        descending: part.descending,
        elements: column_definition.elements().map(SqlType::physical),
    })
}
