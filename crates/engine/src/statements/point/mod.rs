//! Prepared statements that read or change one row by a unique key: without operators and batches.
//!
//! Such a statement runs as any other at first. Where its plan is kept, what it comes to is kept
//! beside it ([`recognize`]): the index, and where the values of the key and of the columns come from.
//! As long as the plan is good the statement then goes straight to the row. Whatever is unusual about
//! the values of a run (NULL in a key, a conversion that complains, a key that another row has) is
//! left to the general way before anything was changed, so that there is one place for each error and
//! warning.

mod recognize;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, Weak};

use mayfly_storage::{IndexId, RowChange, TableDefinition, UserTable};
use mayfly_types::{Result, SqlType, Value};

pub(crate) use self::recognize::PointAccess;
pub(super) use self::recognize::of_insert;
use super::select::PlanPlace;
use crate::catalog::BaseTable;
use crate::convert::Storing;
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
    },
    Update {
        key: Key,
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
}

impl Source {
    fn value<'v>(&'v self, parameters: &'v Parameters) -> &'v Value {
        match self {
            Self::Parameter(index) => parameters
                .get(*index)
                .map_or(&Value::Null, |(value, _)| value),
            Self::Literal(value, _) | Self::Stored(value) => value,
        }
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

impl PointPlan {
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
        let (work, values) = (&mut self.work, &mut self.values);
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
                note_read(session, found);
                let columns = Arc::clone(shown);
                Ok(Some(Outcome::Row { columns, found }))
            }
            Work::Insert { sources, storing } => {
                let all = 0..sources.len();
                if !store(values, sources, all, storing, table, parameters) {
                    return Ok(None);
                }
                if rows.insert_row(values, session.undo_of_row())? == RowChange::Duplicate {
                    return Ok(None);
                }
                super::count(session, Counter::ComInsert);
                super::count(session, Counter::HandlerWrite);
                session.insert_id = 0;
                Ok(Some(changed(1, Cow::Borrowed(""))))
            }
            Work::Update {
                key,
                columns,
                sources,
                storing,
            } => {
                let assigned = columns.iter().copied();
                if !key.find(rows, parameters)
                    || !store(values, sources, assigned, storing, table, parameters)
                {
                    return Ok(None);
                }
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
                Ok(Some(changed(changes, Cow::Borrowed(info))))
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

/// Makes of the sources the values of columns; false when anything is to be said about one.
fn store(
    values: &mut Vec<Value>,
    sources: &[Source],
    columns: impl Iterator<Item = usize>,
    storing: &Storing,
    table: &BaseTable,
    parameters: &Parameters,
) -> bool {
    values.resize(sources.len(), Value::Null);
    for ((stored, source), column) in values.iter_mut().zip(sources).zip(columns) {
        let (value, ty) = match source {
            Source::Stored(value) => {
                stored.clone_from(value);
                continue;
            }
            Source::Literal(value, ty) => (value, ty),
            Source::Parameter(index) => match parameters.get(*index) {
                Some((value, ty)) => (value, ty),
                None => return false,
            },
        };
        let column = &table.definition.columns[column];
        if !storing.quietly_in(stored, value, ty, column) || stored.is_null() && !column.nullable {
            return false;
        }
    }
    true
}

/// Counts what a plan with the scan of one range would count.
fn note_read(session: &mut Session, found: bool) {
    let found = u64::from(found);
    let counters = session.counters();
    counters.add(Counter::SelectRange, 1);
    counters.add(Counter::HandlerReadKey, 1);
    counters.add(Counter::HandlerReadNext, found);
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
