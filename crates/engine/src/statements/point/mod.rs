//! Prepared statements that read or change one row by a unique key: without operators and batches.
//!
//! Such a statement runs as any other at first. Where its plan is kept, what it comes to is kept
//! beside it ([`recognize`]): the index, and where the values of the key and of the columns come from.
//! As long as the plan is good the statement then goes straight to the row. Whatever is unusual about
//! the values of a run (NULL in a key, a conversion that complains, a key that another row has) is
//! left to the general way before anything was changed, so that there is one place for each error and
//! warning.

mod form;
mod moments;
mod numbering;
mod recognize;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, Weak};

use mayfly_storage::{IndexId, RowChange, TableDefinition, UserTable};
use mayfly_types::{Result, SqlType, Value};

pub(super) use self::form::may_be_point;
use self::moments::Moments;
use self::numbering::Numbering;
pub(crate) use self::recognize::PointAccess;
pub(super) use self::recognize::of_insert;
use super::select::PlanPlace;
use crate::catalog::BaseTable;
use crate::convert::{self, Storing};
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::Session;
use crate::status::Counter;

/// A statement's parameters: the values of its `?`, and their types.
type Parameters = [(Value, SqlType)];

/// What a statement does with one row.
#[derive(Debug)]
pub(crate) struct PointPlan {
    /// It goes when it is dropped, whoever keeps a plan.
    table: Weak<BaseTable>,
    work: Work,
    moments: Moments,
    /// Memory for the values of the row.
    values: Vec<Value>,
}

#[derive(Debug)]
enum Work {
    Read {
        key: Key,
        columns: Vec<usize>,
        shown: Arc<[ResultColumn]>,
    },
    /// Of a table in the data directory, by its primary key.
    ReadDurable {
        rows: Arc<TableDefinition>,
        key: Key,
        columns: Vec<usize>,
        shown: Arc<[ResultColumn]>,
    },
    Insert {
        sources: Vec<Source>,
        storing: Storing,
        numbering: Option<Numbering>,
    },
    Update {
        key: Key,
        /// The columns that new values are computed of, and memory for their values.
        read: Vec<usize>,
        old: Vec<Value>,
        columns: Vec<usize>,
        sources: Vec<Source>,
        storing: Storing,
    },
    Delete {
        key: Key,
    },
}

/// How the row is found.
#[derive(Debug)]
struct Key {
    index: IndexId,
    parts: Vec<Source>,
    /// Memory for its bytes.
    bytes: Vec<u8>,
}

/// Where a value comes from.
#[derive(Debug)]
enum Source {
    /// A `?`.
    Parameter(usize),
    /// A value of a type.
    Literal(Value, SqlType),
    /// A value as its column holds it.
    Stored(Value),
    /// When the statement began.
    Now,
    /// A whole number that is read of the row, by its place there, and another that is added to it or
    /// taken from it.
    Sum {
        old: usize,
        subtracts: bool,
        other: Box<Source>,
        ty: SqlType,
    },
}

impl Source {
    /// Which `?` it is.
    fn parameter(&self) -> Option<usize> {
        match self {
            Self::Parameter(index) => Some(*index),
            Self::Sum { other, .. } => other.parameter(),
            Self::Literal(..) | Self::Stored(_) | Self::Now => None,
        }
    }

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

/// The sum or difference of two whole numbers, if it is of the type.
fn sum(a: &Value, b: &Value, subtracts: bool, ty: &SqlType) -> Option<Value> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    let (a, b) = (whole(a)?, whole(b)?);
    let sum = if subtracts { a - b } else { a + b };
    match ty.unsigned {
        true => u64::try_from(sum).ok().map(Value::UInt),
        false => i64::try_from(sum).ok().map(Value::Int),
    }
}

impl Key {
    /// Whether the values are such that the key's bytes find the row.
    fn find(&mut self, rows: &UserTable, parameters: &Parameters) -> bool {
        let values = self.parts.iter().map(|part| part.value(parameters));
        if values.clone().any(Value::is_null) {
            return false;
        }
        // A value that is not of its column's type may be equal to none.
        rows.row_key(self.index, values, &mut self.bytes).is_ok()
    }

