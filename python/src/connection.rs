//! Connections after PEP 249.

use std::sync::Arc;

use mayfly::{Level, ToParameter};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::cursor::Cursor;
use crate::database::{Open, OpenDatabase};
use crate::errors::{self, Class};
use crate::functions::{self, Calls, sql_type};
use crate::session::Session;
use crate::watched::release;

/// A connection to a database, with its temporary tables, variables and transaction.
///
/// Threads may share it: statements wait for each other. Connections of several threads run side by side. As a context
/// manager it commits at the end, or rolls back after an exception, and is closed.
#[pyclass(frozen, weakref, module = "mayfly")]
pub(crate) struct Connection {
    session: Option<Arc<Session>>,
    settings: Settings,
}

impl Connection {
    /// A new connection to an open database.
    pub(crate) fn to(
        py: Python<'_>,
        opened: &Arc<OpenDatabase>,
        settings: Settings,
    ) -> PyResult<Self> {
        let made = py.detach(|| {
            let mut connection = opened.database.connect();
            if settings.database != "test" {
                let name = settings.database.replace('`', "``");
                connection.execute(&format!("USE `{name}`"), ())?;
            }
            if !settings.autocommit {
                connection.execute("SET autocommit = 0", ())?;
            }
            Ok(Session::new(connection, Open::new(opened)))
        });
        let session = made.map_err(|error| errors::of_engine(py, &error))?;
        Ok(Self {
            session: Some(Arc::new(session)),
            settings,
        })
    }

    pub(crate) fn session(&self) -> PyResult<&Arc<Session>> {
        // It is None only while this object is freed.
        let gone = || pyo3::exceptions::PyReferenceError::new_err("the connection is gone");
        self.session.as_ref().ok_or_else(gone)
    }

    fn run(&self, py: Python<'_>, sql: &str) -> PyResult<()> {
        let session = self.session()?;
        session.run(py, |held| held.connection().execute(sql, ()).map(drop))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        release(self.session.take());
    }
}

/// The settings of a connection, which [`Connection::connect`] hands on.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) autocommit: bool,
    pub(crate) database: String,
    /// Whether variables of the caller may be tables.
    pub(crate) python_variables: bool,
}

#[pymethods]
impl Connection {
    /// A new cursor.
    fn cursor(slf: Bound<'_, Self>) -> PyResult<Cursor> {
        let session = Arc::clone(slf.get().session()?);
        let sees_variables = slf.get().settings.python_variables;
        Cursor::new(slf.into_any(), session, sees_variables)
    }

    /// Runs a statement and returns its cursor. ``parameters`` are the values of its ``?``.
    #[pyo3(signature = (sql, parameters = None, /))]
    fn execute<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Cursor>> {
        let py = slf.py();
        let cursor = Bound::new(py, Self::cursor(slf)?)?;
        Cursor::execute(cursor, sql, parameters)
    }

    /// Runs a statement and returns its cursor: another name of execute.
    #[pyo3(signature = (sql, parameters = None, /))]
    fn sql<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Cursor>> {
        Self::execute(slf, sql, parameters)
    }

    /// Runs a statement once for each of some sequences of parameters, and returns its cursor.
    #[pyo3(signature = (sql, parameters, /))]
    fn executemany<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        parameters: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Cursor>> {
        let py = slf.py();
        let cursor = Bound::new(py, Self::cursor(slf)?)?;
        Cursor::executemany(cursor, sql, parameters)
    }

    /// Runs all statements of a text, separated by ``;``. The first error ends it.
    #[pyo3(signature = (sql, /))]
    fn executescript(&self, py: Python<'_>, sql: &str) -> PyResult<()> {
        let session = self.session()?;
        session.run(py, |held| held.connection().execute_script(sql))
    }

    /// Makes an object a table of this connection: it is read where a statement names it without a database. A table of the
    /// database with the name comes first.
    ///
    /// An object is what has ``__arrow_c_stream__`` or ``__arrow_c_array__`` (Arrow, Polars, DuckDB), a frame of pandas, a
    /// LazyFrame of Polars, a dataset of pyarrow, a dictionary of arrays, or a list or iterator of tuples or dictionaries, whose
    /// first 1024 rows tell the types. ``columns`` are the names of the columns of tuples.
    #[pyo3(signature = (name, object, /, columns = None))]
    fn register(
        &self,
        name: &str,
        object: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.session()?.tables.register(name, object, columns)
    }

