//! Changes and removals of rows of one table: every UPDATE and DELETE goes through [`TableChange`], batch by batch of
//! the rows that were found (see `mayfly_plan::change`).
//!
//! Rows are locked before they are changed. If another transaction has changed one since it was found, the statement
//! is to be retried, and nothing done so far takes effect.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use mayfly_exec::ExecutionContext;
use mayfly_plan::{ChangeTarget, NewValue};
use mayfly_storage::{LockMode, LockWait, Locked, Table};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, Value};

use super::auto_increment::number_of;
use super::listed_columns::refuse_generated;
use super::row_hooks;
use super::row_rules::{Origin, RowRules, column_builders, filtered};
use super::row_target::true_rows;
use super::same_values::same_value;
use super::writers::{Refusal, WriterId, Writers};
use crate::binding::expressions::Bound;
use crate::builder::{self, ColumnBuilder};
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::catalog::row_hooks::{RowEvent, RowHooks};
use crate::catalog::stored_functions::FunctionUse;
use crate::convert;
use crate::session::StatementContext;
use crate::variables::typed;

/// Positions of rows that were met before.
enum Seen {
    /// A set, for rows in any order.
    Any(HashSet<Box<[u8]>>),
    /// The last position, for rows ordered by position.
    Ordered(Option<Box<[u8]>>),
}

impl Default for Seen {
    fn default() -> Self {
        Self::Any(HashSet::new())
    }
}

impl Seen {
    fn is_new(&mut self, position: &[u8]) -> bool {
        match self {
            Self::Any(seen) => seen.insert(Box::from(position)),
            Self::Ordered(Some(last)) if **last == *position => false,
            Self::Ordered(last) => {
                *last = Some(Box::from(position));
                true
            }
        }
    }
}

/// Outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Done,
    /// A row has changed since it was found.
    Retry,
}

/// A target table of a statement, with its changes.
pub(super) struct TableChange<'t> {
    table: &'t BaseTable,
    handle: Arc<dyn Table>,
    pub(super) writer: WriterId,
    target: &'t ChangeTarget,
    rules: RowRules<'t>,
    hooks: Option<Arc<RowHooks>>,
    assignments: Vec<NewColumn>,
    /// WITH CHECK OPTION of the view through which rows are changed.
    check: Option<Bound>,
    /// The rows met so far, if a row may be found more than once.
    seen: Option<Seen>,
    wait: LockWait,
    parameters: &'t [Value],
    pub(super) matched: u64,
    pub(super) changed: u64,
}

struct NewColumn {
    column: usize,
    source: Source,
}

enum Source {
    Default(Origin),
    /// A column of the query, and its type.
    Column(usize, SqlType),
    Computed(Bound),
}

/// New values of columns, and which of them the statement sets.
struct Assigned {
    columns: Vec<ArrayRef>,
    set: Vec<bool>,
}

impl<'t> TableChange<'t> {
    /// `types` are those of the query's columns; `repeats`: the query may find a row more than once.
    pub(super) fn new(
        context: &StatementContext<'_>,
        table: &'t BaseTable,
        (handle, writer): (Arc<dyn Table>, WriterId),
        target: &'t ChangeTarget,
        execution: &Arc<ExecutionContext>,
        options: ChangeOptions<'t>,
    ) -> Result<Self> {
        let definition = &table.definition;
        let mut rules = RowRules::new(context, definition, options.ignore, false)?;
        rules.defers_nulls = table.hooks.is_some();
        let mut assignments = Vec::with_capacity(target.assignments.len());
        for assignment in &target.assignments {
            let column = assignment.column;
            let source = match &assignment.value {
                NewValue::Default if definition.columns[column].generated.is_some() => continue,
                NewValue::Default => Source::Default(rules.default_of(column)),
                NewValue::Column(position) => {
                    Source::Column(*position, options.types[*position].clone())
                }
                NewValue::Computed(value) => {
                    Source::Computed(Bound::of_plan(Arc::clone(value), execution))
                }
            };
            if !matches!(source, Source::Default(_)) {
                refuse_generated(definition, column)?;
            }
            assignments.push(NewColumn { column, source });
        }
        Ok(Self {
            table,
            handle,
            writer,
            target,
            rules,
            hooks: table.hooks.clone(),
            assignments,
            check: target
                .check
                .as_ref()
                .map(|check| Bound::of_plan(Arc::clone(&check.condition), execution)),
            seen: options.repeats.then(Seen::default),
            wait: lock_wait(context),
            parameters: options.parameters,
            matched: 0,
            changed: 0,
        })
    }

    /// Declares that rows come ordered by position.
    pub(super) fn expect_order(&mut self) {
        self.seen = self.seen.take().map(|_| Seen::Ordered(None));
    }

