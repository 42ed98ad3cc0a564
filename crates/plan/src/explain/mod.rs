//! EXPLAIN: a plan as MySQL's users know it.
//!
//! All formats read the physical plan alone, so that they show what will run.
//!
//! | format | made of | by |
//! |---|---|---|
//! | TREE | [`outline`]: a step for each operator | `tree` |
//! | JSON, version 2 | the same steps | `plan_document` |
//! | TRADITIONAL | [`blocks`]: query blocks and the tables that each reads | [`traditional`] |
//! | JSON, version 1 | the same query blocks | `block_document` |
//!
//! Behind the line of a step that makes a temporary table stand, in brackets, what is known of the table
//! ([`facts`]); in JSON it is a member that MySQL does not have. What the statement is rewritten to
//! ([`rewritten`]) and what would remove each temporary table ([`crate::removal`]) are found while the
//! statement is planned, for whoever asks for it ([`crate::Catalog::explains`]).

mod access;
mod analyzed;
mod block_document;
mod blocks;
mod document;
pub(crate) mod facts;
mod measured;
mod names;
mod outline;
mod scans;
mod plan_document;
mod rewritten;
mod traditional;
mod tree;

pub use analyzed::analyzed;
pub use facts::MemoryLimit;
pub use measured::{Measured, MeasuredTable, Measurements};
pub use outline::examined_rows;
pub use scans::{TableReader, table_readers};
pub use rewritten::identifier;
pub(crate) use rewritten::{rewritten, rewritten_change};
pub use traditional::{ExplainRow, traditional};
pub use tree::tree;

use self::document::Layout;
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

/// What is found out about a statement while it is planned.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// What a query is rewritten to.
    pub rewritten: String,
    /// What would remove each of its temporary tables.
    pub removals: Vec<Option<String>>,
}

/// How FORMAT=JSON is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonVersion {
    /// Query blocks and tables.
    Blocks {
        /// `end_markers_in_json`
        end_markers: bool,
    },
    /// Steps.
    Steps,
}

/// The plan as a JSON document.
pub fn json(subject: &Subject<'_>, version: JsonVersion) -> String {
    match version {
        JsonVersion::Blocks { end_markers } => {
            let layout = Layout {
                end_markers,
                ..Layout::default()
            };
            block_document::json(subject, layout)
        }
        JsonVersion::Steps => plan_document::json(subject),
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
