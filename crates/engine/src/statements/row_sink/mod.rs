//! Insertion of rows into a table: every statement that adds rows uses [`RowSink`].
//!
//! Rows come either as batches of a query's columns ([`RowSink::append`]), which are stored column by column, or
//! value by value ([`RowSink::set`]). Either way they become batches of the table's columns, which one function
//! completes with what the statement omitted (defaults, AUTO_INCREMENT numbers, generated columns) and checks against
//! the rules of the table ([`RowRules`]). Then they are written ([`Writers`]); the statement's [`OnDuplicate`] says
//! what a duplicate key does. Nothing is visible to later statements before [`RowSink::finish`]; a sink that is
//! dropped leaves the table unchanged.

pub(super) mod duplicates;
mod numbering;

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use mayfly_types::convert::implicit_default;
use mayfly_types::{Batch, Error, Result, SqlType, Value};

use super::auto_increment::{is_explicit, number_of};
use super::row_hooks::{self, HookRow};
use super::row_rules::{Origin, RowRules, column_builders, filtered, unset_value};
use super::row_target::RunningView;
use super::same_values::same_row;
use super::writers::row_writer::{Conflict, one_position};
use super::writers::{Refusal, WriterId, Writers};
use crate::builder::{self, ColumnBuilder};
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefinition, TableDefinition};
use crate::catalog::row_hooks::{HookTime, RowEvent, RowHooks};
use crate::catalog::stored_functions::FunctionUse;
use crate::convert;
use crate::result::StatementResult;
use crate::session::StatementContext;
use crate::statements::row_sink::duplicates::DuplicateUpdate;
use crate::status::Counter;

/// AUTO_INCREMENT numbers that one record in the data directory reserves.
pub(super) const NUMBERS_AHEAD: u64 = 1000;

/// Rows per batch when rows are appended value by value.
const ROWS_PER_BATCH: usize = 4096;

/// Counts of a sink's rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    /// Rows added.
    pub(crate) inserted: u64,
    /// Rows skipped because of a duplicate key, or by IGNORE.
    pub(crate) skipped: u64,
    /// Rows replaced by a row with a duplicate key.
    pub(crate) deleted: u64,
    /// Rows updated because of a duplicate key.
    pub(crate) updated: u64,
    /// Rows that ON DUPLICATE KEY UPDATE left unchanged.
    pub(crate) untouched: u64,
    /// The first AUTO_INCREMENT number generated for an added row.
    pub(crate) first_generated: Option<u64>,
    /// The last explicit AUTO_INCREMENT number, or 0.
    pub(crate) last_explicit: u64,
}

impl Written {
    /// Number of rows that the statement gave.
    pub(crate) fn records(&self) -> u64 {
        self.inserted + self.skipped + self.updated + self.untouched
    }

    /// The value of ROW_COUNT(): an updated row counts twice.
    fn affected(&self) -> u64 {
        self.inserted + self.deleted + 2 * self.updated
    }

    /// Number of rows with a duplicate key.
    fn duplicates(&self) -> u64 {
        self.skipped + self.deleted + self.updated
    }

    /// The result of the statement.
    pub(crate) fn result(&self) -> StatementResult {
        StatementResult {
            affected_rows: self.affected(),
            last_insert_id: self.first_generated.unwrap_or(self.last_explicit),
            ..StatementResult::default()
        }
    }

    /// The result of the statement, with the text "Records: …".
    pub(crate) fn result_with_info(&self, context: &StatementContext<'_>) -> StatementResult {
        let (records, duplicates) = (self.records(), self.duplicates());
        let warnings = context.diagnostics().count();
        StatementResult {
            info: format!("Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}")
                .into(),
            ..self.result()
        }
    }
}

/// Handling of a row with a duplicate key.
pub(crate) enum OnDuplicate {
    /// Error 1062; with IGNORE a warning, and the row is skipped.
    Refuse,
    /// REPLACE: the existing row is removed.
    Replace,
    /// ON DUPLICATE KEY UPDATE: the existing row is changed.
    Update(Box<DuplicateUpdate>),
}

