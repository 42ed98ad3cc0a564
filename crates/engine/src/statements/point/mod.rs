//! Point statements: they read or change one row by a unique key, without operators and batches.
//!
//! [`plan`] recognizes such a plan, and determines the index and the sources of the key's and the columns' values. As
//! long as the plan is valid the statement then accesses the row directly, in either store. Any unusual value of a
//! run (NULL in a key, a conversion with an error or warning, a duplicate key) is left to the generic path before
//! anything is changed, so that each error and warning is produced in one place.

mod auto_number;
mod recognize;
mod zoned_columns;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use mayfly_storage::{IndexId, ReadLock, RowChange};
use mayfly_types::{Result, SqlType, Value};

pub(crate) use self::recognize::{may_be_point, plan};
use self::zoned_columns::ZonedColumns;
use super::row_sink::NUMBERS_AHEAD;
use crate::cached_plan::{AutoNumber, Key, PointPlan, RowAccess, Source};
use crate::catalog::{BaseTable, RowStore};
use crate::locks::table::TableUse;
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::{RowScratch, StatementContext};
use crate::statements::table_names::note_write;
use crate::status::Counter;
use crate::storing::Storing;

/// Parameters of a statement: the values of its `?`, and their types.
type Parameters = [(Value, SqlType)];

impl Source {
    /// The index of the `?`, if it is one.
    fn parameter(&self) -> Option<usize> {
        match self {
            Self::Parameter(index) => Some(*index),
            Self::Sum { other, .. } => other.parameter(),
            Self::Literal(..) | Self::Stored(_) | Self::Now => None,
        }
    }

    #[inline]
    fn value<'v>(&'v self, parameters: &'v Parameters) -> &'v Value {
        match self {
            Self::Parameter(index) => parameters
                .get(*index)
                .map_or(&Value::Null, |(value, _)| value),
            Self::Literal(value, _) | Self::Stored(value) => value,
            Self::Now | Self::Sum { .. } => &Value::Null,
        }
    }
}

/// The sum or difference of two integers, if it is in the type's range.
fn sum(a: &Value, b: &Value, subtracts: bool, ty: &SqlType) -> Option<Value> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    let (a, b) = (whole(a)?, whole(b)?);
    let sum = if subtracts { a - b } else { a + b };
    if ty.unsigned {
        u64::try_from(sum).ok().map(Value::UInt)
    } else {
        i64::try_from(sum).ok().map(Value::Int)
    }
}

impl Key {
    /// Encodes the lookup key; false if a value is not of its column's type.
    fn find(&self, store: RowStore<'_>, parameters: &Parameters, bytes: &mut Vec<u8>) -> bool {
        let values = self.parts.iter().map(|part| part.value(parameters));
        if values.clone().any(Value::is_null) {
            return false;
        }
        // A value that is not of its column's type may equal no stored value.
        store.row_key(self.index, values, bytes).is_ok()
    }
}

impl PointPlan {
    /// Whether each of the statement's `parameters` parameters is a value in the key or in the row.
    pub(super) fn uses_all(&self, parameters: usize) -> bool {
        let used: BTreeSet<usize> = self.sources().filter_map(Source::parameter).collect();
        used.len() == parameters
    }

    /// The sources of all its values.
    fn sources(&self) -> impl Iterator<Item = &Source> {
        let row: &[Source] = match &self.access {
            RowAccess::Read { .. } | RowAccess::Delete { .. } => &[],
            RowAccess::Insert { sources, .. } | RowAccess::Update { sources, .. } => sources,
        };
        self.key().into_iter().flat_map(|key| &key.parts).chain(row)
    }

    /// The key of the row; none for an INSERT.
    fn key(&self) -> Option<&Key> {
        match &self.access {
            RowAccess::Read { key, .. }
            | RowAccess::Update { key, .. }
            | RowAccess::Delete { key } => Some(key),
            RowAccess::Insert { .. } => None,
        }
    }

    fn table_use(&self) -> TableUse {
        match self.access {
            RowAccess::Read { .. } => TableUse::Read,
            _ => TableUse::Write,
        }
    }

