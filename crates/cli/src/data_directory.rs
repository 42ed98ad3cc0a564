//! `mayfly backup` and `mayfly check`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use mayfly_engine::Database;

use crate::options::Options;

fn open(options: &Options) -> Result<Arc<Database>, String> {
    let options = options.engine.database_options()?;
    match &options.datadir {
        None => return Err("--datadir says which data directory is meant".to_owned()),
        Some(directory) if !directory.is_dir() => {
            return Err(format!("{}: no such directory", directory.display()));
        }
        Some(_) => {}
    }
    Database::open(options).map_err(|error| error.to_string())
}

/// Copies a data directory.
pub(crate) fn backup(options: &Options, target: &Path) -> Result<ExitCode, String> {
    let database = open(options)?;
    let copied = database.backup(target);
    copied.map_err(|error| error.to_string())?;
    println!("copied to {}", target.display());
    Ok(ExitCode::SUCCESS)
}

/// Checks a data directory.
pub(crate) fn check(options: &Options) -> Result<ExitCode, String> {
    let tables = open(options)?.check().map_err(|error| error.to_string())?;
    println!("{tables} tables are in order");
    Ok(ExitCode::SUCCESS)
}