/// Target of rows, and options of their insertion.
pub(super) struct Insertion<'t> {
    pub(super) table: &'t Arc<BaseTable>,
    /// The positions of the columns that the statement gives, in its order.
    pub(super) positions: &'t [usize],
    pub(super) ignore: bool,
    /// The view through which the rows are added.
    pub(super) view: Option<RunningView<'t>>,
    pub(super) on_duplicate: OnDuplicate,
    /// Whether the rows are kept for RETURNING.
    pub(super) returns: bool,
    /// SET insert_id: the first AUTO_INCREMENT number; 0 for the table's next number.
    pub(super) first_number: u64,
}

impl<'t> Insertion<'t> {
    /// Inserts rows with the columns at these positions given, without options.
    pub(super) fn plain(table: &'t Arc<BaseTable>, positions: &'t [usize]) -> Self {
        Self {
            table,
            positions,
            ignore: false,
            view: None,
            on_duplicate: OnDuplicate::Refuse,
            returns: false,
            first_number: 0,
        }
    }

    /// Whether only the order of the table's rows depends on the order of insertion: no row is numbered, refused,
    /// skipped or returned, or seen by a hook.
    pub(super) fn takes_any_order(&self) -> bool {
        let definition = &self.table.definition;
        matches!(self.on_duplicate, OnDuplicate::Refuse)
            && !self.ignore
            && !self.returns
            && self.table.hooks.is_none()
            && definition.auto_increment_column().is_none()
            && definition.unique_keys().next().is_none()
    }
}

/// A row under construction, value by value. The values of earlier rows are in the builders.
struct RowInMaking {
    builders: Vec<ColumnBuilder>,
    /// The row's values; `None` for columns not set.
    values: Vec<Option<Value>>,
    rows: usize,
    /// Whether one of the rows has an explicit AUTO_INCREMENT number.
    has_explicit: bool,
}

/// A sink that adds rows to one table for one statement.
pub(crate) struct RowSink<'t, 's> {
    pub(super) context: &'t mut StatementContext<'s>,
    definition: &'t TableDefinition,
    table: &'t BaseTable,
    rules: RowRules<'t>,
    hooks: Option<Arc<RowHooks>>,
    /// The positions of the columns that the statement gives, in its order.
    positions: &'t [usize],
    origins: Vec<Origin>,
    writers: Writers,
    writer: WriterId,
    on_duplicate: OnDuplicate,
    /// The written rows, for RETURNING.
    returned: Option<Vec<Batch>>,
    making: RowInMaking,
    /// Rows of the statement before the present batch.
    rows_before: u64,
    /// AUTO_INCREMENT numbers of rows that were not added, for later rows.
    spare_numbers: VecDeque<u64>,
    /// Number of rows that VALUES lists: numbers for all of them are taken at once. 0 for other sources.
    listed_rows: u64,
    /// Numbers taken but unused: the next one, and their count.
    taken_numbers: (u64, u64),
    /// The first row of the statement with a generated number.
    first_numbered: Option<u64>,
    /// The next number, if set by `insert_id`.
    forced_number: Option<u64>,
    written: Written,
    is_finished: bool,
}

/// Rows ready to be written.
struct Ready {
    rows: Batch,
    /// Which rows have a generated AUTO_INCREMENT number.
    numbered: Option<BooleanArray>,
    /// Columns of the query that ON DUPLICATE KEY UPDATE reads.
    extra: Option<Batch>,
}

