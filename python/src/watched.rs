//! Statements that run without Python's lock, under the eyes of Python's signal handlers.
//!
//! Python runs signal handlers on its main thread alone. While that thread is in a statement, it comes by the engine's
//! checkpoints ([`mayfly::Checkpoint`]), and looks there, every [`INTERVAL`], whether a handler raises an exception (Ctrl-C:
//! KeyboardInterrupt). Then the statement is interrupted, and the exception takes the place of its error. Other threads do
//! not look: Python gives them no signals, and [`Connection.interrupt`] ends their statements.
//!
//! [`Connection.interrupt`]: crate::connection::Connection

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use mayfly::{Checkpoint, Interrupt};
use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

/// How often the main thread looks for signals.
const INTERVAL: Duration = Duration::from_millis(20);

thread_local! {
    /// Whether this is Python's main thread.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    /// When this thread looks next: a result is read in many short calls, none of which is as long as the interval.
    static DUE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The statement that runs on this thread.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// A running statement of the main thread.
struct Watch {
    interrupt: Interrupt,
    /// What a signal handler has raised.
    raised: Option<PyErr>,
}

/// The checkpoint of all databases of the package.
#[derive(Debug)]
pub(crate) struct SignalCheckpoint;

impl Checkpoint for SignalCheckpoint {
    fn reached(&self) {
        let is_watched = WATCH.with(|watch| {
            let watch = watch.borrow();
            watch.as_ref().is_some_and(|watch| watch.raised.is_none())
        });
        if !is_watched || !is_due() {
            return;
        }
        let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) else {
            return;
        };
        WATCH.with(|watch| {
            if let Some(watch) = watch.borrow_mut().as_mut() {
                watch.raised = Some(error);
                watch.interrupt.interrupt();
            }
        });
    }
}

/// Whether this thread looks for signals now.
fn is_due() -> bool {
    let now = Instant::now();
    let due = DUE.get();
    if due.is_none_or(|due| now >= due) {
        DUE.set(Some(now + INTERVAL));
    }
    due.is_some_and(|due| now >= due)
}

/// Whether this thread is Python's main thread, which alone runs signal handlers.
fn is_main(py: Python<'_>) -> bool {
    if let Some(known) = IS_MAIN.get() {
        return known;
    }
    let threading = py.import("threading");
    let is_main = threading.and_then(|threading| {
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        main.eq(threading.call_method0("get_ident")?)
    });
    let is_main = is_main.unwrap_or(false);
    IS_MAIN.set(Some(is_main));
    is_main
}

/// Runs work of a connection without Python's lock.
///
/// # Errors
/// What a signal handler has raised meanwhile.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if !is_main(py) {
        return Ok(py.detach(work));
    }
    if is_due() {
        py.check_signals()?;
    }
    let watch = Watch {
        interrupt: interrupt.clone(),
        raised: None,
    };
    // A statement may call a function of Python's that runs a statement on another connection.
    let outer = WATCH.replace(Some(watch));
    let done = Restored(outer);
    let result = py.detach(work);
    let raised = WATCH.with(|watch| watch.borrow_mut().as_mut()?.raised.take());
    drop(done);
    match raised {
        Some(error) => Err(error),
        None => Ok(result),
    }
}

/// The outer statement, which is the watched one again when this is dropped, also by a panic.
struct Restored(Option<Watch>);

impl Drop for Restored {
    fn drop(&mut self) {
        WATCH.replace(self.0.take());
    }
}

/// Drops what may wait for the engine, without Python's lock.
pub(crate) fn release<T: Send>(value: T) {
    let mut value = Some(value);
    Python::try_attach(|py| {
        let value = value.take();
        py.detach(|| drop(value));
    });
}
