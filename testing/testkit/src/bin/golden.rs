//! Writes golden files: `golden complete <input> <output.slt>…`.
//!
//! The sockets of the servers come from `MAYFLY_MYSQL_SOCKET` and `MAYFLY_MARIADB_SOCKET`.

use std::path::Path;
use std::process::ExitCode;

use mayfly_testkit::complete;
use mayfly_testkit::server::{Flavour, socket};

const USAGE: &str = "usage: golden complete <file.slt>…          write expectations anew, in place
       golden import <script.sql> <file.slt>   make a golden file of a plain script";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["complete", files @ ..] if !files.is_empty() => files
            .iter()
            .try_for_each(|file| write(Path::new(file), Path::new(file))),
        ["import", script, file] => write(Path::new(script), Path::new(file)),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn write(input: &Path, output: &Path) -> Result<(), String> {
    let mysql = socket(Flavour::MySql)
        .ok_or("MAYFLY_MYSQL_SOCKET names no server: expectations come from MySQL only")?;
    let mariadb = socket(Flavour::MariaDb);
    let name = complete::name_of(output);
    let text = complete::complete(input, &name, &mysql, mariadb.as_deref())
        .map_err(|error| format!("{}: {error}", input.display()))?;
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    std::fs::write(output, text).map_err(|error| format!("{}: {error}", output.display()))
}