impl<'t, 's> RowSink<'t, 's> {
    /// A sink for the rows of a statement.
    pub(super) fn new(
        context: &'t mut StatementContext<'s>,
        insertion: Insertion<'t>,
    ) -> Result<Self> {
        let Insertion {
            table,
            positions,
            ignore,
            ..
        } = insertion;
        let definition: &TableDefinition = &table.definition;
        let mut rules = RowRules::new(context, definition, ignore, true)?;
        rules.view = insertion.view;
        rules.defers_nulls = table.hooks.is_some();
        let width = definition.columns.len();
        let origins = (0..width).map(|column| rules.origin(column, positions));
        let handle = table.rows_in(context)?;
        let mut writers = Writers::new(ignore);
        let writer = writers.add(context, table, &handle);
        let refuses = matches!(insertion.on_duplicate, OnDuplicate::Refuse);
        writers.of(writer).refuses_duplicates = refuses;
        Ok(Self {
            origins: origins.collect(),
            writer,
            writers,
            on_duplicate: insertion.on_duplicate,
            returned: insertion.returns.then(Vec::new),
            making: RowInMaking {
                builders: column_builders(definition),
                values: vec![None; width],
                rows: 0,
                has_explicit: false,
            },
            positions,
            rules,
            hooks: table.hooks.clone(),
            context,
            definition,
            table,
            rows_before: 0,
            spare_numbers: VecDeque::new(),
            listed_rows: 0,
            taken_numbers: (0, 0),
            first_numbered: None,
            forced_number: Some(insertion.first_number).filter(|first| *first > 0),
            written: Written::default(),
            is_finished: false,
        })
    }

    /// Sets the number of rows that the statement lists.
    pub(crate) fn rows_in_statement(&mut self, rows: u64) {
        self.rules.listed_rows = Some(rows);
        self.listed_rows = rows;
    }

    /// Appends rows of a query: its first columns, of these types, are the columns that the statement gives.
    pub(crate) fn append(&mut self, batch: &Batch, types: &[SqlType]) -> Result<()> {
        self.context.refuse_warnings()?;
        self.flush_rows()?;
        let rows = batch.row_count();
        let at_once = self.rows_at_once(rows);
        let mut parts = (0..rows).step_by(at_once);
        parts.try_for_each(|first| self.append_part(&batch.slice(first, at_once), types))
    }

    /// Number of rows to write at once, of those there are: one by one if the table has hooks, or the next row may
    /// read this one.
    fn rows_at_once(&self, rows: usize) -> usize {
        if self.hooks.is_some() || self.context.functions() != FunctionUse::None {
            1
        } else {
            rows.max(1)
        }
    }

    /// Writes the rows so far, if the statement calls stored functions, which may read them.
    pub(super) fn show_to_functions(&mut self) -> Result<()> {
        if self.context.functions() == FunctionUse::None {
            return Ok(());
        }
        self.flush_rows()?;
        self.writers.flush()
    }

    fn append_part(&mut self, batch: &Batch, types: &[SqlType]) -> Result<()> {
        let columns = match self.store_columns(batch, types) {
            Some(columns) => columns,
            None => self.store_rows(batch, types)?,
        };
        let given = self.positions.len();
        let extra = (batch.columns().len() > given)
            .then(|| Batch::new(batch.columns()[given..].to_vec(), batch.row_count()));
        self.complete(self.at_positions(columns), batch.row_count(), extra)
    }

    /// Declares that the rows are of a table that this one replaces: they have been checked against its foreign keys,
    /// and no hook runs for them. Unless generated columns are `computed` again, given ones are stored unchanged.
    pub(super) fn replacing_table(mut self, computed: bool) -> Self {
        self.writers.without_foreign_keys();
        self.hooks = None;
        self.rules.defers_nulls = false;
        if !computed {
            for position in self.positions {
                self.origins[*position] = Origin::Given;
            }
        }
        self
    }

