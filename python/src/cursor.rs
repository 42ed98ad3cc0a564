//! Cursors after PEP 249.
//!
//! A cursor has the rows that it has got, and the place where the others come from ([`Reading`]). It belongs to one thread at a
//! time: another one gets an error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use mayfly::{Column, RowBatch, SqlType, StoredRows, TypeKind};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::{self, Class};
use crate::parameters::parameters;
use crate::session::{Reading, Session, Started, next_rows};
use crate::values::tuple;
use crate::watched::release;

/// How many sequences of parameters executemany runs at once.
const PARAMETERS_AT_ONCE: usize = 1000;

/// Runs statements and reads their rows.
///
/// ``description`` has a tuple for each column: name, type, display size (None), length, digits, digits behind the point,
/// whether it may be NULL. ``rowcount`` is -1 while rows of a large result are left to be read.
#[pyclass(frozen, weakref, module = "mayfly")]
pub(crate) struct Cursor {
    connection: Py<PyAny>,
    session: Arc<Session>,
    inner: Mutex<Inner>,
}

struct Inner {
    is_closed: bool,
    arraysize: usize,
    rowcount: i64,
    lastrowid: Option<u64>,
    /// The columns of the result, if there is one.
    description: Option<Py<PyTuple>>,
    rows: Rows,
    sets: VecDeque<StoredRows>,
}

/// The rows of a result that were not given yet.
#[derive(Default)]
struct Rows {
    batches: VecDeque<RowBatch>,
    /// How many rows of the first batch were given.
    given: usize,
    reading: Option<Arc<Reading>>,
}

impl Rows {
    /// The first batch with rows that were not given, read if need be, and the number of its rows that were; `None` after
    /// the last row.
    fn batch(&mut self, py: Python<'_>, session: &Session) -> PyResult<Option<(&RowBatch, usize)>> {
        loop {
            let is_given = |batch: &RowBatch| self.given >= batch.len();
            if self.batches.front().is_some_and(is_given) {
                self.batches.pop_front();
                self.given = 0;
            } else if !self.batches.is_empty() {
                let given = self.given;
                return Ok(self.batches.front().map(|batch| (batch, given)));
            } else {
                let Some(reading) = &self.reading else {
                    return Ok(None);
                };
                match next_rows(py, session, reading)? {
                    Some(batch) => self.batches.push_back(batch),
                    None => self.reading = None,
                }
            }
        }
    }
}

impl Inner {
    /// Forgets the result.
    fn clear(&mut self, session: &Session) {
        let rows = std::mem::take(&mut self.rows);
        if let Some(reading) = &rows.reading {
            Python::attach(|py| py.detach(|| session.release(reading)));
        }
        release(std::mem::take(&mut self.sets));
        (self.description, self.rowcount, self.lastrowid) = (None, -1, None);
    }

    fn describe(&mut self, py: Python<'_>, columns: &[Column]) -> PyResult<()> {
        self.description = match columns.is_empty() {
            true => None,
            false => {
                let columns = columns.iter().map(described).collect::<Vec<_>>();
                Some(PyTuple::new(py, columns)?.unbind())
            }
        };
        Ok(())
    }

    fn begin(&mut self, py: Python<'_>, started: Started) -> PyResult<()> {
        self.describe(py, &started.columns)?;
        let id = started.summary.last_insert_id;
        self.lastrowid = (id != 0).then_some(id);
        self.rowcount = if self.description.is_none() {
            i64::try_from(started.summary.affected_rows).unwrap_or(-1)
        } else if started.reading.is_none() {
            started.batches.iter().map(|batch| batch.len() as i64).sum()
        } else {
            -1
        };
        self.rows = Rows {
            batches: started.batches,
            given: 0,
            reading: started.reading,
        };
        self.sets = started.sets;
        self.next_set(py).map(drop)
    }

    /// Goes to the next set of rows, if there is one.
    fn next_set(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(set) = self.sets.pop_front() else {
            return Ok(false);
        };
        let columns: Vec<Column> = set.columns().collect();
        self.describe(py, &columns)?;
        self.rowcount = -1;
        self.rows = Rows {
            reading: Some(Arc::new(Reading::of(set))),
            ..Rows::default()
        };
        Ok(true)
    }
}