    /// The definition of the changed table.
    pub(super) fn definition(&self) -> &TableDefinition {
        &self.table.definition
    }

    /// The column of the query that holds the position of the target's row.
    pub(super) fn position(&self) -> usize {
        self.target.position
    }

    /// The rows of a batch that are to be changed, each once, and locked: `None` when one of them has changed since
    /// it was found.
    fn take(&mut self, batch: &Batch) -> Result<Option<Batch>> {
        let positions = batch.column(self.target.position).as_binary_view();
        let mut wanted = None;
        if self.seen.is_some() || positions.null_count() > 0 {
            let is_new = |row: usize| {
                positions.is_valid(row)
                    && self
                        .seen
                        .as_mut()
                        .is_none_or(|seen| seen.is_new(positions.value(row)))
            };
            let rows: Vec<bool> = (0..positions.len()).map(is_new).collect();
            wanted = Some(rows).filter(|rows| rows.contains(&false));
        }
        let batch = filtered(batch.clone(), wanted.map(BooleanArray::from).as_ref())?;
        if batch.is_empty() {
            return Ok(Some(batch));
        }
        let positions = batch.column(self.target.position);
        let locked = self
            .handle
            .lock(positions, LockMode::Exclusive, self.wait)?;
        Ok(match locked {
            Locked::Changed => None,
            Locked::Unchanged(_) => Some(batch),
        })
    }

    /// Removes the rows of a batch. They are appended to `returned`, if given.
    pub(super) fn delete(
        &mut self,
        context: &mut StatementContext<'_>,
        writers: &mut Writers,
        batch: &Batch,
        returned: Option<&mut Vec<Batch>>,
    ) -> Result<Step> {
        // An earlier batch has removed the rows met before.
        if let Some(Seen::Any(seen)) = &mut self.seen {
            seen.clear();
        }
        let Some(batch) = self.take(batch)? else {
            return Ok(Step::Retry);
        };
        if batch.is_empty() {
            return Ok(Step::Done);
        }
        self.matched += batch.row_count() as u64;
        let positions = batch.column(self.target.position);
        let mut first = 0;
        while first < positions.len() {
            if let Some(hooks) = &self.hooks {
                let position = positions.as_binary_view().value(first);
                let of_row = (&**hooks, &self.rules);
                let row = (self.writer, position);
                let (deleted, refusal) = row_hooks::delete(context, writers, of_row, row)?;
                self.changed += deleted;
                first += 1;
                if let Some(Refusal::ForeignKey(error)) = refusal {
                    self.rules.warn(error);
                }
                continue;
            }
            let rest = positions.slice(first, positions.len() - first);
            let (done, deleted, refusal) = writers.delete(context, self.writer, &rest)?;
            self.changed += deleted;
            first += done;
            if let Some(Refusal::ForeignKey(error)) = refusal {
                self.rules.warn(error);
                first += 1;
            }
        }
        if let Some(returned) = returned {
            returned.push(Batch::new(self.row_of(&batch), batch.row_count()));
        }
        Ok(Step::Done)
    }

    /// The columns of the target's rows.
    fn row_of(&self, batch: &Batch) -> Vec<ArrayRef> {
        let first = self.target.row.unwrap_or(0);
        batch.columns()[first..first + self.table.definition.columns.len()].to_vec()
    }

    /// Changes the rows of a batch. `shared`: the statement also changes the table under another name, so that a row
    /// may have changed since it was found.
    pub(super) fn update(
        &mut self,
        context: &mut StatementContext<'_>,
        writers: &mut Writers,
        batch: &Batch,
        shared: bool,
    ) -> Result<Step> {
        let Some(batch) = self.take(batch)? else {
            return Ok(Step::Retry);
        };
        let rows = batch.row_count();
        let at_once = if self.hooks.is_some() { 1 } else { rows.max(1) };
        for first in (0..rows).step_by(at_once) {
            self.update_rows(context, writers, batch.slice(first, at_once), shared)?;
        }
        Ok(Step::Done)
    }

