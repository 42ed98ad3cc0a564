//! The exceptions behind errors of SQL: what an object of Python has raised while a statement read or called it.
//!
//! The engine carries MySQL's errors, in which an exception is text. The exception itself waits here until the error arrives where
//! Python called, and becomes its cause. One that ends programs (KeyboardInterrupt, SystemExit) takes the error's place.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use mayfly::{Error, codes};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::database::lock;

/// The exception that has ended the running statement of a connection. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Cause(Arc<Mutex<Option<PyErr>>>);

thread_local! {
    /// That of the statement which this thread runs: functions of a database do not know whose statement calls them.
    static RUNNING: RefCell<Cause> = RefCell::default();
}

impl Cause {
    /// That of the statement which this thread runs.
    pub(crate) fn of_thread() -> Self {
        RUNNING.with_borrow(Clone::clone)
    }

    /// Runs a statement's work on this thread.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// The cause of the outer statement, which is that of the thread again when this is dropped.
        struct Outer(Cause);

        impl Drop for Outer {
            fn drop(&mut self) {
                RUNNING.replace(std::mem::take(&mut self.0));
            }
        }

        let _outer = Outer(RUNNING.replace(self.clone()));
        work()
    }

    /// The error of SQL for an exception of an object with this name.
    pub(crate) fn error(&self, name: &str, error: PyErr) -> Error {
        let text = Python::try_attach(|py| shown(py, &error));
        let what = format!("'{name}': {}", text.unwrap_or_default());
        // The first one is the reason of those that follow.
        lock(&self.0).get_or_insert(error);
        codes::ER_UNKNOWN_ERROR.with(&[&what])
    }

    /// Forgets the exception, before a statement.
    pub(crate) fn clear(&self) {
        lock(&self.0).take();
    }

    /// What is raised for an error of a statement.
    pub(crate) fn explain(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let Some(cause) = lock(&self.0).take() else {
            return error;
        };
        if !cause.is_instance_of::<PyException>(py) {
            return cause;
        }
        error.set_cause(py, Some(cause));
        error
    }
}

/// The text of an exception with its class.
fn shown(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).name();
    let name = name.map_or_else(|_| "error".to_owned(), |name| name.to_string());
    format!("{name}: {}", error.value(py))
}
