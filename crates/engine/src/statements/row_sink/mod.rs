//! Insertion of rows into a table: every statement that adds rows uses [`RowSink`].
//!
//! Rows come either as batches of a query's columns ([`RowSink::append`]), which are stored column by column, or
//! value by value ([`RowSink::set`]). Either way they become batches of the table's columns, which one function
//! completes with what the statement omitted (defaults, AUTO_INCREMENT numbers, generated columns) and checks against
//! the rules of the table ([`RowRules`]). Then they are written ([`Writers`]); the statement's [`OnDuplicate`] says
//! what a duplicate key does. Nothing is visible to later statements before [`RowSink::finish`]; a sink that is
//! dropped leaves the table unchanged.

pub(super) mod duplicates;

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, TypeKind, Value};

use super::auto_increment::{greatest, is_explicit, number_of};
use super::row_rules::{Origin, RowRules, column_builders, filtered, unset_value};
use super::row_target::RunningView;
use super::same_values::same_row;
use super::writers::row_writer::{Conflict, one_position};
use super::writers::{Refusal, WriterId, Writers};
use crate::builder::{self, ColumnBuilder};
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefinition, TableDefinition};
use crate::convert;
use crate::engines::Engine;
use crate::error::ensure;
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
    /// skipped or returned.
    pub(super) fn takes_any_order(&self) -> bool {
        let definition = &self.table.definition;
        matches!(self.on_duplicate, OnDuplicate::Refuse)
            && !self.ignore
            && !self.returns
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
pub(crate) struct RowSink<'t> {
    context: &'t StatementContext<'t>,
    definition: &'t TableDefinition,
    table: &'t BaseTable,
    rules: RowRules<'t>,
    /// The positions of the columns that the statement gives, in its order.
    positions: &'t [usize],
    origins: Vec<Origin>,
    writers: Writers<'t>,
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

impl<'t> RowSink<'t> {
    /// A sink for the rows of a statement.
    pub(super) fn new(context: &'t StatementContext<'t>, insertion: Insertion<'t>) -> Result<Self> {
        let Insertion {
            table,
            positions,
            ignore,
            ..
        } = insertion;
        let definition: &TableDefinition = &table.definition;
        let mut rules = RowRules::new(context, definition, ignore, true)?;
        rules.view = insertion.view;
        let width = definition.columns.len();
        let origins = (0..width).map(|column| rules.origin(column, positions));
        let handle = table.rows_in(context)?;
        let mut writers = Writers::new(context, ignore);
        let writer = writers.add(table, &handle);
        let refuses = matches!(insertion.on_duplicate, OnDuplicate::Refuse);
        writers.of(writer).refuses_duplicates = refuses;
        Ok(Self {
            origins: origins.collect::<Result<_>>()?,
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
        let columns = match self.store_columns(batch, types) {
            Some(columns) => columns,
            None => self.store_rows(batch, types)?,
        };
        let given = self.positions.len();
        let extra = (batch.columns().len() > given)
            .then(|| Batch::new(batch.columns()[given..].to_vec(), batch.row_count()));
        self.complete(self.at_positions(columns), batch.row_count(), extra)
    }

    /// Declares that the rows are of a table that this one replaces: they have been checked against its foreign keys.
    /// Unless generated columns are `computed` again, given ones are stored unchanged.
    pub(super) fn replacing_table(mut self, computed: bool) -> Self {
        self.writers.without_foreign_keys();
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
        self.complete(self.at_positions(columns), rows, None)
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
        if self.making.rows == ROWS_PER_BATCH {
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
        let mut numbered = None;
        if let Some(position) = definition.auto_increment_column() {
            (columns[position], numbered) = self.number(&columns[position])?;
        }
        // In order: a generated column may read those to its left.
        for position in 0..columns.len() {
            let bound = match &self.origins[position] {
                Origin::Computed(bound) => Some(bound),
                Origin::Generated => self.rules.generated(position),
                _ => None,
            };
            if let Some(bound) = bound {
                let before = self.rows_before;
                columns[position] = self
                    .rules
                    .compute(bound, position, &columns, rows, before)?;
            }
        }
        let batch = Batch::new(columns, rows);
        let checked = self.rules.check(&batch)?;
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

    fn write(&mut self, ready: &mut Ready, rows_before: u64) -> Result<()> {
        let count = ready.rows.row_count();
        let mut first = 0;
        while first < count {
            let rest = ready.rows.slice(first, count - first);
            let (added, refusal) = self.writers.insert(self.writer, &rest)?;
            self.written.inserted += added as u64;
            self.note_number(ready, first, added);
            self.note_explicit(ready, first, added);
            if added > 0 {
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
                if conflict.is_last_key
                    && !self.writers.is_referenced(self.writer)?
                    && let Some(old) = self.writers.of(self.writer).writer()?.current(position)?
                    && same_row(&old, &new)
                {
                    self.written.inserted += 1;
                    self.return_rows(|| new);
                    return Ok(true);
                }
                let position = one_position(position);
                let (_, deleted, refusal) = self.writers.delete(self.writer, &position)?;
                if let Some(Refusal::ForeignKey(error)) = refusal {
                    self.skip(error);
                }
                self.written.deleted += deleted;
                return Ok(deleted == 0);
            }
            OnDuplicate::Update(update) => {
                // Even a row that is not added must have a parent.
                if let Some(error) = self.writers.refers_to_nothing(self.writer, &new)? {
                    self.skip(error);
                    return Ok(true);
                }
                let old = self.writers.of(self.writer).writer()?.current(position)?;
                let old =
                    old.ok_or_else(|| Error::internal("a row with a duplicate key is missing"))?;
                let extra = ready.extra.as_ref().map(|extra| extra.slice(row, 1));
                let number = rows_before + row as u64 + 1;
                match update.apply(&self.rules, &old, &new, extra.as_ref(), number)? {
                    Some(changed) => self.update_duplicate(position, changed)?,
                    None => {
                        self.written.untouched += 1;
                        self.return_rows(|| old);
                    }
                }
            }
        }
        Ok(true)
    }

    /// ON DUPLICATE KEY UPDATE: replaces the row at a position.
    fn update_duplicate(&mut self, position: &[u8], changed: Batch) -> Result<()> {
        let position = one_position(position);
        let updated = self
            .writers
            .update(self.writer, &position, &changed, None)?;
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
            self.table.advance_auto_increment(number.saturating_add(1));
        }
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

    /// Records the first number generated for an added row.
    fn note_number(&mut self, ready: &Ready, first: usize, count: usize) {
        let (None, Some(flags)) = (self.written.first_generated, &ready.numbered) else {
            return;
        };
        let Some(row) = (first..first + count).find(|row| flags.value(*row)) else {
            return;
        };
        if let Some(column) = self.definition.auto_increment_column() {
            let value = convert::value_at(ready.rows.column(column), row);
            self.written.first_generated = Some(number_of(&value));
        }
    }

    /// Whether an explicit number raises the next one only if its row is added: for VALUES, but not for REPLACE.
    fn defers_explicit(&self) -> bool {
        self.listed_rows > 0 && !matches!(self.on_duplicate, OnDuplicate::Replace)
    }

    /// Moves the next number behind the explicit ones of added rows.
    fn note_explicit(&mut self, ready: &Ready, first: usize, count: usize) {
        let column = self.definition.auto_increment_column();
        let Some(column) = column.filter(|_| self.defers_explicit()) else {
            return;
        };
        let is_made = |row: usize| ready.numbered.as_ref().is_some_and(|made| made.value(row));
        let given = (first..first + count).filter(|row| !is_made(*row));
        let number = |row| number_of(&convert::value_at(ready.rows.column(column), row));
        if let Some(greatest) = given.map(number).max() {
            let step = self.context.options().auto_increment_increment.max(1);
            self.explicit(greatest, step);
        }
    }

    /// Passes the number of a row that was not added to the next row that needs one.
    fn pass_number_on(&mut self, ready: &mut Ready, row: usize) {
        let Some(flags) = ready.numbered.as_ref().filter(|flags| flags.value(row)) else {
            return;
        };
        let Some(column) = self.definition.auto_increment_column() else {
            return;
        };
        let numbers = ready.rows.column(column);
        let mut passed = convert::value_at(numbers, row);
        let mut builder = ColumnBuilder::new(&self.definition.columns[column].ty);
        let mut is_passed = true;
        for index in 0..numbers.len() {
            let mut number = convert::value_at(numbers, index);
            if index > row && is_passed {
                match flags.value(index) {
                    true => std::mem::swap(&mut number, &mut passed),
                    // The next number moves behind an explicit one only if its row is added.
                    false if self.defers_explicit() => {}
                    false => is_passed = number_of(&number) < number_of(&passed),
                }
            }
            builder.push(&number);
        }
        if is_passed {
            self.spare_numbers.push_front(number_of(&passed));
        }
        let mut columns = ready.rows.columns().to_vec();
        columns[column] = builder.finish();
        ready.rows = Batch::new(columns, ready.rows.row_count());
    }

    /// AUTO_INCREMENT: numbers the rows without a number; returns which ones.
    fn number(&mut self, column: &ArrayRef) -> Result<(ArrayRef, Option<BooleanArray>)> {
        let position = self.definition.auto_increment_column().unwrap_or(0);
        let ty = &self.definition.columns[position].ty;
        let mode = self.rules.sql_mode();
        let options = self.context.options();
        let step = options.auto_increment_increment.max(1);
        let offset = options.auto_increment_offset.max(1);
        let mut builder = ColumnBuilder::new(ty);
        let mut made: Option<Vec<bool>> = None;
        for row in 0..column.len() {
            let value = convert::value_at(column, row);
            let value = match is_explicit(&value, mode) {
                true => {
                    let number = number_of(&value);
                    if !self.defers_explicit() {
                        self.explicit(number, step);
                    }
                    self.written.last_explicit = number;
                    value
                }
                false => {
                    let number = match (self.spare_numbers.pop_front(), self.forced_number) {
                        (Some(number), _) => number,
                        (None, Some(number)) => {
                            let next = number.saturating_add(1);
                            self.forced_number = Some(next);
                            self.table.advance_auto_increment(next);
                            number
                        }
                        (None, None) => self.take_number(row, step, offset, greatest(ty))?,
                    };
                    if number == u64::MAX {
                        return Err(codes::ER_AUTOINC_READ_FAILED.error());
                    }
                    // The greatest number is repeated, and the key refuses it.
                    let number = number.min(greatest(ty));
                    made.get_or_insert_with(|| vec![false; column.len()])[row] = true;
                    match ty.kind {
                        TypeKind::Float | TypeKind::Double => Value::Float(number as f64),
                        _ if ty.unsigned => Value::UInt(number),
                        _ => Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
                    }
                }
            };
            builder.push(&value);
        }
        Ok((builder.finish(), made.map(BooleanArray::from)))
    }

    /// The next number of those taken. As in InnoDB, listed rows take their numbers at once, and when explicit values
    /// among them have used those up, as many as rows are left.
    fn take_number(&mut self, row: usize, step: u64, offset: u64, greatest: u64) -> Result<u64> {
        let (next, left) = self.taken_numbers;
        if left > 0 {
            self.taken_numbers = (next.saturating_add(step), left - 1);
            ensure(next <= greatest, || codes::ER_AUTOINC_READ_FAILED.error())?;
            return Ok(next);
        }
        let row = self.rows_before + row as u64;
        let done = row - *self.first_numbered.get_or_insert(row);
        let count = if self.definition.engine == Engine::InnoDb {
            self.listed_rows.saturating_sub(done).max(1)
        } else {
            1
        };
        let first = self.table.take_auto_increments(count, step, offset);
        self.taken_numbers = (first.saturating_add(step), count - 1);
        Ok(first)
    }

    /// Moves the next generated number behind an explicit one.
    fn explicit(&mut self, number: u64, step: u64) {
        self.table.advance_auto_increment(number.saturating_add(1));
        self.spare_numbers.retain(|spare| *spare > number);
        let (next, left) = &mut self.taken_numbers;
        while *left > 0 && *next <= number {
            *next = next.saturating_add(step);
            *left -= 1;
        }
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
            let transaction = self.context.session.transaction.of_table(self.table)?;
            self.table.keep_numbers(transaction, NUMBERS_AHEAD)?;
        }
        Ok(())
    }
}

impl Drop for RowSink<'_> {
    fn drop(&mut self) {
        let has_failed = !self.is_finished && !std::thread::panicking();
        if has_failed && self.writers.of(self.writer).stays {
            // Writes the rows before the failing one.
            let _ = self.flush_rows();
            let _ = self.flush();
        }
    }
}
