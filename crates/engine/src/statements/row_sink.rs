//! How rows enter a table: every statement that adds rows goes through [`RowSink`].
//!
//! Rows come either as batches of a query's columns ([`RowSink::append`]), which are stored column
//! by column, or value by value ([`RowSink::set`]). Either way they become batches of the table's
//! columns, to which one place adds what the statement left out (defaults, AUTO_INCREMENT numbers,
//! generated columns) and applies the checks: CHECK constraints and unique keys. Nothing is visible
//! to anybody before [`RowSink::finish`]; a sink that is dropped leaves the table as it was.
//!
//! A batch whose conversion complains of anything is stored again row by row, so that errors and
//! warnings come in MySQL's order: all of the first row's before any of the second's.

use std::sync::{Arc, MutexGuard};

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_select::filter::filter;
use mayfly_storage::TableWriter;
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Error, Result, SqlMode, SqlType, TypeKind, Value};

use super::insert::warn;
use crate::builder::{self, ColumnBuilder};
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::catalog::indexes;
use crate::catalog::unique::UniqueKeys;
use crate::catalog::zoned_table;
use crate::convert::{self, Storing};
use crate::expressions::{self, Bound, columns_of};
use crate::session::Session;
use crate::status::Counter;

/// Rows that are set value by value are appended in batches of so many.
const ROWS_PER_BATCH: usize = 4096;

/// What a sink has done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    /// Rows added.
    pub(crate) inserted: u64,
    /// Rows left out because their like is there already.
    pub(crate) skipped: u64,
    /// The first AUTO_INCREMENT number that was made.
    pub(crate) first_generated: Option<u64>,
    /// The last AUTO_INCREMENT number that the statement gave itself, or 0.
    pub(crate) last_explicit: u64,
}

/// Where a column of the new rows comes from.
enum Origin {
    /// The statement.
    Given,
    /// The column's default, the same for every row.
    Constant(Value),
    /// A default that is computed for each row.
    Computed(Bound),
    /// No default: 1364, or the type's own default with a warning.
    Missing,
    /// GENERATED ALWAYS AS
    Generated(Bound),
}

/// A row that is set value by value. The values of the rows before it are in the builders.
struct RowInMaking {
    builders: Vec<ColumnBuilder>,
    /// The row's values; `None` for what it did not set.
    values: Vec<Option<Value>>,
    rows: usize,
}

/// Adds rows to one table for one statement.
pub(crate) struct RowSink<'t> {
    session: &'t Session,
    definition: &'t TableDefinition,
    table: &'t BaseTable,
    ignore: bool,
    /// The columns that the statement gives, in its order.
    positions: Vec<usize>,
    origins: Vec<Origin>,
    checks: Vec<(&'t str, Bound)>,
    storing: Storing,
    writer: Option<Box<dyn TableWriter>>,
    unique: Option<MutexGuard<'t, UniqueKeys>>,
    making: RowInMaking,
    /// Rows of the statement that were seen before the batch at hand.
    rows_before: u64,
    single_row: bool,
    written: Written,
}

impl<'t> RowSink<'t> {
    /// A sink for rows whose columns at these positions are given.
    pub(crate) fn new(
        session: &'t Session,
        table: &'t Arc<BaseTable>,
        positions: &[usize],
        ignore: bool,
    ) -> Result<Self> {
        let definition: &TableDefinition = &table.definition;
        let origin = |position: usize| origin(session, definition, position, positions);
        let checks = definition.checks.iter().filter(|check| check.enforced);
        let unique = table.unique();
        Ok(Self {
            origins: (0..definition.columns.len())
                .map(origin)
                .collect::<Result<_>>()?,
            checks: checks
                .map(|check| {
                    let bound = expressions::bind(
                        session,
                        &check.expression,
                        &columns_of(session, definition),
                    )?;
                    Ok((check.name.as_str(), bound))
                })
                .collect::<Result<_>>()?,
            storing: Storing::new(session, &definition.name, ignore),
            writer: Some(table.storage(session).writer()?),
            unique: (!unique.is_empty()).then_some(unique),
            making: RowInMaking {
                builders: definition
                    .columns
                    .iter()
                    .map(|column| ColumnBuilder::new(&column.ty))
                    .collect(),
                values: vec![None; definition.columns.len()],
                rows: 0,
            },
            positions: positions.to_vec(),
            session,
            definition,
            table,
            ignore,
            rows_before: 0,
            single_row: false,
            written: Written::default(),
        })
    }

