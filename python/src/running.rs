//! A connection together with the rows that are read from it: the one place with a reference to itself.
//!
//! [`Rows`] borrow their connection for as long as their statement runs, while Python keeps both in one object. The
//! connection is on the heap behind a raw pointer, the rows borrow it by that pointer, and [`Running`] gives out the
//! connection only after the rows are gone.

#![expect(unsafe_code, reason = "rows and their connection are in one object")]

use std::ptr::NonNull;

use mayfly::{Columns, Connection, Parameters, Result, RowBatch, Rows, StoredRows, Summary};

/// A connection, and the rows of its running statement.
pub(crate) struct Running {
    /// Borrowed from `connection`; never given out, for their lifetime is not what it says.
    rows: Option<Rows<'static>>,
    /// From a box, which is freed when this is dropped.
    connection: NonNull<Connection>,
}

// SAFETY: both parts may move to another thread, as `may_move` has the compiler check; the pointer is an owning one.
unsafe impl Send for Running {}

const _: fn() = || {
    fn may_move<T: Send>() {}
    may_move::<Rows<'static>>();
    may_move::<Connection>();
};

impl Running {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            rows: None,
            connection: NonNull::from(Box::leak(Box::new(connection))),
        }
    }

    /// The connection, after the end of its running statement.
    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.rows = None;
        // SAFETY: the pointer is from a box that lives as long as `self`, the rows that borrowed from it are gone, and the
        // result keeps `self` borrowed.
        unsafe { self.connection.as_mut() }
    }

    /// Runs a statement up to its first row; its rows are read from here.
    pub(crate) fn start(&mut self, sql: &str, parameters: impl Parameters) -> Result<Columns> {
        self.rows = None;
        // SAFETY: as in `connection`; the lifetime ends with `self.rows`, which is set to None before the connection is
        // borrowed again or freed, and which no method gives out for longer than `self` is borrowed.
        let connection: &'static mut Connection = unsafe { &mut *self.connection.as_ptr() };
        let rows = connection.query(sql, parameters)?;
        let columns = rows.shared_columns();
        self.rows = Some(rows);
        Ok(columns)
    }

    /// The next rows; `None` after the last, and without a statement.
    pub(crate) fn next_rows(&mut self) -> Result<Option<RowBatch>> {
        match &mut self.rows {
            Some(rows) => rows.next_rows(),
            None => Ok(None),
        }
    }

    /// The sets of rows before the statement's own.
    pub(crate) fn take_sets(&mut self) -> Vec<StoredRows> {
        let rows = self.rows.as_mut();
        rows.map(Rows::take_sets).unwrap_or_default()
    }

    /// What the statement has done so far.
    pub(crate) fn summary(&self) -> Option<Summary> {
        self.rows.as_ref().map(Rows::summary)
    }

    /// Runs the statement to its end and keeps its rows; `None` without a statement.
    pub(crate) fn store(&mut self) -> Result<Option<StoredRows>> {
        self.rows.take().map(Rows::store).transpose()
    }

    /// Ends the statement.
    pub(crate) fn end(&mut self) {
        self.rows = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.rows = None;
        // SAFETY: the pointer is from `Box::leak`, this is the only place that frees it, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.connection.as_ptr()) });
    }
}
