//! Registry of system variables: the variables of all groups in one list, sorted by name, and the search by name.
//!
//! A variable's position in the list is its position in every array of values.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::definition::SystemVariable;
use super::{character_sets, connection, logs, optimizer, server, temporary_tables};

/// Every group's table.
pub(super) const GROUPS: &[&[SystemVariable]] = &[
    temporary_tables::VARIABLES,
    character_sets::VARIABLES,
    optimizer::VARIABLES,
    connection::VARIABLES,
    server::VARIABLES,
    logs::VARIABLES,
];

/// All variables by name; a variable's position here is its position in [`super::Settings`].
static ALL: LazyLock<Vec<&'static SystemVariable>> = LazyLock::new(|| {
    let mut all: Vec<_> = GROUPS.iter().flat_map(|group| group.iter()).collect();
    all.sort_by_key(|variable| variable.name);
    all
});

static BY_NAME: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = ALL.iter().map(|variable| variable.name);
    names.zip(0..).collect()
});

/// Synonyms of variables.
const SYNONYMS: &[(&str, &str)] = &[
    ("tx_isolation", "transaction_isolation"),
    ("tx_read_only", "transaction_read_only"),
    ("tmp_memory_table_size", "tmp_table_size"),
    ("storage_engine", "default_storage_engine"),
    ("log_slow_query", "slow_query_log"),
    ("log_slow_query_file", "slow_query_log_file"),
    ("log_slow_query_time", "long_query_time"),
    ("log_slow_min_examined_row_limit", "min_examined_row_limit"),
    (
        "log_slow_always_query_time",
        "slow_query_log_always_write_time",
    ),
];

/// All variables, by name.
pub(crate) fn all() -> &'static [&'static SystemVariable] {
    &ALL
}

/// The position of a variable in [`all`] and [`super::Settings`], by its case-insensitive name.
pub(crate) fn position(name: &str) -> Option<usize> {
    if let Some(position) = BY_NAME.get(name) {
        return Some(*position);
    }
    let lower = name.to_ascii_lowercase();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == lower);
    let name = synonym.map_or(lower.as_str(), |(_, name)| *name);
    BY_NAME.get(name).copied()
}
