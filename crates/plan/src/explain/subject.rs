//! What is explained, and what is known of it besides its plan.

use super::measured::{Measurements, MemoryLimit};
use crate::tree::physical::QueryPlan;

/// What is explained: a query, or a statement that changes what a query finds.
#[derive(Debug, Clone, Default)]
pub struct Subject<'p> {
    /// The query; none of INSERT … VALUES.
    pub query: Option<&'p QueryPlan>,
    /// What is done with its rows.
    pub change: Option<Change>,
    /// What the statement is rewritten to.
    pub rewritten: Option<&'p str>,
    /// What would remove each of the query's temporary tables; nothing where that is not known.
    pub removals: &'p [Option<String>],
    /// What a temporary table may take of memory; it may take no more than the least of them.
    pub limits: &'p [MemoryLimit],
    /// What its operators did.
    pub measured: Option<&'p Measurements>,
}

impl<'p> From<&'p QueryPlan> for Subject<'p> {
    fn from(query: &'p QueryPlan) -> Self {
        Self {
            query: Some(query),
            ..Self::default()
        }
    }
}

/// What a statement does to tables.
#[derive(Debug, Clone)]
pub struct Change {
    /// What is done.
    pub kind: ChangeKind,
    /// The tables, by the names that the statement gives them.
    pub tables: Vec<String>,
}

/// Ways to change a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// INSERT
    Insert,
    /// REPLACE
    Replace,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
}

impl ChangeKind {
    /// The value of the column `select_type`.
    pub(super) fn select_type(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Replace => "REPLACE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the tables are not among those that the query reads.
    pub(super) fn adds_rows(self) -> bool {
        matches!(self, Self::Insert | Self::Replace)
    }
}