    /// How many rows the statement lists: a single row's NULL is an error in every mode.
    pub(crate) fn rows_in_statement(&mut self, rows: u64) {
        self.single_row = rows == 1;
    }

    /// Appends rows of a query: its columns, of these types, are those of the statement's list.
    pub(crate) fn append(&mut self, batch: &Batch, types: &[SqlType]) -> Result<()> {
        self.refuse_divisions_by_zero()?;
        self.flush_rows()?;
        let columns = match self.store_columns(batch, types) {
            Some(columns) => columns,
            None => self.store_rows(batch, types)?,
        };
        self.complete(columns, batch.row_count())
    }

    /// Appends a batch of the given columns that are already of the table's types and were checked.
    pub(crate) fn append_stored(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<()> {
        self.flush_rows()?;
        let mut all: Vec<Option<ArrayRef>> = vec![None; self.definition.columns.len()];
        for (position, column) in self.positions.iter().zip(columns) {
            all[*position] = Some(column);
        }
        self.complete(all, rows)
    }

    /// Stores column by column; `None` when anything is to be said about a value.
    fn store_columns(&self, batch: &Batch, types: &[SqlType]) -> Option<Vec<Option<ArrayRef>>> {
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.definition.columns.len()];
        let quiet = Diagnostics::new(0);
        for (index, position) in self.positions.iter().enumerate() {
            let column = &self.definition.columns[*position];
            let stored = self
                .storing
                .column(batch.column(index), &types[index], column, &quiet)
                .ok()?;
            if quiet.count() > 0 || (stored.null_count() > 0 && !takes_null(column)) {
                return None;
            }
            columns[*position] = Some(stored);
        }
        Some(columns)
    }

    fn store_rows(&self, batch: &Batch, types: &[SqlType]) -> Result<Vec<Option<ArrayRef>>> {
        let columns = self
            .positions
            .iter()
            .map(|position| &self.definition.columns[*position]);
        let mut builders: Vec<ColumnBuilder> = columns
            .clone()
            .map(|column| ColumnBuilder::new(&column.ty))
            .collect();
        for row in 0..batch.row_count() {
            let number = self.rows_before + row as u64 + 1;
            for (index, column) in columns.clone().enumerate() {
                let value = convert::value_at(batch.column(index), row);
                builders[index].push(&self.store_value(&value, &types[index], column, number)?);
            }
        }
        let mut all: Vec<Option<ArrayRef>> = vec![None; self.definition.columns.len()];
        for (position, builder) in self.positions.iter().zip(&mut builders) {
            all[*position] = Some(builder.finish());
        }
        Ok(all)
    }

    /// A value as its column holds it.
    fn store_value(
        &self,
        value: &Value,
        ty: &SqlType,
        column: &ColumnDefinition,
        row: u64,
    ) -> Result<Value> {
        let stored = match value {
            Value::Null => Value::Null,
            value => self
                .storing
                .value(value, ty, column, row, self.session.diagnostics())?,
        };
        if !stored.is_null() || takes_null(column) {
            return Ok(stored);
        }
        let error = codes::ER_BAD_NULL_ERROR.with(&[&column.name]);
        let adjusts = self.ignore || !(self.storing.is_strict() || self.single_row);
        if !adjusts {
            return Err(error);
        }
        warn(self.session, error);
        Ok(implicit_default(&column.ty))
    }

    /// A new row, value by value.
    pub(crate) fn begin_row(&mut self) {
        self.making.values.fill(None);
    }

    /// Sets a column of the row.
    pub(crate) fn set(&mut self, position: usize, value: &Value, ty: &SqlType) -> Result<()> {
        let column = &self.definition.columns[position];
        let row = self.rows_before + self.making.rows as u64 + 1;
        self.making.values[position] = Some(self.store_value(value, ty, column, row)?);
        Ok(())
    }

    /// Sets a column of the row to a value that is already of its type and was checked.
    pub(crate) fn set_stored(&mut self, position: usize, value: Value) {
        self.making.values[position] = Some(value);
    }

    /// Sets a column of the row to its default.
    pub(crate) fn set_default(&mut self, position: usize) -> Result<()> {
        let column = &self.definition.columns[position];
        if column.generated.is_some() {
            return Ok(());
        }
        self.making.values[position] =
            Some(match default_of(self.session, self.definition, column)? {
                Origin::Constant(value) => value,
                Origin::Computed(bound) => {
                    let (value, ty) = bound.scalar(&self.current_row(), &[])?;
                    let row = self.rows_before + self.making.rows as u64 + 1;
                    self.store_value(&value, &ty, column, row)?
                }
                _ => self.missing(column)?,
            });
        Ok(())
    }