    /// The same for a table in the data directory.
    fn find_durable(&mut self, rows: &TableDefinition, parameters: &Parameters) -> bool {
        let values = self.parts.iter().map(|part| part.value(parameters));
        if values.clone().any(Value::is_null) {
            return false;
        }
        matches!(rows.row_key(self.index, values, &mut self.bytes), Ok(true))
    }
}

/// Runs a statement whose plan is kept at `place`, if it is of this kind and nothing is unusual about
/// its parameters.
pub(super) fn run<P>(
    session: &mut Session,
    place: &PlanPlace<P>,
    parameters: &Parameters,
) -> Result<Option<Outcome>> {
    let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(kept) = kept.as_mut() else {
        return Ok(None);
    };
    let Some(table) = kept.point_table(session, parameters) else {
        return Ok(None);
    };
    if !table.definition.temporary {
        let held = session.hold_known(&table)?;
        // It may have changed while this waited for it.
        if !held || !kept.is_for(session, parameters) {
            return Ok(None);
        }
    }
    match kept.point() {
        Some(point) => point.run(session, &table, parameters),
        None => Ok(None),
    }
}

/// Whether a statement whose plan is kept at `place` comes to one row by a key, and each of its
/// parameters, of which there are so many, is a value in the key or in the row.
pub(super) fn uses_all<P>(place: &PlanPlace<P>, parameters: usize) -> bool {
    let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    let point = kept.as_mut().and_then(|kept| kept.point());
    point.is_some_and(|point| {
        let used: BTreeSet<usize> = point.sources().filter_map(Source::parameter).collect();
        used.len() == parameters
    })
}

impl PointPlan {
    /// Where all its values come from.
    fn sources(&self) -> impl Iterator<Item = &Source> {
        let (key, row): (&[Source], &[Source]) = match &self.work {
            Work::Read { key, .. } | Work::ReadDurable { key, .. } | Work::Delete { key } => {
                (&key.parts, &[])
            }
            Work::Insert { sources, .. } => (&[], sources),
            Work::Update { key, sources, .. } => (&key.parts, sources),
        };
        key.iter().chain(row)
    }

    /// The table, if it is still there.
    pub(crate) fn table(&self) -> Option<Arc<BaseTable>> {
        self.table.upgrade()
    }

