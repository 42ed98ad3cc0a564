//! Objects of Python as tables: registered ones, and variables of the caller.
//!
//! `mayfly/_sources.py` recognises an object and says how it is read: as a stream of Arrow's record batches, again for each scan
//! or once. A table is one of the statement that names it, and all places of a name in a statement have the same table, so
//! that a stream which can be read once is not divided between them.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use mayfly::{Error, RecordBatches, Request, TableSource, codes};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::capsules;
use crate::causes::Cause;
use crate::database::lock;

/// Tables of the program for the statements of a connection.
#[derive(Default)]
pub(crate) struct Tables {
    registered: Mutex<HashMap<String, Arc<dyn TableSource>>>,
    /// The caller of the running statement, if its variables may be tables.
    frame: Mutex<Option<Frame>>,
    /// The variables that the running statement has named.
    found: Mutex<HashMap<String, Arc<dyn TableSource>>>,
    cause: Cause,
}

impl Tables {
    pub(crate) fn new(cause: &Cause) -> Self {
        Self {
            cause: cause.clone(),
            ..Self::default()
        }
    }

    /// Makes an object a table until it is taken away.
    ///
    /// # Errors
    /// TypeError for an object of no known kind, and errors of finding out its columns.
    pub(crate) fn register(
        &self,
        name: &str,
        object: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = object.py();
        let Some(source) = PythonSource::of(object, columns, name, &self.cause)? else {
            let why = format!(
                "an object of type {} cannot be read as a table",
                object.get_type().name()?
            );
            return Err(pyo3::exceptions::PyTypeError::new_err(why));
        };
        let source: Arc<dyn TableSource> = Arc::new(source);
        let before = lock(&self.registered).insert(name.to_owned(), source);
        py.detach(|| drop(before));
        Ok(())
    }

    /// Takes a table away, if there is one of the name.
    pub(crate) fn unregister(&self, py: Python<'_>, name: &str) {
        let before = lock(&self.registered).remove(name);
        py.detach(|| drop(before));
    }

    /// Begins a statement. `frame` is the one of its caller, if variables may be tables.
    pub(crate) fn enter(&self, frame: Option<Frame>) {
        *lock(&self.frame) = frame;
    }

    /// Ends a statement, and gives what it leaves behind.
    pub(crate) fn leave(&self) -> impl Send + use<> {
        let frame = lock(&self.frame).take();
        (frame, std::mem::take(&mut *lock(&self.found)))
    }

    /// The table of a name that leads to none in the database.
    ///
    /// # Errors
    /// Errors of finding out the columns.
    pub(crate) fn table(&self, name: &str) -> mayfly::Result<Option<Arc<dyn TableSource>>> {
        if let Some(source) = lock(&self.registered).get(name) {
            return Ok(Some(Arc::clone(source)));
        }
        if let Some(source) = lock(&self.found).get(name) {
            return Ok(Some(Arc::clone(source)));
        }
        let found = Python::try_attach(|py| {
            let frame = lock(&self.frame).as_ref().map(|it| it.0.clone_ref(py));
            let Some(frame) = frame.map(Frame) else {
                return Ok(None);
            };
            let Some(object) = frame.variable(py, name)? else {
                return Ok(None);
            };
            PythonSource::of(&object, None, name, &self.cause)
        });
        match found {
            Some(Ok(Some(source))) => {
                let source: Arc<dyn TableSource> = Arc::new(source);
                lock(&self.found).insert(name.to_owned(), Arc::clone(&source));
                Ok(Some(source))
            }
            Some(Ok(None)) | None => Ok(None),
            Some(Err(error)) => Err(self.cause.error(name, error)),
        }
    }
}

/// A frame of Python's: a call with its variables.
pub(crate) struct Frame(Py<PyAny>);

impl Frame {
    /// The frame of the code that calls this extension module.
    pub(crate) fn of_caller(py: Python<'_>) -> PyResult<Self> {
        static GET_FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let get = GET_FRAME.import(py, "sys", "_getframe")?;
        Ok(Self(get.call0()?.unbind()))
    }

