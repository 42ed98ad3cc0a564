//! Development tasks of the repository: `cargo xtask <task>`.

mod floors;
mod imports;
mod tidy;

use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask tidy    check the repository's own rules
       cargo xtask imports [crate]  print the cycles of files that import each other
       cargo xtask test    run every test (the script ./test)";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let result = match task.as_deref() {
        Some("tidy") => tidy::run(),
        Some("imports") => imports::run(std::env::args().nth(2).as_deref()),
        Some("test") => test(),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the script of all tests.
fn test() -> Result<(), String> {
    match Command::new(tidy::root().join("test")).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("test: {status}")),
        Err(error) => Err(format!("test: {error}")),
    }
}