    /// Appends a batch of the given columns that are already converted and checked.
    pub(crate) fn append_stored(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<()> {
        self.flush_rows()?;
        let at_once = self.rows_at_once(rows);
        for first in (0..rows).step_by(at_once) {
            let part = columns.iter().map(|column| column.slice(first, at_once));
            self.complete(self.at_positions(part), at_once, None)?;
        }
        Ok(())
    }

    /// Places the given columns at their positions in the table.
    fn at_positions(&self, given: impl IntoIterator<Item = ArrayRef>) -> Vec<Option<ArrayRef>> {
        let mut columns = vec![None; self.definition.columns.len()];
        for (position, column) in self.positions.iter().zip(given) {
            columns[*position] = Some(column);
        }
        columns
    }

    /// Stores column by column; `None` when a value needs an error or a warning.
    fn store_columns(&self, batch: &Batch, types: &[SqlType]) -> Option<Vec<ArrayRef>> {
        let given = self.positions.iter().zip(batch.columns()).zip(types);
        let stored = given.map(|((position, values), ty)| {
            let column = &self.definition.columns[*position];
            self.rules.store_quietly(values, ty, column)
        });
        stored.collect()
    }

    fn store_rows(&self, batch: &Batch, types: &[SqlType]) -> Result<Vec<ArrayRef>> {
        let columns = self.positions.iter();
        let columns = columns.map(|position| &self.definition.columns[*position]);
        let columns: Vec<&ColumnDefinition> = columns.collect();
        let builders = columns.iter().map(|column| ColumnBuilder::new(&column.ty));
        let mut builders: Vec<ColumnBuilder> = builders.collect();
        for row in 0..batch.row_count() {
            let number = self.rows_before + row as u64 + 1;
            for (index, column) in columns.iter().enumerate() {
                let value = convert::value_at(batch.column(index), row);
                let ty = &types[index];
                builders[index].push(&self.rules.store_value(&value, ty, column, number)?);
            }
        }
        Ok(builders.iter_mut().map(ColumnBuilder::finish).collect())
    }

    fn row_number(&self) -> u64 {
        self.rows_before + self.making.rows as u64 + 1
    }

    /// Begins a new row, set value by value.
    pub(crate) fn begin_row(&mut self) {
        self.making.values.fill(None);
    }

    /// Sets a column of the row.
    pub(crate) fn set(&mut self, position: usize, value: &Value, ty: &SqlType) -> Result<()> {
        let column = &self.definition.columns[position];
        let row = self.row_number();
        self.making.values[position] = Some(self.rules.store_value(value, ty, column, row)?);
        Ok(())
    }

    /// Sets a column of the row to a value that is already converted and checked.
    pub(crate) fn set_stored(&mut self, position: usize, value: Value) {
        self.making.values[position] = Some(value);
    }

    /// Sets a column of the row to its default.
    pub(crate) fn set_default(&mut self, position: usize) -> Result<()> {
        let column = &self.definition.columns[position];
        if column.generated.is_some() {
            return Ok(());
        }
        let (row, number) = (|| self.current_row(), self.row_number());
        self.making.values[position] = Some(self.rules.default_value(position, row, number)?);
        Ok(())
    }

    /// The row as set so far, for expressions over its columns.
    pub(crate) fn current_row(&self) -> Batch {
        let columns = self.definition.columns.iter().zip(&self.making.values);
        let zone = &self.context.options().session.time_zone;
        let columns = columns.map(|(column, value)| match value {
            Some(value) => builder::constant(value, &column.ty, 1),
            None => builder::constant(&unset_value(column, zone), &column.ty, 1),
        });
        Batch::new(columns.collect(), 1)
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) -> Result<()> {
        self.context.refuse_warnings()?;
        for position in 0..self.definition.columns.len() {
            // Columns that are listed but not set: `VALUES ()`, or columns of LOAD DATA beyond the end of the line.
            if self.making.values[position].is_none()
                && matches!(self.origins[position], Origin::Given)
            {
                self.set_default(position)?;
            }
        }
        // The numbers after an explicit one depend on whether its row is added.
        if self.defers_explicit()
            && let Some(column) = self.definition.auto_increment_column()
            && let Some(value) = &self.making.values[column]
        {
            match is_explicit(value, self.rules.sql_mode()) {
                true => self.making.has_explicit = true,
                false if self.making.has_explicit => self.flush_rows()?,
                false => {}
            }
        }
        let values = self.making.values.iter_mut();
        for (value, builder) in values.zip(&mut self.making.builders) {
            builder.push(&value.take().unwrap_or(Value::Null));
        }
        self.making.rows += 1;
        if self.making.rows == self.rows_at_once(ROWS_PER_BATCH) {
            self.flush_rows()?;
        }
        Ok(())
    }

    fn flush_rows(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.making.rows);
        self.making.has_explicit = false;
        if rows == 0 {
            return Ok(());
        }
        let columns = self.making.builders.iter_mut().zip(&self.origins);
        let columns = columns.map(|(builder, origin)| {
            let column = builder.finish();
            matches!(origin, Origin::Given).then_some(column)
        });
        let columns = columns.collect();
        self.complete(columns, rows, None)
    }

