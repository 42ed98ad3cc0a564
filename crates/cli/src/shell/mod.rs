//! The interactive shell: line editing, history, completion, and Ctrl-C that ends the statement and
//! not the shell.

mod colors;
mod completer;
mod history;
mod keys;
mod terminal;
mod typed_text;

use std::process::ExitCode;

use mayfly_engine::Session;

use crate::options::Options;
use crate::run::{Runner, Source, kill_on_interrupt};
pub(crate) use completer::Names;
use typed_text::TypedText;

/// Reads and runs statements until the user leaves.
pub(crate) fn interactive(mut session: Session, options: &Options) -> Result<ExitCode, String> {
    kill_on_interrupt(session.kill_handle())?;
    let names = Names::default();
    names.refresh(&mut session);
    let failed = |error: &dyn std::fmt::Display| format!("terminal: {error}");
    let text = TypedText::new(names.clone()).map_err(|error| failed(&error))?;
    let mut runner = Runner::interactive(options, names);
    println!("Mayfly {}. Type \\h for help.\n", env!("CARGO_PKG_VERSION"));
    let ended = runner.script(&mut session, text, &Source::default());
    ended.map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}
