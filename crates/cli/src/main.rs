//! The `mayfly` program: a shell over the engine, the server, and the demonstration.
//!
//! This is the only crate that prints. It talks to the engine as any embedder would: a database,
//! a session, statements.

mod advise;
mod csv_table;
mod data_directory;
mod demo;
mod load_progress;
mod numbers;
mod open;
mod options;
mod output;
mod reproduce;
mod row_sum;
mod run;
mod serve;
mod shell;
mod statements;
mod tune;
mod units;
mod what_if;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use mayfly_engine::Session;

use crate::options::{Command, Options};
use crate::run::{Runner, Source};

fn main() -> ExitCode {
    let options = Options::parse();
    match start(&options) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("mayfly: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the command line asks for. An `Err` says why it could not start; errors of statements are
/// printed where they happen.
fn start(options: &Options) -> Result<ExitCode, String> {
    match &options.command {
        Some(Command::Advise(advise)) => return advise::run(advise),
        Some(Command::Demo(demo)) => return demo::run(demo, options),
        Some(Command::Backup { target }) => return data_directory::backup(options, target),
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
        if input.ends_with(".csv") {
            csv_table::open(&mut session, input)?;
        } else if Path::new(input).is_file() {
            texts.push(Text::Script(input));
        } else if looks_like_sql(input) {
            texts.push(Text::Statements(input));
        } else {
            return Err(format!("{input}: no such file"));
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

/// Where statements come from.
enum Text<'o> {
    Statements(&'o str),
    Script(&'o str),
    StandardInput,
}

/// Whether an argument that is no file is meant as a statement: it has a space in it.
fn looks_like_sql(argument: &str) -> bool {
    argument.trim().contains(char::is_whitespace)
}

fn run_texts(
    session: &mut Session,
    options: &Options,
    texts: &[Text<'_>],
) -> Result<ExitCode, String> {
    let mut runner = Runner::batch(options);
    for text in texts {
        let went_on = match text {
            Text::Statements(text) => {
                let ran = runner.script(session, text.as_bytes(), &Source::default());
                ran.map_err(|error| error.to_string())
            }
            Text::Script(path) => runner.file(session, path),
            Text::StandardInput => runner.standard_input(session),
        };
        if !went_on? && !options.force {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(if runner.failed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