    /// Completes what the statement omitted, checks the rows, and writes them.
    fn complete(
        &mut self,
        mut columns: Vec<Option<ArrayRef>>,
        rows: usize,
        extra: Option<Batch>,
    ) -> Result<()> {
        let definition = self.definition;
        for (position, column) in definition.columns.iter().enumerate() {
            let array = match &self.origins[position] {
                Origin::Given => continue,
                Origin::Constant(value) => builder::constant(value, &column.ty, rows),
                // Hooks may set it.
                Origin::Missing if self.hooks.is_some() => {
                    builder::constant(&Value::Null, &column.ty, rows)
                }
                Origin::Missing => {
                    let value = self.rules.missing(column)?;
                    builder::constant(&value, &column.ty, rows)
                }
                Origin::Computed(_) | Origin::Generated => {
                    builder::constant(&Value::Null, &column.ty, rows)
                }
            };
            columns[position] = Some(array);
        }
        let mut columns: Vec<ArrayRef> = columns.into_iter().flatten().collect();
        if let Some(hooks) = self.hooks.clone() {
            self.compute(&mut columns, rows)?;
            self.before_insert(&hooks, &mut columns)?;
        }
        let mut numbered = None;
        if let Some(position) = definition.auto_increment_column() {
            (columns[position], numbered) = self.number(&columns[position])?;
        }
        match self.hooks {
            Some(_) => self.rules.generate(&mut columns, rows, self.rows_before)?,
            None => self.compute(&mut columns, rows)?,
        }
        let batch = Batch::new(columns, rows);
        let rules = &self.rules;
        let checked = self.context.lending(|| rules.check(&batch))?;
        let checked = checked.as_ref();
        let numbered = numbered.map(|flags| -> Result<_> {
            let flags = Batch::new(vec![Arc::new(flags)], rows);
            Ok(filtered(flags, checked)?.column(0).as_boolean().clone())
        });
        let mut ready = Ready {
            rows: filtered(batch, checked)?,
            numbered: numbered.transpose()?,
            extra: extra.map(|extra| filtered(extra, checked)).transpose()?,
        };
        let before = self.rows_before;
        self.rows_before += rows as u64;
        self.write(&mut ready, before)
    }

    /// Computes defaults and generated columns, in order: a generated column may read those to its left.
    fn compute(&self, columns: &mut [ArrayRef], rows: usize) -> Result<()> {
        for position in 0..columns.len() {
            let bound = match &self.origins[position] {
                Origin::Computed(bound) => Some(bound),
                Origin::Generated => self.rules.generated(position),
                _ => None,
            };
            if let Some(bound) = bound {
                let before = self.rows_before;
                columns[position] = self.rules.compute(bound, position, columns, rows, before)?;
            }
        }
        Ok(())
    }

    /// Runs the BEFORE INSERT hooks for a row, and then refuses what is still missing.
    fn before_insert(&mut self, hooks: &RowHooks, columns: &mut [ArrayRef]) -> Result<()> {
        let mut row = HookRow::new(&self.rules, columns, self.rows_before + 1);
        if let Some(position) = self.definition.auto_increment_column()
            && columns[position].is_null(0)
        {
            row.show(
                position,
                implicit_default(&self.definition.columns[position].ty),
            );
        }
        let what = (hooks, HookTime::Before, RowEvent::Insert);
        row_hooks::run(self.context, &mut self.writers, what, None, Some(&mut row))?;
        let set = row.put_into(columns);
        for (position, column) in self.definition.columns.iter().enumerate() {
            if matches!(self.origins[position], Origin::Missing) && !set[position] {
                columns[position] = builder::constant(&self.rules.missing(column)?, &column.ty, 1);
            }
        }
        self.rules.settle_nulls(columns)
    }

