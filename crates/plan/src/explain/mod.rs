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
pub use traditional::{ExplainRow, traditional};
pub use tree::tree;

use crate::document::Layout;

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

#[cfg(test)]
mod tests;
