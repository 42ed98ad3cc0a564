//! The `mayfly` program in the extension module: the wheel has the engine once.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the ``mayfly`` program with these arguments, and returns its exit code.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let command_line = [OsString::from("mayfly")].into_iter().chain(arguments);
    let code = py.detach(|| mayfly_cli::run(command_line));
    u8::from(code != ExitCode::SUCCESS)
}