    /// The row as far as it is set, for expressions that name its columns.
    pub(crate) fn current_row(&self) -> Batch {
        let columns = self.definition.columns.iter().zip(&self.making.values);
        let zone = &self.session.options().time_zone;
        let columns = columns.map(|(column, value)| match value {
            Some(value) => builder::constant(value, &column.ty, 1),
            None => match column.default_value(zone) {
                Some(value) => builder::constant(&value, &column.ty, 1),
                None if column.nullable => builder::constant(&Value::Null, &column.ty, 1),
                None => builder::constant(&implicit_default(&column.ty), &column.ty, 1),
            },
        });
        Batch::new(columns.collect(), 1)
    }

    /// In strict mode ERROR_FOR_DIVISION_BY_ZERO makes an error of what is a warning in a SELECT.
    fn refuse_divisions_by_zero(&self) -> Result<()> {
        let mode = self.storing.sql_mode();
        let refuses = mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) && mode.is_strict();
        if !refuses || self.ignore || self.session.diagnostics().count() == 0 {
            return Ok(());
        }
        let conditions = self.session.diagnostics().conditions();
        let divided = |error: &Error| error.is(&codes::ER_DIVISION_BY_ZERO);
        match conditions
            .into_iter()
            .find(|condition| divided(&condition.error))
        {
            Some(condition) => Err(condition.error),
            None => Ok(()),
        }
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) -> Result<()> {
        self.refuse_divisions_by_zero()?;
        for position in 0..self.definition.columns.len() {
            let given = self.making.values[position].take();
            let value = match given {
                Some(value) => value,
                // What the list names but the row does not set: `VALUES ()`, or a column of
                // LOAD DATA beyond the end of the line.
                None if matches!(self.origins[position], Origin::Given) => {
                    self.set_default(position)?;
                    self.making.values[position].take().unwrap_or(Value::Null)
                }
                None => Value::Null,
            };
            self.making.builders[position].push(&value);
        }
        self.making.rows += 1;
        if self.making.rows == ROWS_PER_BATCH {
            self.flush_rows()?;
        }
        Ok(())
    }

    fn flush_rows(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.making.rows);
        if rows == 0 {
            return Ok(());
        }
        let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(self.origins.len());
        for (builder, origin) in self.making.builders.iter_mut().zip(&self.origins) {
            let column = builder.finish();
            columns.push(matches!(origin, Origin::Given).then_some(column));
        }
        self.complete(columns, rows)
    }

    /// The value of a column without a default.
    fn missing(&self, column: &ColumnDefinition) -> Result<Value> {
        if column.auto_increment {
            return Ok(Value::Null);
        }
        // Its first member is the default of an ENUM that may not be NULL.
        if column.ty.kind == TypeKind::Enum {
            return Ok(implicit_default(&column.ty));
        }
        let error = codes::ER_NO_DEFAULT_FOR_FIELD.with(&[&column.name]);
        if self.storing.is_strict() && !self.ignore {
            return Err(error);
        }
        warn(self.session, error);
        Ok(implicit_default(&column.ty))
    }

    /// Adds what the statement left out, checks the rows, and appends them.
    fn complete(&mut self, mut columns: Vec<Option<ArrayRef>>, rows: usize) -> Result<()> {
        let definition = self.definition;
        for (position, column) in definition.columns.iter().enumerate() {
            let array = match &self.origins[position] {
                Origin::Given => continue,
                Origin::Constant(value) => builder::constant(value, &column.ty, rows),
                Origin::Missing => {
                    let value = self.missing(column)?;
                    builder::constant(&value, &column.ty, rows)
                }
                Origin::Computed(_) | Origin::Generated(_) => {
                    builder::constant(&Value::Null, &column.ty, rows)
                }
            };
            columns[position] = Some(array);
        }
        let mut columns: Vec<ArrayRef> = columns.into_iter().flatten().collect();
        if let Some(position) = definition.auto_increment_column() {
            columns[position] = self.number(&columns[position])?;
        }
        // In order: a generated column may read those to its left.
        for position in 0..columns.len() {
            if let Origin::Computed(bound) | Origin::Generated(bound) = &self.origins[position] {
                let batch = Batch::new(columns.clone(), rows);
                let column = &definition.columns[position];
                let values = bound.evaluate(&batch)?;
                columns[position] = self.store_computed(&values, bound.ty(), column)?;
            }
        }
        self.rows_before += rows as u64;
        let mut batch = Batch::new(columns, rows);
        let checked = self.check_constraints(&batch)?;
        batch = keep(batch, checked)?;
        let zone = &self.session.options().time_zone;
        let mut stored = zoned_table::to_moments(zone, &batch, &self.table.timestamps);
        let fresh = self.check_unique(&stored, &batch)?;
        stored = keep(stored, fresh.clone())?;
        batch = keep(batch, fresh)?;
        self.write(&stored, &batch)
    }

    /// Gives rows to the table; `shown` are the same as the session sees them.
    fn write(&mut self, stored: &Batch, shown: &Batch) -> Result<()> {
        let mut first = 0;
        while first < stored.row_count() {
            let Some(writer) = &mut self.writer else {
                break;
            };
            let count = stored.row_count() - first;
            let done = writer.insert(&stored.slice(first, count))?;
            self.written.inserted += done.rows as u64;
            first += done.rows;
            let Some(duplicate) = done.duplicate else {
                break;
            };
            let key = indexes::key_of_index(self.definition, duplicate.index);
            let columns = key.map(|key| key.columns()).unwrap_or_default();
            let name = key.map_or("", |key| key.name.as_str());
            let name = format!("{}.{name}", self.definition.name);
            self.refuse_duplicate(&name, &columns, shown, first)?;
            first += 1;
        }
        Ok(())
    }

    /// 1062, or with IGNORE a warning.
    fn refuse_duplicate(
        &mut self,
        key: &str,
        columns: &[usize],
        shown: &Batch,
        row: usize,
    ) -> Result<()> {
        let mut entry = Vec::new();
        for (index, position) in columns.iter().enumerate() {
            if index > 0 {
                entry.push(b'-');
            }
            let ty = &self.definition.columns[*position].ty;
            convert::display_row(shown.column(*position), row, ty, &mut entry);
        }
        let entry = String::from_utf8_lossy(&entry).into_owned();
        let error = codes::ER_DUP_ENTRY.with(&[&entry, &key]);
        if !self.ignore {
            return Err(error);
        }
        warn(self.session, error);
        self.written.skipped += 1;
        Ok(())
    }

    fn store_computed(
        &self,
        values: &ArrayRef,
        ty: &SqlType,
        column: &ColumnDefinition,
    ) -> Result<ArrayRef> {
        let quiet = Diagnostics::new(0);
        if let Ok(stored) = self.storing.column(values, ty, column, &quiet)
            && quiet.count() == 0
            && (stored.null_count() == 0 || takes_null(column))
        {
            return Ok(stored);
        }
        let mut builder = ColumnBuilder::new(&column.ty);
        for row in 0..values.len() {
            let number = self.rows_before + row as u64 + 1;
            builder.push(&self.store_value(&convert::value_at(values, row), ty, column, number)?);
        }
        Ok(builder.finish())
    }

    /// AUTO_INCREMENT: rows without a number get the next ones.
    fn number(&mut self, column: &ArrayRef) -> Result<ArrayRef> {
        let position = self.definition.auto_increment_column().unwrap_or(0);
        let ty = &self.definition.columns[position].ty;
        let zero_is_a_value = self.storing.sql_mode().has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
        let options = self.session.options();
        let (step, offset) = (
            options.auto_increment_increment.max(1),
            options.auto_increment_offset.max(1),
        );
        let mut builder = ColumnBuilder::new(ty);
        for row in 0..column.len() {
            let value = convert::value_at(column, row);
            let given = match value {
                Value::Int(0) | Value::UInt(0) if !zero_is_a_value => None,
                Value::Float(number) if number == 0.0 && !zero_is_a_value => None,
                Value::Null => None,
                value => Some(value),
            };
            let value = match given {
                Some(value) => {
                    let number = match value {
                        Value::Int(number) => u64::try_from(number).unwrap_or(0),
                        Value::UInt(number) => number,
                        Value::Float(number) if number > 0.0 => number as u64,
                        _ => 0,
                    };
                    self.table.advance_auto_increment(number.saturating_add(1));
                    self.written.last_explicit = number;
                    value
                }
                None => {
                    let number = self.table.take_auto_increment(step, offset);
                    if number == u64::MAX {
                        return Err(codes::ER_AUTOINC_READ_FAILED.error());
                    }
                    // The last number is given again, which the key refuses.
                    let number = number.min(greatest(ty));
                    self.written.first_generated.get_or_insert(number);
                    match ty.kind {
                        TypeKind::Float | TypeKind::Double => Value::Float(number as f64),
                        _ if ty.unsigned => Value::UInt(number),
                        _ => Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
                    }
                }
            };
            builder.push(&value);
        }
        Ok(builder.finish())
    }

    /// CHECK constraints: a row must not make one false. With IGNORE such rows are left out.
    fn check_constraints(&self, batch: &Batch) -> Result<Option<BooleanArray>> {
        let mut good: Option<Vec<bool>> = None;
        for (name, check) in &self.checks {
            let values = check.evaluate(batch)?;
            for row in convert::false_rows(&values) {
                let error = codes::ER_CHECK_CONSTRAINT_VIOLATED.with(&[name]);
                if !self.ignore {
                    return Err(error);
                }
                warn(self.session, error);
                good.get_or_insert_with(|| vec![true; batch.row_count()])[row] = false;
            }
        }
        Ok(good.map(BooleanArray::from))
    }

    /// Unique keys: 1062; with IGNORE such rows are left out. `shown` are the rows as the session
    /// sees them.
    fn check_unique(&mut self, batch: &Batch, shown: &Batch) -> Result<Option<BooleanArray>> {
        let mut fresh: Option<Vec<bool>> = None;
        for row in 0..batch.row_count() {
            let Some(unique) = &mut self.unique else {
                break;
            };
            if let Some(duplicate) = unique.add(batch, row)? {
                self.refuse_duplicate(&duplicate.key, &duplicate.columns, shown, row)?;
                fresh.get_or_insert_with(|| vec![true; batch.row_count()])[row] = false;
            }
        }
        Ok(fresh.map(BooleanArray::from))
    }

    /// Makes the rows visible, all at once.
    pub(crate) fn finish(mut self) -> Result<Written> {
        self.flush_rows()?;
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        let counters = self.session.counters();
        counters.add(Counter::HandlerWrite, self.written.inserted);
        if let Some(mut unique) = self.unique.take() {
            unique.commit();
        }
        Ok(self.written)
    }
}

