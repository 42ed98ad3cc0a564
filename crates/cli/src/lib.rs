//! The `mayfly` program: a shell over the engine, the server, and the demonstration.
//!
//! This is the only crate that prints. It uses the engine as any embedding program would: a database, a session,
//! statements. With the address of a server, the shell talks to that instead. It is a library so that the Python package has
//! the program without a second copy of the engine.

mod access;
mod advise;
mod caret;
mod client_command;
mod command_line;
mod commands;
mod connection;
mod data_directory;
mod data_file;
mod demo;
mod display;
mod failed_statements;
mod file_format;
mod load_progress;
mod numbers;
mod open;
mod options;
mod output;
mod plot;
mod progress;
mod reproduce;
mod row_sum;
mod run;
mod serve;
mod shell;
mod show;
mod statements;
mod tune;
mod units;
mod warnings;
mod what_if;

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

pub use crate::serve::Serve;

use crate::connection::{Connection, ServerConnection};
use crate::file_format::FileFormat;
use crate::options::{Command, Options};
use crate::run::{Ended, Runner, Source};

/// The command line of this process without a password, which others must not read in the list of processes: with one, the
/// program starts itself again.
pub fn command_line() -> Vec<OsString> {
    let command = Options::command();
    let is_subcommand = |word: &OsStr| {
        let mut subcommands = command.get_subcommands();
        subcommands.any(|subcommand| word == subcommand.get_name())
    };
    command_line::without_password(is_subcommand)
}

/// Runs the program with a command line, whose first element is the program's name. A wrong command line ends the process
/// with exit code 2.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let options = Options::parse_from(arguments);
    let code = start(&options).unwrap_or_else(|message| {
        eprintln!("mayfly: {message}");
        ExitCode::FAILURE
    });
    // Rust does it only at the end of its own `main`; an error has been reported where it was written.
    let _ = std::io::stdout().flush();
    code
}

/// Runs the command line. An `Err` says why it could not start; errors of statements are printed where they happen.
fn start(options: &Options) -> Result<ExitCode, String> {
    match &options.command {
        Some(Command::Advise(advise)) => return advise::run(advise),
        Some(Command::Demo(demo)) => return demo::run(demo, options),
        Some(Command::Backup { target }) => return data_directory::backup(options, target),
        Some(Command::Completions { shell }) => return print(&options::completions(*shell)),
        Some(Command::Man) => {
            let manual = options::manual().map_err(|error| error.to_string())?;
            return print(&manual);
        }
        Some(Command::Check) => return data_directory::check(options),
        Some(Command::Reproduce(reproduce)) => return reproduce::run(reproduce, options),
        Some(Command::Serve(serve)) => {
            return serve::run(serve, &options.engine, |_| Ok(()));
        }
        Some(Command::Tune(tune)) => return tune::run(tune, options),
        Some(Command::WhatIf(what_if)) => return what_if::run(what_if, options),
        None => {}
    }
    if options.client.host.as_deref() == Some("") {
        return Options::command()
            .print_help()
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| error.to_string());
    }
    let mut inputs: Vec<&str> = options.inputs.iter().map(String::as_str).collect();
    let url = inputs.iter().position(|input| command_line::is_url(input));
    let url = url.map(|at| inputs.remove(at));
    if options.client.names_server(url) {
        return on_server(options, url, &inputs);
    }
    if let Some(option) = options.client.of_server_only() {
        return Err(format!(
            "{option} is for a server: name one with -h, -S, -u, -P or mysql://user@host/"
        ));
    }
    let mut session = open::open(options, options.database.as_deref().unwrap_or(DATABASE))?;
    for sql in options.client.init() {
        let begun = session.execute(&sql);
        begun.map_err(|error| error.to_string())?;
    }
    let mut texts = Vec::new();
    for input in inputs {
        if input == "-" {
            let directory = options
                .engine
                .tmpdir
                .clone()
                .unwrap_or_else(std::env::temp_dir);
            data_file::open_standard_input(&mut session, &directory)?;
            continue;
        }
        match file_format::of(input)? {
            Some(FileFormat::Data) => data_file::open(&mut session, input)?,
            Some(FileFormat::Script) => texts.push(Text::Script(input)),
            None if looks_like_sql(input) => texts.push(Text::Statements(input)),
            None => return Err(no_such_file(input)),
        }
    }
    texts.extend(options.execute.iter().map(|text| Text::Statements(text)));
    run_shell(&mut session, options, texts)
}

