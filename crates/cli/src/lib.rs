//! The `mayfly` program: a shell over the engine, the server, and the demonstration.
//!
//! This is the only crate that prints. It uses the engine as any embedding program would: a database, a session,
//! statements. It is a library so that the Python package has the program without a second copy of the engine.

mod advise;
mod caret;
mod client_command;
mod commands;
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
mod statements;
mod tune;
mod units;
mod warnings;
mod what_if;

use std::ffi::OsString;
use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use mayfly_engine::Session;

use crate::file_format::FileFormat;
use crate::options::{Command, Options};
use crate::run::{Ended, Runner, Source};

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
        Some(Command::Serve(serve)) => return serve::run(serve, options),
        Some(Command::Tune(tune)) => return tune::run(tune, options),
        Some(Command::WhatIf(what_if)) => return what_if::run(what_if, options),
        None => {}
    }
    let mut session = open::open(options, &options.database)?;
    let mut texts = Vec::new();
    for input in &options.inputs {
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
    if texts.is_empty() && std::io::stdin().is_terminal() {
        return shell::interactive(session, options);
    }
    if texts.is_empty() {
        texts.push(Text::StandardInput);
    }
    run_texts(&mut session, options, &texts)
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
    session: &mut Session,
    options: &Options,
    texts: &[Text<'_>],
) -> Result<ExitCode, String> {
    let mut runner = Runner::batch(options);
    for text in texts {
        let ended = match text {
            Text::Statements(text) => {
                let ran = runner.script(session, text.as_bytes(), &Source::default());
                ran.map_err(|error| error.to_string())
            }
            Text::Script(path) => runner.file(session, path),
            Text::StandardInput => runner.standard_input(session),
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