/// The name of a SQL type, which is the type code of its columns.
fn type_name(ty: &SqlType) -> &'static str {
    let is_binary = ty.is_binary_string();
    match ty.kind {
        TypeKind::Null => "NULL",
        TypeKind::Boolean => "BOOLEAN",
        TypeKind::TinyInt => "TINYINT",
        TypeKind::SmallInt => "SMALLINT",
        TypeKind::MediumInt => "MEDIUMINT",
        TypeKind::Int => "INT",
        TypeKind::BigInt => "BIGINT",
        TypeKind::Decimal => "DECIMAL",
        TypeKind::Float => "FLOAT",
        TypeKind::Double => "DOUBLE",
        TypeKind::Bit => "BIT",
        TypeKind::Year => "YEAR",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Timestamp => "TIMESTAMP",
        TypeKind::Char if is_binary => "BINARY",
        TypeKind::Char => "CHAR",
        TypeKind::VarChar if is_binary => "VARBINARY",
        TypeKind::VarChar => "VARCHAR",
        TypeKind::TinyText if is_binary => "TINYBLOB",
        TypeKind::TinyText => "TINYTEXT",
        TypeKind::Text if is_binary => "BLOB",
        TypeKind::Text => "TEXT",
        TypeKind::MediumText if is_binary => "MEDIUMBLOB",
        TypeKind::MediumText => "MEDIUMTEXT",
        TypeKind::LongText if is_binary => "LONGBLOB",
        TypeKind::LongText => "LONGTEXT",
        TypeKind::Enum => "ENUM",
        TypeKind::Set => "SET",
        TypeKind::Json => "JSON",
    }
}

type Described = (
    String,
    &'static str,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u8>,
    bool,
);

/// A column as PEP 249 describes it.
fn described(column: &Column) -> Described {
    let ty = column.sql_type();
    let is_decimal = ty.kind == TypeKind::Decimal;
    (
        column.name().to_owned(),
        type_name(ty),
        None,
        Some(ty.length),
        is_decimal.then_some(ty.length),
        is_decimal.then_some(ty.decimals),
        column.is_nullable(),
    )
}

impl Cursor {
    /// A cursor of a connection, whose session it is.
    pub(crate) fn new(connection: Bound<'_, PyAny>, session: Arc<Session>) -> PyResult<Self> {
        if session.is_closed() {
            let why = "the connection is closed";
            return Err(errors::of_package(connection.py(), Class::Interface, why));
        }
        Ok(Self {
            connection: connection.unbind(),
            session,
            inner: Mutex::new(Inner {
                is_closed: false,
                arraysize: 1,
                rowcount: -1,
                lastrowid: None,
                description: None,
                rows: Rows::default(),
                sets: VecDeque::new(),
            }),
        })
    }

    /// The state, of an open cursor or not.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let why = "the cursor is in use by another thread, or by the statement that calls this function";
                Err(errors::of_package(py, Class::Programming, why))
            }
        }
    }

    /// The state of an open cursor.
    fn open(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        let inner = self.lock(py)?;
        let is_gone = self.session.is_closed();
        if inner.is_closed || is_gone {
            let what = if is_gone { "connection" } else { "cursor" };
            let why = format!("the {what} is closed");
            return Err(errors::of_package(py, Class::Interface, why));
        }
        Ok(inner)
    }

    /// The state of an open cursor with a result.
    fn with_result(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        let inner = self.open(py)?;
        if inner.description.is_none() {
            let why = "there is no result: no statement was executed, or it gives no rows";
            return Err(errors::of_package(py, Class::Programming, why));
        }
        Ok(inner)
    }

    /// At most `most` rows.
    fn fetch<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut inner = self.with_result(py)?;
        let rows = &mut inner.rows;
        let mut fetched = Vec::new();
        while fetched.len() < most {
            let Some((batch, given)) = rows.batch(py, &self.session)? else {
                break;
            };
            let wanted = (most - fetched.len()).min(batch.len() - given);
            for position in given..given + wanted {
                if let Some(row) = batch.row(position) {
                    fetched.push(tuple(py, row)?);
                }
            }
            rows.given = given + wanted;
        }
        Ok(fetched)
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(|it| it.into_inner());
        if inner.rows.reading.is_some() {
            inner.clear(&self.session);
        }
        release((
            std::mem::take(&mut inner.rows),
            std::mem::take(&mut inner.sets),
        ));
    }
}

