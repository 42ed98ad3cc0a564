//! State of a grouping's execution: what a strategy has left to be given.
//!
//! A strategy returns a state; the operator keeps it and opens the cursor that it asks for. Each variant owns the
//! tables that its results are read from.

use std::collections::VecDeque;

use mayfly_storage::{PartitionQueue, TempTable};
use mayfly_types::Batch;

use super::keyed_table;
use super::partitions::{Content, WholeGroups};

/// What is left of a grouping's execution.
pub(super) enum State {
    New,
    /// Results ready to be given.
    Ready(VecDeque<Batch>),
    /// Rows or partial states in partitions, grouped on demand.
    Partitioned {
        queue: PartitionQueue,
        content: Content,
        rows: u64,
        table: TempTable,
        whole: WholeGroups,
    },
    /// Groups in a table of another engine.
    Keyed(Box<keyed_table::Groups>),
}
