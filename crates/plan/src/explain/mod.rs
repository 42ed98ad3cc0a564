//! EXPLAIN: a plan as MySQL's users know it, in the traditional format, as a tree, and as JSON.
//!
//! All formats read the physical plan alone, so that they show what will run. In the tree a
//! temporary table is followed by the reason why it exists, in brackets:
//! `-> Aggregate using temporary table  (cost=0.55 rows=2) [GROUP BY has no index to follow]`.

mod access;
mod json;
mod outline;
mod scans;
mod traditional;
mod tree;

pub use json::json;
pub use outline::examined_rows;
pub use scans::{TableReader, table_readers};
pub use traditional::{ExplainRow, traditional};
pub use tree::tree;

use crate::tree::physical::QueryPlan;

/// What is explained: a query, or a statement that changes what a query finds.
#[derive(Debug, Clone)]
pub struct Subject<'p> {
    /// The query; none of INSERT … VALUES.
    pub query: Option<&'p QueryPlan>,
    /// What is done with its rows.
    pub change: Option<Change>,
}

impl<'p> From<&'p QueryPlan> for Subject<'p> {
    fn from(query: &'p QueryPlan) -> Self {
        Self {
            query: Some(query),
            change: None,
        }
    }
}

/// A fact of a step, as a value of a JSON document.
enum Fact {
    Text(String),
    Flag(bool),
    List(Vec<String>),
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
    fn select_type(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Replace => "REPLACE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the tables are not among those that the query reads.
    fn adds_rows(self) -> bool {
        matches!(self, Self::Insert | Self::Replace)
    }
}

#[cfg(test)]
mod tests;
