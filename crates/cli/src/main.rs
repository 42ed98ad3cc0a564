//! The `mayfly` program: a shell over the engine, and the demonstration.
//!
//! This is the only crate that prints. It talks to the engine as any embedder would: a database,
//! a session, statements.

mod csv_table;
mod data_directory;
mod demo;
mod options;
mod output;
mod run;
mod shell;
mod statements;
mod units;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use clap::Parser;
use mayfly_engine::{Database, Session};

use crate::options::{Command, Options};
use crate::run::Runner;

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

/// Does what the command line asks for. An `Err` is what kept it from starting; errors of
/// statements are printed where they happen.
fn start(options: &Options) -> Result<ExitCode, String> {
    match &options.command {
        Some(Command::Demo(demo)) => return demo::run(demo, options),
        Some(Command::Backup { target }) => return data_directory::backup(options, target),
        Some(Command::Check) => return data_directory::check(options),
        None => {}
    }
    let database = Database::open(options.database_options()?).map_err(|e| e.to_string())?;
    let mut session = database.session();
    use_database(&mut session, &options.database)?;
    let mut texts = Vec::new();
    for input in &options.inputs {
        if input.ends_with(".csv") {
            csv_table::open(&mut session, input)?;
        } else if std::path::Path::new(input).is_file() {
            texts.push(read_script(input)?);
        } else if looks_like_sql(input) {
            texts.push(input.clone());
        } else {
            return Err(format!("{input}: no such file"));
        }
    }
    texts.extend(options.execute.iter().cloned());
    if !texts.is_empty() {
        return Ok(run_texts(&mut session, options, &texts));
    }
    if std::io::stdin().is_terminal() {
        return shell::interactive(session, options);
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|e| format!("standard input: {e}"))?;
    let text = String::from_utf8(bytes).map_err(|e| format!("standard input: {e}"))?;
    Ok(run_texts(&mut session, options, &[text]))
}

/// Whether an argument that is no file is meant as a statement: it has a space in it.
fn looks_like_sql(argument: &str) -> bool {
    argument.trim().contains(char::is_whitespace)
}

fn read_script(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))
}

fn use_database(session: &mut Session, name: &str) -> Result<(), String> {
    let quoted = name.replace('`', "``");
    for sql in [
        format!("CREATE DATABASE IF NOT EXISTS `{quoted}`"),
        format!("USE `{quoted}`"),
    ] {
        session.execute(&sql).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn run_texts(session: &mut Session, options: &Options, texts: &[String]) -> ExitCode {
    let mut runner = Runner::batch(options, session);
    for text in texts {
        if !runner.script(session, text) && !options.force {
            return ExitCode::FAILURE;
        }
    }
    if runner.failed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
