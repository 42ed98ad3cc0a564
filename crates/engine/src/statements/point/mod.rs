//! Point statements: they read or change one row by a unique key, without operators and batches.
//!
//! [`plan`] recognizes such a plan, and determines the index and the sources of the key's and the columns' values. As
//! long as the plan is valid the statement then accesses the row directly ([`SingleRows`]). Any unusual value of a
//! run (NULL in a key, a conversion with an error or warning, a duplicate key) is left to the generic path before
//! anything is changed, so that each error and warning is produced in one place.
//!
//! Rows of a key that is not unique are accessed by the statement's plan. That each `?` is a value of the key or of the row
//! tells then that a text with literals in their place may be run by the plan with `?` ([`PointPlan::takes`]).

mod auto_number;
mod recognize;

use std::collections::BTreeSet;
use std::sync::Arc;

use mayfly_storage::{IndexId, KeyBound, KeyRange, ReadLock, RowChange};
use mayfly_types::{Result, SqlType, Value};

pub(crate) use self::recognize::{may_be_point, plan};
use super::change::update_result;
use super::row_sink::NUMBERS_AHEAD;
use crate::cached_plan::{AutoNumber, Key, PointPlan, RowAccess, Source};
use crate::catalog::{BaseTable, RowRef, RowStatement, RowUpdate, SingleRows};
use crate::locks::table::TableUse;
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::{RowScratch, StatementContext};
use crate::statements::table_names::note_write;
use crate::status::Counter;
use crate::storing::Storing;

/// Number of rows of a key up to which access by an index is right for any table.
const KEY_ROWS_MAX: u64 = 256;

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
    fn find(&self, rows: &dyn SingleRows, parameters: &Parameters, bytes: &mut Vec<u8>) -> bool {
        let values = self.parts.iter().map(|part| part.value(parameters));
        if values.clone().any(Value::is_null) {
            return false;
        }
        // A value that is not of its column's type may equal no stored value.
        let keys = rows.keys(self.index);
        keys.and_then(|keys| keys.encode(values, bytes)).is_ok()
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

    /// Whether the statement's plan may be run with parameters that are literals of a text: each is found and stored as it
    /// is, without a warning, and the key has few rows, whatever the plan was chosen for.
    pub(super) fn takes(&self, context: &StatementContext<'_>, parameters: &Parameters) -> bool {
        let Some(table) = self.table.upgrade().filter(|_| !self.is_direct) else {
            return false;
        };
        let (Some(rows), Some(key)) = (table.single_rows(TableUse::Read), self.key()) else {
            return false;
        };
        if !key.find(rows, parameters, &mut Vec::new()) {
            return false;
        }
        if let RowAccess::Update {
            columns,
            sources,
            storing,
            ..
        } = &self.access
        {
            let stored = StoredRow {
                context,
                table: &table,
                storing,
                numbered: None,
            };
            let columns = columns.iter().copied();
            if !stored.store((&[], &mut Vec::new()), sources, columns, parameters) {
                return false;
            }
        }
        let values = key.parts.iter().map(|part| part.value(parameters).clone());
        let values: Vec<Value> = values.collect();
        let range = KeyRange {
            start: KeyBound::Included(values.clone()),
            end: KeyBound::Included(values),
        };
        let opened = table.rows_in(context);
        let found = opened.and_then(|rows| rows.rows_in_range(key.index, &range));
        found.is_ok_and(|found| found <= KEY_ROWS_MAX)
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
        let Some(table) = self.table.upgrade().filter(|_| self.is_direct) else {
            return Ok(None);
        };
        if !table.definition.is_temporary() {
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
        let Some(rows) = table.single_rows(self.table_use()) else {
            return Ok(None);
        };
        if self.table_use() == TableUse::Write {
            note_write(context, table)?;
            // Ranges (gaps) are locked by the generic path.
            let lock = context.lock_of_found(false);
            if !table.definition.has_private_rows()
                && !matches!(lock, ReadLock::None | ReadLock::Gaps)
            {
                return Ok(None);
            }
        }
        if let Some(key) = self.key()
            && !key.find(rows, parameters, &mut scratch.key)
        {
            return Ok(None);
        }
        match &self.access {
            RowAccess::Read {
                key,
                columns,
                shown,
            } => read(
                context,
                (table, rows),
                (key.index, &scratch.key),
                (columns, shown),
            ),
            RowAccess::Insert {
                sources,
                storing,
                number,
            } => {
                let stored = StoredRow {
                    context,
                    table,
                    storing,
                    numbered: number.as_ref().map(|number| number.column),
                };
                let values = &mut scratch.values;
                if !stored.store((&[], values), sources, 0..sources.len(), parameters) {
                    return Ok(None);
                }
                insert(context, (table, rows), values, number.as_ref())
            }
            RowAccess::Update { .. } => self.update(context, (table, rows), parameters, scratch),
            RowAccess::Delete { key } => delete(context, (table, rows), (key.index, &scratch.key)),
        }
    }

    fn update(
        &self,
        context: &mut StatementContext<'_>,
        (table, rows): Rows<'_>,
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
        let stored = StoredRow {
            context,
            table,
            storing,
            numbered: None,
        };
        let update = RowUpdate {
            read,
            old,
            columns,
            new: values,
            compute: &|old, new| {
                stored.store((old, new), sources, columns.iter().copied(), parameters)
            },
        };
        let row = row_of(context, table, (by.index, key));
        let change = rows.update(row, update)?;
        let (matched, changed) = match change {
            None | Some(RowChange::Duplicate) => return Ok(None),
            Some(RowChange::Missing) => (0, 0),
            Some(RowChange::Same) => (1, 0),
            Some(RowChange::Done) => (1, 1),
        };
        context.count(Counter::ComUpdate);
        note_read(context, matched == 1);
        Ok(Some(update_result(context, matched, changed).into()))
    }
}

/// A table and its single rows.
type Rows<'t> = (&'t BaseTable, &'t dyn SingleRows);

/// The statement, as it uses single rows of a table.
fn statement<'c>(context: &'c StatementContext<'_>, table: &BaseTable) -> RowStatement<'c> {
    RowStatement {
        access: context,
        directly: table.changes_directly(context),
    }
}

fn row_of<'c>(
    context: &'c StatementContext<'_>,
    table: &BaseTable,
    key: (IndexId, &'c [u8]),
) -> RowRef<'c> {
    let statement = statement(context, table);
    RowRef { statement, key }
}