impl Drop for RowSink<'_> {
    fn drop(&mut self) {
        // Only a sink that did not finish still has them.
        if let Some(unique) = &mut self.unique {
            unique.roll_back();
        }
    }
}

/// The greatest number of an AUTO_INCREMENT column's type.
fn greatest(ty: &SqlType) -> u64 {
    let bits = match ty.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        _ => 64,
    };
    u64::MAX >> (64 - bits + u32::from(!ty.unsigned))
}

/// A NULL in an AUTO_INCREMENT column asks for the next number.
fn takes_null(column: &ColumnDefinition) -> bool {
    column.nullable || column.auto_increment
}

fn keep(batch: Batch, kept: Option<BooleanArray>) -> Result<Batch> {
    let Some(kept) = kept else {
        return Ok(batch);
    };
    let failed = |error: arrow_schema::ArrowError| codes::ER_UNKNOWN_ERROR.with(&[&error]);
    let columns = batch
        .columns()
        .iter()
        .map(|column| filter(column, &kept).map_err(failed));
    Ok(Batch::new(
        columns.collect::<Result<_>>()?,
        kept.true_count(),
    ))
}

fn origin(
    session: &Session,
    definition: &TableDefinition,
    position: usize,
    given: &[usize],
) -> Result<Origin> {
    let column = &definition.columns[position];
    if let Some(generated) = &column.generated {
        let bound = expressions::bind(
            session,
            &generated.expression,
            &columns_of(session, definition),
        )?;
        return Ok(Origin::Generated(bound));
    }
    if given.contains(&position) {
        return Ok(Origin::Given);
    }
    default_of(session, definition, column)
}

/// What a column gets when a row names no value for it.
fn default_of(
    session: &Session,
    definition: &TableDefinition,
    column: &ColumnDefinition,
) -> Result<Origin> {
    Ok(match &column.default {
        ColumnDefault::Value(_) => {
            let value = column.default_value(&session.options().time_zone);
            Origin::Constant(value.unwrap_or(Value::Null))
        }
        ColumnDefault::Null => Origin::Constant(Value::Null),
        ColumnDefault::Now => Origin::Constant(convert::now(session, &column.ty)),
        ColumnDefault::Expression { expression, .. } => Origin::Computed(expressions::bind(
            session,
            expression,
            &columns_of(session, definition),
        )?),
        ColumnDefault::None if takes_null(column) => Origin::Constant(Value::Null),
        ColumnDefault::None | ColumnDefault::Dropped => Origin::Missing,
    })
}
