//! Subject of EXPLAIN: the plan and further facts.

use super::measured::{Measurements, MemoryLimit};
use crate::tree::physical::QueryPlan;

/// Statement to explain: a query, or a statement that changes the rows of a query.
#[derive(Debug, Clone, Default)]
pub struct Subject<'p> {
    /// The query; `None` for INSERT … VALUES.
    pub query: Option<&'p QueryPlan>,
    /// Change made with its rows.
    pub change: Option<Change>,
    /// Text of the rewritten statement.
    pub rewritten: Option<&'p str>,
    /// Advice on avoiding each of the query's temporary tables; empty if unknown.
    pub removals: &'p [Option<String>],
    /// Memory limits of a temporary table; the smallest one applies.
    pub limits: &'p [MemoryLimit],
    /// Measurements of its operators.
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

/// A change of tables.
#[derive(Debug, Clone)]
pub struct Change {
    /// Kind of change.
    pub kind: ChangeKind,
    /// Aliases of the tables in the statement.
    pub tables: Vec<String>,
}

/// Kind of a change.
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
    /// Value of the column `select_type`.
    pub(super) fn select_type(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Replace => "REPLACE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the changed tables are not among those that the query reads.
    pub(super) fn adds_rows(self) -> bool {
        matches!(self, Self::Insert | Self::Replace)
    }
}
