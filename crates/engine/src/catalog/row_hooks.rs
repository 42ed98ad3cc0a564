//! Hooks of a table's rows: what runs before or after each row that a statement inserts, updates or deletes (the
//! manual, "Using Triggers").
//!
//! Hooks belong to the table ([`BaseTable::hooks`](super::BaseTable::hooks)), not to the statements that write to it.
//! Single rows of a table with hooks are not written by their keys ([`BaseTable::single_rows`](super::BaseTable::single_rows)),
//! and the places through which all other rows pass, `statements::row_sink` and `statements::table_change`, cut their batches
//! at each row for it. So no path can leave a hook out. As in MySQL, changes that foreign keys cascade to other rows
//! run no hook, nor do TRUNCATE TABLE and the copying of rows by ALTER TABLE.

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_types::{Result, SqlType, Value};

use super::inner_statements::{Environment, InnerStatements};

/// When a hook runs: before or after its row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookTime {
    /// The hook may change the row to be written.
    Before,
    /// The row is visible to the hook's statements.
    After,
}

/// The change of a row that a hook runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowEvent {
    Insert,
    Update,
    Delete,
}

/// The row that a hook runs for, as it was (`OLD`) and as it becomes (`NEW`). Values are of their columns' types, with
/// TIMESTAMPs in the session's time zone.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "hooks read rows; only tests have hooks so far")
)]
pub(crate) struct HookedRow<'r> {
    /// `None` for an INSERT.
    pub(crate) old: Option<&'r [Value]>,
    /// `None` for a DELETE.
    pub(crate) new: Option<&'r mut dyn NewRow>,
}

/// A new or changed row.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "hooks read rows; only tests have hooks so far")
)]
pub(crate) trait NewRow {
    /// The values of all columns.
    fn values(&self) -> &[Value];

    /// Sets a column of the row, which a hook that runs before the row is written may do. The value is converted as
    /// that of an assignment; a NULL in a NOT NULL column is an error only if it is still there after the last hook.
    fn set(&mut self, column: usize, value: &Value, ty: &SqlType) -> Result<()>;
}

/// A hook.
pub(crate) trait RowHook: Debug + Send + Sync {
    /// The environment of its statements.
    fn environment(&self) -> &Environment;

    /// Runs the hook for a row. An error ends the statement that writes the row, and undoes it.
    fn run(&self, row: HookedRow<'_>, statements: &mut dyn InnerStatements) -> Result<()>;
}

/// The hooks of a table, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowHooks(Vec<(HookTime, RowEvent, Arc<dyn RowHook>)>);

impl RowHooks {
    /// Adds a hook behind the others.
    #[cfg(test)]
    pub(crate) fn add(&mut self, time: HookTime, event: RowEvent, hook: Arc<dyn RowHook>) {
        self.0.push((time, event, hook));
    }

    /// Whether there is a hook for an event, before or after it.
    pub(crate) fn has(&self, event: RowEvent) -> bool {
        self.0.iter().any(|(_, known, _)| *known == event)
    }

    /// The hooks of a time and an event, in order.
    pub(crate) fn of(
        &self,
        time: HookTime,
        event: RowEvent,
    ) -> impl Iterator<Item = &Arc<dyn RowHook>> {
        let hooks = self.0.iter();
        let hooks = hooks.filter(move |(at, of, _)| (*at, *of) == (time, event));
        hooks.map(|(_, _, hook)| hook)
    }
}