    /// Reads or changes the row, if the generic path is not needed for these parameters. `is_good` says whether the
    /// plan is still valid, once the table is locked.
    pub(super) fn run(
        &self,
        context: &mut StatementContext<'_>,
        parameters: &Parameters,
        is_good: impl FnOnce(&StatementContext<'_>) -> bool,
    ) -> Result<Option<Outcome>> {
        let Some(table) = self.table.upgrade() else {
            return Ok(None);
        };
        if !table.definition.temporary {
            let held = context.hold_known(&table, self.table_use())?;
            // The table may have changed while this waited for its lock.
            if !held || !is_good(context) {
                return Ok(None);
            }
        }
        let mut scratch = context.session.scratch.take().unwrap_or_default();
        let outcome = self.run_with(context, &table, parameters, &mut scratch);
        context.session.scratch = Some(scratch);
        if !matches!(outcome, Ok(None)) {
            context.use_tables(1);
        }
        outcome
    }

    fn run_with(
        &self,
        context: &mut StatementContext<'_>,
        table: &BaseTable,
        parameters: &Parameters,
        scratch: &mut RowScratch,
    ) -> Result<Option<Outcome>> {
        let Some(store) = table.row_store(self.table_use()) else {
            return Ok(None);
        };
        if self.table_use() == TableUse::Write {
            note_write(context, table)?;
            // Ranges (gaps) are locked by the generic path.
            let lock = context.lock_of_found(false);
            if !table.definition.temporary && !matches!(lock, ReadLock::None | ReadLock::Gaps) {
                return Ok(None);
            }
        }
        if let Some(key) = self.key()
            && !key.find(store, parameters, &mut scratch.key)
        {
            return Ok(None);
        }
        let row = (table, store);
        match &self.access {
            RowAccess::Read {
                key,
                columns,
                shown,
            } => self.read(context, row, (key.index, &scratch.key), (columns, shown)),
            RowAccess::Insert {
                sources,
                storing,
                number,
            } => {
                let stored = StoredRow {
                    context,
                    table,
                    storing,
                    old: &[],
                    numbered: number.as_ref().map(|number| number.column),
                };
                let values = &mut scratch.values;
                if !stored.store(values, sources, 0..sources.len(), parameters) {
                    return Ok(None);
                }
                self.insert(context, row, values, number.as_ref())
            }
            RowAccess::Update { .. } => self.update(context, row, parameters, scratch),
            RowAccess::Delete { key } => delete(context, row, (key.index, &scratch.key)),
        }
    }

    fn read(
        &self,
        context: &mut StatementContext<'_>,
        (table, store): (&BaseTable, RowStore<'_>),
        (index, key): (IndexId, &[u8]),
        (columns, shown): (&[usize], &Arc<[ResultColumn]>),
    ) -> Result<Option<Outcome>> {
        context.count(Counter::ComSelect);
        let found = match store {
            RowStore::Session(rows) => {
                rows.read_row(index, key, columns, &mut context.session.row)?
            }
            RowStore::Durable(rows) => {
                let view = context.read_view_of_row(table);
                let session = &mut *context.session;
                let transaction = session.transaction.of_table(table)?;
                transaction.read_row(view, rows, (index, key), columns, &mut session.row)?
            }
        };
        ZonedColumns::new(context, &self.zoned).show(columns, &mut context.session.row);
        note_read(context, found);
        let columns = Arc::clone(shown);
        Ok(Some(Outcome::Row { columns, found }))
    }

    fn insert(
        &self,
        context: &mut StatementContext<'_>,
        (table, store): (&BaseTable, RowStore<'_>),
        values: &mut [Value],
        number: Option<&AutoNumber>,
    ) -> Result<Option<Outcome>> {
        ZonedColumns::new(context, &self.zoned).to_utc(0..values.len(), values);
        let taken = number.map(|number| number.take(context, table, values));
        let Some(number) = taken.map_or(Some(None), |taken| taken.map(Some)) else {
            return Ok(None);
        };
        let done = match store {
            RowStore::Session(rows) => rows.insert_row(values, context.session.undo_of_row())?,
            RowStore::Durable(rows) => context.statement_of(table)?.insert_row(rows, values)?,
        };
        if done == RowChange::Duplicate {
            if let Some(number) = number {
                number.give_back(table);
            }
            return Ok(None);
        }
        context.count(Counter::ComInsert);
        context.count(Counter::HandlerWrite);
        context.session.diagnostics.insert_id = 0;
        let last_insert_id = number.map_or(0, |number| number.confirm(context, table));
        if last_insert_id > 0 && table.trees().is_some() {
            table.keep_numbers(context.session.transaction.of_table(table)?, NUMBERS_AHEAD)?;
        }
        let result = StatementResult {
            affected_rows: 1,
            last_insert_id,
            ..StatementResult::default()
        };
        Ok(Some(result.into()))
    }

    fn update(
        &self,
        context: &mut StatementContext<'_>,
        (table, store): (&BaseTable, RowStore<'_>),
        parameters: &Parameters,
        scratch: &mut RowScratch,
    ) -> Result<Option<Outcome>> {
        let RowAccess::Update {
            key: by,
            read,
            columns,
            sources,
            storing,
        } = &self.access
        else {
            return Ok(None);
        };
        let RowScratch { values, old, key } = scratch;
        let mut locked = None;
        let is_there = match store {
            RowStore::Session(rows) => {
                read.is_empty() || rows.read_row(by.index, key, read, old)?
            }
            RowStore::Durable(rows) => {
                let statement = context.statement_of(table)?;
                locked = statement.lock_row(rows, (by.index, key))?;
                if let Some(row) = &locked {
                    old.clear();
                    old.extend(read.iter().map(|column| row.values()[*column].clone()));
                }
                locked.is_some()
            }
        };
        let row = StoredRow {
            context,
            table,
            storing,
            old,
            numbered: None,
        };
        // Nothing is computed without a row.
        if !is_there || !row.store(values, sources, columns.iter().copied(), parameters) {
            return Ok(None);
        }
        ZonedColumns::new(context, &self.zoned).to_utc(columns.iter().copied(), values);
        let change = match (store, locked) {
            (RowStore::Session(rows), _) => {
                let undo = context.session.undo_of_row();
                rows.update_row(by.index, key, columns, values, undo)?
            }
            (RowStore::Durable(_), Some(row)) => row.update(columns, values)?,
            (RowStore::Durable(_), None) => return Ok(None),
        };
        let (matched, changes, info) = match change {
            RowChange::Duplicate => return Ok(None),
            RowChange::Missing => (0, 0, "Rows matched: 0  Changed: 0  Warnings: 0"),
            RowChange::Same => (1, 0, "Rows matched: 1  Changed: 0  Warnings: 0"),
            RowChange::Done => (1, 1, "Rows matched: 1  Changed: 1  Warnings: 0"),
        };
        context.count(Counter::ComUpdate);
        note_read(context, matched == 1);
        context.counters().add(Counter::HandlerUpdate, changes);
        let reported = if context.session.client.counts_found_rows {
            matched
        } else {
            changes
        };
        Ok(Some(changed(reported, Cow::Borrowed(info))))
    }
}

fn delete(
    context: &mut StatementContext<'_>,
    (table, store): (&BaseTable, RowStore<'_>),
    (index, key): (IndexId, &[u8]),
) -> Result<Option<Outcome>> {
    let deleted = match store {
        RowStore::Session(rows) => {
            rows.delete_row(index, key, context.session.undo_of_row())? == RowChange::Done
        }
        RowStore::Durable(rows) => {
            let Some(row) = context.statement_of(table)?.lock_row(rows, (index, key))? else {
                return Ok(None);
            };
            row.delete()?;
            true
        }
    };
    context.count(Counter::ComDelete);
    note_read(context, deleted);
    let deleted = u64::from(deleted);
    context.counters().add(Counter::HandlerDelete, deleted);
    Ok(Some(changed(deleted, Cow::Borrowed(""))))
}

/// Values of a row under construction.
struct StoredRow<'r> {
    context: &'r StatementContext<'r>,
    table: &'r BaseTable,
    storing: &'r Storing,
    /// The values that were read from the row.
    old: &'r [Value],
    /// The AUTO_INCREMENT column, which may be left without a value.
    numbered: Option<usize>,
}

impl StoredRow<'_> {
    /// Evaluates the sources into columns; false when a value needs an error or a warning.
    fn store(
        &self,
        values: &mut Vec<Value>,
        sources: &[Source],
        columns: impl Iterator<Item = usize>,
        parameters: &Parameters,
    ) -> bool {
        values.resize(sources.len(), Value::Null);
        let mut slots = values.iter_mut().zip(sources).zip(columns);
        slots.all(|((stored, source), column)| self.store_one(stored, source, column, parameters))
    }

    fn store_one(
        &self,
        stored: &mut Value,
        source: &Source,
        column: usize,
        parameters: &Parameters,
    ) -> bool {
        let is_numbered = self.numbered == Some(column);
        let column = &self.table.definition.columns[column];
        let computed;
        let (value, ty) = match source {
            Source::Stored(value) => {
                stored.clone_from(value);
                return true;
            }
            Source::Now => {
                *stored = self.context.clock().current_timestamp(&column.ty);
                return true;
            }
            Source::Literal(value, ty) => (value, ty),
            Source::Parameter(index) => match parameters.get(*index) {
                Some((value, ty)) => (value, ty),
                None => return false,
            },
            Source::Sum {
                old,
                subtracts,
                other,
                ty,
            } => {
                let old = self.old.get(*old).unwrap_or(&Value::Null);
                match sum(old, other.value(parameters), *subtracts, ty) {
                    Some(sum) => computed = sum,
                    None => return false,
                }
                (&computed, ty)
            }
        };
        self.storing.quietly_in(stored, value, ty, column)
            && (!stored.is_null() || column.nullable || is_numbered)
    }
}

/// Adds the counters that a plan with a scan of one range would have.
fn note_read(context: &mut StatementContext<'_>, found: bool) {
    let found = u64::from(found);
    let counters = context.counters();
    counters.add(Counter::SelectRange, 1);
    counters.add(Counter::HandlerReadKey, 1);
    context.session.diagnostics.summary.rows_examined += found;
}

#[inline]
fn changed(affected_rows: u64, info: Cow<'static, str>) -> Outcome {
    let result = StatementResult {
        affected_rows,
        info,
        ..StatementResult::default()
    };
    result.into()
}