    fn run(
        &mut self,
        session: &mut Session,
        table: &BaseTable,
        parameters: &Parameters,
    ) -> Result<Option<Outcome>> {
        let (work, values, moments) = (&mut self.work, &mut self.values, &mut self.moments);
        if let Work::ReadDurable {
            rows,
            key,
            columns,
            shown,
        } = work
        {
            if !key.find_durable(rows, parameters) {
                return Ok(None);
            }
            super::count(session, Counter::ComSelect);
            let statement = session.durable_statement()?.clone();
            let found = statement.read_row(rows, &key.bytes, columns, session.row_mut())?;
            moments.show(columns, session.row_mut());
            note_read(session, found);
            let columns = Arc::clone(shown);
            return Ok(Some(Outcome::Row { columns, found }));
        }
        let Some(rows) = table.single_rows() else {
            return Ok(None);
        };
        match work {
            Work::ReadDurable { .. } => Ok(None),
            Work::Read {
                key,
                columns,
                shown,
            } => {
                if !key.find(rows, parameters) {
                    return Ok(None);
                }
                super::count(session, Counter::ComSelect);
                let found = rows.read_row(key.index, &key.bytes, columns, session.row_mut())?;
                moments.show(columns, session.row_mut());
                note_read(session, found);
                let columns = Arc::clone(shown);
                Ok(Some(Outcome::Row { columns, found }))
            }
            Work::Insert {
                sources,
                storing,
                numbering,
            } => {
                let all = 0..sources.len();
                let row = StoredRow {
                    session,
                    table,
                    storing,
                    old: &[],
                    numbered: numbering.as_ref().map(|numbering| numbering.column),
                };
                if !row.store(values, sources, all, parameters) {
                    return Ok(None);
                }
                moments.keep(0..values.len(), values);
                let number = match numbering {
                    None => None,
                    Some(numbering) => match numbering.number(session, table, values) {
                        Some(number) => Some(number),
                        None => return Ok(None),
                    },
                };
                if rows.insert_row(values, session.undo_of_row())? == RowChange::Duplicate {
                    if let Some(number) = number {
                        number.give_back(table);
                    }
                    return Ok(None);
                }
                super::count(session, Counter::ComInsert);
                super::count(session, Counter::HandlerWrite);
                session.insert_id = 0;
                let last_insert_id = number.map_or(0, |number| number.take(session, table));
                let result = StatementResult {
                    affected_rows: 1,
                    last_insert_id,
                    ..StatementResult::default()
                };
                Ok(Some(result.into()))
            }
            Work::Update {
                key,
                read,
                old,
                columns,
                sources,
                storing,
            } => {
                if !key.find(rows, parameters) {
                    return Ok(None);
                }
                let is_there =
                    read.is_empty() || rows.read_row(key.index, &key.bytes, read, old)?;
                let row = StoredRow {
                    session,
                    table,
                    storing,
                    old,
                    numbered: None,
                };
                // Without a row nothing is computed.
                if !is_there || !row.store(values, sources, columns.iter().copied(), parameters) {
                    return Ok(None);
                }
                moments.keep(columns.iter().copied(), values);
                let undo = session.undo_of_row();
                let change = rows.update_row(key.index, &key.bytes, columns, values, undo)?;
                let (matched, changes, info) = match change {
                    RowChange::Duplicate => return Ok(None),
                    RowChange::Missing => (0, 0, "Rows matched: 0  Changed: 0  Warnings: 0"),
                    RowChange::Same => (1, 0, "Rows matched: 1  Changed: 0  Warnings: 0"),
                    RowChange::Done => (1, 1, "Rows matched: 1  Changed: 1  Warnings: 0"),
                };
                super::count(session, Counter::ComUpdate);
                note_read(session, matched == 1);
                session.counters().add(Counter::HandlerUpdate, changes);
                let told = match session.counts_found_rows {
                    true => matched,
                    false => changes,
                };
                Ok(Some(changed(told, Cow::Borrowed(info))))
            }
            Work::Delete { key } => {
                if !key.find(rows, parameters) {
                    return Ok(None);
                }
                let undo = session.undo_of_row();
                let change = rows.delete_row(key.index, &key.bytes, undo)?;
                let deleted = u64::from(change == RowChange::Done);
                super::count(session, Counter::ComDelete);
                note_read(session, deleted == 1);
                session.counters().add(Counter::HandlerDelete, deleted);
                Ok(Some(changed(deleted, Cow::Borrowed(""))))
            }
        }
    }
}

/// Where values are stored.
struct StoredRow<'r> {
    session: &'r Session,
    table: &'r BaseTable,
    storing: &'r Storing,
    /// What was read of the row.
    old: &'r [Value],
    /// The column that may be left for AUTO_INCREMENT.
    numbered: Option<usize>,
}

impl StoredRow<'_> {
    /// Makes of the sources the values of columns; false when anything is to be said about one.
    fn store(
        &self,
        values: &mut Vec<Value>,
        sources: &[Source],
        columns: impl Iterator<Item = usize>,
        parameters: &Parameters,
    ) -> bool {
        values.resize(sources.len(), Value::Null);
        let mut places = values.iter_mut().zip(sources).zip(columns);
        places.all(|((stored, source), column)| self.store_one(stored, source, column, parameters))
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
                *stored = convert::now(self.session, &column.ty);
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

/// Counts what a plan with the scan of one range would count.
fn note_read(session: &mut Session, found: bool) {
    let found = u64::from(found);
    let counters = session.counters();
    counters.add(Counter::SelectRange, 1);
    counters.add(Counter::HandlerReadKey, 1);
    session.last_summary.rows_examined += found;
}

fn changed(affected_rows: u64, info: Cow<'static, str>) -> Outcome {
    let result = StatementResult {
        affected_rows,
        info,
        ..StatementResult::default()
    };
    result.into()
}
