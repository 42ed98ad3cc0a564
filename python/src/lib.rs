//! The extension module of the Python package `mayfly`: connections and cursors after PEP 249, results and tables in Arrow's
//! C data interface.
//!
//! A statement runs on the thread that calls it, without Python's lock ([`watched`]); what is left of a result is read from
//! the running statement ([`session`]). Python keeps control of the main thread: a point at which a statement may end is
//! also one at which Python's signal handlers run, so that Ctrl-C ends the statement.
//!
//! Invariant: no code waits for the engine while it holds Python's lock, for a thread of the engine may be waiting for
//! that lock. Rows become objects with the lock held, which takes nothing of the engine's.
//!
//! PEP 249: <https://peps.python.org/pep-0249/>. The capsules of Arrow:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

mod capsules;
mod causes;
mod connection;
mod cursor;
mod database;
mod errors;
mod frames;
mod functions;
mod opening;
mod parameters;
mod program;
mod rows;
mod running;
mod server;
mod session;
mod sources;
mod values;
mod watched;

use pyo3::prelude::*;

/// The engine of the package `mayfly`.
#[pymodule(gil_used = false)]
mod _mayfly {
    #[pymodule_export]
    use crate::connection::Connection;
    #[pymodule_export]
    use crate::cursor::Cursor;
    #[pymodule_export]
    use crate::opening::connect;
    #[pymodule_export]
    use crate::program::run_program;
    #[pymodule_export]
    use crate::server::Server;
    #[pymodule_export]
    use crate::server::serve;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
