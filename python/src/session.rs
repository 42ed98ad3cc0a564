//! A connection that several cursors and threads share.
//!
//! One thread at a time has the [`Running`] connection: it takes it out of its place ([`Session::take`]) and puts it back; others wait, without
//! Python's lock. A large result is read from the running statement. When a cursor runs the next statement, the rows
//! that are left of the one before are stored in a temporary table first ([`Reading`]), so that every cursor reads all of its rows.
//!
//! Invariant: the rows in `Running` belong to `reader`, and its [`Source`] is `Running`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use mayfly::{Columns, Error, Interrupt, Progress, RowBatch, StoredRows, Summary};
use mayfly::{Parameter, Result};
use pyo3::prelude::*;

use crate::causes::Cause;
use crate::database::{Open, lock};
use crate::errors::{self, Class};
use crate::running::Running;
use crate::sources::Tables;
use crate::watched::watched;

/// How long a thread waits for the connection before it looks for signals.
const WAIT: Duration = Duration::from_millis(20);
/// The rows that a stored result gives at once.
const ROWS_AT_ONCE: usize = 4096;

/// A connection, shared.
pub(crate) struct Session {
    place: Mutex<Place>,
    freed: Condvar,
    /// How many threads wait for `freed`: without one, waking is a system call for nothing.
    waiting: AtomicUsize,
    pub(crate) interrupt: Interrupt,
    pub(crate) progress: Progress,
    /// The process that has opened it.
    process: u32,
    /// What the running statement has met in Python.
    cause: Cause,
    pub(crate) tables: Arc<Tables>,
    /// Keeps the database open.
    pub(crate) open: Open,
}

/// Where the connection is.
enum Place {
    Free(Box<Held>),
    /// A thread has taken it.
    Taken(ThreadId),
    Closed,
}

/// A connection in the hands of one thread.
pub(crate) struct Held {
    pub(crate) running: Running,
    /// Whose rows those of the running statement are.
    reader: Option<Arc<Reading>>,
}

/// The connection, until this is dropped.
pub(crate) struct Taken<'s> {
    session: &'s Session,
    held: Option<Box<Held>>,
}

/// The rows of a result that its cursor has not read yet.
pub(crate) struct Reading(Mutex<Source>);

enum Source {
    /// The rows of the running statement.
    Running,
    Stored(Box<StoredRows>),
    /// The statement failed when its rows were stored.
    Failed(Error),
    Ended,
}

/// A statement that has begun.
pub(crate) struct Started {
    pub(crate) columns: Columns,
    /// Its first rows.
    pub(crate) batches: VecDeque<RowBatch>,
    /// The others; `None` when there are none.
    pub(crate) reading: Option<Arc<Reading>>,
    /// Sets of rows, of which `batches` and `reading` are empty.
    pub(crate) sets: VecDeque<StoredRows>,
    pub(crate) summary: Summary,
}

impl Session {
    pub(crate) fn new(mut connection: mayfly::Connection, open: Open) -> Self {
        let cause = Cause::default();
        let tables = Arc::new(Tables::new(&cause));
        let known = Arc::clone(&tables);
        connection.on_missing_table(move |name| known.table(name));
        Self {
            cause,
            tables,
            interrupt: connection.interrupt_handle(),
            progress: connection.progress(),
            place: Mutex::new(Place::Free(Box::new(Held {
                running: Running::new(connection),
                reader: None,
            }))),
            freed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            process: std::process::id(),
            open,
        }
    }

    /// Takes the connection; waits for the thread that has it.
    ///
    /// # Errors
    /// InterfaceError when it is closed, opened by another process, or taken by this thread; what a signal handler raises.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<Taken<'_>> {
        if self.process != std::process::id() {
            let why = "the connection belongs to the process that has opened it, before a fork";
            return Err(errors::of_package(py, Class::Interface, why));
        }
        loop {
            let owner = match self.try_take() {
                Ok(taken) => return Ok(taken),
                Err(Some(owner)) => owner,
                Err(None) => {
                    let why = "the connection is closed";
                    return Err(errors::of_package(py, Class::Interface, why));
                }
            };
            if owner == std::thread::current().id() {
                let why = "the connection runs the statement that calls this function";
                return Err(errors::of_package(py, Class::Programming, why));
            }
            py.detach(|| self.wait());
            py.check_signals()?;
        }
    }

    /// Waits for a moment, or until the thread that has the connection puts it back.
    fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let place = lock(&self.place);
        if matches!(*place, Place::Taken(_)) {
            drop(self.freed.wait_timeout(place, WAIT));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Takes the connection if it is free; else says which thread has it, and `None` when it is closed.
    pub(crate) fn try_take(&self) -> std::result::Result<Taken<'_>, Option<ThreadId>> {
        let mut place = lock(&self.place);
        let taken = Place::Taken(std::thread::current().id());
        match std::mem::replace(&mut *place, taken) {
            Place::Free(held) => Ok(Taken {
                session: self,
                held: Some(held),
            }),
            Place::Taken(owner) => {
                *place = Place::Taken(owner);
                Err(Some(owner))
            }
            Place::Closed => {
                *place = Place::Closed;
                Err(None)
            }
        }
    }

    /// Whether the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(*lock(&self.place), Place::Closed)
    }

    /// Runs work on the connection, without Python's lock.
    ///
    /// # Errors
    /// Those of taking it, of the work, and what a signal handler raises.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Held) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut taken = self.take(py)?;
        self.cause.clear();
        let held = taken.held.as_deref_mut();
        let done = watched(py, &self.interrupt, || self.cause.during(|| held.map(work)))?;
        drop(taken);
        match done {
            Some(Ok(done)) => Ok(done),
            Some(Err(error)) => Err(self.cause.explain(py, errors::of_engine(py, &error))),
            None => Err(errors::of_package(py, Class::Internal, "no connection")),
        }
    }

    /// Closes the connection: ends its running statement and rolls its transaction back. Closing it again does nothing.
    ///
    /// # Errors
    /// What a signal handler raises.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_closed() {
            return Ok(());
        }
        let taken = loop {
            match self.try_take() {
                Ok(taken) => break taken,
                Err(None) => return Ok(()),
                Err(Some(owner)) if owner == std::thread::current().id() => {
                    let why = "the connection runs the statement that calls this function";
                    return Err(errors::of_package(py, Class::Programming, why));
                }
                Err(Some(_)) => {}
            }
            self.interrupt.interrupt();
            py.detach(|| self.wait());
            py.check_signals()?;
        };
        py.detach(|| taken.close());
        Ok(())
    }

    /// Lets go of a result whose cursor does not read on. If the connection is taken, the next statement does it.
    pub(crate) fn release(&self, reading: &Arc<Reading>) {
        *lock(&reading.0) = Source::Ended;
        if let Ok(mut taken) = self.try_take()
            && let Some(held) = taken.held.as_deref_mut()
            && held.is_read_by(reading)
        {
            held.end();
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            *lock(&self.session.place) = Place::Free(held);
            if self.session.waiting.load(Ordering::SeqCst) > 0 {
                self.session.freed.notify_one();
            }
        }
    }
}