    /// Takes a registered object away; nothing happens without one of the name.
    #[pyo3(signature = (name, /))]
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.session()?.tables.unregister(py, name);
        Ok(())
    }

    /// Makes a function of Python one of the current database, for all connections, until the process ends or DROP FUNCTION.
    ///
    /// ``parameters`` and ``result`` are types: bool, int, float, Decimal, str, bytes, date, datetime, timedelta, or names of SQL types
    /// as ``"DECIMAL(10, 2)"``. NULL among the arguments is NULL in the result unless ``calls_with_null``, with which the function
    /// gets None. A ``deterministic`` function gives equal results for equal arguments. What it raises is an error of the
    /// statement, with the exception as its ``__cause__``. The function must not use the connection that calls it.
    #[pyo3(signature = (name, function, parameters, result, /, *, deterministic = false, calls_with_null = false))]
    #[expect(clippy::too_many_arguments, reason = "most have names in Python")]
    fn create_function(
        &self,
        py: Python<'_>,
        name: &str,
        function: Py<PyAny>,
        parameters: Vec<Bound<'_, PyAny>>,
        result: &Bound<'_, PyAny>,
        deterministic: bool,
        calls_with_null: bool,
    ) -> PyResult<()> {
        if !function.bind(py).is_callable() {
            let why = "a function is something that can be called";
            return Err(errors::of_package(py, Class::Programming, why));
        }
        let parameters = parameters.iter().map(sql_type);
        let parameters = parameters.collect::<PyResult<Vec<_>>>()?;
        let calls = Calls {
            is_deterministic: deterministic,
            with_null: calls_with_null,
        };
        let made = functions::function(name, function, parameters, sql_type(result)?, &calls);
        let session = self.session()?;
        session.run(py, |held| {
            let current = held.connection().query_row("SELECT DATABASE()", ())?;
            let name = format!("{}.{name}", current.get::<String>(0)?);
            match session.open.database() {
                Some(opened) => opened.database.add_function(&name, made),
                None => Ok(()),
            }
        })
    }

    /// Begins a transaction.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, "START TRANSACTION")
    }

    /// Commits the transaction.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, "COMMIT")
    }

    /// Rolls the transaction back.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, "ROLLBACK")
    }

    /// Closes the connection: ends a statement that another thread runs on it, and rolls the transaction back.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.session()?.close(py)
    }

    /// Ends the statement that another thread runs on this connection, with error 1317.
    fn interrupt(&self) -> PyResult<()> {
        self.session()?.interrupt.interrupt();
        Ok(())
    }

    /// Another connection to the database, with the settings of this one.
    fn connect(&self, py: Python<'_>) -> PyResult<Self> {
        let Some(database) = self.session()?.open.database() else {
            let why = "the connection is closed";
            return Err(errors::of_package(py, Class::Interface, why));
        };
        let made = Self::to(py, &database, self.settings.clone());
        release(database);
        made
    }

    /// The warnings, notes and errors of the last statement: level, number and text of each.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = self
            .session()?
            .run(py, |held| Ok(held.connection().warnings()))?;
        let all = all.into_iter().map(|it| {
            let level = match it.level {
                Level::Note => "Note",
                Level::Warning => "Warning",
                Level::Error => "Error",
            };
            (level, it.error.errno(), it.error.message().to_owned())
        });
        PyList::new(py, all.collect::<Vec<_>>())
    }

    /// How far the running statement is: the rows that it has read, and those that it will read, or None.
    #[getter]
    fn progress(&self) -> PyResult<(u64, Option<u64>)> {
        let progress = &self.session()?.progress;
        Ok((progress.rows_read(), progress.rows_expected()))
    }

    /// Bytes of memory that tables and statements of the database take.
    #[getter]
    fn memory_used(&self, py: Python<'_>) -> PyResult<u64> {
        let database = self.session()?.open.database();
        Ok(py.detach(|| database.map_or(0, |it| it.database.memory_used())))
    }

    /// Whether each statement is a transaction of its own.
    #[getter]
    fn get_autocommit(&self, py: Python<'_>) -> PyResult<bool> {
        let session = self.session()?;
        session.run(py, |held| {
            let row = held.connection().query_row("SELECT @@autocommit", ())?;
            row.get(0)
        })
    }

    #[setter]
    fn set_autocommit(&self, py: Python<'_>, autocommit: bool) -> PyResult<()> {
        let session = self.session()?;
        session.run(py, |held| {
            let value = vec![autocommit.to_parameter()];
            let connection = held.connection();
            connection.execute("SET autocommit = ?", value).map(drop)
        })
    }

    /// Whether the connection is closed.
    #[getter]
    fn closed(&self) -> PyResult<bool> {
        Ok(self.session()?.is_closed())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*error))]
    fn __exit__(&self, py: Python<'_>, error: &Bound<'_, PyTuple>) -> PyResult<()> {
        if self.session()?.is_closed() {
            return Ok(());
        }
        let ended = match error.get_item(0)?.is_none() {
            true => self.commit(py),
            false => self.rollback(py),
        };
        ended.and(self.close(py))
    }

    fn __repr__(&self) -> PyResult<&'static str> {
        Ok(match self.session()?.is_closed() {
            true => "<mayfly.Connection, closed>",
            false => "<mayfly.Connection>",
        })
    }

    #[classattr]
    #[pyo3(name = "Warning")]
    fn warning(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "Warning")
    }

    #[classattr]
    #[pyo3(name = "Error")]
    fn error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "Error")
    }

    #[classattr]
    #[pyo3(name = "InterfaceError")]
    fn interface_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "InterfaceError")
    }

    #[classattr]
    #[pyo3(name = "DatabaseError")]
    fn database_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "DatabaseError")
    }

    #[classattr]
    #[pyo3(name = "DataError")]
    fn data_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "DataError")
    }

    #[classattr]
    #[pyo3(name = "OperationalError")]
    fn operational_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "OperationalError")
    }

    #[classattr]
    #[pyo3(name = "IntegrityError")]
    fn integrity_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "IntegrityError")
    }

    #[classattr]
    #[pyo3(name = "InternalError")]
    fn internal_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "InternalError")
    }

    #[classattr]
    #[pyo3(name = "ProgrammingError")]
    fn programming_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "ProgrammingError")
    }

    #[classattr]
    #[pyo3(name = "NotSupportedError")]
    fn not_supported_error(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exception(py, "NotSupportedError")
    }
}

fn exception(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    Ok(py.import("mayfly._errors")?.getattr(name)?.unbind())
}