/// The initial database of a session in this process.
const DATABASE: &str = "test";

/// Runs the command line on a server.
fn on_server(options: &Options, url: Option<&str>, inputs: &[&str]) -> Result<ExitCode, String> {
    if options.engine.datadir.is_some() {
        return Err("--datadir is of this process, and the other options name a server".to_owned());
    }
    let mut database = options.database.as_deref();
    let mut texts = Vec::new();
    for &input in inputs {
        match file_format::of(input)? {
            _ if input == "-" => texts.push(Text::StandardInput),
            Some(FileFormat::Script) => texts.push(Text::Script(input)),
            None if looks_like_sql(input) => texts.push(Text::Statements(input)),
            // As for the `mysql` client.
            None if database.is_none() => database = Some(input),
            None => return Err(no_such_file(input)),
            Some(FileFormat::Data) => {
                return Err(format!(
                    "{input}: files are tables of this process's databases only; a server loads one by LOAD DATA LOCAL INFILE"
                ));
            }
        }
    }
    texts.extend(options.execute.iter().map(|text| Text::Statements(text)));
    let mut server = options.client.server(url, database)?;
    if texts.is_empty() && std::io::stdin().is_terminal() {
        server.has_names = options.client.completes_names();
        server.is_interactive = true;
    }
    let is_interactive = server.is_interactive;
    let mut connection = ServerConnection::open(server)?;
    if !is_interactive {
        run::on_interrupt(connection.interrupter(), true)?;
    }
    run_shell(&mut connection, options, texts)
}

/// Runs texts, or the shell or standard input where there are none.
fn run_shell(
    connection: &mut dyn Connection,
    options: &Options,
    mut texts: Vec<Text<'_>>,
) -> Result<ExitCode, String> {
    if texts.is_empty() && std::io::stdin().is_terminal() {
        return shell::interactive(connection, options);
    }
    if texts.is_empty() {
        texts.push(Text::StandardInput);
    }
    run_texts(connection, options, &texts)
}

/// Writes a text to standard output.
fn print(text: &[u8]) -> Result<ExitCode, String> {
    let written = std::io::stdout().write_all(text);
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Source of statements.
enum Text<'o> {
    Statements(&'o str),
    Script(&'o str),
    StandardInput,
}

/// Whether an argument that is not a file is meant as a statement: it contains a space.
fn looks_like_sql(argument: &str) -> bool {
    argument.trim().contains(char::is_whitespace)
}

/// The message that there is no such file, with the command of a similar name if there is one.
fn no_such_file(argument: &str) -> String {
    const NEARLY: f64 = 0.8;
    let command = Options::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    let nearest = names
        .map(|name| (strsim::jaro_winkler(argument, name), name))
        .filter(|(likeness, _)| *likeness > NEARLY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let meant = nearest.map(|(_, name)| format!("; did you mean the command `mayfly {name}`?"));
    format!("{argument}: no such file{}", meant.unwrap_or_default())
}

fn run_texts(
    connection: &mut dyn Connection,
    options: &Options,
    texts: &[Text<'_>],
) -> Result<ExitCode, String> {
    let mut runner = Runner::batch(options);
    for text in texts {
        let ended = match text {
            Text::Statements(text) => {
                let ran = runner.script(connection, text.as_bytes(), &Source::default());
                ran.map_err(|error| error.to_string())
            }
            Text::Script(path) => runner.file(connection, path),
            Text::StandardInput => runner.standard_input(connection),
        };
        match ended? {
            Ended::Failed if !options.force => return Ok(ExitCode::FAILURE),
            Ended::Quit => break,
            Ended::Done | Ended::Failed => {}
        }
    }
    Ok(if runner.failed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_nearly_right_is_named() {
        for (argument, command) in [
            ("advice", "advise"),
            ("serv", "serve"),
            ("whatif", "what-if"),
            ("reproduse", "reproduce"),
        ] {
            let message = no_such_file(argument);
            assert!(
                message.contains(&format!("`mayfly {command}`")),
                "{message}"
            );
        }
        assert_eq!(no_such_file("orders.sql"), "orders.sql: no such file");
    }
}
