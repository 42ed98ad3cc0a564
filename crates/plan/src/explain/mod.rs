//! EXPLAIN: plans in the formats of MySQL.
//!
//! All formats read only the physical plan, so that they show what will run.
//!
//! | format | made of | by |
//! |---|---|---|
//! | TREE | [`outline`]: a step for each operator | `tree` |
//! | JSON, version 2 | the same steps | `plan_document` |
//! | TRADITIONAL | [`blocks`]: query blocks and the tables that each reads | [`mod@traditional`] |
//! | JSON, version 1 | the same query blocks | `block_document` |
//!
//! The line of a step that creates a temporary table has a description of the table in brackets ([`facts`]); in JSON it
//! is a member that MySQL does not have. The rewritten statement ([`mod@rewritten`]) and the advice on avoiding each
//! temporary table ([`crate::removal`]) are computed during planning, if asked for ([`crate::Catalog::explains`]).

pub(crate) mod access;
mod analyzed;
mod block_document;
mod blocks;
mod executed;
pub(crate) mod facts;
mod measured;
pub(crate) mod names;
mod number;
mod outline;
mod plan_document;
mod rewritten;
mod scans;
mod subject;
mod traditional;
mod tree;

pub use analyzed::analyzed;
pub use executed::{ExecutedTable, note_executed};
pub use facts::has_windows;
pub(crate) use facts::planned_tables;
pub use measured::{Measured, MeasuredTable, Measurements, MemoryLimit};
pub use outline::examined_rows;
pub use rewritten::identifier;
pub(crate) use rewritten::{change_text, query_text, rewritten, shaped};
pub use scans::{TableReader, table_readers};
pub use subject::{Change, ChangeKind, Subject};
pub use traditional::{ExplainRow, note_prediction, traditional};
pub use tree::tree;

use crate::document::Layout;

/// Version of FORMAT=JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonVersion {
    /// Version 1: query blocks and tables.
    Blocks {
        /// `end_markers_in_json`
        end_markers: bool,
    },
    /// Version 2: steps.
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

#[cfg(test)]
mod tests;