fn read(
    context: &mut StatementContext<'_>,
    (table, rows): Rows<'_>,
    key: (IndexId, &[u8]),
    (columns, shown): (&[usize], &Arc<[ResultColumn]>),
) -> Result<Option<Outcome>> {
    context.count(Counter::ComSelect);
    let mut values = std::mem::take(&mut context.session.row);
    let found = rows.read(row_of(context, table, key), columns, &mut values);
    context.session.row = values;
    let found = found?;
    note_read(context, found);
    let columns = Arc::clone(shown);
    Ok(Some(Outcome::Row { columns, found }))
}

fn insert(
    context: &mut StatementContext<'_>,
    (table, rows): Rows<'_>,
    values: &mut [Value],
    number: Option<&AutoNumber>,
) -> Result<Option<Outcome>> {
    let taken = number.map(|number| number.take(context, table, values));
    let Some(number) = taken.map_or(Some(None), |taken| taken.map(Some)) else {
        return Ok(None);
    };
    if rows.insert(statement(context, table), values)? == RowChange::Duplicate {
        if let Some(number) = number {
            number.give_back(context, table);
        }
        return Ok(None);
    }
    context.count(Counter::ComInsert);
    context.count(Counter::HandlerWrite);
    context.session.diagnostics.insert_id = 0;
    let last_insert_id = number.map_or(0, |number| number.confirm(context, table));
    if last_insert_id > 0 && table.trees().is_some() {
        table.keep_numbers(context.transaction_of(table)?, NUMBERS_AHEAD)?;
    }
    let result = StatementResult {
        affected_rows: 1,
        last_insert_id,
        ..StatementResult::default()
    };
    Ok(Some(result.into()))
}

fn delete(
    context: &mut StatementContext<'_>,
    (table, rows): Rows<'_>,
    key: (IndexId, &[u8]),
) -> Result<Option<Outcome>> {
    let Some(change) = rows.delete(row_of(context, table, key))? else {
        return Ok(None);
    };
    let deleted = change == RowChange::Done;
    context.count(Counter::ComDelete);
    note_read(context, deleted);
    let affected_rows = u64::from(deleted);
    context
        .counters()
        .add(Counter::HandlerDelete, affected_rows);
    let result = StatementResult {
        affected_rows,
        ..StatementResult::default()
    };
    Ok(Some(result.into()))
}

/// Values of a row under construction.
struct StoredRow<'r> {
    context: &'r StatementContext<'r>,
    table: &'r BaseTable,
    storing: &'r Storing,
    /// The AUTO_INCREMENT column, which may be left without a value.
    numbered: Option<usize>,
}

impl StoredRow<'_> {
    /// Evaluates the sources into columns, given the values that were read from the row; false when a value needs an
    /// error or a warning.
    fn store(
        &self,
        (old, values): (&[Value], &mut Vec<Value>),
        sources: &[Source],
        columns: impl Iterator<Item = usize>,
        parameters: &Parameters,
    ) -> bool {
        values.resize(sources.len(), Value::Null);
        let mut slots = values.iter_mut().zip(sources).zip(columns);
        slots.all(|((stored, source), column)| {
            self.store_one((old, stored), source, column, parameters)
        })
    }

    fn store_one(
        &self,
        (row, stored): (&[Value], &mut Value),
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
                let old = row.get(*old).unwrap_or(&Value::Null);
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
