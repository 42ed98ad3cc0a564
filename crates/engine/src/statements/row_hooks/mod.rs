//! Running a table's hooks ([`crate::catalog::row_hooks`]) for the rows that a statement writes.
//!
//! Each hook runs in a frame of its own. The statement's writers are flushed before it, so that its statements see all
//! rows written so far. As in MySQL, a BEFORE hook sees the row with its defaults, generated columns and ON UPDATE
//! timestamps, but without its AUTO_INCREMENT number, and before NULLs in NOT NULL columns, missing defaults and CHECK
//! constraints are refused: it may set what is missing.

#[cfg(test)]
mod tests;

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, Value};

use super::row_rules::RowRules;
use super::same_values::same_value;
use super::writers::row_writer::one_position;
use super::writers::{Refusal, WriterId, Writers};
use crate::catalog::row_hooks::{HookTime, HookedRow, NewRow, RowEvent, RowHooks};
use crate::session::StatementContext;
use crate::{builder, convert};

/// A row that hooks may change, with the rules of its table.
pub(super) struct HookRow<'r> {
    rules: &'r RowRules<'r>,
    /// Number of the row in the statement, for errors.
    number: u64,
    values: Vec<Value>,
    /// The columns that hooks have set.
    set: Vec<bool>,
}

impl<'r> HookRow<'r> {
    /// The first row of some columns.
    pub(super) fn new(rules: &'r RowRules<'r>, columns: &[ArrayRef], number: u64) -> Self {
        Self {
            rules,
            number,
            set: vec![false; columns.len()],
            values: row_values(columns),
        }
    }

    /// Shows a value to hooks that is not in the row yet.
    pub(super) fn show(&mut self, column: usize, value: Value) {
        self.values[column] = value;
    }

    /// Puts the values that hooks have set into the columns of the row; returns which those are.
    pub(super) fn put_into(self, columns: &mut [ArrayRef]) -> Vec<bool> {
        let definitions = &self.rules.definition.columns;
        for (position, column) in columns.iter_mut().enumerate() {
            if self.set[position] {
                let ty = &definitions[position].ty;
                *column = builder::constant(&self.values[position], ty, 1);
            }
        }
        self.set
    }
}

impl NewRow for HookRow<'_> {
    fn values(&self) -> &[Value] {
        &self.values
    }

    fn set(&mut self, column: usize, value: &Value, ty: &SqlType) -> Result<()> {
        let definition = &self.rules.definition.columns[column];
        self.values[column] = self.rules.store_value(value, ty, definition, self.number)?;
        self.set[column] = true;
        Ok(())
    }
}

/// The values of the first row of some columns.
pub(super) fn row_values(columns: &[ArrayRef]) -> Vec<Value> {
    let values = columns.iter().map(|column| convert::value_at(column, 0));
    values.collect()
}

/// Runs the hooks of a time and an event for a row. Its table is among those of `writers`.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    writers: &mut Writers,
    (hooks, time, event): (&RowHooks, HookTime, RowEvent),
    old: Option<&[Value]>,
    mut new: Option<&mut HookRow<'_>>,
) -> Result<()> {
    for hook in hooks.of(time, event) {
        writers.flush()?;
        let mut frame = context.frame(hook.environment(), writers.targets())?;
        let row = HookedRow {
            old,
            new: new.as_deref_mut().map(|row| row as &mut dyn NewRow),
        };
        hook.run(row, &mut frame)?;
    }
    Ok(())
}

/// Runs the BEFORE UPDATE hooks for a row whose columns are assigned, but not completed: `old` becomes `columns`, of
/// which the statement has set those of `set`. `rows_before`: rows of the statement before this one.
pub(super) fn before_update(
    context: &mut StatementContext<'_>,
    writers: &mut Writers,
    (hooks, rules): (&RowHooks, &RowRules<'_>),
    old: &[ArrayRef],
    (columns, set): (&mut [ArrayRef], &mut [bool]),
    rows_before: u64,
) -> Result<()> {
    let mut pairs = old.iter().zip(&*columns);
    if pairs.any(|(old, new)| !same_value(old, new, 0)) {
        rules.complete_change(columns, set, 1, rows_before)?;
    }
    let mut row = HookRow::new(rules, columns, rows_before + 1);
    let what = (hooks, HookTime::Before, RowEvent::Update);
    run(
        context,
        writers,
        what,
        Some(&row_values(old)),
        Some(&mut row),
    )?;
    for (set, by_hook) in set.iter_mut().zip(row.put_into(columns)) {
        *set |= by_hook;
    }
    rules.settle_nulls(columns)
}

/// Runs the AFTER hooks of an event for a row as it was and as it is; `None` where it was not, or is not there.
pub(super) fn after(
    context: &mut StatementContext<'_>,
    writers: &mut Writers,
    (hooks, rules): (&RowHooks, &RowRules<'_>),
    event: RowEvent,
    old: Option<&[ArrayRef]>,
    new: Option<&[ArrayRef]>,
) -> Result<()> {
    let old = old.map(row_values);
    let mut new = new.map(|new| HookRow::new(rules, new, 0));
    let what = (hooks, HookTime::After, event);
    run(context, writers, what, old.as_deref(), new.as_mut())
}

/// Removes a row with its hooks: returns how many rows were removed, and why one was not. Nothing is done without the
/// row.
pub(super) fn delete(
    context: &mut StatementContext<'_>,
    writers: &mut Writers,
    (hooks, rules): (&RowHooks, &RowRules<'_>),
    (table, position): (WriterId, &[u8]),
) -> Result<(u64, Option<Refusal>)> {
    let Some(old) = writers.of(table).writer()?.current(position)? else {
        return Ok((0, None));
    };
    let values = row_values(old.columns());
    let before = (hooks, HookTime::Before, RowEvent::Delete);
    run(context, writers, before, Some(&values), None)?;
    let (_, deleted, refusal) = writers.delete(context, table, &one_position(position))?;
    if deleted > 0 {
        let old = Some(old.columns());
        after(
            context,
            writers,
            (hooks, rules),
            RowEvent::Delete,
            old,
            None,
        )?;
    }
    Ok((deleted, refusal))
}
