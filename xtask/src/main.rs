//! Chores of the repository, written as a program: `cargo xtask <task>`.

mod dist;
mod floors;
mod imports;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy    check the repository's own rules
       cargo xtask imports [crate]  print the circles of files that import each other
       cargo xtask test    run every test (the script ./test)
       cargo xtask dist    build the program to hand out, with its debug information beside it";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    match task.as_deref() {
        Some("tidy") => tidy::run(),
        Some("imports") => imports::run(std::env::args().nth(2).as_deref()),
        Some("test") => test(),
        Some("dist") => dist::run(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> ExitCode {
    let script = tidy::root().join("test");
    match std::process::Command::new(&script).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error}", script.display());
            ExitCode::FAILURE
        }
    }
}