    /// A local variable, or else a global one.
    fn variable<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        for scope in ["f_locals", "f_globals"] {
            let scope = self.0.bind(py).getattr(scope)?;
            let found = match scope.cast::<PyDict>() {
                Ok(scope) => scope.get_item(name)?,
                // The locals of a function, from Python 3.13 on.
                Err(_) => Some(scope.call_method1("get", (name,))?).filter(|it| !it.is_none()),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// An object of Python that gives streams of record batches.
struct PythonSource {
    name: String,
    /// A `Source` of `_sources.py`.
    object: Py<PyAny>,
    schema: SchemaRef,
    rows: Option<u64>,
    /// Whether it gives the columns that it is asked for alone.
    projects: bool,
    is_once: bool,
    /// The stream that told the schema, for the first scan.
    first: Mutex<Option<RecordBatchStreamReader>>,
    is_read: AtomicBool,
    cause: Cause,
}

impl Debug for PythonSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PythonSource({})", self.name)
    }
}

impl PythonSource {
    /// The source that an object is; `None` for an object of no known kind.
    fn of(
        object: &Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyAny>>,
        name: &str,
        cause: &Cause,
    ) -> PyResult<Option<Self>> {
        let py = object.py();
        let source = py.import("mayfly._sources")?.getattr("source")?;
        let source = source.call1((object, columns))?;
        if source.is_none() {
            return Ok(None);
        }
        let projects: bool = source.getattr("projects")?.extract()?;
        let (schema, first) = if projects {
            let schema = capsules::schema(&source.getattr("schema")?)?;
            (Arc::new(schema), None)
        } else {
            let stream = capsules::stream(&source.call_method0("open")?)?;
            (stream.schema(), Some(stream))
        };
        Ok(Some(Self {
            name: name.to_owned(),
            schema,
            rows: source.getattr("rows")?.extract()?,
            projects,
            is_once: source.getattr("once")?.extract()?,
            first: Mutex::new(first),
            is_read: AtomicBool::new(false),
            cause: cause.clone(),
            object: source.unbind(),
        }))
    }

    /// A new stream, of these columns where the object selects them.
    fn open(&self, columns: &[usize]) -> mayfly::Result<RecordBatchStreamReader> {
        if let Some(first) = lock(&self.first).take() {
            return Ok(first);
        }
        if self.is_once && self.is_read.load(Ordering::Relaxed) {
            let what = format!(
                "'{}' is a stream that can be read once, and was read; register a table of its rows",
                self.name
            );
            return Err(codes::ER_UNKNOWN_ERROR.with(&[&what]));
        }
        let open = |py: Python<'_>| {
            let object = self.object.bind(py);
            let stream = match self.projects {
                true => object.call_method1("open", (columns.to_vec(),))?,
                false => object.call_method0("open")?,
            };
            capsules::stream(&stream)
        };
        let opened = Python::try_attach(open);
        let opened = opened.ok_or_else(|| self.failed("Python has ended"))?;
        opened.map_err(|error| self.cause.error(&self.name, error))
    }

    fn failed(&self, why: impl fmt::Display) -> Error {
        codes::ER_UNKNOWN_ERROR.with(&[&format!("'{}': {why}", self.name)])
    }

    /// The error of a stream, with the exception behind it where Python has noted one.
    fn stream_error(object: &Py<PyAny>, cause: &Cause, name: &str, error: &ArrowError) -> Error {
        let noted = Python::try_attach(|py| {
            let noted = object.bind(py).getattr("error").ok()?;
            (!noted.is_none()).then(|| PyErr::from_value(noted))
        });
        match noted.flatten() {
            Some(noted) => cause.error(name, noted),
            None => codes::ER_UNKNOWN_ERROR.with(&[&format!("'{name}': {error}")]),
        }
    }
}

impl TableSource for PythonSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Option<u64> {
        self.rows
    }

    fn scan(&self, request: &Request) -> mayfly::Result<RecordBatches> {
        let stream = self.open(&request.columns)?;
        self.is_read.store(true, Ordering::Relaxed);
        let columns = match self.projects {
            true => (0..request.columns.len()).collect(),
            false => request.columns.clone(),
        };
        let object = Python::try_attach(|py| self.object.clone_ref(py));
        let object = object.ok_or_else(|| self.failed("Python has ended"))?;
        let (cause, name) = (self.cause.clone(), self.name.clone());
        let project = move |batch: Result<RecordBatch, ArrowError>| {
            batch
                .and_then(|batch| batch.project(&columns))
                .map_err(|error| Self::stream_error(&object, &cause, &name, &error))
        };
        Ok(Box::new(stream.map(project)))
    }
}
