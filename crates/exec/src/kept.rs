//! Results that are kept for other statements, as execution sees them: the hint RESULT_CACHE.
//!
//! Execution looks for a shared result with the hint before it computes it, and offers it when it has. Whether rows of
//! other statements may be read depends on the state of the tables as this statement sees them, so the tables are asked
//! before a result is looked for, and again by their versions when it is kept.

use std::time::Duration;

use mayfly_plan::physical::KeptResult;
use mayfly_storage::{TableState, TempTable};
use mayfly_types::Value;

/// The kept results of a database, as a statement of a session sees them.
pub trait KeptResults: Send + Sync {
    /// The rows of a result, if they are kept and may be read. `tables` are the states of the tables that it reads, in
    /// their order, and `parameters` the values that it depends on.
    fn find(&self, kept: &KeptResult, tables: Vec<TableState>, parameters: Vec<Value>) -> Found;
}

/// What was found of a result.
pub enum Found {
    /// Its rows.
    Kept(TempTable),
    /// Nothing, but it may be kept once it is computed.
    Absent(Box<dyn ResultKeeper>),
    /// The result is neither read nor kept.
    Passed,
}

/// Keeps one result.
pub trait ResultKeeper {
    /// Keeps a copy of the rows, which have taken `time` to compute, if that is worth it.
    fn keep(self: Box<Self>, rows: &TempTable, time: Duration);
}

/// No result is kept.
#[derive(Debug)]
pub struct NothingKept;

impl KeptResults for NothingKept {
    fn find(&self, _: &KeptResult, _: Vec<TableState>, _: Vec<Value>) -> Found {
        Found::Passed
    }
}