    /// Runs the AFTER hooks of an event for a row, if the table has hooks.
    fn after(
        &mut self,
        event: RowEvent,
        old: Option<&[ArrayRef]>,
        new: Option<&[ArrayRef]>,
    ) -> Result<()> {
        match &self.hooks {
            Some(hooks) => {
                let of_row = (&**hooks, &self.rules);
                row_hooks::after(self.context, &mut self.writers, of_row, event, old, new)
            }
            None => Ok(()),
        }
    }

    fn write(&mut self, ready: &mut Ready, rows_before: u64) -> Result<()> {
        let count = ready.rows.row_count();
        let mut first = 0;
        while first < count {
            let rest = ready.rows.slice(first, count - first);
            let (added, refusal) = self.writers.insert(self.context, self.writer, &rest)?;
            self.written.inserted += added as u64;
            self.note_number(ready, first, added);
            self.note_explicit(ready, first, added);
            if added > 0 {
                self.after(RowEvent::Insert, None, Some(rest.columns()))?;
                self.return_rows(|| rest.slice(0, added));
            }
            first += added;
            let conflict = match refusal {
                None => break,
                Some(Refusal::Duplicate(conflict)) => conflict,
                Some(Refusal::ForeignKey(error)) => {
                    self.skip(error);
                    self.pass_number_on(ready, first);
                    first += 1;
                    continue;
                }
            };
            // A row that replaces others is tried again.
            let inserted = self.written.inserted;
            if self.settle(&conflict, ready, first, rows_before)? {
                if self.written.inserted == inserted {
                    self.pass_number_on(ready, first);
                }
                first += 1;
            }
        }
        Ok(())
    }

    /// IGNORE: skips a row.
    fn skip(&mut self, error: Error) {
        self.rules.warn(error);
        self.written.skipped += 1;
    }

    /// Keeps rows for RETURNING.
    fn return_rows(&mut self, rows: impl FnOnce() -> Batch) {
        if let Some(returned) = &mut self.returned {
            returned.push(rows());
        }
    }

    /// Handles a row with a duplicate key; false when the row is to be tried again.
    fn settle(
        &mut self,
        conflict: &Conflict,
        ready: &Ready,
        row: usize,
        rows_before: u64,
    ) -> Result<bool> {
        let new = ready.rows.slice(row, 1);
        let position = conflict.position.as_slice();
        match &self.on_duplicate {
            OnDuplicate::Refuse => self.refuse(conflict, &ready.rows, row)?,
            OnDuplicate::Replace => {
                // MySQL changes the row in place when no other key can have a duplicate, and does not count an
                // identical one.
                let deletes = self.hooks.as_ref();
                let deletes = deletes.is_some_and(|hooks| hooks.has(RowEvent::Delete));
                if conflict.is_last_key
                    && !deletes
                    && !self.writers.is_referenced(self.context, self.writer)?
                    && let Some(old) = self.writers.of(self.writer).writer()?.current(position)?
                    && same_row(&old, &new)
                {
                    self.written.inserted += 1;
                    self.after(RowEvent::Insert, None, Some(new.columns()))?;
                    self.return_rows(|| new);
                    return Ok(true);
                }
                let (deleted, refusal) = self.delete_duplicate(position)?;
                if let Some(Refusal::ForeignKey(error)) = refusal {
                    self.skip(error);
                }
                self.written.deleted += deleted;
                return Ok(deleted == 0);
            }
            OnDuplicate::Update(update) => {
                // Even a row that is not added must have a parent.
                if let Some(error) =
                    self.writers
                        .refers_to_nothing(self.context, self.writer, &new)?
                {
                    self.skip(error);
                    return Ok(true);
                }
                let old = self.writers.of(self.writer).writer()?.current(position)?;
                let old =
                    old.ok_or_else(|| Error::internal("a row with a duplicate key is missing"))?;
                let extra = ready.extra.as_ref().map(|extra| extra.slice(row, 1));
                let number = rows_before + row as u64 + 1;
                let (context, writers) = (&mut *self.context, &mut self.writers);
                let hook = |context: &mut StatementContext<'_>,
                            columns: &mut [ArrayRef],
                            set: &mut [bool]| match &self.hooks {
                    Some(hooks) => {
                        let (of_row, new) = ((&**hooks, &self.rules), (columns, set));
                        let (old, before) = (old.columns(), number - 1);
                        row_hooks::before_update(context, writers, of_row, old, new, before)
                    }
                    None => Ok(()),
                };
                let rows = (&old, &new, extra.as_ref());
                let changed = update.apply(context, &self.rules, rows, number, hook)?;
                match changed {
                    Some(changed) => self.update_duplicate(position, &old, changed)?,
                    None => {
                        self.written.untouched += 1;
                        let same = Some(old.columns());
                        self.after(RowEvent::Update, same, same)?;
                        self.return_rows(|| old);
                    }
                }
            }
        }
        Ok(true)
    }

