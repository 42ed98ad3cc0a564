//! Commands of the client that do more than set a value: `source`, `\d`, `\s`, `\e`, `\!`, `\plot`.
//!
//! What runs programs or writes files is for the shell alone: a script, perhaps a dump of another origin, cannot do it.

use std::io;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::client_command::{ClientCommand, HELP};
use crate::command_line::shell;
use crate::connection::Connection;
use crate::output::Format;
use crate::run::{Ended, Runner, Source};

/// Greatest nesting depth of files read by `source`.
const SOURCE_DEPTH: usize = 32;

impl Runner {
    /// Runs a command of the client.
    pub(crate) fn command(
        &mut self,
        connection: &mut dyn Connection,
        command: &ClientCommand,
    ) -> Ended {
        let is_for_shell = matches!(
            command,
            ClientCommand::Edit
                | ClientCommand::System(_)
                | ClientCommand::Pager(_)
                | ClientCommand::Tee(_)
                | ClientCommand::Plot(Some(_))
        ) || matches!(command, ClientCommand::Format(Some(text)) if text.contains(char::is_whitespace));
        if is_for_shell && (!self.interactive || self.depth > 0) {
            return self.wrong("this command is for the interactive shell");
        }
        let done = match command {
            ClientCommand::Quit => return Ended::Quit,
            ClientCommand::Help => {
                println!("{HELP}\n");
                Ok(())
            }
            ClientCommand::Source(path) => return self.source(connection, path),
            ClientCommand::Clear | ClientCommand::Use(_) => Ok(()),
            ClientCommand::Describe(None) => {
                return self.statements_of(connection, "SHOW FULL TABLES");
            }
            ClientCommand::Describe(Some(table)) => {
                let name = quoted_name(table.trim_end_matches(';'));
                let text = format!("DESCRIBE {name};\nSHOW INDEX FROM {name}");
                return self.statements_of(connection, &text);
            }
            ClientCommand::Status => {
                let status = connection.status();
                return self.statements_of(connection, &status);
            }
            ClientCommand::Edit => return self.edit(connection),
            ClientCommand::System(command) => system(command),
            ClientCommand::Rehash => {
                self.names_changed = true;
                Ok(())
            }
            ClientCommand::Format(name) => self.format(name.as_deref()),
            ClientCommand::MaxRows(rows) => {
                self.display.rows_max = *rows;
                Ok(())
            }
            ClientCommand::Timing(on) => {
                self.display.timing = *on;
                Ok(())
            }
            ClientCommand::Plot(file) => self.plot(file.as_deref()),
            ClientCommand::Pager(command) => {
                let pager = self.display.set_pager(command.as_deref());
                println!("PAGER set to '{pager}'");
                Ok(())
            }
            ClientCommand::NoPager => {
                self.display.end_pager();
                Ok(())
            }
            ClientCommand::Tee(path) => {
                let opened = self.display.set_tee(path);
                opened.map_err(|error| format!("{path}: {error}"))
            }
            ClientCommand::NoTee => {
                self.display.end_tee();
                Ok(())
            }
        };
        match done {
            Ok(()) => Ended::Done,
            Err(message) => self.wrong(&message),
        }
    }

    /// Reports a command that failed.
    fn wrong(&mut self, message: &str) -> Ended {
        eprintln!("mayfly: {message}");
        self.failed.add(b"command");
        if self.go_on {
            Ended::Done
        } else {
            Ended::Failed
        }
    }

    /// Runs the statements of a text that a command stands for.
    fn statements_of(&mut self, connection: &mut dyn Connection, text: &str) -> Ended {
        self.depth += 1;
        let ended = self.script(connection, text.as_bytes(), &Source::default());
        self.depth -= 1;
        match ended {
            Ok(ended) => ended,
            Err(error) => self.wrong(&error.to_string()),
        }
    }

    /// Runs the statements of a file that a text names.
    fn source(&mut self, connection: &mut dyn Connection, path: &str) -> Ended {
        self.names_changed = true;
        if self.depth == SOURCE_DEPTH {
            return self.wrong(&format!(
                "{path}: `source` reads at most {SOURCE_DEPTH} files, one within the other"
            ));
        }
        self.depth += 1;
        let ended = self.file(connection, path);
        self.depth -= 1;
        ended.unwrap_or_else(|error| self.wrong(&error))
    }

    /// Opens the last statement in an editor, and runs what is saved.
    fn edit(&mut self, connection: &mut dyn Connection) -> Ended {
        let edited = edited(&self.last_statement);
        let text = match edited {
            Ok(text) => text,
            Err(error) => return self.wrong(&format!("the editor: {error}")),
        };
        println!("{}", String::from_utf8_lossy(&text).trim_end());
        let ended = self.script(connection, text.as_slice(), &Source::default());
        self.last_statement = text;
        ended.unwrap_or_else(|error| self.wrong(&error.to_string()))
    }

    fn format(&mut self, name: Option<&str>) -> Result<(), String> {
        let names = || {
            let values = Format::value_variants().iter();
            let values =
                values.filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()));
            values.collect::<Vec<_>>().join(", ")
        };
        match name {
            None => println!("{:?} of {}", self.display.format, names()),
            Some(text) => {
                let (name, file) = match text.split_once(char::is_whitespace) {
                    Some((name, file)) => (name, Some(PathBuf::from(file.trim()))),
                    None => (text, None),
                };
                let format = Format::from_str(name, true)
                    .map_err(|_| format!("there is no format {name}; there are {}", names()))?;
                if file.is_some() && format.columnar().is_none() {
                    return Err(
                        "\\format writes parquet and arrow to a file; for others there is \\tee"
                            .to_owned(),
                    );
                }
                (self.display.format, self.display.columnar_file) = (format, file);
            }
        }
        Ok(())
    }

    fn plot(&mut self, file: Option<&str>) -> Result<(), String> {
        match file {
            None => {
                let width = rustix::termios::tcgetwinsize(io::stdout());
                let width = width.map_or(80, |size| usize::from(size.ws_col));
                let picture = self.plot.in_characters(width)?;
                let shown = self.display.print(&picture);
                shown.map_err(|error| error.to_string())
            }
            Some(path) => {
                let picture = self.plot.svg()?;
                std::fs::write(path, picture).map_err(|error| format!("{path}: {error}"))
            }
        }
    }
}

/// A name `table` or `database.table` with the quotes that it lacks.
fn quoted_name(name: &str) -> String {
    if name.contains('`') {
        return name.to_owned();
    }
    let parts = name.split('.').map(|part| format!("`{part}`"));
    parts.collect::<Vec<_>>().join(".")
}

/// Runs a command of the system.
fn system(command: &str) -> Result<(), String> {
    let status = shell(command).status();
    match status.map_err(|error| error.to_string())? {
        status if status.success() => Ok(()),
        status => Err(status.to_string()),
    }
}

/// A text after an editor has changed it.
fn edited(text: &[u8]) -> io::Result<Vec<u8>> {
    let file = tempfile::Builder::new().suffix(".sql").tempfile()?;
    std::fs::write(file.path(), text)?;
    let named = |name: &str| std::env::var(name).ok().filter(|editor| !editor.is_empty());
    let editor = named("VISUAL")
        .or_else(|| named("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let command = format!("{editor} \"$1\"");
    let status = shell(&command).arg("sh").arg(file.path()).status()?;
    if !status.success() {
        return Err(io::Error::other(status.to_string()));
    }
    std::fs::read(file.path())
}
