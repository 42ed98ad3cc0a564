//! The interactive shell: line editing, history, completion, and Ctrl-C that ends the statement and
//! not the shell.

mod colors;
mod completer;
mod history;
mod keys;
mod terminal;
mod typed_text;

use std::process::ExitCode;

use crate::connection::Connection;
use crate::options::Options;
use crate::run::{Runner, Source, on_interrupt};
pub(crate) use completer::Names;
use typed_text::TypedText;

/// Reads and runs statements until the user leaves.
pub(crate) fn interactive(
    connection: &mut dyn Connection,
    options: &Options,
) -> Result<ExitCode, String> {
    on_interrupt(connection.interrupter(), false)?;
    let names = Names::default();
    names.refresh(connection);
    let failed = |error: &dyn std::fmt::Display| format!("terminal: {error}");
    let text = TypedText::new(names.clone()).map_err(|error| failed(&error))?;
    let mut runner = Runner::interactive(options, names);
    println!("Mayfly {}. Type \\h for help.\n", env!("CARGO_PKG_VERSION"));
    let ended = runner.script(connection, text, &Source::default());
    ended.map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}
