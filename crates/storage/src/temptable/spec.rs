//! Specification of a temporary table.

use std::sync::Arc;

pub use mayfly_types::Purpose;
use mayfly_types::{CollationId, PhysicalType};

/// Number of a plan operator to which a table belongs.
pub type OperatorNumber = u32;

/// Comparison of the values of a key column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyMode {
    /// Comparison as numbers, or byte by byte.
    Binary,
    /// Comparison as strings of a collation.
    Collated(CollationId),
}

/// Hash key column: two rows are in one group when all of these are equal, and NULL equals NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyColumn {
    /// Index of the column in the table.
    pub column: usize,
    /// Comparison of its values.
    pub mode: KeyMode,
    /// For joins: whether NULL matches NULL (`<=>`). Grouping always treats NULL as equal to NULL.
    pub null_safe: bool,
}

impl KeyColumn {
    /// A column compared as bytes or as a number, in which NULL matches nothing.
    pub fn binary(column: usize) -> Self {
        Self {
            column,
            mode: KeyMode::Binary,
            null_safe: false,
        }
    }
}

/// Sort key column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// Index of the column in the table.
    pub column: usize,
    /// Comparison of its values.
    pub mode: KeyMode,
    /// Whether the order is descending. NULL is smaller than every value, as in MySQL.
    pub descending: bool,
}

/// Access structure of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No access structure: append and scan.
    Plain,
    /// Hash access by the key columns: partitions, groups, joins.
    Hash(Vec<KeyColumn>),
    /// Ordered access by sort keys; rows that are equal in all of them keep the order in which they were
    /// appended (with several writers: the order of the writers, see
    /// [`TempTable::writer`](super::TempTable::writer)).
    Ordered {
        /// Sort keys, the most significant first.
        keys: Vec<SortKey>,
        /// Number of first rows that are wanted (LIMIT + OFFSET): others may be dropped early.
        limit: Option<u64>,
    },
}

impl Access {
    /// The name shown to users.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain => "NONE",
            Self::Hash(_) => "HASH",
            Self::Ordered { .. } => "ORDERED",
        }
    }
}

/// Specification, fixed when a table is created.
#[derive(Debug, Clone)]
pub struct TempTableSpec {
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Reason why the statement needs it, in words: shown by EXPLAIN and SHOW TEMPORARY TABLES.
    pub cause: Arc<str>,
    /// The plan operator that creates it; `None` for tables of the engine's own.
    pub operator: Option<OperatorNumber>,
    /// Types of the columns.
    pub columns: Vec<PhysicalType>,
    /// Access structure for reading it.
    pub access: Access,
}