#[pymethods]
impl Cursor {
    /// Runs a statement; ``parameters`` are the values of its ``?``. Returns the cursor.
    #[pyo3(signature = (sql, parameters = None, /))]
    pub(crate) fn execute<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, cursor) = (slf.py(), slf.get());
        let mut inner = cursor.open(py)?;
        inner.clear(&cursor.session);
        let values = self::parameters(parameters)?;
        let started = cursor.session.run(py, |held| held.start(sql, values))?;
        inner.begin(py, started)?;
        drop(inner);
        Ok(slf)
    }

    /// Runs a statement once for each of some sequences of parameters; rows that it gives are dropped. Returns the cursor,
    /// whose rowcount is that of all of them.
    #[pyo3(signature = (sql, parameters, /))]
    pub(crate) fn executemany<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        parameters: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, cursor) = (slf.py(), slf.get());
        let mut inner = cursor.open(py)?;
        inner.clear(&cursor.session);
        let (mut affected, mut last_id) = (0, 0);
        let mut all = parameters.try_iter()?;
        loop {
            let some = all.by_ref().take(PARAMETERS_AT_ONCE);
            let some = some.map(|given| self::parameters(Some(&given?)));
            let some = some.collect::<PyResult<Vec<_>>>()?;
            if some.is_empty() {
                break;
            }
            (affected, last_id) = cursor.session.run(py, |held| {
                let connection = held.connection();
                let statement = connection.prepare(sql)?;
                let mut done = (affected, last_id);
                for values in some {
                    let summary = connection.execute(&statement, values)?;
                    done = (done.0 + summary.affected_rows, summary.last_insert_id);
                }
                Ok(done)
            })?;
        }
        inner.rowcount = i64::try_from(affected).unwrap_or(-1);
        inner.lastrowid = (last_id != 0).then_some(last_id);
        drop(inner);
        Ok(slf)
    }

    /// The next row as a tuple, or None after the last.
    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        Ok(self.fetch(py, 1)?.pop())
    }

    /// The next rows, ``arraysize`` of them unless ``size`` says how many; a shorter list at the end.
    #[pyo3(signature = (size = None))]
    fn fetchmany<'py>(&self, py: Python<'py>, size: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let most = match size {
            Some(size) => size,
            None => self.lock(py)?.arraysize,
        };
        PyList::new(py, self.fetch(py, most)?)
    }

    /// All rows that are left, as a list of tuples.
    fn fetchall<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.fetch(py, usize::MAX)?)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }

    /// Goes to the next set of rows of a CALL; None when there is none.
    fn nextset(&self, py: Python<'_>) -> PyResult<Option<bool>> {
        Ok(self.open(py)?.next_set(py)?.then_some(true))
    }

    /// Is not there: execute a CALL.
    #[pyo3(signature = (name, parameters = None, /))]
    fn callproc(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (name, parameters);
        let why = "callproc is not there: execute a CALL";
        Err(errors::of_package(py, Class::NotSupported, why))
    }

    /// Does nothing, as PEP 249 allows.
    fn setinputsizes(&self, sizes: &Bound<'_, PyAny>) {
        let _ = sizes;
    }

    /// Does nothing, as PEP 249 allows.
    #[pyo3(signature = (size, column = None))]
    fn setoutputsize(&self, size: &Bound<'_, PyAny>, column: Option<&Bound<'_, PyAny>>) {
        let _ = (size, column);
    }

    /// Ends reading: the cursor can no longer be used.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.clear(&self.session);
        inner.is_closed = true;
        Ok(())
    }

    /// The connection of the cursor.
    #[getter]
    fn connection(&self, py: Python<'_>) -> Py<PyAny> {
        self.connection.clone_ref(py)
    }

    /// A tuple for each column of the result; None without one.
    #[getter]
    fn description(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        let inner = self.lock(py)?;
        Ok(inner.description.as_ref().map(|it| it.clone_ref(py)))
    }

    /// How many rows the statement gives or has changed; -1 when it is not known.
    #[getter]
    fn rowcount(&self, py: Python<'_>) -> PyResult<i64> {
        Ok(self.lock(py)?.rowcount)
    }

    /// The first number that AUTO_INCREMENT gave in the statement, or None.
    #[getter]
    fn lastrowid(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        Ok(self.lock(py)?.lastrowid)
    }

    /// How many rows fetchmany gives.
    #[getter]
    fn get_arraysize(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.arraysize)
    }

    #[setter]
    fn set_arraysize(&self, py: Python<'_>, size: usize) -> PyResult<()> {
        self.lock(py)?.arraysize = size;
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*error))]
    fn __exit__(&self, py: Python<'_>, error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let _ = error;
        self.close(py)
    }
}
