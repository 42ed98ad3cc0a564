//! The `mayfly` program.

use std::process::ExitCode;

/// The allocator of the static program. That of musl has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mayfly_cli::run(mayfly_cli::command_line())
}