impl Taken<'_> {
    fn close(mut self) {
        if let Some(mut held) = self.held.take() {
            // Rows that are stored are read after the end, as those of other drivers are.
            held.end();
            drop(held);
        }
        *lock(&self.session.place) = Place::Closed;
        self.session.freed.notify_all();
        self.session.open.close();
    }
}

impl Held {
    fn is_read_by(&self, reading: &Arc<Reading>) -> bool {
        self.reader
            .as_ref()
            .is_some_and(|reader| Arc::ptr_eq(reader, reading))
    }

    /// Ends the running statement; its reader gets no more rows.
    fn end(&mut self) {
        self.running.end();
        if let Some(reader) = self.reader.take() {
            let mut source = lock(&reader.0);
            if matches!(*source, Source::Running) {
                *source = Source::Ended;
            }
        }
    }

    /// Frees the connection: the rows left of the running statement are stored for their reader.
    pub(crate) fn free(&mut self) {
        let Some(reader) = self.reader.take() else {
            self.running.end();
            return;
        };
        let is_read = Arc::strong_count(&reader) > 1 && matches!(*lock(&reader.0), Source::Running);
        if !is_read {
            self.running.end();
            return;
        }
        *lock(&reader.0) = match self.running.store() {
            Ok(Some(rows)) => Source::Stored(Box::new(rows)),
            Ok(None) => Source::Ended,
            Err(error) => Source::Failed(error),
        };
    }

    /// The connection, free.
    pub(crate) fn connection(&mut self) -> &mut mayfly::Connection {
        self.free();
        self.running.connection()
    }

    /// Runs a statement up to its first rows. A small result is read whole, so that its statement holds no lock and no snapshot.
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) fn start(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<Started> {
        self.free();
        let columns = self.running.start(sql, parameters)?;
        let mut sets: VecDeque<_> = self.running.take_sets().into();
        let mut started = Started {
            columns,
            batches: VecDeque::new(),
            reading: None,
            summary: self.running.summary().unwrap_or_default(),
            sets: VecDeque::new(),
        };
        if !sets.is_empty() {
            if !started.columns.is_empty() {
                sets.extend(self.running.store()?);
            }
            started.sets = sets;
            return Ok(started);
        }
        for _ in 0..2 {
            let Some(batch) = self.running.next_rows()? else {
                started.summary = self.running.summary().unwrap_or_default();
                self.running.end();
                return Ok(started);
            };
            started.batches.push_back(batch);
        }
        let reading = Arc::new(Reading(Mutex::new(Source::Running)));
        self.reader = Some(Arc::clone(&reading));
        started.reading = Some(reading);
        Ok(started)
    }

    fn next_rows(&mut self, reading: &Arc<Reading>) -> Result<Option<RowBatch>> {
        if !self.is_read_by(reading) {
            return reading.stored_rows().unwrap_or(Ok(None));
        }
        let next = self.running.next_rows();
        if !matches!(next, Ok(Some(_))) {
            self.end();
        }
        next
    }
}

impl Reading {
    /// Rows that are stored already.
    pub(crate) fn of(rows: StoredRows) -> Self {
        Self(Mutex::new(Source::Stored(Box::new(rows))))
    }

    /// The next rows that are stored; `None` while they are those of the running statement.
    fn stored_rows(&self) -> Option<Result<Option<RowBatch>>> {
        let mut source = lock(&self.0);
        match &mut *source {
            Source::Running => None,
            Source::Stored(rows) => Some(rows.next_rows(ROWS_AT_ONCE)),
            Source::Failed(_) => match std::mem::replace(&mut *source, Source::Ended) {
                Source::Failed(error) => Some(Err(error)),
                _ => Some(Ok(None)),
            },
            Source::Ended => Some(Ok(None)),
        }
    }
}

/// The next rows of a result; `None` after the last.
///
/// # Errors
/// Those of the statement, and of [`Session::run`].
pub(crate) fn next_rows(
    py: Python<'_>,
    session: &Session,
    reading: &Arc<Reading>,
) -> PyResult<Option<RowBatch>> {
    if let Some(rows) = py.detach(|| reading.stored_rows()) {
        return rows.map_err(|error| errors::of_engine(py, &error));
    }
    session.run(py, |held| held.next_rows(reading))
}
