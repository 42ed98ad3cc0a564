//! Cursors after PEP 249.
//!
//! A cursor has the rows that it has got, and the place where the others come from ([`Reading`]). It belongs to one thread at a
//! time: another one gets an error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use mayfly::{Column, Columns, SqlType, StoredRows, TypeKind};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};

use crate::errors::{self, Class};
use crate::frames::Stream;
use crate::parameters::parameters;
use crate::rows::Rows;
use crate::session::{Reading, Session, Started};
use crate::sources::Frame;
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
    /// Whether variables of the caller may be tables.
    sees_variables: bool,
    inner: Mutex<Inner>,
}

struct Inner {
    is_closed: bool,
    arraysize: usize,
    rowcount: i64,
    lastrowid: Option<u64>,
    /// The columns of the result.
    columns: Option<Columns>,
    rows: Rows,
    sets: VecDeque<StoredRows>,
}

impl Inner {
    /// Forgets the result.
    fn clear(&mut self, session: &Session) {
        std::mem::take(&mut self.rows).end(session);
        release(std::mem::take(&mut self.sets));
        self.columns = None;
    }

    fn begin(&mut self, started: Started) {
        let id = started.summary.last_insert_id;
        self.lastrowid = (id != 0).then_some(id);
        self.rows = Rows::new(started.batches, started.reading);
        self.columns = Some(started.columns).filter(|columns| !columns.is_empty());
        self.sets = started.sets;
        let count = match self.columns {
            None => Some(started.summary.affected_rows),
            Some(_) => self.rows.count().map(|count| count as u64),
        };
        self.rowcount = count.map_or(-1, |count| i64::try_from(count).unwrap_or(-1));
        self.next_set();
    }

    /// Goes to the next set of rows, if there is one.
    fn next_set(&mut self) -> bool {
        let Some(set) = self.sets.pop_front() else {
            return false;
        };
        self.columns = Some(set.shared_columns());
        self.rowcount = -1;
        self.rows = Rows::new(VecDeque::new(), Some(Arc::new(Reading::of(set))));
        true
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
        TypeKind::Geometry(kind) => kind.name(),
        TypeKind::Vector => "VECTOR",
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
    pub(crate) fn new(
        connection: Bound<'_, PyAny>,
        session: Arc<Session>,
        sees_variables: bool,
    ) -> PyResult<Self> {
        if session.is_closed() {
            let why = "the connection is closed";
            return Err(errors::of_package(connection.py(), Class::Interface, why));
        }
        Ok(Self {
            connection: connection.unbind(),
            session,
            sees_variables,
            inner: Mutex::new(Inner {
                is_closed: false,
                arraysize: 1,
                rowcount: -1,
                lastrowid: None,
                columns: None,
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
        if inner.columns.is_none() {
            let why = "there is no result: no statement was executed, or it gives no rows";
            return Err(errors::of_package(py, Class::Programming, why));
        }
        Ok(inner)
    }

    /// The rows that are left as a stream; the cursor has none then.
    fn stream(&self, py: Python<'_>, is_wide: bool) -> PyResult<Stream> {
        let mut inner = self.with_result(py)?;
        let rows = std::mem::take(&mut inner.rows);
        let session = Arc::clone(&self.session);
        let columns = inner.columns.iter().flat_map(Columns::iter);
        Ok(Stream::new(columns, rows, session, is_wide))
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
            rows.give(given + wanted);
        }
        Ok(fetched)
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(|it| it.into_inner());
        inner.clear(&self.session);
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
        (inner.rowcount, inner.lastrowid) = (-1, None);
        let values = self::parameters(parameters)?;
        let frame = match cursor.sees_variables {
            true => Some(Frame::of_caller(py)?),
            false => None,
        };
        let tables = &cursor.session.tables;
        let mut left = None;
        let started = cursor.session.run(py, |held| {
            tables.enter(frame);
            let started = held.start(sql, values);
            left = Some(tables.leave());
            started
        });
        release(left);
        inner.begin(started?);
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
        (inner.rowcount, inner.lastrowid) = (-1, None);
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

    /// The rows that are left as a pyarrow.Table.
    ///
    /// DECIMAL of more than 38 digits becomes decimal128 if its values fit, or decimal256 if that is asked for.
    #[pyo3(signature = (*, decimal256 = false))]
    fn arrow<'py>(&self, py: Python<'py>, decimal256: bool) -> PyResult<Bound<'py, PyAny>> {
        self.stream(py, decimal256)?.read_by(py, "arrow")
    }

    /// The rows that are left as a pyarrow.Table: another name of arrow.
    #[pyo3(signature = (*, decimal256 = false))]
    fn fetch_arrow_table<'py>(
        &self,
        py: Python<'py>,
        decimal256: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.arrow(py, decimal256)
    }

    /// The rows that are left as a pyarrow.RecordBatchReader, which reads them when it is asked for them.
    #[pyo3(signature = (*, decimal256 = false))]
    fn fetch_record_batch<'py>(
        &self,
        py: Python<'py>,
        decimal256: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.stream(py, decimal256)?.read_by(py, "record_batches")
    }

    /// The rows that are left as a pandas.DataFrame.
    fn df<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stream(py, true)?.read_by(py, "df")
    }

    /// The rows that are left as a polars.DataFrame.
    fn pl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stream(py, false)?.read_by(py, "pl")
    }

    /// The rows that are left as a dictionary of NumPy arrays by name, masked ones where there is NULL.
    fn fetchnumpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stream(py, true)?.read_by(py, "fetchnumpy")
    }

    /// The rows that are left as a stream of Arrow's C data interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.stream(py, false)?.capsule(py, requested_schema)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }

    /// Goes to the next set of rows of a CALL; None when there is none.
    fn nextset(&self, py: Python<'_>) -> PyResult<Option<bool>> {
        Ok(self.open(py)?.next_set().then_some(true))
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

    /// Ends reading: the cursor can no longer be used, but rowcount and lastrowid stay.
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
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let inner = self.lock(py)?;
        let Some(columns) = &inner.columns else {
            return Ok(None);
        };
        let columns: Vec<Described> = columns.iter().map(|it| described(&it)).collect();
        PyTuple::new(py, columns).map(Some)
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
