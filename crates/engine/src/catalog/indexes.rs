//! The keys of a table's definition as the indexes of its store.
//!
//! A store has its unique indexes first and the primary key before all, so that of several duplicates
//! a row meets MySQL's first. A FULLTEXT or SPATIAL key, and one over an expression, is kept in the
//! definition and has no index.

use mayfly_storage::{IndexId, IndexPart, IndexSpec, KeyMode};
use mayfly_syntax::ast::KeyKind;
use mayfly_types::PhysicalType;

use super::definition::{KeyDefinition, KeyPart, KeyTarget, TableDefinition};

/// The indexes of a table's store.
pub(crate) fn index_specs(definition: &TableDefinition) -> Vec<IndexSpec> {
    indexed_keys(definition)
        .into_iter()
        .filter_map(|key| spec(definition, &definition.keys[key]))
        .collect()
}

/// The key of the definition, by its place, that each index of the store is of.
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

/// The index of a key, by the key's place in the definition.
#[expect(dead_code, reason = "for the planner's choice of indexes")]
pub(crate) fn index_of_key(definition: &TableDefinition, key: usize) -> Option<IndexId> {
    let place = indexed_keys(definition)
        .iter()
        .position(|other| *other == key);
    place.map(IndexId)
}

/// The key that an index of the store is of.
pub(crate) fn key_of_index(definition: &TableDefinition, index: IndexId) -> Option<&KeyDefinition> {
    let key = *indexed_keys(definition).get(index.0)?;
    definition.keys.get(key)
}

fn spec(definition: &TableDefinition, key: &KeyDefinition) -> Option<IndexSpec> {
    if matches!(key.kind, KeyKind::FullText | KeyKind::Spatial) {
        return None;
    }
    let parts = key.parts.iter().map(|part| index_part(definition, part));
    Some(IndexSpec {
        parts: parts.collect::<Option<_>>()?,
        unique: key.is_unique(),
        clustered: key.kind == KeyKind::Primary,
        hash: key
            .using
            .as_deref()
            .is_some_and(|using| using.eq_ignore_ascii_case("hash")),
    })
}

fn index_part(definition: &TableDefinition, part: &KeyPart) -> Option<IndexPart> {
    let KeyTarget::Column(column) = part.target else {
        return None;
    };
    let ty = &definition.columns[column].ty;
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
    })
}