    /// REPLACE: removes the row at a position; returns how many rows were removed.
    fn delete_duplicate(&mut self, position: &[u8]) -> Result<(u64, Option<Refusal>)> {
        let (context, writers) = (&mut *self.context, &mut self.writers);
        if let Some(hooks) = &self.hooks {
            let of_row = (&**hooks, &self.rules);
            return row_hooks::delete(context, writers, of_row, (self.writer, position));
        }
        let (_, deleted, refusal) =
            writers.delete(context, self.writer, &one_position(position))?;
        Ok((deleted, refusal))
    }

    /// ON DUPLICATE KEY UPDATE: replaces the row at a position.
    fn update_duplicate(&mut self, position: &[u8], old: &Batch, changed: Batch) -> Result<()> {
        let position = one_position(position);
        let updated = self
            .writers
            .update(self.context, self.writer, &position, &changed, None)?;
        match updated.1 {
            None => {}
            Some(Refusal::Duplicate(second)) => return self.refuse(&second, &changed, 0),
            Some(Refusal::ForeignKey(error)) => {
                self.skip(error);
                return Ok(());
            }
        }
        self.written.updated += 1;
        if let Some(column) = self.definition.auto_increment_column() {
            let number = number_of(&convert::value_at(changed.column(column), 0));
            self.written.last_explicit = number;
            let numbers = self.table.numbers(&*self.context);
            numbers.advance(number.saturating_add(1));
        }
        let (old, new) = (Some(old.columns()), Some(changed.columns()));
        self.after(RowEvent::Update, old, new)?;
        self.return_rows(|| changed);
        Ok(())
    }

    /// Error 1062, or with IGNORE a warning.
    fn refuse(&mut self, conflict: &Conflict, rows: &Batch, row: usize) -> Result<()> {
        let writer = self.writers.of(self.writer);
        let error = writer.duplicate_entry(conflict, rows, row);
        if !self.rules.ignore {
            return Err(error);
        }
        self.skip(error);
        Ok(())
    }

    /// Makes the rows visible, all at once.
    pub(crate) fn finish(self) -> Result<Written> {
        self.finish_returning().map(|(written, _)| written)
    }

    /// Makes the rows visible, and returns those kept for RETURNING.
    pub(crate) fn finish_returning(mut self) -> Result<(Written, Vec<Batch>)> {
        // A condition that no row passes may have raised warnings, too.
        self.context.refuse_warnings()?;
        self.flush_rows()?;
        self.is_finished = true;
        self.flush()?;
        let returned = self.returned.take().unwrap_or_default();
        Ok((self.written, returned))
    }

    fn flush(&mut self) -> Result<()> {
        let counters = self.context.counters();
        counters.add(Counter::HandlerWrite, self.written.inserted);
        counters.add(Counter::HandlerUpdate, self.written.updated);
        counters.add(Counter::HandlerDelete, self.written.deleted);
        self.writers.flush()?;
        if self.written.inserted + self.written.updated > 0 && self.table.trees().is_some() {
            let transaction = self.context.transaction_of(self.table)?;
            self.table.keep_numbers(transaction, NUMBERS_AHEAD)?;
        }
        Ok(())
    }
}

impl Drop for RowSink<'_, '_> {
    fn drop(&mut self) {
        let has_failed = !self.is_finished && !std::thread::panicking();
        if has_failed && self.writers.of(self.writer).stays {
            // Writes the rows before the failing one.
            let _ = self.flush_rows();
            let _ = self.flush();
        }
    }
}