    /// Changes locked rows, one by one if the table has hooks.
    fn update_rows(
        &mut self,
        context: &mut StatementContext<'_>,
        writers: &mut Writers,
        batch: Batch,
        shared: bool,
    ) -> Result<()> {
        let rows = batch.row_count();
        let before = self.matched;
        self.matched += rows as u64;
        let positions = Arc::clone(batch.column(self.target.position));
        let mut old = self.row_of(&batch);
        if shared {
            self.refresh(writers, &positions, &mut old)?;
        }
        // Assignments that call functions are computed once.
        let quietly = match context.functions() {
            FunctionUse::None => self.assign(context, &batch, &old, before, true)?,
            _ => None,
        };
        let mut assigned = match quietly {
            Some(assigned) => assigned,
            None => self.assign_row_by_row(context, &batch, &old, before)?,
        };
        let hooks = self.hooks.clone();
        if let Some(hooks) = &hooks {
            let new = (&mut *assigned.columns, &mut *assigned.set);
            let of_row = (&**hooks, &self.rules);
            row_hooks::before_update(context, writers, of_row, &old, new, before)?;
        }
        let differs = |row: usize| {
            let mut set = (0..old.len()).filter(|column| assigned.set[*column]);
            set.any(|column| !same_value(&old[column], &assigned.columns[column], row))
        };
        let differs: Vec<bool> = (0..rows).map(differs).collect();
        let mut columns = assigned.columns;
        if let Some(hooks) = &hooks
            && differs == [false]
        {
            let (of_row, new) = ((&**hooks, &self.rules), Some(&*columns));
            let event = RowEvent::Update;
            return row_hooks::after(context, writers, of_row, event, Some(&old), new);
        }
        columns.push(positions);
        let mut changed = Batch::new(columns, rows);
        // Columns other than the row's that WITH CHECK OPTION reads.
        let mut found = self.target.check.is_some().then_some(batch);
        if differs.contains(&false) {
            let differs = BooleanArray::from(differs);
            changed = filtered(changed, Some(&differs))?;
            let of_changed = found.map(|found| filtered(found, Some(&differs)));
            found = of_changed.transpose()?;
        }
        if changed.is_empty() {
            return Ok(());
        }
        let rows = changed.row_count();
        let mut columns = changed.into_columns();
        let positions = columns.pop();
        self.rules
            .complete_change(&mut columns, &assigned.set, rows, before)?;
        let batch = Batch::new(columns.clone(), rows);
        let checked = context.lending(|| self.rules.check(&batch))?;
        let mut good = checked.map(|good| good.iter().flatten().collect::<Vec<bool>>());
        if let Some(found) = &found
            && let Some(shown) = self.shown(context, found, &columns)?
        {
            let refusal = || match &self.target.check {
                Some(check) => codes::ER_VIEW_CHECK_FAILED.with(&[&check.view.0, &check.view.1]),
                None => Error::internal("a check of no view"),
            };
            self.rules.left_out(&shown, &mut good, refusal)?;
        }
        columns.extend(positions);
        let good = good.map(BooleanArray::from);
        let changed = filtered(Batch::new(columns, rows), good.as_ref())?;
        if let Some(column) = self.table.definition.auto_increment_column()
            && assigned.set[column]
        {
            for row in 0..changed.row_count() {
                let number = number_of(&convert::value_at(changed.column(column), row));
                let numbers = self.table.numbers(context);
                numbers.advance(number.saturating_add(1));
            }
        }
        let new = hooks.map(|hooks| (hooks, changed.columns()[..old.len()].to_vec()));
        let written = self.changed;
        self.write(context, writers, changed, &assigned.set)?;
        match new {
            Some((hooks, new)) if self.changed > written => {
                let (of_row, new) = ((&*hooks, &self.rules), Some(&*new));
                let event = RowEvent::Update;
                row_hooks::after(context, writers, of_row, event, Some(&old), new)
            }
            _ => Ok(()),
        }
    }

    /// The changed rows that pass WITH CHECK OPTION; `None`: all.
    fn shown(
        &self,
        context: &mut StatementContext<'_>,
        found: &Batch,
        row: &[ArrayRef],
    ) -> Result<Option<BooleanArray>> {
        let Some(check) = &self.check else {
            return Ok(None);
        };
        let rows = self.with_row(found, row);
        let values = context.lending(|| check.evaluate_with(&rows, self.parameters))?;
        self.rules.refuse_warnings()?;
        Ok(true_rows(&values))
    }

    /// A batch of the query with the columns of the target's row replaced.
    fn with_row(&self, batch: &Batch, row: &[ArrayRef]) -> Batch {
        let mut columns = batch.columns().to_vec();
        let first = self.target.row.unwrap_or(0);
        columns[first..first + row.len()].clone_from_slice(row);
        Batch::new(columns, batch.row_count())
    }

    /// Writes rows, whose last column is their position.
    fn write(
        &mut self,
        context: &StatementContext<'_>,
        writers: &mut Writers,
        changed: Batch,
        assigned: &[bool],
    ) -> Result<()> {
        let count = changed.row_count();
        let mut columns = changed.into_columns();
        let Some(positions) = columns.pop() else {
            return Ok(());
        };
        let rows = Batch::new(columns, count);
        let mut first = 0;
        while first < count {
            let rest = count - first;
            let (done, refusal) = writers.update(
                context,
                self.writer,
                &positions.slice(first, rest),
                &rows.slice(first, rest),
                Some(assigned),
            )?;
            self.changed += done as u64;
            first += done;
            let error = match refusal {
                None => break,
                Some(Refusal::ForeignKey(error)) => error,
                Some(Refusal::Duplicate(conflict)) => {
                    let writer = writers.of(self.writer);
                    writer.duplicate_entry(&conflict, &rows, first)
                }
            };
            self.rules.warn_if(self.rules.ignore, error)?;
            first += 1;
        }
        Ok(())
    }

