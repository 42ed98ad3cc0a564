//! Passwords that are asked for at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Reads a line from the terminal without showing it.
pub(crate) fn ask(prompt: &str) -> Result<String, String> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(
            "--password: there is no terminal to ask at; use MYSQL_PWD or --defaults-file"
                .to_owned(),
        );
    }
    let before = tcgetattr(&input).map_err(|error| error.to_string())?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Now, &silent).map_err(|error| error.to_string())?;
    // What is typed from the prompt on is not shown.
    eprint!("{prompt}");
    let mut line = String::new();
    let flushed = std::io::stderr().flush();
    let read = flushed.and_then(|()| input.lock().read_line(&mut line));
    let shown = tcsetattr(&input, OptionalActions::Now, &before);
    eprintln!();
    read.map_err(|error| error.to_string())?;
    shown.map_err(|error| error.to_string())?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