    /// The rows as the writer has them now.
    fn refresh(
        &self,
        writers: &mut Writers,
        positions: &ArrayRef,
        old: &mut [ArrayRef],
    ) -> Result<()> {
        let mut builders = column_builders(&self.table.definition);
        let positions = positions.as_binary_view();
        for row in 0..positions.len() {
            let current = writers
                .of(self.writer)
                .writer()?
                .current(positions.value(row))?;
            for (index, builder) in builders.iter_mut().enumerate() {
                builder.push(&match &current {
                    Some(current) => convert::value_at(current.column(index), 0),
                    None => convert::value_at(&old[index], row),
                });
            }
        }
        for (column, builder) in old.iter_mut().zip(&mut builders) {
            *column = builder.finish();
        }
        Ok(())
    }

    /// The rows with their new values. `quietly`: `None` when a value needs an error or a warning.
    fn assign(
        &self,
        context: &mut StatementContext<'_>,
        batch: &Batch,
        old: &[ArrayRef],
        rows_before: u64,
        quietly: bool,
    ) -> Result<Option<Assigned>> {
        let rows = batch.row_count();
        let mut columns = old.to_vec();
        let mut set = vec![false; old.len()];
        for assignment in &self.assignments {
            let column = &self.table.definition.columns[assignment.column];
            let (values, ty) = match &assignment.source {
                Source::Default(origin) => {
                    let value = match origin {
                        Origin::Constant(value) => value.clone(),
                        Origin::Computed(bound) => {
                            columns[assignment.column] = self.rules.compute(
                                bound,
                                assignment.column,
                                &columns,
                                rows,
                                rows_before,
                            )?;
                            set[assignment.column] = true;
                            continue;
                        }
                        _ => self.rules.missing(column)?,
                    };
                    (builder::constant(&value, &column.ty, rows), &column.ty)
                }
                Source::Column(position, ty) => (Arc::clone(batch.column(*position)), ty),
                Source::Computed(bound) => {
                    let row = self.with_row(batch, &columns);
                    let values = || bound.evaluate_with(&row, self.parameters);
                    let values = context.lending(values)?;
                    self.rules.refuse_warnings()?;
                    (values, bound.ty())
                }
            };
            let stored = if quietly {
                self.rules.store_quietly(&values, ty, column)
            } else {
                Some(self.rules.store(&values, ty, column, rows_before)?)
            };
            let Some(stored) = stored else {
                return Ok(None);
            };
            columns[assignment.column] = stored;
            set[assignment.column] = true;
        }
        Ok(Some(Assigned { columns, set }))
    }

    fn assign_row_by_row(
        &self,
        context: &mut StatementContext<'_>,
        batch: &Batch,
        old: &[ArrayRef],
        rows_before: u64,
    ) -> Result<Assigned> {
        let mut builders = column_builders(&self.table.definition);
        let mut set = vec![false; old.len()];
        for row in 0..batch.row_count() {
            let one: Vec<ArrayRef> = old.iter().map(|column| column.slice(row, 1)).collect();
            let number = rows_before + row as u64;
            let batch = batch.slice(row, 1);
            if let Some(assigned) = self.assign(context, &batch, &one, number, false)? {
                for (builder, column) in builders.iter_mut().zip(&assigned.columns) {
                    builder.push(&convert::value_at(column, 0));
                }
                set = assigned.set;
            }
        }
        Ok(Assigned {
            columns: builders.iter_mut().map(ColumnBuilder::finish).collect(),
            set,
        })
    }
}

/// Options common to the targets of a statement.
#[derive(Clone, Copy)]
pub(super) struct ChangeOptions<'t> {
    pub(super) ignore: bool,
    /// Whether the query may find a row more than once.
    pub(super) repeats: bool,
    /// The types of the query's columns.
    pub(super) types: &'t [SqlType],
    /// The values of `?`.
    pub(super) parameters: &'t [Value],
}

/// How a statement waits for row locks: `innodb_lock_wait_timeout`.
pub(super) fn lock_wait(context: &StatementContext<'_>) -> LockWait {
    let seconds = context.settings().get(typed::INNODB_LOCK_WAIT_TIMEOUT);
    LockWait::For(Duration::from_secs(seconds))
}
